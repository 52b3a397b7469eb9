//! Admission: rows that are due, the world they are judged in, and what a launch needs.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use jiff::Timestamp;
use punctual_plan::{Admission, Due, Fence, OrgKey, Origin, RunKey, Schedule, ScheduleKey, World};

use crate::Error;

/// Rows that are due, and when to look again.
#[derive(Clone, Debug)]
pub struct DueBatch {
    /// The rows: round-robin by org, within an org oldest first.
    pub rows: Vec<DueRow>,
    /// Everything the verdicts over them depend on.
    pub world: World,
    /// Schedules of late rows that have ticks in the past which no plan has decided: their late rows are decided
    /// together with those, so none of them is admitted before the next plan.
    pub undecided: HashSet<ScheduleKey>,
    /// Runs in flight that nobody has answered for in time.
    pub expired: Vec<Expired>,
    /// Those that cannot be read any more; they never stop the others.
    pub unreadable: Vec<Illegible>,
    /// When the next row beyond them wants to be looked at.
    pub next_look_at: Option<Timestamp>,
}

impl DueBatch {
    /// Schedules whose late ticks are one decision, and of which `plan` sees all: several of their ticks are due, or one
    /// is late and there is more to look at than this batch holds; or ticks in the past were never planned.
    pub fn stretches(&self, now: Timestamp) -> Vec<ScheduleKey> {
        let is_cut = self.next_look_at.is_some_and(|next| next <= now);
        let mut ticks: BTreeMap<ScheduleKey, usize> = BTreeMap::new();
        for row in &self.rows {
            if row.due.is_undecided(&row.launch.definition.policy) {
                let is_unseen = is_cut && row.is_overtaken(now);
                *ticks.entry(row.due.schedule).or_default() += if is_unseen { 2 } else { 1 };
            }
        }
        let several = ticks.into_iter().filter(|(_, count)| *count > 1).map(|(schedule, _)| schedule);
        let all: BTreeSet<ScheduleKey> = several.chain(self.undecided.iter().copied()).collect();
        all.into_iter().collect()
    }
}

/// A due row that cannot be read any more.
#[derive(Clone, Debug)]
pub struct Illegible {
    /// The row.
    pub run: RunKey,
    /// Its schedule: if that cannot be read either, it is to be paused.
    pub schedule: ScheduleKey,
    /// What is wrong.
    pub error: Error,
}

/// A due row: what the decision needs and what the launch needs.
#[derive(Clone, Debug)]
pub struct DueRow {
    /// For the decision.
    pub due: Due,
    /// For the launch.
    pub launch: Launchable,
}

impl DueRow {
    /// Whether a later tick of its schedule may have come meanwhile: it is an armed tick or a retry, and a second late.
    /// A retry and the ticks that came after it are judged together: one of them may take its place.
    pub fn is_overtaken(&self, now: Timestamp) -> bool {
        let due = &self.due;
        let is_armed = (due.origin == Origin::Tick || due.is_retry()) && due.waiting.is_none();
        is_armed && due.scheduled_for.as_second() < now.as_second()
    }
}

/// A run in flight whose deadline has passed: it is settled as lost.
#[derive(Clone, Debug)]
pub struct Expired {
    /// The run.
    pub run: RunKey,
    /// The attempt that was not answered for.
    pub attempt: u32,
    /// The fence under which it was admitted.
    pub fence: Fence,
}

/// Everything a target needs to launch a run.
#[derive(Clone, Debug)]
pub struct Launchable {
    /// The run.
    pub run: RunKey,
    /// Its schedule inside the database.
    pub schedule: ScheduleKey,
    /// Whose it is.
    pub org: OrgKey,
    /// The definition of the version that it belongs to.
    pub definition: Arc<Schedule>,
    /// What brought it about.
    pub origin: Origin,
    /// The request, upstream run or backfill that it came from; empty for ticks.
    pub nonce: String,
    /// The instant it stands for.
    pub scheduled_for: Timestamp,
    /// When it was to be admitted.
    pub fire_at: Timestamp,
    /// Which attempt this is, from 1.
    pub attempt: u32,
}

/// A verdict to be carried out, with the row it is over.
#[derive(Clone, Debug)]
pub struct AdmitCommit {
    /// The verdict.
    pub admission: Admission,
    /// The row.
    pub row: DueRow,
}
