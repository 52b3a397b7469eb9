//! Moved: what newer rules of a zone move of a plan, and what they leave alone.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use jiff::Timestamp;
use punctual_plan::{ArmedTick, Cursor, Foreseen, moved};
use punctual_time::{Cron, Timing, Zone};

fn at(time: &str) -> Timestamp {
    format!("2026-01-01T{time}Z").parse().unwrap()
}

/// What is found of armed ticks at 10:00:00, planned through 10:01:00, of a spec with seconds in UTC.
fn check(spec: &str, armed: &[(&str, Option<&'static str>)], next: &str, expected: Option<(usize, usize)>) {
    let mut timing = Timing::new(spec.parse::<Cron>().unwrap(), Zone::utc());
    timing.windows.only_between = Some("09:00-10:00".parse().unwrap());
    let armed: Vec<ArmedTick> = armed
        .iter()
        .map(|(tick, suppressed)| ArmedTick { tick: at(tick), suppressed: *suppressed })
        .collect();
    let cursor = Cursor { planned_through: at("10:01:00"), decided_through: at("09:59:00") };
    let seen = Foreseen {
        timing: &timing,
        cursor,
        launched_through: None,
        armed: &armed,
        next_tick: (!next.is_empty()).then(|| at(next)),
    };
    let found = moved(&seen, at("09:59:30")).map(|moved| (moved.gone, moved.come));
    assert_eq!(found, expected, "{spec} {armed:?}");
}

#[test]
fn what_is_where_the_rules_put_it_has_not_moved() {
    let outside = Some("outside_window");
    check(
        "*/20 * * * * *",
        &[
            ("09:59:40", None),
            ("10:00:00", outside),
            ("10:00:20", outside),
            ("10:00:40", outside),
            ("10:01:00", outside),
        ],
        "10:01:20",
        None,
    );
    check("0 30 10 * * *", &[], "10:30:00", None);
    // What has come is nobody's to plan again.
    check("0 30 10 * * *", &[("09:59:30", None)], "10:30:00", None);
}

#[test]
fn what_has_gone_or_come_or_is_suppressed_otherwise_is_counted() {
    check("0 30 10 * * *", &[], "11:30:00", Some((0, 0)));
    check("0 30 10 * * *", &[("10:00:30", None)], "10:30:00", Some((1, 0)));
    check("0 0 10 1 1 *", &[], "10:00:00", Some((0, 1)));
    check("40 59 9 1 1 *", &[("09:59:40", Some("outside_window"))], "", Some((1, 1)));
}
