//! A file tried in a world that is written in one line, and the ledger that comes of it.

use std::fmt::Write;

use jiff::SignedDuration;
use punctual::{Deed, Failures, RunTime, Trial, Tried, instant, outage};
use serde_json::Value;

/// A Monday, half a minute after midnight: no tick of a whole minute coincides with the start.
const FROM: &str = "2026-01-05T00:00:30Z";

/// How long a world lasts that does not say.
const SPAN: SignedDuration = SignedDuration::from_hours(3);

/// What a file comes to.
pub(crate) enum Outcome {
    /// The ledger without the policies that made it, and how many runs were launched.
    Ledger { text: String, runs: usize },
    /// What is wrong with the file.
    Refused(String),
}

/// Tries a file in a world.
pub(crate) fn outcome(file: &Value, world: &str) -> Outcome {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("file.yaml");
    // JSON is YAML.
    std::fs::write(&path, file.to_string()).expect("a file");
    let mut trial = Trial::new(path, instant(FROM).expect("an instant"));
    trial.to = trial.from + SPAN;
    for part in world.split(';').map(str::trim).filter(|part| !part.is_empty()) {
        happen(&mut trial, part).unwrap_or_else(|failure| panic!("{part}: {failure}"));
    }
    match trial.run() {
        Ok(tried) => ledger(&tried),
        Err(failure) => Outcome::Refused(failure.to_string()),
    }
}

/// Lets something be so in a world: the options of `punctual simulate`, without their dashes.
fn happen(trial: &mut Trial, part: &str) -> Result<(), punctual::Failure> {
    let (what, value) = part.split_once(' ').expect("a word and a value");
    match what {
        "from" => {
            trial.from = instant(value)?;
            trial.to = trial.from + SPAN;
        }
        "to" => trial.to = instant(value)?,
        "outage" => trial.outages.push(outage(value)?),
        "run-time" => trial.run_times.push(RunTime::parse(value)?),
        "fail" => trial.failures.push(Failures::parse(value)?),
        "do" => trial.deeds.push(Deed::parse(value)?),
        other => panic!("`{other}` is nothing that happens"),
    }
    Ok(())
}

/// What became of the ticks, and what the runs carried.
fn ledger(tried: &Tried) -> Outcome {
    let (mut text, mut runs) = (String::new(), 0);
    for account in &tried.simulated.accounts {
        let schedule = account.schedule();
        let (target, payload) = (&schedule.target, &schedule.payload);
        let about = (&schedule.name, &schedule.owner, &schedule.description, &schedule.tags);
        let _ = writeln!(text, "{about:?} {:?} {:?} {payload:?}", target.name, target.action);
        let _ = writeln!(text, "{:?} {:?}", account.state.status, account.state.counters);
        let _ = writeln!(text, "{:?} {:?}", account.runs, account.ranges);
        runs += account.runs.iter().filter(|run| !run.attempts.is_empty()).count();
    }
    let _ = writeln!(text, "{:?} {:?}", tried.simulated.log, tried.simulated.breakers);
    Outcome::Ledger { text, runs }
}

/// YAML as a value; `TARGET` stands for the plainest there is.
pub(crate) fn yaml(text: &str) -> Value {
    let text = text.replace("TARGET", "{type: process, argv: [x]}");
    serde_saphyr::from_str(&text).unwrap_or_else(|error| panic!("{text}\n{error}"))
}

#[test]
fn worlds_are_read_as_they_are_written() {
    let file = yaml("schedules: [{name: a, cron: 0 * * * *, target: TARGET}]");
    let Outcome::Ledger { runs, .. } = outcome(&file, "from 2026-01-05T00:00Z; to 2026-01-05T05:30Z") else {
        panic!("the file is refused")
    };
    assert_eq!(runs, 6);
}
