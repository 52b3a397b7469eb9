//! Runs, ranges and breakers as they are shown.

use jiff::Timestamp;
use punctual_plan::{Breaker, Object, Range, Run, RunKey, RunStatus, ScheduleId, Trace};

/// A ledger entry as it is shown.
#[derive(Clone, Debug)]
pub struct RunRow {
    /// The entry.
    pub run: Run,
    /// Its schedule.
    pub schedule_id: ScheduleId,
    /// Its schedule's name.
    pub schedule_name: String,
    /// When it was admitted.
    pub enqueued_at: Option<Timestamp>,
    /// When its last attempt was launched.
    pub started_at: Option<Timestamp>,
    /// When it ended.
    pub completed_at: Option<Timestamp>,
    /// What its last attempt printed, within bounds.
    pub output: Option<String>,
    /// The node that admitted it.
    pub node: Option<String>,
    /// The tz database by which it was planned.
    pub tz_version: Option<String>,
    /// What the executor calls it.
    pub executor_run_id: Option<String>,
    /// What its request added to what its schedule's runs carry.
    pub payload: Option<Object>,
    /// The trace that it belongs to, from its admission or its request on.
    pub trace: Option<Trace>,
}

/// A stretch of equal non-fires, or of rows past retention, as it is shown.
#[derive(Clone, Debug)]
pub struct RangeRow {
    /// Its schedule.
    pub schedule_id: ScheduleId,
    /// Its schedule's name.
    pub schedule_name: String,
    /// The stretch; for rows past retention its end says so, and `counts` how they had ended.
    pub range: Range,
    /// How many of each state a digest stands for; empty for an ordinary stretch.
    pub counts: Vec<(RunStatus, u64)>,
    /// The version it belongs to.
    pub version: i64,
    /// When it was written.
    pub recorded_at: Timestamp,
}

/// A breaker as it is shown.
#[derive(Clone, Debug)]
pub struct BreakerRow {
    /// The target.
    pub target: String,
    /// Where it stands.
    pub breaker: Breaker,
    /// Since when.
    pub changed_at: Timestamp,
}

/// A move of a breaker.
#[derive(Clone, Debug)]
pub struct TransitionRow {
    /// The target.
    pub target: String,
    /// When.
    pub at: Timestamp,
    /// From which state, by name.
    pub from: String,
    /// To which state, by name.
    pub to: String,
    /// The run that moved it; none if a person did.
    pub run: Option<RunKey>,
}
