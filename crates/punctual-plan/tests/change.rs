//! Goal: a change ends what it found planned, fires nothing for the past and leaves no tick without an entry.
//! Method: a schedule with open rows, a change and now, against what happens to each row, as text.

use std::sync::Arc;

use jiff::Timestamp;
use punctual_plan::{
    Action, Before, CatchUp, Change, Changed, Cursor, EntryState, Open, OpenKind, Plan, Process, RunKey,
    Schedule, ScheduleId, Status, Subject, Window, change, resume,
};
use punctual_time::{Cron, Timing, Zone};

fn at(text: &str) -> Timestamp {
    format!("2026-01-01T{text}Z").parse().expect("a time of day")
}

fn schedule(spec: &str) -> Schedule {
    let timing = Timing::new(spec.parse::<Cron>().expect("a valid spec"), Zone::utc());
    Schedule::new(ScheduleId(uuid::Uuid::nil()), "one", timing, Action::Process(Process::new(["true"])))
}

fn entries(plan: &Plan) -> Vec<String> {
    let end = |end: &punctual_plan::NonFire| format!("{} {}", end.status(), end.reason().code());
    let clock = |time: Timestamp| time.strftime("%H:%M").to_string();
    let mut said: Vec<String> = plan
        .entries
        .iter()
        .map(|entry| match &entry.state {
            EntryState::Ended(non_fire) => format!("{} {}", clock(entry.scheduled_for), end(non_fire)),
            _ => format!("{} fires {}", clock(entry.scheduled_for), clock(entry.fire_at)),
        })
        .collect();
    said.extend(plan.ranges.iter().map(|range| format!("{} ticks {}", range.count, end(&range.end))));
    said.extend(plan.closed.iter().map(|one| format!("{} {}", one.run, end(&one.end))));
    said
}

fn ledger(changed: &Changed) -> String {
    let mut said = entries(&changed.plan);
    said.extend(changed.removed.iter().map(|run| format!("{run} vanishes")));
    said.extend(changed.cancelled.iter().map(|(run, reason)| format!("{run} cancelled {}", reason.code())));
    said.push(format!("planned {}", changed.plan.cursor.planned_through.strftime("%H:%M")));
    said.join(" | ")
}

/// Hourly, planned up to 11:30, with a retry of 09:00 and armed rows at 10:00 and 11:00.
fn check(what: &Change, now: &str, expected: &str) {
    let schedule = schedule("0 * * * *");
    let row = |run, tick, kind| Open { run: RunKey(run), scheduled_for: at(tick), kind };
    let open = [
        row(1, "09:00:00", OpenKind::Retrying),
        row(2, "10:00:00", OpenKind::Unlaunched),
        row(3, "11:00:00", OpenKind::Unlaunched),
    ];
    let cursor = Cursor { planned_through: at("11:30:00"), decided_through: at("09:30:00") };
    let before =
        Before { timing: schedule.when.timing(), cursor, open: &open, slept: None, launched_through: None };
    assert_eq!(ledger(&change(&before, what, at(now))), expected, "{what:?}");
}

fn paused() -> Status {
    Status::PausedManual { by: "ada".to_owned(), note: "move".to_owned() }
}

fn maintained() -> Status {
    Status::Maintenance { by: "ada".to_owned(), note: "upgrade".to_owned() }
}

#[test]
fn an_edit_ends_what_has_come_removes_what_comes_and_keeps_retries() {
    check(
        &Change::Edit { version: 2 },
        "10:30:00",
        "run-2 skipped superseded | run-3 vanishes | planned 10:30",
    );
    let shared = Change::Shared { what: "the calendar `holidays`".to_owned() };
    check(&shared, "10:30:00", "run-2 skipped superseded | run-3 vanishes | planned 10:30");
}

