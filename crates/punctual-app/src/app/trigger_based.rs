//! The `schedule_based` triggers of a DAG, wherever in it they stand.
//!
//! A DAG is its executor's, so nothing is assumed about its shape: every object whose `type` (or `kind`, or
//! `trigger_type`) is `schedule_based` is a trigger. When it fires is said by its own keys, or by those below `config`.

use serde_json::{Map, Value, json};

use crate::Failure;

/// What a trigger is called that fires by the clock.
const SCHEDULE_BASED: &str = "schedule_based";

/// Keys that say what kind of trigger an object is.
const KINDS: [&str; 3] = ["type", "kind", "trigger_type"];

/// Keys under which a trigger may say everything about its time.
const BELOW: [&str; 3] = ["config", "parameters", "schedule"];

/// Keys of a trigger that are about its place in the DAG, and not about time.
const OF_THE_DAG: [&str; 10] =
    ["id", "name", "label", "next", "to", "edges", "position", "metadata", "inputs", "outputs"];

/// What one workflow may ask for.
const TRIGGERS_MAX: usize = 1_000;

/// A trigger that fires by the clock.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Trigger {
    /// Its name within its workflow.
    pub(super) id: String,
    /// On whose behalf, if it says so.
    pub(super) user_id: Option<String>,
    /// When, as the keys of a schedule.
    pub(super) keys: Map<String, Value>,
}

/// Every trigger of a DAG that fires by the clock.
pub(super) fn triggers(dag: &Value) -> Result<Vec<Trigger>, Failure> {
    let mut found = Vec::new();
    search(dag, None, &mut found);
    if found.len() > TRIGGERS_MAX {
        return Err(Failure::invalid(
            format!("the DAG has {} triggers, and at most {TRIGGERS_MAX} are scheduled", found.len()),
            "divide it among several workflows",
        ));
    }
    let mut triggers: Vec<Trigger> = Vec::new();
    for (number, (id, object)) in found.into_iter().enumerate() {
        let trigger = read(id.unwrap_or_else(|| format!("trigger-{}", number + 1)), object)?;
        if triggers.iter().any(|other| other.id == trigger.id) {
            return Err(Failure::invalid(
                format!("two triggers of the DAG are called `{}`", trigger.id),
                "give each an `id` of its own",
            ));
        }
        triggers.push(trigger);
    }
    Ok(triggers)
}

/// Looks for triggers in order; `called` is the key under which a value stands.
fn search<'a>(
    value: &'a Value,
    called: Option<&str>,
    found: &mut Vec<(Option<String>, &'a Map<String, Value>)>,
) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| search(item, None, found)),
        Value::Object(object) => {
            let is_trigger = KINDS.iter().any(|key| object.get(*key) == Some(&json!(SCHEDULE_BASED)));
            if is_trigger {
                let own = ["id", "name"].iter().find_map(|key| object.get(*key).and_then(Value::as_str));
                let is_plain = called.filter(|key| !["trigger", "triggers", "config"].contains(key));
                found.push((own.or(is_plain).map(str::to_owned), object));
                return;
            }
            object.iter().for_each(|(key, value)| search(value, Some(key), found));
        }
        _ => {}
    }
}

fn read(id: String, object: &Map<String, Value>) -> Result<Trigger, Failure> {
    let below = BELOW.iter().find_map(|key| object.get(*key).and_then(Value::as_object));
    let is_own = |key: &str| below.is_none() && !KINDS.contains(&key) && !OF_THE_DAG.contains(&key);
    let own = object.iter().filter(|(key, _)| is_own(key));
    let said = below.into_iter().flatten().chain(own);
    let user_id = |from: &Map<String, Value>| from.get("user_id").and_then(Value::as_str).map(str::to_owned);
    let mut trigger =
        Trigger { user_id: user_id(object).or_else(|| below.and_then(user_id)), keys: Map::new(), id };
    for (key, value) in said.filter(|(key, value)| *key != "user_id" && !value.is_null()) {
        let (key, value) = match key.as_str() {
            "cron_expr" => ("cron", value.clone()),
            "overlap_policy" => ("if_running", value.clone()),
            "catchup_policy" => ("catch_up", value.clone()),
            "jitter_ms" => ("jitter", jitter(value)),
            "name" | "target" | "workflow_id" | "version" => {
                return Err(Failure::invalid(
                    format!("`{key}` is not for the trigger `{}` to say", trigger.id),
                    "remove it: the workflow says it",
                ));
            }
            other => (other, value.clone()),
        };
        trigger.keys.insert(key.to_owned(), value);
    }
    Ok(trigger)
}

/// An offset to both sides, in milliseconds; what is no number is refused where the key is read.
pub(super) fn jitter(value: &Value) -> Value {
    match value.as_u64() {
        Some(0) => json!("0s"),
        Some(count) => json!({"max": format!("{count}ms"), "mode": "around"}),
        None => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(dag: &Value, expected: &[(&str, Value)]) {
        let found = triggers(dag).expect("it can be read");
        let said: Vec<(String, Value)> =
            found.into_iter().map(|one| (one.id, Value::Object(one.keys))).collect();
        let expected: Vec<(String, Value)> =
            expected.iter().map(|(id, keys)| ((*id).to_owned(), keys.clone())).collect();
        assert_eq!(said, expected, "{dag}");
    }

    #[test]
    fn triggers_are_found_wherever_they_stand() {
        check(&json!({"nodes": [{"id": "a", "type": "action"}]}), &[]);
        check(
            &json!({"triggers": [{"id": "a", "type": "schedule_based", "cron_expr": "0 9 * * *", "jitter_ms": 500}]}),
            &[("a", json!({"cron": "0 9 * * *", "jitter": {"max": "500ms", "mode": "around"}}))],
        );
        check(
            &json!({"nodes": {"daily": {"trigger_type": "schedule_based", "position": 3,
                "config": {"cron_expr": "@daily", "timezone": "UTC", "overlap_policy": "queue"}}}}),
            &[("daily", json!({"cron": "@daily", "timezone": "UTC", "if_running": "queue"}))],
        );
        check(
            &json!({"trigger": {"type": "schedule_based", "every": "5m"}}),
            &[("trigger-1", json!({"every": "5m"}))],
        );
    }

    #[test]
    fn what_is_the_workflows_to_say_is_refused() {
        let two = json!([{"id": "a", "type": "schedule_based"}, {"id": "a", "type": "schedule_based"}]);
        assert!(triggers(&two).unwrap_err().message.contains("are called `a`"));
        let own = json!({"id": "a", "type": "schedule_based", "target": {"type": "process"}});
        assert!(triggers(&own).unwrap_err().message.contains("`target`"));
    }
}
