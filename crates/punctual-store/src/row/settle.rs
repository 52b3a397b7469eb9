//! Settling: what became of attempts, and the queue from which workers take them.

use jiff::Timestamp;
use punctual_plan::{Fence, Outcome, RunKey, Settlement};

use super::{Commit, Launchable};

/// A run that was launched.
#[derive(Clone, Copy, Debug)]
pub struct Started {
    /// The run.
    pub run: RunKey,
    /// Which attempt.
    pub attempt: u32,
    /// When.
    pub at: Timestamp,
}

/// An attempt that a node has in hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// The run.
    pub run: RunKey,
    /// Which attempt.
    pub attempt: u32,
    /// The fence under which it was admitted.
    pub fence: Fence,
}

/// What a running attempt has printed so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// The run.
    pub run: RunKey,
    /// Which attempt.
    pub attempt: u32,
    /// All of it, within bounds.
    pub text: String,
}

/// Runs that a person cancels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cancellation {
    /// Which.
    pub runs: Vec<RunKey>,
    /// Who or what for, as the reason shows it.
    pub by: String,
    /// The present.
    pub now: Timestamp,
}

/// Who may say how an attempt ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AttemptToken {
    /// The node whose fence the run carries.
    Node(Fence),
    /// The worker or executor that holds the attempt's own token.
    Holder(String),
}

/// How an attempt ended.
#[derive(Clone, Debug)]
pub struct Report {
    /// The run.
    pub run: RunKey,
    /// Which attempt; a success of an older one still closes an open run, anything else of it changes nothing.
    pub attempt: u32,
    /// Who says so.
    pub token: AttemptToken,
    /// How.
    pub outcome: Outcome,
    /// When it was launched, if it was.
    pub started_at: Option<Timestamp>,
    /// When it ended.
    pub at: Timestamp,
    /// What it printed, within bounds.
    pub output: Option<String>,
}

/// What a report came to.
#[derive(Clone, Debug)]
pub struct Settled {
    /// Whether it counted.
    pub commit: Commit,
    /// What was decided, if it did.
    pub settlement: Option<Settlement>,
}

/// A worker that takes runs from a queue.
#[derive(Clone, Debug)]
pub struct Worker {
    /// The queue.
    pub queue: String,
    /// Its own name, for people.
    pub name: String,
    /// At most this many runs.
    pub limit: usize,
    /// How long it holds them without a heartbeat.
    pub until: Timestamp,
    /// The present.
    pub now: Timestamp,
}

/// A run that a worker holds.
#[derive(Clone, Debug)]
pub struct Leased {
    /// What to do.
    pub launch: Launchable,
    /// The attempt's own token, without which nothing can be said about it.
    pub token: String,
    /// Until when it is held.
    pub until: Timestamp,
}

/// An attempt that is about to be launched, and the token with which its executor may speak for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entrusted {
    /// The run.
    pub run: RunKey,
    /// Which attempt.
    pub attempt: u32,
    /// The attempt's own token.
    pub token: String,
}

/// What an executor says when it has taken a run: from then on the run is its own to answer for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Begun {
    /// The run.
    pub run: RunKey,
    /// The attempt's own token.
    pub token: String,
    /// What the executor calls it; its own name if it does not say.
    pub executor_run_id: String,
    /// The present.
    pub at: Timestamp,
}

/// A leased run that its worker wants to keep.
#[derive(Clone, Debug)]
pub struct Held {
    /// The run.
    pub run: RunKey,
    /// The attempt's own token.
    pub token: String,
    /// Until when.
    pub until: Timestamp,
}
