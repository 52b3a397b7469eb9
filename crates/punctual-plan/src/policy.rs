//! Policies: what a schedule wants to happen to its ticks, as data with the defaults of the product.
//!
//! Start with [`Policy`]. Names and aliases are those of CLI, API, YAML and SQL.

use jiff::SignedDuration;

use crate::ScheduleId;
use crate::limit::{
    CATCH_UP_DEFAULT, CONSECUTIVE_FAILURES_DEFAULT, DEPENDS_TIMEOUT, GRACE, LAUNCH_ATTEMPTS, LAUNCH_DELAY,
    MISSED_AUDIT_DEFAULT, RUN_TIMEOUT,
};
use crate::name::named;

named! {
    /// What happens to a tick while an earlier run of its schedule is in flight.
    #[derive(Default)]
    Overlap {
        /// It is skipped.
        #[default]
        Skip = "skip",
        /// It starts beside the other.
        Allow = "allow",
        /// It waits for its turn, up to a bounded queue.
        Queue = "queue",
        /// What runs is cancelled, then it starts.
        Cancel = "cancel",
    }
}

impl Overlap {
    /// Whether at most one run of the schedule is in flight.
    pub fn is_exclusive(self) -> bool {
        self != Self::Allow
    }

    /// Whether a tick that starts ends the schedule's pending retries.
    pub fn supersedes_retries(self) -> bool {
        matches!(self, Self::Skip | Self::Cancel)
    }
}

named! {
    /// What happens to ticks that nobody looked at in time.
    #[derive(Default)]
    CatchUp {
        /// They are missed, but for a last one within the grace period.
        #[default]
        Skip = "skip" | "none",
        /// The last one runs, for the whole stretch.
        RunOnce = "run_once",
        /// The latest `max_catch_up` run at once, oldest first.
        RunAll = "run_all" | "run_all_capped" | "fire_immediately",
        /// As `run_all`, evenly over the lookahead window.
        Spread = "spread",
    }
}

named! {
    /// To which side of a tick its jitter goes.
    #[derive(Default)]
    JitterMode {
        /// From the tick on.
        #[default]
        After = "after",
        /// To both sides.
        Around = "around",
    }
}

/// How far ticks are scattered; none by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Jitter {
    /// At most this far to each side that the mode has.
    pub max: SignedDuration,
    /// To which side.
    pub mode: JitterMode,
}

impl Jitter {
    /// How long before its tick a run may fire at most.
    pub fn early_max(&self) -> SignedDuration {
        match self.mode {
            JitterMode::After => SignedDuration::ZERO,
            JitterMode::Around => self.max,
        }
    }
}

/// How launches that fail are repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Launch {
    /// Attempts in all.
    pub attempts_max: u32,
    /// The wait before the second attempt; doubled before each further one.
    pub delay: SignedDuration,
}

impl Default for Launch {
    fn default() -> Self {
        Self { attempts_max: LAUNCH_ATTEMPTS, delay: LAUNCH_DELAY }
    }
}

named! {
    /// What a run in doubt becomes.
    #[derive(Default)]
    Delivery {
        /// It is repeated: its target may see it twice.
        #[default]
        AtLeastOnce = "at_least_once",
        /// It ends with an unknown outcome: its target sees it once or not at all.
        AtMostOnce = "at_most_once",
    }
}

/// What a tick waits for before it runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dependency {
    /// Schedules whose latest tick at or before this one must have succeeded; never empty.
    pub on: Vec<ScheduleId>,
    /// How long it waits.
    pub timeout: SignedDuration,
}

impl Dependency {
    /// A dependency with the default timeout.
    pub fn on(schedules: Vec<ScheduleId>) -> Self {
        Self { on: schedules, timeout: DEPENDS_TIMEOUT }
    }
}

/// Everything a schedule may ask for beyond its "when".
///
/// ```
/// use punctual_plan::{CatchUp, Overlap, Policy};
///
/// let policy = Policy { catch_up: "fire_immediately".parse()?, ..Policy::default() };
/// assert_eq!(policy.catch_up, CatchUp::RunAll);
/// assert_eq!(policy.overlap, Overlap::Skip);
/// assert_eq!(policy.grace.as_secs(), 60);
/// # Ok::<(), punctual_plan::UnknownName>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// What happens while an earlier run is in flight.
    pub overlap: Overlap,
    /// A lane that it shares with other schedules, if its runs take turns with theirs.
    pub lane: Option<String>,
    /// What happens to late ticks.
    pub catch_up: CatchUp,
    /// How many late ticks `run_all` and `spread` run at most.
    pub max_catch_up: u32,
    /// How many missed ticks of one stretch have an audit event of their own.
    pub missed_audit_max: u32,
    /// How late a tick may be and still count as on time, while no later one is due.
    pub grace: SignedDuration,
    /// How long after its tick a run may start at all.
    pub start_deadline: Option<SignedDuration>,
    /// How far ticks are scattered.
    pub jitter: Jitter,
    /// How launches that fail are repeated.
    pub launch: Launch,
    /// How long after a failure the run is repeated; never, if none.
    pub retry_after: Option<SignedDuration>,
    /// How long a run may take from its admission.
    pub run_timeout: SignedDuration,
    /// After how many failures in a row the schedule is disabled; never, if none.
    pub max_consecutive_failures: Option<u32>,
    /// A key that at most one outstanding run of all schedules holds.
    pub guard: Option<String>,
    /// What a tick waits for.
    pub depends_on: Option<Dependency>,
    /// What a run in doubt becomes.
    pub delivery: Delivery,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            overlap: Overlap::default(),
            lane: None,
            catch_up: CatchUp::default(),
            max_catch_up: CATCH_UP_DEFAULT,
            missed_audit_max: MISSED_AUDIT_DEFAULT,
            grace: GRACE,
            start_deadline: None,
            jitter: Jitter::default(),
            launch: Launch::default(),
            retry_after: None,
            run_timeout: RUN_TIMEOUT,
            max_consecutive_failures: Some(CONSECUTIVE_FAILURES_DEFAULT),
            guard: None,
            depends_on: None,
            delivery: Delivery::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_and_alias_reads_back() {
        for overlap in Overlap::ALL {
            assert_eq!(overlap.name().parse(), Ok(*overlap));
        }
        for catch_up in CatchUp::ALL {
            assert_eq!(catch_up.name().parse(), Ok(*catch_up));
        }
        let aliases = [
            ("none", CatchUp::Skip),
            ("fire_immediately", CatchUp::RunAll),
            ("run_all_capped", CatchUp::RunAll),
        ];
        for (alias, catch_up) in aliases {
            assert_eq!(alias.parse(), Ok(catch_up));
        }
        assert!("later".parse::<CatchUp>().is_err());
    }
}
