//! Settler: gathers what the launcher reports and writes it in batches.
//!
//! A run is marked `running` only if it is still going a moment after its start: most programs end
//! before that, and their two writes become one.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use punctual_plan::{Fence, Next, Outcome, RunKey, Schedule, Trace};
use punctual_store::fail_point::{FailPoint, pass};
use punctual_store::{BATCH_MAX, Commit, Error, Report, Settled, Shown, Started, Store};
use tokio::sync::{Notify, mpsc};
use tokio::time::{Instant, MissedTickBehavior};
use tracing::{error, info, warn};

use crate::batch::Sender;
use crate::brief::Brief;
use crate::flights::Flights;
use crate::journal::Journal;
use crate::keyed::ByKey;
use crate::lease::Lease;
use crate::spans::{Spans, Stretch, Subject};
use crate::time::Time;
use crate::{Clock, Metrics};

/// Runs that are still going so long after the first of them was started are marked.
const MARK_AFTER: Duration = Duration::from_millis(100);

/// From so many ends on they are written in the order of their rows.
const ORDERED_MIN: usize = 1_000;

/// Ends that are gathered before they are written, at most.
const GATHERED_MAX: usize = 20 * BATCH_MAX;

/// How often what running attempts have printed is written.
const SHOW_EVERY: Duration = Duration::from_secs(1);

/// How long to wait before a write that failed is repeated.
const RETRY_AFTER: Duration = Duration::from_millis(500);

/// What happened to a run.
#[derive(Debug)]
pub(crate) enum News {
    /// It was launched.
    Started { started: Started, fence: Fence },
    /// It ended.
    Ended(Box<Ended>),
    /// It ended, and the ledger knew that before.
    Gone { run: RunKey, attempt: u32 },
    /// Nothing that comes after this is waited for.
    Close,
}

impl News {
    /// The end that it tells of.
    pub(crate) fn end(&self) -> Option<&Report> {
        match self {
            Self::Ended(ended) => Some(&ended.report),
            _ => None,
        }
    }
}

/// An end, with what the log says of it.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) report: Report,
    pub(crate) definition: Arc<Schedule>,
    pub(crate) scheduled_for: Timestamp,
    pub(crate) trace: Option<Trace>,
}

impl Ended {
    fn subject(&self) -> Subject<'_> {
        Subject {
            run: self.report.run,
            attempt: self.report.attempt,
            scheduled_for: self.scheduled_for,
            schedule: &self.definition,
            trace: self.trace,
        }
    }
}

/// Writes reports until everything that the launcher said before it closed is on disk.
pub(crate) struct Settler<S, C> {
    pub(crate) store: Arc<S>,
    pub(crate) time: Arc<Time<C>>,
    pub(crate) lease: Arc<Lease>,
    pub(crate) sender: Sender,
    pub(crate) journal: Arc<Brief<Journal>>,
    pub(crate) flights: Arc<Flights>,
    pub(crate) metrics: Arc<Metrics>,
    /// Told after each settlement: it may have woken rows, planned retries or freed a schedule to be planned.
    pub(crate) settled: Arc<Notify>,
    /// Who follows traces.
    pub(crate) spans: Spans,
    /// How long nothing is looked at, or tried again, at least.
    pub(crate) idle: Duration,
}

struct Gathered {
    started: ByKey<RunKey, (Started, Fence)>,
    /// When those that are still going are marked.
    mark_at: Instant,
    ended: Vec<Ended>,
    gone: Vec<(RunKey, u32)>,
    is_closed: bool,
}

impl Gathered {
    fn new() -> Self {
        let (started, ended, gone) = (ByKey::default(), Vec::new(), Vec::new());
        Self { started, mark_at: Instant::now(), ended, gone, is_closed: false }
    }

    /// Takes what there is by now.
    fn take_all(&mut self, news: &mut mpsc::UnboundedReceiver<News>) {
        while self.ended.len() < GATHERED_MAX
            && let Ok(news) = news.try_recv()
        {
            self.take(news);
        }
    }

