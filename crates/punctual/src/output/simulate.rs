//! A simulated ledger on the screen.

use jiff::{SignedDuration, Timestamp};
use punctual::declare::{Names, Schedule};
use punctual::{Failure, Trial, Tried};
use punctual_plan::{
    Account, Attempt, Logged, RangeRecord, Reason, Run, RunStatus, Waiting, idempotency_key,
};
use serde_json::{Value, json};

use super::plan::{policies, target_json, zone};
use super::table::table;
use super::{Output, clock, timeline};
use crate::cli::View;

/// Lines of a table; JSON has all.
const ROWS_MAX: usize = 500;

/// The ledger of a trial.
pub(crate) fn show(output: &Output, trial: &Trial, tried: &Tried, view: View) -> Result<(), Failure> {
    let json = || ledger(trial, tried);
    match view {
        View::Table => output.write(&json(), || text(trial, tried)),
        View::Timeline => output.write(&json(), || timeline::draw(trial, tried)),
        View::Json => {
            let text = serde_json::to_string(&json()).map_err(|error| Failure::world(error.to_string()))?;
            output.raw((text + "\n").as_bytes())
        }
    }
}

/// The whole ledger as JSON.
pub(crate) fn ledger(trial: &Trial, tried: &Tried) -> Value {
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
        "target": target_json(&definition.target),
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

/// A line of the table: when, whose, and the rest of its cells.
struct Line {
    at: Timestamp,
    cells: Vec<String>,
}

fn text(trial: &Trial, tried: &Tried) -> String {
    let mut lines = Vec::new();
    for (schedule, account) in tried.declared.schedules.iter().zip(&tried.simulated.accounts) {
        let zone = zone(schedule).to_jiff();
        let name = &account.schedule().name;
        lines.extend(account.runs.iter().map(|run| run_line(run, name, &zone)));
        lines.extend(account.ranges.iter().map(|record| range_line(record, name, &zone)));
    }
    lines.sort_by_key(|line| line.at);
    let beyond = lines.len().saturating_sub(ROWS_MAX);
    let utc = jiff::tz::TimeZone::UTC;
    let stretch = format!("{} to {}", clock(trial.from, &utc), clock(tried.simulated.through, &utc));
    if lines.is_empty() {
        return format!("from {stretch} nothing ticks\n");
    }
    let rows = lines.into_iter().take(ROWS_MAX).map(|line| line.cells);
    let mut said = table(&["TICK", "SCHEDULE", "STATUS", "RAN", "WHY"], rows);
    if beyond > 0 {
        said += &format!("… and {beyond} more; `--json` has all of them\n");
    }
    said += &format!("\nfrom {stretch}: {}\n", counts(tried));
    if tried.simulated.through < trial.to {
        said += "the trial ended early: it has more runs than one trial keeps\n";
    }
    said
}

fn run_line(run: &Run, name: &str, zone: &jiff::tz::TimeZone) -> Line {
    let origin = match run.origin {
        punctual_plan::Origin::Tick => String::new(),
        other => format!(" ({other})"),
    };
    let why = run.state.reason().map(ToString::to_string).unwrap_or_default();
    let cells = vec![
        clock(run.scheduled_for, zone) + &origin,
        name.to_owned(),
        run.state.status().name().to_owned(),
        ran(run, zone),
        why,
    ];
    Line { at: run.scheduled_for, cells }
}

/// When it ran: each attempt's start, and how long it took.
fn ran(run: &Run, zone: &jiff::tz::TimeZone) -> String {
    let attempt = |attempt: &Attempt| {
        let start = attempt.started_at.to_zoned(zone.clone()).strftime("%H:%M:%S").to_string();
        let took = attempt.ended_at.map(|end| end.duration_since(attempt.started_at));
        match took.filter(|took| *took > SignedDuration::ZERO) {
            Some(took) => format!("{start} for {took:#}"),
            None => start,
        }
    };
    run.attempts.iter().map(attempt).collect::<Vec<_>>().join(", ")
}

fn range_line(record: &RangeRecord, name: &str, zone: &jiff::tz::TimeZone) -> Line {
    let (first, last) = (clock(record.range.first, zone), clock(record.range.last, zone));
    let cells = vec![
        format!("{first} … {last}"),
        name.to_owned(),
        format!("{} × {}", record.range.count, record.end().status()),
        String::new(),
        record.end().reason().to_string(),
    ];
    Line { at: record.range.first, cells }
}

/// How many ticks ended how.
fn counts(tried: &Tried) -> String {
    let of = |status: RunStatus| -> u64 {
        let accounts = tried.simulated.accounts.iter();
        accounts
            .map(|account| {
                let rows = account.runs.iter().filter(|run| run.state.status() == status).count() as u64;
                let ranges = account.ranges.iter().filter(|record| record.end().status() == status);
                rows + ranges.map(|record| record.range.count).sum::<u64>()
            })
            .sum()
    };
    let counted = RunStatus::ALL.iter().map(|status| (of(*status), status)).filter(|(count, _)| *count > 0);
    counted.map(|(count, status)| format!("{count} {status}")).collect::<Vec<_>>().join(", ")
}
