//! Intervals, one-shots, bounds and windows: what fires when, in zones with clock changes.
#![allow(clippy::unwrap_used, reason = "a test may fail at once")]

use jiff::Timestamp;
use jiff::civil::date;
use punctual_time::{
    Anchor, Calendar, Cron, Fold, Interval, Mark, Once, QuietHours, Spec, Timing, Unit, Weekdays, Zone,
};

fn instant(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn every(text: &str, zone: &str) -> Timing {
    Timing::new(text.parse::<Interval>().unwrap(), Zone::get(zone).unwrap())
}

fn cron(text: &str, zone: &str) -> Timing {
    Timing::new(text.parse::<Cron>().unwrap(), Zone::get(zone).unwrap())
}

/// The first ticks that fire after an instant, in local time, separated by blanks.
fn check(timing: &Timing, after: &str, expected: &str) {
    let mut at = instant(after);
    let mut found = Vec::new();
    for _ in 0..expected.split_ascii_whitespace().count() {
        let Some(next) = timing.next(at) else { break };
        assert!(next > at);
        assert_eq!(timing.prev(next + jiff::SignedDuration::from_secs(1)), Some(next), "prev is the inverse");
        let local = next.to_zoned(timing.zone.to_jiff());
        found.push(local.strftime("%m-%dT%H:%M:%S%:z").to_string());
        at = next;
    }
    assert_eq!(found.join(" "), expected);
}

#[test]
fn months_keep_their_day_where_they_can() {
    let mut timing = every("monthly", "UTC");
    timing.bounds.start_at = Some(instant("2027-01-31T09:00:00Z"));
    check(
        &timing,
        "2026-01-01T00:00:00Z",
        "01-31T09:00:00+00:00 02-28T09:00:00+00:00 03-31T09:00:00+00:00 04-30T09:00:00+00:00",
    );
}

#[test]
fn a_leap_day_comes_back_every_fourth_year_and_is_the_28th_in_between() {
    let mut timing = every("1 year", "UTC");
    timing.created_at = instant("2024-02-29T00:00:00Z");
    check(&timing, "2024-03-01T00:00:00Z", "02-28T00:00:00+00:00 02-28T00:00:00+00:00 02-28T00:00:00+00:00");
    assert_eq!(timing.next(instant("2027-03-01T00:00:00Z")), Some(instant("2028-02-29T00:00:00Z")));
}

#[test]
fn calendar_days_keep_the_local_time_and_hours_do_not() {
    let mut days = every("1d", "America/New_York");
    days.created_at = instant("2025-03-07T02:30:00-05:00");
    check(&days, "2025-03-07T12:00:00Z", "03-08T02:30:00-05:00 03-09T03:00:00-04:00 03-10T02:30:00-04:00");
    let mut hours = every("24h", "America/New_York");
    hours.created_at = days.created_at;
    check(&hours, "2025-03-07T12:00:00Z", "03-08T02:30:00-05:00 03-09T03:30:00-04:00 03-10T03:30:00-04:00");
}

#[test]
fn an_interval_of_hours_runs_through_both_passes_of_a_fold() {
    let mut timing = every("30m", "America/New_York");
    timing.created_at = instant("2025-11-02T00:00:00-04:00");
    check(
        &timing,
        "2025-11-02T00:30:00-04:00",
        "11-02T01:00:00-04:00 11-02T01:30:00-04:00 11-02T01:00:00-05:00 11-02T01:30:00-05:00 11-02T02:00:00-05:00",
    );
}

#[test]
fn the_anchor_decides_what_an_interval_is_reckoned_from() {
    let mut timing = every("1h", "UTC");
    timing.created_at = instant("2026-01-01T00:00:00Z");
    timing.last = Some(instant("2026-01-01T05:10:00.5Z"));
    check(&timing, "2026-01-01T05:30:00Z", "01-01T06:00:00+00:00");
    timing.anchor = Anchor::LastFinish;
    check(&timing, "2026-01-01T05:30:00Z", "01-01T06:10:01+00:00");
    assert_eq!(timing.next(instant("2026-01-01T05:00:00Z")), Some(instant("2026-01-01T06:10:01Z")));
    timing.last = None;
    check(&timing, "2026-01-01T05:30:00Z", "01-01T06:00:00+00:00");
}

#[test]
fn an_interval_never_ticks_before_its_origin() {
    let mut timing = every("1 week", "Europe/Berlin");
    timing.created_at = instant("2026-03-25T10:00:00.3Z");
    assert_eq!(timing.next(instant("2020-01-01T00:00:00Z")), Some(instant("2026-03-25T10:00:01Z")));
    assert_eq!(timing.prev(instant("2026-03-25T10:00:01Z")), None);
    check(&timing, "2026-03-25T10:00:01Z", "04-01T11:00:01+02:00 04-08T11:00:01+02:00");
}

#[test]
fn the_origin_is_a_tick_in_whichever_pass_of_a_fold_it_lies() {
    let cases = [
        (None, "02:30:00+02:00", "10-26T02:30:00+02:00 10-27T02:30:00+01:00"),
        (None, "02:30:00+01:00", "10-26T02:30:00+01:00 10-27T02:30:00+01:00"),
        (Some(Fold::Last), "02:30:00+02:00", "10-26T02:30:00+01:00 10-27T02:30:00+01:00"),
        (Some(Fold::Last), "02:30:00+01:00", "10-26T02:30:00+01:00 10-27T02:30:00+01:00"),
        (Some(Fold::Both), "02:30:00+02:00", "10-26T02:30:00+02:00 10-26T02:30:00+01:00"),
        (Some(Fold::Both), "02:30:00+01:00", "10-26T02:30:00+01:00 10-27T02:30:00+01:00"),
    ];
    for (fold, start, expected) in cases {
        let mut timing = every("1d", "Europe/Berlin");
        timing.dst.fold = fold;
        timing.bounds.start_at = Some(instant(&format!("2025-10-26T{start}")));
        check(&timing, "2025-10-25T00:00:00Z", expected);
        timing.created_at = instant(&format!("2025-10-26T{start}"));
        timing.bounds.start_at = None;
        check(&timing, "2025-10-25T00:00:00Z", expected);
    }
}

#[test]
fn a_one_shot_fires_once() {
    let zone = Zone::get("Europe/Paris").unwrap();
    let timing = Timing::new(Once::parse("2026-10-25T02:30", &zone).unwrap(), zone);
    check(&timing, "2026-01-01T00:00:00Z", "10-25T02:30:00+02:00");
    assert_eq!(timing.next(instant("2026-10-25T00:30:00Z")), None);
    assert_eq!(
        Once::parse("2011-12-30 10:00", &Zone::get("Pacific/Apia").unwrap()).unwrap_err().code(),
        "no_such_time"
    );
}

#[test]
fn windows_suppress_and_say_which() {
    let holidays = Calendar::new("holidays", [date(2026, 12, 25)]);
    let mut timing = cron("0 */6 * * *", "Australia/Sydney");
    timing.windows.only_between = Some("08:00-20:00".parse().unwrap());
    timing.windows.exclude("SAT", &[]).unwrap();
    timing.windows.exclude("0", &[]).unwrap();
    timing.windows.exclude("holidays", std::slice::from_ref(&holidays)).unwrap();
    check(
        &timing,
        "2026-12-24T00:00:00+11:00",
        "12-24T12:00:00+11:00 12-24T18:00:00+11:00 12-28T12:00:00+11:00",
    );
    let causes: Vec<String> = timing
        .preview(instant("2026-12-24T19:00:00+11:00"), 9)
        .into_iter()
        .map(|tick| tick.suppressed.map_or("fires".into(), |cause| cause.code().to_owned()))
        .collect();
    assert_eq!(causes.join(" "), "calendar calendar calendar calendar not_on not_on not_on not_on not_on");
}

#[test]
fn an_overnight_window_is_open_on_both_sides_of_midnight() {
    let mut timing = cron("30 * * * *", "UTC");
    timing.windows.only_between = Some("22:00-01:00".parse().unwrap());
    check(
        &timing,
        "2026-01-01T12:00:00Z",
        "01-01T22:30:00+00:00 01-01T23:30:00+00:00 01-02T00:30:00+00:00 01-02T22:30:00+00:00",
    );
}

#[test]
fn quiet_hours_belong_to_the_evening_they_start_on() {
    let mut timing = cron("0 0,12,23 * * *", "UTC");
    timing.windows.quiet_hours.push(QuietHours {
        name: "friday-night".into(),
        during: "22:00-06:00".parse().unwrap(),
        on: Weekdays::none().with(5),
        zone: None,
    });
    // 1 January 2026 is a Thursday.
    check(
        &timing,
        "2026-01-01T22:00:00Z",
        "01-01T23:00:00+00:00 01-02T00:00:00+00:00 01-02T12:00:00+00:00 01-03T12:00:00+00:00 01-03T23:00:00+00:00",
    );
}

#[test]
fn windows_that_never_open_end_the_search() {
    let mut timing = cron("0 12 * * *", "Europe/London");
    timing.windows.only_between = Some("13:00-14:00".parse().unwrap());
    assert_eq!(timing.next(instant("2026-01-01T00:00:00Z")), None);
    assert_eq!(timing.prev(instant("2026-01-01T00:00:00Z")), None);
}

#[test]
fn a_timing_that_cannot_fire_says_why() {
    let why = |timing: &Timing| timing.first(instant("2026-01-01T00:00:00Z")).unwrap_err().to_string();
    let mut timing = cron("0 12 * * 6", "UTC");
    timing.windows.exclude("saturday", &[]).unwrap();
    assert_eq!(why(&timing), "`0 12 * * 6` never fires: not on saturday");
    let mut timing = cron("0 12 * * *", "UTC");
    timing.bounds.end_at = Some(instant("2026-01-01T11:00:00Z"));
    assert_eq!(why(&timing), "`0 12 * * *` never fires: it ends at 2026-01-01T11:00:00Z");
    timing.bounds.end_at = None;
    timing.bounds.max_runs = Some(0);
    assert_eq!(why(&timing), "`0 12 * * *` never fires: all `0` runs have been");
    let past = Once::parse("2025-01-01T00:00:00Z", &Zone::utc()).unwrap();
    assert_eq!(
        why(&Timing::new(past, Zone::utc())),
        "`2025-01-01T00:00:00Z` never fires: it lies in the past"
    );
}

#[test]
fn intervals_are_answered_at_the_ends_of_time() {
    for text in ["1s", "99y", "1d", "1 month", "7 months", "36000d"] {
        for created_at in [Timestamp::MIN, Timestamp::UNIX_EPOCH, Timestamp::MAX] {
            let mut timing = every(text, "America/New_York");
            timing.created_at = created_at;
            for at in [Timestamp::MIN, Timestamp::UNIX_EPOCH, Timestamp::MAX] {
                assert!(timing.next(at).is_none_or(|next| next > at && next >= created_at));
                assert!(timing.prev(at).is_none_or(|prev| prev < at && prev >= created_at));
                assert!(!timing.explain(at).to_string().is_empty());
            }
        }
    }
}

#[test]
fn a_window_is_read_off_the_clock_on_the_wall_through_a_fold() {
    let mut timing = cron("* * * * * *", "America/New_York");
    timing.windows.only_between = Some("01:59:59-02:00".parse().unwrap());
    check(
        &timing,
        "2025-11-02T00:00:00-04:00",
        "11-02T01:59:59-04:00 11-02T01:59:59-05:00 11-03T01:59:59-05:00",
    );
}

#[test]
fn bounds_are_included_and_runs_are_counted() {
    let mut timing = cron("0 * * * *", "UTC");
    timing.bounds.start_at = Some(instant("2026-01-01T01:00:00Z"));
    timing.bounds.end_at = Some(instant("2026-01-01T03:00:00Z"));
    check(&timing, "2025-01-01T00:00:00Z", "01-01T01:00:00+00:00 01-01T02:00:00+00:00 01-01T03:00:00+00:00");
    assert_eq!(timing.next(instant("2026-01-01T03:00:00Z")), None);
    assert_eq!(timing.prev(instant("2026-01-01T01:00:00Z")), None);
    timing.bounds.max_runs = Some(5);
    timing.runs = 3;
    assert_eq!(timing.ticks(..).count(), 2);
    timing.runs = 5;
    assert_eq!(timing.next(instant("2026-01-01T00:00:00Z")), None);
}

#[test]
fn a_preview_marks_what_clock_changes_did() {
    let timing = cron("15,45 1,2 * * *", "America/New_York");
    let marks = |after: &str, count| -> Vec<Option<Mark>> {
        timing.preview(instant(after), count).into_iter().map(|tick| tick.mark).collect()
    };
    let skipped = Mark::Shifted { from: "2025-03-09T02:15:00".parse().unwrap() };
    assert_eq!(marks("2025-03-09T00:00:00-05:00", 4), [None, None, Some(skipped), None]);
    let first = Some(Mark::FirstPass);
    assert_eq!(marks("2025-11-02T00:00:00-04:00", 4), [first, first, None, None]);
}

#[test]
fn the_smallest_gap_is_found_across_every_border() {
    let gap = |spec: &str| spec.parse::<Cron>().unwrap().smallest_gap().map(|gap| gap.as_secs());
    assert_eq!(gap("* * * * *"), Some(60));
    assert_eq!(gap("*/7 * * * *"), Some(240));
    assert_eq!(gap("*/40 * * * * *"), Some(20));
    assert_eq!(gap("0 0,23 * * *"), Some(3600));
    assert_eq!(gap("0 0,23 * * 1"), Some(23 * 3600));
    assert_eq!(gap("0 0 1,L * *"), Some(86_400));
    assert_eq!(gap("0 0 1 * *"), Some(28 * 86_400));
    assert_eq!(gap("0 0 29 2 *"), Some(1461 * 86_400));
    let every = |text: &str| Spec::from(text.parse::<Interval>().unwrap()).smallest_gap().unwrap().as_secs();
    assert_eq!((every("90s"), every("2d"), every("1 month")), (90, 172_800, 28 * 86_400));
    assert_eq!(every("1 year"), 365 * 86_400);
}

#[test]
fn durations_are_read_as_people_write_them() {
    let check = |text: &str, count, unit| {
        assert_eq!(text.parse::<Interval>().unwrap(), Interval::new(count, unit).unwrap(), "{text}");
    };
    check("90s", 90, Unit::Second);
    check("5m", 300, Unit::Second);
    check("2h", 7200, Unit::Second);
    check("1d", 1, Unit::Day);
    check("hourly", 3600, Unit::Second);
    check("Daily", 1, Unit::Day);
    check("weekly", 7, Unit::Day);
    check("monthly", 1, Unit::Month);
    check("2 weeks", 14, Unit::Day);
    check("30", 30, Unit::Second);
    check("1h 30m", 5400, Unit::Second);
    check("1 hour 30 minutes", 5400, Unit::Second);
    check("3 months", 3, Unit::Month);
    check(" 15 min ", 900, Unit::Second);
    let refused = |text: &str| text.parse::<Interval>().unwrap_err().code();
    assert_eq!(refused("0"), "zero_interval");
    assert_eq!(refused("0.5s"), "fraction");
    assert_eq!(refused("250ms"), "sub_second");
    assert_eq!(refused("1d12h"), "mixed_interval");
    assert_eq!(refused("soon"), "bad_interval");
    assert_eq!(refused(""), "bad_interval");
    assert_eq!(refused("-5m"), "bad_interval");
    assert_eq!(refused("5 parsecs"), "bad_interval");
    assert_eq!(refused("99999999999999999999999"), "interval_too_long");
    assert_eq!(refused("200y"), "interval_too_long");
}

#[test]
fn printing_an_interval_and_reading_it_gives_it_back() {
    for text in ["1s", "90s", "5m", "36h", "1d", "14d", "1 month", "18 months"] {
        assert_eq!(text.parse::<Interval>().unwrap().to_string(), text);
    }
}
