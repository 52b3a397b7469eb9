//! Runs are followed, cancelled, run again and backfilled.

use serde_json::Value;

use crate::driver::Person;
use crate::live::{each_second, id, until, until_status};

#[test]
fn a_run_in_flight_is_cancelled_once() {
    let person = Person::new();
    each_second(&person, "slow", &["sleep", "600"]);
    let serving = person.serve();
    let run = id(&until_status(&person, "slow", "running"));
    let shown = person.json(&["cancel", &run, "--dry-run"]);
    assert_eq!(
        (&shown["dry_run"], &shown["runs"][0]["status"]),
        (&Value::from(true), &Value::from("running"))
    );
    let done = person.json(&["cancel", &run]);
    assert_eq!(done["runs"][0]["cancelled"], true, "{done}");
    let details = person.json(&["schedule", "run-details", "--run-id", &run]);
    assert_eq!(
        (&details["run"]["status"], &details["run"]["reason"]),
        (&"cancelled".into(), &"cancelled".into())
    );
    let again = person.run(&["cancel", &run]);
    let said = String::from_utf8_lossy(&again.stderr).into_owned();
    assert_eq!(again.status.code(), Some(5), "{said}");
    assert!(said.starts_with("error: 1 of 1 could not be cancelled\nhint: "), "{said}");
    // Its place is free: the next tick starts, and is left to the server to stop.
    let next = until(&person, "slow", |other| other["status"] == "running" && other["id"] != run.as_str());
    person.json(&["cancel", &id(&next)]);
    person.json(&["schedule", "delete", "--name", "slow"]);
    for left in person.json(&["runs", "slow", "--status", "running"])["runs"].as_array().expect("a list") {
        person.run(&["cancel", &id(left)]);
    }
    serving.stop();
}

#[test]
fn a_run_that_ended_is_run_again_once_for_each_key() {
    let person = Person::new();
    each_second(&person, "tick", &["true"]);
    let serving = person.serve();
    let first = id(&until_status(&person, "tick", "success"));
    let retried = person.json(&["retry", &first, "--key", "k"]);
    assert_eq!((&retried["retried"], &retried["new"]), (&Value::from(first.as_str()), &Value::from(true)));
    assert_eq!(person.json(&["retry", &first, "--key", "k"])["run_id"], retried["run_id"]);
    let new = until(&person, "tick", |run| run["id"] == retried["run_id"] && run["completed_at"].is_string());
    assert_eq!((&new["origin"], &new["request_id"]), (&"manual".into(), &format!("retry:{first}:k").into()));
    let unknown = person.run(&["retry", "run-99999999"]);
    assert_eq!(unknown.status.code(), Some(3));
    let ahead = person.json(&["runs", "tick", "--status", "scheduled", "--limit", "1"]);
    let early = person.run(&["retry", &id(&ahead["runs"][0])]);
    assert_eq!(early.status.code(), Some(5), "{}", String::from_utf8_lossy(&early.stderr));
    serving.stop();
}

#[test]
fn what_a_run_prints_is_shown_while_it_runs() {
    let person = Person::new();
    each_second(&person, "talk", &["sh", "-c", "echo one; sleep 1; echo two"]);
    let serving = person.serve();
    let run = id(&until_status(&person, "talk", "running"));
    let output = person.run(&["logs", &run, "--follow"]);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "one\ntwo\n");
    assert_eq!(person.run(&["logs", &run]).stdout, b"one\ntwo\n");
    assert_eq!(person.run(&["logs", &run, "--json"]).status.code(), Some(2), "output is no JSON");
    serving.stop();
}

#[test]
fn a_backfill_shows_ticks_first_and_adds_each_once_for_a_key() {
    let person = Person::new();
    let create = ["schedule", "create", "--name", "old", "--cron", "0 * * * *", "--", "true"];
    person.json(&create);
    let line = ["backfill", "old", "--from", "2026-01-01T00:30Z", "--to", "2026-01-01T04:30Z", "--key", "k"];
    let shown = person.json(&line);
    let ticks: Vec<&Value> = shown["ticks"].as_array().expect("a list").iter().collect();
    assert_eq!((&shown["dry_run"], ticks.len()), (&Value::from(true), 4));
    assert_eq!(ticks[0]["scheduled_for"], "2026-01-01T01:00:00Z");
    assert_eq!(
        person.json(&["runs", "old", "--origin", "backfill"])["runs"],
        Value::from(Vec::<Value>::new())
    );
    let done = person.json(&[&line[..], &["--yes"]].concat());
    let again = person.json(&[&line[..], &["--yes"]].concat());
    let runs = |answer: &Value| -> Vec<String> {
        answer["runs"].as_array().expect("a list").iter().map(|run| run["run_id"].to_string()).collect()
    };
    assert_eq!((runs(&done).len(), runs(&done)), (4, runs(&again)));
    assert_eq!(again["runs"][0]["new"], false);
    let added = person.json(&["runs", "old", "--origin", "backfill"]);
    assert_eq!(added["runs"].as_array().map(Vec::len), Some(4));
    assert_eq!(added["runs"][3]["scheduled_for"], "2026-01-01T01:00:00Z");
    let limited = person.json(&[&line[..], &["--limit", "2"]].concat());
    assert_eq!((limited["ticks"].as_array().map(Vec::len), &limited["more"]), (Some(2), &Value::from(true)));
    let wrong = person.run(&["backfill", "old", "--from", "2026-01-02", "--to", "2026-01-01"]);
    assert_eq!(wrong.status.code(), Some(4));
}

#[test]
fn what_is_proved_is_ticks_and_a_backfill_beside_them_counts_for_none() {
    let person = Person::new();
    each_second(&person, "one", &["true"]);
    let serving = person.serve();
    let run = until_status(&person, "one", "success");
    serving.stop();
    let tick = run["scheduled_for"].as_str().expect("an instant");
    let proof = || person.json(&["audit", "one", "--from", tick, "--to", tick]);
    let proved = proof();
    assert_eq!(proved["audits"][0]["recorded"], 1, "{proved}");
    let line = ["backfill", "one", "--from", tick, "--to", tick, "--key", "k", "--yes"];
    assert_eq!(person.json(&line)["runs"].as_array().map(Vec::len), Some(1));
    assert_eq!(proof(), proved);
}

#[test]
fn the_runs_of_all_schedules_stand_together_with_their_names() {
    let person = Person::new();
    each_second(&person, "one", &["true"]);
    each_second(&person, "two", &["true"]);
    let serving = person.serve();
    until_status(&person, "one", "success");
    until_status(&person, "two", "success");
    let all = person.json(&["schedule", "runs", "--all", "--since", "5 minutes ago"]);
    let mut names: Vec<&str> = all["runs"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|run| run["schedule_name"].as_str())
        .collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names, ["one", "two"]);
    serving.stop();
}
