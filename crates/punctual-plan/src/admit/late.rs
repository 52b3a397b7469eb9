//! Rows that come late: the catch-up rule of `plan`, for a schedule whose ticks were armed and slept through.
//!
//! A node that may plan lets `plan` decide several late ticks of a schedule as one, with what is not planned yet; here
//! a single one is judged, and all of them where no plan can be made.

use std::collections::{BTreeMap, HashMap};

use jiff::{SignedDuration, Timestamp};

use super::{Due, Verdict};
use crate::limit::CATCH_UP_MAX;
use crate::rule::{Rule, holds};
use crate::{CatchUp, Origin, Pace, Policy, Reason, RunKey, ScheduleKey, World};

/// The verdicts over rows that do not go on to the gate.
pub(super) fn judge(ready: &[&Due], world: &World) -> HashMap<RunKey, Verdict> {
    let mut by_schedule: BTreeMap<ScheduleKey, Vec<&Due>> = BTreeMap::new();
    let policy = |schedule| world.schedules.get(&schedule).map(|standing| &*standing.policy);
    let default = Policy::default();
    for row in ready.iter().filter(|row| row.is_undecided(policy(row.schedule).unwrap_or(&default))) {
        by_schedule.entry(row.schedule).or_default().push(row);
    }
    let mut verdicts = HashMap::new();
    for (schedule, mut rows) in by_schedule {
        rows.sort_by_key(|row| row.scheduled_for);
        let stretch = Stretch {
            rows: &rows,
            policy: policy(schedule).unwrap_or(&default),
            pace: world.pace,
            now: world.now,
        };
        let judged = rows.iter().enumerate().map(|(place, row)| (row.run, stretch.verdict(place)));
        verdicts.extend(judged.filter_map(|(run, verdict)| verdict.map(|verdict| (run, verdict))));
    }
    verdicts
}

impl Due {
    /// Whether it is an armed tick that fires at its own time: no catch-up has decided it yet.
    pub fn is_undecided(&self, policy: &Policy) -> bool {
        let own = self.scheduled_for.saturating_add(policy.jitter.max).unwrap_or(Timestamp::MAX);
        self.origin == Origin::Tick
            && !self.is_retry()
            && self.verdict.is_none()
            && self.waiting.is_none()
            && (self.fire_at <= own || !holds(Rule::CatchUpOnce))
    }
}

/// The due ticks of one schedule, oldest first.
struct Stretch<'a> {
    rows: &'a [&'a Due],
    policy: &'a Policy,
    pace: Pace,
    now: Timestamp,
}

impl Stretch<'_> {
    fn verdict(&self, place: usize) -> Option<Verdict> {
        let (row, slots) = (self.rows[place], self.rows.len());
        let last = self.rows[slots - 1].scheduled_for;
        let is_overtaken = last > row.scheduled_for && holds(Rule::OvertakenIsMissed);
        let since = if holds(Rule::LatenessFromFireAt) { row.fire_at } else { row.scheduled_for };
        match self.policy.catch_up {
            CatchUp::Skip if self.now.duration_since(since) > self.policy.grace || !holds(Rule::Grace) => {
                Some(Verdict::Miss(Reason::Outage { until: self.now, grace_s: self.policy.grace.as_secs() }))
            }
            CatchUp::Skip => is_overtaken.then_some(Verdict::Miss(Reason::Overtaken { by: last })),
            CatchUp::RunOnce => {
                is_overtaken.then_some(Verdict::Miss(Reason::CaughtUp { slots: slots as u64, by: last }))
            }
            CatchUp::RunAll | CatchUp::Spread => self.caught_up(place),
        }
    }

    /// The latest `max_catch_up` fire, a bounded number at once or evenly over the window.
    fn caught_up(&self, place: usize) -> Option<Verdict> {
        let slots = self.rows.len();
        let max = self.policy.max_catch_up.min(CATCH_UP_MAX);
        // A single tick is the ordinary case: it is not caught up with, it fires.
        let firing = slots.min((max as usize).max(1));
        let Some(turn) = place.checked_sub(slots - firing) else {
            return Some(Verdict::Miss(Reason::CatchUpLimit { max, slots: slots as u64 }));
        };
        let delay = match self.policy.catch_up {
            CatchUp::Spread => self.pace.spread_delay(turn, firing),
            _ => self.pace.batch_delay(turn),
        };
        (delay > SignedDuration::ZERO)
            .then(|| Verdict::Later(self.now.saturating_add(delay).unwrap_or(Timestamp::MAX)))
    }
}
