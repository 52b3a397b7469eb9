//! Who asks: nodes, batches and scopes.

use std::ops::RangeInclusive;

use jiff::{SignedDuration, Timestamp};
use punctual_plan::{Fence, OrgKey};
use uuid::Uuid;

use super::Launchable;

/// On whose behalf something is read or written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The engine itself: every org.
    Engine,
    /// One org, for a person or an agent in it.
    Org {
        /// The tenant.
        org: OrgKey,
        /// Who; written into the audit log.
        user: Option<String>,
    },
}

impl Scope {
    /// An org as a whole.
    pub fn org(org: OrgKey) -> Self {
        Self::Org { org, user: None }
    }
}

/// The id of a batch, chosen by the caller: an unanswered commit is repeated with the same one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BatchId(pub Uuid);

/// A write of a node: which, when, and under which fence.
#[derive(Clone, Copy, Debug)]
pub struct Batch {
    /// Its id; a second commit of the same batch changes nothing and gives the first one's answer.
    pub id: BatchId,
    /// The fence of the node that writes.
    pub fence: Fence,
    /// The present.
    pub now: Timestamp,
}

/// Which part of the work a node looks at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Whose {
    /// That of its shards.
    Own(Shards),
    /// Whatever is later than this, of any shard: the repair sweep.
    Late(SignedDuration),
}

impl Whose {
    /// The first and the last of the shards.
    pub(crate) fn shard_bounds(&self) -> RangeInclusive<u16> {
        match self {
            Self::Own(Shards::Some(shards)) => {
                let (first, last) = (shards.iter().min(), shards.iter().max());
                // Of no shard at all there is nothing.
                first.copied().unwrap_or(1)..=last.copied().unwrap_or(0)
            }
            Self::Own(Shards::All) | Self::Late(_) => 0..=crate::SHARDS - 1,
        }
    }
}

/// A question of a node: what is there to do?
#[derive(Clone, Debug)]
pub struct Ask {
    /// The present.
    pub now: Timestamp,
    /// Whose work.
    pub whose: Whose,
    /// At most this many rows.
    pub limit: usize,
}

impl Ask {
    /// Everything, up to a full batch.
    pub fn all(now: Timestamp) -> Self {
        Self { now, whose: Whose::Own(Shards::All), limit: crate::BATCH_MAX }
    }
}

/// Virtual shards: a schedule belongs to one of [`crate::SHARDS`] by the hash of its id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shards {
    /// Every one: a single node.
    All,
    /// These, in order.
    Some(Vec<u16>),
}

/// A process that serves.
#[derive(Clone, Debug)]
pub struct Node {
    /// A random id per process start; never the host's name.
    pub id: String,
    /// Its process id.
    pub pid: u32,
    /// When it started.
    pub started_at: Timestamp,
    /// How long its lease lasts without a heartbeat.
    pub lease: SignedDuration,
    /// The version of its tz database.
    pub tz_version: String,
    /// The version of the program.
    pub version: String,
}

/// A node that was let in.
#[derive(Clone, Debug)]
pub struct Joined {
    /// Its fence.
    pub fence: Fence,
    /// Whether it may plan: its tz database is not older than the one that the database has seen.
    pub may_plan: bool,
}

/// A run in flight that was taken over.
#[derive(Clone, Debug)]
pub struct Orphan {
    /// What to do.
    pub launch: Launchable,
    /// The fence under which it was in flight before.
    pub held_by: Fence,
    /// Whether a worker or an executor has taken it: it answers by its token, whatever became of the node.
    pub is_taken: bool,
}

/// A sign of life of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alive {
    /// The fence under which it acts.
    pub fence: Fence,
    /// What the database's clock is ahead of its own, as it reckons.
    pub ahead: SignedDuration,
}

/// What a heartbeat tells a node.
#[derive(Clone, Debug)]
pub struct Heartbeat {
    /// The shards that are its own until the lease ends.
    pub shards: Shards,
    /// When its lease ends without another heartbeat, by the database's clock.
    pub lease_until: Timestamp,
    /// The database's clock.
    pub now: Timestamp,
    /// Whether it may plan.
    pub may_plan: bool,
}

/// A node as it is shown.
#[derive(Clone, Debug)]
pub struct NodeRow {
    /// Its fence.
    pub fence: Fence,
    /// Its id.
    pub id: String,
    /// Its process id.
    pub pid: u32,
    /// When it started.
    pub started_at: Timestamp,
    /// When it was heard of last.
    pub seen_at: Timestamp,
    /// When its lease ends.
    pub lease_until: Timestamp,
    /// How many shards it holds.
    pub shards: u32,
    /// The version of its tz database.
    pub tz_version: String,
    /// The version of the program.
    pub version: String,
    /// When it left, if it did.
    pub left_at: Option<Timestamp>,
    /// What the database's clock was ahead of its own at its last heartbeat.
    pub ahead: Option<SignedDuration>,
}
