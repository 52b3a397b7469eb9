//! Planning: when the loop makes plans, and where: by itself, or in a task of its own where many may write at once.
//!
//! A server has room for who plans beside who admits. There the loop goes on while plans are made, and what is held for the next
//! instant is spared, because a plan of it would wait for the instant.

use std::sync::Arc;

use jiff::Timestamp;
use punctual_plan::ScheduleKey;
use punctual_store::{Error, Store, Whose};
use tokio::sync::oneshot::error::TryRecvError;
use tokio::sync::{Notify, oneshot};
use tokio::task::JoinSet;
use tracing::debug;

use crate::launch::Targets;
use crate::planner::{Made, Planned, Planner, Rhythm};
use crate::time::Time;
use crate::turn::Turn;
use crate::{Clock, Engine};

/// So many batches are planned by one task at most, before the loop looks again whether it is time to.
const BATCHES_MAX: usize = 8;

/// Planning beside the loop.
pub(crate) struct Planning {
    /// The planner of the task; none while it plans.
    planner: Option<Planner>,
    /// What it comes to, while it plans.
    coming: Option<oneshot::Receiver<Beside>>,
    task: JoinSet<()>,
    over: Arc<Notify>,
}

/// What planning beside the loop came to.
struct Beside {
    planner: Planner,
    planned: Result<Planned, Error>,
    /// When it was to end.
    until: Timestamp,
}

/// What a task plans.
struct Errand<S, C> {
    store: Arc<S>,
    time: Arc<Time<C>>,
    whose: Whose,
    /// When no batch is begun any more.
    until: Timestamp,
    /// Schedules that are held until then.
    spared: Vec<Arc<Vec<ScheduleKey>>>,
}

impl<S: Store, C: Clock> Errand<S, C> {
    /// Plans batch after batch while there are more and there is time; gives back how the last one went.
    async fn run(&self, planner: &mut Planner) -> Result<Planned, Error> {
        let mut planned = Planned::More;
        for _ in 0..BATCHES_MAX {
            let now = self.time.now();
            if planned != Planned::More || now >= self.until {
                break;
            }
            planned = planner.pass_beside(&*self.store, (self.whose.clone(), now), &self.spared).await?;
            let made = Made { planned: Some(planned), from: now, to: self.time.now(), is_beside_ends: false };
            planner.rhythm.note(made);
        }
        Ok(planned)
    }
}

impl Planning {
    pub(crate) fn new(planner: Planner) -> Self {
        Self { planner: Some(planner), coming: None, task: JoinSet::new(), over: Arc::default() }
    }

    /// Whether a task is planning.
    pub(crate) fn is_under_way(&self) -> bool {
        self.coming.is_some()
    }

    /// Told when it is over.
    pub(crate) fn over(&self) -> &Notify {
        &self.over
    }
}

impl<S: Store, C: Clock, T: Targets> Engine<S, C, T> {
    /// Plans one batch of what comes near; what is due meanwhile comes first.
    pub(crate) async fn plan(&mut self, due: Option<Timestamp>) {
        self.hear_plans();
        let now = self.time.now();
        if !self.membership.may_plan() {
            // Others plan for it: there is nothing to wake for, and what is its to do, it does.
            self.plan_at = None;
            return self.pulse.planned();
        }
        if self.planning.is_under_way() || self.plan_at.is_none_or(|plan_at| plan_at > now) {
            return;
        }
        let (own, turn) = (self.membership.own(), self.turn(now, due));
        let is_beside_ends = self.membership.has_unsettled();
        let planned = match turn {
            Turn::Wait(at) => {
                self.plan_at = Some(at);
                return;
            }
            Turn::BesidePlans(until) => return self.plan_beside(own, until),
            Turn::QuietPlans(_) => self.planner.pass_quietly(&*self.store, own, now).await,
            Turn::Plans => self.planner.pass(&*self.store, own, now).await,
        };
        let made =
            Made { planned: planned.as_ref().ok().copied(), from: now, to: self.time.now(), is_beside_ends };
        self.planner.rhythm.note(made);
        let put_off = if let Turn::QuietPlans(at) = turn { at } else { now };
        let next = self.planned(planned, (now, put_off));
        self.plan_at = next;
    }

