//! The engine: start it, let it run, ask it to stop. `start.rs` puts it together, `tend.rs` keeps its clocks and its lease,
//! `planning.rs` says when it plans, `stop.rs` ends it.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use punctual_plan::{Fence, Outcome, Pace, ScheduleKey};
use punctual_store::{
    Ask, AttemptToken, BATCH_MAX, DueBatch, Error, Expired, Launchable, Report, Store, Whose,
};
use tokio::sync::{Notify, mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::Instant;
use tracing::{error, warn};

use crate::admitter::{Admitted, Admitter, Look};
use crate::batch::Sender;
use crate::flights::Flights;
use crate::holding::Holding;
use crate::launch::{Targets, Why};
use crate::launcher::Launcher;
use crate::membership::Membership;
use crate::muster::Muster;
use crate::planner::Planner;
use crate::planning::Planning;
use crate::stop::Stopped;
use crate::time::{Time, Watch};
use crate::wake::{CHANGES_EVERY, Signals, Sleep, Wake, wait};
use crate::{Clock, Metrics, Pulse, Settings, Tuner, Tuning};

/// How often it is asked which of the runs in hand have ended in the ledger, at most.
const ASK_ENDED_EVERY: SignedDuration = SignedDuration::from_millis(100);

/// One node's loop over a store.
pub struct Engine<S, C, T> {
    pub(crate) store: Arc<S>,
    pub(crate) time: Arc<Time<C>>,
    /// The node's id under its present lease.
    pub(crate) id: String,
    pub(crate) settings: Settings,
    pub(crate) pace: Pace,
    pub(crate) tuner: Tuner,
    pub(crate) tuning: watch::Receiver<Tuning>,
    pub(crate) watch: Watch,
    pub(crate) planner: Planner,
    /// What a task of its own plans.
    pub(crate) planning: Planning,
    pub(crate) admitter: Admitter,
    pub(crate) membership: Membership,
    pub(crate) muster: Muster,
    /// What is held for the next instant.
    pub(crate) holding: Option<Holding>,
    pub(crate) launcher: Launcher<C, T>,
    pub(crate) flights: Arc<Flights>,
    pub(crate) settler: JoinSet<()>,
    pub(crate) settled: Arc<Notify>,
    pub(crate) duties: JoinSet<()>,
    pub(crate) messages: mpsc::Sender<()>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) pulse: Arc<Pulse>,
    pub(crate) sender: Sender,
    /// When something wants planning next.
    pub(crate) plan_at: Option<Timestamp>,
    /// When to ask which runs in hand the ledger has ended, if it may have.
    pub(crate) ask_ended_at: Option<Timestamp>,
    /// When that was asked last.
    pub(crate) asked_ended_at: Timestamp,
    /// When changes are heard of again.
    pub(crate) changes_from: Instant,
}

impl<S: Store, C: Clock, T: Targets> Engine<S, C, T> {
    /// What it has counted so far; it goes on counting after this call.
    pub fn metrics(&self) -> Arc<Metrics> {
        Arc::clone(&self.metrics)
    }

    /// What changes how it works while it runs.
    pub fn tuner(&self) -> Tuner {
        self.tuner.clone()
    }

    /// Whether it is ready, and a way to wake it.
    pub fn pulse(&self) -> Arc<Pulse> {
        Arc::clone(&self.pulse)
    }

    /// Runs until `stop` turns true; then waits for what is in flight.
    pub async fn run(mut self, mut stop: watch::Receiver<bool>) -> Stopped {
        loop {
            self.look_at_clocks().await;
            self.tend().await;
            let (mut next, mut due) = (vec![], None);
            // A lease that is not certain any more gives no right to admit; the next heartbeat tells.
            let certain = self.membership.lease.certain(self.time.clock());
            self.pulse.leased(certain);
            let may_admit = certain.is_some();
            if may_admit {
                due = match self.call_up().await {
                    Ok(()) => self.admit(self.membership.own()).await,
                    Err(problem) => self.fail(&problem, "admit"),
                };
                next.extend(due);
                if let Some(late) = self.membership.sweep(self.time.now()) {
                    self.admit(late.due).await;
                    self.plan_for_others(late.plannable).await;
                }
            }
            // What was admitted is launched before the next batch of plans takes its time, even on a single thread.
            tokio::task::yield_now().await;
            // What had to wait for a plan is looked at after each batch of them, without a sleep. Whoever is not certain of
            // its lease has not heard the database's time for as long, and others plan meanwhile.
            if may_admit {
                self.plan(due).await;
            }
            self.ask_ended().await;
            next.extend(self.hold_muster(due).await);
            self.metrics.runs_in_flight.set(self.launcher.in_flight());
            next.extend(self.wakes(certain));
            let at_most = self.until(next.into_iter().min());
            let signals = Signals {
                stop: &mut stop,
                settled: &self.settled,
                planned: self.planning.over(),
                tuning: &mut self.tuning,
                pulse: &self.pulse,
            };
            let is_sharp = self.muster.is_large() && self.time.clock().is_systems();
            let sleep = Sleep { at_most, changes_from: self.changes_from, is_sharp };
            match wait(&*self.store, signals, sleep).await {
                Wake::Look => {}
                Wake::Tuned => self.tune(),
                Wake::Settled => self.plan_at = Some(Timestamp::MIN),
                // Another process may have brought ticks nearer than the known ones, or ended runs.
                Wake::Changed => {
                    self.changes_from = Instant::now() + CHANGES_EVERY;
                    self.plan_at = Some(Timestamp::MIN);
                    self.want_ended();
                }
                Wake::Stop => break,
            }
        }
        self.pulse.leased(None);
        self.await_plans().await;
        self.let_go().await;
        self.stop().await
    }

