//! Settler: gathers what the launcher reports and writes it in batches.
//!
//! A run is marked `running` only if it is still going a moment after its start: most programs end
//! before that, and their two writes become one.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use punctual_plan::{Fence, Next, RunKey};
use punctual_store::{BATCH_MAX, Commit, Ended, Error, Started, Store};
use tokio::sync::mpsc;
use tracing::{error, info, warn};

use crate::Journal;

/// How often the runs that are still going are marked.
const MARK_EVERY: Duration = Duration::from_millis(100);

/// How long to wait before a write that failed is repeated.
const RETRY_AFTER: Duration = Duration::from_millis(500);

/// What happened to a run.
#[derive(Debug)]
pub(crate) enum Report {
    /// It was launched.
    Started(Started),
    /// It ended; with its schedule's name for the log.
    Ended(Box<Ended>, String),
}

/// Writes reports until the launcher is gone and everything it said is on disk.
pub(crate) struct Settler<S> {
    pub(crate) store: Arc<S>,
    pub(crate) fence: Fence,
    pub(crate) journal: Arc<Mutex<Journal>>,
}

#[derive(Default)]
struct Gathered {
    started: HashMap<RunKey, Started>,
    ended: Vec<(Ended, String)>,
}

impl Gathered {
    fn take(&mut self, report: Report) {
        match report {
            Report::Started(started) => {
                self.started.insert(started.run, started);
            }
            Report::Ended(ended, name) => {
                self.started.remove(&ended.settlement.in_flight.run);
                self.ended.push((*ended, name));
            }
        }
    }
}

impl<S: Store> Settler<S> {
    /// Runs until the last sender of reports is gone.
    pub(crate) async fn run(self, mut reports: mpsc::UnboundedReceiver<Report>) {
        let mut gathered = Gathered::default();
        let mut mark = tokio::time::interval(MARK_EVERY);
        loop {
            tokio::select! {
                report = reports.recv() => match report {
                    Some(report) => gathered.take(report),
                    None => return,
                },
                _ = mark.tick(), if !gathered.started.is_empty() => self.mark(&mut gathered).await,
            }
            while gathered.ended.len() < BATCH_MAX
                && let Ok(report) = reports.try_recv()
            {
                gathered.take(report);
            }
            self.settle(&mut gathered).await;
        }
    }

    async fn mark(&self, gathered: &mut Gathered) {
        let started: Vec<Started> = gathered.started.values().copied().collect();
        match self.store.mark_running(self.fence, started).await {
            Ok(()) => gathered.started.clear(),
            Err(problem) => warn!(%problem, "cannot mark runs as running, trying again"),
        }
    }

    /// Repeats until the ends are on disk: the runs hold their schedules until then.
    async fn settle(&self, gathered: &mut Gathered) {
        if gathered.ended.is_empty() {
            return;
        }
        let (batch, names): (Vec<Ended>, Vec<String>) = gathered.ended.drain(..).unzip();
        loop {
            match self.store.settle(self.fence, batch.clone()).await {
                Ok(commits) => return self.settled(&batch, &names, &commits),
                Err(Error::Closed) => return,
                Err(problem) => {
                    error!(%problem, runs = batch.len(), "cannot settle, trying again");
                    tokio::time::sleep(RETRY_AFTER).await;
                }
            }
        }
    }

    fn settled(&self, batch: &[Ended], names: &[String], commits: &[Commit]) {
        for ((ended, name), commit) in batch.iter().zip(names).zip(commits) {
            let end = &ended.settlement;
            let run = end.in_flight.run;
            match (commit, &end.next) {
                (Commit::Stale, _) => {
                    warn!(%run, schedule = name, "refused: the run is not this node's any more");
                }
                (Commit::Done, Next::End { status, reason: None, .. }) => {
                    info!(%run, schedule = name, %status, "ended");
                }
                (Commit::Done, Next::End { status, reason: Some(reason), .. }) => {
                    info!(%run, schedule = name, %status, %reason, "ended");
                }
                (Commit::Done, Next::Retry { attempt, at, reason }) => {
                    info!(%run, schedule = name, attempt, %at, %reason, "is repeated");
                }
            }
        }
        let runs: Vec<RunKey> = batch.iter().map(|ended| ended.settlement.in_flight.run).collect();
        let forgotten = self.journal.lock().unwrap_or_else(PoisonError::into_inner).settled(&runs);
        if let Err(problem) = forgotten {
            warn!(%problem, "the launch journal cannot be shortened");
        }
    }
}
