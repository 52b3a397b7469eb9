//! A run of the ledger, a part of the ledger, and what it adds up to.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use punctual_plan::{self as plan, Reason, RunState, RunStatus, run_key};
use punctual_store::{RangeRow, RunRow};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

use crate::{History, request_id};

/// A ledger entry.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Run {
    /// Its id, such as `run-12`.
    pub id: String,
    /// Its schedule.
    pub schedule_id: String,
    /// The name of its schedule.
    pub schedule_name: String,
    /// `tick`, `manual`, `backfill` or `chained`.
    pub origin: String,
    /// The instant that it stands for.
    pub scheduled_for: Timestamp,
    /// The instant at which it was to be launched.
    pub fire_at: Timestamp,
    /// `scheduled`, `waiting`, `enqueued`, `running`, `retrying`, `success`, `failed`, `cancelled`, `skipped` or
    /// `missed`.
    pub status: String,
    /// The code of the reason for that.
    pub reason: Option<String>,
    /// The reason in a sentence.
    pub reason_text: Option<String>,
    /// What went wrong, if something did.
    pub error: Option<String>,
    /// The same for every attempt.
    pub idempotency_key: String,
    /// What it is known by to whoever asked for it.
    pub request_id: Option<String>,
    /// What the executor calls it.
    pub run_id: Option<String>,
    /// The last attempt, from 1; 0 before the first.
    pub attempt: u32,
    /// When it is tried again.
    pub retry_at: Option<Timestamp>,
    /// When it was admitted.
    pub enqueued_at: Option<Timestamp>,
    /// When it was launched.
    pub started_at: Option<Timestamp>,
    /// When it ended.
    pub completed_at: Option<Timestamp>,
    /// How long it took, in seconds.
    pub duration: Option<f64>,
    /// What its last attempt printed.
    pub output: Option<String>,
    /// The node that launched it.
    pub node: Option<String>,
    /// The version of its schedule that it belongs to.
    pub definition_version: i64,
    /// The tz database that it was planned with.
    pub tz_version: Option<String>,
    /// The trace that it belongs to, as the W3C writes it: from its admission on, or that of whoever asked for it.
    #[serde(default)]
    pub traceparent: Option<String>,
    /// What it carries on top of what the runs of its schedule do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payload: Option<Map<String, Value>>,
    /// Why it is what it is, or what it waits for; only beside tables.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
}

impl From<&RunRow> for Run {
    fn from(row: &RunRow) -> Self {
        let reason = row.run.state.reason();
        let is_bad = matches!(row.run.state.status(), RunStatus::Failed | RunStatus::Retrying);
        let took = row.completed_at.zip(row.started_at).map(|(end, start)| end.duration_since(start));
        Self {
            id: row.run.key.to_string(),
            schedule_id: row.schedule_id.to_string(),
            schedule_name: row.schedule_name.clone(),
            origin: row.run.origin.name().to_owned(),
            scheduled_for: row.run.scheduled_for,
            fire_at: row.run.fire_at,
            status: row.run.state.status().name().to_owned(),
            reason: reason.map(Reason::code).map(str::to_owned),
            reason_text: reason.map(ToString::to_string),
            error: reason.filter(|_| is_bad).map(ToString::to_string),
            idempotency_key: run_key(row.schedule_id, row.run.origin, &row.run.nonce, row.run.scheduled_for),
            request_id: request_id(row).map(str::to_owned),
            run_id: row.executor_run_id.clone(),
            attempt: row.run.attempts.last().map_or(0, |attempt| attempt.number),
            retry_at: match row.run.state {
                RunState::Retrying { at, .. } => Some(at),
                _ => None,
            },
            enqueued_at: row.enqueued_at,
            started_at: row.started_at,
            completed_at: row.completed_at,
            duration: took.map(|time| time.as_secs_f64()),
            output: row.output.clone(),
            node: row.node.clone(),
            definition_version: row.run.version,
            tz_version: row.tz_version.clone(),
            traceparent: row.trace.map(|trace| trace.to_string()),
            payload: row.payload.clone(),
            because: Some(because(&row.run.state)),
        }
    }
}

