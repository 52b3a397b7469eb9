//! Goal: schedules in a simulated world leave the ledger that the four decisions give them.
//! Method: small worlds, against the ledger as lines of text.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use punctual_plan::{
    Act, Action, Behaviour, CatchUp, Chain, ChainOn, Dependency, Edit, Failing, Jitter, JitterMode, Member,
    Outage, Overlap, Policy, Process, Run, Scenario, Schedule, ScheduleId, Simulated, Status, When, simulate,
};
use punctual_time::{Anchor, Cron, Interval, Timing, Zone};

fn at(text: &str) -> Timestamp {
    format!("2026-01-01T{text}Z").parse().expect("a time of day")
}

fn clock(time: Timestamp) -> String {
    time.strftime("%H:%M:%S").to_string()
}

fn member(name: &str, timing: Timing, change: impl FnOnce(&mut Policy)) -> Member {
    let id = ScheduleId(uuid::Uuid::from_u128(
        name.bytes().map(u128::from).fold(7, |hash, byte| hash * 31 + byte),
    ));
    let mut schedule = Schedule::new(id, name, timing, Action::Process(Process::new(["true"])));
    change(Arc::make_mut(&mut schedule.policy));
    Member::new(schedule)
}

fn cron(spec: &str) -> Timing {
    Timing::new(spec.parse::<Cron>().expect("a valid spec"), Zone::utc())
}

fn world(from: &str, to: &str, members: Vec<Member>) -> Scenario {
    Scenario::new(at(from), at(to), members)
}

fn line(run: &Run) -> String {
    let mut said = format!("{} {}", clock(run.scheduled_for), run.state.status());
    if let Some(reason) = run.state.reason() {
        said += &format!(" {}", reason.code());
    }
    for attempt in &run.attempts {
        said += &format!(" [{}", clock(attempt.started_at));
        said += &attempt.ended_at.map_or("…]".to_owned(), |end| format!("-{}]", clock(end)));
    }
    said
}

fn ledger(simulated: &Simulated) -> Vec<String> {
    let several = simulated.accounts.len() > 1;
    let mut said = Vec::new();
    for account in &simulated.accounts {
        let name = if several { format!("{} ", account.schedule().name) } else { String::new() };
        said.extend(account.runs.iter().map(|run| format!("{name}{}", line(run))));
        said.extend(account.ranges.iter().map(|record| {
            let (first, last) = (clock(record.range.first), clock(record.range.last));
            format!(
                "{name}{first}..{last} {} {} {}",
                record.range.count,
                record.end().status(),
                record.end().reason().code()
            )
        }));
    }
    said
}

fn check(scenario: &Scenario, expected: &[&str]) {
    assert_eq!(ledger(&simulate(scenario)), expected);
}

fn minutes(count: i64) -> SignedDuration {
    SignedDuration::from_mins(count)
}

#[test]
fn ticks_run_at_their_instants_and_those_ahead_are_armed() {
    let scenario = world("09:59:00", "10:02:30", vec![member("one", cron("* * * * *"), |_| {})]);
    check(
        &scenario,
        &[
            "10:00:00 success [10:00:00-10:00:00]",
            "10:01:00 success [10:01:00-10:01:00]",
            "10:02:00 success [10:02:00-10:02:00]",
            "10:03:00 scheduled",
        ],
    );
}

#[test]
fn an_outage_is_caught_up_with_by_the_policy() {
    let check = |catch_up, expected: &[&str]| {
        let member = member("one", cron("*/20 * * * *"), |policy| policy.catch_up = catch_up);
        let mut scenario = world("09:59:50", "11:10:00", vec![member]);
        scenario.outages = vec![Outage { from: at("10:05:00"), to: at("11:05:00") }];
        check(&scenario, expected);
    };
    let first = "10:00:00 success [10:00:00-10:00:00]";
    check(
        CatchUp::Skip,
        &[first, "10:20:00 missed outage", "10:40:00 missed outage", "11:00:00 missed outage"],
    );
    check(
        CatchUp::RunOnce,
        &[
            first,
            "10:20:00 missed caught_up",
            "10:40:00 missed caught_up",
            "11:00:00 success [11:05:00-11:05:00]",
        ],
    );
    check(
        CatchUp::Spread,
        &[
            first,
            "10:20:00 success [11:05:00-11:05:00]",
            "10:40:00 success [11:05:20-11:05:20]",
            "11:00:00 success [11:05:40-11:05:40]",
        ],
    );
}

