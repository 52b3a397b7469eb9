//! The states of a run and where it came from.

use jiff::Timestamp;

use crate::name::named;
use crate::{Reason, RunKey, ScheduleKey};

named! {
    /// Where a run is in its life, as one word.
    RunStatus {
        /// Planned and waiting for its instant.
        Scheduled = "scheduled",
        /// Its instant came; it waits for something else.
        Waiting = "waiting",
        /// Admitted: its claims are taken, it will be launched.
        Enqueued = "enqueued",
        /// Launched and not yet answered.
        Running = "running",
        /// An attempt failed; the next one is planned.
        Retrying = "retrying",
        /// Ended well.
        Success = "success",
        /// Ended badly; the reason says how.
        Failed = "failed",
        /// Ended by a person, or by a later tick under `cancel`.
        Cancelled = "cancelled",
        /// Looked at in time and deliberately not run.
        Skipped = "skipped",
        /// Nobody could look at it in time.
        Missed = "missed",
    }
}

impl RunStatus {
    /// Whether nothing can happen to the run any more.
    pub fn is_terminal(self) -> bool {
        matches!(self, Self::Success | Self::Failed | Self::Cancelled | Self::Skipped | Self::Missed)
    }

    /// Whether the run holds the claims of an admitted one.
    pub fn is_in_flight(self) -> bool {
        matches!(self, Self::Enqueued | Self::Running)
    }
}

named! {
    /// What brought a run about.
    Origin {
        /// A planned tick of the schedule.
        Tick = "tick",
        /// A person or a program asked for it.
        Manual = "manual",
        /// A person asked for a tick of the past.
        Backfill = "backfill",
        /// A run of another schedule ended.
        Chained = "chained",
    }
}

/// A run's state with what belongs to it: a waiting run has a deadline, a failed one a reason, and no other has.
///
/// ```
/// use punctual_plan::{Reason, RunState, RunStatus};
///
/// let state = RunState::Failed { reason: Reason::ExitCode { code: 3 }, at: "2026-01-01T10:00:00Z".parse()? };
/// assert_eq!(state.status(), RunStatus::Failed);
/// assert_eq!(state.reason().map(Reason::code), Some("exit_code"));
/// # Ok::<(), jiff::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunState {
    /// Waits for its instant.
    Scheduled {
        /// What is known ahead: it will be skipped at its instant.
        verdict: Option<Reason>,
    },
    /// Waits for something else.
    Waiting(Waiting),
    /// Will be launched.
    Enqueued {
        /// Which attempt, from 1.
        attempt: u32,
        /// Since when.
        since: Timestamp,
    },
    /// Was launched.
    Running {
        /// Which attempt, from 1.
        attempt: u32,
        /// Since when.
        since: Timestamp,
    },
    /// Is repeated.
    Retrying {
        /// Which attempt comes next, from 2.
        attempt: u32,
        /// When.
        at: Timestamp,
        /// Why the attempt before failed.
        reason: Reason,
    },
    /// Ended well.
    Success {
        /// When.
        at: Timestamp,
    },
    /// Ended badly.
    Failed {
        /// How.
        reason: Reason,
        /// When.
        at: Timestamp,
    },
    /// Was ended.
    Cancelled {
        /// By what.
        reason: Reason,
        /// When.
        at: Timestamp,
    },
    /// Was deliberately not run.
    Skipped {
        /// Why.
        reason: Reason,
        /// When that was decided.
        at: Timestamp,
    },
    /// Could not be looked at in time.
    Missed {
        /// Why.
        reason: Reason,
        /// When that was decided.
        at: Timestamp,
    },
}

impl RunState {
    /// The one word for it.
    pub fn status(&self) -> RunStatus {
        match self {
            Self::Scheduled { .. } => RunStatus::Scheduled,
            Self::Waiting(_) => RunStatus::Waiting,
            Self::Enqueued { .. } => RunStatus::Enqueued,
            Self::Running { .. } => RunStatus::Running,
            Self::Retrying { .. } => RunStatus::Retrying,
            Self::Success { .. } => RunStatus::Success,
            Self::Failed { .. } => RunStatus::Failed,
            Self::Cancelled { .. } => RunStatus::Cancelled,
            Self::Skipped { .. } => RunStatus::Skipped,
            Self::Missed { .. } => RunStatus::Missed,
        }
    }