impl Run {
    /// What programs get.
    pub fn plain(self) -> Self {
        Self { because: None, ..self }
    }

    /// How late it was launched, if it was.
    pub fn lateness(&self) -> Option<SignedDuration> {
        self.started_at.map(|started_at| started_at.duration_since(self.fire_at))
    }

    /// How long it took, if it was launched and has ended.
    pub fn took(&self) -> Option<SignedDuration> {
        Some(self.completed_at?.duration_since(self.started_at?))
    }

    /// Whether it has come to its end.
    pub fn is_over(&self) -> bool {
        self.status.parse().is_ok_and(RunStatus::is_terminal)
    }
}

/// Why a run is what it is, or what it waits for.
pub fn because(state: &RunState) -> String {
    match state {
        RunState::Waiting(waiting) => format!("waits for {} until {}", waiting.wait, waiting.deadline),
        RunState::Retrying { attempt, at, reason } => format!("{reason}; attempt {attempt} at {at}"),
        other => other.reason().map_or(String::new(), ToString::to_string),
    }
}

/// A run with its attempts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RunDetails {
    /// The run.
    #[serde(flatten)]
    pub run: Run,
    /// Its attempts, the first one first.
    pub attempts: Vec<Attempt>,
    /// What it waited for.
    pub waited: Option<Waited>,
}

/// Everything about a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RunAnswer {
    /// The run.
    pub run: RunDetails,
    /// The zone of its schedule; only beside tables.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timezone: Option<String>,
}

impl RunAnswer {
    /// The shape of a run.
    pub fn of(row: &RunRow) -> Self {
        let waited = row.run.waited.as_ref().map(|waited| Waited {
            what: waited.wait.to_string(),
            since: waited.since,
            deadline: waited.deadline,
        });
        let attempts = row.run.attempts.iter().map(Attempt::from).collect();
        Self { run: RunDetails { run: row.into(), attempts, waited }, timezone: None }
    }

    /// What programs get.
    pub fn plain(mut self) -> Self {
        self.run.run = self.run.run.plain();
        Self { timezone: None, ..self }
    }
}

/// One launch of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Attempt {
    /// Its number, from 1.
    pub number: u32,
    /// When it began.
    pub started_at: Timestamp,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
    /// The code of why it failed.
    pub reason: Option<String>,
    /// Why it failed, in a sentence.
    pub reason_text: Option<String>,
}

impl From<&plan::Attempt> for Attempt {
    fn from(attempt: &plan::Attempt) -> Self {
        Self {
            number: attempt.number,
            started_at: attempt.started_at,
            ended_at: attempt.ended_at,
            reason: attempt.reason.as_ref().map(Reason::code).map(str::to_owned),
            reason_text: attempt.reason.as_ref().map(ToString::to_string),
        }
    }
}

/// What a run waited for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Waited {
    /// What for.
    #[serde(rename = "for")]
    pub what: String,
    /// Since when.
    pub since: Timestamp,
    /// Until when at most.
    pub deadline: Timestamp,
}

/// A stretch of ticks that ended alike, or of which only a digest is left.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Range {
    /// Its schedule.
    pub schedule_id: String,
    /// The name of its schedule.
    pub schedule_name: String,
    /// The first tick.
    pub first: Timestamp,
    /// The last tick.
    pub last: Timestamp,
    /// How many ticks.
    pub count: u64,
    /// As what they ended.
    pub status: String,
    /// The code of the reason.
    pub reason: String,
    /// The reason in a sentence.
    pub reason_text: String,
    /// How many of each state, for a digest.
    #[schema(value_type = Option<BTreeMap<String, u64>>)]
    pub counts: Option<Map<String, Value>>,
}

