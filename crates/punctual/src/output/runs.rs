//! The ledger on the screen.

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use punctual::{Failure, History, lateness};
use punctual_plan::{Reason, RunStatus, run_key};
use punctual_store::{RangeRow, RunRow};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::table::table;
use super::{Output, clock};

/// A run in JSON.
#[derive(Serialize)]
struct RunJson<'a> {
    id: String,
    schedule_id: String,
    schedule_name: &'a str,
    origin: &'static str,
    scheduled_for: Timestamp,
    fire_at: Timestamp,
    status: &'static str,
    reason: Option<&'static str>,
    reason_text: Option<String>,
    idempotency_key: String,
    attempt: u32,
    enqueued_at: Option<Timestamp>,
    started_at: Option<Timestamp>,
    completed_at: Option<Timestamp>,
    duration: Option<f64>,
    output: Option<&'a str>,
    node: Option<&'a str>,
    definition_version: i64,
}

impl<'a> RunJson<'a> {
    fn new(run: &'a RunRow) -> Self {
        Self {
            id: run.run.key.to_string(),
            schedule_id: run.schedule_id.to_string(),
            schedule_name: &run.schedule_name,
            origin: run.run.origin.name(),
            scheduled_for: run.run.scheduled_for,
            fire_at: run.run.fire_at,
            status: run.run.state.status().name(),
            reason: run.run.state.reason().map(Reason::code),
            reason_text: run.run.state.reason().map(ToString::to_string),
            idempotency_key: run_key(run.schedule_id, run.run.origin, &run.run.nonce, run.run.scheduled_for),
            attempt: attempt(run),
            enqueued_at: run.enqueued_at,
            started_at: run.started_at,
            completed_at: run.completed_at,
            duration: duration(run).map(|time| time.as_secs_f64()),
            output: run.output.as_deref(),
            node: run.node.as_deref(),
            definition_version: run.run.version,
        }
    }
}

/// A missed stretch in JSON.
fn range_json(range: &RangeRow) -> Value {
    json!({
        "schedule_id": range.schedule_id.to_string(),
        "schedule_name": range.schedule_name,
        "first": range.range.first,
        "last": range.range.last,
        "count": range.range.count,
        "status": range.range.end.status().name(),
        "reason": range.range.end.reason().code(),
        "reason_text": range.range.end.reason().to_string(),
    })
}

/// The ledger of a schedule, with a summary of what is shown.
pub(crate) fn history(output: &Output, history: &History) -> Result<(), Failure> {
    let summary = Summary::of(&history.runs);
    let json = json!({
        "runs": history.runs.iter().map(RunJson::new).collect::<Vec<_>>(),
        "ranges": history.ranges.iter().map(range_json).collect::<Vec<_>>(),
        "summary": summary.json(),
    });
    output.write(&json, || {
        if history.runs.is_empty() && history.ranges.is_empty() {
            return "no tick of this schedule has come yet\n".to_owned();
        }
        let rows = history.runs.iter().map(run_cells).chain(history.ranges.iter().map(range_cells));
        let headings = ["RUN ID", "SCHEDULED FOR", "STATUS", "LATE", "DURATION", "REASON"];
        table(&headings, rows) + &summary.text()
    })
}

fn run_cells(run: &RunRow) -> Vec<String> {
    vec![
        run.run.key.to_string(),
        clock(run.run.scheduled_for, &TimeZone::UTC),
        run.run.state.status().to_string(),
        lateness(run).map_or("-".to_owned(), short),
        duration(run).map_or("-".to_owned(), short),
        run.run.state.reason().map_or(String::new(), ToString::to_string),
    ]
}

fn range_cells(range: &RangeRow) -> Vec<String> {
    vec![
        format!("{} ticks", range.range.count),
        format!(
            "{} .. {}",
            clock(range.range.first, &TimeZone::UTC),
            clock(range.range.last, &TimeZone::UTC)
        ),
        range.range.end.status().to_string(),
        "-".to_owned(),
        "-".to_owned(),
        range.range.end.reason().to_string(),
    ]
}

/// The last attempt, from 1; 0 before the first.
fn attempt(run: &RunRow) -> u32 {
    run.run.attempts.last().map_or(0, |attempt| attempt.number)
}

fn duration(run: &RunRow) -> Option<SignedDuration> {
    Some(run.completed_at?.duration_since(run.started_at?))
}

/// A duration in the unit that fits.
fn short(time: SignedDuration) -> String {
    match time.as_millis() {
        ms if ms < 1_000 => format!("{:.1}ms", time.as_secs_f64() * 1_000.0),
        _ => format!("{:.1}s", time.as_secs_f64()),
    }
}

/// In milliseconds, to the microsecond that the ledger keeps.
fn milliseconds(time: SignedDuration) -> f64 {
    (time.as_secs_f64() * 1_000_000.0).round() / 1_000.0
}

/// What the shown runs add up to.
struct Summary {
    counts: Vec<(RunStatus, usize)>,
    lateness: Option<Lateness>,
}

/// How late runs were launched, in milliseconds.
struct Lateness {
    p50: f64,
    p99: f64,
    max: f64,
}

impl Summary {
    fn of(runs: &[RunRow]) -> Self {
        let count = |status: RunStatus| runs.iter().filter(|run| run.run.state.status() == status).count();
        let counts = RunStatus::ALL.iter().map(|status| (*status, count(*status))).filter(|(_, n)| *n > 0);
        let mut late: Vec<f64> = runs.iter().filter_map(lateness).map(milliseconds).collect();
        late.sort_by(f64::total_cmp);
        Self { counts: counts.collect(), lateness: Lateness::of(&late) }
    }

    fn json(&self) -> Value {
        let counts: Map<String, Value> =
            self.counts.iter().map(|(status, count)| (status.name().to_owned(), json!(count))).collect();
        let lateness =
            self.lateness.as_ref().map(|late| json!({"p50": late.p50, "p99": late.p99, "max": late.max}));
        json!({"counts": counts, "lateness_ms": lateness})
    }

    fn text(&self) -> String {
        let counts: Vec<String> =
            self.counts.iter().map(|(status, count)| format!("{count} {status}")).collect();
        let late = self.lateness.as_ref().map_or(String::new(), |late| {
            format!("; lateness p50 {:.1} ms, p99 {:.1} ms, max {:.1} ms", late.p50, late.p99, late.max)
        });
        format!("{}{late}\n", counts.join(", "))
    }
}

impl Lateness {
    /// Nearest-rank percentiles of sorted values.
    fn of(sorted: &[f64]) -> Option<Self> {
        let rank =
            |percent: usize| sorted.get((sorted.len() * percent).div_ceil(100).saturating_sub(1)).copied();
        Some(Self { p50: rank(50)?, p99: rank(99)?, max: rank(100)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_values_that_occurred() {
        let values: Vec<f64> = (1..=200).map(f64::from).collect();
        let late = Lateness::of(&values).expect("there are values");
        assert_eq!((late.p50, late.p99, late.max), (100.0, 198.0, 200.0));
        assert!(Lateness::of(&[]).is_none());
    }
}
