//! One zone, one transition, all cases: the crate against the oracle.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use punctual_time::{Cron, Dialect, DstRule, Zone};

use crate::cases::{self, Case};
use crate::oracle::{Stretch, Walk};

/// Seconds walked on each side of a transition, by minutes and by seconds.
const MINUTES_AROUND: i64 = 26 * 3600;
const SECONDS_AROUND: i64 = 5400;
/// Ticks this close to a transition are also asked from within their interval, and backwards.
const CLOSE: i64 = 4 * 3600;

/// A case as the crate holds it.
pub(crate) struct Checked {
    pub(crate) case: Case,
    cron: Cron,
    rule: DstRule,
}

/// What was checked.
#[derive(Clone, Copy, Default)]
pub(crate) struct Count {
    pub(crate) transitions: u64,
    pub(crate) searches: u64,
}

/// Every case, parsed by the crate.
pub(crate) fn cases() -> Vec<Checked> {
    let rule = |case: &Case| DstRule {
        gap: case.gap.map(|gap| match gap {
            cases::Gap::Shift => punctual_time::Gap::Shift,
            cases::Gap::Skip => punctual_time::Gap::Skip,
        }),
        fold: case.fold.map(|fold| match fold {
            cases::Fold::First => punctual_time::Fold::First,
            cases::Fold::Last => punctual_time::Fold::Last,
            cases::Fold::Both => punctual_time::Fold::Both,
        }),
    };
    cases::all()
        .into_iter()
        .map(|case| Checked {
            cron: Cron::parse(&case.expr, Dialect::Standard).unwrap(),
            rule: rule(&case),
            case,
        })
        .collect()
}

/// The transitions of a zone between two instants that change its offset.
pub(crate) fn transitions(zone: &TimeZone, from: i64, to: i64) -> Vec<i64> {
    let offset = |second: i64| zone.to_offset(instant(second));
    zone.following(instant(from))
        .map(|change| change.timestamp().as_second())
        .take_while(|&at| at < to)
        .filter(|&at| offset(at) != offset(at - 1))
        .collect()
}

fn instant(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

/// Checks all cases around one transition.
pub(crate) fn transition(zone: &Zone, at: i64, cases: &[Checked]) -> Count {
    let jiff_zone = zone.to_jiff();
    let is_odd = [at - 1, at].iter().any(|&second| jiff_zone.to_offset(instant(second)).seconds() % 60 != 0);
    let step = if is_odd { 1 } else { 60 };
    let around = if is_odd { SECONDS_AROUND } else { MINUTES_AROUND };
    let coarse = Stretch { from: at - around, to: at + around, step };
    let fine = Stretch { from: at - SECONDS_AROUND, to: at + SECONDS_AROUND, step: 1 };
    let by_minute = Walk::new(&jiff_zone, coarse);
    let by_second = Walk::new(&jiff_zone, fine);
    let mut count = Count { transitions: 1, searches: 0 };
    for checked in cases {
        let is_fine = checked.case.class == "seconds";
        let (walk, stretch) = if is_fine { (&by_second, fine) } else { (&by_minute, coarse) };
        let ticks = walk.ticks(&checked.case);
        count.searches += case(zone, at, checked, (&ticks, stretch));
    }
    count
}

/// Follows `next` through the walk, and asks again from everywhere near the transition.
fn case(zone: &Zone, at: i64, checked: &Checked, (ticks, stretch): (&[i64], Stretch)) -> u64 {
    let next =
        |after: i64| checked.cron.next_by(checked.rule, instant(after), zone).map(Timestamp::as_second);
    let prev =
        |before: i64| checked.cron.prev_by(checked.rule, instant(before), zone).map(Timestamp::as_second);
    let mut searches = 0;
    if let Some(&first) = ticks.first() {
        // From the tick before, which may be years and many transitions away.
        let before = prev(first).expect("a tick before the first");
        assert_eq!(next(before), Some(first), "{zone}: {:?} after {}", checked.case, instant(before));
    }
    let mut after = stretch.from - 1;
    for &tick in ticks {
        let found = next(after);
        searches += 1;
        assert_eq!(found, Some(tick), "{zone}: {:?} after {}", checked.case, instant(after));
        if (tick - at).abs() < CLOSE {
            for inside in [after + (tick - after) / 3, tick - 1] {
                assert_eq!(next(inside), Some(tick), "{zone}: {:?} after {}", checked.case, instant(inside));
            }
            if after >= stretch.from {
                for inside in [after + 1, after + (tick - after) / 2 + 1, tick] {
                    assert_eq!(
                        prev(inside),
                        Some(after),
                        "{zone}: {:?} before {}",
                        checked.case,
                        instant(inside)
                    );
                }
            }
            searches += 5;
        }
        after = tick;
    }
    let beyond = next(after).is_none_or(|next| next > stretch.to);
    assert!(beyond, "{zone}: {:?} after {}", checked.case, instant(after));
    searches + 1
}
