//! One run on the screen: its fields in JSON, and everything about it for people.

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use punctual::{Failure, lateness, request_id};
use punctual_plan::{Attempt, Object, Reason, RunState, RunStatus, run_key};
use punctual_store::RunRow;
use serde::Serialize;
use serde_json::{Value, json};

use super::table::table;
use super::{Output, clock};

/// A run in JSON.
#[derive(Serialize)]
pub(super) struct RunJson<'a> {
    id: String,
    schedule_id: String,
    schedule_name: &'a str,
    origin: &'static str,
    scheduled_for: Timestamp,
    fire_at: Timestamp,
    status: &'static str,
    reason: Option<&'static str>,
    reason_text: Option<String>,
    error: Option<String>,
    idempotency_key: String,
    request_id: Option<&'a str>,
    run_id: Option<&'a str>,
    attempt: u32,
    retry_at: Option<Timestamp>,
    enqueued_at: Option<Timestamp>,
    started_at: Option<Timestamp>,
    completed_at: Option<Timestamp>,
    duration: Option<f64>,
    output: Option<&'a str>,
    node: Option<&'a str>,
    definition_version: i64,
    tz_version: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    payload: Option<&'a Object>,
}

impl<'a> RunJson<'a> {
    pub(super) fn new(row: &'a RunRow) -> Self {
        let reason = row.run.state.reason();
        let is_bad = matches!(row.run.state.status(), RunStatus::Failed | RunStatus::Retrying);
        Self {
            id: row.run.key.to_string(),
            schedule_id: row.schedule_id.to_string(),
            schedule_name: &row.schedule_name,
            origin: row.run.origin.name(),
            scheduled_for: row.run.scheduled_for,
            fire_at: row.run.fire_at,
            status: row.run.state.status().name(),
            reason: reason.map(Reason::code),
            reason_text: reason.map(ToString::to_string),
            error: reason.filter(|_| is_bad).map(ToString::to_string),
            idempotency_key: run_key(row.schedule_id, row.run.origin, &row.run.nonce, row.run.scheduled_for),
            request_id: request_id(row),
            run_id: row.executor_run_id.as_deref(),
            attempt: attempt(row),
            retry_at: match row.run.state {
                RunState::Retrying { at, .. } => Some(at),
                _ => None,
            },
            enqueued_at: row.enqueued_at,
            started_at: row.started_at,
            completed_at: row.completed_at,
            duration: duration(row).map(|time| time.as_secs_f64()),
            output: row.output.as_deref(),
            node: row.node.as_deref(),
            definition_version: row.run.version,
            tz_version: row.tz_version.as_deref(),
            payload: row.payload.as_ref(),
        }
    }
}

/// The last attempt, from 1; 0 before the first.
fn attempt(run: &RunRow) -> u32 {
    run.run.attempts.last().map_or(0, |attempt| attempt.number)
}

/// How long a run took, if it was launched and has ended.
pub(super) fn duration(run: &RunRow) -> Option<SignedDuration> {
    Some(run.completed_at?.duration_since(run.started_at?))
}

/// A duration in the unit that fits.
pub(super) fn short(time: SignedDuration) -> String {
    match time.as_millis().abs() {
        ms if ms < 1_000 => format!("{:.1}ms", time.as_secs_f64() * 1_000.0),
        ms if ms < 120_000 => format!("{:.1}s", time.as_secs_f64()),
        _ => format!("{:#}", SignedDuration::from_secs(time.as_secs())),
    }
}

fn attempt_json(attempt: &Attempt) -> Value {
    json!({
        "number": attempt.number,
        "started_at": attempt.started_at,
        "ended_at": attempt.ended_at,
        "reason": attempt.reason.as_ref().map(Reason::code),
        "reason_text": attempt.reason.as_ref().map(ToString::to_string),
    })
}

/// Why a run is what it is, or what it waits for.
pub(super) fn because(state: &RunState) -> String {
    match state {
        RunState::Waiting(waiting) => format!("waits for {} until {}", waiting.wait, waiting.deadline),
        RunState::Retrying { attempt, at, reason } => format!("{reason}; attempt {attempt} at {at}"),
        other => other.reason().map_or(String::new(), ToString::to_string),
    }
}

/// Everything about a run.
pub(crate) fn details(output: &Output, row: &RunRow, zone: &TimeZone) -> Result<(), Failure> {
    let mut json =
        serde_json::to_value(RunJson::new(row)).map_err(|error| Failure::world(error.to_string()))?;
    json["attempts"] = row.run.attempts.iter().map(attempt_json).collect();
    json["waited"] = row.run.waited.as_ref().map_or(
        Value::Null,
        |waited| json!({"for": waited.wait.to_string(), "since": waited.since, "deadline": waited.deadline}),
    );
    output.write(&json!({ "run": json }), || text(row, zone))
}

fn text(row: &RunRow, zone: &TimeZone) -> String {
    let at = |at: Option<Timestamp>| at.map_or("-".to_owned(), |at| precise(at, zone));
    let own = RunJson::new(row);
    let or_none = |text: Option<&str>| text.unwrap_or("-").to_owned();
    let fields = [
        ("run", own.id),
        ("schedule", format!("{} ({})", row.schedule_name, own.schedule_id)),
        ("origin", own.origin.to_owned()),
        ("scheduled for", clock(row.run.scheduled_for, zone)),
        ("fire at", precise(row.run.fire_at, zone)),
        ("status", own.status.to_owned()),
        ("reason", Some(because(&row.run.state)).filter(|text| !text.is_empty()).unwrap_or("-".to_owned())),
        ("enqueued at", at(row.enqueued_at)),
        ("started at", at(row.started_at)),
        ("completed at", at(row.completed_at)),
        ("late", lateness(row).map_or("-".to_owned(), short)),
        ("duration", duration(row).map_or("-".to_owned(), short)),
        ("idempotency key", own.idempotency_key),
        ("request id", or_none(own.request_id)),
        ("executor's id", or_none(own.run_id)),
        ("node", or_none(own.node)),
        ("version", own.definition_version.to_string()),
        ("tz database", or_none(own.tz_version)),
    ];
    let mut said: String = fields.iter().map(|(name, value)| format!("{name:<15} {value}\n")).collect();
    if !row.run.attempts.is_empty() {
        let cells = row.run.attempts.iter().map(|one| {
            let took = one.ended_at.map(|end| short(end.duration_since(one.started_at)));
            vec![
                one.number.to_string(),
                precise(one.started_at, zone),
                took.unwrap_or("-".to_owned()),
                one.reason.as_ref().map_or(String::new(), ToString::to_string),
            ]
        });
        said += &format!("\n{}", table(&["ATTEMPT", "STARTED", "TOOK", "REASON"], cells));
    }
    if let Some(printed) = row.output.as_deref().filter(|text| !text.is_empty()) {
        said += &format!("\noutput of the last attempt\n{}", printed.trim_end_matches('\n'));
        said.push('\n');
    }
    said
}

/// An instant to the millisecond.
fn precise(at: Timestamp, zone: &TimeZone) -> String {
    at.to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M:%S%.3f %Z").to_string()
}
