//! The four catch-up policies over late armed rows and the unplanned stretch, as one decision.

use jiff::SignedDuration;
use punctual_plan::{CatchUp, Entry, EntryState, Plan, Reason};

use crate::stage::{Case, at, check, clock, ledger, seconds};

fn with(catch_up: CatchUp, case: Case) -> Case {
    case.policy(|policy| policy.catch_up = catch_up)
}

fn fires(plan: &Plan) -> Vec<&Entry> {
    plan.entries.iter().filter(|entry| entry.state == EntryState::Scheduled).collect()
}

#[test]
fn an_outage_within_the_grace_period_fires_the_last_tick_and_accounts_for_the_rest() {
    check(
        &Case::new("*/20 * * * * *", "10:00:00", "10:01:05").late(&["09:59:40", "10:00:00"]),
        "10:00:20 missed overtaken | 10:00:40 missed overtaken | 10:01:00 fires 10:01:05 | \
         10:01:20 fires | 10:01:40 fires | 10:02:00 fires | run-1 missed outage | run-2 missed outage | \
         planned 10:02:05 | next 10:02:20",
    );
}

#[test]
fn an_outage_beyond_the_grace_period_fires_nothing_of_it() {
    check(
        &Case::new("0 * * * *", "10:30:00", "13:01:01"),
        "11:00:00 missed outage | 12:00:00 missed outage | 13:00:00 missed outage | planned 13:02:01 | \
         next 14:00:00",
    );
}

#[test]
fn a_long_outage_is_one_range_per_reason_with_exact_counts() {
    let plan = Case::new("* * * * * *", "10:00:00", "11:00:00").plan();
    let said = ledger(&Plan { entries: Vec::new(), ..plan.clone() });
    assert_eq!(
        said,
        "10:00:01..10:58:59 3539 missed outage | 10:59:00..10:59:59 60 missed overtaken | planned 11:01:00 | \
         next 11:01:01"
    );
    assert_eq!(plan.entries.len(), 61);
    assert_eq!(plan.entries[0].fire_at, at("11:00:00"));
}

#[test]
fn run_once_fires_the_last_tick_for_the_whole_stretch() {
    let case = with(CatchUp::RunOnce, Case::new("0 * * * *", "10:30:00", "13:30:00"));
    check(
        &case,
        "11:00:00 missed caught_up | 12:00:00 missed caught_up | 13:00:00 fires 13:30:00 | planned 13:31:00 | \
         next 14:00:00",
    );
    let EntryState::Ended(end) = &case.plan().entries[0].state else { panic!("it is missed") };
    assert_eq!(end.reason().to_string(), "one run for all 3 late ticks: that of 2026-01-01T13:00:00Z");
}

#[test]
fn run_all_fires_every_late_tick_armed_or_not() {
    check(
        &with(
            CatchUp::RunAll,
            Case::new("0 * * * *", "11:30:00", "13:30:00").late(&["10:00:00", "11:00:00"]),
        ),
        "12:00:00 fires 13:30:00 | 13:00:00 fires 13:30:00 | run-1 fires 13:30:00 | run-2 fires 13:30:00 | \
         planned 13:31:00 | next 14:00:00",
    );
}

#[test]
fn run_all_keeps_the_latest_and_misses_the_rest() {
    let case = Case::new("0 * * * *", "09:30:00", "13:30:00").late(&["09:00:00"]);
    check(
        &with(CatchUp::RunAll, case).policy(|policy| policy.max_catch_up = 2),
        "10:00:00 missed catch_up_limit | 11:00:00 missed catch_up_limit | 12:00:00 fires 13:30:00 | \
         13:00:00 fires 13:30:00 | run-1 missed catch_up_limit | planned 13:31:00 | next 14:00:00",
    );
}

#[test]
fn run_all_fires_a_hundred_at_a_wake_and_the_rest_a_tick_later_each() {
    let case = Case::new("* * * * * *", "10:00:00", "10:10:00").policy(|policy| {
        policy.catch_up = CatchUp::RunAll;
        policy.max_catch_up = 250;
    });
    let plan = case.plan();
    let late: Vec<&Entry> =
        fires(&plan).into_iter().filter(|entry| entry.scheduled_for <= case.now).collect();
    let at_wake = |time: &str| late.iter().filter(|entry| entry.fire_at == at(time)).count();
    assert_eq!(late.len(), 250);
    assert_eq!((at_wake("10:10:00"), at_wake("10:10:01"), at_wake("10:10:02")), (100, 100, 50));
    assert_eq!(clock(late[0].scheduled_for), "10:05:51", "the oldest of the latest fires first");
    assert_eq!(plan.ranges[0].count, 350);
}

#[test]
fn spread_fires_evenly_over_the_window() {
    check(
        &with(CatchUp::Spread, Case::new("0 * * * *", "10:30:00", "13:30:00")),
        "11:00:00 fires 13:30:00 | 12:00:00 fires 13:30:20 | 13:00:00 fires 13:30:40 | planned 13:31:00 | \
         next 14:00:00",
    );
}