#[test]
fn runs_that_take_long_meet_the_overlap_policy() {
    let check = |overlap, expected: &[&str]| {
        let member = member("one", cron("*/10 * * * *"), |policy| policy.overlap = overlap);
        let mut scenario = world("09:55:00", "10:29:00", vec![member]);
        scenario.behaviour.run_time = minutes(14);
        check(&scenario, expected);
    };
    check(
        Overlap::Skip,
        &["10:00:00 success [10:00:00-10:14:00]", "10:10:00 skipped overlap", "10:20:00 running [10:20:00…]"],
    );
    check(
        Overlap::Queue,
        &[
            "10:00:00 success [10:00:00-10:14:00]",
            "10:10:00 success [10:14:00-10:28:00]",
            "10:20:00 running [10:28:00…]",
        ],
    );
    check(
        Overlap::Cancel,
        &[
            "10:00:00 cancelled cancelled [10:00:00-10:10:00]",
            "10:10:00 cancelled cancelled [10:10:00-10:20:00]",
            "10:20:00 running [10:20:00…]",
        ],
    );
    check(
        Overlap::Allow,
        &[
            "10:00:00 success [10:00:00-10:14:00]",
            "10:10:00 success [10:10:00-10:24:00]",
            "10:20:00 running [10:20:00…]",
        ],
    );
}

#[test]
fn a_failed_run_is_tried_again_until_the_next_tick_comes() {
    let member = member("one", cron("*/10 * * * *"), |policy| policy.retry_after = Some(minutes(4)));
    let mut scenario = world("09:55:00", "10:19:00", vec![member]);
    scenario.behaviour = Behaviour { failing: Failing::First(3), ..Behaviour::default() };
    check(
        &scenario,
        &[
            "10:00:00 failed superseded [10:00:00-10:00:00] [10:04:00-10:04:00] [10:08:00-10:08:00]",
            "10:10:00 success [10:10:00-10:10:00]",
        ],
    );
}

#[test]
fn a_schedule_that_fails_too_often_is_disabled_and_its_breaker_opens() {
    let one = member("one", cron("* * * * *"), |_| {});
    let mut scenario = world("09:59:30", "10:06:30", vec![one]);
    scenario.behaviour.failing = Failing::Always;
    let simulated = simulate(&scenario);
    assert_eq!(simulated.accounts[0].state.status, Status::AutoDisabled { failures: 5 });
    assert_eq!(ledger(&simulated).len(), 5, "{:?}", ledger(&simulated));
    assert_eq!(simulated.breakers["one"].name(), "open");
}

#[test]
fn a_pause_is_judged_when_it_ends() {
    let one = member("one", cron("*/10 * * * *"), |policy| policy.catch_up = CatchUp::RunOnce);
    let id = one.schedule.id;
    let mut scenario = world("09:55:00", "10:45:00", vec![one]);
    let pause = Status::PausedManual { by: "ada".to_owned(), note: String::new() };
    scenario.edits = vec![
        Edit { at: at("10:05:00"), schedule: id, act: Act::Leave(pause) },
        Edit { at: at("10:35:00"), schedule: id, act: Act::Resume },
    ];
    check(
        &scenario,
        &[
            "10:00:00 success [10:00:00-10:00:00]",
            "10:10:00 missed caught_up",
            "10:20:00 missed caught_up",
            "10:30:00 success [10:35:00-10:35:00]",
            "10:40:00 success [10:40:00-10:40:00]",
        ],
    );
}

#[test]
fn a_pause_and_an_edit_do_not_exhaust_a_schedule() {
    let one = member("one", cron("*/10 * * * *"), |_| {});
    let (id, again) = (one.schedule.id, one.schedule.clone());
    let mut scenario = world("09:55:00", "10:45:00", vec![one]);
    let pause = Status::PausedManual { by: "ada".to_owned(), note: String::new() };
    scenario.edits = vec![
        Edit { at: at("10:05:00"), schedule: id, act: Act::Replace(Box::new(again)) },
        Edit { at: at("10:15:00"), schedule: id, act: Act::Leave(pause) },
    ];
    let simulated = simulate(&scenario);
    let log: Vec<String> = simulated.log.iter().map(|logged| logged.event.to_string()).collect();
    assert_eq!(log, ["version 2", "left active: paused_manual"]);
    assert!(simulated.accounts[0].versions.iter().all(|version| version.exhausted_at.is_none()));
}

