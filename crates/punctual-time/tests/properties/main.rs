//! What must hold for every expression, zone and instant.
#![allow(clippy::unwrap_used, reason = "a test may fail at once")]

mod spelling;
mod ticks;

use jiff::Timestamp;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use punctual_time::Zone;

/// Zones whose clocks change in unusual ways, and some whose do not.
const ZONES: [&str; 12] = [
    "UTC",
    "America/New_York",
    "Europe/London",
    "Australia/Lord_Howe",
    "Pacific/Apia",
    "Pacific/Chatham",
    "Africa/Cairo",
    "Africa/Casablanca",
    "America/Sao_Paulo",
    "America/St_Johns",
    "Antarctica/Troll",
    "Asia/Tokyo",
];

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

fn zone() -> impl Strategy<Value = Zone> {
    select(ZONES.to_vec()).prop_map(|name| Zone::get(name).unwrap())
}

/// Any nanosecond from 1900 to 2150.
fn instant() -> impl Strategy<Value = Timestamp> {
    (-2_208_988_800_i64..5_680_281_600, 0..1_000_000_000_i32)
        .prop_map(|(second, nano)| Timestamp::new(second, if second < 0 { -nano } else { nano }).unwrap())
}

/// The bounds of a field.
#[derive(Clone, Copy, Debug)]
struct Range {
    min: u32,
    max: u32,
}

const MINUTE: Range = Range { min: 0, max: 59 };
const HOUR: Range = Range { min: 0, max: 23 };
const DAY: Range = Range { min: 1, max: 31 };
const MONTH: Range = Range { min: 1, max: 12 };
const WEEKDAY: Range = Range { min: 0, max: 6 };

/// A value, a range, or a range with a step, which every dialect but `posix` has.
fn item(range: Range) -> BoxedStrategy<String> {
    let Range { min, max } = range;
    let ends = (min..=max, min..=max).prop_map(|(one, other)| (one.min(other), one.max(other)));
    prop_oneof![
        4 => (min..=max).prop_map(|value| value.to_string()),
        2 => ends.clone().prop_map(|(from, to)| format!("{from}-{to}")),
        1 => (ends, 1..=max).prop_map(|((from, to), step)| format!("{from}-{to}/{step}")),
        1 => (1..=max).prop_map(|step| format!("*/{step}")),
    ]
    .boxed()
}

/// A whole field: a star, or a list.
fn field(range: Range) -> BoxedStrategy<String> {
    let list = proptest::collection::vec(item(range), 1..4).prop_map(|items| items.join(","));
    prop_oneof![1 => Just("*".to_owned()), 2 => list].boxed()
}

/// A day-of-month field with everything that `standard` has.
fn day_field() -> BoxedStrategy<String> {
    let special = prop_oneof![
        Just("L".to_owned()),
        Just("LW".to_owned()),
        (1..=30_u32).prop_map(|back| format!("L-{back}")),
        (1..=30_u32).prop_map(|back| format!("L-{back}W")),
        (1..=31_u32).prop_map(|day| format!("{day}W")),
    ];
    let list = (special, proptest::option::of(item(DAY)))
        .prop_map(|(special, plain)| plain.map_or(special.clone(), |plain| format!("{plain},{special}")));
    prop_oneof![3 => field(DAY), 1 => list].boxed()
}

/// A day-of-week field with everything that `standard` has.
fn weekday_field() -> BoxedStrategy<String> {
    let special = prop_oneof![
        (0..=6_u32, 1..=5_u32).prop_map(|(weekday, nth)| format!("{weekday}#{nth}")),
        (0..=6_u32).prop_map(|weekday| format!("{weekday}L")),
    ];
    let list = (special, proptest::option::of(item(WEEKDAY)))
        .prop_map(|(special, plain)| plain.map_or(special.clone(), |plain| format!("{plain},{special}")));
    prop_oneof![3 => field(WEEKDAY), 1 => list].boxed()
}

/// Any expression of `standard` with five or six fields; it may never fire.
fn standard() -> impl Strategy<Value = String> {
    let seconds = proptest::option::weighted(0.3, field(MINUTE));
    let join = proptest::bool::weighted(0.1);
    (seconds, field(MINUTE), field(HOUR), day_field(), field(MONTH), weekday_field(), join).prop_map(
        |(second, minute, hour, day, month, weekday, joined)| {
            let plus = if joined { "+" } else { "" };
            let expr = format!("{minute} {hour} {day} {month} {plus}{weekday}");
            second.map_or(expr.clone(), |second| format!("{second} {expr}"))
        },
    )
}

/// One of a slice.
fn pick<T>(values: &[T], index: Index) -> &T {
    &values[index.index(values.len())]
}
