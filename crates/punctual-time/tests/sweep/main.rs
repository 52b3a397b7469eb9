//! Clock changes of the zones that break schedulers, all cases, against an oracle that walks UTC.
//!
//! Every zone and every transition from 1970 to 2037 takes longer: `cargo run --release -p punctual-time
//! --example sweep`.
#![allow(clippy::unwrap_used, reason = "a test may fail at once")]

mod cases;
mod check;
mod oracle;

use std::collections::BTreeMap;

use punctual_time::Zone;

/// A zone, and a day near which its clock changes.
const SAMPLE: [(&str, &str); 18] = [
    ("America/New_York", "2025-03-09"),
    ("America/New_York", "2025-11-02"),
    ("Europe/London", "2025-10-26"),
    ("Australia/Lord_Howe", "2025-04-06"),
    ("Australia/Lord_Howe", "2025-10-05"),
    ("Pacific/Apia", "2011-12-30"),
    ("Pacific/Kwajalein", "1993-08-21"),
    ("Africa/Cairo", "2024-04-26"),
    ("Asia/Beirut", "2024-03-31"),
    ("America/Sao_Paulo", "2018-02-18"),
    ("America/Sao_Paulo", "2018-11-04"),
    ("Antarctica/Troll", "2024-03-31"),
    ("America/St_Johns", "1988-04-03"),
    ("Africa/Monrovia", "1972-01-07"),
    ("Pacific/Chatham", "2025-04-06"),
    ("Africa/Casablanca", "2025-02-23"),
    ("Antarctica/Casey", "2009-10-17"),
    ("Antarctica/Casey", "2018-03-10"),
];

#[test]
fn the_zones_that_break_schedulers_agree_with_the_oracle() {
    let cases = check::cases();
    for (name, day) in SAMPLE {
        let zone = Zone::get(name).unwrap();
        let midnight: jiff::Timestamp = format!("{day}T00:00:00Z").parse().unwrap();
        let (from, to) = (midnight.as_second() - 2 * 86_400, midnight.as_second() + 2 * 86_400);
        let transitions = check::transitions(&zone.to_jiff(), from, to);
        assert_eq!(transitions.len(), 1, "{name} {day}");
        let count = check::transition(&zone, transitions[0], &cases);
        assert!(count.transitions == 1 && count.searches > cases.len() as u64);
    }
}

#[test]
fn every_class_has_twenty_cases() {
    let mut classes: BTreeMap<&str, usize> = BTreeMap::new();
    for checked in check::cases() {
        *classes.entry(checked.case.class).or_default() += 1;
    }
    assert!(classes.values().all(|&count| count >= 20), "{classes:?}");
    assert!(classes.values().sum::<usize>() >= 200, "{classes:?}");
}
