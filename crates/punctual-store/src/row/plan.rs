//! Planning: schedules that come near, and the plans that are made of them.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use punctual_plan::{Cursor, LateRow, OrgKey, Plan, Reason, Schedule, ScheduleKey, State, Subject};
use punctual_time::Timing;

use crate::Error;

/// Schedules that want planning.
#[derive(Clone, Debug, Default)]
pub struct PlannableBatch {
    /// Those that can be planned.
    pub ready: Vec<Plannable>,
    /// What was wrong with those that cannot be read any more; they never stop the others.
    pub unreadable: Vec<(ScheduleKey, Error)>,
    /// When the next one beyond them wants planning.
    pub next_plan_at: Option<Timestamp>,
}

/// A schedule whose next tick wants planning.
#[derive(Clone, Debug)]
pub struct Plannable {
    /// Which schedule.
    pub schedule: ScheduleKey,
    /// Whose it is.
    pub org: OrgKey,
    /// The definition that was read.
    pub definition: Arc<Schedule>,
    /// When it ticks, with its runs so far in it.
    pub timing: Timing,
    /// How far it is planned.
    pub cursor: Cursor,
    /// Its armed rows whose instant has passed.
    pub late: Vec<LateRow>,
    /// Its rows that are armed or in flight.
    pub outstanding: usize,
    /// Where each tick hangs on the run before it: until when nothing could follow, because one had not started, or had
    /// not ended. Nobody has missed what would have been a tick meanwhile.
    pub hung_until: Option<Timestamp>,
}

impl Plannable {
    /// What `plan` needs to know of it.
    pub fn subject(&self, slept: Option<Reason>) -> Subject<'_> {
        let free_from = self.hung_until.filter(|_| self.definition.when.is_floating());
        Subject {
            id: self.definition.id,
            timing: &self.timing,
            policy: &self.definition.policy,
            cursor: self.cursor.free_from(free_from),
            late: &self.late,
            outstanding: self.outstanding,
            slept,
        }
    }

    /// Whether several of its ticks were armed and slept through.
    pub fn is_stretch(&self) -> bool {
        let longest = self.definition.policy.jitter.max;
        let own = |row: &LateRow| row.scheduled_for.saturating_add(longest).unwrap_or(Timestamp::MAX);
        let is_open = |row: &&LateRow| row.verdict.is_none() && row.fire_at <= own(row);
        self.late.iter().filter(is_open).count() > 1
    }

    /// A schedule with the state it is in, and nothing open.
    pub fn of(schedule: ScheduleKey, org: OrgKey, definition: Arc<Schedule>, state: &State) -> Option<Self> {
        let timing = timing(&definition, state)?;
        Some(Self {
            schedule,
            org,
            definition,
            timing,
            cursor: state.cursor,
            late: Vec::new(),
            outstanding: 0,
            hung_until: None,
        })
    }
}

/// The ticks of a schedule with what has become of them so far.
pub fn timing(definition: &Schedule, state: &State) -> Option<Timing> {
    let mut timing = definition.when.timing()?.clone();
    timing.runs = state.counters.admitted;
    timing.last = state.anchors.last(timing.anchor);
    Some(timing)
}

/// A plan, and what it was made on.
#[derive(Clone, Debug)]
pub struct PlanCommit {
    /// Which schedule.
    pub schedule: ScheduleKey,
    /// Whose it is.
    pub org: OrgKey,
    /// The definition that was read; the plan counts only while its version is valid.
    pub definition: Arc<Schedule>,
    /// The cursor that was read; the plan counts only while it stands there.
    pub from: Cursor,
    /// What shall be written.
    pub plan: Plan,
}

/// Nobody judges rows longer before their instant than this.
const VERDICTS_AHEAD: SignedDuration = SignedDuration::from_secs(10);

impl PlanCommit {
    /// Whether it does nothing but add ticks to come, and hangs on no other row.
    pub(crate) fn is_plain(&self) -> bool {
        let Plan { closed, refired, is_hanging, next_tick, .. } = &self.plan;
        closed.is_empty() && refired.is_empty() && !is_hanging && next_tick.is_some()
    }

    /// Whether it does nothing that concerns a verdict: ticks to come are further off than verdicts are made ahead.
    pub fn is_quiet(&self, now: Timestamp) -> bool {
        let near = now.saturating_add(VERDICTS_AHEAD).unwrap_or(Timestamp::MAX);
        self.is_plain() && self.plan.entries.iter().all(|entry| entry.fire_at > near)
    }
}

/// Whether a guarded write took effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Commit {
    /// It is on disk.
    Done,
    /// Somebody else was first; nothing was written.
    Stale,
}
