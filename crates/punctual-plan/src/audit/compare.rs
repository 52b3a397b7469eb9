//! Ticks and ledger entries, gone through side by side in the order of time.
//!
//! Rows and both ends of the ranges are sorted once; a tick then costs a step along each, however long the ledger is.

use jiff::Timestamp;

use super::{Audit, Basis, Hole, Recorded, Span};
use crate::limit::AUDIT_HOLES_MAX;

/// What is known so far.
pub(super) struct Comparison {
    from: Timestamp,
    through: Timestamp,
    /// The rows of the stretch, ascending, and how many of them have been passed.
    rows: Vec<Timestamp>,
    rows_passed: usize,
    /// The ranges that touch the stretch, by their first ticks, and how many of them have begun.
    ranges: Vec<Begun>,
    ranges_begun: usize,
    /// The same ranges by their last ticks, and how many of them are over.
    by_last: Vec<usize>,
    ranges_over: usize,
    /// Ticks without an entry since the last that had one.
    gap: Option<Span>,
    /// The last tick, and how many there were with it.
    latest: Option<Timestamp>,
    planned: u64,
    holes: Vec<Hole>,
}

/// A range and what was found where it begins.
struct Begun {
    span: Span,
    /// How many ticks there were before it.
    ticks_before: u64,
    /// The tick at or after its beginning.
    tick: Option<Timestamp>,
}

impl Comparison {
    pub(super) fn new(recorded: Recorded<'_>, from: Timestamp, through: Timestamp) -> Self {
        let mut rows: Vec<Timestamp> =
            recorded.rows.iter().copied().filter(|row| (from..=through).contains(row)).collect();
        rows.sort_unstable();
        let touching = recorded.ranges.iter().filter(|span| span.last >= from && span.first <= through);
        let (mut spans, reversed): (Vec<Span>, Vec<Span>) =
            touching.copied().partition(|span| span.first <= span.last);
        spans.sort_unstable_by_key(|span| span.first);
        let mut by_last: Vec<usize> = (0..spans.len()).collect();
        by_last.sort_unstable_by_key(|index| spans[*index].last);
        let begun = |span| Begun { span, ticks_before: 0, tick: None };
        let nothing = |span| Hole::Miscounted { span, found: 0 };
        Comparison {
            from,
            through,
            rows,
            rows_passed: 0,
            ranges: spans.into_iter().map(begun).collect(),
            ranges_begun: 0,
            by_last,
            ranges_over: 0,
            gap: None,
            latest: None,
            planned: 0,
            holes: reversed.into_iter().filter(|span| span.count > 0).map(nothing).collect(),
        }
    }

    /// Whether no more holes shall be named.
    pub(super) fn is_full(&self) -> bool {
        self.holes.len() >= AUDIT_HOLES_MAX
    }

    /// Takes the next tick.
    pub(super) fn tick(&mut self, at: Timestamp) {
        self.pass_rows_before(at);
        self.begin_ranges(Some(at));
        self.end_ranges_before(at);
        let mut entries = self.ranges_begun - self.ranges_over;
        while self.rows.get(self.rows_passed) == Some(&at) {
            self.rows_passed += 1;
            entries += 1;
        }
        self.planned += 1;
        self.latest = Some(at);
        if entries == 0 {
            let gap = self.gap.get_or_insert(Span { first: at, last: at, count: 0 });
            (gap.last, gap.count) = (at, gap.count + 1);
            return;
        }
        self.close_gap();
        if entries > 1 {
            self.holes.push(Hole::Doubled { tick: at, entries });
        }
    }

    /// What was found, after the last tick or when there are holes enough.
    pub(super) fn end(mut self) -> Audit {
        if self.is_full() {
            self.through = self.latest.unwrap_or(self.from);
        } else {
            self.pass_rows_before(Timestamp::MAX);
            self.begin_ranges(None);
            self.end_ranges_before(Timestamp::MAX);
        }
        self.close_gap();
        self.report(Basis::Spec)
    }

    /// What can be said if nobody knows the ticks: no instant may have two rows.
    pub(super) fn without_ticks(mut self) -> Audit {
        let equal = self.rows.chunk_by(|row, next| row == next).filter(|rows| rows.len() > 1);
        self.holes = equal.map(|rows| Hole::Doubled { tick: rows[0], entries: rows.len() }).collect();
        self.report(Basis::Runs)
    }

    fn report(mut self, basis: Basis) -> Audit {
        self.holes.sort_by_key(begin);
        if self.holes.len() > AUDIT_HOLES_MAX {
            self.holes.truncate(AUDIT_HOLES_MAX);
            self.through = self.holes.last().map_or(self.through, begin).max(self.from);
        }
        Audit { through: self.through, planned: self.planned, basis, holes: self.holes }
    }

    fn close_gap(&mut self) {
        let missing = |Span { first, last, count }| Hole::Missing { first, last, count };
        self.holes.extend(self.gap.take().map(missing));
    }

    /// Rows that no tick was for.
    fn pass_rows_before(&mut self, end: Timestamp) {
        while let Some(at) = self.rows.get(self.rows_passed).copied().filter(|row| *row < end) {
            if self.rows_passed == 0 || self.rows[self.rows_passed - 1] != at {
                self.holes.push(Hole::Foreign { at });
            }
            self.rows_passed += 1;
        }
    }

    /// Opens the ranges that begin at or before a tick, or all that are left.
    fn begin_ranges(&mut self, tick: Option<Timestamp>) {
        let left = self.ranges.iter_mut().skip(self.ranges_begun);
        for range in left.take_while(|range| tick.is_none_or(|tick| range.span.first <= tick)) {
            (range.ticks_before, range.tick) = (self.planned, tick);
            self.ranges_begun += 1;
        }
    }

    /// Closes the ranges that end before an instant, and compares them with the ticks that they had.
    fn end_ranges_before(&mut self, end: Timestamp) {
        while let Some(index) = self.by_last.get(self.ranges_over) {
            let range = &self.ranges[*index];
            if range.span.last >= end {
                return;
            }
            self.ranges_over += 1;
            let (span, found) = (range.span, self.planned - range.ticks_before);
            let (is_begun, is_ended) = (span.first >= self.from, span.last <= self.through);
            if is_begun && is_ended && span.count != found {
                self.holes.push(Hole::Miscounted { span, found });
                continue;
            }
            if is_begun && range.tick != Some(span.first) {
                self.holes.push(Hole::Foreign { at: span.first });
            }
            if is_ended && self.latest != Some(span.last) && span.last != span.first {
                self.holes.push(Hole::Foreign { at: span.last });
            }
        }
    }
}

/// When a hole begins.
fn begin(hole: &Hole) -> Timestamp {
    match hole {
        Hole::Missing { first, .. } => *first,
        Hole::Doubled { tick, .. } => *tick,
        Hole::Foreign { at } => *at,
        Hole::Miscounted { span, .. } => span.first,
    }
}
