//! Goal: a declared set is compared with what is stored by name, field by field, and never touches what others made.
//! Method: small sets, against the differences as lines of text.

use std::sync::Arc;

use jiff::SignedDuration;
use jiff::civil::date;
use punctual_plan::{
    Action, Chain, ChainOn, Declaration, Dependency, Drift, Overlap, Process, Schedule, ScheduleId, Stored,
    When, diff,
};
use punctual_time::{Calendar, Cron, Interval, Timing, Zone};

fn schedule(number: u128, name: &str) -> Schedule {
    let timing = Timing::new("0 3 * * *".parse::<Cron>().expect("a valid spec"), Zone::utc());
    let id = ScheduleId(uuid::Uuid::from_u128(number));
    Schedule::new(id, name, timing, Action::Process(Process::new(["work"])))
}

fn timing(schedule: &mut Schedule) -> &mut Timing {
    match &mut schedule.when {
        When::Ticks(timing) => timing,
        When::Chain(_) => panic!("it has ticks"),
    }
}

fn lines(declared: &[Schedule], stored: &[(Option<&str>, Schedule)]) -> Vec<String> {
    let stored: Vec<Stored<'_>> =
        stored.iter().map(|(set, schedule)| Stored { set: *set, schedule }).collect();
    let found = diff(&Declaration { set: "ours", schedules: declared }, &stored);
    found
        .iter()
        .flat_map(|difference| match &difference.drift {
            Drift::Changed(fields) => fields
                .iter()
                .map(|drift| {
                    format!("{}.{}: {} -> {}", difference.name, drift.field, drift.stored, drift.declared)
                })
                .collect(),
            other => vec![format!("{}: {other:?}", difference.name)],
        })
        .collect()
}

/// What one change of a declared schedule looks like.
fn check(change: impl FnOnce(&mut Schedule), expected: &[&str]) {
    let mut declared = schedule(9, "one");
    change(&mut declared);
    assert_eq!(lines(&[declared], &[(Some("ours"), schedule(1, "one"))]), expected);
}

#[test]
fn names_are_added_removed_kept_and_left_alone() {
    let declared = [schedule(1, "new"), schedule(2, "same"), schedule(3, "theirs"), schedule(4, "hers")];
    let stored = [
        (Some("ours"), schedule(12, "same")),
        (Some("ours"), schedule(15, "old")),
        (Some("others"), schedule(13, "theirs")),
        (None, schedule(14, "hers")),
        (Some("others"), schedule(16, "unrelated")),
        (None, schedule(17, "by hand")),
    ];
    let expected = [
        "hers: Taken { by: None }",
        "new: Added",
        "old: Removed",
        "same: Unchanged",
        "theirs: Taken { by: Some(\"others\") }",
    ];
    assert_eq!(lines(&declared, &stored), expected);
}

#[test]
fn a_name_of_another_org_is_another_name() {
    let mut elsewhere = schedule(1, "one");
    elsewhere.owner.org_id = "elsewhere".to_owned();
    let expected = ["one: Added", "one: Removed"];
    assert_eq!(lines(&[schedule(2, "one")], &[(Some("ours"), elsewhere)]), expected);
}

#[test]
fn a_change_is_told_field_by_field() {
    check(|_| {}, &["one: Unchanged"]);
    check(|one| one.spec = "0 4 * * *".to_owned(), &["one.spec: 0 3 * * * -> 0 4 * * *"]);
    check(|one| one.description = Some("nightly".to_owned()), &["one.description:  -> nightly"]);
    check(|one| one.tags = vec!["a".to_owned(), "b".to_owned()], &["one.tags:  -> a, b"]);
    check(|one| Arc::make_mut(&mut one.policy).overlap = Overlap::Queue, &["one.if_running: skip -> queue"]);
    check(
        |one| Arc::make_mut(&mut one.policy).grace = SignedDuration::from_secs(90),
        &["one.grace: 1m -> 1m 30s"],
    );
    check(
        |one| Arc::make_mut(&mut one.target).action = Action::Process(Process::new(["work", "hard"])),
        &["one.run: [\"work\"] -> [\"work\",\"hard\"]"],
    );
    check(
        |one| Arc::make_mut(&mut one.target).action = Action::Callback { task: "work".to_owned() },
        &["one.target.type: process -> callback", "one.run: [\"work\"] -> ", "one.task:  -> work"],
    );
    check(
        |one| timing(one).windows.only_between = Some("08:00-18:00".parse().expect("a range")),
        &["one.only_between:  -> 08:00-18:00"],
    );
    check(
        |one| timing(one).zone = Zone::get("Europe/Paris").expect("a zone"),
        &["one.timezone: UTC -> Europe/Paris"],
    );
}

#[test]
fn an_anchor_that_only_moved_with_the_creation_is_no_difference() {
    let interval = |created: &str| {
        let mut one = schedule(1, "one");
        one.spec = "2h".to_owned();
        one.when =
            When::Ticks(Box::new(Timing::new("2h".parse::<Interval>().expect("an interval"), Zone::utc())));
        timing(&mut one).created_at = created.parse().expect("an instant");
        one
    };
    let stored = interval("2025-05-05T05:05:05Z");
    let mut declared = interval("2026-01-01T00:00:00Z");
    assert_eq!(lines(&[declared.clone()], &[(Some("ours"), stored.clone())]), ["one: Unchanged"]);
    timing(&mut declared).bounds.start_at = Some("2026-01-01T00:00:00Z".parse().expect("an instant"));
    assert_eq!(lines(&[declared], &[(Some("ours"), stored)]), ["one.start_at:  -> 2026-01-01T00:00:00Z"]);
}

#[test]
fn calendars_of_one_name_and_other_dates_differ() {
    let with = |day: i8| {
        let mut one = schedule(1, "one");
        timing(&mut one).windows.calendars = vec![Calendar::new("holidays", [date(2026, 12, day)])];
        one
    };
    assert_eq!(lines(&[with(25)], &[(Some("ours"), with(25))]), ["one: Unchanged"]);
    let said = lines(&[with(25)], &[(Some("ours"), with(26))]);
    assert!(said[0].starts_with("one.not_on: holidays (1 dates, "), "{said:?}");
}

#[test]
fn other_schedules_are_compared_by_name_and_not_by_id() {
    let depending = |base: u128, on: &str| {
        let (load, wait) = (schedule(base, "load"), schedule(base + 1, "wait"));
        let mut sum = schedule(base + 2, "sum");
        let upstream = if on == "load" { load.id } else { wait.id };
        Arc::make_mut(&mut sum.policy).depends_on = Some(Dependency::on(vec![upstream]));
        let mut mail = schedule(base + 3, "mail");
        mail.when = When::Chain(Chain::new(sum.id, ChainOn::Success));
        [load, wait, sum, mail]
    };
    let stored = depending(10, "load").map(|one| (Some("ours"), one));
    let all = ["load: Unchanged", "mail: Unchanged", "sum: Unchanged", "wait: Unchanged"];
    assert_eq!(lines(&depending(20, "load"), &stored), all);
    let other = lines(&depending(20, "wait"), &stored);
    assert_eq!(other[2], "sum.depends_on: load -> wait");
}
