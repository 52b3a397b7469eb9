//! The few seconds that all rows live through.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use jiff::{SignedDuration, Timestamp, Unit};

use crate::driver::Serving;
use crate::ground::Ground;
use crate::row::{LATE, MAIN, Row, TOLD, written};
use crate::rows_dst::NIGHTS;
use crate::rows_order::SETTINGS;
use crate::seen::{Seen, runs};

/// How long nobody serves.
const OUTAGE_S: &str = "6";

/// A schedule of every second that says how time goes by.
const BEAT: &str = "beat";

/// Waits until the beat has gone by some times; the log is read meanwhile.
fn beats(serving: &mut Serving, count: u32) {
    let mut left = count;
    while left > 0 {
        let line = serving.wait_for("\"schedule\":\"beat\"");
        left -= u32::from(line["fields"]["message"] == "ended");
    }
}

/// An instant from now, to the second.
fn from_now(seconds: i64) -> Timestamp {
    let now = Timestamp::now().round(Unit::Second).expect("a time of our age");
    now + SignedDuration::from_secs(seconds)
}

/// The file of an org.
fn file(org: &str, rows: &[Row], folder: &str) -> String {
    let of_org = rows.iter().filter(|row| row.org == org);
    let mut schedules: Vec<String> = of_org
        .flat_map(|row| &row.schedules)
        .map(|(name, definition)| written(name, definition, folder))
        .collect();
    if org == MAIN {
        schedules.push(written(BEAT, "SECONDLY, WELL", folder));
    }
    let day = |days: i64| from_now(days * 86_400).strftime("%Y-%m-%d").to_string();
    let hour = |hours: i64| from_now(hours * 3_600).strftime("%H:%M").to_string();
    let settings = SETTINGS.iter().find(|(name, _)| *name == org).map_or("", |(_, settings)| settings);
    let text = format!(
        "settings: {{{settings}}}\ncalendars: {{holidays: {{dates: ['{}', '{}']}}}}\n\
         quiet_hours: {{now: {{during: '{}-{}'}}}}\nschedules:\n- {}\n",
        day(0),
        day(1),
        hour(-1),
        hour(2),
        schedules.join("\n- ")
    );
    // Around midnight both days are meant.
    let weekday = |days: i64| from_now(days * 86_400).strftime("%A").to_string().to_lowercase();
    text.replace("AWAY", &format!("{}-{}", hour(3), hour(4)))
        .replace("TODAY", &format!("{}, {}", weekday(0), weekday(1)))
        .replace("SOON", &from_now(5).to_string())
}

/// What people do while the first server runs.
fn deeds(ground: &Ground) {
    for line in [
        &["schedule", "trigger", "--name", "asked"][..],
        &["schedule", "trigger", "--name", "asked"],
        &["schedule", "trigger", "--name", "asked-forced"],
        &["schedule", "trigger", "--name", "asked-forced", "--force"],
        &["schedule", "disable", "--name", "away-skip"],
        &["schedule", "disable", "--name", "away-once"],
        &["schedule", "disable", "--name", "away-quiet"],
        &["schedule", "delete", "--name", "gone"],
        &["schedule", "delete", "--name", "gone-at-once", "--cancel-running"],
    ] {
        ground.json(MAIN, line);
    }
    // Only now, so that what shall outlive its schedule, or stand in the way of another, does so on every machine.
    let told = std::fs::write(Path::new(&ground.folder()).join(TOLD), "");
    assert!(told.is_ok(), "{told:?}");
    ground.json("repairs", &["system", "maintenance", "on", "--note", "new disks"]);
    for (name, [from, to]) in NIGHTS {
        ground.json(MAIN, &["backfill", name, "--from", from, "--to", to, "--key", "night", "--yes"]);
    }
}

/// What people do while the second one runs.
fn returns(ground: &Ground) {
    for name in ["away-skip", "away-once", "away-quiet"] {
        ground.json(MAIN, &["schedule", "enable", "--name", name]);
    }
    ground.json("repairs", &["system", "maintenance", "off"]);
}

/// Lives through two servers and the outage between them, and reads what is left.
pub(crate) fn live(ground: &Ground, rows: &[Row]) -> Seen {
    let orgs: BTreeSet<&str> = rows.iter().map(|row| row.org).collect();
    let folder = ground.folder();
    for org in orgs.iter().filter(|org| **org != LATE) {
        ground.apply(org, &file(org, rows, &folder));
    }
    let mut serving = ground.serve();
    beats(&mut serving, 4);
    deeds(ground);
    beats(&mut serving, 4);
    ground.apply(LATE, &file(LATE, rows, &folder));
    let until = from_now(60).to_string();
    let before = runs(&ground.json(MAIN, &["runs", "--limit", "10000", "--until", &until]));
    serving.kill();
    assert!(Command::new("sleep").arg(OUTAGE_S).status().expect("sleep exists").success());
    let mut serving = ground.serve();
    let restarted_at = Timestamp::now();
    beats(&mut serving, 2);
    returns(ground);
    beats(&mut serving, 5);
    serving.stop();
    let mut seen = Seen { before, restarted_at, ..Seen::default() };
    for org in orgs {
        read(ground, org, &mut seen);
    }
    seen.runs.sort_by_key(|run| (run.tick, run.started_at));
    seen
}

/// Reads what an org has; every schedule of it must be proved.
fn read(ground: &Ground, org: &str, seen: &mut Seen) {
    seen.runs.extend(runs(&ground.json(org, &["runs", "--limit", "10000"])));
    let listed = ground.json(org, &["schedule", "list", "--all", "--limit", "1000"]);
    let mut names = BTreeMap::new();
    for row in listed["schedules"].as_array().expect("a list") {
        let text = |key: &str| row[key].as_str().unwrap_or_default().to_owned();
        names.insert(text("id"), text("name"));
        if row["deleted_at"].is_null() {
            seen.statuses.insert(text("name"), text("status"));
        }
    }
    let audited = ground.json(org, &["audit", "--all"]);
    for audit in audited["audits"].as_array().expect("a list") {
        let is_whole = audit["proved"] == true || audit["basis"] == "runs";
        assert!(is_whole && audit["holes"].as_array().is_some_and(Vec::is_empty), "{audit}");
    }
    let log = ground.json(org, &["audit", "log", "--limit", "100000"]);
    for event in log["events"].as_array().expect("a list") {
        let text = |key: &str| event[key].as_str().unwrap_or_default().to_owned();
        let name = names.get(&text("schedule_id")).cloned().unwrap_or_default();
        let events = seen.events.entry(name).or_default();
        events.push((text("kind"), event["detail"].to_string()));
    }
    if org == MAIN {
        let breaker = ground.json(org, &["system", "breaker", "breaks"]);
        let moves = breaker["breaker"]["transitions"].as_array().expect("a list").iter().rev();
        seen.moves = moves.map(|one| one["to"].as_str().unwrap_or_default().to_owned()).collect();
    }
}