#[test]
fn leaving_active_cancels_retries_and_ends_rows_with_its_own_reason() {
    for (what, code) in [
        (Change::Leave(paused()), "paused"),
        (Change::Leave(Status::PausedInvalid { error: "no such zone".to_owned() }), "invalid"),
        (Change::Leave(Status::AutoDisabled { failures: 5 }), "auto_disabled"),
        (Change::Leave(Status::Exhausted { at: at("10:30:00") }), "exhausted"),
        (Change::Leave(maintained()), "maintenance"),
        (Change::Delete, "deleted"),
        (Change::RemoveOwner, "owner_removed"),
    ] {
        let expected =
            format!("run-2 skipped {code} | run-3 vanishes | run-1 cancelled {code} | planned 10:30");
        check(&what, "10:30:00", &expected);
    }
}

#[test]
fn a_row_at_its_very_instant_has_come() {
    check(
        &Change::Delete,
        "11:00:00",
        "run-2 skipped deleted | run-3 skipped deleted | run-1 cancelled deleted | planned 11:00",
    );
}

#[test]
fn a_clock_that_went_back_changes_nothing_that_was_decided() {
    check(&Change::Edit { version: 2 }, "08:00:00", "run-2 vanishes | run-3 vanishes | planned 09:30");
}

#[test]
fn ticks_that_nobody_planned_end_with_the_change() {
    check(
        &Change::Edit { version: 2 },
        "13:30:00",
        "12:00 skipped superseded | 13:00 skipped superseded | run-2 skipped superseded | \
         run-3 skipped superseded | planned 13:30",
    );
}

#[test]
fn a_tick_that_fired_early_is_not_planned_again_by_the_next_version() {
    let schedule = schedule("0 * * * *");
    let cursor = Cursor { planned_through: at("11:30:00"), decided_through: at("10:58:00") };
    let before = Before {
        timing: schedule.when.timing(),
        cursor,
        open: &[],
        slept: None,
        launched_through: Some(at("11:00:00")),
    };
    let changed = change(&before, &Change::Edit { version: 2 }, at("10:59:00"));
    assert_eq!(changed.plan.cursor.planned_through, at("11:00:00"));
}

/// All clocks were set back: 12:00 was skipped by the time of before, and 11:00 still waits for its turn.
#[test]
fn what_lies_before_an_ended_tick_ends_with_the_change_and_does_not_vanish() {
    let schedule = schedule("0 * * * *");
    let cursor = Cursor { planned_through: at("13:30:00"), decided_through: at("10:30:00") };
    let open = [(1, "11:00:00"), (2, "13:00:00")].map(|(run, tick)| Open {
        run: RunKey(run),
        scheduled_for: at(tick),
        kind: OpenKind::Unlaunched,
    });
    let before = Before {
        timing: schedule.when.timing(),
        cursor,
        open: &open,
        slept: None,
        launched_through: Some(at("12:00:00")),
    };
    let changed = change(&before, &Change::Leave(paused()), at("09:00:00"));
    assert_eq!(changed.plan.closed.iter().map(|one| one.run).collect::<Vec<_>>(), [RunKey(1)]);
    assert_eq!((changed.removed, changed.plan.cursor.planned_through), (vec![RunKey(2)], at("12:00:00")));
}

#[test]
fn a_pause_is_judged_by_the_catch_up_policy_at_resume() {
    let resumed = |catch_up| {
        let mut schedule = schedule("0 * * * *");
        Arc::make_mut(&mut schedule.policy).catch_up = catch_up;
        let subject = Subject::of(&schedule, Cursor::starting(at("10:30:00"))).expect("it has ticks");
        entries(&resume(&subject, &paused(), Window::at(at("12:00:30")))).join(" | ")
    };
    assert_eq!(resumed(CatchUp::Skip), "11:00 missed paused | 12:00 missed paused");
    assert_eq!(resumed(CatchUp::RunOnce), "11:00 missed caught_up | 12:00 fires 12:00");
    assert_eq!(resumed(CatchUp::RunAll), "11:00 fires 12:00 | 12:00 fires 12:00");
}