    fn take(&mut self, news: News) {
        match news {
            News::Started { started, fence } => {
                if self.started.is_empty() {
                    self.mark_at = Instant::now() + MARK_AFTER;
                }
                self.started.insert(started.run, (started, fence));
            }
            News::Ended(ended) => {
                self.started.remove(&ended.report.run);
                self.ended.push(*ended);
            }
            News::Gone { run, attempt } => {
                self.started.remove(&run);
                self.gone.push((run, attempt));
            }
            News::Close => self.is_closed = true,
        }
    }
}

impl<S: Store, C: Clock> Settler<S, C> {
    /// Runs until it is told to close, or the last sender of reports is gone.
    pub(crate) async fn run(self, mut news: mpsc::UnboundedReceiver<News>) {
        let mut gathered = Gathered::new();
        let mut show = tokio::time::interval(SHOW_EVERY.max(self.idle));
        show.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                biased;
                news = news.recv() => match news {
                    Some(news) => gathered.take(news),
                    None => return,
                },
                () = tokio::time::sleep_until(gathered.mark_at), if !gathered.started.is_empty() => {
                    self.mark(&mut gathered).await;
                }
                // Whatever begins to run says so here, so this is looked at again then.
                _ = show.tick(), if self.flights.is_any() => self.show().await,
            }
            // Starts come first, and their ends are gathered and written together.
            self.flights.rush().await;
            gathered.take_all(&mut news);
            self.forget(&std::mem::take(&mut gathered.gone));
            self.settle(&mut gathered).await;
            if gathered.is_closed {
                return;
            }
        }
    }

    async fn mark(&self, gathered: &mut Gathered) {
        let fence = self.lease.fence();
        // What was launched under an older fence is not this node's to mark.
        let own = gathered.started.values().filter(|(_, held)| *held == fence);
        let mut started: Vec<Started> = own.map(|(started, _)| *started).collect();
        if started.is_empty() {
            return gathered.started.clear();
        }
        started.sort_unstable_by_key(|started| started.run);
        let now = self.time.now();
        match self.sender.send(fence, now, |batch| self.store.mark_running(batch, started.clone())).await {
            Ok(_) => {
                pass(FailPoint::MarkAfterCommit);
                gathered.started.clear();
            }
            // Without its lease the node has nothing to say of them.
            Err(Error::LeaseLost) => {
                self.metrics.writes_refused.add(&["mark"]);
                gathered.started.clear();
            }
            Err(problem) => {
                warn!(%problem, "cannot mark runs as running, trying again");
                gathered.mark_at = Instant::now() + MARK_AFTER.max(self.idle);
            }
        }
    }

    /// Writes what running attempts have printed; the next time has what this one could not.
    async fn show(&self) {
        let fence = self.lease.fence();
        let shown = self.flights.new_output(fence);
        let shown: Vec<Shown> =
            shown.into_iter().map(|(run, attempt, text)| Shown { run, attempt, text }).collect();
        if shown.is_empty() {
            return;
        }
        if let Err(problem) = self.store.note_output(fence, shown).await {
            warn!(%problem, "cannot write what running programs print");
        }
    }

    /// Repeats until the ends are on disk: the runs hold their schedules until then.
    async fn settle(&self, gathered: &mut Gathered) {
        if gathered.ended.is_empty() {
            return;
        }
        let mut ended = std::mem::take(&mut gathered.ended);
        put_in_order(&mut ended);
        if let Err(error) = self.journal.lock().flush() {
            // Only a crash before the settlement makes this matter: the runs would then be in doubt.
            warn!(%error, runs = ended.len(), "the launch journal cannot be written");
        }
        // As many at once as after them: the last would be written alone.
        let count = ended.len().div_ceil(BATCH_MAX);
        let count = if count > 1 { count.next_multiple_of(2) } else { 1 };
        let mut parts = ended.chunks(ended.len().div_ceil(count));
        while let Some(one) = parts.next() {
            // A server has a core for each of the two; where one writes they follow upon each other anyway.
            let other = async {
                if let Some(other) = parts.next() {
                    self.settle_some(other).await;
                }
            };
            tokio::join!(self.settle_some(one), other);
        }
    }

    async fn settle_some(&self, ended: &[Ended]) {
        let reports: Vec<Report> = ended.iter().map(|ended| ended.report.clone()).collect();
        loop {
            let (fence, now) = (self.lease.fence(), self.time.now());
            pass(FailPoint::SettleBeforeCommit);
            match self.sender.send(fence, now, |batch| self.store.settle(batch, reports.clone())).await {
                Ok(settled) => {
                    pass(FailPoint::SettleAfterCommit);
                    return self.settled(ended, &settled);
                }
                Err(Error::Closed) => return,
                Err(problem) => {
                    error!(%problem, runs = reports.len(), "cannot settle, trying again");
                    tokio::time::sleep(RETRY_AFTER.max(self.idle)).await;
                }
            }
        }
    }

    fn settled(&self, ended: &[Ended], settled: &[Settled]) {
        let to = self.time.now();
        for (ended, end) in ended.iter().zip(settled) {
            let stretch = Stretch { from: ended.report.at.min(to), to };
            self.spans.settled(ended.subject(), stretch, status_of(end));
            self.metrics.settled(&ended.definition, end);
            tell(ended, end);
        }
        // What was refused is in the hands of another lease, which may be this node's next one: it must know of the launch.
        let written = ended.iter().zip(settled).filter(|(_, end)| end.commit == Commit::Done);
        let keys: Vec<(RunKey, u32)> = written.map(|(one, _)| (one.report.run, one.report.attempt)).collect();
        self.forget(&keys);
        self.settled.notify_one();
    }

    fn forget(&self, attempts: &[(RunKey, u32)]) {
        if attempts.is_empty() {
            return;
        }
        let forgotten = self.journal.lock().settled(attempts);
        if let Err(problem) = forgotten {
            warn!(%problem, "the launch journal cannot be shortened");
        }
    }
}

