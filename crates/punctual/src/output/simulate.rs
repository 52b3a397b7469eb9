//! A simulated ledger for programs, and the choice among its views.

use punctual::declare::{Names, Schedule};
use punctual::{Failure, Trial, Tried};
use punctual_plan::{Account, Attempt, Logged, RangeRecord, Reason, Run, Waiting, idempotency_key};
use serde_json::{Value, json};

use super::{Format, Output, ledger, timeline};
use crate::cli::View;
use punctual::shape::{policies, target};

/// The ledger of a trial: in the view that was asked for, else as a table on a terminal and as JSON elsewhere.
pub(crate) fn show(output: &Output, trial: &Trial, tried: &Tried, view: Option<View>) -> Result<(), Failure> {
    match view {
        None => output.write(&whole(trial, tried), || ledger::text(trial, tried)),
        Some(View::Table) => output.raw(ledger::text(trial, tried).as_bytes()),
        Some(View::Timeline) => output.raw(timeline::draw(trial, tried).as_bytes()),
        Some(View::Json) => Output::to_stdout(Format::Json).write(&whole(trial, tried), String::new),
    }
}

/// The whole ledger as JSON.
pub(crate) fn whole(trial: &Trial, tried: &Tried) -> Value {
    let names = tried.declared.names();
    let pairs = tried.declared.schedules.iter().zip(&tried.simulated.accounts);
    let schedules: Vec<Value> =
        pairs.map(|(schedule, account)| account_json(schedule, account, &names)).collect();
    let log: Vec<Value> = tried.simulated.log.iter().map(|logged| log_json(logged, tried)).collect();
    json!({
        "from": trial.from,
        "to": trial.to,
        "through": tried.simulated.through,
        "schedules": schedules,
        "log": log,
        "breakers": tried.simulated.breakers.iter().map(|(target, breaker)| (target.clone(), json!(breaker.name()))).collect::<serde_json::Map<_, _>>(),
    })
}

fn account_json(schedule: &Schedule, account: &Account, names: &Names<'_>) -> Value {
    // What people changed meanwhile counts, not what the file said first.
    let definition = account.schedule();
    json!({
        "name": definition.name,
        "id": definition.id.to_string(),
        "org_id": definition.owner.org_id,
        "user_id": definition.owner.user_id,
        "description": definition.description,
        "tags": definition.tags,
        "enabled": schedule.enabled,
        "describe": schedule.describe(names),
        "assumed": schedule.assumed,
        "timezone": definition.timezone(),
        "spec": definition.spec,
        "dialect": definition.dialect.to_string(),
        "version": definition.version,
        "status": account.state.status.name(),
        "target": target(&definition.target),
        "payload": definition.payload,
        "policies": policies(&definition.policy, names),
        "run_count": account.state.counters.runs,
        "success_count": account.state.counters.successes,
        "failure_count": account.state.counters.failures,
        "consecutive_failures": account.state.counters.consecutive_failures,
        "next_run_at": account.next_run_at,
        "runs": account.runs.iter().map(|run| run_json(run, account)).collect::<Vec<_>>(),
        "ranges": account.ranges.iter().map(range_json).collect::<Vec<_>>(),
    })
}

fn run_json(run: &Run, account: &Account) -> Value {
    let reason = run.state.reason();
    json!({
        "id": run.key.to_string(),
        "origin": run.origin.name(),
        "scheduled_for": run.scheduled_for,
        "fire_at": run.fire_at,
        "status": run.state.status().name(),
        "reason": reason.map(Reason::code),
        "reason_text": reason.map(ToString::to_string),
        "idempotency_key": idempotency_key(account.schedule().id, run.scheduled_for),
        "definition_version": run.version,
        "waited": run.waited.as_ref().map(wait_json),
        "attempts": run.attempts.iter().map(attempt_json).collect::<Vec<_>>(),
    })
}

fn wait_json(waiting: &Waiting) -> Value {
    json!({"for": waiting.wait.to_string(), "since": waiting.since, "deadline": waiting.deadline})
}

fn attempt_json(attempt: &Attempt) -> Value {
    json!({
        "attempt": attempt.number,
        "started_at": attempt.started_at,
        "completed_at": attempt.ended_at,
        "reason": attempt.reason.as_ref().map(Reason::code),
        "reason_text": attempt.reason.as_ref().map(ToString::to_string),
    })
}

fn range_json(record: &RangeRecord) -> Value {
    let end = record.end();
    json!({
        "first": record.range.first,
        "last": record.range.last,
        "count": record.range.count,
        "status": end.status().name(),
        "reason": end.reason().code(),
        "reason_text": end.reason().to_string(),
        "definition_version": record.version,
    })
}

fn log_json(logged: &Logged, tried: &Tried) -> Value {
    let account = tried.simulated.accounts.iter().find(|account| account.key == logged.schedule);
    json!({
        "at": logged.at,
        "schedule": account.map(|account| account.schedule().name.clone()),
        "event": logged.event.name(),
        "text": logged.event.to_string(),
    })
}
