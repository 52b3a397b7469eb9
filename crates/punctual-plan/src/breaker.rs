//! The circuit breaker of a target: closed, open, or half open with a single probe.

use jiff::{SignedDuration, Timestamp};

use crate::RunKey;
use crate::limit::{BREAKER_RESET_AFTER, BREAKER_THRESHOLD};

/// When a breaker opens and when it is tried again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BreakerRule {
    /// Failures in a row that open it.
    pub threshold: u32,
    /// How long it lets nothing through.
    pub reset_after: SignedDuration,
}

impl Default for BreakerRule {
    fn default() -> Self {
        Self { threshold: BREAKER_THRESHOLD, reset_after: BREAKER_RESET_AFTER }
    }
}

/// Where a breaker stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Breaker {
    /// Runs go through.
    Closed {
        /// Failures since the last success.
        failures: u32,
    },
    /// No run goes through.
    Open {
        /// Until when; the first run after it probes.
        until: Timestamp,
    },
    /// One run probes; no other goes through.
    HalfOpen {
        /// The run that probes.
        probe: RunKey,
    },
}

impl Default for Breaker {
    fn default() -> Self {
        Self::Closed { failures: 0 }
    }
}

/// Whether a breaker lets a run through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Passage {
    /// It does.
    Free,
    /// It does, as the single probe.
    Probe,
    /// It does not before an instant.
    ShutUntil(Timestamp),
    /// It does not while another run probes.
    Probed(RunKey),
}

impl Breaker {
    /// The public name.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Closed { .. } => "closed",
            Self::Open { .. } => "open",
            Self::HalfOpen { .. } => "half_open",
        }
    }

    pub(crate) fn passage(&self, now: Timestamp) -> Passage {
        match self {
            Self::Closed { .. } => Passage::Free,
            Self::Open { until } if *until > now => Passage::ShutUntil(*until),
            Self::Open { .. } => Passage::Probe,
            Self::HalfOpen { probe } => Passage::Probed(*probe),
        }
    }
}
