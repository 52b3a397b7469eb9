//! Goal: a thousand programs at once, and programs that do what programs must not, end as they must, disturb no other
//! schedule and do not let the service grow.
//! Method: the real service with a schedule that ticks each second; the herd starts at one instant.

use std::collections::HashMap;
use std::fmt::Write;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

use jiff::{SignedDuration, Timestamp, Unit};
use serde_json::{Value, json};

use crate::driver::{Person, Serving};

const PROGRAMS: usize = 1_000;

/// What the service may have in memory at most, in MiB.
const SERVER_MIB: u64 = 256;

/// Programs that misbehave, and how their runs must end.
const MISBEHAVING: [(&str, &str, &str); 6] = [
    ("stubborn", "trap '' TERM; while :; do sleep 1; done", "failed"),
    ("forking", "for n in 1 2 3 4 5; do sleep 300 & done; exit 0", "success"),
    ("talkative", "echo begin; head -c 1073741824 /dev/zero; echo end", "success"),
    ("silent", "exec >&- 2>&-; sleep 3", "success"),
    ("killed", "kill -KILL $$", "failed"),
    ("failing", "exit 3", "failed"),
];

/// The most memory that a service has had, in MiB.
pub(crate) fn peak_mib(serving: &Serving) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", serving.id())).expect("Linux tells");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a peak");
    line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") / 1024
}

fn herd(start: Timestamp) -> String {
    let mut text = "schedules:\n".to_owned();
    for number in 0..PROGRAMS {
        let target = "{type: process, argv: [sleep, '3']}";
        writeln!(text, "- {{name: herd-{number}, at: '{start}', target: {target}}}").expect("a text");
    }
    for (name, script, _) in MISBEHAVING {
        let target = json!({"type": "process", "argv": ["sh", "-c", script], "kill_after": "2s"});
        let whole = json!({"name": name, "at": start, "run_timeout": "20s", "target": target});
        writeln!(text, "- {whole}").expect("a text");
    }
    text
}

/// Follows the ledger until every run of the herd has ended; how each did.
fn ends(person: &Person) -> HashMap<String, Value> {
    let mut command = person.command(&["runs", "--follow", "--limit", "5000"]);
    let mut child = command.stdout(Stdio::piped()).spawn().expect("the program starts");
    let mut ends = HashMap::new();
    for line in BufReader::new(child.stdout.take().expect("a pipe")).lines() {
        let run: Value = serde_json::from_str(&line.expect("a line")).expect("JSON");
        let run = &run["run"];
        let name = run["schedule_name"].as_str().unwrap_or_default().to_owned();
        let is_over =
            ["success", "failed", "cancelled", "skipped", "missed"].iter().any(|end| run["status"] == *end);
        if is_over && !["steady", ""].contains(&name.as_str()) {
            ends.insert(name, run.clone());
        }
        if ends.len() == PROGRAMS + MISBEHAVING.len() {
            break;
        }
    }
    child.kill().expect("it runs");
    child.wait().expect("it has ended");
    ends
}

#[test]
fn a_thousand_programs_and_misbehaving_ones_disturb_nobody() {
    let person = Person::new();
    let serving = person.serve_in_home(&["--log-level", "error"]);
    // A tick that comes while the one before is still starting is no disturbance of the schedule.
    let steady = ["schedule", "create", "--name", "steady", "--cron", "* * * * * *", "--if-running", "allow"];
    person.json(&[&steady[..], &["--", "true"]].concat());
    let start = (Timestamp::now() + SignedDuration::from_secs(5)).round(Unit::Second).expect("a second");
    std::fs::write(person.home().join("herd.yaml"), herd(start)).expect("a file");
    let file = person.home().join("herd.yaml").display().to_string();
    person.json(&["schedule", "create", "--file", &file]);
    let ends = ends(&person);
    for number in 0..PROGRAMS {
        assert_eq!(ends[&format!("herd-{number}")]["status"], "success", "{number}");
    }
    for (name, _, expected) in MISBEHAVING {
        assert_eq!(ends[name]["status"], expected, "{}", ends[name]);
    }
    let steady = person.json(&["schedule", "runs", "--name", "steady", "--limit", "1000"]);
    let counts = steady["summary"]["counts"].as_object().expect("counts");
    let disturbed =
        counts.keys().any(|status| ["missed", "skipped", "failed", "cancelled"].contains(&status.as_str()));
    assert!(!disturbed && steady["ranges"] == json!([]), "{counts:?}");
    let peak = peak_mib(&serving);
    println!("{PROGRAMS} programs at once and {} that misbehave: {peak} MiB at most", MISBEHAVING.len());
    assert!(peak < SERVER_MIB, "{peak} MiB");
    serving.stop();
}