#[test]
fn an_edit_is_never_retroactive_even_during_a_pause() {
    let one = member("one", cron("*/10 * * * *"), |policy| policy.catch_up = CatchUp::RunAll);
    let id = one.schedule.id;
    let often = member("one", cron("* * * * *"), |policy| policy.catch_up = CatchUp::RunAll).schedule;
    let mut scenario = world("09:55:00", "10:23:30", vec![one]);
    let pause = Status::PausedManual { by: "ada".to_owned(), note: String::new() };
    scenario.edits = vec![
        Edit { at: at("10:05:00"), schedule: id, act: Act::Leave(pause) },
        Edit { at: at("10:21:30"), schedule: id, act: Act::Replace(Box::new(often)) },
        Edit { at: at("10:22:30"), schedule: id, act: Act::Resume },
    ];
    check(
        &scenario,
        &[
            "10:00:00 success [10:00:00-10:00:00]",
            "10:10:00 missed paused",
            "10:20:00 missed paused",
            "10:22:00 success [10:22:30-10:22:30]",
            "10:23:00 success [10:23:00-10:23:00]",
            "10:24:00 scheduled",
        ],
    );
}

#[test]
fn what_was_in_flight_when_the_node_died_is_in_doubt() {
    let one = member("one", cron("0 * * * *"), |_| {});
    let mut scenario = world("09:55:00", "10:45:00", vec![one]);
    scenario.behaviour.run_time = minutes(10);
    scenario.outages = vec![Outage { from: at("10:05:00"), to: at("10:20:00") }];
    check(&scenario, &["10:00:00 success [10:00:00-10:20:00] [10:20:00-10:30:00]"]);
}

#[test]
fn schedules_wait_for_and_follow_each_other() {
    let load = member("load", cron("0 * * * *"), |_| {});
    let sum = member("sum", cron("0 * * * *"), |policy| {
        policy.depends_on = Some(Dependency::on(vec![load.schedule.id]));
    });
    let mut mail = member("mail", cron("0 0 * * *"), |_| {});
    mail.schedule.when =
        When::Chain(Chain { delay: minutes(2), ..Chain::new(sum.schedule.id, ChainOn::Success) });
    let mut scenario = world("09:55:00", "10:30:00", vec![load, sum, mail]);
    let slow = Behaviour { run_time: minutes(5), ..Behaviour::default() };
    scenario.behaviours.insert("load".to_owned(), slow);
    check(
        &scenario,
        &[
            "load 10:00:00 success [10:00:00-10:05:00]",
            "sum 10:00:00 success [10:05:00-10:05:00]",
            "mail 10:07:00 success [10:07:00-10:07:00]",
        ],
    );
}

#[test]
fn max_runs_ends_a_schedule_and_an_anchor_moves_its_ticks() {
    let mut timing = Timing::new("10m".parse::<Interval>().expect("an interval"), Zone::utc());
    timing.anchor = Anchor::LastFinish;
    timing.created_at = at("10:00:00");
    timing.bounds.max_runs = Some(3);
    let mut scenario = world("10:00:00", "12:00:00", vec![member("one", timing, |_| {})]);
    scenario.behaviour.run_time = minutes(3);
    let simulated = simulate(&scenario);
    assert_eq!(
        ledger(&simulated),
        [
            "10:10:00 success [10:10:00-10:13:00]",
            "10:23:00 success [10:23:00-10:26:00]",
            "10:36:00 success [10:36:00-10:39:00]"
        ]
    );
    assert_eq!(simulated.accounts[0].state.status, Status::Exhausted { at: at("10:36:00") });
}

fn pause() -> Act {
    Act::Leave(Status::PausedManual { by: "ada".to_owned(), note: String::new() })
}

#[test]
fn a_schedule_that_is_changed_does_not_pass_for_exhausted() {
    let one = member("one", cron("*/10 * * * *"), |_| {});
    let (id, same) = (one.schedule.id, one.schedule.clone());
    for act in [pause(), Act::Delete, Act::Replace(Box::new(same))] {
        let mut scenario = world("09:55:00", "10:25:00", vec![one.clone()]);
        scenario.edits = vec![Edit { at: at("10:05:00"), schedule: id, act }];
        let log: Vec<String> = simulate(&scenario).log.iter().map(|one| one.event.to_string()).collect();
        assert!(!log.iter().any(|event| event.contains("exhausted")), "{log:?}");
    }
}

