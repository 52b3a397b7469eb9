//! Membership: the node's lease, its shards, and what it takes up from nodes that are gone.

use jiff::{SignedDuration, Timestamp};
use punctual_plan::{Fence, Outcome};
use punctual_store::{AttemptToken, BATCH_MAX, Error, Joined, Report, Shards, Store, Whose};
use tracing::{error, info, warn};

use crate::batch::Sender;

/// How often the lease is renewed: three times before it would end.
const HEARTBEAT: SignedDuration = SignedDuration::from_secs(1);

/// How often rows of any shard are looked for that are late.
const SWEEP: SignedDuration = SignedDuration::from_millis(250);

/// A row this late is anybody's.
const LATE: SignedDuration = SignedDuration::from_secs(1);

/// A node among others.
pub(crate) struct Membership {
    fence: Fence,
    shards: Shards,
    may_plan: bool,
    beat_at: Timestamp,
    sweep_at: Timestamp,
}

impl Membership {
    pub(crate) fn new(joined: &Joined) -> Self {
        let Joined { fence, may_plan } = *joined;
        Self { fence, shards: Shards::All, may_plan, beat_at: Timestamp::MIN, sweep_at: Timestamp::MIN }
    }

    /// The work that is this node's own.
    pub(crate) fn own(&self) -> Whose {
        Whose::Own(self.shards.clone())
    }

    /// Whether the node's tz database lets it plan.
    pub(crate) fn may_plan(&self) -> bool {
        self.may_plan
    }

    /// When it next wants to be asked.
    pub(crate) fn next(&self) -> Timestamp {
        if self.shards == Shards::All { self.beat_at } else { self.beat_at.min(self.sweep_at) }
    }

    /// The work of others that is late, when it is time to look for it.
    pub(crate) fn sweep(&mut self, now: Timestamp) -> Option<Whose> {
        if self.shards == Shards::All || now < self.sweep_at {
            return None;
        }
        self.sweep_at = now.saturating_add(SWEEP).unwrap_or(Timestamp::MAX);
        Some(Whose::Late(LATE))
    }

    /// Renews the lease and takes up what dead nodes left in flight.
    pub(crate) async fn tend<S: Store>(&mut self, store: &S, now: Timestamp) {
        if now < self.beat_at {
            return;
        }
        self.beat_at = now.saturating_add(HEARTBEAT).unwrap_or(Timestamp::MAX);
        match store.heartbeat(self.fence).await {
            Ok(heartbeat) => {
                if heartbeat.shards != self.shards {
                    info!(shards = count(&heartbeat.shards), "the share of this node has changed");
                }
                self.shards = heartbeat.shards;
                self.may_plan = heartbeat.may_plan;
            }
            Err(problem) => {
                error!(%problem, "the lease cannot be renewed");
                return;
            }
        }
        if let Err(problem) = self.take_up(store, now).await {
            error!(%problem, "cannot take up what other nodes left");
        }
    }

    /// Runs of a dead node are in doubt: its journal is not here.
    async fn take_up<S: Store>(&self, store: &S, now: Timestamp) -> Result<(), Error> {
        let left = store.take_over(self.fence, BATCH_MAX).await?;
        if left.is_empty() {
            return Ok(());
        }
        warn!(runs = left.len(), "took up what a node left in flight");
        let in_doubt = |run: &punctual_store::Launchable| Report {
            run: run.run,
            attempt: run.attempt,
            token: AttemptToken::Node(self.fence),
            outcome: Outcome::InDoubt,
            started_at: None,
            at: now,
            output: None,
        };
        let reports: Vec<Report> = left.iter().map(in_doubt).collect();
        Sender::new(self.fence).send(now, |batch| store.settle(batch, reports.clone())).await.map(drop)
    }
}

fn count(shards: &Shards) -> usize {
    match shards {
        Shards::All => usize::from(punctual_store::SHARDS),
        Shards::Some(some) => some.len(),
    }
}
