//! Launcher: the only place with an effect on the world. It notes each launch before it happens.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;
use punctual_plan::{Action, Fence, Outcome, RunKey};
use punctual_store::{AttemptToken, Launchable, Report, Started};
use tokio::sync::{Notify, Semaphore, mpsc};
use tokio::task::JoinSet;

use crate::settler::News;
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
    /// How each run in flight is told to end.
    cancels: Mutex<HashMap<RunKey, Arc<Notify>>>,
    news: mpsc::UnboundedSender<News>,
}

impl<C: Clock> Launcher<C> {
    pub(crate) fn new(
        clock: Arc<C>,
        fence: Fence,
        journal: Arc<Mutex<Journal>>,
        news: mpsc::UnboundedSender<News>,
    ) -> Self {
        let cancels = Mutex::default();
        let shared = Shared { clock, fence, journal, places: Semaphore::new(RUNS_MAX), cancels, news };
        Self { shared: Arc::new(shared), tasks: JoinSet::new() }
    }

    /// Starts a run and returns at once. One that waits in a queue is left to its workers.
    pub(crate) fn launch(&mut self, run: Launchable) {
        while self.tasks.try_join_next().is_some() {}
        if matches!(run.definition.target.action, Action::Queue(_)) {
            return;
        }
        let cancel = Arc::new(Notify::new());
        self.shared.cancels().insert(run.run, Arc::clone(&cancel));
        let shared = Arc::clone(&self.shared);
        self.tasks.spawn(async move {
            let key = run.run;
            shared.run(run, &cancel).await;
            shared.cancels().remove(&key);
        });
    }

    /// Tells a run to end; the ledger has its end already.
    pub(crate) fn cancel(&self, run: RunKey) {
        if let Some(cancel) = self.shared.cancels().get(&run) {
            cancel.notify_one();
        }
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
    fn cancels(&self) -> std::sync::MutexGuard<'_, HashMap<RunKey, Arc<Notify>>> {
        self.cancels.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn run(&self, run: Launchable, cancel: &Notify) {
        // The semaphore is never closed; were it, the run would still be in the ledger.
        let Ok(_place) = self.places.acquire().await else { return };
        let noted =
            self.journal.lock().unwrap_or_else(PoisonError::into_inner).launching(run.run, run.attempt);
        let mut started_at = None;
        let finished = match noted {
            Ok(()) => {
                let started = || {
                    let at = self.clock.now();
                    started_at = Some(at);
                    self.tell(News::Started(Started { run: run.run, attempt: run.attempt, at }));
                };
                self.execute(&run, started, cancel).await
            }
            // What cannot be noted is not launched: a restart could not tell whether it was.
            Err(error) => Finished::failed(format!("the launch journal cannot be written: {error}")),
        };
        self.finish(&run, started_at, finished);
    }

    async fn execute(&self, run: &Launchable, started: impl FnOnce() + Send, cancel: &Notify) -> Finished {
        match &run.definition.target.action {
            Action::Process(program) => {
                process::run(program, &process::Context::new(run, self.fence), started, cancel).await
            }
            other => Finished::failed(format!("this version cannot launch a {}", other.kind())),
        }
    }

    fn finish(&self, run: &Launchable, started_at: Option<Timestamp>, finished: Finished) {
        let at = self.clock.now();
        self.note_end(run, &finished.outcome, at);
        let report = Report {
            run: run.run,
            attempt: run.attempt,
            token: AttemptToken::Node(self.fence),
            outcome: finished.outcome,
            started_at,
            at,
            output: finished.output,
        };
        self.tell(News::Ended(Box::new(report), run.definition.name.clone()));
    }

    fn note_end(&self, run: &Launchable, outcome: &Outcome, at: Timestamp) {
        let mut journal = self.journal.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = journal.ended(run.run, run.attempt, (outcome.clone(), at)) {
            // Only a crash before the settlement makes this matter: the run would then be in doubt.
            tracing::warn!(run = %run.run, %error, "the launch journal cannot be written");
        }
    }

    fn tell(&self, news: News) {
        // The settler outlives the launcher; news that nobody takes is in the journal.
        let _ = self.news.send(news);
    }
}
