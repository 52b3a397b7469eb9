//! Planner: ticks become ledger rows half a window before they are due.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use punctual_plan::{Pace, Plan, ScheduleKey, Window, plan};
use punctual_store::fail_point::{FailPoint, pass};
use punctual_store::{Ask, Commit, Error, PlanCommit, Plannable, PlannableBatch, Store, Whose};
use tracing::debug;

use crate::Metrics;
use crate::batch::Sender;
use crate::complaint::Complaints;
use crate::lease::Lease;
use crate::membership::Shared;

/// Schedules in one planning batch, at most and at least.
const PLANNABLE_MAX: usize = 4_000;
const PLANNABLE_MIN: usize = 20;

/// About as many rows as one batch writes: so few that what is due meanwhile does not wait for it. How many schedules that
/// is shows the batch before.
const ROWS_GOAL: usize = 4_000;

/// While more is due than can be launched at once, plans wait for so long, but for no more than this part of how far ahead
/// they are made.
const PLANS_WAIT: SignedDuration = SignedDuration::from_secs(2);
const PLANS_WAIT_PART: i32 = 8;

/// They wait for no instant any more when nothing was planned for this part of it.
const OVERDUE_PART: i32 = 4;

/// A batch that took longer than this has waited for others.
const TAKES_MAX: SignedDuration = SignedDuration::from_millis(200);

/// Plans the schedules that come near.
pub(crate) struct Planner {
    lease: Arc<Lease>,
    sender: Sender,
    pub(crate) pace: Pace,
    metrics: Arc<Metrics>,
    complaints: Complaints,
    /// Schedules in the next batch.
    limit: usize,
    pub(crate) rhythm: Rhythm,
}

/// When batches are made.
#[derive(Default)]
pub(crate) struct Rhythm {
    /// When the last one was begun that left nothing out.
    whole_at: Option<Timestamp>,
    /// How long the last one took beside which nothing else was to be written.
    took: SignedDuration,
}

/// What a batch came to, unless it failed, and when.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Made {
    pub(crate) planned: Option<Planned>,
    pub(crate) from: Timestamp,
    pub(crate) to: Timestamp,
    /// Whether ends of runs were to be written beside it.
    pub(crate) is_beside_ends: bool,
}

impl Rhythm {
    /// Notes a batch.
    pub(crate) fn note(&mut self, made: Made) {
        if !made.is_beside_ends {
            self.took = made.to.duration_since(made.from);
        }
        if matches!(made.planned, Some(Planned::Done(_) | Planned::More)) {
            self.whole_at = Some(made.from);
        }
    }

    /// Whether the last batch was so lately that what is late may come first.
    pub(crate) fn may_wait(&self, now: Timestamp, pace: Pace) -> bool {
        self.since(now).is_some_and(|since| since < PLANS_WAIT.min(pace.lookahead / PLANS_WAIT_PART))
    }

    /// Whether the last batch was so long ago that ticks may come to be planned too late.
    pub(crate) fn is_overdue(&self, now: Timestamp, pace: Pace) -> bool {
        self.since(now).is_none_or(|since| since >= pace.lookahead / OVERDUE_PART)
    }

    /// How long ago the last batch was; a clock that was set back says nothing about it.
    fn since(&self, now: Timestamp) -> Option<SignedDuration> {
        self.whole_at.map(|at| now.duration_since(at)).filter(|since| !since.is_negative())
    }

    /// As long as a batch may take, by the last one.
    pub(crate) fn takes(&self) -> SignedDuration {
        (self.took * 3 / 2).min(TAKES_MAX)
    }
}

/// What one batch of planning came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Planned {
    /// Nothing more wants planning before this.
    Done(Option<Timestamp>),
    /// There may be more to plan at once.
    More,
    /// Some are left because they concern verdicts that stand; so many others were planned.
    Put { off: usize, done: u64 },
}

