//! Launcher: the only place with an effect on the world. It notes each launch before it happens.

use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;
use punctual_plan::{Action, Fence, InFlight, Outcome, Situation, settle};
use punctual_store::{Ended, Launchable, Started};
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinSet;

use crate::recover::once;
use crate::settler::Report;
use crate::target::{Finished, process};
use crate::{Clock, Journal};

/// Programs that run at once; a run beyond them is admitted and waits for its place.
const RUNS_MAX: usize = 1_000;

/// Launches admitted runs, each in a task of its own.
pub(crate) struct Launcher<C> {
    shared: Arc<Shared<C>>,
    tasks: JoinSet<()>,
}

struct Shared<C> {
    clock: Arc<C>,
    fence: Fence,
    journal: Arc<Mutex<Journal>>,
    places: Semaphore,
    reports: mpsc::UnboundedSender<Report>,
}

impl<C: Clock> Launcher<C> {
    pub(crate) fn new(
        clock: Arc<C>,
        fence: Fence,
        journal: Arc<Mutex<Journal>>,
        reports: mpsc::UnboundedSender<Report>,
    ) -> Self {
        let shared = Shared { clock, fence, journal, places: Semaphore::new(RUNS_MAX), reports };
        Self { shared: Arc::new(shared), tasks: JoinSet::new() }
    }

    /// Starts a run and returns at once.
    pub(crate) fn launch(&mut self, run: Launchable) {
        while self.tasks.try_join_next().is_some() {}
        let shared = Arc::clone(&self.shared);
        self.tasks.spawn(async move { shared.run(run).await });
    }

    /// How many runs are in flight.
    pub(crate) fn in_flight(&mut self) -> usize {
        while self.tasks.try_join_next().is_some() {}
        self.tasks.len()
    }

    /// Resolves when every launched run has ended.
    pub(crate) async fn drain(&mut self) {
        while self.tasks.join_next().await.is_some() {}
    }

    /// Leaves the programs that still run to themselves; the next start finds them in doubt.
    pub(crate) fn abandon(mut self) {
        self.tasks.detach_all();
    }
}

impl<C: Clock> Shared<C> {
    async fn run(&self, run: Launchable) {
        // The semaphore is never closed; were it, the run would still be in the ledger.
        let Ok(_place) = self.places.acquire().await else { return };
        let noted = self.journal.lock().unwrap_or_else(PoisonError::into_inner).launching(run.run);
        let mut started_at = None;
        let finished = match noted {
            Ok(()) => {
                let started = || {
                    let at = self.clock.now();
                    started_at = Some(at);
                    self.report(Report::Started(Started { run: run.run, at }));
                };
                self.execute(&run, started).await
            }
            // What cannot be noted is not launched: a restart could not tell whether it was.
            Err(error) => Finished::failed(format!("the launch journal cannot be written: {error}")),
        };
        self.finish(&run, started_at, finished);
    }

    async fn execute(&self, run: &Launchable, started: impl FnOnce() + Send) -> Finished {
        match &run.action {
            Action::Process(program) => {
                process::run(&program.argv, &process::Context::new(run, self.fence), started).await
            }
            other => Finished::failed(format!("this version cannot launch a {}", other.kind())),
        }
    }

    fn finish(&self, run: &Launchable, started_at: Option<Timestamp>, finished: Finished) {
        let now = self.clock.now();
        self.note_end(run, &finished.outcome, now);
        let in_flight = InFlight { run: run.run, schedule: run.schedule };
        let settlement = settle(in_flight, finished.outcome, &Situation::first(&once(), now));
        let name = run.schedule_name.clone();
        let ended = Box::new(Ended { settlement, started_at, output: finished.output });
        self.report(Report::Ended(ended, name));
    }

    fn note_end(&self, run: &Launchable, outcome: &Outcome, now: Timestamp) {
        let noted =
            self.journal.lock().unwrap_or_else(PoisonError::into_inner).ended(run.run, outcome.clone(), now);
        if let Err(error) = noted {
            // Only a crash before the settlement makes this matter: the run would then be in doubt.
            tracing::warn!(run = %run.run, %error, "the launch journal cannot be written");
        }
    }

    fn report(&self, report: Report) {
        // The settler outlives the launcher; a report that nobody takes is in the journal.
        let _ = self.reports.send(report);
    }
}
