//! Why a tick did not run, or how a run ended: a closed list with one English sentence each.
//!
//! The sentence carries the deciding values. CLI, API, dashboard and audit all show it from here.

use core::fmt;

use jiff::Timestamp;

use crate::RunKey;

/// Why, with the values that decided.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// A later tick of the schedule was already due when this one was looked at.
    Overtaken {
        /// The later tick.
        by: Timestamp,
    },
    /// No node was running from its instant until longer than the grace period after it.
    Outage {
        /// When a node looked again.
        until: Timestamp,
        /// The grace period, in seconds.
        grace_s: i64,
    },
    /// The schedule's previous run was still in flight.
    Overlap {
        /// The run in flight.
        run: RunKey,
    },
    /// The schedule was deleted before the run was launched.
    Deleted {
        /// When it was deleted.
        at: Timestamp,
    },
    /// The scheduler died while the run was in flight and nobody can say how it ended.
    OutcomeUnknown {
        /// When the scheduler came back.
        found: Timestamp,
    },
    /// The program ended with a code other than zero.
    ExitCode {
        /// The code.
        code: i32,
    },
    /// The program was ended by a signal.
    Signal {
        /// The signal's number.
        signal: i32,
    },
    /// The run did not answer within its time.
    Timeout {
        /// The time it had, in seconds.
        limit_s: i64,
    },
    /// The program could not be started.
    LaunchFailed {
        /// What the operating system said.
        error: String,
    },
}

impl Reason {
    /// The stable name, as stored and as shown in JSON.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Overtaken { .. } => "overtaken",
            Self::Outage { .. } => "outage",
            Self::Overlap { .. } => "overlap",
            Self::Deleted { .. } => "deleted",
            Self::OutcomeUnknown { .. } => "outcome_unknown",
            Self::ExitCode { .. } => "exit_code",
            Self::Signal { .. } => "signal",
            Self::Timeout { .. } => "timeout",
            Self::LaunchFailed { .. } => "launch_failed",
        }
    }

    /// The deciding values in their stored form; [`Reason::from_stored`] reads them back.
    pub fn detail(&self) -> String {
        match self {
            Self::Overtaken { by: at } | Self::Deleted { at } | Self::OutcomeUnknown { found: at } => {
                at.to_string()
            }
            Self::Outage { until, grace_s } => format!("{until} {grace_s}"),
            Self::Overlap { run } => run.0.to_string(),
            Self::ExitCode { code: number } | Self::Signal { signal: number } => number.to_string(),
            Self::Timeout { limit_s } => limit_s.to_string(),
            Self::LaunchFailed { error } => error.clone(),
        }
    }

    /// Reads a reason as it was stored.
    ///
    /// # Errors
    /// When a newer version wrote a reason that this one does not know.
    pub fn from_stored(code: &str, detail: &str) -> Result<Self, ReasonError> {
        Self::read(code, detail)
            .ok_or_else(|| ReasonError { code: code.to_owned(), detail: detail.to_owned() })
    }

    fn read(code: &str, detail: &str) -> Option<Self> {
        Some(match code {
            "overtaken" => Self::Overtaken { by: detail.parse().ok()? },
            "outage" => {
                let (until, grace_s) = detail.split_once(' ')?;
                Self::Outage { until: until.parse().ok()?, grace_s: grace_s.parse().ok()? }
            }
            "overlap" => Self::Overlap { run: RunKey(detail.parse().ok()?) },
            "deleted" => Self::Deleted { at: detail.parse().ok()? },
            "outcome_unknown" => Self::OutcomeUnknown { found: detail.parse().ok()? },
            "exit_code" => Self::ExitCode { code: detail.parse().ok()? },
            "signal" => Self::Signal { signal: detail.parse().ok()? },
            "timeout" => Self::Timeout { limit_s: detail.parse().ok()? },
            "launch_failed" => Self::LaunchFailed { error: detail.to_owned() },
            _ => return None,
        })
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Overtaken { by } => {
                write!(f, "nobody looked before the schedule's later tick at {by} was due as well")
            }
            Self::Outage { until, grace_s } => {
                write!(f, "no node was running until {until}, longer than the grace of {grace_s} s")
            }
            Self::Overlap { run } => write!(f, "{run} of the schedule was still in flight"),
            Self::Deleted { at } => write!(f, "the schedule was deleted at {at}"),
            Self::OutcomeUnknown { found } => {
                write!(f, "the scheduler died while it ran; found at {found}, how it ended is unknown")
            }
            Self::ExitCode { code } => write!(f, "the program ended with exit code {code}"),
            Self::Signal { signal } => write!(f, "the program was ended by signal {signal}"),
            Self::Timeout { limit_s } => write!(f, "it did not end within {limit_s} s"),
            Self::LaunchFailed { error } => write!(f, "the program could not be started: {error}"),
        }
    }
}

/// A stored reason that this version cannot read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReasonError {
    code: String,
    detail: String,
}

impl fmt::Display for ReasonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` with `{}` is no reason this version knows", self.code, self.detail)
    }
}

impl core::error::Error for ReasonError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_reads_back_with_its_values() {
        let at: Timestamp = "2026-03-01T10:00:00.5Z".parse().unwrap();
        for reason in [
            Reason::Overtaken { by: at },
            Reason::Outage { until: at, grace_s: 60 },
            Reason::Overlap { run: RunKey(7) },
            Reason::Deleted { at },
            Reason::OutcomeUnknown { found: at },
            Reason::ExitCode { code: -1 },
            Reason::Signal { signal: 9 },
            Reason::Timeout { limit_s: 3600 },
            Reason::LaunchFailed { error: "no such file".to_owned() },
        ] {
            assert_eq!(Reason::from_stored(reason.code(), &reason.detail()), Ok(reason));
        }
        assert!(Reason::from_stored("overlap", "not a number").is_err());
    }

    #[test]
    fn the_sentence_names_what_decided() {
        let reason = Reason::Overlap { run: RunKey(7) };
        assert_eq!(reason.to_string(), "run-7 of the schedule was still in flight");
    }
}
