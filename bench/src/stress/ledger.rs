//! A ledger of very many rows: listed, audited, explained, checked, served.

use std::path::Path;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use punctual_store::{Access, Postgres, PostgresSettings, Sqlite, Store};
use serde_json::Value;

use super::Kind;
use super::program::{Asked, Home, Line};
use crate::Failure;
use crate::ours::{self, Ours, POSTGRES_LANES};
use crate::report::Sheet;
use crate::server::Server;
use crate::workload::Workload;

/// Schedules of the ledger; each ticks in every minute.
const SCHEDULES: u32 = 1_000;

/// Callers that make them.
const CALLERS: usize = 2;

/// One of the schedules.
const NAME: &str = "report-7";

/// Tries everything that reads a ledger.
pub(super) async fn measure(program: &Path, kind: Kind, runs: u32, sheet: &mut Sheet) -> Result<(), Failure> {
    match kind {
        Kind::Sqlite => {
            let home = Home::sqlite(program)?;
            let filled = fill(Arc::new(Sqlite::open(&home.file(), Access::Serve)?), 1, runs).await?;
            asked(&home, filled, sheet)
        }
        Kind::Postgres => {
            let server = Server::find().await?;
            let database = server.create("stress").await?;
            let store = Postgres::open(PostgresSettings::new(&database.url)).await?;
            let filled = fill(Arc::new(store), POSTGRES_LANES, runs).await?;
            asked(&Home::postgres(program, &database.url)?, filled, sheet)?;
            server.remove("stress").await
        }
    }
}

/// A ledger that was written.
#[derive(Clone, Copy)]
struct Filled {
    runs: u64,
    /// An instant at which the one schedule ticked.
    tick: Timestamp,
}

/// Writes a ledger that ends a little before now, by the store itself.
async fn fill<S: Store>(store: Arc<S>, lanes: u16, runs: u32) -> Result<Filled, Failure> {
    let workload = Workload::new(SCHEDULES, i64::from(runs));
    let lasts = workload.step(workload.steps + 8).duration_since(workload.start());
    let begin = Timestamp::now() - lasts - SignedDuration::from_mins(2);
    let workload = workload.from(begin.as_second());
    ours::create(&store, workload, CALLERS).await?;
    let node = Ours::join(Arc::clone(&store), lanes).await?;
    let done = node.run(workload).await?;
    node.leave().await?;
    eprintln!("wrote a ledger of {} runs", done.runs);
    let middle = workload.start() + lasts / 2;
    let minute = middle.as_second() - middle.as_second().rem_euclid(60);
    let tick = Timestamp::from_second(minute + workload.phase_s(7))?;
    Ok(Filled { runs: done.runs, tick })
}

fn asked(home: &Home, filled: Filled, sheet: &mut Sheet) -> Result<(), Failure> {
    let Filled { runs, tick } = filled;
    let counted = |answer: &Asked, least: usize| {
        let count = answer.well()?.count(r#""idempotency_key""#);
        if count >= least { Ok(format!("{count} runs")) } else { Err(format!("only {count} runs").into()) }
    };
    let most = usize::try_from(runs.min(100_000))?;
    home.note(&["runs"], sheet, |answer| counted(answer, 20))?;
    home.note(&["runs", NAME], sheet, |answer| counted(answer, 20))?;
    let words = ["schedule", "runs", "--all", "--limit", "100000"];
    home.note(&words, sheet, |answer| counted(answer, most))?;
    let words = ["schedule", "runs", "--name", NAME, "--limit", "1000"];
    home.note(&words, sheet, |answer| {
        counted(answer, usize::try_from(runs / u64::from(SCHEDULES) / 2)?.min(900))
    })?;
    home.note(&["runs", "--status", "failed"], sheet, |answer| counted(answer, 0))?;
    home.note(&["audit", NAME], sheet, whole)?;
    home.note(&["audit", "--all"], sheet, whole)?;
    home.note(&["audit", "log"], sheet, |answer| Ok(format!("{} events", answer.well()?.count(r#""seq""#))))?;
    home.note(&["audit", "verify"], sheet, |answer| answer.well().map(|_| "verified".to_owned()))?;
    home.note(&["why", NAME, "--at", &tick.to_string()], sheet, |answer| {
        let is_told = answer.well()?.count("success") > 0;
        if is_told { Ok("explained".to_owned()) } else { Err("the run is not told of".into()) }
    })?;
    home.note(&["db", "status"], sheet, |answer| {
        Ok(format!("{} tables", answer.json()?["rows"].as_object().map_or(0, serde_json::Map::len)))
    })?;
    home.note(&["db", "check"], sheet, |answer| match answer.well()?.count(r#""what""#) {
        0 => Ok("nothing found".to_owned()),
        count => Err(format!("{count} findings").into()),
    })?;
    // It finds that nobody serves, and that the programs of these schedules are not there.
    home.note(&["system", "doctor"], sheet, |answer| match answer.count(r#""text""#) {
        0 => Err(answer.complaint.clone().into()),
        checks => Ok(format!("{checks} checks")),
    })?;
    let serving = home.serve(&[])?;
    let cost = Asked::silent(serving.ready_s, serving.peak());
    serving.stop()?;
    let outcome = "ready".to_owned();
    Line { asked: "serve".to_owned(), database: home.database(), outcome }.add(sheet, &cost);
    Ok(())
}

/// Whether an audit proves every tick.
fn whole(answer: &Asked) -> Result<String, Failure> {
    let json = answer.json()?;
    let recorded: u64 =
        json["audits"].as_array().into_iter().flatten().filter_map(|one| one["recorded"].as_u64()).sum();
    match json["whole"] == Value::Bool(true) && recorded > 0 {
        true => Ok(format!("{recorded} ticks proved")),
        false => Err("the ledger is not whole".into()),
    }
}
