//! Goal: each rule of the ledger has a test that fails without it, and the page that lists them is true.
//! Method: the rules that no other test guards, one test each; and the page's tests are looked up by name.
#![allow(clippy::disallowed_methods, reason = "the page and the tests are files")]

use std::path::Path;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use punctual_plan::{
    Before, CATCH_UP_MAX, CatchUp, Change, Cursor, Due, EntryState, Jitter, JitterMode, Lane, LateRow,
    OrgKey, OrgLimits, OrgUse, Origin, OverLimit, Overlap, PLAN_ENTRIES_MAX, Pace, Plan, Policy, Reason,
    RunKey, RunsLeft, ScheduleId, ScheduleKey, Standing, Subject, Traffic, Verdict, Wait, Waiting, Window,
    World, admit, change, plan,
};
use punctual_time::{Cron, Timing, Zone};

const PAGE: &str = include_str!("../../../docs/rules.md");

fn at(text: &str) -> Timestamp {
    format!("2026-01-01T{text}Z").parse().expect("a time of day")
}

fn seconds(count: i64) -> SignedDuration {
    SignedDuration::from_secs(count)
}

/// A schedule that was planned up to an instant, planned at another.
struct Case {
    timing: Timing,
    policy: Policy,
    planned: Timestamp,
    late: Vec<LateRow>,
}

impl Case {
    fn new(spec: &str, planned: &str) -> Self {
        let timing = Timing::new(spec.parse::<Cron>().expect("a spec"), Zone::utc());
        Self { timing, policy: Policy::default(), planned: at(planned), late: Vec::new() }
    }

    fn plan(&self, now: &str, lookahead: SignedDuration) -> Plan {
        let subject = Subject {
            id: ScheduleId(uuid::Uuid::from_u128(7)),
            timing: &self.timing,
            policy: &self.policy,
            cursor: Cursor::starting(self.planned),
            late: &self.late,
            outstanding: 0,
            slept: None,
        };
        plan(&subject, Window { now: at(now), pace: Pace { lookahead, ..Pace::default() } })
    }
}

#[test]
fn jitter_never_fires_before_start_at() {
    let mut case = Case::new("* * * * *", "09:00:00");
    case.timing.bounds.start_at = Some(at("10:00:00"));
    for id in 0..50 {
        let subject = Subject {
            id: ScheduleId(uuid::Uuid::from_u128(id)),
            timing: &case.timing,
            policy: &Policy {
                jitter: Jitter { max: seconds(20), mode: JitterMode::Around },
                ..Policy::default()
            },
            cursor: Cursor::starting(at("09:59:00")),
            late: &[],
            outstanding: 0,
            slept: None,
        };
        let first = plan(&subject, Window::at(at("09:59:00"))).entries.remove(0);
        assert!(first.scheduled_for == at("10:00:00") && first.fire_at >= at("10:00:00"), "{first:?}");
    }
}

#[test]
fn a_window_is_asked_about_the_tick_and_not_about_the_instant_at_which_it_fires() {
    let mut case = Case::new("* * * * *", "09:58:30");
    case.policy.jitter = Jitter { max: seconds(25), mode: JitterMode::After };
    case.timing.windows.only_between = Some("09:00-09:59:01".parse().expect("a range"));
    let first = case.plan("09:58:30", seconds(60)).entries.remove(0);
    assert!(first.fire_at > at("09:59:01") && first.state == EntryState::Scheduled, "{first:?}");
}

#[test]
fn a_tick_is_overtaken_by_one_that_fires_and_not_by_a_suppressed_one() {
    let mut case = Case::new("*/20 * * * * *", "17:59:10");
    case.timing.windows.only_between = Some("08:00-18:00".parse().expect("a range"));
    let first = case.plan("18:00:10", seconds(60)).entries.remove(0);
    let EntryState::Ended(end) = first.state else { panic!("a later one fires") };
    assert_eq!(end.reason(), &Reason::Overtaken { by: at("17:59:40") });
}

