//! Messages: what a template becomes for a run, and which templates are refused before any run needs them.

use jiff::Timestamp;
use punctual_plan::{
    Action, Facts, Object, Origin, RunKey, Schedule, ScheduleId, check_message, message_event, message_id,
};
use punctual_time::{Cron, Timing, Zone};
use serde_json::{Value, json};

fn object(value: Value) -> Object {
    match value {
        Value::Object(object) => object,
        other => panic!("{other} is no object"),
    }
}

fn schedule() -> Schedule {
    let timing = Timing::new("0 9 * * *".parse::<Cron>().expect("a spec"), Zone::utc());
    let action = Action::Message { message: Object::new() };
    let mut schedule = Schedule::new(ScheduleId(uuid::Uuid::from_u128(7)), "note", timing, action);
    schedule.payload = object(json!({"to": "ada", "count": 3, "nested": {"deep": [1, 2]}}));
    schedule
}

fn at(text: &str) -> Timestamp {
    text.parse().expect("an instant")
}

fn facts(schedule: &Schedule) -> Facts<'_> {
    Facts {
        schedule,
        run: RunKey(41),
        origin: Origin::Tick,
        nonce: "",
        scheduled_for: at("2026-03-01T09:00:00Z"),
        fire_at: at("2026-03-01T09:00:00Z"),
        triggered_at: at("2026-03-01T09:00:00.25Z"),
        attempt: 1,
        trace: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".parse().ok(),
    }
}

/// What a value of a template becomes.
fn check(value: impl Into<Value>, expected: impl Into<Value>) {
    let (schedule, template) = (schedule(), object(json!({"it": value.into()})));
    assert_eq!(check_message(&template, &schedule.payload), Ok(()), "{template:?}");
    assert_eq!(message_event(&template, &facts(&schedule))["it"], expected.into(), "{template:?}");
}

#[test]
fn places_are_filled_with_what_the_run_knows() {
    check(json!("plain"), json!("plain"));
    check(json!("due {{ scheduled_for }}"), json!("due 2026-03-01T09:00:00Z"));
    check(json!("{{ payload.count }}"), json!(3));
    check(json!("{{ payload.count }} of {{payload.to}}"), json!("3 of ada"));
    check(json!({"all": ["{{ payload.nested.deep }}"]}), json!({"all": [[1, 2]]}));
    check(json!("as {{ payload.to | json }}"), json!("as \"ada\""));
    check(json!("{{ payload.to | json }}"), json!("\"ada\""));
    check(json!("{{{{ payload }}"), json!("{{ payload }}"));
    check(json!("by <{{ request_id }}>"), json!("by <>"));
    check(json!("{{ user_id }}"), Value::Null);
    check(json!("{{ traceparent }}"), json!("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"));
    check(json!([1, true, null]), json!([1, true, null]));
}

#[test]
fn the_scheduler_says_who_speaks_and_what_the_run_is() {
    let (schedule, template) = (
        schedule(),
        object(json!({"type": "reminder", "source": {"region": "eu"}, "context": {"team": "data"}})),
    );
    assert_eq!(check_message(&template, &schedule.payload), Ok(()));
    let event = message_event(&template, &facts(&schedule));
    let id = schedule.id.to_string();
    assert_eq!(event["source"], json!({"region": "eu", "channel": "scheduler", "connector_id": id}));
    assert_eq!((&event["type"], &event["context"]["team"]), (&json!("reminder"), &json!("data")));
    let context = &event["context"];
    assert_eq!((&context["schedule_id"], &context["run_id"]), (&json!(id), &json!("run-41")));
    assert_eq!(
        (&context["triggered_at"], &context["manual_trigger"]),
        (&json!("2026-03-01T09:00:00.25Z"), &json!(false))
    );
    let key = punctual_plan::idempotency_key(schedule.id, at("2026-03-01T09:00:00Z"));
    assert_eq!((event["id"].as_str(), context["idempotency_key"].as_str()), (Some(&*key), Some(&*key)));
    let again = Facts { attempt: 3, ..facts(&schedule) };
    assert_eq!(message_id(&again), format!("{key}:3"));
    assert_eq!(message_event(&template, &again)["id"], json!(format!("{key}:3")));
}

#[test]
fn what_could_not_be_filled_in_is_refused_with_its_place() {
    let refuse = |template: Value, expected: &str| {
        let refused = check_message(&object(template), &schedule().payload).expect_err(expected);
        assert_eq!(refused.to_string(), expected);
        assert!(!refused.hint().is_empty());
    };
    refuse(json!({"id": "mine"}), "`id` of a message is not for its template to say");
    refuse(
        json!({"source": {"channel": "mail"}}),
        "`source.channel` of a message is not for its template to say",
    );
    refuse(
        json!({"source": {"connector_id": "x"}}),
        "`source.connector_id` of a message is not for its template to say",
    );
    refuse(json!({"source": "me"}), "`source` of a message is not a group of keys");
    refuse(json!({"context": []}), "`context` of a message is not a group of keys");
    refuse(
        json!({"text": {"a": ["{{ payload.cuont }}"]}}),
        "`text.a.0` of the message: its run has no `payload.cuont`",
    );
    refuse(
        json!({"text": "{{ scheduled_for.day }}"}),
        "`text` of the message: its run has no `scheduled_for.day`",
    );
    refuse(json!({"text": "{{ fence }}"}), "`text` of the message: its run has no `fence`");
    refuse(json!({"text": "{{ sheduled_for }}"}), "`text` of the message: no run has a `sheduled_for`");
    refuse(json!({"text": "{{ run_id"}), "`text` of the message: `{{ run_id` has no closing `}}`");
    refuse(json!({"text": "${secret:api}"}), "`text` of the message refers to `${secret:api}`");
    let long = json!({"text": "x".repeat(punctual_plan::MESSAGE_BYTES_MAX)});
    refuse(long, "the message has 262155 bytes, and at most 262144 fit");
}
