//! The scheduler of messages: MessageEvents from a template, quiet hours and audit, read by whoever wants them.

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use crate::door::Door;
use crate::driver::Person;
use crate::live::{until, until_status};
use punctual::{App, Database, Identity};
use punctual_store::Store;

/// The quiet hours are those around now: hours that never end leave no tick, and are refused.
const FILE: &str = r#"
quiet_hours: {around: {during: "HOURS"}}
schedules:
  - name: note
    cron: "* * * * * *"
    payload: {to: ada}
    target: {type: message, message: {type: reminder, text: "due {{ scheduled_for }}", to: "{{ payload.to }}"}}
  - name: silent
    cron: "* * * * * *"
    quiet_hours_policy_id: around
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
    let clock =
        |hours: i64| (Timestamp::now() + SignedDuration::from_hours(hours)).strftime("%H:%M").to_string();
    std::fs::write(&file, FILE.replace("HOURS", &format!("{}-{}", clock(-2), clock(2)))).expect("a file");
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
    assert!(!events.is_empty() && events[0].to_string().contains("around"), "{log}");
    assert_eq!(person.json(&["audit", "--all"])["whole"], true);
}

#[test]
fn s0_messages_are_read_in_order_resumed_and_acknowledged_over_http() {
    let person = Person::new();
    let line = ["schedule", "create", "--name", "note", "--cron", "@yearly", "--if-running", "allow"];
    person.json(&[&line[..], &["--message", r#"{"text": "by {{ request_id }}"}"#]].concat());
    let serving = person.serve_in_home(&["--listen", "127.0.0.1:0"]);
    let door = Door::of(&person, &serving);
    let asked: Vec<String> = (0..5)
        .map(|_| {
            let said = person.json(&["schedule", "trigger", "--name", "note", "--wait"]);
            said["request_id"].as_str().expect("an id").to_owned()
        })
        .collect();
    let texts = |asked: &[String]| asked.iter().map(|id| json!(format!("by {id}"))).collect::<Vec<_>>();
    let first = door.ask("GET", "outbox?limit=2&wait_seconds=10", None);
    let said = |page: &Value| -> Vec<Value> {
        page["messages"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|one| one["message"]["text"].clone())
            .collect()
    };
    assert_eq!(said(&first), texts(&asked[..2]), "{first}");
    let next = first["next"].as_i64().expect("a place");
    let more = door.ask("GET", &format!("outbox?after={next}&wait_seconds=10"), None);
    assert_eq!(said(&more), texts(&asked[2..]), "{more}");
    assert_eq!(more["messages"][0]["message_id"], more["messages"][0]["message"]["id"]);

    // A stream goes on behind what was heard last, whatever was heard before.
    let heard = door.events("outbox/stream", None, 3);
    let events =
        |heard: &[(String, Value)]| heard.iter().map(|(_, one)| one["text"].clone()).collect::<Vec<_>>();
    assert_eq!(events(&heard), texts(&asked[..3]));
    let resumed = door.events("outbox/stream", Some(&heard[2].0), 2);
    assert_eq!(events(&resumed), texts(&asked[3..]));

    let through = json!({"through": more["messages"][1]["position"]});
    assert_eq!(door.ask("POST", "outbox/acknowledge", Some(&through))["acknowledged"], 4);
    assert_eq!(said(&door.ask("GET", "outbox", None)), texts(&asked[4..]));
    let (code, problem) = door.send("GET", "outbox?limit=0", None);
    assert_eq!(code, 400, "{problem}");
    serving.stop();
}
