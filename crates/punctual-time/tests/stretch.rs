//! Goal: counting a stretch of ticks gives what walking it gives, in every zone and through every window.
//! Method: specs, zones and windows against the walk, around clock changes and over plain months.

use jiff::{SignedDuration, Timestamp};
use punctual_time::{Cron, Interval, QuietHours, Spec, TickStretch, Timing, Weekdays, Zone};

const CRONS: &[&str] = &[
    "* * * * *",
    "*/15 9-17 * * MON-FRI",
    "30 2 * * *",
    "0 0 31 * *",
    "0 9 1,15 * MON",
    "7,23 1-3 L * *",
    "*/40 * * * * *",
    "0 30 1 29 2 *",
    "0 12 * 3,11 1#2",
];

const EVERY: &[&str] = &["90s", "7m", "1d", "monthly"];

const ZONES: &[&str] = &["UTC", "America/New_York", "Australia/Lord_Howe", "Pacific/Apia", "Asia/Kathmandu"];

fn at(text: &str) -> Timestamp {
    text.parse().expect("an instant")
}

/// Ticks one by one, gathered by what suppresses them.
fn walked(timing: &Timing, from: Timestamp, to: Timestamp) -> Vec<TickStretch> {
    let mut all: Vec<TickStretch> = Vec::new();
    for tick in timing.ticks(from..=to) {
        match all.last_mut().filter(|stretch| stretch.suppressed == tick.suppressed) {
            Some(stretch) => (stretch.last, stretch.count) = (tick.at, stretch.count + 1),
            None => {
                all.push(TickStretch {
                    first: tick.at,
                    last: tick.at,
                    count: 1,
                    suppressed: tick.suppressed,
                });
            }
        }
    }
    all
}

fn check(timing: &Timing, from: Timestamp, to: Timestamp) {
    let counted: Vec<TickStretch> = timing.stretches(from..=to).collect();
    assert_eq!(counted, walked(timing, from, to), "{} in {} from {from} to {to}", timing.spec, timing.zone);
}

fn specs() -> Vec<Spec> {
    let crons = CRONS.iter().map(|text| Spec::from(text.parse::<Cron>().expect("a cron expression")));
    crons.chain(EVERY.iter().map(|text| Spec::from(text.parse::<Interval>().expect("an interval")))).collect()
}

fn each(windowed: impl Fn(&mut Timing)) {
    let stretches = [
        ("2025-03-08T00:00:07Z", "2025-03-11T23:59:59Z"),
        ("2025-11-01T05:30:00Z", "2025-11-03T06:00:00Z"),
        ("2025-04-05T14:59:59Z", "2025-04-05T16:00:01Z"),
        ("2011-12-29T00:00:00Z", "2012-01-01T00:00:00Z"),
        ("2024-02-27T11:11:11Z", "2024-03-14T00:00:00Z"),
    ];
    for spec in specs() {
        for zone in ZONES {
            let mut timing = Timing::new(spec, Zone::get(zone).expect("a zone"));
            timing.created_at = at("2011-12-01T00:00:13Z");
            windowed(&mut timing);
            stretches.iter().for_each(|(from, to)| check(&timing, at(from), at(to)));
        }
    }
}

#[test]
fn a_count_equals_the_walk_without_windows() {
    each(|_| {});
}

#[test]
fn a_count_equals_the_walk_within_a_part_of_the_day_and_without_weekends() {
    each(|timing| {
        timing.windows.only_between = Some("22:30-06:00".parse().expect("a part of the day"));
        timing.windows.exclude("saturday", &[]).expect("a weekday");
    });
}

#[test]
fn a_count_equals_the_walk_through_quiet_hours_of_another_zone() {
    each(|timing| {
        let on = Weekdays::none().with(5).with(6);
        let during = "22:00-06:00".parse().expect("a part of the day");
        let zone = Some(Zone::get("Europe/Berlin").expect("a zone"));
        timing.windows.quiet_hours.push(QuietHours { name: "night".to_owned(), during, on, zone });
    });
}

#[test]
fn a_count_equals_the_walk_within_bounds() {
    each(|timing| {
        timing.bounds.start_at = Some(at("2025-03-09T06:12:00.5Z"));
        timing.bounds.end_at = Some(at("2025-11-02T06:12:00Z"));
    });
}

#[test]
fn a_stretch_of_centuries_is_counted_at_once() {
    let timing = Timing::new("* * * * * *".parse::<Cron>().expect("a cron expression"), Zone::utc());
    let (from, to) = (at("1900-01-01T00:00:00Z"), at("2300-01-01T00:00:00Z"));
    let counted: u64 = timing.stretches(from..to).map(|stretch| stretch.count).sum();
    assert_eq!(counted, to.duration_since(from).as_secs().unsigned_abs());
    let minute = at("2026-01-01T00:00:00Z")..at("2026-01-01T00:00:00Z") + SignedDuration::from_mins(1);
    assert_eq!(timing.stretches(minute).map(|stretch| stretch.count).sum::<u64>(), 60);
}
