//! Goal: putting a workflow keeps its DAG and exactly the schedules of its triggers, and never touches anything else.
//! Method: the real program on a database of its own; what it says and what the ledger lists after each step.

use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::{Value, json};
use tempfile::TempDir;

struct Desk {
    folder: TempDir,
}

impl Desk {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a folder") }
    }

    fn file(&self, name: &str, value: &Value) -> String {
        let path: PathBuf = self.folder.path().join(name);
        std::fs::write(&path, value.to_string()).expect("it can be written");
        path.to_str().expect("text").to_owned()
    }

    fn run(&self, words: &[&str]) -> Output {
        let program = env!("CARGO_BIN_EXE_punctual");
        let data = self.folder.path().join("data");
        let config = self.folder.path().join("config");
        let mut command = Command::new(program);
        command.args(words).env_remove("DATABASE_URL").env("XDG_DATA_HOME", data);
        command.env("XDG_CONFIG_HOME", config).output().expect("the program starts")
    }

    fn json(&self, words: &[&str]) -> Value {
        let output = self.run(words);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{words:?}: {said}");
        serde_json::from_slice(&output.stdout).expect("JSON")
    }

    /// A command that is refused with a code, and what it says.
    fn refused(&self, words: &[&str], code: i32) -> String {
        let output = self.run(words);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{words:?}: {said}");
        assert!(said.contains("error: ") && said.contains("hint: "), "{said}");
        said
    }

    fn names(&self) -> Vec<String> {
        let list = self.json(&["schedule", "list"]);
        let rows = list["schedules"].as_array().expect("a list");
        rows.iter().map(|row| row["name"].as_str().expect("a name").to_owned()).collect()
    }

    fn schedule(&self, name: &str) -> Value {
        self.json(&["schedule", "get", "--name", name])["schedule"].clone()
    }
}

fn dag(version: u32, triggers: &Value) -> Value {
    json!({"id": "report", "version": version, "user_id": "ada", "triggers": triggers, "nodes": [{"id": "load"}]})
}

fn trigger(id: &str, cron: &str) -> Value {
    json!({"id": id, "type": "schedule_based", "cron_expr": cron, "timezone": "Europe/Berlin", "jitter_ms": 500,
        "overlap_policy": "queue", "catchup_policy": "fire_immediately"})
}

#[test]
fn each_trigger_is_a_schedule_that_moves_with_the_version_and_goes_with_it() {
    let desk = Desk::new();
    let first =
        desk.file("1.json", &dag(1, &json!([trigger("daily", "0 6 * * *"), trigger("weekly", "0 7 * * 1")])));
    let would = desk.json(&["workflow", "put", &first, "--dry-run"]);
    assert_eq!((&would["dag"], &would["dry_run"]), (&json!("added"), &json!(true)));
    assert!(desk.names().is_empty(), "a dry run writes nothing");
    desk.json(&["workflow", "put", &first]);
    assert_eq!(desk.names(), ["report/daily", "report/weekly"]);
    let daily = desk.schedule("report/daily");
    let expected = json!({"workflow_id": "report", "workflow_version": 1, "user_id": "ada", "timezone": "Europe/Berlin"});
    for (key, value) in expected.as_object().expect("an object") {
        assert_eq!(&daily[key], value, "{key}: {daily}");
    }
    let kept = &daily["policies"];
    let kept = if kept.is_null() { &daily } else { kept };
    assert_eq!((&kept["if_running"], &kept["catch_up"]), (&json!("queue"), &json!("run_all")), "{daily}");
    assert_eq!(kept["jitter"], json!({"max": "500ms", "mode": "around"}), "{daily}");

    desk.json(&["schedule", "disable", "--name", "report/daily", "--note", "holidays"]);
    let second =
        desk.file("2.json", &dag(2, &json!([trigger("daily", "0 5 * * *"), trigger("hourly", "@hourly")])));
    let put = desk.json(&["workflow", "put", &second]);
    assert_eq!(put["schedules"]["changes"].as_array().map(Vec::len), Some(3), "{put}");
    assert_eq!(desk.names(), ["report/daily", "report/hourly"]);
    let daily = desk.schedule("report/daily");
    assert_eq!((&daily["workflow_version"], &daily["spec"]), (&json!(2), &json!("0 5 * * *")));
    assert_eq!(daily["status"], "paused_manual", "a pause stays");
    let again = desk.json(&["workflow", "put", &second]);
    assert_eq!(
        (&again["dag"], &again["schedules"]["unchanged"]),
        (&json!("unchanged"), &json!(2)),
        "{again}"
    );

    let listed = desk.json(&["workflow", "list"]);
    let rows = listed["workflows"].as_array().expect("a list");
    assert_eq!((rows.len(), &rows[0]["schedules"]), (2, &json!([])));
    assert_eq!(rows[1]["schedules"], json!(["report/daily", "report/hourly"]));
    let got = desk.json(&["workflow", "get", "--id", "report", "--version", "1"]);
    assert_eq!(got["workflow"]["dag"]["triggers"][1]["id"], "weekly");
    assert_eq!(desk.json(&["workflow", "get", "--id", "report"])["workflow"]["version"], 2);

    let said = desk.refused(&["workflow", "rm", "--id", "report", "--version", "2"], 5);
    assert!(said.contains("`report/daily` starts it"), "{said}");
    desk.json(&["workflow", "rm", "--id", "report", "--version", "1"]);
    let would = desk.json(&["workflow", "rm", "--id", "report", "--dry-run"]);
    assert_eq!((&would["dry_run"], would["removed"].as_array().map(Vec::len)), (&json!(true), Some(1)));
    desk.json(&["workflow", "rm", "--id", "report"]);
    assert!(desk.names().is_empty(), "the schedules of its triggers are gone with it");
    desk.refused(&["workflow", "get", "--id", "report"], 3);
}

