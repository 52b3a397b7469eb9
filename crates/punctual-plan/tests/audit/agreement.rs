//! Tables of definitions around the clock changes of zones that are hard to get right.

use jiff::{SignedDuration, Timestamp};
use punctual_time::{Cron, Dialect, Interval, Once, Spec, Timing, Unit, Zone};

use crate::{around, at, changes, check, rules, zone};

/// A zone and years in which its clock does something of its own.
const ZONES: &[(&str, &[i16])] = &[
    ("America/New_York", &[2007, 2025, 2026]),
    ("Europe/Berlin", &[1980, 2026]),
    ("Australia/Lord_Howe", &[2008, 2025]),
    ("Pacific/Apia", &[2011]),
    ("America/Santiago", &[2011, 2025]),
    ("Africa/Casablanca", &[2012, 2025]),
    ("Antarctica/Troll", &[2024]),
    ("Antarctica/Casey", &[2009, 2010, 2018]),
    ("Pacific/Kiritimati", &[1994, 1995]),
    ("Africa/Cairo", &[2010, 2024]),
    ("Africa/Monrovia", &[1972]),
    ("America/Sao_Paulo", &[2018]),
];

const STANDARD: &[&str] = &[
    "*/7 * * * *",
    "0,15,30,45 0-23 * * *",
    "59 * L * 0",
    "0 0 * * *",
    "30 1 * * *",
    "15,45 2 * * *",
    "0 3 * * *",
    "30 23 * * *",
    "0 */2 * * *",
    "*/10 22-23,0-3 * * *",
    "30 2 1-7 * 0",
    "0 2 */2 * 1-5",
    "0 0 13 * +5",
    "30 1 25-31 * +0",
    "0 2 L * *",
    "0 2 L-3,15 * *",
    "30 1 LW * *",
    "0 3 1W,15W,31W * *",
    "0 4 L-2W * *",
    "30 2 * * 0#1,0#2,5#5",
    "30 1 * 10,11 0L",
    "45 2 * 3 0L",
    "5 3 29 2 *",
    "*/40 59 1,2 * * *",
    "30 30 2 * * 0",
    "0,59 0,59 0,23 * * *",
];

const POSIX: &[&str] = &["0 0 1,15 * 0", "0,30 1-3 * * *", "10-20 * * 1-6 *"];

const QUARTZ: &[&str] =
    &["0 30 2 ? * 1", "0 0/20 1-3 * * ? 2007-2030/3", "0 15 1 L * ? 2011,2012,2025", "0 0 2 ? * 6L"];

fn definitions() -> Vec<Cron> {
    let all = [(Dialect::Standard, STANDARD), (Dialect::Posix, POSIX), (Dialect::Quartz, QUARTZ)];
    let parsed = |(dialect, specs): (Dialect, &'static [&'static str])| {
        specs
            .iter()
            .map(move |spec| Cron::parse(spec, dialect).unwrap_or_else(|error| panic!("{spec}: {error}")))
    };
    all.into_iter().flat_map(parsed).collect()
}

#[test]
fn every_expression_and_rule_agrees_around_the_clock_changes_of_hard_zones() {
    let crons = definitions();
    for (name, years) in ZONES {
        let zone = zone(name);
        for change in years.iter().flat_map(|year| changes(&zone.to_jiff(), *year)) {
            let stretch = around(change, SignedDuration::from_hours(40));
            for cron in &crons {
                let mut timing = Timing::new(*cron, zone.clone());
                for rule in rules() {
                    timing.dst = rule;
                    check(&timing, &stretch);
                }
            }
        }
    }
}

#[test]
fn every_second_agrees_through_a_clock_change() {
    for spec in ["* * * * * *", "*/7 * 1-3 * * *", "* * 0 * * 0"] {
        for (name, years) in ZONES {
            let mut timing = Timing::new(spec.parse::<Cron>().expect("a spec"), zone(name));
            for change in changes(&timing.zone.to_jiff(), years[0]) {
                // Each answer once; all pairs of them are asked by the minute.
                for rule in rules().step_by(5) {
                    timing.dst = rule;
                    check(&timing, &around(change, SignedDuration::from_mins(70)));
                }
            }
        }
    }
}

#[test]
fn expressions_agree_over_years() {
    for (name, from) in
        [("UTC", 2023), ("America/New_York", 2006), ("Africa/Casablanca", 2024), ("Asia/Tokyo", 2096)]
    {
        for cron in definitions() {
            let timing = Timing::new(cron, zone(name));
            let start = at(&format!("{from}-12-30T12:34:56.5Z"));
            check(&timing, &(start..=start + SignedDuration::from_hours(2 * 366 * 24)));
        }
    }
}

