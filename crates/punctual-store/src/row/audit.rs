//! The audit log with its seals, the outbox, and what retention leaves.

use jiff::{SignedDuration, Timestamp};
use punctual_plan::{OrgKey, RunKey, ScheduleId};

/// Who did something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Actor {
    /// The engine.
    Engine,
    /// A person or an agent.
    User(String),
}

/// An event as it is shown.
#[derive(Clone, Debug)]
pub struct AuditRow {
    /// Its number.
    pub seq: i64,
    /// When.
    pub at: Timestamp,
    /// Who.
    pub actor: Actor,
    /// What kind, such as `schedule.missed`.
    pub kind: String,
    /// Which schedule.
    pub schedule: Option<ScheduleId>,
    /// Which run.
    pub run: Option<RunKey>,
    /// In words.
    pub detail: String,
    /// Its place in the sealed chain and its hash, once it is sealed.
    pub sealed: Option<(i64, String)>,
}

/// How far an org's chain is sealed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SealedThrough {
    /// Whose.
    pub org: OrgKey,
    /// How many events are sealed.
    pub position: i64,
    /// How many are not yet; beyond some thousands they need not be counted.
    pub unsealed: u64,
}

/// What a check of an org's chain found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chain {
    /// How many events were checked.
    pub checked: u64,
    /// How many are not sealed yet.
    pub unsealed: u64,
    /// The first event that does not fit its seal: its number, and what is wrong.
    pub broken: Option<(i64, String)>,
}

/// A message that waits for its reader.
#[derive(Clone, Debug)]
pub struct OutboxRow {
    /// Its place in the stream, given after its commit.
    pub position: i64,
    /// Whose.
    pub org: OrgKey,
    /// The run it belongs to.
    pub run: RunKey,
    /// Its id for brokers that deduplicate.
    pub message_id: String,
    /// The message, as JSON.
    pub body: String,
    /// When it was written.
    pub at: Timestamp,
}

/// How long rows are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    /// Runs that did not fail.
    pub runs: SignedDuration,
    /// Rows per schedule beyond which older ones go, failures excepted.
    pub runs_per_schedule: u32,
    /// Runs that failed.
    pub failures: SignedDuration,
    /// Events of the audit log.
    pub audit: SignedDuration,
    /// At most this many rows in one transaction.
    pub limit: usize,
}

impl Default for Retention {
    fn default() -> Self {
        Self {
            runs: SignedDuration::from_hours(30 * 24),
            runs_per_schedule: 1_000,
            failures: SignedDuration::from_hours(90 * 24),
            audit: SignedDuration::from_hours(365 * 24),
            limit: crate::BATCH_MAX,
        }
    }
}

/// What one step of retention did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Retained {
    /// Rows that went into digests.
    pub runs: u64,
    /// Events that went.
    pub events: u64,
    /// Whether another step has more to do.
    pub is_more: bool,
}
