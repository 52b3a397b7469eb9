//! Goal: a file and the database become one: what is the file's own is added, changed and removed, nothing else.
//! Method: the real program on a real file, JSON out; files are written, applied, altered and applied again.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};
use tempfile::TempDir;

struct Place {
    folder: TempDir,
}

impl Place {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a folder") }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn write(&self, text: &str) {
        std::fs::write(self.path().join("jobs.yaml"), text).expect("the file is written");
    }

    fn run(&self, line: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_punctual"));
        command.current_dir(self.path()).args(line).env("DATABASE_URL", "jobs.db");
        command.output().expect("the program starts")
    }

    fn json(&self, line: &[&str]) -> Value {
        let output = self.run(line);
        assert!(output.status.success(), "{line:?}: {}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).expect("JSON")
    }

    /// Applies a text; gives back the counts.
    fn apply(&self, text: &str) -> Value {
        self.write(text);
        self.json(&["apply", "jobs.yaml"])["summary"].clone()
    }

    fn schedule(&self, name: &str) -> Value {
        let listed = self.json(&["schedule", "list"]);
        let all = listed["schedules"].as_array().expect("a list").clone();
        all.into_iter().find(|one| one["name"] == name).unwrap_or(Value::Null)
    }

    /// What fails: the exit code and what is said.
    fn refusal(&self, line: &[&str]) -> (i32, String) {
        let output = self.run(line);
        assert!(output.stdout.is_empty(), "an error leaves stdout alone");
        (output.status.code().unwrap_or(-1), String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

fn counts(added: u64, changed: u64, removed: u64) -> [Value; 3] {
    [json!(added), json!(changed), json!(removed)]
}

fn done(summary: &Value) -> [Value; 3] {
    [summary["added"].clone(), summary["changed"].clone(), summary["removed"].clone()]
}

const TWO: &str = "schedules:
- {name: a, cron: 0 3 * * *, target: {type: process, argv: [a]}}
- {name: b, every: 2h, target: {type: process, argv: [b]}}
";

/// Something of everything that a file may say.
const RICH: &str = r#"
settings: {min_interval: 5s, limits: {runs_in_flight: 40, over: skip}}
calendars: {holidays: {dates: [2026-12-25, 2027-01-01]}}
quiet_hours: {night: {during: "22:00-06:00", on: [friday], timezone: Europe/Paris}}
templates: {job: {retry_after: 10m, payload: {who: "${who}"}, target: {type: process, argv: ["${who}"]}}}
targets: {shared: {type: process, argv: [work], circuit_breaker: {threshold: 3, reset_after: 1m}}}
schedules:
- {name: cron, cron: 0 3 * * *, timezone: Europe/Paris, not_on: [holidays, sunday], quiet_hours: [night], target: shared}
- {name: each, every: 90s, anchor: last_finish, if_running: queue, target: shared, tags: [x, y]}
- {name: text, schedule: every weekday at 9am, template: job, set: {who: ada}}
- {name: once, at: 2031-01-01T10:00:00, enabled: false, target: {type: queue, queue: q, prompt: hello}}
- {name: next, on: {schedule: cron, outcome: finish, delay: 5m}, target: shared}
plugins:
  feed: {run: [feeder], schedules: [{id: hourly, every: 1h, jitter: 30s, only_between: "08:00-18:00", payload: {a: 1}}]}
"#;

#[test]
fn a_file_is_applied_once_and_then_changes_nothing() {
    let place = Place::new();
    assert_eq!(done(&place.apply(TWO)), counts(2, 0, 0));
    let before = place.json(&["schedule", "list"]);
    assert_eq!(done(&place.apply(TWO)), counts(0, 0, 0));
    assert_eq!(place.json(&["schedule", "list"]), before, "not even a version is new");
    assert_eq!(place.json(&["plan", "jobs.yaml"])["changes"], json!([]));
}

#[test]
fn what_changed_is_changed_and_what_is_gone_is_removed() {
    let place = Place::new();
    place.apply(TWO);
    let before = place.schedule("a");
    let text = "schedules: [{name: a, cron: 0 4 * * *, target: {type: process, argv: [a]}}]";
    place.write(text);
    let plan = place.json(&["plan", "jobs.yaml"]);
    let change = &plan["changes"][0];
    assert_eq!((&change["name"], &change["change"]), (&json!("a"), &json!("changed")));
    assert_eq!(change["fields"][0], json!({"field": "spec", "before": "0 3 * * *", "after": "0 4 * * *"}));
    assert_eq!((&change["fires_added"], &change["fires_removed"]), (&json!(1), &json!(1)));
    assert_eq!(plan["changes"][1]["change"], "removed");
    assert_eq!(place.schedule("a"), before, "a plan writes nothing");
    assert_eq!(done(&place.apply(text)), counts(0, 1, 1));
    let after = place.schedule("a");
    assert_eq!((&after["id"], &after["version"]), (&before["id"], &json!(2)), "it keeps its id and history");
    assert_eq!(place.schedule("b"), Value::Null);
    // A name that was removed can come back; its history belongs to the old one.
    assert_eq!(done(&place.apply(TWO)), counts(1, 1, 0));
}

#[test]
fn what_somebody_else_made_is_never_touched() {
    let place = Place::new();
    place.json(&["schedule", "create", "--name", "a", "--cron", "0 5 * * *", "--", "mine"]);
    place.json(&["schedule", "create", "--name", "z", "--cron", "0 5 * * *", "--", "mine"]);
    place.write(TWO);
    let (code, said) = place.refusal(&["apply", "jobs.yaml"]);
    assert_eq!(code, 5, "{said}");
    assert!(said.contains("`a`, made by somebody by hand"), "{said}");
    assert_eq!(place.schedule("b"), Value::Null, "nothing of a refused file is written");
    let other = "schedules: [{name: b, cron: 0 3 * * *, target: {type: process, argv: [b]}}]";
    assert_eq!(done(&place.apply(other)), counts(1, 0, 0));
    place.write("schedules: []");
    assert_eq!(done(&place.json(&["apply", "jobs.yaml", "--set-name", "other"])["summary"]), counts(0, 0, 0));
    assert_eq!(done(&place.apply("schedules: []")), counts(0, 0, 1));
    assert_eq!(place.schedule("z")["name"], "z");
}

#[test]
fn enabled_pauses_and_resumes_but_a_persons_pause_stays() {
    let place = Place::new();
    let text = |enabled: bool| {
        format!(
            "schedules: [{{name: a, every: 1h, enabled: {enabled}, target: {{type: process, argv: [a]}}}}]"
        )
    };
    place.apply(&text(false));
    assert_eq!(place.schedule("a")["status"], "paused_manual");
    assert_eq!(place.apply(&text(true))["toggled"], 1);
    assert_eq!(place.schedule("a")["status"], "active");
    assert_eq!(place.apply(&text(false))["toggled"], 1);
    assert_eq!(place.schedule("a")["status"], "paused_manual");
}

#[test]
fn a_calendar_that_changes_moves_the_schedules_that_use_it() {
    let place = Place::new();
    let text = |date: &str| {
        format!(
            "calendars: {{days: {{dates: [{date}]}}}}\n\
             schedules: [{{name: a, cron: 0 3 * * *, not_on: [days], target: {{type: process, argv: [a]}}}}]"
        )
    };
    assert_eq!(place.apply(&text("2030-01-01"))["shared"], 1);
    assert_eq!(place.apply(&text("2030-01-01"))["shared"], 0);
    // One that is not of the file uses the calendar as well.
    place.json(&["schedule", "create", "--name", "b", "--cron", "0 3 * * *", "--not-on", "days", "--", "b"]);
    let versions = || ["a", "b"].map(|name| place.schedule(name)["version"].clone());
    let [a, b] = versions();
    assert_eq!(place.apply(&text("2030-01-02"))["shared"], 1);
    let [again_a, again_b] = versions();
    assert!(again_a != a && again_b != b, "{again_a} {again_b}");
}

#[test]
fn what_is_exported_declares_the_same() {
    let place = Place::new();
    place.apply(RICH);
    let output = place.run(&["export"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    place.write(&String::from_utf8(output.stdout).expect("text"));
    assert_eq!(place.json(&["plan", "jobs.yaml"])["changes"], json!([]));
    let other = Place::new();
    other.write(&std::fs::read_to_string(place.path().join("jobs.yaml")).expect("the file"));
    assert_eq!(other.json(&["apply", "jobs.yaml"])["summary"]["added"], json!(6));
}

#[test]
fn a_strict_service_refuses_what_differs() {
    let place = Place::new();
    place.apply(TWO);
    place.write("schedules: [{name: a, cron: 0 4 * * *, target: {type: process, argv: [a]}}]");
    let (code, said) = place.refusal(&["serve", "--config", "jobs.yaml", "--strict", "--log-level", "error"]);
    assert_eq!(code, 7, "{said}");
    assert!(said.contains("`a` spec is `0 3 * * *`, declared `0 4 * * *`"), "{said}");
    assert!(said.contains("`b` is stored and declared no more"), "{said}");
    assert_eq!(place.schedule("a")["spec"], "0 3 * * *", "nothing was written");
}
