//! Our own figures, from our own benchmarks in the same run: this program starts itself and reads what it wrote.

use std::process::Command;

use serde_json::Value;

use crate::Failure;
use crate::options::Kind;

use super::options::{Options, Part};
use super::story::{GAP_S, OUTAGE, Told};

/// Schedules that tick each second, and the herd in which ours is killed.
const STEADY: u32 = 10_000;
const CRASH: u32 = 10_000;

/// What came of our own stories, and which of them could not be told.
#[derive(Default)]
pub(super) struct Ours {
    pub(super) told: Vec<Told>,
    pub(super) problems: Vec<String>,
}

impl Ours {
    fn take(&mut self, told: Result<Told, Failure>) {
        match told {
            Ok(told) => self.told.push(told),
            Err(problem) => self.problems.push(problem.to_string()),
        }
    }
}

/// Every part that was asked for, on one database.
pub(super) fn measure(kind: Kind, options: &Options) -> Ours {
    let mut ours = Ours::default();
    for part in &options.parts {
        match part {
            Part::Herd => {
                for size in options.herds() {
                    ours.take(herd(kind, size, options.repeats));
                }
            }
            Part::Steady => ours.take(steady(kind, options.seconds)),
            Part::Crash => ours.take(crash(kind)),
            Part::Outage => ours.take(outage(kind)),
        }
    }
    ours
}

fn herd(kind: Kind, schedules: u32, repeats: u32) -> Result<Told, Failure> {
    let row = run(kind, "herd", &[("--sizes", schedules), ("--repeats", repeats)])?;
    let of = |name: &str| row[name]["median"].as_f64().unwrap_or(f64::NAN);
    let (first, middle, last) = (of("first_ms"), of("p50_ms"), of("last_ms"));
    // It refuses a herd of which one was lost or started twice.
    Ok(Told::Herd { schedules, first, middle, last, not_run: 0, doubled: 0 })
}

fn steady(kind: Kind, seconds: u32) -> Result<Told, Failure> {
    let row = run(kind, "steady", &[("--sizes", STEADY), ("--seconds", seconds)])?;
    let missing = row["missing"].as_i64().unwrap_or_default();
    let p99 = row["p99_ms"].as_f64().unwrap_or(f64::NAN);
    Ok(Told::Steady { schedules: STEADY, seconds, missing, p99 })
}

fn crash(kind: Kind) -> Result<Told, Failure> {
    let row = run(kind, "crash", &[("--sizes", CRASH), ("--repeats", 1)])?;
    let of = |name: &str| row[name].as_f64().or(row[name]["median"].as_f64()).unwrap_or_default();
    Ok(Told::Crash {
        schedules: CRASH,
        started: of("started_at_kill") as usize,
        not_run: of("lost") as usize,
        doubled: (of("doubled") + of("repeated")) as usize,
        last: row["restart_ms"]["median"].as_f64(),
        watched_s: 5,
    })
}

fn outage(kind: Kind) -> Result<Told, Failure> {
    let row = run(kind, "outage", &[("--sizes", OUTAGE), ("--gap", GAP_S)])?;
    let ran = row["ran"]["median"].as_f64().unwrap_or_default() as usize;
    Ok(Told::Outage { schedules: OUTAGE, ran, gap_s: GAP_S })
}

/// Runs one of our benchmarks; its only row.
fn run(kind: Kind, name: &str, options: &[(&str, u32)]) -> Result<Value, Failure> {
    let folder = tempfile::tempdir()?;
    let out = folder.path().join("out.json");
    let mut command = Command::new(std::env::current_exe()?);
    command.args([name, "--databases", kind.name(), "--out"]).arg(&out);
    for (option, value) in options {
        command.args([*option, &value.to_string()]);
    }
    let output = command.output()?;
    if !output.status.success() {
        return Err(format!("our {name}: {}", String::from_utf8_lossy(&output.stderr).trim()).into());
    }
    let whole: Value = serde_json::from_str(&std::fs::read_to_string(&out)?)?;
    Ok(whole["parts"][name][0].clone())
}
