//! Audit: every tick of a schedule has exactly one ledger entry, or the hole is named.
//!
//! Each second is asked by itself whether it is a tick; nothing is skipped and nothing is counted ahead, so a search
//! that jumps too far and a count that is off are both seen. The limit of the proof: the question about a single
//! second is answered by `Timing::explain`, which shares its rule for clock changes with the search.

use std::collections::BTreeMap;

use jiff::Timestamp;
use punctual_time::Timing;

use crate::limit::{AUDIT_HOLES_MAX, AUDIT_MAX};

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
    /// How many ticks the schedule has.
    pub planned: u64,
    /// What is wrong, in the order of time, up to a bound.
    pub holes: Vec<Hole>,
}

impl Audit {
    /// Whether the ledger is whole.
    pub fn is_proved(&self) -> bool {
        self.holes.is_empty()
    }
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
    /// An entry of an instant at which the schedule does not tick.
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
    let mut auditor = Auditor { recorded, rows: BTreeMap::new(), gap: None, holes: Vec::new() };
    for row in recorded.rows.iter().filter(|row| **row >= from && **row <= through) {
        *auditor.rows.entry(*row).or_insert(0) += 1;
    }
    let mut found = vec![0; recorded.ranges.len()];
    let mut planned = 0;
    let mut second = from.as_second() + i64::from(from.subsec_nanosecond() > 0);
    while let Some(at) = Timestamp::from_second(second).ok().filter(|at| *at <= through) {
        second += 1;
        if timing.explain(at).is_tick {
            planned += 1;
            auditor.tick(at, &mut found);
        } else if auditor.rows.contains_key(&at) {
            auditor.holes.push(Hole::Foreign { at });
        }
        if auditor.holes.len() >= AUDIT_HOLES_MAX {
            return Audit { through: at, planned, holes: auditor.holes };
        }
    }
    auditor.close_gap();
    let whole = |span: &Span| span.first >= from && span.last <= through;
    let ranges =
        recorded.ranges.iter().zip(found).filter(|(span, found)| whole(span) && span.count != *found);
    auditor.holes.extend(ranges.map(|(span, found)| Hole::Miscounted { span: *span, found }));
    Audit { through, planned, holes: auditor.holes }
}

struct Auditor<'a> {
    recorded: Recorded<'a>,
    /// How many rows stand for each instant.
    rows: BTreeMap<Timestamp, usize>,
    /// Ticks without an entry since the last that had one.
    gap: Option<(Timestamp, Timestamp, u64)>,
    holes: Vec<Hole>,
}

impl Auditor<'_> {
    fn tick(&mut self, at: Timestamp, found: &mut [u64]) {
        let mut entries = self.rows.get(&at).copied().unwrap_or(0);
        for (span, found) in self.recorded.ranges.iter().zip(found) {
            if span.first <= at && at <= span.last {
                entries += 1;
                *found += 1;
            }
        }
        match entries {
            0 => {
                let (first, count) = self.gap.map_or((at, 0), |(first, _, count)| (first, count));
                self.gap = Some((first, at, count + 1));
            }
            1 => self.close_gap(),
            _ => {
                self.close_gap();
                self.holes.push(Hole::Doubled { tick: at, entries });
            }
        }
    }

    fn close_gap(&mut self) {
        let missing = |(first, last, count)| Hole::Missing { first, last, count };
        self.holes.extend(self.gap.take().map(missing));
    }
}
