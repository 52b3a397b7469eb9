//! Nodes, breakers and maintenance.

use serde_json::Value;

use crate::driver::Person;
use crate::live::{each_second, until_status};

#[test]
fn a_node_is_alive_while_it_serves_and_has_left_afterwards() {
    let person = Person::new();
    assert_eq!(person.json(&["system", "nodes"])["nodes"], Value::from(Vec::<Value>::new()));
    let serving = person.serve();
    let nodes = person.json(&["system", "nodes"]);
    assert_eq!(nodes["nodes"][0]["state"], "alive", "{nodes}");
    assert!(nodes["clock_offset_ms"].is_number() && nodes["nodes"][0]["tz_version"].is_string());
    assert_eq!(nodes["nodes"][0]["plans"], true, "{nodes}");
    serving.stop();
    assert_eq!(person.json(&["system", "nodes"])["nodes"][0]["state"], "left");
    let table = person.run(&["--text", "system", "nodes"]);
    let table = String::from_utf8_lossy(&table.stdout).into_owned();
    assert!(table.contains("CLOCK") && table.contains("0 ms"), "{table}");
}

#[test]
fn a_breaker_that_failures_opened_is_shown_and_closed_by_hand() {
    let person = Person::new();
    assert_eq!(person.json(&["system", "breaker"])["breakers"], Value::from(Vec::<Value>::new()));
    each_second(&person, "bad", &["false"]);
    let serving = person.serve();
    let closed = person.json(&["system", "breaker", "bad"]);
    assert!(closed["breaker"]["state"] == "closed" || closed["breaker"]["state"] == "open", "{closed}");
    for _ in 0..5 {
        until_status(&person, "bad", "failed");
    }
    until_status(&person, "bad", "failed");
    while person.json(&["system", "breaker", "bad"])["breaker"]["state"] != "open" {
        std::hint::spin_loop();
    }
    serving.stop();
    let open = person.json(&["system", "breaker", "bad"]);
    assert_eq!(open["breaker"]["transitions"][0]["to"], "open", "{open}");
    assert!(open["breaker"]["transitions"][0]["run_id"].as_str().is_some_and(|run| run.starts_with("run-")));
    assert_eq!(person.json(&["system", "breaker"])["breakers"][0]["target"], "bad");
    let reset = person.json(&["system", "breaker", "bad", "--reset"]);
    assert_eq!(
        (&reset["reset"], &reset["breaker"]["state"]),
        (&Value::from(true), &"closed".into()),
        "{reset}"
    );
    assert_eq!(person.json(&["system", "breaker", "bad", "--reset"])["reset"], false);
    assert_eq!(person.run(&["system", "breaker", "nobody"]).status.code(), Some(3));
}

fn statuses(person: &Person, org: &str) -> Vec<String> {
    let output =
        person.command(&["schedule", "list"]).env("PUNCTUAL_ORG_ID", org).output().expect("it starts");
    let listed: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let rows = listed["schedules"].as_array().expect("a list").iter();
    rows.map(|row| row["status"].as_str().expect("a status").to_owned()).collect()
}

fn daily(person: &Person, org: &str, name: &str) {
    let line = ["schedule", "create", "--name", name, "--cron", "@daily", "--", "true"];
    let made = person.command(&line).env("PUNCTUAL_ORG_ID", org).output().expect("it starts");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
}

#[test]
fn maintenance_pauses_what_is_active_and_what_is_made_and_enables_exactly_that() {
    let person = Person::new();
    daily(&person, "default", "a");
    daily(&person, "default", "b");
    daily(&person, "acme", "x");
    let on = person.json(&["system", "maintenance", "on", "--note", "new disks"]);
    assert_eq!((&on["paused"], &on["maintenance"]["extent"]), (&Value::from(2), &"org".into()), "{on}");
    daily(&person, "default", "c");
    assert_eq!(statuses(&person, "default"), ["paused_manual", "paused_manual", "paused_manual"]);
    assert_eq!(statuses(&person, "acme"), ["active"]);
    let why = person.json(&["why", "a", "--at", "2100-01-01T00:00Z"]);
    assert!(why["verdict"].as_str().is_some_and(|text| text.contains("paused_manual")), "{why}");
    let twice = person.run(&["system", "maintenance", "on", "--note", "again"]);
    assert_eq!(twice.status.code(), Some(5));
    assert_eq!(person.json(&["system", "maintenance", "status"])["maintenance"][0]["note"], "new disks");
    assert_eq!(person.json(&["system", "maintenance", "off"])["resumed"], 3);
    assert_eq!(statuses(&person, "default"), ["active", "active", "active"]);
    assert_eq!(person.json(&["system", "maintenance", "off"])["ended"], false);
}

#[test]
fn nobody_acts_for_the_installation_and_no_org_for_another() {
    let person = Person::new();
    daily(&person, "default", "a");
    let as_org = |org: &str, line: &[&str]| {
        person.command(line).env("PUNCTUAL_ORG_ID", org).output().expect("it starts")
    };
    for line in [
        &["system", "maintenance", "on", "--note", "mine"][..],
        &["system", "maintenance", "status"],
        &["schedule", "list"],
    ] {
        let refused = as_org("punctual:installation", line);
        let error = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert_eq!(refused.status.code(), Some(4), "{error}");
        assert!(error.contains("`punctual:installation` is kept for the installation"), "{error}");
    }
    // The pause of one org is neither seen nor ended by another.
    person.json(&["system", "maintenance", "on", "--note", "ours alone"]);
    let seen = as_org("acme", &["system", "maintenance", "status"]);
    assert!(!String::from_utf8_lossy(&seen.stdout).contains("ours alone"));
    as_org("acme", &["system", "maintenance", "off"]);
    assert_eq!(person.json(&["system", "maintenance", "status"])["maintenance"][0]["note"], "ours alone");
    assert_eq!(statuses(&person, "default"), ["paused_manual"]);
}

#[test]
fn maintenance_of_the_installation_reaches_every_org_and_leaves_what_an_org_paused() {
    let person = Person::new();
    daily(&person, "default", "a");
    daily(&person, "acme", "x");
    person.json(&["system", "maintenance", "on", "--note", "own"]);
    let on = person.json(&["system", "maintenance", "on", "--note", "all", "--installation"]);
    assert_eq!(on["paused"], 1, "{on}");
    daily(&person, "new", "n");
    assert_eq!(
        (statuses(&person, "acme"), statuses(&person, "new")),
        (vec!["paused_manual".into()], vec!["paused_manual".into()])
    );
    let off = person.json(&["system", "maintenance", "off", "--installation"]);
    assert_eq!((&off["resumed"], &off["left"][0]["note"]), (&Value::from(2), &"own".into()), "{off}");
    assert_eq!(
        (statuses(&person, "acme"), statuses(&person, "default")),
        (vec!["active".into()], vec!["paused_manual".into()])
    );
    assert_eq!(person.json(&["system", "maintenance", "off"])["resumed"], 1);
}
