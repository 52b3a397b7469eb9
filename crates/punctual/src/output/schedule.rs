//! One schedule in JSON: every field under its public name.

use punctual::declare::{Names, limits};
use punctual_plan::{Action, RunStatus, Schedule, ScheduleId, Status, When};
use punctual_store::ScheduleRow;
use serde_json::{Map, Value, json};

use super::plan::{policies, target_json};

/// Policies that a schedule may do without.
const ABSENT: [&str; 8] = [
    "start_deadline",
    "jitter",
    "launch",
    "retry_after",
    "guard",
    "depends_on",
    "depends_timeout",
    "max_consecutive_failures",
];

/// A definition: who, when, what for, where to.
pub(super) fn definition(schedule: &Schedule, names: &Names<'_>) -> Map<String, Value> {
    let name = |id: ScheduleId| names.get(id).map(str::to_owned);
    let keys = limits(schedule, &name);
    let key = |key: &str| keys.get(key).cloned().unwrap_or(Value::Null);
    let (kind, spec) = match &schedule.when {
        When::Ticks(timing) => (timing.spec.kind(), timing.spec.to_string()),
        When::Chain(_) => ("chain", schedule.spec.clone()),
    };
    let mut json = Map::new();
    let mut put = |key: &str, value: Value| {
        json.insert(key.to_owned(), value);
    };
    put("id", json!(schedule.id.to_string()));
    put("org_id", json!(schedule.owner.org_id));
    put("user_id", json!(schedule.owner.user_id));
    put("name", json!(schedule.name));
    put("description", json!(schedule.description));
    put("tags", json!(schedule.tags));
    put("type", json!(kind));
    put("spec", json!(schedule.spec));
    if kind == "cron" {
        put("cron_expression", json!(spec));
    }
    put("dialect", json!(schedule.dialect.to_string()));
    put("timezone", json!(schedule.timezone()));
    for name in
        ["anchor", "dst", "on", "start_at", "end_at", "max_runs", "only_between", "not_on", "quiet_hours"]
    {
        put(name, key(name));
    }
    let mut wanted = policies(&schedule.policy, names);
    wanted.shift_remove("scope");
    wanted.insert("lane".to_owned(), json!(schedule.policy.lane));
    for key in ABSENT {
        wanted.entry(key).or_insert(Value::Null);
    }
    json.extend(wanted);
    json.extend(flat(&schedule.target.action));
    json.insert("target".to_owned(), target_json(&schedule.target));
    json.insert("payload".to_owned(), json!(schedule.payload));
    json
}

/// The fields of a target that stand beside those of the schedule.
fn flat(action: &Action) -> Map<String, Value> {
    let flat = match action {
        Action::Queue(queue) => json!({
            "queue": queue.queue,
            "worker_type": queue.worker_type,
            "prompt": queue.prompt,
            "repo_url": queue.repo_url,
            "branch": queue.branch,
            "context": queue.context,
            "config": queue.config,
        }),
        Action::Workflow(workflow) => {
            json!({"workflow_id": workflow.workflow_id, "workflow_version": workflow.version})
        }
        _ => json!({}),
    };
    match flat {
        Value::Object(flat) => flat,
        _ => Map::new(),
    }
}

/// A stored schedule: its definition, and what has become of it.
pub(super) fn row(row: &ScheduleRow, names: &Names<'_>) -> Value {
    let mut json = definition(&row.definition, names);
    let state = &row.state;
    let mut put = |key: &str, value: Value| {
        json.insert(key.to_owned(), value);
    };
    put("enabled", json!(row.deleted_at.is_none() && state.status.is_active()));
    put("status", json!(status(row)));
    put("status_detail", json!(detail(row)));
    put("version", json!(row.definition.version));
    put("next_run_at", json!(row.next_run_at));
    put("last_run_at", json!(state.last_finish.map(|(at, _)| at)));
    put("last_run_status", json!(state.last_finish.map(|(_, status)| RunStatus::name(status))));
    put("last_fired_at", json!(state.last_start));
    put("last_success_at", json!(row.last_success.map(|(at, _)| at)));
    put("last_success_job_id", json!(row.last_success.map(|(_, run)| run.to_string())));
    put("run_count", json!(state.counters.runs));
    put("success_count", json!(state.counters.successes));
    put("failure_count", json!(state.counters.failures));
    put("consecutive_failures", json!(state.counters.consecutive_failures));
    put("created_at", json!(row.created_at));
    put("updated_at", json!(row.updated_at));
    put("declared_set", json!(row.declared_set));
    if let Some(at) = row.deleted_at {
        put("deleted_at", json!(at));
    }
    Value::Object(json)
}

/// The status by its name; a deleted schedule has none of its own.
pub(super) fn status(row: &ScheduleRow) -> &'static str {
    if row.deleted_at.is_some() { "deleted" } else { row.state.status.name() }
}

/// Why it is not active, in a sentence.
pub(super) fn detail(row: &ScheduleRow) -> Option<String> {
    if let Some(error) = &row.invalid {
        return Some(error.clone());
    }
    match &row.state.status {
        Status::PausedManual { by, note } if note.is_empty() => Some(format!("by {by}")),
        Status::PausedManual { by, note } => Some(format!("by {by}: {note}")),
        Status::Maintenance { by, note } => Some(format!("for maintenance by {by}: {note}")),
        status => {
            let at = row.left_at.unwrap_or(row.updated_at);
            status.reason(at).map(|reason| reason.to_string())
        }
    }
}