    /// Why it is so, where there is a why.
    pub fn reason(&self) -> Option<&Reason> {
        match self {
            Self::Scheduled { verdict } => verdict.as_ref(),
            Self::Retrying { reason, .. }
            | Self::Failed { reason, .. }
            | Self::Cancelled { reason, .. }
            | Self::Skipped { reason, .. }
            | Self::Missed { reason, .. } => Some(reason),
            Self::Waiting(_) | Self::Enqueued { .. } | Self::Running { .. } | Self::Success { .. } => None,
        }
    }
}

/// A ledger entry: one run, with everything that was done for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// Its own id.
    pub key: RunKey,
    /// Its schedule.
    pub schedule: ScheduleKey,
    /// The version of the schedule that it belongs to.
    pub version: i64,
    /// What brought it about.
    pub origin: Origin,
    /// What tells it from others of its instant: empty for ticks, the upstream run for chained ones, the request's key
    /// for manual ones and backfills.
    pub nonce: String,
    /// The instant it stands for, in whole seconds.
    pub scheduled_for: Timestamp,
    /// When it is or was to be admitted.
    pub fire_at: Timestamp,
    /// Where it is in its life.
    pub state: RunState,
    /// What it waited for last, if it ever did.
    pub waited: Option<Waiting>,
    /// Each time it was launched.
    pub attempts: Vec<Attempt>,
}

/// One launch of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// Its number, from 1.
    pub number: u32,
    /// When it was launched.
    pub started_at: Timestamp,
    /// When it ended, if it has.
    pub ended_at: Option<Timestamp>,
    /// Why it failed, if it has.
    pub reason: Option<Reason>,
}

/// A run that waits after its instant has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// What wakes it.
    pub wait: Wait,
    /// Since when it waits.
    pub since: Timestamp,
    /// When it stops waiting; never infinite.
    pub deadline: Timestamp,
}

/// What a run waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wait {
    /// Its turn behind a run of its schedule.
    Turn {
        /// The run in flight, or one that waits longer.
        behind: RunKey,
    },
    /// The tick of a schedule it depends on.
    Upstream {
        /// That schedule's name.
        schedule: String,
    },
    /// Room under a limit of its org.
    Limit {
        /// Which limit.
        limit: OrgLimit,
    },
    /// Room at its target, where too many runs wait for their launch already.
    Room {
        /// The target.
        target: String,
        /// When it is looked at again.
        again_at: Timestamp,
    },
}

impl Wait {
    /// Whether it is for a schedule that it depends on.
    pub fn is_upstream(&self) -> bool {
        matches!(self, Self::Upstream { .. })
    }
}

impl core::fmt::Display for Wait {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Turn { behind } => write!(f, "its turn behind {behind}"),
            Self::Upstream { schedule } => write!(f, "`{schedule}`"),
            Self::Limit { limit } => write!(f, "room under the org's limit `{limit}`"),
            Self::Room { target, .. } => write!(f, "room at its target `{target}`"),
        }
    }
}

named! {
    /// A limit of an org.
    OrgLimit {
        /// Runs that start within one minute.
        PerMinute = "runs_per_minute",
        /// Runs in flight at once.
        InFlight = "runs_in_flight",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_reads_back() {
        for status in RunStatus::ALL {
            assert_eq!(status.name().parse(), Ok(*status));
        }
        for origin in Origin::ALL {
            assert_eq!(origin.name().parse(), Ok(*origin));
        }
        assert_eq!(
            "late".parse::<RunStatus>().map_err(|error| error.to_string()),
            Err("`late` is no RunStatus this version knows".to_owned())
        );
    }
}
