//! The scheduler of messages: MessageEvents from a template, quiet hours and audit, read by whoever wants them.

use serde_json::{Value, json};

use crate::driver::Person;
use crate::live::{until, until_status};
use punctual::{App, Database, Identity};
use punctual_store::Store;

const FILE: &str = r#"
quiet_hours: {always: {during: "00:00-24:00"}}
schedules:
  - name: note
    cron: "* * * * * *"
    payload: {to: ada}
    target: {type: message, message: {type: reminder, text: "due {{ scheduled_for }}", to: "{{ payload.to }}"}}
  - name: silent
    cron: "* * * * * *"
    quiet_hours_policy_id: always
    target: {type: message, message: {type: reminder}}
"#;

/// What is in the outbox, in order.
fn outbox(person: &Person) -> Vec<(String, Value)> {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let database = Database::choose(Some(person.database().to_str().expect("text"))).expect("a database");
        let app = App::open(&database, Identity::default()).await.expect("it opens");
        let rows = app.store().outbox(app.scope(), 0, 10_000).await.expect("it answers");
        let read = |text: &str| serde_json::from_str(text).expect("JSON");
        rows.iter().map(|row| (row.message_id.clone(), read(&row.body))).collect()
    })
}

#[test]
fn s0_message_events_are_written_audited_and_kept_back_in_quiet_hours() {
    let person = Person::new();
    let file = person.home().join("s0.yaml");
    std::fs::write(&file, FILE).expect("a file");
    person.json(&["apply", file.to_str().expect("text")]);
    let mut serving = person.serve();
    serving.wait_for("\"ended\"");
    let sent = until_status(&person, "note", "success");
    until(&person, "silent", |run| run["reason"] == "quiet_hours");
    let triggered = person.json(&["schedule", "trigger", "--name", "note", "--wait"]);
    // A restart sends nothing twice.
    serving.kill();
    let serving = person.serve();
    let later = until(&person, "note", |run| {
        run["status"] == "success" && run["scheduled_for"].as_str() > sent["scheduled_for"].as_str()
    });
    serving.stop();

    let messages = outbox(&person);
    let mut ids: Vec<&str> = messages.iter().map(|(id, _)| id.as_str()).collect();
    ids.sort_unstable();
    let count = ids.len();
    ids.dedup();
    assert_eq!(ids.len(), count, "each message has an id of its own");
    let schedule = person.json(&["schedule", "get", "--name", "note"])["schedule"].clone();
    for run in [&sent, &later] {
        let key = run["idempotency_key"].as_str().expect("a key");
        let found: Vec<&Value> =
            messages.iter().filter(|(id, _)| id == key).map(|(_, event)| event).collect();
        assert_eq!(found.len(), 1, "{key}");
        let event = found[0];
        assert_eq!(event["source"], json!({"channel": "scheduler", "connector_id": schedule["id"]}));
        let due = format!("due {}", run["scheduled_for"].as_str().expect("a time"));
        assert_eq!((&event["text"], &event["to"], &event["id"]), (&json!(due), &json!("ada"), &json!(key)));
        assert_eq!((&event["context"]["run_id"], &event["context"]["attempt"]), (&run["id"], &json!(1)));
    }
    let by_hand = |event: &Value| event["context"]["request_id"] == triggered["request_id"];
    assert_eq!(messages.iter().filter(|(_, event)| by_hand(event)).count(), 1);
    let silent = person.json(&["schedule", "get", "--name", "silent"])["schedule"]["id"].clone();
    assert!(messages.iter().all(|(_, event)| event["source"]["connector_id"] != silent));
    let log = person.json(&["audit", "log", "--schedule", "silent", "--kind", "schedule.skipped"]);
    let events = log["events"].as_array().expect("a list");
    assert!(!events.is_empty() && events[0].to_string().contains("always"), "{log}");
    assert_eq!(person.json(&["audit", "--all"])["whole"], true);
}