impl Planner {
    pub(crate) fn new(shared: &Shared, pace: Pace) -> Self {
        Self {
            lease: Arc::clone(&shared.lease),
            sender: shared.sender.clone(),
            pace,
            metrics: Arc::clone(&shared.metrics),
            complaints: Complaints::default(),
            limit: PLANNABLE_MIN,
            rhythm: Rhythm::default(),
        }
    }

    /// Plans one batch of what wants planning at `now`.
    pub(crate) async fn pass<S: Store>(
        &mut self,
        store: &S,
        whose: Whose,
        now: Timestamp,
    ) -> Result<Planned, Error> {
        self.pass_some(store, (whose, now), |_| true).await
    }

    /// The same, while verdicts stand that were made ahead: only what does not concern them.
    pub(crate) async fn pass_quietly<S: Store>(
        &mut self,
        store: &S,
        whose: Whose,
        now: Timestamp,
    ) -> Result<Planned, Error> {
        self.pass_some(store, (whose, now), |one| one.is_quiet(now)).await
    }

    /// The same beside others, without those that are held; what is put off keeps nothing else waiting.
    pub(crate) async fn pass_beside<S: Store>(
        &mut self,
        store: &S,
        (whose, now): (Whose, Timestamp),
        spared: &[Arc<Vec<ScheduleKey>>],
    ) -> Result<Planned, Error> {
        let is_spared =
            |one: &PlanCommit| spared.iter().any(|part| part.binary_search(&one.schedule).is_ok());
        let planned = self.pass_some(store, (whose, now), |one| !is_spared(one)).await?;
        // As long as most of a batch could be planned, the next one finds more.
        Ok(match planned {
            Planned::Put { off, done: 1.. } if off < self.limit / 2 => Planned::More,
            _ => planned,
        })
    }

    async fn pass_some<S: Store>(
        &mut self,
        store: &S,
        (whose, now): (Whose, Timestamp),
        is_wanted: impl Fn(&PlanCommit) -> bool,
    ) -> Result<Planned, Error> {
        let batch = store.plannable(Ask { now, whose, limit: self.limit }).await?;
        self.pause_unreadable(store, &batch, now).await?;
        if batch.ready.is_empty() {
            return Ok(Planned::Done(batch.next_plan_at.filter(|next| *next > now)));
        }
        let mut plans: Vec<PlanCommit> = batch.ready.into_iter().map(|one| self.plan_one(one, now)).collect();
        let count = plans.len();
        plans.retain(is_wanted);
        if plans.is_empty() {
            return Ok(Planned::Put { off: count, done: 0 });
        }
        let fence = self.lease.fence();
        pass(FailPoint::PlanBeforeCommit);
        let commits = self.sender.send(fence, now, |batch| store.commit_plans(batch, plans.clone())).await?;
        pass(FailPoint::PlanAfterCommit);
        let done = plans.iter().zip(&commits).filter(|(_, commit)| **commit == Commit::Done);
        let (mut committed, mut ticks) = (0, 0);
        for (one, _) in done {
            committed += 1;
            ticks += one.plan.entries.len() as u64;
        }
        self.metrics.schedules_planned.add(committed);
        self.metrics.ticks_planned.add(ticks);
        let rows: usize = plans.iter().map(|one| one.plan.entries.len()).sum();
        self.limit = (ROWS_GOAL * plans.len() / rows.max(1)).clamp(PLANNABLE_MIN, PLANNABLE_MAX);
        debug!(schedules = plans.len(), committed, ticks, "planned");
        Ok(match committed {
            _ if plans.len() < count => Planned::Put { off: count - plans.len(), done: committed },
            // If others were first with all of them there is nothing to repeat.
            0 => Planned::Done(batch.next_plan_at),
            _ => Planned::More,
        })
    }

