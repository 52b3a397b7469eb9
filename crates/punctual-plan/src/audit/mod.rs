//! Audit: every tick of a schedule has exactly one ledger entry, or the hole is named.
//!
//! Start with [`audit_ledger`]. What the ticks are is not asked of the search that planned them: `oracle` finds them
//! again from the definition alone, `dates` reads its dates and times of day, `wall` is the zone's clock, and
//! `compare` goes through ticks and entries side by side.

mod compare;
mod dates;
mod oracle;
mod wall;

use jiff::Timestamp;
use punctual_time::Timing;

use crate::limit::AUDIT_MAX;
use compare::Comparison;
use oracle::{Oracle, ceil_second, floor_second};

/// What the ledger says of a schedule's ticks.
#[derive(Clone, Copy, Debug)]
pub struct Recorded<'a> {
    /// The ticks of its rows of origin `tick`, in any order.
    pub rows: &'a [Timestamp],
    /// Its ranges, in any order.
    pub ranges: &'a [Span],
}

/// A range of the ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Its first tick.
    pub first: Timestamp,
    /// Its last tick.
    pub last: Timestamp,
    /// How many ticks it says it stands for.
    pub count: u64,
}

/// What an audit found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Audit {
    /// How far it looked; the rest wants an audit of its own.
    pub through: Timestamp,
    /// How many ticks the spec has; 0 if it does not say.
    pub planned: u64,
    /// What the ledger was compared with.
    pub basis: Basis,
    /// What is wrong, in the order of time, up to a bound.
    pub holes: Vec<Hole>,
}

impl Audit {
    /// Whether the ledger is whole, which only a spec that names its ticks can prove.
    pub fn is_proved(&self) -> bool {
        self.basis == Basis::Spec && self.holes.is_empty()
    }
}

/// What an audit compares the ledger with.
///
/// ```
/// use punctual_plan::{Basis, Recorded, audit_ledger};
/// use punctual_time::{Anchor, Interval, Timing, Zone};
///
/// let mut timing = Timing::new("2h".parse::<Interval>()?, Zone::utc());
/// timing.anchor = Anchor::LastFinish;
/// let day = "2026-01-01T00:00:00Z".parse()?..="2026-01-02T00:00:00Z".parse()?;
/// let audit = audit_ledger(&timing, Recorded { rows: &[], ranges: &[] }, day);
/// assert_eq!(audit.basis, Basis::Runs);
/// assert!(audit.holes.is_empty() && !audit.is_proved());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// The ticks of the spec: every hole is found.
    Spec,
    /// The interval is reckoned from the start or the end of the last run, so the spec alone has no ticks. Only
    /// rows that stand for the same instant are found.
    Runs,
}

/// Something that breaks the promise of one entry per tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hole {
    /// Ticks without an entry.
    Missing {
        /// The first of them.
        first: Timestamp,
        /// The last of them; every tick between lacks its entry too.
        last: Timestamp,
        /// How many.
        count: u64,
    },
    /// A tick with several entries.
    Doubled {
        /// The tick.
        tick: Timestamp,
        /// How many it has.
        entries: usize,
    },
    /// An entry of an instant at which the schedule does not tick; for a range, its first or its last tick.
    Foreign {
        /// The instant.
        at: Timestamp,
    },
    /// A range whose count is not the number of ticks in it.
    Miscounted {
        /// The range.
        span: Span,
        /// How many ticks it really has.
        found: u64,
    },
}

/// Compares the ledger with the ticks from one instant to another, both included.
///
/// Ticks that a window suppresses are ticks: the ledger has them as skipped. How many runs `max_runs` leaves is not
/// looked at, so the stretch should end where planning ended. The count of a range is checked if the stretch holds
/// all of it.
///
/// ```
/// use punctual_plan::{Hole, Recorded, audit_ledger};
/// use punctual_time::{Cron, Timing, Zone};
///
/// let timing = Timing::new("0 * * * *".parse::<Cron>()?, Zone::utc());
/// let hour = |text: &str| format!("2026-01-01T{text}:00:00Z").parse::<jiff::Timestamp>();
/// let (ten, eleven, twelve) = (hour("10")?, hour("11")?, hour("12")?);
/// let audit = audit_ledger(&timing, Recorded { rows: &[ten, twelve], ranges: &[] }, ten..=twelve);
/// assert_eq!(audit.holes, [Hole::Missing { first: eleven, last: eleven, count: 1 }]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn audit_ledger(
    timing: &Timing,
    recorded: Recorded<'_>,
    stretch: core::ops::RangeInclusive<Timestamp>,
) -> Audit {
    let from = *stretch.start();
    let through = from.saturating_add(AUDIT_MAX).unwrap_or(Timestamp::MAX).min(*stretch.end());
    let mut comparison = Comparison::new(recorded, from, through);
    let Some(oracle) = Oracle::of(timing) else {
        return comparison.without_ticks();
    };
    for at in oracle.ticks(ceil_second(from), floor_second(through)) {
        if comparison.is_full() {
            break;
        }
        comparison.tick(at);
    }
    comparison.end()
}
