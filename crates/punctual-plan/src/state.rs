//! The state of a schedule: whether it lives, how far it is planned, what its runs came to.

use jiff::Timestamp;
use punctual_time::Anchor;

use crate::{Cursor, Reason, RunStatus};

/// Whether a schedule makes runs, and if not, why.
///
/// ```
/// use punctual_plan::Status;
///
/// let paused = Status::PausedManual { by: "ada".to_owned(), note: "migration".to_owned() };
/// assert_eq!(paused.name(), "paused_manual");
/// assert!(!paused.is_active());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Status {
    /// It makes runs.
    #[default]
    Active,
    /// A person paused it.
    PausedManual {
        /// Who.
        by: String,
        /// What they noted.
        note: String,
    },
    /// Its org or the whole installation is paused; by name it is paused like any other.
    Maintenance {
        /// Who said so.
        by: String,
        /// What they noted.
        note: String,
    },
    /// Something it refers to cannot be resolved any more; a valid edit clears it.
    PausedInvalid {
        /// What is wrong.
        error: String,
    },
    /// It failed too often in a row.
    AutoDisabled {
        /// How often.
        failures: u32,
    },
    /// Nothing is left to run.
    Exhausted {
        /// Since when; ticks after it are not accounted for.
        at: Timestamp,
    },
}

impl Status {
    /// The public name.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::PausedManual { .. } | Self::Maintenance { .. } => "paused_manual",
            Self::PausedInvalid { .. } => "paused_invalid",
            Self::AutoDisabled { .. } => "auto_disabled",
            Self::Exhausted { .. } => "exhausted",
        }
    }

    /// Whether it makes runs.
    pub fn is_active(&self) -> bool {
        matches!(self, Self::Active)
    }

    /// Why ticks do not run in this state, when it began at `at`; none while it is active.
    pub fn reason(&self, at: Timestamp) -> Option<Reason> {
        match self {
            Self::Active => None,
            Self::PausedManual { by, .. } => Some(Reason::Paused { at, by: by.clone() }),
            Self::Maintenance { note, .. } => Some(Reason::Maintenance { at, note: note.clone() }),
            Self::PausedInvalid { error } => Some(Reason::Invalid { at, error: error.clone() }),
            Self::AutoDisabled { failures } => Some(Reason::AutoDisabled { at, failures: *failures }),
            Self::Exhausted { at } => Some(Reason::Exhausted { at: *at }),
        }
    }
}

/// Counted runs of a schedule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Runs that ended.
    pub runs: u64,
    /// Of them, those that ended well.
    pub successes: u64,
    /// Of them, those that ended badly.
    pub failures: u64,
    /// Failures since the last success.
    pub consecutive_failures: u32,
    /// Tick runs that were admitted, which count towards `max_runs`.
    pub admitted: u64,
}

/// What a schedule has come to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// Whether it makes runs.
    pub status: Status,
    /// How far it is planned.
    pub cursor: Cursor,
    /// What its runs came to.
    pub counters: Counters,
    /// When a run of it last started.
    pub last_start: Option<Timestamp>,
    /// When a run of it last ended, and how.
    pub last_finish: Option<(Timestamp, RunStatus)>,
    /// What intervals from the last start or end are reckoned from.
    pub anchors: Anchors,
}

/// When a tick of a schedule last started and ended. It starts when it fires, which is its admission: that a run then
/// waits for a place, or in a queue for a worker, moves no tick. Further attempts are no further starts, and runs that a
/// person or another schedule asked for move no tick either.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Anchors {
    /// When a tick was last admitted for the first time.
    pub start: Option<Timestamp>,
    /// When a tick that was launched last ended.
    pub finish: Option<Timestamp>,
}

impl Anchors {
    /// What the next tick is reckoned from; none if it does not hang on a run.
    pub fn last(&self, anchor: Anchor) -> Option<Timestamp> {
        match anchor {
            Anchor::Fixed => None,
            Anchor::LastStart => self.start,
            Anchor::LastFinish => self.finish,
        }
    }
}

impl State {
    /// The state of a schedule made at `now`.
    pub fn starting(now: Timestamp) -> Self {
        Self {
            status: Status::Active,
            cursor: Cursor::starting(now),
            counters: Counters::default(),
            last_start: None,
            last_finish: None,
            anchors: Anchors::default(),
        }
    }
}
