//! Launcher: the only step that acts on the world. It checks the lease and notes each launch before it happens.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use punctual_plan::rule::{Rule, holds};
use punctual_plan::{Action, Fence, Outcome, Room};
use punctual_store::{AttemptToken, Launchable, Report, Started};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tracing::debug;

use crate::flights::{Flight, Flights};
use crate::journal::Journal;
use crate::lanes::{LaneKey, Lanes, Placed};
use crate::launch::{Finished, Launch, Launched, OnStart, Targets, Why};
use crate::lease::Lease;
use crate::settler::{Ended, News};
use crate::spans::Stretch;
use crate::time::Time;
use crate::{Clock, Metrics, Settings};

/// Runs that are handed over together.
const TOGETHER: usize = 256;

/// Launches admitted runs, as many at once as there are places.
pub(crate) struct Launcher<C, T> {
    shared: Arc<Shared<C, T>>,
    tasks: JoinSet<()>,
}

/// What every launch uses.
pub(crate) struct Shared<C, T> {
    pub(crate) time: Arc<Time<C>>,
    pub(crate) targets: Arc<T>,
    pub(crate) lease: Arc<Lease>,
    pub(crate) journal: Arc<Mutex<Journal>>,
    pub(crate) flights: Arc<Flights>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) lanes: Mutex<Lanes>,
    pub(crate) news: mpsc::UnboundedSender<News>,
    pub(crate) settings: Settings,
}

impl<C: Clock, T: Targets> Launcher<C, T> {
    pub(crate) fn new(shared: Shared<C, T>) -> Self {
        Self { shared: Arc::new(shared), tasks: JoinSet::new() }
    }

    /// Hands over runs and returns at once. What waits in a queue is left to its workers.
    pub(crate) fn launch(&mut self, runs: Vec<Launchable>, fence: Fence) {
        let mut runs = runs.into_iter();
        // The first begin while the others are still on their way.
        while runs.len() > 0 {
            let some = runs.by_ref().take(TOGETHER).collect();
            self.shared.flights.announce(runs.len());
            self.launch_some(some, fence);
        }
    }

    fn launch_some(&mut self, mut runs: Vec<Launchable>, fence: Fence) {
        runs.retain(|run| is_launched(&run.definition.target.action));
        self.shared.flights.insert_all(&runs, fence);
        let mut lanes = self.shared.lanes();
        let placed: Vec<Placed> = runs.into_iter().filter_map(|run| lanes.enter(run)).collect();
        self.shared.metrics.launches_waiting.set(lanes.waiting());
        drop(lanes);
        placed.into_iter().for_each(|one| self.begin(one));
    }

    /// Launches what waits although there are places: the lease was not certain for a while.
    pub(crate) fn resume(&mut self) {
        let turns = self.shared.lanes().turns();
        for lane in turns {
            loop {
                let Some(placed) = self.shared.lanes().take(lane) else { break };
                self.begin(placed);
            }
        }
    }

    fn begin(&mut self, placed: Placed) {
        while self.tasks.try_join_next().is_some() {}
        self.tasks.spawn(self.shared.settings.task(Arc::clone(&self.shared).serve(placed)));
    }

    /// Launches nothing more, and gives back what was admitted and not launched.
    pub(crate) fn close(&self) -> Vec<Launchable> {
        self.shared.lanes().close()
    }

    /// Forgets what was admitted and not launched, and gives it back.
    pub(crate) fn hand_back(&self) -> Vec<Launchable> {
        self.shared.lanes().clear()
    }

    /// How many attempts were launched and have not ended.
    pub(crate) fn in_flight(&self) -> usize {
        self.shared.flights.launched_count()
    }

    /// Resolves when every launched run has ended.
    pub(crate) async fn drain(&mut self) {
        while self.tasks.join_next().await.is_some() {}
    }

    /// Leaves what still runs to itself, and closes the way to the ledger: the next start finds it in doubt.
    pub(crate) fn abandon(mut self) {
        self.tasks.detach_all();
        self.shared.tell(News::Close);
    }
}

/// Whether a run that goes there is launched by the node; one that waits in a queue is left to its workers.
pub(crate) fn is_launched(action: &Action) -> bool {
    !matches!(action, Action::Queue(_))
}

/// What the admitter has to know of a launcher.
pub(crate) trait Doors {
    /// Whether runs that go there are this node's to launch.
    fn takes(&self, action: &Action) -> bool;

    /// Of targets to which so many rows want to go, those that do not take all of them.
    fn rooms(&self, wanted: &HashMap<LaneKey, usize>, now: Timestamp) -> HashMap<LaneKey, Room>;
}

impl<C: Clock, T: Targets> Doors for Launcher<C, T> {
    fn takes(&self, action: &Action) -> bool {
        self.shared.targets.takes(action)
    }

