//! What a plan says: rows to write, stretches to write, armed rows to end or to let fire.

use std::borrow::Cow;

use jiff::Timestamp;

use super::Cursor;
use crate::{Reason, RunKey, RunStatus};

/// Everything that shall be written, in one transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// New ledger rows, in the order of their ticks.
    pub entries: Vec<Entry>,
    /// Non-fires that are too many for rows of their own, in the order of their ticks.
    pub ranges: Vec<Range>,
    /// Armed rows that end without running.
    pub closed: Vec<Closed>,
    /// Armed rows that fire late, and when.
    pub refired: Vec<Refired>,
    /// Where the cursor stands afterwards.
    pub cursor: Cursor,
    /// The first planned tick after the cursor; `None` when the spec never ticks again, or not before a run ends.
    pub next_tick: Option<Timestamp>,
    /// When the next window wants planning: half a window before that tick may fire.
    pub plan_at: Option<Timestamp>,
    /// Whether the next tick is not known because it hangs on one that has yet to start, or to end. Whoever writes the
    /// plan looks whether it still has.
    pub is_hanging: bool,
}

impl Plan {
    /// A plan in which nothing happens yet.
    pub fn starting(cursor: Cursor) -> Self {
        Self {
            entries: Vec::new(),
            ranges: Vec::new(),
            closed: Vec::new(),
            refired: Vec::new(),
            cursor,
            next_tick: None,
            plan_at: None,
            is_hanging: false,
        }
    }

    /// The plan as far as it took effect: without the rows that had been started before they could be closed.
    pub fn without(&self, started: &[RunKey]) -> Cow<'_, Self> {
        if started.is_empty() {
            return Cow::Borrowed(self);
        }
        let closed = self.closed.iter().filter(|row| !started.contains(&row.run)).cloned().collect();
        Cow::Owned(Self { closed, ..self.clone() })
    }

    /// Whether something will run because of it.
    pub(super) fn fires(&self) -> bool {
        !self.refired.is_empty() || self.entries.iter().any(|entry| entry.state == EntryState::Scheduled)
    }
}

/// One new ledger row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The tick, in whole seconds.
    pub scheduled_for: Timestamp,
    /// When it is to be admitted.
    pub fire_at: Timestamp,
    /// Armed, or ended already.
    pub state: EntryState,
}

/// What a new ledger row starts as.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EntryState {
    /// Waits for its instant.
    Scheduled,
    /// Waits for its instant, at which it is skipped: that is known ahead.
    Suppressed(Reason),
    /// Came too late; never in the future.
    Ended(NonFire),
}

/// Why a tick that is past did not run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NonFire {
    /// Deliberately.
    Skipped(Reason),
    /// Nobody could look in time.
    Missed(Reason),
}

impl NonFire {
    /// The state it ends in.
    pub fn status(&self) -> RunStatus {
        match self {
            Self::Skipped(_) => RunStatus::Skipped,
            Self::Missed(_) => RunStatus::Missed,
        }
    }

    /// Why.
    pub fn reason(&self) -> &Reason {
        match self {
            Self::Skipped(reason) | Self::Missed(reason) => reason,
        }
    }
}

/// A stretch of equal non-fires.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Range {
    /// Its first tick.
    pub first: Timestamp,
    /// Its last tick.
    pub last: Timestamp,
    /// How many ticks it stands for.
    pub count: u64,
    /// Why none of them ran.
    pub end: NonFire,
}

/// An armed row that ends without running.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Closed {
    /// The row.
    pub run: RunKey,
    /// Its instant.
    pub scheduled_for: Timestamp,
    /// As what, and why.
    pub end: NonFire,
}

/// An armed row that was slept through and fires late.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refired {
    /// The row.
    pub run: RunKey,
    /// When it is to be admitted now.
    pub fire_at: Timestamp,
}
