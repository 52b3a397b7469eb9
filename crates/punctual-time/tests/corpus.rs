//! The cases of other schedulers' test suites, and our own probes of clock changes.
#![allow(clippy::unwrap_used, reason = "a test may fail at once")]

use jiff::Timestamp;
use punctual_time::{Cron, Dialect, Zone};
use serde_json::Value;

fn rows(text: &'static str) -> impl Iterator<Item = Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap())
}

fn text<'a>(row: &'a Value, key: &str) -> &'a str {
    row[key].as_str().unwrap_or_default()
}

fn instant(text: &str) -> Timestamp {
    text.parse().unwrap()
}

/// The ticks a row expects, and those that we give.
fn ticks(row: &Value, cron: &Cron) -> (Vec<Timestamp>, Vec<Timestamp>) {
    let zone = Zone::get(text(row, "tz")).unwrap();
    let expected: Vec<Timestamp> =
        row["expect"].as_array().unwrap().iter().map(|at| instant(at.as_str().unwrap())).collect();
    let mut after = instant(text(row, "after"));
    if row["inclusive"] == true {
        after -= jiff::SignedDuration::from_nanos(1);
    }
    let mut found = Vec::new();
    while found.len() < expected.len() {
        let Some(next) = cron.next(after, &zone) else { break };
        found.push(next);
        after = next;
    }
    (expected, found)
}

#[test]
fn every_probe_of_a_clock_change_holds() {
    let mut wrong = Vec::new();
    for row in rows(include_str!("corpus/dst.jsonl")) {
        let cron = Cron::parse(text(&row, "expr"), Dialect::Standard).unwrap();
        let (expected, found) = ticks(&row, &cron);
        if expected != found {
            wrong.push(format!("{} {}: {expected:?} but {found:?}", text(&row, "expr"), text(&row, "tz")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
