//! Settle: an outcome becomes the run's end.

use jiff::Timestamp;

use crate::{RUN_TIMEOUT, Reason, RunKey, RunStatus, ScheduleKey};

/// A run that was admitted and has not ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InFlight {
    /// The run.
    pub run: RunKey,
    /// Its schedule.
    pub schedule: ScheduleKey,
}

/// How an attempt ended, as its target saw it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Exit code zero.
    Succeeded,
    /// Another exit code.
    Exited {
        /// The code.
        code: i32,
    },
    /// Ended by a signal.
    Signalled {
        /// The signal's number.
        signal: i32,
    },
    /// Did not end in time and was killed.
    TimedOut,
    /// Never started.
    LaunchFailed {
        /// What the operating system said.
        error: String,
    },
    /// It was launched by a process that died before it could say how it ended.
    InDoubt,
}

/// The end of a run; the claim on its schedule is freed with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settlement {
    /// The run that ends.
    pub in_flight: InFlight,
    /// As what it ends.
    pub status: RunStatus,
    /// Why, unless it succeeded.
    pub reason: Option<Reason>,
    /// When it ended.
    pub completed_at: Timestamp,
}

/// Decides how a run ends. A run in doubt is not repeated: it may have done its work.
///
/// ```
/// use punctual_plan::{InFlight, Outcome, RunKey, RunStatus, ScheduleKey, settle};
///
/// let run = InFlight { run: RunKey(1), schedule: ScheduleKey(1) };
/// let end = settle(run, Outcome::Exited { code: 3 }, "2026-01-01T10:00:00Z".parse()?);
/// assert_eq!(end.status, RunStatus::Failed);
/// # Ok::<(), jiff::Error>(())
/// ```
pub fn settle(in_flight: InFlight, outcome: Outcome, now: Timestamp) -> Settlement {
    let reason = match outcome {
        Outcome::Succeeded => None,
        Outcome::Exited { code } => Some(Reason::ExitCode { code }),
        Outcome::Signalled { signal } => Some(Reason::Signal { signal }),
        Outcome::TimedOut => Some(Reason::Timeout { limit_s: RUN_TIMEOUT.as_secs() }),
        Outcome::LaunchFailed { error } => Some(Reason::LaunchFailed { error }),
        Outcome::InDoubt => Some(Reason::OutcomeUnknown { found: now }),
    };
    let status = if reason.is_none() { RunStatus::Success } else { RunStatus::Failed };
    Settlement { in_flight, status, reason, completed_at: now }
}
