//! Goal: a request goes the whole way: schedule, trigger, queue, worker, ledger, with one request id; deletion ends it.
//! Method: the real program four times on one file: one serves, one works, one waits, one asks.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::driver::Person;
use crate::live::until_status;

/// A worker that answers with what it was asked.
fn worker(person: &Person) -> Child {
    let line = ["worker", "--queue", "code-review", "--", "cat"];
    person.command(&line).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("the program starts")
}

fn stop(mut worker: Child) -> Value {
    let sent = Command::new("kill").args(["-TERM", &worker.id().to_string()]).status().expect("kill exists");
    assert!(sent.success());
    let mut said = String::new();
    BufReader::new(worker.stdout.take().expect("a pipe")).read_line(&mut said).expect("text");
    assert!(worker.wait().expect("it ends").success());
    serde_json::from_str(&said).expect("JSON")
}

fn answer(run: &Value) -> Value {
    serde_json::from_str(run["output"].as_str().expect("it printed")).expect("JSON")
}

#[test]
fn a_request_is_done_by_a_worker_and_the_ledger_has_its_id() {
    let person = Person::new();
    let serving = person.serve();
    person.json(&[
        "schedule",
        "create",
        "--name",
        "daily-pr-review",
        "--cron",
        "0 9 * * 1-5",
        "--timezone",
        "America/New_York",
        "--worker-type",
        "code-review",
        "--prompt",
        "Review all open PRs",
        "--repo-url",
        "git@github.com:acme/api.git",
    ]);
    let worker = worker(&person);
    let triggered = person.json(&["schedule", "trigger", "--name", "daily-pr-review", "--wait"]);
    let ledger = person.json(&["schedule", "runs", "--name", "daily-pr-review"]);
    let run = &ledger["runs"][0];
    assert_eq!((&run["status"], &run["request_id"]), (&json!("success"), &triggered["request_id"]), "{run}");
    let asked = answer(run);
    assert_eq!((&asked["prompt"], &asked["branch"]), (&json!("Review all open PRs"), &json!("main")));
    assert_eq!(asked["context"]["schedule_name"], "daily-pr-review");
    assert_eq!(asked["context"]["manual_trigger"], true);

    let line = [
        "request",
        "create",
        "--worker-type",
        "code-review",
        "--prompt",
        "Just this",
        "--context",
        r#"{"a":1}"#,
    ];
    let made = person.json(&line);
    let id = made["run_id"].as_str().expect("an id").to_owned();
    let name = format!("request/{}", made["request_id"].as_str().expect("an id"));
    let run = until_status(&person, &name, "success");
    assert_eq!((&run["id"], &run["request_id"]), (&json!(id), &made["request_id"]));
    assert_eq!((&answer(&run)["prompt"], &answer(&run)["context"]["a"]), (&json!("Just this"), &json!(1)));
    assert_eq!(stop(worker)["succeeded"], 2);
    serving.stop();
}

#[test]
fn a_run_that_is_asked_for_carries_what_the_request_adds() {
    let person = Person::new();
    let serving = person.serve();
    let line = ["schedule", "create", "--name", "a", "--cron", "@yearly", "--payload", r#"{"a":1,"b":1}"#];
    person.json(&[&line[..], &["--", "cat"]].concat());
    let asked = ["schedule", "trigger", "--name", "a", "--wait", "--payload", r#"{"b":{"c":2}}"#];
    let triggered = person.json(&asked);
    let details = |run: &Value| {
        let run = run.as_str().expect("a run");
        person.json(&["schedule", "run-details", "--run-id", run])["run"].clone()
    };
    let ran = details(&triggered["run_id"]);
    assert_eq!(answer(&ran)["payload"], json!({"a": 1, "b": {"c": 2}}));
    assert_eq!(ran["payload"], json!({"b": {"c": 2}}));
    // Run again, it carries the same; the next one does not.
    let again = person.json(&["retry", triggered["run_id"].as_str().expect("a run")]);
    let ran = loop {
        let run = details(&again["run_id"]);
        if run["completed_at"].is_string() {
            break run;
        }
    };
    assert_eq!(answer(&ran)["payload"], json!({"a": 1, "b": {"c": 2}}));
    let plain = person.json(&["schedule", "trigger", "--name", "a", "--wait"]);
    assert_eq!(answer(&details(&plain["run_id"]))["payload"], json!({"a": 1, "b": 1}));
    for wrong in ["[1]", "{b:2}"] {
        let refused = person.run(&["schedule", "trigger", "--name", "a", "--payload", wrong]);
        assert_eq!(refused.status.code(), Some(4), "{}", String::from_utf8_lossy(&refused.stderr));
    }
    serving.stop();
}

#[test]
fn who_waits_for_a_run_is_told_how_it_ended() {
    let person = Person::new();
    let serving = person.serve();
    let create = |name: &str, argv: &[&str]| {
        person.json(&[&["schedule", "create", "--name", name, "--cron", "@yearly", "--"], argv].concat());
    };
    create("good", &["true"]);
    create("bad", &["sh", "-c", "echo no luck >&2; exit 3"]);
    let waited = person.run(&["schedule", "trigger", "--name", "good", "--wait"]);
    assert_eq!(waited.status.code(), Some(0));
    let waited = person.run(&["schedule", "trigger", "--name", "bad", "--wait"]);
    let said = String::from_utf8_lossy(&waited.stderr);
    assert_eq!(waited.status.code(), Some(7), "{said}");
    assert!(said.contains("of `bad` ended as failed") && said.contains("hint: "), "{said}");
    serving.stop();
}

#[test]
fn a_deletion_ends_what_runs_when_it_is_asked_to_and_leaves_it_otherwise() {
    let person = Person::new();
    let serving = person.serve();
    let fifo = person.home().join("gate");
    assert!(Command::new("mkfifo").arg(&fifo).status().expect("mkfifo exists").success());
    let gate = fifo.to_str().expect("text");
    for name in ["ended", "left"] {
        person.json(&["schedule", "create", "--name", name, "--cron", "@yearly", "--", "cat", gate]);
        person.json(&["schedule", "trigger", "--name", name]);
        until_status(&person, name, "running");
    }
    let id = |name: &str| {
        let row = person.json(&["schedule", "get", "--name", name]);
        row["schedule"]["id"].as_str().expect("an id").to_owned()
    };
    let (ended, left) = (id("ended"), id("left"));
    // A pause ends nothing either, and tells what goes on.
    let running = person.json(&["schedule", "runs", "--name", "left"])["runs"][0]["id"].clone();
    let paused = person.json(&["schedule", "disable", "--name", "left"]);
    assert_eq!((&paused["changed"], &paused["still_running"]), (&true.into(), &serde_json::json!([running])));
    person.json(&["schedule", "delete", "--name", "left"]);
    person.json(&["schedule", "delete", "--name", "ended", "--cancel-running"]);
    let status = |id: &str| person.json(&["schedule", "runs", "--id", id])["runs"][0]["status"].clone();
    while status(&ended) != "cancelled" {
        std::thread::yield_now();
    }
    assert_eq!(status(&left), "running");
    // Opening the gate for writing lets the one that was left read to its end.
    std::fs::write(&fifo, "done").expect("somebody reads");
    while status(&left) != "success" {
        std::thread::yield_now();
    }
    serving.stop();
}
