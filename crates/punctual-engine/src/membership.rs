//! Membership: the node's lease, its shards, and what it takes up from nodes that are gone.

use std::collections::HashSet;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use punctual_plan::{Action, Fence, Outcome};
use punctual_store::fail_point::{FailPoint, pass};
use punctual_store::{
    Alive, AttemptToken, BATCH_MAX, Error, Joined, Launchable, Node, Orphan, Report, Shards, Store, Whose,
};
use tracing::{error, info, warn};

use crate::batch::Sender;
use crate::brief::Brief;
use crate::journal::Journal;
use crate::lease::{Lease, Moment};
use crate::recover::{Recovery, is_open, keep_own};
use crate::time::Time;
use crate::{Clock, Metrics};

/// How long a node's lease lasts without a heartbeat: admitted runs of a dead node are taken up within five seconds.
pub(crate) const LEASE: SignedDuration = SignedDuration::from_secs(3);

/// How often the lease is renewed, or that is tried, before it would end.
const BEATS: i32 = 3;

/// How often rows of any shard are looked for that are late, within the length of a lease: every 250 ms.
const SWEEPS: i32 = 12;

/// A row is anybody's when it is late by this part of a lease: by a second.
const LATES: i32 = 3;

/// A schedule that has wanted to be planned for this long is anybody's: its node is gone, or may not plan. That is long
/// before the first tick which is not planned, for a schedule wants that half a window ahead.
const PLAN_LATE: SignedDuration = SignedDuration::from_secs(5);

/// A node among others.
pub(crate) struct Membership {
    pub(crate) lease: Arc<Lease>,
    pub(crate) sender: Sender,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) journal: Arc<Brief<Journal>>,
    shards: Shards,
    may_plan: bool,
    /// How long the lease lasts, from which the pace of all the rest follows.
    lasts: SignedDuration,
    beat_at: Timestamp,
    sweep_at: Timestamp,
    /// What was taken up under the present lease and is not seen to yet.
    left: Left,
    /// Whether it may hold runs of others under the present lease of which it was not told.
    is_blind: bool,
}

/// Runs that were taken up.
#[derive(Clone, Default)]
struct Left {
    /// Those that were never launched.
    launches: Vec<Launchable>,
    /// What is to be said of the others.
    reports: Vec<Report>,
}

/// What a membership shares with the other steps.
pub(crate) struct Shared {
    pub(crate) lease: Arc<Lease>,
    pub(crate) sender: Sender,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) journal: Arc<Brief<Journal>>,
    /// How long the lease lasts.
    pub(crate) lasts: SignedDuration,
}

/// The work of others that is late.
pub(crate) struct Sweep {
    /// Rows.
    pub(crate) due: Whose,
    /// Schedules.
    pub(crate) plannable: Whose,
}

/// What a heartbeat came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Beat {
    /// It was not time for one, or the database did not answer.
    None,
    /// The lease is renewed.
    Renewed,
    /// The lease is renewed, and the node's share is another one: what it knows of its work is not enough.
    Moved,
    /// The lease is renewed, and the database's clock was set back: what was computed by it is computed anew.
    SetBack,
    /// The lease is lost: nothing that this node has in hand counts any more.
    Lost,
}

impl Membership {
    pub(crate) fn new(joined: &Joined, shared: Shared) -> Self {
        let Shared { lease, sender, metrics, journal, lasts } = shared;
        Self {
            lease,
            sender,
            metrics,
            journal,
            shards: Shards::All,
            may_plan: joined.may_plan,
            lasts,
            beat_at: Timestamp::MIN,
            sweep_at: Timestamp::MIN,
            left: Left::default(),
            is_blind: false,
        }
    }

    /// The work that is this node's own.
    pub(crate) fn own(&self) -> Whose {
        Whose::Own(self.shards.clone())
    }

    /// Whether attempts have ended whose end is not in the ledger yet.
    pub(crate) fn has_unsettled(&self) -> bool {
        self.journal.lock().has_unsettled()
    }

    /// Whether the node's tz database lets it plan.
    pub(crate) fn may_plan(&self) -> bool {
        self.may_plan
    }

    /// When it next wants to be asked.
    pub(crate) fn next(&self) -> Timestamp {
        if self.shards == Shards::All { self.beat_at } else { self.beat_at.min(self.sweep_at) }
    }

    /// When it next wants to renew the lease: without a certain one there is nothing else to do.
    pub(crate) fn next_beat(&self) -> Timestamp {
        self.beat_at
    }

    /// The clock was set, or the lease is in doubt: the times at which it wants to be asked mean nothing any more.
    pub(crate) fn upset(&mut self) {
        (self.beat_at, self.sweep_at) = (Timestamp::MIN, Timestamp::MIN);
    }

    /// The work of others that is late, when it is time to look for it.
    pub(crate) fn sweep(&mut self, now: Timestamp) -> Option<Sweep> {
        if self.shards == Shards::All || now < self.sweep_at {
            return None;
        }
        self.sweep_at = now.saturating_add(self.lasts / SWEEPS).unwrap_or(Timestamp::MAX);
        Some(Sweep { due: Whose::Late(self.lasts / LATES), plannable: Whose::Late(PLAN_LATE) })
    }