    /// Decides schedules of which several ticks were slept through, each as one with what is not planned yet.
    pub(crate) async fn decide<S: Store>(
        &mut self,
        store: &S,
        schedules: &[ScheduleKey],
        now: Timestamp,
    ) -> Result<(), Error> {
        for some in schedules.chunks(PLANNABLE_MAX) {
            let batch = store.decidable(now, some.to_vec()).await?;
            self.pause_unreadable(store, &batch, now).await?;
            let plans = batch.ready.into_iter().map(|one| self.plan_one(one, now));
            // One of which a single tick is late has nothing that it must be seen with.
            let plans: Vec<PlanCommit> = plans.filter(|one| decides(&one.plan, now)).collect();
            if !plans.is_empty() {
                let fence = self.lease.fence();
                pass(FailPoint::PlanBeforeCommit);
                self.sender.send(fence, now, |batch| store.commit_plans(batch, plans.clone())).await?;
                pass(FailPoint::PlanAfterCommit);
                debug!(schedules = plans.len(), "decided what was slept through");
            }
        }
        Ok(())
    }

    /// Pauses what cannot be read any more.
    async fn pause_unreadable<S: Store>(
        &mut self,
        store: &S,
        batch: &PlannableBatch,
        now: Timestamp,
    ) -> Result<(), Error> {
        self.complaints.hear("a schedule cannot be planned", batch.unreadable.iter().map(|(_, error)| error));
        if !batch.unreadable.is_empty() {
            let schedules = batch.unreadable.iter().map(|(schedule, _)| *schedule).collect();
            let paused = store.pause_invalid(now, schedules).await?;
            debug!(paused, "paused what cannot be read");
        }
        Ok(())
    }

    fn plan_one(&self, one: Plannable, now: Timestamp) -> PlanCommit {
        let plan = plan(&one.subject(None), Window { now, pace: self.pace });
        let Plannable { schedule, org, definition, cursor, .. } = one;
        PlanCommit { schedule, org, definition, from: cursor, plan }
    }
}

/// Whether a plan says something of ticks that have passed.
fn decides(plan: &Plan, now: Timestamp) -> bool {
    let has_passed = plan.entries.first().is_some_and(|entry| entry.scheduled_for <= now);
    has_passed || !(plan.closed.is_empty() && plan.refired.is_empty() && plan.ranges.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plans_wait_for_what_is_late_but_never_for_long() {
        let at = |ms: i64| Timestamp::from_millisecond(1_000_000 + ms).unwrap();
        let pace = |seconds| Pace { lookahead: SignedDuration::from_secs(seconds), ..Pace::default() };
        let made = |planned, from, to| Made { planned, from: at(from), to: at(to), is_beside_ends: false };
        let mut rhythm = Rhythm::default();
        assert!(!rhythm.may_wait(at(0), pace(60)), "nothing was planned yet");
        rhythm.note(made(Some(Planned::More), 0, 40));
        assert_eq!(rhythm.takes(), SignedDuration::from_millis(60));
        assert!(rhythm.may_wait(at(1_999), pace(60)) && !rhythm.may_wait(at(2_000), pace(60)));
        assert!(rhythm.may_wait(at(249), pace(2)) && !rhythm.may_wait(at(250), pace(2)), "it is near");
        assert!(!rhythm.may_wait(at(-1), pace(60)), "the clock was set back");
        // What was put off is not planned, nor is what could not be written.
        for planned in [Some(Planned::Put { off: 1, done: 1 }), None] {
            rhythm.note(made(planned, 1_500, 1_500));
            assert!(!rhythm.may_wait(at(2_000), pace(60)), "{planned:?}");
        }
        assert!(!rhythm.is_overdue(at(14_999), pace(60)) && rhythm.is_overdue(at(15_000), pace(60)));
        assert!(rhythm.is_overdue(at(-1), pace(60)), "the clock was set back");
        // One that waited for others says nothing of how long the next one takes.
        rhythm.note(made(Some(Planned::More), 0, 20));
        rhythm.note(Made { is_beside_ends: true, ..made(Some(Planned::More), 0, 2_000) });
        assert_eq!(rhythm.takes(), SignedDuration::from_millis(30));
    }
}
