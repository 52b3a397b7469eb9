//! Goal: `plan` arms what is ahead and accounts for what was slept through.
//! Method: a schedule, its cursor and now, against the ledger it yields, as text.

mod audit;
mod catch_up;
mod documents;
mod properties;
mod stage;

use punctual_plan::{Cursor, Jitter, JitterMode, Window, plan_first};
use punctual_time::{Anchor, Interval, Spec};
use stage::{Case, at, check, clock, ledger, seconds};

#[test]
fn a_window_ahead_is_armed_and_the_cursor_stands_at_its_end() {
    check(
        &Case::new("*/30 * * * * *", "10:00:00", "10:00:00"),
        "10:00:30 fires | 10:01:00 fires | planned 10:01:00 | next 10:01:30",
    );
    check(
        &Case::new("*/30 * * * * *", "10:00:10", "10:00:10"),
        "10:00:30 fires | 10:01:00 fires | planned 10:01:10 | next 10:01:30",
    );
}

#[test]
fn a_tick_at_the_cursor_is_never_planned_again() {
    check(&Case::new("0 * * * *", "10:00:00", "10:00:00"), "planned 10:01:00 | next 11:00:00");
}

#[test]
fn a_clock_that_goes_back_decides_nothing_again() {
    let mut case = Case::new("*/30 * * * * *", "10:01:00", "09:00:00");
    case.cursor.decided_through = at("10:00:10");
    check(&case, "planned 10:01:10 | next 10:01:30");
}

#[test]
fn the_next_window_is_planned_half_a_window_before_its_first_tick_may_fire() {
    let case = Case::new("0 * * * *", "10:00:00", "10:00:00");
    assert_eq!(case.plan().plan_at, Some(at("10:59:30")));
    let case = case.policy(|policy| {
        policy.jitter = Jitter { max: seconds(10), mode: JitterMode::Around };
    });
    assert_eq!(case.plan().plan_at, Some(at("10:59:20")));
}

#[test]
fn what_a_window_suppresses_is_armed_with_its_verdict() {
    let case = Case::new("*/20 * * * * *", "17:59:30", "17:59:30");
    check(
        &case.timing(|timing| timing.windows.only_between = Some("08:00-18:00".parse().expect("a range"))),
        "17:59:40 fires | 18:00:00 will be skipped outside_window | 18:00:20 will be skipped outside_window | \
         planned 18:00:30 | next 18:00:40",
    );
    let case = Case::new("0 * * * * *", "10:00:00", "10:00:00");
    check(
        &case.timing(|timing| timing.windows.exclude("thursday", &[]).expect("a weekday")),
        "10:01:00 will be skipped not_on | planned 10:01:00 | next 10:02:00",
    );
}

#[test]
fn late_ticks_that_a_window_suppresses_are_skipped_for_it_and_overtake_none() {
    let case = Case::new("*/20 * * * * *", "17:59:30", "18:00:10");
    check(
        &case.timing(|timing| timing.windows.only_between = Some("08:00-18:00".parse().expect("a range"))),
        "17:59:40 fires 18:00:10 | 18:00:00 skipped outside_window | 18:00:20 will be skipped outside_window | \
         18:00:40 will be skipped outside_window | 18:01:00 will be skipped outside_window | planned 18:01:10 | \
         next 18:01:20",
    );
}

#[test]
fn nothing_is_planned_outside_the_bounds() {
    let case = Case::new("*/20 * * * * *", "10:00:00", "10:00:00").timing(|timing| {
        timing.bounds.start_at = Some(at("10:00:30"));
        timing.bounds.end_at = Some(at("10:00:40"));
    });
    check(&case, "10:00:40 fires | planned 10:01:00 | next never");
    let case = Case::new("* * * * * *", "10:00:00", "10:00:00").timing(|timing| {
        timing.bounds.max_runs = Some(3);
        timing.runs = 3;
    });
    check(&case, "planned 10:00:00 | next never");
}