    /// Renews the lease when it is time to.
    pub(crate) async fn beat<S: Store, C: Clock>(&mut self, store: &S, time: &Time<C>) -> Beat {
        let now = time.now();
        if now < self.beat_at {
            return Beat::None;
        }
        self.beat_at = now.saturating_add(self.lasts / BEATS).unwrap_or(Timestamp::MAX);
        let asked = Moment::of(time.clock());
        let fence = self.lease.fence();
        pass(FailPoint::BeatBefore);
        match store.heartbeat(Alive { fence, ahead: time.ahead() }).await {
            Ok(heartbeat) => {
                pass(FailPoint::BeatAfter);
                let lasts = heartbeat.lease_until.duration_since(heartbeat.now);
                self.lease.renew(fence, asked, lasts);
                self.beat_at = now.saturating_add(lasts / BEATS).unwrap_or(Timestamp::MAX);
                let moved = time.ask(store).await.unwrap_or_else(|problem| {
                    error!(%problem, "the database does not tell its time");
                    SignedDuration::ZERO
                });
                self.metrics.clock_offset.set(time.ahead());
                self.metrics.shards_held.set(count(&heartbeat.shards));
                let is_moved = heartbeat.shards != self.shards;
                if is_moved {
                    info!(shards = count(&heartbeat.shards), "the share of this node has changed");
                }
                self.shards = heartbeat.shards;
                self.may_plan = heartbeat.may_plan;
                // Less than a beat only puts the next one off, and the lease lasts until then.
                if moved < -(lasts / BEATS) {
                    self.upset();
                    return Beat::SetBack;
                }
                if is_moved { Beat::Moved } else { Beat::Renewed }
            }
            Err(Error::LeaseLost) => Beat::Lost,
            Err(problem) => {
                error!(%problem, "the lease cannot be renewed");
                self.metrics.store_errors.add(&["heartbeat"]);
                Beat::None
            }
        }
    }

    /// Takes a new lease after one was lost.
    pub(crate) async fn join_again<S: Store, C: Clock>(
        &mut self,
        store: &S,
        time: &Time<C>,
        node: Node,
    ) -> Result<Fence, Error> {
        let asked = Moment::of(time.clock());
        let lasts = node.lease;
        let joined = store.join(node).await?;
        // Whoever finds them under the lease that was lost begins anew, this node among them.
        (self.left, self.is_blind) = (Left::default(), false);
        self.lease.renew(joined.fence, asked, lasts);
        self.may_plan = joined.may_plan;
        self.upset();
        Ok(joined.fence)
    }

    /// Takes up the runs of nodes that are gone. They are in doubt, for the journal of their node is not here; of those
    /// that this process itself had admitted before it lost its lease, the journal knows what was not launched. What
    /// was not launched and is not `taken` here is handed back.
    pub(crate) async fn take_up<S: Store>(
        &mut self,
        store: &S,
        now: Timestamp,
        taken: impl Fn(&Action) -> bool,
    ) -> Result<Vec<Launchable>, Error> {
        let fence = self.lease.fence();
        // From here on the ledger may hold this node for whoever launched a run: if it dies now, its journal does not know.
        if let Err(problem) = self.note(Journal::taking) {
            warn!(%problem, "the launch journal cannot be written");
            return Ok(Vec::new());
        }
        loop {
            let more = store.take_over(fence, BATCH_MAX).await;
            // What an answer that was lost has told of stays unknown, as long as the lease lasts.
            self.is_blind |= matches!(more, Err(Error::Unanswered { .. }));
            let more = more?;
            let is_last = more.len() < BATCH_MAX;
            pass(FailPoint::TakeUpTaken);
            // Judged once and at once: the journal forgets what the settler is told of. What cannot be settled now is
            // settled the next time.
            self.judge(more, fence, now);
            // All of them, before any is handed back: else those would be found again and again.
            if is_last {
                break;
            }
        }
        let Left { launches, reports } = self.left.clone();
        if launches.is_empty() && reports.is_empty() {
            self.done_taking();
            return Ok(launches);
        }
        let launches = keep_own(store, fence, launches, taken).await?;
        self.metrics.runs_taken_over.add((launches.len() + reports.len()) as u64);
        warn!(settled = reports.len(), launched_now = launches.len(), "took up what was left in flight");
        if !reports.is_empty() {
            self.sender.send(fence, now, |batch| store.settle(batch, reports.clone())).await?;
            let settled: Vec<_> = reports.iter().map(|report| (report.run, report.attempt)).collect();
            let forgotten = self.journal.lock().settled(&settled);
            if let Err(problem) = forgotten {
                warn!(%problem, "the launch journal cannot be shortened");
            }
        }
        self.done_taking();
        Ok(launches)
    }

    /// Everything that was taken up is seen to.
    fn done_taking(&mut self) {
        self.left = Left::default();
        if self.is_blind {
            return;
        }
        if let Err(problem) = self.note(Journal::took) {
            // A crash before the next word makes more runs doubtful than are; none is launched twice.
            warn!(%problem, "the launch journal cannot be written");
        }
    }

    fn note(&self, what: impl FnOnce(&mut Journal) -> std::io::Result<()>) -> std::io::Result<()> {
        what(&mut self.journal.lock())
    }

    /// Tells what was never launched from what is in doubt or has ended.
    fn judge(&mut self, orphans: Vec<Orphan>, fence: Fence, now: Timestamp) {
        let journal = self.journal.lock();
        let none = HashSet::new();
        let recovery = Recovery { journal: &journal, fence, now, unlaunched: &none };
        for orphan in orphans.into_iter().filter(is_open) {
            match recovery.judge(&orphan) {
                Some(report) => self.left.reports.push(report),
                None => self.left.launches.push(orphan.launch),
            }
        }
    }
}

/// Nobody knows how an attempt ended.
pub(crate) fn in_doubt(run: &Launchable, fence: Fence, at: Timestamp) -> Report {
    Report {
        run: run.run,
        attempt: run.attempt,
        token: AttemptToken::Node(fence),
        outcome: Outcome::InDoubt,
        started_at: None,
        at,
        output: None,
    }
}

fn count(shards: &Shards) -> usize {
    match shards {
        Shards::All => usize::from(punctual_store::SHARDS),
        Shards::Some(some) => some.len(),
    }
}