#[test]
fn lateness_counts_from_the_instant_at_which_a_tick_was_to_fire() {
    let mut case = Case::new("0 * * * *", "09:59:00");
    case.policy.jitter = Jitter { max: seconds(100), mode: JitterMode::After };
    let fire_at = case.plan("09:59:30", seconds(60)).entries[0].fire_at;
    assert!(fire_at > at("10:00:10"), "{fire_at}");
    let now = fire_at + seconds(55);
    let fired = case.plan(&now.strftime("%H:%M:%S%.f").to_string(), seconds(60)).entries.remove(0);
    assert_eq!((fired.scheduled_for, fired.state), (at("10:00:00"), EntryState::Scheduled));
    let row = Due { fire_at, ..Due::tick(RunKey(1), ScheduleKey(1), at("10:00:00")) };
    let mut world = World::free(now);
    world
        .schedules
        .insert(ScheduleKey(1), Standing { policy: Arc::new(case.policy.clone()), ..Standing::default() });
    assert_eq!(admit(&[row], &mut world)[0].verdict, Verdict::Start);
}

#[test]
fn one_plan_arms_no_more_than_its_bound_and_leaves_the_rest_to_the_next() {
    let case = Case::new("* * * * * *", "10:00:00");
    let first = case.plan("10:00:00", SignedDuration::from_hours(2));
    assert_eq!(first.entries.len(), PLAN_ENTRIES_MAX);
    assert_eq!(first.next_tick, Some(at("11:00:01")));
}

#[test]
fn more_late_ticks_than_the_bound_never_run_whatever_the_schedule_says() {
    let mut case = Case::new("* * * * * *", "10:00:00");
    case.policy.catch_up = CatchUp::RunAll;
    case.policy.max_catch_up = CATCH_UP_MAX * 2;
    let plan = case.plan("16:00:00", seconds(1));
    let late = plan.entries.iter().filter(|entry| entry.scheduled_for <= at("16:00:00"));
    assert_eq!(late.filter(|entry| entry.state == EntryState::Scheduled).count(), CATCH_UP_MAX as usize);
    let rows: Vec<Due> = (0..12_000)
        .map(|second| Due::tick(RunKey(second), ScheduleKey(1), at("10:00:00") + seconds(second)))
        .collect();
    let mut world = World::free(at("16:00:00"));
    let policy = Policy { overlap: Overlap::Allow, ..case.policy };
    world.schedules.insert(ScheduleKey(1), Standing { policy: Arc::new(policy), ..Standing::default() });
    let missed = admit(&rows, &mut world).into_iter().filter(|one| matches!(one.verdict, Verdict::Miss(_)));
    assert_eq!(missed.count(), 2_000);
}

#[test]
fn a_change_writes_nothing_for_a_schedule_that_has_had_all_its_runs() {
    let mut case = Case::new("* * * * *", "10:00:00");
    case.timing.bounds.max_runs = Some(3);
    case.timing.runs = 3;
    let before = Before {
        timing: Some(&case.timing),
        cursor: Cursor::starting(case.planned),
        open: &[],
        slept: None,
        launched_through: None,
    };
    assert_eq!(change(&before, &Change::Delete, at("10:30:00")).plan.entries, []);
}

/// The verdict over a row of schedule 1, which stands as given, at 10:00.
fn verdict(row: Due, standing: Standing, fill: impl FnOnce(&mut World)) -> Verdict {
    let mut world = World::free(at("10:00:00"));
    world.schedules.insert(ScheduleKey(1), standing);
    fill(&mut world);
    admit(&[row], &mut world).remove(0).verdict
}

fn tick() -> Due {
    Due::tick(RunKey(2), ScheduleKey(1), at("10:00:00"))
}

fn wants(change: impl FnOnce(&mut Policy)) -> Standing {
    let mut standing = Standing::default();
    change(Arc::make_mut(&mut standing.policy));
    standing
}

