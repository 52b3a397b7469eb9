//! Goal: a file of plugins, the example of its format as it stands among them, goes live: planned, applied, served.
//! Method: real plugin programs in a folder; what the ledger, the breaker and the listing say of them afterwards.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::driver::Person;
use crate::live::{until, until_status};

/// The example of the format, word for word.
const EXAMPLE: &str = "plugins:
  example:
    schedules:
      - id: hourly
        command: poll
        every: 1h
        jitter: 30s
        catch_up: run_once
        if_running: skip
        only_between: \"08:00-18:00\"
        timezone: \"Australia/Sydney\"
        not_on: [saturday, sunday]
        payload:
          source: scheduler
";

/// Beside it: polls that are slower than their interval, a plugin that always fails, and one-shots of both kinds.
const OTHERS: &str = "  slow:
    schedules:
      - {id: one, every: 1s}
      - {id: two, every: 1s}
      - {id: sync, command: sync, every: 1s}
  broken:
    circuit_breaker: {threshold: 2, reset_after: 1h}
    schedules:
      - every: 1s
  once:
    run: [echo, got]
    schedules:
      - {id: after, after: 1s}
      - {id: at, at: \"AT\"}
";

/// Two polls at once would both hold the lock; the second would say so. A sync may run beside a poll.
const SLOW: &str = "#!/bin/sh
mkdir \"$0.$1.lock\" || { echo collision; exit 9; }
sleep 1.5
rmdir \"$0.$1.lock\"
";

fn plugin(person: &Person, name: &str, script: &str) {
    let path = person.home().join("plugins").join(name);
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    std::fs::write(&path, script).expect("it can be written");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("it is ours");
}

fn file(person: &Person, text: &str) -> PathBuf {
    let path = person.home().join("plugins.yaml");
    std::fs::write(&path, text).expect("it can be written");
    path
}

fn runs(person: &Person, name: &str) -> Vec<Value> {
    let ledger = person.json(&["runs", name, "--limit", "100"]);
    ledger["runs"].as_array().expect("a list").clone()
}

#[test]
fn the_example_is_planned_applied_and_served_as_it_stands() {
    let person = Person::new();
    plugin(&person, "example", "#!/bin/sh\necho \"$1\"; cat\n");
    let path = file(&person, EXAMPLE);
    let path = path.to_str().expect("text");
    let planned = person.json(&["plan", path]);
    let schedule = &planned["plan"][0];
    assert_eq!(
        (&schedule["name"], &schedule["timezone"]),
        (&json!("example/hourly"), &json!("Australia/Sydney"))
    );
    assert_eq!(person.json(&["apply", path])["summary"]["added"], 1);
    assert_eq!(person.json(&["apply", path])["summary"]["unchanged"], 1);
    let mut serving = person.serve_in_home(&["--config", path, "--strict"]);
    let triggered = person.json(&["schedule", "trigger", "--name", "example/hourly", "--wait"]);
    serving.wait_for("\"ended\"");
    let ran = until_status(&person, "example/hourly", "success");
    assert_eq!(ran["request_id"], triggered["request_id"]);
    let output = ran["output"].as_str().expect("it printed");
    let given: Value =
        serde_json::from_str(output.strip_prefix("poll\n").expect("its command")).expect("JSON");
    assert_eq!(given["payload"], json!({"source": "scheduler"}));
    serving.stop();
    // What the file says now is not what the database holds, and a strict server does not start on that.
    let changed = EXAMPLE.replace("1h", "2h");
    file(&person, &changed);
    let refused = person.run(&["serve", "--config", path, "--strict"]);
    assert_eq!(refused.status.code(), Some(7), "{}", String::from_utf8_lossy(&refused.stderr));
}

#[test]
fn polls_are_guarded_failures_open_the_breaker_and_one_shots_are_exhausted() {
    let person = Person::new();
    plugin(&person, "slow", SLOW);
    plugin(&person, "broken", "#!/bin/sh\nexit 3\n");
    let at = jiff::Timestamp::now() + jiff::SignedDuration::from_secs(4);
    let path = file(&person, &format!("plugins:\n{}", OTHERS.replace("AT", &at.to_string())));
    let path = path.to_str().expect("text");
    let serving = person.serve_in_home(&["--config", path]);
    for name in ["once/after", "once/at", "slow/sync"] {
        until_status(&person, name, "success");
    }
    until(&person, "broken/default", |run| run["reason"] == "breaker_open");
    until(&person, "slow/two", |run| run["status"] == "skipped");
    let breaker = person.json(&["system", "breaker", "broken", "--json"])["breaker"].clone();
    serving.stop();

    assert_eq!((&breaker["state"], &breaker["transitions"][0]["to"]), (&json!("open"), &json!("open")));
    assert_eq!(runs(&person, "broken/default").iter().filter(|run| run["status"] == "failed").count(), 2);
    for name in ["once/after", "once/at"] {
        let ran = runs(&person, name);
        assert_eq!((ran.len(), &ran[0]["output"]), (1, &json!("got poll\n")), "{name}");
        let schedule = person.json(&["schedule", "get", "--name", name])["schedule"].clone();
        assert_eq!((&schedule["status"], &schedule["next_run_at"]), (&json!("exhausted"), &json!(null)));
    }
    let polls = [runs(&person, "slow/one"), runs(&person, "slow/two")].concat();
    assert!(polls.iter().all(|run| run["status"] != "failed"), "one poll at a time: {polls:?}");
}