#[test]
fn a_late_tick_within_the_grace_period_fires_under_every_policy() {
    for catch_up in CatchUp::ALL {
        check(
            &with(*catch_up, Case::new("0 * * * *", "10:30:00", "11:00:59")),
            "11:00:00 fires 11:00:59 | planned 11:01:59 | next 12:00:00",
        );
    }
}

#[test]
fn what_is_past_its_start_deadline_is_skipped() {
    let case = |catch_up| {
        let case = Case::new("0 * * * *", "10:30:00", "13:30:00");
        with(catch_up, case).policy(|policy| policy.start_deadline = Some(SignedDuration::from_hours(2)))
    };
    check(
        &case(CatchUp::RunAll),
        "11:00:00 skipped start_deadline | 12:00:00 fires 13:30:00 | 13:00:00 fires 13:30:00 | \
         planned 13:31:00 | next 14:00:00",
    );
    let short = case(CatchUp::Skip).policy(|policy| {
        policy.grace = SignedDuration::from_hours(1);
        policy.start_deadline = Some(seconds(60));
    });
    check(
        &short,
        "11:00:00 missed outage | 12:00:00 missed outage | 13:00:00 skipped start_deadline | planned 13:31:00 | \
         next 14:00:00",
    );
}

#[test]
fn a_row_that_was_caught_up_is_never_caught_up_again() {
    let mut case = with(CatchUp::RunAll, Case::new("*/20 * * * * *", "10:00:00", "10:01:05"));
    case = case.late(&["09:59:20", "09:59:40"]);
    case.late[0].fire_at = at("10:00:10");
    let said = ledger(&case.plan());
    assert!(!said.contains("run-1"), "{said}");
    assert!(said.contains("run-2 fires 10:01:05"), "{said}");
}

#[test]
fn an_armed_row_that_a_window_suppresses_is_skipped_for_it() {
    let mut case = Case::new("*/20 * * * * *", "10:00:00", "10:01:05").late(&["10:00:00"]);
    case.late[0].verdict = Some(Reason::QuietHours { name: "night".to_owned() });
    let said = ledger(&case.plan());
    assert!(said.contains("run-1 skipped quiet_hours"), "{said}");
}

#[test]
fn a_paused_stretch_is_missed_for_the_pause_or_caught_up() {
    let paused = |catch_up| {
        let mut case = with(catch_up, Case::new("0 * * * *", "10:30:00", "12:00:10"));
        case.slept = Some(Reason::Paused { at: at("10:30:00"), by: "ada".to_owned() });
        case
    };
    check(
        &paused(CatchUp::Skip),
        "11:00:00 missed paused | 12:00:00 missed paused | planned 12:01:10 | next 13:00:00",
    );
    check(
        &paused(CatchUp::RunOnce),
        "11:00:00 missed caught_up | 12:00:00 fires 12:00:10 | planned 12:01:10 | next 13:00:00",
    );
}

#[test]
fn a_week_of_seconds_is_a_handful_of_ranges() {
    let mut case = Case::new("* * * * * *", "10:00:00", "10:00:00");
    case.now += SignedDuration::from_hours(7 * 24);
    let plan = case.plan();
    let counts: Vec<u64> = plan.ranges.iter().map(|range| range.count).collect();
    assert_eq!((counts, plan.entries.len()), (vec![604_739, 60], 61));
}

#[test]
fn more_ranges_than_a_plan_may_write_are_written_by_the_next_ones() {
    let mut case = Case::new("* * * * *", "10:00:00", "10:00:00").timing(|timing| {
        timing.windows.only_between = Some("08:00-18:00".parse().expect("a range"));
    });
    case.now += SignedDuration::from_hours(24 * 600);
    let first = case.plan();
    assert_eq!((first.ranges.len(), first.entries.len()), (1_000, 0));
    assert!(first.next_tick.is_some_and(|next| next < case.now), "it wants planning at once");
    case.cursor = first.cursor;
    let second = case.plan();
    assert!(second.ranges[0].first > first.ranges[999].last);
    assert!(second.next_tick.is_some_and(|next| next > case.now));
}

#[test]
fn a_tick_that_was_to_fire_early_is_late_from_then_on() {
    let mut case = Case::new("*/20 * * * * *", "10:00:20", "10:00:18").late(&["10:00:00", "10:00:20"]);
    case.cursor.decided_through = at("10:00:00");
    case.policy.grace = seconds(3);
    for (row, fire_at) in case.late.iter_mut().zip(["09:59:55", "10:00:13"]) {
        row.fire_at = at(fire_at);
    }
    let closed = case.plan().closed;
    let why: Vec<&str> = closed.iter().map(|row| row.end.reason().code()).collect();
    assert_eq!(why, ["outage", "outage"]);
}