#[test]
fn max_runs_counts_neither_retries_nor_what_a_person_asks_for() {
    let spent = || Standing { runs_left: Some(RunsLeft { left: 0, max: 3 }), ..Standing::default() };
    assert!(matches!(verdict(tick(), spent(), |_| {}), Verdict::Skip(_)));
    assert!(matches!(verdict(Due { origin: Origin::Chained, ..tick() }, spent(), |_| {}), Verdict::Skip(_)));
    assert_eq!(verdict(Due { attempt: 2, ..tick() }, spent(), |_| {}), Verdict::Start);
    assert_eq!(verdict(Due { origin: Origin::Manual, ..tick() }, spent(), |_| {}), Verdict::Start);
}

#[test]
fn what_is_cancelled_gives_its_guard_back() {
    let standing = wants(|policy| {
        policy.overlap = Overlap::Cancel;
        policy.guard = Some("poll".to_owned());
    });
    let said = verdict(tick(), standing, |world| {
        let traffic = Traffic { in_flight: vec![RunKey(1)], waiting: Vec::new() };
        world.lanes.insert(Lane::Schedule(ScheduleKey(1)), traffic);
        world.guards.insert((OrgKey(1), "poll".to_owned()), RunKey(1));
    });
    assert!(
        matches!(said, Verdict::Wait(Waiting { wait: Wait::Turn { behind: RunKey(1) }, .. })),
        "{said:?}"
    );
}

#[test]
fn a_retry_waits_for_room_even_where_others_are_skipped() {
    let full = |world: &mut World| {
        let used = OrgUse {
            limits: OrgLimits { per_minute_max: None, in_flight_max: Some(1), over: OverLimit::Skip },
            in_flight: 1,
            ..OrgUse::default()
        };
        world.orgs.insert(OrgKey(1), used);
    };
    assert!(matches!(verdict(tick(), Standing::default(), full), Verdict::Skip(_)));
    assert!(matches!(verdict(Due { attempt: 2, ..tick() }, Standing::default(), full), Verdict::Wait(_)));
}

#[test]
fn a_wait_counts_from_its_beginning_and_ends_with_the_start_deadline() {
    let since = at("09:30:00");
    let waiting = Waiting { wait: Wait::Turn { behind: RunKey(1) }, since, deadline: at("23:00:00") };
    let row = Due { waiting: Some(waiting), scheduled_for: since, fire_at: since, ..tick() };
    let busy = |world: &mut World| {
        let traffic = Traffic { in_flight: vec![RunKey(1)], waiting: vec![RunKey(2)] };
        world.lanes.insert(Lane::Schedule(ScheduleKey(1)), traffic);
    };
    let queue = |policy: &mut Policy| policy.overlap = Overlap::Queue;
    let Verdict::Wait(again) = verdict(row.clone(), wants(queue), busy) else { panic!("it waits on") };
    assert_eq!((again.since, again.deadline), (since, since + SignedDuration::from_hours(24)));
    let hasty = wants(|policy| {
        queue(policy);
        policy.start_deadline = Some(SignedDuration::from_hours(1));
    });
    let Verdict::Wait(again) = verdict(row, hasty, busy) else { panic!("it waits on") };
    assert_eq!(again.deadline, at("10:30:00"));
}

#[test]
fn every_rule_names_a_test_that_exists() {
    let mut sources = String::new();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder of tests") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                sources += &std::fs::read_to_string(path).expect("a source");
            }
        }
    }
    let rules: Vec<&str> = PAGE.lines().filter(|line| line.starts_with("| ") && line.contains('`')).collect();
    assert!(rules.len() >= 40, "{} rules", rules.len());
    for rule in rules {
        let named: Vec<&str> =
            rule.rsplit('|').nth(1).unwrap_or_default().split('`').skip(1).step_by(2).collect();
        assert!(!named.is_empty(), "no test is named: {rule}");
        for test in named {
            let (_, name) = test.rsplit_once("::").unwrap_or(("", test));
            assert!(sources.contains(&format!("fn {name}(")), "there is no test `{test}`: {rule}");
        }
    }
}
