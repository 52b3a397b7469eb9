//! Ticks that something kept from starting at their instant.

use std::sync::Arc;

use jiff::SignedDuration;
use punctual_plan::{
    Behaviour, BreakerRule, CatchUp, Dependency, Failing, OrgLimits, OverLimit, Overlap, Reason, RunState,
    Scenario, Schedule,
};

use crate::stage::{Case, ask, ask_by_hand, at, down, minutes, paris, timing, utc, world};

pub(crate) fn cases() -> Vec<Case> {
    let mut cases = turns();
    cases.extend(upstream());
    cases.extend(breakers());
    cases.extend(limits());
    cases
}

fn busy(mut scenario: Scenario, run_time: i64) -> Scenario {
    scenario.behaviour.run_time = minutes(run_time);
    scenario
}

fn turns() -> Vec<Case> {
    let overlapping = busy(world("09:55:00", "10:45:00", [paris("sync", "*/10 * * * *", |_| {})]), 14);
    let queue = |policy: &mut punctual_plan::Policy| policy.overlap = Overlap::Queue;
    let full = busy(world("10:00:00", "10:02:00", [utc("beat", "* * * * * *", queue)]), 50);
    let by_hand = RunState::Skipped { reason: Reason::QueueFull { max: 50 }, at: at("10:00:00") };
    let impatient = |policy: &mut punctual_plan::Policy| {
        policy.overlap = Overlap::Queue;
        policy.start_deadline = Some(minutes(3));
    };
    let queued = busy(world("09:55:00", "10:30:00", [utc("sync", "*/10 * * * *", impatient)]), 14);
    let guarded = |key: &'static str, from: &str| {
        let guard = move |policy: &mut punctual_plan::Policy| policy.guard = Some(key.to_owned());
        let pair = [utc("first", "0 * * * *", guard), utc("second", "0 * * * *", guard)];
        busy(world(from, "11:30:00", pair), 5)
    };
    vec![
        ask("another run in flight", &overlapping, "sync", "10:10:00"),
        ask("a later run in flight", &overlapping, "sync", "10:30:00"),
        ask("a hundred before it", &full, "beat", "10:01:45"),
        ask_by_hand("fifty before it", "beat", by_hand),
        ask("its turn did not come", &queued, "sync", "10:10:00"),
        ask("a guard held by another schedule", &guarded("database", "09:55:00"), "second", "10:00:00"),
        ask("another guard, later", &guarded("mailbox", "09:55:00"), "second", "11:00:00"),
    ]
}

fn upstream() -> Vec<Case> {
    let depending = |spec: &str| {
        let load = utc("load", spec, |_| {});
        let on = load.id;
        let sum = utc("sum", "0 * * * *", |policy| {
            policy.depends_on = Some(Dependency { timeout: minutes(20), ..Dependency::on(vec![on]) });
        });
        world("09:20:00", "10:50:00", [load, sum])
    };
    let behaving = |mut scenario: Scenario, behaviour: Behaviour| {
        scenario.behaviours.insert("load".to_owned(), behaviour);
        scenario
    };
    let failing = Behaviour { failing: Failing::Always, ..Behaviour::default() };
    let slow = Behaviour { run_time: minutes(40), ..Behaviour::default() };
    let mut closed = depending("30 * * * *");
    timing(&mut closed.schedules[0].schedule).windows.only_between =
        Some("20:00-22:00".parse().expect("a range"));
    let lonely = |name: &str| {
        let load = utc(name, "0 23 * * *", |_| {});
        let on = load.id;
        let sum = utc("sum", "0 10 * * *", |policy| policy.depends_on = Some(Dependency::on(vec![on])));
        world("09:55:00", "10:30:00", [load, sum])
    };
    vec![
        ask(
            "waited too long for another schedule",
            &behaving(depending("0 * * * *"), slow),
            "sum",
            "10:00:00",
        ),
        ask("upstream failed", &behaving(depending("0 * * * *"), failing), "sum", "10:00:00"),
        ask("upstream was skipped", &closed, "sum", "10:00:00"),
        ask("upstream has no tick yet", &lonely("load"), "sum", "10:00:00"),
        ask("another upstream has no tick yet", &lonely("fetch"), "sum", "10:00:00"),
    ]
}

fn fragile(name: &str, rule: BreakerRule) -> Schedule {
    let mut schedule = utc(name, "* * * * *", |policy| {
        policy.overlap = Overlap::Allow;
        policy.max_consecutive_failures = None;
    });
    Arc::make_mut(&mut schedule.target).breaker = rule;
    schedule
}

fn breakers() -> Vec<Case> {
    let broken = |name: &str, minute: i64| {
        let rule = BreakerRule { threshold: 1, reset_after: minutes(minute) };
        let mut scenario = world("09:59:30", "10:10:00", [fragile(name, rule)]);
        scenario.behaviour = Behaviour {
            run_time: SignedDuration::from_secs(90),
            failing: Failing::Always,
            ..Behaviour::default()
        };
        scenario
    };
    vec![
        ask("breaker open", &broken("hook", 5), "hook", "10:03:00"),
        ask("another breaker open for longer", &broken("mail", 30), "mail", "10:05:00"),
        ask("breaker probed", &broken("hook", 1), "hook", "10:04:00"),
        ask("another breaker probed", &broken("mail", 2), "mail", "10:05:00"),
    ]
}

fn limits() -> Vec<Case> {
    let limited = |change: fn(&mut OrgLimits)| {
        let all = ["one", "two", "three"].map(|name| utc(name, "0 10 * * *", |_| {}));
        let mut scenario = busy(world("09:55:00", "10:30:00", all), 5);
        let mut limits = OrgLimits { over: OverLimit::Skip, ..OrgLimits::default() };
        change(&mut limits);
        scenario.limits = Some(limits);
        scenario
    };
    let bounded = |max: u64| {
        let mut schedule = utc("trial", "*/10 * * * *", |policy| {
            policy.catch_up = CatchUp::RunAll;
            policy.overlap = Overlap::Allow;
        });
        timing(&mut schedule).bounds.max_runs = Some(max);
        down(world("09:59:50", "12:00:00", [schedule]), "10:05:00", "11:05:00")
    };
    vec![
        ask("no room in flight", &limited(|limits| limits.in_flight_max = Some(1)), "two", "10:00:00"),
        ask("no room in the minute", &limited(|limits| limits.per_minute_max = Some(2)), "three", "10:00:00"),
        ask("beyond three runs", &bounded(3), "trial", "10:50:00"),
        ask("beyond two runs", &bounded(2), "trial", "10:30:00"),
    ]
}