    /// When it has something to do beside what is due. What it may not do without a certain lease, or while a task plans, is
    /// no reason to wake: else it would spin until it may.
    fn wakes(&self, certain: Option<Fence>) -> impl Iterator<Item = Timestamp> {
        let tend_at = if certain.is_some() { self.membership.next() } else { self.membership.next_beat() };
        let may_plan = certain.is_some() && self.membership.may_plan() && !self.planning.is_under_way();
        let plan_at = self.plan_at.filter(|_| may_plan);
        plan_at.into_iter().chain(self.ask_ended_at).chain([tend_at])
    }

    /// Works on as it was told; what comes near is looked at anew, for it may be further ahead.
    fn tune(&mut self) {
        self.pace = self.tuning.borrow_and_update().pace;
        self.planner.pace = self.pace;
        self.admitter.pace = self.pace;
        self.plan_at = Some(Timestamp::MIN);
    }

    /// How long it sleeps at most.
    pub(crate) fn tick(&self) -> Duration {
        Duration::try_from(self.pace.tick).unwrap_or(Duration::ZERO).max(self.settings.idle)
    }

    /// How long to sleep: never longer than a tick, so that a clock that was set is noticed.
    fn until(&self, next: Option<Timestamp>) -> Duration {
        let tick = self.tick();
        let until = |next: Timestamp| Duration::try_from(next.duration_since(self.time.now()));
        next.map_or(tick, |next| until(next).unwrap_or(Duration::ZERO).min(tick))
    }

    /// Admits and launches what is due; gives back when the next row is.
    async fn admit(&mut self, whose: Whose) -> Option<Timestamp> {
        let now = self.time.now();
        let ask = Ask { now, whose, limit: BATCH_MAX };
        let batch = match self.store.due(ask.clone()).await {
            Ok(batch) => batch,
            Err(problem) => return self.fail(&problem, "due"),
        };
        // Most looks find nothing.
        if batch.is_empty() {
            self.metrics.schedules_due.set(0);
            return batch.next_look_at;
        }
        let aside = match self.stretches(&batch, now).await {
            Ok(stretches) => stretches,
            Err(problem) => return self.fail(&problem, "plan"),
        };
        let stretches: Vec<ScheduleKey> = aside.iter().copied().collect();
        let is_guarded = self.muster.is_guarded();
        let next = self.admit_batch(Look { now, batch, aside, is_guarded }).await;
        if stretches.is_empty() {
            return next;
        }
        // Whoever may plan decides them, and finds them within a second or two; until then there is nothing to look at.
        if !self.membership.may_plan() {
            return next.filter(|next| *next > now);
        }
        // What was slept through is decided after what was not is launched, each schedule's as one, and what fires of it
        // is admitted.
        tokio::task::yield_now().await;
        if let Err(problem) = self.planner.decide(&*self.store, &stretches, now).await {
            return self.fail(&problem, "plan");
        }
        match self.store.due(ask).await {
            Ok(batch) => self.admit_batch(Look { now, batch, aside: BTreeSet::new(), is_guarded }).await,
            Err(problem) => self.fail(&problem, "due"),
        }
    }

    /// Schedules of which several due ticks are one decision.
    async fn stretches(&mut self, batch: &DueBatch, now: Timestamp) -> Result<BTreeSet<ScheduleKey>, Error> {
        let mut stretches = batch.stretches();
        let unsure: Vec<ScheduleKey> = batch.unsure(now).into_iter().collect();
        for some in unsure.chunks(BATCH_MAX) {
            let found = self.store.decidable(now, some.to_vec()).await?.ready;
            stretches.extend(found.iter().filter(|one| one.is_stretch()).map(|one| one.schedule));
        }
        Ok(stretches)
    }

    /// A step failed: when to try again.
    fn fail(&mut self, problem: &Error, step: &'static str) -> Option<Timestamp> {
        self.complain(problem, step);
        Some(self.again_at())
    }

