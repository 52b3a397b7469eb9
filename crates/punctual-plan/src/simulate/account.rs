//! One schedule at work: its versions, its state, its open rows.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;
use punctual_time::{Anchor, Timing};

use super::book::ORG;
use super::outcome::{RangeRecord, Version};
use crate::{
    Change, Cursor, Lane, RunKey, RunStatus, RunsLeft, Schedule, ScheduleKey, Standing, State, Status, When,
};

/// A schedule as the book keeps it.
pub(super) struct Desk {
    pub(super) key: ScheduleKey,
    pub(super) schedule: Arc<Schedule>,
    pub(super) versions: Vec<Version>,
    /// Its ticks, with the runs so far in it; none if it follows another schedule.
    pub(super) timing: Option<Timing>,
    pub(super) state: State,
    pub(super) deleted_at: Option<Timestamp>,
    /// Since when it is not active.
    pub(super) left_at: Option<Timestamp>,
    /// When `max_runs` was reached.
    pub(super) spent_at: Option<Timestamp>,
    /// Rows that are armed, waiting or about to be tried again.
    pub(super) open: BTreeSet<RunKey>,
    pub(super) in_flight: usize,
    /// Of them, those of origin `tick`.
    pub(super) ticks_in_flight: usize,
    /// Every lane that a version of it has named: what is in flight holds the one it was admitted to.
    pub(super) lanes: Vec<Lane>,
    pub(super) plan_at: Option<Timestamp>,
    pub(super) next_tick: Option<Timestamp>,
    pub(super) launched_through: Option<Timestamp>,
    /// Its rows of origin `tick`.
    pub(super) ticks: BTreeMap<Timestamp, RunKey>,
    pub(super) ranges: Vec<RangeRecord>,
    /// Attempts of all its runs.
    pub(super) launches: u32,
}

impl Desk {
    pub(super) fn new(key: ScheduleKey, schedule: Schedule, now: Timestamp) -> Self {
        let schedule = Arc::new(schedule);
        let mut desk = Self {
            key,
            versions: vec![Version { since: now, exhausted_at: None, schedule: Arc::clone(&schedule) }],
            timing: schedule.when.timing().cloned(),
            schedule,
            state: State::starting(now),
            deleted_at: None,
            left_at: None,
            spent_at: None,
            open: BTreeSet::new(),
            in_flight: 0,
            ticks_in_flight: 0,
            lanes: Vec::new(),
            plan_at: None,
            next_tick: None,
            launched_through: None,
            ticks: BTreeMap::new(),
            ranges: Vec::new(),
            launches: 0,
        };
        desk.state.cursor = Cursor::starting(now);
        desk.lanes.push(desk.lane());
        desk
    }

    /// Puts a new version in the place of the old one; its anchor is that of the first.
    pub(super) fn replace(&mut self, mut schedule: Schedule, now: Timestamp) {
        schedule.version = self.schedule.version + 1;
        if let (When::Ticks(new), Some(old)) = (&mut schedule.when, &self.timing) {
            new.created_at = old.created_at;
            new.runs = old.runs;
            new.last = self.state.anchors.last(new.anchor);
        }
        self.schedule = Arc::new(schedule);
        self.timing = self.schedule.when.timing().cloned();
        self.spent_at = None;
        let lane = self.lane();
        self.lanes.retain(|other| *other != lane);
        self.lanes.push(lane);
        self.versions.push(Version { since: now, exhausted_at: None, schedule: Arc::clone(&self.schedule) });
    }

    /// Notes that the present version has had all its ticks.
    pub(super) fn note_exhausted(&mut self, at: Timestamp) {
        if let Some(version) = self.versions.last_mut() {
            version.exhausted_at.get_or_insert(at);
        }
    }

    /// How it stands for those who admit.
    pub(super) fn standing(&self, retrying: Vec<RunKey>) -> Standing {
        let max = match &self.schedule.when {
            When::Ticks(timing) => timing.bounds.max_runs,
            When::Chain(chain) => chain.bounds.max_runs,
        };
        let left = |max: u64| max.saturating_sub(self.state.counters.admitted);
        Standing {
            policy: Arc::clone(&self.schedule.policy),
            retrying,
            target: self.schedule.target.name.clone(),
            runs_left: max.map(|max| RunsLeft { left: left(max), max }),
        }
    }

    /// The definition of a version: a run keeps that of its own.
    pub(super) fn version(&self, number: i64) -> Arc<Schedule> {
        let found = self.versions.iter().find(|version| version.schedule.version == number);
        found.map_or_else(|| Arc::clone(&self.schedule), |version| Arc::clone(&version.schedule))
    }

    /// Where its runs take turns.
    pub(super) fn lane(&self) -> Lane {
        Lane::of(self.key, ORG, &self.schedule.policy)
    }

    pub(super) fn is_active(&self) -> bool {
        self.state.status.is_active() && self.deleted_at.is_none()
    }

    /// Whether each tick hangs on the run before it.
    pub(super) fn floats_on(&self, anchor: Anchor) -> bool {
        self.timing.as_ref().is_some_and(|timing| timing.floats_on(anchor))
    }

    /// Whether it has had all its ticks: none is accounted for any more.
    pub(super) fn is_over(&self) -> bool {
        self.spent_at.is_some() || matches!(self.state.status, Status::Exhausted { .. })
    }

    /// Whether nothing of it can come any more.
    pub(super) fn is_spent(&self) -> bool {
        let is_over = self.next_tick.is_none() && self.plan_at.is_none() && self.timing.is_some();
        self.is_active()
            && (is_over || self.spent_at.is_some())
            && self.open.is_empty()
            && self.in_flight == 0
    }

    /// The status that a change leaves it in.
    pub(super) fn leave(&mut self, change: &Change, now: Timestamp) {
        match change {
            Change::Edit { .. } | Change::Shared { .. } => return,
            Change::Leave(status) => self.state.status = status.clone(),
            Change::Delete | Change::RemoveOwner => self.deleted_at = Some(now),
        }
        self.left_at = Some(now);
        self.plan_at = None;
        self.next_tick = None;
    }

    /// Its latest tick at or before an instant, if one was planned.
    pub(super) fn latest(
        &self,
        at: Timestamp,
        status_of: impl Fn(RunKey) -> Option<RunStatus>,
    ) -> Option<(Timestamp, RunStatus)> {
        let row = self.ticks.range(..=at).next_back();
        let row = row.and_then(|(tick, run)| Some((*tick, status_of(*run)?)));
        let range = self.ranges.iter().rfind(|record| record.range.first <= at);
        let range = range.map(|record| (record.range.last.min(at), record.end().status()));
        row.into_iter().chain(range).max_by_key(|(tick, _)| *tick)
    }
}
