//! Settler: gathers what the launcher reports and writes it in batches.
//!
//! A run is marked `running` only if it is still going a moment after its start: most programs end
//! before that, and their two writes become one.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use punctual_plan::{Fence, Next, RunKey};
use punctual_store::{BATCH_MAX, Commit, Error, Report, Settled, Started, Store};
use tokio::sync::{Notify, mpsc};
use tracing::{error, info, warn};

use crate::batch::Sender;
use crate::{Clock, Journal};

/// How often the runs that are still going are marked.
const MARK_EVERY: Duration = Duration::from_millis(100);

/// How long to wait before a write that failed is repeated.
const RETRY_AFTER: Duration = Duration::from_millis(500);

/// What happened to a run.
#[derive(Debug)]
pub(crate) enum News {
    /// It was launched.
    Started(Started),
    /// It ended; with its schedule's name for the log.
    Ended(Box<Report>, String),
}

/// Writes reports until the launcher is gone and everything it said is on disk.
pub(crate) struct Settler<S, C> {
    pub(crate) store: Arc<S>,
    pub(crate) clock: Arc<C>,
    pub(crate) fence: Fence,
    pub(crate) journal: Arc<Mutex<Journal>>,
    /// Told after each settlement: it may have woken rows, planned retries or freed a schedule to be planned.
    pub(crate) settled: Arc<Notify>,
}

#[derive(Default)]
struct Gathered {
    started: HashMap<RunKey, Started>,
    ended: Vec<(Report, String)>,
}

impl Gathered {
    fn take(&mut self, news: News) {
        match news {
            News::Started(started) => {
                self.started.insert(started.run, started);
            }
            News::Ended(report, name) => {
                self.started.remove(&report.run);
                self.ended.push((*report, name));
            }
        }
    }
}

impl<S: Store, C: Clock> Settler<S, C> {
    /// Runs until the last sender of reports is gone.
    pub(crate) async fn run(self, mut news: mpsc::UnboundedReceiver<News>) {
        let mut gathered = Gathered::default();
        let mut mark = tokio::time::interval(MARK_EVERY);
        loop {
            tokio::select! {
                news = news.recv() => match news {
                    Some(news) => gathered.take(news),
                    None => return,
                },
                _ = mark.tick(), if !gathered.started.is_empty() => self.mark(&mut gathered).await,
            }
            while gathered.ended.len() < BATCH_MAX
                && let Ok(news) = news.try_recv()
            {
                gathered.take(news);
            }
            self.settle(&mut gathered).await;
        }
    }

    async fn mark(&self, gathered: &mut Gathered) {
        let started: Vec<Started> = gathered.started.values().copied().collect();
        let sender = Sender::new(self.fence);
        match sender.send(self.clock.now(), |batch| self.store.mark_running(batch, started.clone())).await {
            Ok(_) => gathered.started.clear(),
            Err(problem) => warn!(%problem, "cannot mark runs as running, trying again"),
        }
    }

    /// Repeats until the ends are on disk: the runs hold their schedules until then.
    async fn settle(&self, gathered: &mut Gathered) {
        if gathered.ended.is_empty() {
            return;
        }
        let (reports, names): (Vec<Report>, Vec<String>) = gathered.ended.drain(..).unzip();
        let sender = Sender::new(self.fence);
        loop {
            match sender.send(self.clock.now(), |batch| self.store.settle(batch, reports.clone())).await {
                Ok(settled) => return self.settled(&reports, &names, &settled),
                Err(Error::Closed) => return,
                Err(problem) => {
                    error!(%problem, runs = reports.len(), "cannot settle, trying again");
                    tokio::time::sleep(RETRY_AFTER).await;
                }
            }
        }
    }

    fn settled(&self, reports: &[Report], names: &[String], settled: &[Settled]) {
        for ((report, name), end) in reports.iter().zip(names).zip(settled) {
            tell(report, name, end);
        }
        let ended: Vec<(RunKey, u32)> = reports.iter().map(|report| (report.run, report.attempt)).collect();
        let forgotten = self.journal.lock().unwrap_or_else(PoisonError::into_inner).settled(&ended);
        if let Err(problem) = forgotten {
            warn!(%problem, "the launch journal cannot be shortened");
        }
        self.settled.notify_one();
    }
}

fn tell(report: &Report, name: &str, end: &Settled) {
    let run = report.run;
    let Some(settlement) = end.settlement.as_ref().filter(|_| end.commit == Commit::Done) else {
        warn!(%run, schedule = name, "refused: the run is not this node's any more, or has ended");
        return;
    };
    match &settlement.next {
        Next::End { status, reason: None, .. } => info!(%run, schedule = name, %status, "ended"),
        Next::End { status, reason: Some(reason), .. } => {
            info!(%run, schedule = name, %status, %reason, "ended");
        }
        Next::Retry { attempt, at, reason } => {
            info!(%run, schedule = name, attempt, %at, %reason, "is repeated");
        }
    }
    if let Some(status) = &settlement.disabled {
        warn!(schedule = name, status = status.name(), "left active");
    }
}