#[test]
fn intervals_agree_from_every_kind_of_origin() {
    let origins = [
        "2026-01-31T09:00:00Z",
        "2024-02-29T06:30:00.25Z",
        "2025-12-31T23:59:59Z",
        "2026-03-29T01:30:00+01:00",
        "2025-10-26T02:30:00+02:00",
        "2025-10-26T02:30:00+01:00",
        "2025-11-02T01:30:00-05:00",
        "2025-03-08T02:30:00-05:00",
    ];
    let lengths =
        ["45s", "90s", "5m", "7h", "24h", "1d", "3d", "weekly", "2 weeks", "monthly", "5 months", "yearly"];
    for name in ["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Santiago"] {
        for (origin, length) in origins.iter().flat_map(|origin| lengths.map(|length| (*origin, length))) {
            let interval: Interval = length.parse().expect("an interval");
            let hours = match interval.unit() {
                Unit::Second => 80,
                Unit::Day => 170 * 24,
                Unit::Month => 430 * 24,
            };
            let mut timing = Timing::new(interval, zone(name));
            timing.bounds.start_at = Some(at(origin));
            let stretch =
                at(origin) - SignedDuration::from_hours(1)..=at(origin) + SignedDuration::from_hours(hours);
            for rule in rules() {
                timing.dst = rule;
                check(&timing, &stretch);
            }
            // The origin may be the creation as well, and the question may begin anywhere.
            timing.created_at = at(origin);
            timing.bounds.start_at = None;
            check(&timing, &(at(origin) + SignedDuration::from_mins(61)..=*stretch.end()));
        }
    }
}

#[test]
fn months_from_the_31st_never_drift_and_skipped_dates_are_not_made_up() {
    let stretch = at("2011-12-01T00:00:00Z")..=at("2012-12-31T00:00:00Z");
    for length in ["1d", "weekly", "monthly"] {
        let mut timing = Timing::new(length.parse::<Interval>().expect("an interval"), zone("Pacific/Apia"));
        for start in ["2011-10-30T12:00:00-10:00", "2011-12-30T12:00:00+14:00", "2011-10-31T23:30:00-10:00"] {
            timing.bounds.start_at = start.parse().ok();
            check(&timing, &stretch);
        }
    }
}

#[test]
fn bounds_windows_and_one_shots_agree() {
    let stretch = at("2026-03-01T00:00:00Z")..=at("2026-04-01T00:00:00Z");
    let mut timing = Timing::new("*/5 * * * *".parse::<Cron>().expect("a spec"), zone("Europe/Berlin"));
    timing.windows.only_between = Some("08:00-18:00".parse().expect("a range"));
    timing.windows.exclude("sunday", &[]).expect("a weekday");
    check(&timing, &stretch);
    timing.bounds.start_at = Some(at("2026-03-10T10:00:00.001Z"));
    timing.bounds.end_at = Some(at("2026-03-29T01:00:00.999Z"));
    check(&timing, &stretch);
    for instant in ["2026-03-10T10:00:00.5Z", "2026-02-01T00:00:00Z", "2026-04-01T00:00:00Z"] {
        let mut timing = Timing::new(Once::at(at(instant)), Zone::utc());
        check(&timing, &stretch);
        timing.bounds.end_at = Some(at("2026-03-20T00:00:00Z"));
        check(&timing, &stretch);
    }
}

#[test]
fn the_ends_of_time_are_audited_as_well() {
    let month = SignedDuration::from_hours(31 * 24);
    let stretches = [Timestamp::MIN..=Timestamp::MIN + month, Timestamp::MAX - month..=Timestamp::MAX];
    for name in ["UTC", "Europe/Berlin", "Pacific/Kiritimati", "Pacific/Pago_Pago"] {
        let cron = |spec: &str| Spec::from(spec.parse::<Cron>().expect("a spec"));
        let every = |spec: &str| Spec::from(spec.parse::<Interval>().expect("an interval"));
        for spec in [cron("0 */2 * * *"), cron("30 * L * 0"), every("7h"), every("1d"), every("monthly")] {
            let mut timing = Timing::new(spec, zone(name));
            for (stretch, created) in stretches.iter().flat_map(|one| [(one, one.start()), (one, one.end())])
            {
                timing.created_at = *created;
                check(&timing, stretch);
            }
        }
    }
}