    /// What follows from a batch of plans that was begun at one time, and may put off some until another; gives back when
    /// something wants planning next.
    fn planned(
        &mut self,
        planned: Result<Planned, Error>,
        (now, put_off): (Timestamp, Timestamp),
    ) -> Option<Timestamp> {
        match planned {
            Ok(Planned::Put { off, .. }) => {
                debug!(schedules = off, "planned after the next instant");
                Some(put_off)
            }
            Ok(Planned::Done(plan_at)) => {
                // Others, and runs that start, bring ticks nearer: it is asked again after a tick, hint or not.
                let again_at = now.saturating_add(self.tick()).unwrap_or(Timestamp::MAX);
                self.pulse.planned();
                Some(plan_at.map_or(again_at, |plan_at| plan_at.min(again_at)))
            }
            Ok(Planned::More) => Some(now),
            Err(problem) => {
                self.complain(&problem, "plan");
                Some(self.again_at())
            }
        }
    }

    /// Lets a task plan what comes near, until a time before which nothing else wants to be written.
    fn plan_beside(&mut self, whose: Whose, until: Timestamp) {
        let Some(mut planner) = self.planning.planner.take() else { return };
        planner.pace = self.pace;
        // Whatever wants planning from here on says so anew.
        self.plan_at = None;
        let spared = self.spared();
        let errand =
            Errand { store: Arc::clone(&self.store), time: Arc::clone(&self.time), whose, until, spared };
        let (over, (told, coming)) = (Arc::clone(&self.planning.over), oneshot::channel());
        let task = async move {
            let planned = errand.run(&mut planner).await;
            // An engine that ends does not ask any more.
            let _ = told.send(Beside { planner, planned, until });
            over.notify_one();
        };
        self.planning.coming = Some(coming);
        self.planning.task.spawn(self.settings.task(task));
    }

    /// The schedules of which no plan is made now: they are held, or about to be.
    fn spared(&self) -> Vec<Arc<Vec<ScheduleKey>>> {
        match &self.holding {
            Some(holding) => holding.schedules.clone(),
            None => self.muster.schedules(),
        }
    }

    /// Takes note of what a task has planned, if it is over.
    fn hear_plans(&mut self) {
        let Some(coming) = &mut self.planning.coming else { return };
        match coming.try_recv() {
            Ok(beside) => {
                self.planning.coming = None;
                while self.planning.task.try_join_next().is_some() {}
                self.heard_plans(beside);
            }
            Err(TryRecvError::Empty) => {}
            Err(TryRecvError::Closed) => panic!("the task that plans does not panic"),
        }
    }

    fn heard_plans(&mut self, beside: Beside) {
        let Beside { planner, planned, until } = beside;
        let now = self.time.now();
        let next = self.planned(planned, (now, until.max(now)));
        // What was asked for meanwhile is not forgotten.
        self.plan_at = self.plan_at.into_iter().chain(next).min();
        self.planning.planner = Some(planner);
    }

    /// Waits until nothing is planned any more.
    pub(crate) async fn await_plans(&mut self) {
        while self.planning.task.join_next().await.is_some() {}
    }

    /// How plans went lately.
    fn rhythm(&self) -> &Rhythm {
        let beside = self.planning.planner.as_ref().map(|planner| &planner.rhythm);
        beside.filter(|_| self.muster.is_guarded()).unwrap_or(&self.planner.rhythm)
    }

    /// Whether it is time to plan.
    fn turn(&self, now: Timestamp, due: Option<Timestamp>) -> Turn {
        let held = self.holding.as_ref().map(|holding| holding.at).filter(|at| *at > now);
        let rhythm = self.rhythm();
        // Unless something waits for a plan, what is late comes first for a while.
        let is_behind = due.is_some_and(|due| due <= now) && self.plan_at != Some(Timestamp::MIN);
        match (is_behind && rhythm.may_wait(now, self.pace), held) {
            (_, Some(held)) => Turn::BesidePlans(held),
            (true, None) => Turn::Wait(now),
            (false, None) if rhythm.is_overdue(now, self.pace) => self.muster.any_plans(now),
            // What was judged ahead would not hold after all of it, and it is half a window early anyway.
            (false, None) => self.muster.turn(now, due, rhythm.takes()),
        }
    }

    /// Plans one batch of what others should have planned; what is left comes with the next sweep.
    pub(crate) async fn plan_for_others(&mut self, late: Whose) {
        if !self.membership.may_plan() {
            return;
        }
        if let Err(problem) = self.planner.pass(&*self.store, late, self.time.now()).await {
            self.complain(&problem, "plan");
        }
    }
}