/// What a run is after its end was settled, in a word.
fn status_of(end: &Settled) -> &'static str {
    match end.settlement.as_ref().map(|settlement| &settlement.next) {
        Some(Next::End { status, .. }) => status.name(),
        Some(Next::Retry { .. }) => "retrying",
        None => "stale",
    }
}

/// Puts the ends of a herd into the order of their rows, so that those which lie together are written together. Where one end
/// could count before or after another, they stay as they came.
fn put_in_order(ended: &mut [Ended]) {
    let is_good = |one: &Ended| one.report.outcome == Outcome::Succeeded;
    if ended.len() < ORDERED_MIN || !ended.iter().all(is_good) {
        return;
    }
    let mut schedules = HashSet::with_capacity(ended.len());
    if ended.iter().all(|one| schedules.insert(one.definition.id)) {
        ended.sort_unstable_by_key(|one| one.report.run);
    }
}

/// One line of the log per decision over an end.
fn tell(ended: &Ended, end: &Settled) {
    let (run, schedule, tick) = (ended.report.run, &*ended.definition.name, ended.scheduled_for);
    let Some(settlement) = end.settlement.as_ref().filter(|_| end.commit == Commit::Done) else {
        warn!(%run, schedule, %tick, "refused: the run is not this node's any more, or has ended");
        return;
    };
    match &settlement.next {
        Next::End { status, reason: None, .. } => info!(%run, schedule, %tick, %status, "ended"),
        Next::End { status, reason: Some(reason), .. } => {
            info!(%run, schedule, %tick, %status, %reason, "ended");
        }
        Next::Retry { attempt, at, reason } => {
            info!(%run, schedule, %tick, status = "retrying", attempt, %at, %reason, "is repeated");
        }
    }
    if let Some(status) = &settlement.disabled {
        warn!(schedule, status = status.name(), "left active");
    }
}
