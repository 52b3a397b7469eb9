//! A declared file of very many schedules: planned, applied, applied again, listed, exported, created, served.

use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

use serde_json::Value;

use super::Kind;
use super::program::{Asked, Home, Line};
use crate::Failure;
use crate::report::Sheet;
use crate::server::Server;

/// How long a server is watched after it has begun to serve.
const WATCHED: Duration = Duration::from_secs(10);

/// Tries everything that is done with a file.
pub(super) async fn measure(
    program: &Path,
    kind: Kind,
    schedules: u32,
    sheet: &mut Sheet,
) -> Result<(), Failure> {
    let text = file(schedules);
    for part in [applied, created, served] {
        let (home, server) = match kind {
            Kind::Sqlite => (Home::sqlite(program)?, None),
            Kind::Postgres => {
                let server = Server::find().await?;
                (Home::postgres(program, &server.create("stress").await?.url)?, Some(server))
            }
        };
        std::fs::write(home.folder().join("file.yaml"), &text)?;
        part(&home, schedules, sheet)?;
        drop(home);
        if let Some(server) = server {
            server.remove("stress").await?;
        }
    }
    Ok(())
}

/// A file as large teams have it: specs of all kinds, zones, tags, a calendar, a template.
fn file(schedules: u32) -> String {
    const SPECS: [&str; 5] = [
        "cron: 'MINUTE * * * *'",
        "every: 1h",
        "cron: 'MINUTE 3 * * *'",
        "schedule: every day at 9am",
        "cron: 'MINUTE 8-18 * * 1-5'",
    ];
    const ZONES: [&str; 4] = ["Europe/Berlin", "America/New_York", "UTC", "Asia/Tokyo"];
    let mut text = "calendars:\n  holidays: {dates: [2030-12-25, 2030-12-26]}\n\
        quiet_hours:\n  night: {during: '22:00-06:00'}\n\
        templates:\n  nightly:\n    cron: '${minute} 3 * * *'\n    retry_after: 5m\n    \
        target: {type: process, argv: ['true', 'at ${minute}']}\nschedules:\n"
        .to_owned();
    for number in 0..schedules {
        let (place, minute) = (number as usize, number % 60);
        // Writing into a text cannot fail.
        let _ = match number % 10 {
            9 => writeln!(text, "- {{name: job-{number:06}, template: nightly, set: {{minute: {minute}}}}}"),
            _ => writeln!(
                text,
                "- name: job-{number:06}\n  description: Job number {number} of a large file\n  {}\n  timezone: {}\n  \
                 tags: [team-{}, large]\n  not_on: [sunday, holidays]\n  retry_after: 5m\n  \
                 payload: {{number: {number}, note: some words}}\n  target: {{type: process, argv: ['true', '{number}']}}",
                SPECS[place % SPECS.len()].replace("MINUTE", &minute.to_string()),
                ZONES[place % ZONES.len()],
                number % 20,
            ),
        };
    }
    text
}

/// Whether a number of an answer is the right one.
fn is(answer: &Asked, path: &str, expected: u32) -> Result<String, Failure> {
    let json = answer.json()?;
    match json.pointer(path).and_then(Value::as_u64) {
        Some(found) if found == u64::from(expected) => {
            Ok(format!("{expected} {}", path.rsplit('/').next().unwrap_or_default()))
        }
        found => Err(format!("{path} is {found:?} and not {expected}").into()),
    }
}

/// Whether so many schedules are named.
fn names(answer: &Asked, marker: &str, expected: u32) -> Result<String, Failure> {
    match answer.well()?.count(marker) {
        found if found == expected as usize => Ok(format!("{expected} schedules")),
        found => Err(format!("{found} schedules and not {expected}").into()),
    }
}

fn applied(home: &Home, schedules: u32, sheet: &mut Sheet) -> Result<(), Failure> {
    let changes = |answer: &Asked| names(answer, r#""change":"added""#, schedules + 3);
    // The first change of the database is its making.
    home.ask(&["schedule", "list"])?;
    home.note(&["plan", "file.yaml"], sheet, changes)?;
    home.note(&["apply", "file.yaml"], sheet, |answer| is(answer, "/summary/added", schedules))?;
    home.note(&["apply", "file.yaml"], sheet, |answer| is(answer, "/summary/unchanged", schedules))?;
    home.note(&["plan", "file.yaml"], sheet, |answer| is(answer, "/unchanged", schedules))?;
    home.note(&["schedule", "list"], sheet, |answer| names(answer, r#""status_detail""#, schedules))?;
    let page = schedules.min(1_000);
    home.note(&["schedule", "list", "--limit", "1000"], sheet, |answer| {
        names(answer, r#""status_detail""#, page)
    })?;
    home.note(&["export"], sheet, |answer| names(answer, "- name: job-", schedules))?;
    home.note(&["db", "check"], sheet, |answer| {
        names(answer, r#""table""#, 0).map(|_| "nothing found".to_owned())
    })?;
    home.note(&["system", "doctor"], sheet, |answer| {
        let failed = answer.well()?.count(r#""state":"fail""#);
        if failed == 0 { Ok("nothing fails".to_owned()) } else { Err(format!("{failed} checks fail").into()) }
    })
}

fn created(home: &Home, schedules: u32, sheet: &mut Sheet) -> Result<(), Failure> {
    home.note(&["schedule", "create", "--file", "file.yaml"], sheet, |answer| {
        names(answer, r#""status_detail""#, schedules)
    })
}

/// The first start brings the file in, the second finds it.
fn served(home: &Home, schedules: u32, sheet: &mut Sheet) -> Result<(), Failure> {
    for start in ["first start", "second start"] {
        let serving = home.serve(&["--config", "file.yaml"])?;
        let ready_s = serving.ready_s;
        std::thread::sleep(WATCHED);
        let after = serving.memory() >> 20;
        let cost = Asked::silent(ready_s, serving.peak());
        serving.stop()?;
        let outcome = format!("{schedules} schedules served; {after} MiB ten seconds later");
        let asked = format!("serve --config file.yaml ({start})");
        Line { asked, database: home.database(), outcome }.add(sheet, &cost);
    }
    let listed = home.ask(&["schedule", "list"])?;
    names(&listed, r#""status_detail""#, schedules).map(drop)
}