impl From<&RangeRow> for Range {
    fn from(row: &RangeRow) -> Self {
        let counts: Map<String, Value> =
            row.counts.iter().map(|(status, count)| (status.name().to_owned(), (*count).into())).collect();
        Self {
            schedule_id: row.schedule_id.to_string(),
            schedule_name: row.schedule_name.clone(),
            first: row.range.first,
            last: row.range.last,
            count: row.range.count,
            status: row.range.end.status().name().to_owned(),
            reason: row.range.end.reason().code().to_owned(),
            reason_text: row.range.end.reason().to_string(),
            counts: (!counts.is_empty()).then_some(counts),
        }
    }
}

/// A part of the ledger, newest first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Runs {
    /// Its entries.
    pub runs: Vec<Run>,
    /// Its stretches.
    pub ranges: Vec<Range>,
    /// What the entries add up to.
    pub summary: Summary,
    /// Whether there is more of it before.
    pub more: bool,
    /// Where the next page begins, if there is one and pages were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// The zones of the schedules in it, by their ids; only beside tables.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zones: Option<BTreeMap<String, String>>,
}

impl From<&History> for Runs {
    fn from(history: &History) -> Self {
        let zones = history.zones.iter().map(|(id, zone)| (id.to_string(), zone.name().to_owned()));
        let runs: Vec<Run> = history.runs.iter().map(Run::from).collect();
        Self {
            summary: Summary::of(&runs),
            runs,
            ranges: history.ranges.iter().map(Range::from).collect(),
            more: history.is_more,
            next: None,
            zones: Some(zones.collect()),
        }
    }
}

impl Runs {
    /// What programs get.
    pub fn plain(self) -> Self {
        Self { runs: self.runs.into_iter().map(Run::plain).collect(), zones: None, ..self }
    }
}

impl Runs {
    /// Adds the next page; the summary is that of all.
    pub fn add(&mut self, page: Self) {
        self.runs.extend(page.runs);
        self.ranges.extend(page.ranges);
        (self.more, self.next) = (page.more, page.next);
        if let Some(zones) = page.zones {
            self.zones.get_or_insert_default().extend(zones);
        }
        self.summary = Summary::of(&self.runs);
    }
}

/// A line of a ledger that is followed: `{"run":…}`.
pub fn followed(run: Run) -> Value {
    json!({ "run": run.plain() })
}

/// What runs add up to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Summary {
    /// How many of each state.
    #[schema(value_type = BTreeMap<String, u64>)]
    pub counts: Map<String, Value>,
    /// How late they were launched.
    pub lateness_ms: Option<LatenessMs>,
}

/// How late runs were launched, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct LatenessMs {
    /// Half of them at most so much.
    pub p50: f64,
    /// 99 of 100 at most so much.
    pub p99: f64,
    /// All of them at most so much.
    pub max: f64,
}

/// What runs add up to, told run by run.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    counts: BTreeMap<String, usize>,
    late: Vec<f64>,
}

impl Tally {
    /// Counts a run.
    pub fn add(&mut self, run: &Run) {
        match self.counts.get_mut(&run.status) {
            Some(count) => *count += 1,
            None => {
                self.counts.insert(run.status.clone(), 1);
            }
        }
        self.late.extend(run.lateness().map(milliseconds));
    }

    /// What they add up to.
    pub fn summary(mut self) -> Summary {
        let count =
            |status: &RunStatus| Some((status.name().to_owned(), (*self.counts.get(status.name())?).into()));
        let counts = RunStatus::ALL.iter().filter_map(count).collect();
        self.late.sort_by(f64::total_cmp);
        Summary { counts, lateness_ms: LatenessMs::of(&self.late) }
    }
}

impl Summary {
    /// What runs add up to.
    fn of(runs: &[Run]) -> Self {
        let mut tally = Tally::default();
        runs.iter().for_each(|run| tally.add(run));
        tally.summary()
    }
}

/// In milliseconds, to the microsecond that the ledger keeps.
fn milliseconds(time: SignedDuration) -> f64 {
    (time.as_secs_f64() * 1_000_000.0).round() / 1_000.0
}

impl LatenessMs {
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
        let late = LatenessMs::of(&values).expect("there are values");
        assert_eq!((late.p50, late.p99, late.max), (100.0, 198.0, 200.0));
        assert!(LatenessMs::of(&[]).is_none());
    }
}
