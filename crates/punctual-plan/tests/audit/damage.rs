//! A whole ledger, damaged in every way at every place, against the holes that are named.

use jiff::{SignedDuration, Timestamp};
use punctual_plan::{AUDIT_HOLES_MAX, AUDIT_MAX, Basis, Hole, Recorded, Span, audit_ledger};
use punctual_time::{Anchor, Cron, Interval, Timing, Zone};

use crate::{Stretch, at, searched, zone};

/// A ledger and what it is of: every twenty minutes through the night in which New York's clock goes back.
struct Ledger {
    timing: Timing,
    stretch: Stretch,
    rows: Vec<Timestamp>,
    ranges: Vec<Span>,
}

impl Ledger {
    fn whole() -> Self {
        let cron = "*/20 * * * *".parse::<Cron>().expect("a spec");
        let timing = Timing::new(cron, zone("America/New_York"));
        let stretch = at("2025-11-02T03:50:00Z")..=at("2025-11-02T08:10:00Z");
        let rows = searched(&timing, &stretch);
        assert_eq!(rows.len(), 13);
        Self { timing, stretch, rows, ranges: Vec::new() }
    }

    /// The ledger with a range instead of some of its rows.
    fn with_range(first: usize, last: usize) -> Self {
        let mut ledger = Self::whole();
        let rows: Vec<Timestamp> = ledger.rows.drain(first..=last).collect();
        ledger.ranges = vec![Span { first: rows[0], last: rows[last - first], count: rows.len() as u64 }];
        ledger
    }

    fn check(&self, expected: &[Hole]) {
        let recorded = Recorded { rows: &self.rows, ranges: &self.ranges };
        let audit = audit_ledger(&self.timing, recorded, self.stretch.clone());
        assert_eq!(audit.holes, expected, "{:?} {:?}", self.rows, self.ranges);
        assert_eq!((audit.planned, audit.basis), (13, Basis::Spec));
        assert_eq!(audit.is_proved(), expected.is_empty());
    }
}

fn missing(rows: &[Timestamp]) -> Hole {
    Hole::Missing { first: rows[0], last: rows[rows.len() - 1], count: rows.len() as u64 }
}

#[test]
fn rows_that_were_dropped_are_missing() {
    let all = Ledger::whole().rows;
    for first in 0..all.len() {
        for last in first..all.len() {
            let mut ledger = Ledger::whole();
            ledger.rows.drain(first..=last);
            ledger.check(&[missing(&all[first..=last])]);
        }
    }
}

#[test]
fn a_row_that_is_there_again_is_doubled_in_any_order() {
    for tick in Ledger::whole().rows {
        let mut ledger = Ledger::whole();
        ledger.rows.push(tick);
        ledger.check(&[Hole::Doubled { tick, entries: 2 }]);
        ledger.rows.insert(0, tick);
        ledger.check(&[Hole::Doubled { tick, entries: 3 }]);
    }
}

#[test]
fn a_row_that_was_shifted_is_missing_there_and_foreign_here() {
    for index in 0..13 {
        for shift_ms in [-60_000, -1_000, -1, 1, 1_000, 60_000] {
            let mut ledger = Ledger::whole();
            let tick = ledger.rows[index];
            let shifted = tick + SignedDuration::from_millis(shift_ms);
            ledger.rows[index] = shifted;
            let mut expected = [missing(&[tick]), Hole::Foreign { at: shifted }];
            if shift_ms < 0 {
                expected.reverse();
            }
            ledger.check(&expected);
        }
    }
}

#[test]
fn a_range_stands_for_rows_as_long_as_its_count_and_its_ends_are_right() {
    for (first, last) in (0..13).flat_map(|first| (first..13).map(move |last| (first, last))) {
        Ledger::with_range(first, last).check(&[]);
        let mut ledger = Ledger::with_range(first, last);
        let found = ledger.ranges[0].count;
        for count in [0, found - 1, found + 1] {
            ledger.ranges[0].count = count;
            let span = ledger.ranges[0];
            let expected = Hole::Miscounted { span, found };
            ledger.check(if count == found { &[] } else { std::slice::from_ref(&expected) });
        }
        let second = SignedDuration::from_secs(1);
        let mut ledger = Ledger::with_range(first, last);
        ledger.ranges[0].first -= second;
        ledger.check(&[Hole::Foreign { at: ledger.ranges[0].first }]);
        let mut ledger = Ledger::with_range(first, last);
        ledger.ranges[0].last += second;
        ledger.check(&[Hole::Foreign { at: ledger.ranges[0].last }]);
    }
}

#[test]
fn ticks_in_a_range_and_a_row_or_in_two_ranges_are_doubled() {
    let all = Ledger::whole().rows;
    let doubled = |tick: &Timestamp| Hole::Doubled { tick: *tick, entries: 2 };
    for (first, last) in (0..13).flat_map(|first| (first..13).map(move |last| (first, last))) {
        let mut ledger = Ledger::with_range(first, last);
        ledger.rows.push(all[first]);
        ledger.check(&[doubled(&all[first])]);
        let mut ledger = Ledger::with_range(first, last);
        ledger.ranges.insert(0, ledger.ranges[0]);
        ledger.check(&all[first..=last].iter().map(doubled).collect::<Vec<_>>());
        if first > 0 {
            // One tick too many at its beginning, and counted.
            let mut ledger = Ledger::with_range(first, last);
            ledger.ranges[0].first = all[first - 1];
            ledger.ranges[0].count += 1;
            ledger.check(&[doubled(&all[first - 1])]);
        }
    }
}