#[test]
fn a_first_start_fires_the_tick_of_its_own_minute_or_second_at_once() {
    let first = |spec: &str, now: &str| {
        let case = Case::new(spec, now, now);
        let mut plan = plan_first(&case.subject(), Window::at(at(now)));
        plan.entries.truncate(1);
        ledger(&plan)
    };
    assert_eq!(
        first("0 10 * * *", "10:00:42.5"),
        "10:00:00 fires 10:00:42.500 | planned 10:01:42.500 | next 10:00:00"
    );
    assert_eq!(first("0 10 * * *", "10:01:00"), "planned 10:02:00 | next 10:00:00");
    assert_eq!(first("30 0 10 * * *", "10:00:31"), "planned 10:01:31 | next 10:00:30");
    assert_eq!(
        first("30 0 10 * * *", "10:00:30.9"),
        "10:00:30 fires 10:00:30.900 | planned 10:01:30.900 | next 10:00:30"
    );
}

#[test]
fn jitter_is_the_same_in_every_plan_and_stays_between_the_midpoints() {
    let jittered = |max, mode| {
        let case = Case::new("*/20 * * * * *", "10:00:00", "10:00:00");
        case.policy(|policy| policy.jitter = Jitter { max: seconds(max), mode })
    };
    check(
        &jittered(4, JitterMode::After),
        "10:00:20 fires 10:00:20.229 | 10:00:40 fires 10:00:42.573 | 10:01:00 fires 10:01:00.861 | \
         planned 10:01:00 | next 10:01:20",
    );
    check(
        &jittered(15, JitterMode::Around),
        "10:00:20 fires 10:00:12.515 | 10:00:40 fires 10:00:39.230 | 10:01:00 fires 10:00:59.975 | \
         planned 10:01:15 | next 10:01:20",
    );
}

fn floating(anchor: Anchor) -> Case {
    Case::new("* * * * * *", "10:00:00", "10:00:00").timing(|timing| {
        timing.spec = Spec::from("20s".parse::<Interval>().expect("an interval"));
        timing.created_at = at("10:00:00");
        timing.anchor = anchor;
    })
}

#[test]
fn an_interval_from_the_last_run_arms_one_tick_and_waits_for_its_start() {
    let mut case = floating(Anchor::LastStart);
    check(&case, "10:00:20 fires | planned 10:00:20 | next never");
    case.cursor.planned_through = at("10:00:20");
    case.outstanding = 1;
    check(&case, "planned 10:00:20 | next never");
    case.outstanding = 0;
    case.timing.last = Some(at("10:00:25"));
    case.now = at("10:00:25");
    check(&case, "10:00:45 fires | planned 10:00:45 | next never");
}

#[test]
fn an_interval_from_the_last_run_arms_nothing_behind_a_first_start() {
    for anchor in [Anchor::LastStart, Anchor::LastFinish] {
        let case = floating(anchor);
        let plan = plan_first(&case.subject(), Window::at(case.now));
        assert_eq!(ledger(&plan), "10:00:00 fires | planned 10:00:00 | next never");
    }
}

#[test]
fn an_interval_from_the_last_run_goes_on_when_a_tick_never_ran() {
    let mut case = floating(Anchor::LastFinish);
    case.timing.last = Some(at("10:00:00"));
    case.cursor = Cursor::starting(at("10:00:20"));
    case.now = at("10:00:20");
    check(&case, "10:00:40 fires | planned 10:00:40 | next never");
    case.now = at("10:05:10");
    let said = ledger(&case.plan());
    assert!(
        said.contains("10:04:40 missed overtaken | 10:05:00 fires 10:05:10 | planned 10:05:00"),
        "{said}"
    );
    assert!(said.ends_with("next never"), "{said}");
}

#[test]
fn planning_in_two_steps_gives_the_ledger_of_one() {
    let case = Case::new("*/7 * * * * *", "10:00:00", "10:00:00");
    let first = case.plan();
    let second = Case { cursor: first.cursor, now: at("10:00:31"), ..case }.plan();
    let ticks: Vec<String> =
        first.entries.iter().chain(&second.entries).map(|entry| clock(entry.scheduled_for)).collect();
    assert!(ticks.windows(2).all(|pair| pair[0] < pair[1]), "{ticks:?}");
    assert_eq!(ticks.len(), 13, "{ticks:?}");
}
