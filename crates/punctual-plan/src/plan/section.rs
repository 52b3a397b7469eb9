//! Sections: past ticks that did not fire, gathered by their end, on their way into the ledger.

use jiff::Timestamp;
use punctual_time::{TickStretch, Timing};

use super::{Entry, EntryState, NonFire, Plan, Range, just_after};
use crate::rule::{Rule, holds};
use crate::{MISSED_ROWS_MAX, Reason};

/// Neighbouring ticks of the same end are one section.
pub(crate) struct Sections<'a> {
    timing: &'a Timing,
    pub(super) ranges: Vec<Range>,
}

impl<'a> Sections<'a> {
    pub(super) fn new(timing: &'a Timing) -> Self {
        Self { timing, ranges: Vec::new() }
    }

    /// Every tick after one instant and up to another ends the same way, but for those that a window suppresses.
    pub(crate) fn of(timing: &'a Timing, after: Timestamp, through: Timestamp, end: &NonFire) -> Self {
        let mut sections = Self::new(timing);
        for stretch in timing.stretches(just_after(after)..=through) {
            let end = stretch
                .suppressed
                .clone()
                .map_or_else(|| end.clone(), |window| NonFire::Skipped(Reason::from(window)));
            sections.add(&stretch, end);
        }
        sections
    }

    /// Adds ticks, joining neighbours of the same end.
    pub(super) fn add(&mut self, stretch: &TickStretch, end: NonFire) {
        let timing = self.timing;
        let count = if holds(Rule::ExactRanges) { stretch.count } else { 1 };
        let is_next =
            |range: &&mut Range| range.end == end && timing.planned_after(range.last) == Some(stretch.first);
        match self.ranges.last_mut().filter(is_next) {
            Some(range) => {
                range.last = stretch.last;
                range.count += count;
            }
            None => {
                let TickStretch { first, last, .. } = *stretch;
                self.ranges.push(Range { first, last, count, end });
            }
        }
    }

    /// Writes rows while the ticks are few, ranges otherwise.
    pub(crate) fn write(self, plan: &mut Plan) {
        let count: u64 = self.ranges.iter().map(|range| range.count).sum();
        if count > MISSED_ROWS_MAX as u64 {
            plan.ranges.extend(self.ranges);
            return;
        }
        for range in self.ranges {
            let next = |tick: &Timestamp| self.timing.planned_after(*tick);
            let ticks = std::iter::successors(Some(range.first), next).take_while(|tick| *tick <= range.last);
            plan.entries.extend(ticks.map(|tick| Entry {
                scheduled_for: tick,
                fire_at: tick,
                state: EntryState::Ended(range.end.clone()),
            }));
        }
    }
}
