//! Why an instant is a tick, or why not, in words.
#![allow(clippy::unwrap_used, reason = "a test may fail at once")]

use punctual_time::{Anchor, Cron, DstRule, Fold, Gap, Interval, Once, Timing, Zone};

fn cron(text: &str, zone: &str) -> Timing {
    Timing::new(text.parse::<Cron>().unwrap(), Zone::get(zone).unwrap())
}

fn check(timing: &Timing, at: &str, expected: &str) {
    let why = timing.explain(at.parse().unwrap());
    assert_eq!(why.to_string().trim_end(), expected);
    assert_eq!(why.fires, timing.next(why.at - jiff::SignedDuration::from_nanos(1)) == Some(why.at));
}

#[test]
fn the_second_pass_of_a_fold_says_that_the_first_counted() {
    check(
        &cron("30 1 * * *", "America/New_York"),
        "2025-11-02T01:30:00-05:00",
        "2025-11-02T01:30:00 in America/New_York is not a tick of `30 1 * * *`\n\
         yes  minute 30 is in `30`\n\
         yes  hour 1 is in `1`\n\
         yes  day-of-month 2 is in `*`\n\
         yes  month 11 is in `*`\n\
         yes  day-of-week sunday is in `*`\n\
         no   the clock repeats this hour, and the first pass counts",
    );
}

#[test]
fn a_tick_that_a_gap_took_is_named() {
    let mut timing = cron("30 2 9 3 *", "America/New_York");
    timing.dst = DstRule { gap: Some(Gap::Skip), fold: Some(Fold::Both) };
    check(
        &timing,
        "2025-03-09T03:00:00-04:00",
        "2025-03-09T03:00:00 in America/New_York is not a tick of `30 2 9 3 *`\n\
         no   minute 0 is not in `30`\n\
         no   hour 3 is not in `2`\n\
         yes  day-of-month 9 is in `9`\n\
         yes  month 3 is in `3`\n\
         yes  day-of-week sunday is in `*`\n\
         yes  the clock skipped 60 minutes just before; skipped times do not fire",
    );
}

#[test]
fn windows_and_bounds_are_checked_after_the_spec() {
    let mut timing = cron("0 12 * * *", "Europe/Berlin");
    timing.windows.exclude("sunday", &[]).unwrap();
    timing.bounds.start_at = Some("2026-01-01T00:00:00Z".parse().unwrap());
    timing.bounds.max_runs = Some(10);
    check(
        &timing,
        "2026-11-15T11:00:00Z",
        "2026-11-15T12:00:00 in Europe/Berlin is a tick of `0 12 * * *`, but does not fire\n\
         yes  minute 0 is in `0`\n\
         yes  hour 12 is in `12`\n\
         yes  day-of-month 15 is in `*`\n\
         yes  month 11 is in `*`\n\
         yes  day-of-week sunday is in `*`\n\
         yes  `start_at` is 2026-01-01T00:00:00Z\n\
         yes  0 of `10` runs have been\n\
         no   not on sunday",
    );
}

#[test]
fn intervals_and_one_shots_have_one_check() {
    let mut timing = Timing::new("2h".parse::<Interval>().unwrap(), Zone::utc());
    timing.anchor = Anchor::LastStart;
    check(
        &timing,
        "2026-01-01T01:00:00Z",
        "2026-01-01T01:00:00 in UTC is not a tick of `2h`\n\
         no   the time is not a multiple of `2h` from its anchor (`last_start`)",
    );
    let once = Once::parse("2026-01-01T01:00:00Z", &Zone::utc()).unwrap();
    check(
        &Timing::new(once, Zone::utc()),
        "2026-01-01T01:00:00Z",
        "2026-01-01T01:00:00 in UTC is a tick of `2026-01-01T01:00:00Z`\n\
         yes  the only tick is `2026-01-01T01:00:00Z`",
    );
}

#[test]
fn a_spec_without_seconds_ticks_at_the_whole_minute_and_says_so() {
    let timing = Timing::new("0 3 * * *".parse::<Cron>().expect("a spec"), Zone::utc());
    let why = timing.explain("2026-01-01T03:00:20Z".parse().expect("an instant"));
    let failed: Vec<&str> =
        why.checks.iter().filter(|check| !check.holds).map(|check| check.text.as_str()).collect();
    assert_eq!(failed, ["second 20 is not in `0`, for the spec names none"]);
    assert!(!why.is_tick);
}