#[test]
fn an_interval_from_the_last_start_goes_on_whether_its_ticks_run_or_not() {
    let mut timing = Timing::new("10m".parse::<Interval>().expect("an interval"), Zone::utc());
    timing.anchor = Anchor::LastStart;
    timing.created_at = at("10:00:00");
    let mut scenario = world("10:00:00", "10:45:00", vec![member("one", timing, |_| {})]);
    scenario.behaviour.run_time = minutes(3);
    scenario.outages = vec![Outage { from: at("10:15:00"), to: at("10:24:00") }];
    check(
        &scenario,
        &[
            "10:10:00 success [10:10:00-10:13:00]",
            "10:20:00 missed outage",
            "10:30:00 success [10:30:00-10:33:00]",
            "10:40:00 success [10:40:00-10:43:00]",
        ],
    );
    scenario.outages.clear();
    scenario.behaviour.run_time = minutes(13);
    check(
        &scenario,
        &[
            "10:10:00 success [10:10:00-10:23:00]",
            "10:20:00 skipped overlap",
            "10:30:00 success [10:30:00-10:43:00]",
            "10:40:00 skipped overlap",
        ],
    );
}

#[test]
fn a_tick_does_not_wait_for_one_that_was_skipped_at_the_same_instant() {
    let mut load = member("load", cron("0 * * * *"), |_| {});
    if let When::Ticks(timing) = &mut load.schedule.when {
        timing.windows.only_between = Some("12:00-13:00".parse().expect("a range"));
    }
    let sum = member("sum", cron("0 * * * *"), |policy| {
        policy.depends_on = Some(Dependency::on(vec![load.schedule.id]));
    });
    let scenario = world("09:55:00", "10:30:00", vec![load, sum]);
    check(&scenario, &["load 10:00:00 skipped outside_window", "sum 10:00:00 skipped upstream_failed"]);
}

#[test]
fn a_tick_that_ended_ahead_of_its_instant_is_not_planned_again_by_the_next_version() {
    let jitter = Jitter { max: SignedDuration::from_secs(25), mode: JitterMode::Around };
    let one = member("one", cron("* * * * *"), |policy| policy.jitter = jitter);
    let (id, plain) = (one.schedule.id, member("one", cron("* * * * *"), |_| {}).schedule);
    for second in 0..600 {
        let mut scenario = world("09:58:30", "10:11:30", vec![one.clone()]);
        scenario.behaviour.run_time = SignedDuration::from_secs(80);
        let at = at("09:59:00") + SignedDuration::from_secs(second);
        scenario.edits = vec![Edit { at, schedule: id, act: Act::Replace(Box::new(plain.clone())) }];
        let mut ticks: Vec<Timestamp> =
            simulate(&scenario).accounts[0].runs.iter().map(|run| run.scheduled_for).collect();
        let count = ticks.len();
        ticks.dedup();
        assert_eq!(ticks.len(), count, "edited at {at}: {ticks:?}");
    }
}

#[test]
fn a_lane_is_free_again_when_the_run_in_it_ends_even_if_its_schedule_has_left_it() {
    let lane = |policy: &mut Policy| policy.lane = Some("mail".to_owned());
    let one = member("one", cron("0 10 * * *"), lane);
    let two = member("two", cron("*/10 * * * *"), lane);
    let alone = member("one", cron("5 10 * * *"), |_| {}).schedule;
    let mut scenario = world("09:55:00", "10:25:00", vec![one, two]);
    let act = Act::Replace(Box::new(alone.clone()));
    scenario.edits = vec![Edit { at: at("10:03:00"), schedule: alone.id, act }];
    scenario.behaviours.insert("one".to_owned(), Behaviour { run_time: minutes(8), ..Behaviour::default() });
    check(
        &scenario,
        &[
            "one 10:00:00 success [10:00:00-10:08:00]",
            "one 10:05:00 skipped overlap",
            "two 10:00:00 skipped overlap",
            "two 10:10:00 success [10:10:00-10:10:00]",
            "two 10:20:00 success [10:20:00-10:20:00]",
        ],
    );
}
