//! Random definitions in every zone, near their clock changes.

use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;
use proptest::sample::select;
use punctual_time::{Cron, DstRule, Interval, Spec, Timing, Unit, Zone};

use crate::{Stretch, audit_search, rules};

/// 1970-01-01 to 2038-01-01.
const SECONDS: std::ops::Range<i64> = 0..2_145_916_800;

/// A list of numbers, ranges and steps.
fn list(min: u32, max: u32) -> impl Strategy<Value = String> {
    let item = prop_oneof![
        4 => (min..=max).prop_map(|one| one.to_string()),
        2 => (min..=max, min..=max).prop_map(|(one, other)| format!("{}-{}", one.min(other), one.max(other))),
        1 => (min..=max, 1..=max).prop_map(move |(from, step)| format!("{from}-{max}/{step}")),
        1 => (1..=max).prop_map(|step| format!("*/{step}")),
    ];
    prop::collection::vec(item, 1..4).prop_map(|items| items.join(","))
}

fn or_star(field: impl Strategy<Value = String>, stars: u32) -> impl Strategy<Value = String> {
    prop_oneof![stars => Just("*".to_owned()), 3 => field]
}

fn month_days() -> impl Strategy<Value = String> {
    let item = prop_oneof![
        3 => list(1, 31),
        1 => Just("L".to_owned()),
        1 => Just("LW".to_owned()),
        1 => (1..=6u32).prop_map(|back| format!("L-{back}")),
        1 => (1..=31u32).prop_map(|day| format!("{day}W")),
    ];
    prop::collection::vec(item, 1..3).prop_map(|items| items.join(","))
}

fn weekdays() -> impl Strategy<Value = String> {
    let item = prop_oneof![
        3 => list(0, 6),
        1 => (0..=6u32, 1..=5u32).prop_map(|(day, nth)| format!("{day}#{nth}")),
        1 => (0..=6u32).prop_map(|day| format!("{day}L")),
    ];
    let items = prop::collection::vec(item, 1..3).prop_map(|items| items.join(","));
    (select(&["", "", "+"][..]), items).prop_map(|(join, items)| format!("{join}{items}"))
}

fn any_cron() -> impl Strategy<Value = Spec> {
    let seconds = prop_oneof![3 => Just(String::new()), 1 => list(0, 59).prop_map(|list| format!("{list} "))];
    let hours = or_star(list(0, 23), 2);
    let days = (or_star(month_days(), 3), or_star(list(1, 12), 6), or_star(weekdays(), 3));
    (seconds, list(0, 59), hours, days).prop_filter_map(
        "a spec that fires",
        |(second, minute, hour, days)| {
            let (day, month, weekday) = days;
            let text = format!("{second}{minute} {hour} {day} {month} {weekday}");
            text.parse::<Cron>().ok().map(Spec::from)
        },
    )
}

fn any_interval() -> impl Strategy<Value = Spec> {
    let unit = select(&[Unit::Second, Unit::Day, Unit::Month][..]);
    (unit, 1..40u64, select(&[1, 60, 3600][..])).prop_map(|(unit, count, factor)| {
        let count = if unit == Unit::Second { count * factor } else { count };
        Spec::from(Interval::new(count, unit).expect("an interval"))
    })
}

prop_compose! {
    fn any_timing()(
        spec in prop_oneof![3 => any_cron(), 1 => any_interval()],
        zone in select(Zone::names().collect::<Vec<_>>()),
        rule in select(rules().collect::<Vec<DstRule>>()),
        created in SECONDS,
    ) -> Timing {
        let mut timing = Timing::new(spec, Zone::get(&zone).expect("a zone"));
        timing.dst = rule;
        timing.created_at = Timestamp::from_second(created).expect("an instant");
        timing
    }
}

/// Some days around the first clock change after the creation, or around the creation.
fn stretch(timing: &Timing, before_s: i64, length_s: i64) -> Stretch {
    let zone = timing.zone.to_jiff();
    let change =
        zone.following(timing.created_at).next().map_or(timing.created_at, |change| change.timestamp());
    let from = change - SignedDuration::from_secs(before_s);
    from..=from + SignedDuration::from_secs(length_s)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_definition_in_any_zone_agrees(
        mut timing in any_timing(),
        before_s in 0..200_000i64,
        length_s in 0..700_000i64,
        bounds in (prop::option::of(0..400_000i64), prop::option::of(0..400_000i64)),
    ) {
        let stretch = stretch(&timing, before_s, length_s);
        let inside = |after: Option<i64>| after.map(|after| *stretch.start() + SignedDuration::from_secs(after));
        (timing.bounds.start_at, timing.bounds.end_at) = (inside(bounds.0), inside(bounds.1));
        // Seconds are many; a shorter stretch of them says as much.
        let is_dense = timing.spec.smallest_gap().is_some_and(|gap| gap < SignedDuration::from_mins(1));
        let length = if is_dense { length_s / 10 } else { length_s };
        let stretch = *stretch.start()..=*stretch.start() + SignedDuration::from_secs(length);
        let (found, audit) = audit_search(&timing, &stretch);
        prop_assert!(audit.is_proved(), "{timing:?} over {stretch:?}: {:?}", audit.holes);
        prop_assert_eq!(audit.planned, found as u64);
    }
}
