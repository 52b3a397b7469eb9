//! Very many programs at once, and some that misbehave, beside one schedule that ticks each second.

use std::fmt::Write;
use std::ops::Range;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp, Unit};
use serde_json::{Value, json};

use super::program::{Home, Serving};
use crate::Failure;
use crate::report::Sheet;

/// How long the schedule is watched while nothing else runs, and while everything does.
const WATCHED: Duration = Duration::from_secs(40);

/// From the making of the herd to its start.
const AHEAD: SignedDuration = SignedDuration::from_secs(10);

/// Programs that do what programs must not, and how their runs must end.
const MISBEHAVING: [(&str, &str, &str); 6] = [
    ("stubborn", "trap '' TERM; while :; do sleep 1; done", "failed"),
    ("forking", "for n in 1 2 3 4 5; do sleep 300 & done; exit 0", "success"),
    ("talkative", "echo begin; head -c 1073741824 /dev/zero; echo end", "success"),
    ("silent", "exec >&- 2>&-; sleep 5", "success"),
    ("killed", "kill -KILL $$", "failed"),
    ("failing", "exit 3", "failed"),
];

const HEAD: &[&str] = &["beside", "ticks", "runs", "p50 ms", "p99 ms", "max ms", "server MiB", "peak MiB"];

/// Runs the herd and watches what it does to the schedule.
pub(super) fn measure(home: &Home, programs: u32) -> Result<Sheet, Failure> {
    let mut sheet = Sheet::new("programs", HEAD);
    let serving = home.serve(&[])?;
    home.ask(&["schedule", "create", "--name", "steady", "--cron", "* * * * * *", "--", "true"])?;
    // The first ticks pay for what is loaded once.
    std::thread::sleep(Duration::from_secs(5));
    let quiet = Timestamp::now();
    std::thread::sleep(WATCHED);
    let loud = Timestamp::now();
    let watched = Watched { home, serving: &serving };
    watched.add(&mut sheet, "nothing else", quiet..loud)?;
    let start = (Timestamp::now() + AHEAD).round(Unit::Second)?;
    std::fs::write(home.folder().join("herd.yaml"), herd(programs, start))?;
    home.ask(&["schedule", "create", "--file", "herd.yaml"])?;
    let wait = start.duration_since(Timestamp::now()).unsigned_abs() + WATCHED;
    std::thread::sleep(wait);
    let name = format!("{programs} programs at once, and six that misbehave");
    let end = Timestamp::now();
    watched.add(&mut sheet, &name, start - SignedDuration::from_secs(1)..end)?;
    judge(home, programs)?;
    serving.stop()?;
    Ok(sheet)
}

/// The schedules of the herd: all of them once, at one instant.
fn herd(programs: u32, start: Timestamp) -> String {
    let mut text = "schedules:\n".to_owned();
    for number in 0..programs {
        // Writing into a text cannot fail.
        let _ = writeln!(
            text,
            "- {{name: herd-{number:05}, at: '{start}', target: {{type: process, argv: [sleep, '10']}}}}"
        );
    }
    for (name, script, _) in MISBEHAVING {
        let target = json!({"type": "process", "argv": ["sh", "-c", script], "kill_after": "2s"});
        let whole = json!({"name": name, "at": start, "run_timeout": "8s", "target": target});
        let _ = writeln!(text, "- {whole}");
    }
    text
}

/// A server beside the schedule that is watched.
struct Watched<'a> {
    home: &'a Home,
    serving: &'a Serving,
}

impl Watched<'_> {
    /// What became of the ticks of a stretch of time.
    fn add(&self, sheet: &mut Sheet, beside: &str, stretch: Range<Timestamp>) -> Result<(), Failure> {
        let (since, until) = (stretch.start.to_string(), stretch.end.to_string());
        let words =
            ["schedule", "runs", "--name", "steady", "--since", &since, "--until", &until, "--limit", "1000"];
        let ledger = self.home.ask(&words)?.json()?;
        let summary = &ledger["summary"];
        let runs = summary["counts"]["success"].as_u64().unwrap_or_default();
        let ticks: u64 =
            summary["counts"].as_object().into_iter().flatten().filter_map(|(_, count)| count.as_u64()).sum();
        let missed = ledger["ranges"].as_array().map_or(0, Vec::len);
        // The last ones may still run.
        if runs + 3 < ticks || missed > 0 {
            return Err(format!("the schedule was disturbed: {}", summary["counts"]).into());
        }
        let late = |which: &str| summary["lateness_ms"][which].as_f64().unwrap_or(f64::NAN);
        let (memory, peak) = (self.serving.memory() >> 20, self.serving.peak() >> 20);
        let cells = vec![
            beside.to_owned(),
            ticks.to_string(),
            runs.to_string(),
            format!("{:.1}", late("p50")),
            format!("{:.1}", late("p99")),
            format!("{:.1}", late("max")),
            memory.to_string(),
            peak.to_string(),
        ];
        let json = json!({
            "beside": beside, "ticks": ticks, "runs": runs, "lateness_ms": summary["lateness_ms"],
            "server_mib": memory, "server_peak_mib": peak,
        });
        sheet.add(cells, json);
        sheet.show_last();
        Ok(())
    }
}

/// Refuses the figures if a program of the herd did not end as it must.
fn judge(home: &Home, programs: u32) -> Result<(), Failure> {
    let all = home.ask(&["schedule", "runs", "--all", "--limit", "100000"])?.json()?;
    let runs = || all["runs"].as_array().into_iter().flatten();
    let ended = |run: &&Value| run["schedule_name"].as_str().is_some_and(|name| name.starts_with("herd-"));
    let done = runs().filter(ended).filter(|run| run["status"] == "success").count();
    if done != programs as usize {
        return Err(format!("{done} of {programs} programs succeeded").into());
    }
    for (name, _, expected) in MISBEHAVING {
        let run = runs().find(|run| run["schedule_name"] == name);
        let status = run.map(|run| run["status"].clone()).unwrap_or_default();
        if status != expected {
            return Err(format!("the run of `{name}` is {status} and not {expected}").into());
        }
    }
    Ok(())
}