    async fn admit_batch(&mut self, look: Look) -> Option<Timestamp> {
        match self.admitter.pass(&*self.store, look, &self.launcher).await {
            Ok(mut admitted) => {
                let failed = std::mem::take(&mut admitted.failed);
                let next = self.carry_on(admitted).await;
                failed.iter().fold(next, |_, problem| self.fail(problem, "admit"))
            }
            Err(problem) => self.fail(&problem, "admit"),
        }
    }

    /// Does what follows from committed verdicts; gives back when the next row is due.
    pub(crate) async fn carry_on(&mut self, admitted: Admitted) -> Option<Timestamp> {
        if admitted.undecided > 0 {
            self.plan_at = Some(Timestamp::MIN);
        }
        admitted.cancelled.iter().for_each(|run| self.flights.cancel(*run, &Why::Ended));
        // One that a later tick of the same batch has cancelled has ended before it began.
        let is_open = |run: &Launchable| !admitted.cancelled.contains(&run.run);
        self.launch(admitted.launches.into_iter().filter(is_open).collect(), admitted.fence);
        self.give_up(&admitted.expired).await;
        self.pause_illegible(admitted.illegible).await;
        admitted.next_look_at
    }

    /// Pauses schedules at once whose definition cannot be read when a row of theirs is due.
    async fn pause_illegible(&mut self, schedules: BTreeSet<ScheduleKey>) {
        if schedules.is_empty() {
            return;
        }
        match self.store.pause_invalid(self.time.now(), schedules.into_iter().collect()).await {
            Ok(0) => {}
            Ok(paused) => warn!(paused, "schedules that cannot be read any more are paused"),
            Err(problem) => self.complain(&problem, "pause_invalid"),
        }
    }

    pub(crate) fn launch(&mut self, launches: Vec<Launchable>, fence: Fence) {
        self.launch_all(launches.into_iter().map(Arc::new).collect(), fence);
    }

    pub(crate) fn launch_all(&mut self, launches: Vec<Arc<Launchable>>, fence: Fence) {
        let seen = self.launcher.launch(launches, fence);
        if seen.queued {
            self.pulse.tell();
        }
        if seen.written {
            // A full channel has been told already.
            let _ = self.messages.try_send(());
        }
    }

    /// Ends runs in flight that nobody has answered for in time.
    async fn give_up(&mut self, expired: &[Expired]) {
        if expired.is_empty() {
            return;
        }
        let at = self.time.now();
        let lost = |one: &Expired| Report {
            run: one.run,
            attempt: one.attempt,
            token: AttemptToken::Node(one.fence),
            outcome: Outcome::Lost,
            started_at: None,
            at,
            output: None,
        };
        let reports: Vec<Report> = expired.iter().map(lost).collect();
        let fence = self.membership.lease.fence();
        match self.sender.send(fence, at, |batch| self.store.settle(batch, reports.clone())).await {
            Ok(_) => warn!(runs = expired.len(), "nobody answered for these runs in time"),
            Err(problem) => return self.complain(&problem, "settle"),
        }
        expired.iter().for_each(|one| self.flights.cancel(one.run, &Why::Expired));
    }

    /// Asks soon which runs in hand have ended, but not again right after the last time.
    pub(crate) fn want_ended(&mut self) {
        let soonest = self.asked_ended_at.saturating_add(ASK_ENDED_EVERY).unwrap_or(Timestamp::MAX);
        self.ask_ended_at = self.ask_ended_at.or(Some(self.time.now().max(soonest)));
    }

    /// Tells programs to end whose run has ended in the ledger, or is another attempt's or node's.
    async fn ask_ended(&mut self) {
        let now = self.time.now();
        if self.ask_ended_at.is_none_or(|at| at > now) {
            return;
        }
        let in_hand = self.flights.under(self.membership.lease.fence());
        (self.ask_ended_at, self.asked_ended_at) = (None, now);
        for some in in_hand.chunks(BATCH_MAX) {
            match self.store.ended(some.to_vec()).await {
                Ok(ended) => ended.iter().for_each(|run| self.flights.cancel(*run, &Why::Ended)),
                Err(problem) => {
                    self.complain(&problem, "ended");
                    self.want_ended();
                }
            }
        }
    }

    pub(crate) fn complain(&mut self, problem: &Error, step: &'static str) {
        self.metrics.store_errors.add(&[step]);
        // The database knows better than this node's clocks: the next heartbeat, at once, ends in a new lease.
        if matches!(problem, Error::LeaseLost) {
            self.metrics.writes_refused.add(&[step]);
            self.membership.upset();
        }
        error!(%problem, step, "the database failed, trying again");
    }

    pub(crate) fn again_at(&self) -> Timestamp {
        self.time.now().saturating_add(self.pace.tick).unwrap_or(Timestamp::MAX)
    }
}
