//! Ticks are in order, forwards and backwards, and those of croner where both speak the same language.

use std::str::FromStr;

use chrono::DateTime;
use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;
use proptest::sample::Index;
use punctual_time::{Cron, Dialect, DstRule, Fold, Gap, Zone};

use crate::{DAY, HOUR, MINUTE, MONTH, WEEKDAY, config, field, instant, pick, standard, zone};

fn rule(index: Index) -> DstRule {
    let gaps = [None, Some(Gap::Shift), Some(Gap::Skip)];
    let folds = [None, Some(Fold::First), Some(Fold::Last), Some(Fold::Both)];
    let at = index.index(gaps.len() * folds.len());
    DstRule { gap: gaps[at % gaps.len()], fold: folds[at / gaps.len()] }
}

proptest! {
    #![proptest_config(config(1500))]

    #[test]
    fn prev_and_next_are_inverse(
        text in standard(), at in instant(), zone in zone(), chosen in any::<Index>(),
    ) {
        let Ok(cron) = Cron::parse(&text, Dialect::Standard) else { return Ok(()) };
        let rule = rule(chosen);
        let next = |at: Timestamp| cron.next_by(rule, at, &zone);
        let prev = |at: Timestamp| cron.prev_by(rule, at, &zone);
        if let Some(after) = next(at) {
            prop_assert!(after > at);
            if let Some(before) = prev(after) {
                prop_assert!(before <= at, "{} has {} between {} and {}", text, before, at, after);
                prop_assert_eq!(next(before), Some(after));
                prop_assert_eq!(next(after - SignedDuration::from_nanos(1)), Some(after));
            }
        }
        if let Some(before) = prev(at) {
            prop_assert!(before < at);
            if let Some(after) = next(before) {
                prop_assert!(after >= at, "{} has {} between {} and {}", text, after, before, at);
                prop_assert_eq!(prev(after), Some(before));
            }
        }
    }

    #[test]
    fn a_tick_shows_its_own_fields_on_the_clock_unless_it_was_moved(
        text in standard(), at in instant(), zone in zone(),
    ) {
        let Ok(cron) = Cron::parse(&text, Dialect::Standard) else { return Ok(()) };
        let skip = DstRule { gap: Some(Gap::Skip), fold: None };
        if let Some(next) = cron.next_by(skip, at, &zone) {
            let local = next.to_zoned(zone.to_jiff());
            let has = |field, value: i8| cron.set(field).contains(value as u32);
            prop_assert!(has(punctual_time::Field::Minute, local.minute()));
            prop_assert!(has(punctual_time::Field::Hour, local.hour()));
            prop_assert!(has(punctual_time::Field::Second, local.second()));
            prop_assert!(has(punctual_time::Field::Month, local.month()));
        }
    }
}

#[test]
fn the_ends_of_time_are_answered() {
    for text in ["* * * * * *", "0 0 29 2 *", "30 2 L * *", "0 0 * * 1#5", "0 */2 * * *"] {
        let cron = Cron::parse(text, Dialect::Standard).unwrap();
        for zone in crate::ZONES.map(|name| Zone::get(name).unwrap()) {
            assert!(cron.next(Timestamp::MIN, &zone).is_some_and(|next| next > Timestamp::MIN));
            assert!(cron.prev(Timestamp::MAX, &zone).is_some_and(|prev| prev < Timestamp::MAX));
            assert_eq!(cron.next(Timestamp::MAX, &zone), None);
            assert_eq!(cron.prev(Timestamp::MIN, &zone), None);
        }
    }
}

/// What both crates read alike. A stepped star in the day-of-month counts as a star for croner, so it is left out.
fn shared() -> impl Strategy<Value = String> {
    let days = field(DAY).prop_filter("a star with a step", |text| text == "*" || !text.contains('*'));
    let weekdays =
        field(WEEKDAY).prop_filter("a star with a step", |text| text == "*" || !text.contains('*'));
    let special = prop_oneof![
        Just(("L".to_owned(), "*".to_owned())),
        (1..=31_u32).prop_map(|day| (format!("{day}W"), "*".to_owned())),
        (0..=6_u32, 1..=5_u32).prop_map(|(weekday, nth)| ("*".to_owned(), format!("{weekday}#{nth}"))),
        (0..=6_u32).prop_map(|weekday| ("*".to_owned(), format!("{weekday}L"))),
    ];
    let day_fields = prop_oneof![3 => (days, weekdays), 1 => special];
    let seconds = proptest::option::weighted(0.3, field(MINUTE));
    (seconds, field(MINUTE), field(HOUR), day_fields, field(MONTH)).prop_map(
        |(second, minute, hour, (day, weekday), month)| {
            let expr = format!("{minute} {hour} {day} {month} {weekday}");
            second.map_or(expr.clone(), |second| format!("{second} {expr}"))
        },
    )
}

proptest! {
    #![proptest_config(config(600))]

    #[test]
    fn croner_finds_the_same_ticks_in_utc(text in shared(), starts in proptest::collection::vec(0..4_000_000_000_i64, 8), index in any::<Index>()) {
        let (Ok(ours), Ok(theirs)) = (Cron::parse(&text, Dialect::Standard), croner::Cron::from_str(&text)) else {
            return Ok(());
        };
        let mut at = *pick(&starts, index);
        for _ in 0..5 {
            let after = DateTime::from_timestamp(at, 0).unwrap();
            let Ok(expected) = theirs.find_next_occurrence(&after, false) else { break };
            let found = ours.next(Timestamp::from_second(at).unwrap(), &Zone::utc()).map(Timestamp::as_second);
            prop_assert_eq!(found, Some(expected.timestamp()), "{} after {}", text, after);
            at = expected.timestamp();
        }
    }
}