    fn rooms(&self, wanted: &HashMap<LaneKey, usize>, now: Timestamp) -> HashMap<LaneKey, Room> {
        self.shared.lanes().rooms(wanted, now)
    }
}

impl<C: Clock, T: Targets> Shared<C, T> {
    fn lanes(&self) -> MutexGuard<'_, Lanes> {
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Launches a run and then whatever has its place next.
    async fn serve(self: Arc<Self>, first: Placed) {
        let mut next = Some(first);
        while let Some(placed) = next {
            // Without a certain lease nothing is launched: the run keeps its turn until the next heartbeat.
            let Some(fence) = self.lease.certain(self.time.clock()) else {
                self.metrics.launches_held.add(1);
                return self.lanes().put_back(placed);
            };
            self.run(&placed.run, fence).await;
            let mut lanes = self.lanes();
            next = lanes.give_back(&placed);
            self.metrics.launches_waiting.set(lanes.waiting());
        }
    }

    async fn run(self: &Arc<Self>, run: &Launchable, fence: Fence) {
        // One whose flight is gone was handed over under a fence that is not this node's any more.
        let Some(flight) = self.flights.launch(run.run, fence) else { return };
        if flight.canceller.cancel_of().why().is_none() {
            self.attempt(run, fence, &flight).await;
        }
        self.flights.remove(run.run, fence);
    }

    async fn attempt(self: &Arc<Self>, run: &Launchable, fence: Fence, flight: &Flight) {
        let noted = match holds(Rule::JournalBeforeLaunch) {
            true => self.journal().launching(run.run, run.attempt),
            false => Ok(()),
        };
        let cancel = flight.canceller.cancel_of();
        let started_at = Arc::new(Mutex::new(None));
        let from = self.time.now();
        let launched = match noted {
            Ok(()) => {
                let launch = Launch {
                    run: run.clone(),
                    fence,
                    started: self.on_start(run, fence, Arc::clone(&started_at)),
                    cancel: cancel.clone(),
                    output: flight.output.clone(),
                };
                self.targets.launch(launch).await
            }
            // What cannot be noted is not launched: a restart could not tell whether it was.
            Err(error) => Finished::failed(format!("the launch journal cannot be written: {error}")).into(),
        };
        let stretch = Stretch { from, to: self.time.now().max(from) };
        self.settings.spans.launched(run.into(), stretch, launched.outcome());
        let finished = match launched {
            Launched::Ended(finished) => finished,
            Launched::Entrusted => return self.tell(News::Gone { run: run.run, attempt: run.attempt }),
        };
        let started_at = *started_at.lock().unwrap_or_else(PoisonError::into_inner);
        let is_cancelled = matches!(finished.outcome, Outcome::Cancelled { .. });
        match cancel.why() {
            // Whoever takes the run over finds it in doubt; what this node says of it does not count.
            Some(Why::Fenced) => debug!(run = %run.run, "stopped: the lease was lost"),
            // The ledger has its end. Only a success that was quicker than the wish is worth a word.
            Some(_) if is_cancelled => self.tell(News::Gone { run: run.run, attempt: run.attempt }),
            _ => {
                let at = self.time.now();
                self.note_end(run, &finished.outcome, at);
                let report = Report {
                    run: run.run,
                    attempt: run.attempt,
                    token: AttemptToken::Node(fence),
                    outcome: finished.outcome,
                    started_at,
                    at,
                    output: finished.output,
                };
                self.report(run, report);
            }
        }
    }

    fn on_start(
        self: &Arc<Self>,
        run: &Launchable,
        fence: Fence,
        at: Arc<Mutex<Option<Timestamp>>>,
    ) -> OnStart {
        let (shared, started, fire_at) = (Arc::clone(self), (run.run, run.attempt), run.fire_at);
        OnStart::new(move || {
            let now = shared.time.now();
            *at.lock().unwrap_or_else(PoisonError::into_inner) = Some(now);
            shared.metrics.drift.observe(now.duration_since(fire_at));
            let (run, attempt) = started;
            shared.tell(News::Started { started: Started { run, attempt, at: now }, fence });
        })
    }

    fn report(&self, run: &Launchable, report: Report) {
        let (definition, scheduled_for) = (Arc::clone(&run.definition), run.scheduled_for);
        self.tell(News::Ended(Box::new(Ended { report, definition, scheduled_for, trace: run.trace })));
    }

    fn note_end(&self, run: &Launchable, outcome: &Outcome, at: Timestamp) {
        self.journal().ended(run.run, run.attempt, (outcome.clone(), at));
    }

    fn journal(&self) -> MutexGuard<'_, Journal> {
        self.journal.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self, news: News) {
        // The settler outlives the launcher; news that nobody takes is in the journal.
        let _ = self.news.send(news);
    }
}
