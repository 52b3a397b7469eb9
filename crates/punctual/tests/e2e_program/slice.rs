//! Goal: the first screen of the README works: serve, create, list, runs, delete from another terminal.
//! Method: the real program on its default database, in a home of its own.

use crate::driver::Person;

#[test]
fn a_schedule_made_beside_a_running_server_runs_and_is_accounted_for() {
    let person = Person::new();
    let mut serving = person.serve();
    assert!(serving.greeting[0].contains(&person.database().display().to_string()), "{:?}", serving.greeting);

    let made =
        person.json(&["schedule", "create", "--name", "tick", "--cron", "* * * * * *", "--", "echo", "hi"]);
    let id = made["schedule"]["id"].as_str().expect("an id").to_owned();
    for _ in 0..2 {
        serving.wait_for("\"ended\"");
    }
    let listed = person.json(&["schedule", "list"]);
    assert_eq!(listed["schedules"][0]["name"], "tick");
    assert_eq!(listed["schedules"][0]["last_run_status"], "success");

    let ledger = person.json(&["schedule", "runs", "--name", "tick"]);
    let newest = ledger["runs"].as_array().expect("a list").iter().find(|run| run["status"] == "success");
    let newest = newest.expect("something ran");
    assert_eq!(newest["output"], "hi\n");
    assert_eq!(newest["schedule_id"], id.as_str());
    assert!(ledger["summary"]["lateness_ms"]["max"].as_f64().expect("a figure") >= 0.0);

    let deleted = person.json(&["schedule", "delete", "--name", "tick"]);
    assert_eq!(deleted["deleted"], true);
    assert_eq!(person.json(&["schedule", "list"])["schedules"], serde_json::json!([]));
    let kept = person.json(&["schedule", "runs", "--id", &id[..8]]);
    assert!(!kept["runs"].as_array().expect("a list").is_empty(), "the history stays");
    assert!(kept["runs"].as_array().expect("a list").iter().all(|run| run["status"] != "scheduled"));
    serving.stop();
}

#[test]
fn a_second_server_on_the_same_file_is_refused_and_the_first_goes_on() {
    let person = Person::new();
    let mut serving = person.serve();
    let refused = person.run(&["serve"]);
    assert_eq!(refused.status.code(), Some(6));
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(said.contains("already serves") && said.contains("hint: "), "{said}");
    person.json(&["schedule", "create", "--name", "tick", "--cron", "* * * * * *", "--", "true"]);
    serving.wait_for("\"ended\"");
    serving.stop();
    person.serve().stop();
}

#[test]
fn a_server_that_was_killed_misses_what_it_slept_through_and_says_so() {
    let person = Person::new();
    let mut serving = person.serve();
    person.json(&["schedule", "create", "--name", "tick", "--cron", "* * * * * *", "--", "true"]);
    serving.wait_for("\"ended\"");
    serving.kill();
    // Nobody serves while three more seconds begin.
    let until = jiff::Timestamp::now() + jiff::SignedDuration::from_secs(3);
    while jiff::Timestamp::now() < until {
        std::hint::spin_loop();
    }
    let mut serving = person.serve();
    serving.wait_for("\"ended\"");
    serving.stop();
    let ledger = person.json(&["schedule", "runs", "--name", "tick", "--limit", "100"]);
    let missed = |run: &&serde_json::Value| run["status"] == "missed" && run["reason"] == "overtaken";
    assert!(ledger["runs"].as_array().expect("a list").iter().filter(missed).count() >= 2, "{ledger}");
}