#[test]
fn a_range_of_nothing_and_a_range_backwards_are_named() {
    let mut ledger = Ledger::whole();
    let between = |count| Span { first: at("2025-11-02T04:01:00Z"), last: at("2025-11-02T04:02:00Z"), count };
    ledger.ranges = vec![between(1)];
    ledger.check(&[Hole::Miscounted { span: between(1), found: 0 }]);
    ledger.ranges = vec![between(0)];
    ledger.check(&[Hole::Foreign { at: between(0).first }, Hole::Foreign { at: between(0).last }]);
    let backwards = Span { first: ledger.rows[5], last: ledger.rows[3], count: 3 };
    ledger.ranges = vec![backwards];
    ledger.check(&[Hole::Miscounted { span: backwards, found: 0 }]);
}

#[test]
fn a_range_over_the_border_of_the_stretch_stands_for_the_ticks_inside() {
    let mut ledger = Ledger::whole();
    let hour = SignedDuration::from_hours(1);
    let (early, late) = (ledger.rows[0] - hour, ledger.rows[12] + hour);
    let before = Span { first: early, last: ledger.rows[2], count: 6 };
    let after = Span { first: ledger.rows[11], last: late, count: 5 };
    ledger.rows.drain(11..);
    ledger.rows.drain(..3);
    ledger.ranges = vec![after, before];
    ledger.check(&[]);
    ledger.rows.clear();
    ledger.ranges = vec![Span { first: early, last: late, count: 19 }];
    ledger.check(&[]);
    ledger.ranges[0].last = late - hour + SignedDuration::from_mins(1);
    ledger.check(&[Hole::Foreign { at: ledger.ranges[0].last }]);
}

#[test]
fn entries_outside_the_stretch_do_not_count() {
    let mut ledger = Ledger::whole();
    let far = at("2025-11-03T00:00:01Z");
    ledger.rows.extend([far, far]);
    ledger.ranges.push(Span { first: far, last: far, count: 9 });
    ledger.check(&[]);
}

#[test]
fn a_floating_anchor_is_not_guessed_at() {
    let mut timing = Timing::new("5m".parse::<Interval>().expect("an interval"), Zone::utc());
    let stretch = at("2026-01-01T00:00:00Z")..=at("2026-01-02T00:00:00Z");
    let (one, other) = (at("2026-01-01T03:07:11Z"), at("2026-01-01T05:00:00Z"));
    for anchor in [Anchor::LastStart, Anchor::LastFinish] {
        timing.anchor = anchor;
        for rows in [&[one, other][..], &[other, one, other]] {
            let audit = audit_ledger(&timing, Recorded { rows, ranges: &[] }, stretch.clone());
            let doubled = [Hole::Doubled { tick: other, entries: 2 }];
            assert_eq!(audit.holes, doubled[..rows.len() - 2]);
            assert_eq!((audit.planned, audit.basis, audit.is_proved()), (0, Basis::Runs, false));
        }
    }
}

#[test]
fn an_audit_says_how_far_it_looked() {
    let timing = Timing::new("0 0 1 1 *".parse::<Cron>().expect("a spec"), Zone::utc());
    let stretch = at("2000-01-01T00:00:00Z")..=at("2030-01-01T00:00:00Z");
    let rows = searched(&timing, &stretch);
    let audit = audit_ledger(&timing, Recorded { rows: &rows, ranges: &[] }, stretch.clone());
    assert!(audit.is_proved());
    assert_eq!(audit.through, *stretch.start() + AUDIT_MAX);

    // Every second tick lacks its entry; the audit can be taken up where it ended.
    let timing = Timing::new("* * * * *".parse::<Cron>().expect("a spec"), Zone::utc());
    let stretch = at("2026-01-01T00:00:00Z")..=at("2026-01-03T00:00:00Z");
    let rows: Vec<Timestamp> = searched(&timing, &stretch).into_iter().step_by(2).collect();
    let mut from = *stretch.start();
    let mut named = 0;
    while from <= *stretch.end() {
        let audit = audit_ledger(&timing, Recorded { rows: &rows, ranges: &[] }, from..=*stretch.end());
        assert!(audit.holes.len() <= AUDIT_HOLES_MAX && audit.through >= from);
        named += audit.holes.len();
        from = audit.through + SignedDuration::from_secs(1);
    }
    assert_eq!(named, 1_440);

    // Entries of nothing at all are named up to the bound as well.
    let foreign: Vec<Timestamp> = (1..=1_500)
        .map(|second| at("2026-01-01T00:00:00Z") + SignedDuration::from_secs(second * 61))
        .collect();
    let timing = Timing::new("0 0 1 1 *".parse::<Cron>().expect("a spec"), Zone::utc());
    let second = at("2026-01-01T00:00:01Z");
    let audit = audit_ledger(&timing, Recorded { rows: &foreign, ranges: &[] }, second..=*stretch.end());
    assert_eq!((audit.holes.len(), audit.through), (AUDIT_HOLES_MAX, foreign[AUDIT_HOLES_MAX - 1]));
}