#[test]
fn what_somebody_else_made_is_never_touched() {
    let desk = Desk::new();
    desk.json(&["schedule", "create", "--name", "report/daily", "--cron", "@daily", "--", "true"]);
    let file =
        desk.file("1.json", &dag(1, &json!([trigger("daily", "0 6 * * *"), trigger("other", "@hourly")])));
    let said = desk.refused(&["workflow", "put", &file], 5);
    assert!(said.contains("`report/daily`, made by somebody by hand"), "{said}");
    assert_eq!(desk.names(), ["report/daily"]);
    assert!(desk.json(&["workflow", "list"])["workflows"].as_array().is_some_and(Vec::is_empty));
    // A schedule that a person made for the workflow keeps it from being removed, and stays when a trigger goes.
    let file = desk.file("2.json", &dag(1, &json!([trigger("other", "@hourly")])));
    desk.json(&["workflow", "put", &file]);
    desk.json(&[
        "schedule",
        "create",
        "--name",
        "mine",
        "--cron",
        "@daily",
        "--workflow",
        "report",
        "--workflow-version",
        "1",
    ]);
    let none = desk.file("3.json", &dag(1, &json!([])));
    desk.json(&["workflow", "put", &none]);
    assert_eq!(desk.names(), ["mine", "report/daily"]);
    let said = desk.refused(&["workflow", "rm", "--id", "report"], 5);
    assert!(said.contains("`mine` starts it"), "{said}");
}

#[test]
fn what_cannot_be_meant_is_refused_before_anything_is_written() {
    let desk = Desk::new();
    for (dag, words, said) in [
        (json!([1]), vec![], "the DAG is not an object"),
        (json!({"id": "x"}), vec![], "it is not said which version the workflow has"),
        (json!({"version": 1}), vec![], "it is not said which id the workflow has"),
        (json!({"id": "x", "version": 0}), vec![], "`0` is no version"),
        (json!({"id": "x", "version": "a"}), vec![], "`\"a\"` is no version of a workflow"),
        (json!({"id": "x@y", "version": 1}), vec![], "`x@y` cannot name a workflow"),
        (json!({"id": "x", "version": 1}), vec!["--id", "y"], "the DAG says its id is `x`, not `y`"),
        (dag(1, &json!([trigger("a", "61 * * * *")])), vec![], "`61` is not within `0`-`59`"),
        (dag(1, &json!([{"id": "a", "type": "schedule_based"}])), vec![], "it is not said when it fires"),
        (
            dag(1, &json!([{"id": "a", "type": "schedule_based", "cron_expr": "@daily", "crno": 1}])),
            vec![],
            "`crno` is not a key here",
        ),
        (dag(1, &json!([trigger("a", "@daily"), trigger("a", "@daily")])), vec![], "are called `a`"),
    ] {
        let file = desk.file("bad.json", &dag);
        let refused = desk.refused(&[&["workflow", "put", &file], words.as_slice()].concat(), 4);
        assert!(refused.contains(said), "{dag}: {refused}");
    }
    assert!(desk.names().is_empty());
}

#[test]
fn messages_and_executors_are_checked_when_they_are_written() {
    let desk = Desk::new();
    let create = ["schedule", "create", "--name", "note", "--cron", "@daily"];
    let with = |more: &[&'static str]| [&create[..], more].concat();
    for (words, said) in [
        (with(&["--message", r#"{"id": "x"}"#]), "`id` of a message is not for its template to say"),
        (with(&["--message", r#"{"text": "{{ payload.to }}"}"#]), "its run has no `payload.to`"),
        (with(&["--message", r#"{"text": "{{ shceduled_for }}"}"#]), "no run has a `shceduled_for`"),
        (with(&["--message", r#"{"text": "${secret:x}"}"#]), "refers to `${secret:x}`"),
        (with(&["--message", "nothing"]), "this is not JSON"),
        (with(&["--workflow", "a@b", "--workflow-version", "1"]), "`a@b` cannot name a workflow"),
        (with(&["--workflow", "a"]), "`version` is missing"),
    ] {
        let refused = desk.refused(&words, 4);
        assert!(refused.contains(said), "{words:?}: {refused}");
    }
    desk.json(&with(&["--message", r#"{"text": "to {{ payload.to }}"}"#, "--payload", r#"{"to": "ada"}"#]));
    let said = desk.refused(&["schedule", "update", "--name", "note", "--payload", "{}"], 4);
    assert!(said.contains("its run has no `payload.to`"), "a later change is checked as well: {said}");
    let config = desk.run(&["config", "show", "--workflow-executor", "dag --all"]);
    assert!(String::from_utf8_lossy(&config.stderr).contains("cannot be `workflow_executor`"));
    let shown = desk.json(&["config", "show", "--workflow-executor", r#"["dag", "--all"]"#]);
    assert!(shown.to_string().contains("workflow_executor"), "{shown}");
}
