//! Instants that no reason explains: runs that went well, ticks to come, instants that are no ticks.

use jiff::SignedDuration;
use punctual_plan::{
    Act, Behaviour, CatchUp, Chain, ChainOn, Dependency, Failing, Jitter, JitterMode, Member, OrgLimits,
    Overlap, Policy, Request, Scenario, Status, When, local_instant, simulate,
};
use punctual_time::{Anchor, DstRule, Gap, Interval, Once, Timing, Zone};

use crate::stage::{
    Case, act, answer_with, ask, at, cron, down, leave, minutes, paris, schedule, timing, utc, world,
};

pub(crate) fn cases() -> Vec<Case> {
    let mut cases = ran();
    cases.extend(underway());
    cases.extend(ahead());
    cases.extend(no_ticks());
    cases.extend(bounded());
    cases.extend(clock_changes());
    cases.extend(asked_for());
    cases
}

fn ran() -> Vec<Case> {
    let hourly = || paris("sync", "0 * * * *", |_| {});
    let on_time = world("09:55:00", "10:30:00", [hourly()]);
    let late = down(world("09:55:00", "10:30:00", [hourly()]), "09:58:00", "10:00:40");
    let retry = |policy: &mut Policy| policy.retry_after = Some(minutes(4));
    let failing = |count: u32| {
        let mut scenario = world("09:55:00", "10:59:00", [utc("sync", "0 * * * *", retry)]);
        scenario.behaviour = Behaviour { failing: Failing::First(count), ..Behaviour::default() };
        scenario
    };
    let once = utc("sync", "*/20 * * * *", |policy| policy.catch_up = CatchUp::RunOnce);
    let once = down(world("09:55:00", "11:15:00", [once]), "10:05:00", "11:05:00");
    let spread = utc("sync", "*/20 * * * *", |policy| policy.catch_up = CatchUp::Spread);
    let spread = down(world("09:55:00", "11:15:00", [spread]), "10:05:00", "11:05:00");
    let scattered = paris("sync", "0 * * * *", |policy| {
        policy.jitter = Jitter { max: minutes(10), mode: JitterMode::Around };
    });
    let mut first = world("10:00:20", "10:10:00", [hourly()]);
    first.schedules = vec![Member { starts_at_once: true, ..first.schedules[0].clone() }];
    let edited = act(world("09:55:00", "11:30:00", [hourly()]), "10:30:00", Act::Replace(Box::new(hourly())));
    let simulated = simulate(&on_time);
    vec![
        ask("ran on time", &on_time, "sync", "10:00:00"),
        answer_with("ran on a known node", &simulated, ("sync", at("10:00:00")), |inquiry| {
            inquiry.node = Some("north-1".to_owned());
            inquiry.lateness = Some(SignedDuration::from_millis(3));
            inquiry.breaker = None;
        }),
        ask("ran late, within grace", &late, "sync", "10:00:00"),
        ask("ran at the third attempt", &failing(2), "sync", "10:00:00"),
        ask("ran after more attempts than are told", &failing(12), "sync", "10:00:00"),
        ask("ran for a whole outage", &once, "sync", "11:00:00"),
        ask("ran as one of several late ticks", &spread, "sync", "10:40:00"),
        ask("ran scattered", &world("09:30:00", "10:30:00", [scattered]), "sync", "10:00:00"),
        ask("ran at the first start", &first, "sync", "10:00:00"),
        ask("ran for a version that is replaced", &edited, "sync", "10:00:00"),
        ask("ran for the version that replaced it", &edited, "sync", "11:00:00"),
    ]
}

fn busy(mut scenario: Scenario, run_time: i64) -> Scenario {
    scenario.behaviour.run_time = minutes(run_time);
    scenario
}

fn underway() -> Vec<Case> {
    let queue = |policy: &mut Policy| policy.overlap = Overlap::Queue;
    let queued = |to: &str| busy(world("09:55:00", to, [paris("sync", "*/10 * * * *", queue)]), 14);
    let load = utc("load", "0 * * * *", |_| {});
    let on = load.id;
    let depends = move |policy: &mut Policy| policy.depends_on = Some(Dependency::on(vec![on]));
    let depending = |to: &str| {
        let mut scenario = world("09:55:00", to, [load.clone(), utc("sum", "0 * * * *", depends)]);
        let slow = Behaviour { run_time: minutes(20), ..Behaviour::default() };
        scenario.behaviours.insert("load".to_owned(), slow);
        scenario
    };
    let mut limited =
        busy(world("09:55:00", "10:02:00", ["one", "two"].map(|name| utc(name, "0 10 * * *", |_| {}))), 5);
    limited.limits = Some(OrgLimits { in_flight_max: Some(1), ..OrgLimits::default() });
    let retry = utc("sync", "0 * * * *", |policy| policy.retry_after = Some(minutes(4)));
    let mut retrying = world("09:55:00", "10:02:00", [retry]);
    retrying.behaviour.failing = Failing::Always;
    vec![
        ask("runs now", &queued("10:12:00"), "sync", "10:00:00"),
        ask("waits for its turn", &queued("10:12:00"), "sync", "10:10:00"),
        ask("ran after its turn came", &queued("10:29:00"), "sync", "10:10:00"),
        ask("waits for another schedule", &depending("10:10:00"), "sum", "10:00:00"),
        ask("ran after another schedule", &depending("10:30:00"), "sum", "10:00:00"),
        ask("waits for room", &limited, "two", "10:00:00"),
        ask("is tried again soon", &retrying, "sync", "10:00:00"),
    ]
}

fn ahead() -> Vec<Case> {
    let hourly = || paris("sync", "0 * * * *", |_| {});
    let near = world("09:30:00", "09:59:40", [hourly()]);
    let quiet = || {
        let mut one = hourly();
        timing(&mut one).windows.only_between = Some("18:00-20:00".parse().expect("a range"));
        one
    };
    let pause = || Status::PausedManual { by: "ada".to_owned(), note: "migration".to_owned() };
    let paused = leave(world("09:30:00", "11:30:00", [hourly()]), "10:30:00", pause());
    // The simulation ends while no node runs.
    let asleep = down(world("09:30:00", "11:30:00", [hourly()]), "10:30:00", "12:00:00");
    let asleep_quiet = down(world("09:30:00", "11:30:00", [quiet()]), "10:30:00", "12:00:00");
    let mut holed = simulate(&world("09:30:00", "11:30:00", [hourly()]));
    holed.accounts[0].runs.remove(0);
    vec![
        ask("armed", &near, "sync", "10:00:00"),
        ask("armed, to be skipped", &world("09:30:00", "09:59:40", [quiet()]), "sync", "10:00:00"),
        ask("not planned yet", &near, "sync", "15:00:00"),
        ask("not planned yet, to be skipped", &world("09:30:00", "09:40:00", [quiet()]), "sync", "15:00:00"),
        ask("past, while it is paused", &paused, "sync", "11:00:00"),
        ask("to come, while it is paused", &paused, "sync", "15:00:00"),
        ask("due, and no node runs", &asleep, "sync", "11:00:00"),
        ask("due in a window, and no node runs", &asleep_quiet, "sync", "11:00:00"),
        answer_with("a hole", &holed, ("sync", at("10:00:00")), |_| {}),
    ]
}

fn no_ticks() -> Vec<Case> {
    let weekdays = || world("09:55:00", "2026-01-05T12:00:00Z", [paris("sync", "0 9 * * 1-5", |_| {})]);
    let either = world("09:55:00", "12:00:00", [utc("sync", "0 9 1,15 * MON", |_| {})]);
    let every = |anchor: Anchor| {
        let mut timing = Timing::new("20m".parse::<Interval>().expect("an interval"), Zone::utc());
        timing.created_at = at("10:00:00");
        timing.anchor = anchor;
        busy(world("10:00:00", "11:30:00", [schedule("sync", timing, |_| {})]), 3)
    };
    let often = Box::new(utc("sync", "5,25,45 * * * *", |_| {}));
    let edited = act(
        world("09:55:00", "11:30:00", [utc("sync", "*/20 * * * *", |_| {})]),
        "10:30:00",
        Act::Replace(often),
    );
    let paused = Status::PausedManual { by: "ada".to_owned(), note: String::new() };
    let paused = leave(world("09:55:00", "13:30:00", [utc("sync", "* * * * *", |_| {})]), "10:00:30", paused);
    let paused = act(paused, "13:00:00", Act::Resume);
    vec![
        ask("just before an edit", &edited, "sync", "10:25:00"),
        ask("just after an edit", &edited, "sync", "10:40:00"),
        ask("within a range, and not a tick", &paused, "sync", "11:00:20"),
        ask("not that hour", &weekdays(), "sync", "2026-01-02T09:00:00Z"),
        ask("not that weekday", &weekdays(), "sync", "2026-01-03T08:00:00Z"),
        ask("neither of the two days", &either, "sync", "2026-01-07T09:00:00Z"),
        ask("before it was made", &weekdays(), "sync", "09:00:00"),
        ask("when it was made", &every(Anchor::Fixed), "sync", "10:00:00"),
        ask("not a multiple of the interval", &every(Anchor::Fixed), "sync", "10:30:00"),
        ask("a tick that the run before it set", &every(Anchor::LastFinish), "sync", "10:43:00"),
        ask("no run before it set a tick", &every(Anchor::LastFinish), "sync", "10:40:00"),
    ]
}

fn bounded() -> Vec<Case> {
    let within = |change: fn(&mut Timing)| {
        let mut one = paris("sync", "*/10 * * * *", |_| {});
        change(timing(&mut one));
        world("09:55:00", "11:30:00", [one])
    };
    let deleted = act(within(|_| {}), "10:25:00", Act::Delete);
    let once = schedule("sync", Timing::new(Once::at(at("10:10:00")), Zone::utc()), |_| {});
    let once = world("09:55:00", "11:30:00", [once]);
    vec![
        ask(
            "before `start_at`",
            &within(|one| one.bounds.start_at = Some(at("10:20:00"))),
            "sync",
            "10:10:00",
        ),
        ask("after `end_at`", &within(|one| one.bounds.end_at = Some(at("10:20:00"))), "sync", "10:30:00"),
        ask("after its last run", &within(|one| one.bounds.max_runs = Some(2)), "sync", "10:20:00"),
        ask("after its deletion", &deleted, "sync", "10:30:00"),
        ask("the one shot", &once, "sync", "10:10:00"),
        ask("after the one shot", &once, "sync", "10:20:00"),
    ]
}

fn clock_changes() -> Vec<Case> {
    let spring = |spec: &str, gap: Option<Gap>| {
        let mut timing = cron(spec, "Europe/Paris");
        timing.dst = DstRule { gap, fold: None };
        let (from, to) = ("2026-03-28T12:00:00Z", "2026-03-29T12:00:00Z");
        simulate(&world(from, to, [schedule("sync", timing, |_| {})]))
    };
    let autumn =
        |spec: &str| world("2026-10-24T12:00:00Z", "2026-10-25T12:00:00Z", [paris("sync", spec, |_| {})]);
    let zone = Zone::get("Europe/Paris").expect("a zone");
    let local = "2026-03-29T02:30:00".parse().expect("a local time");
    let instant = local_instant(local, &zone).expect("an instant");
    let swallowed = |title: &str, gap: Option<Gap>| {
        let simulated = spring("30 2 * * *", gap);
        answer_with(title, &simulated, ("sync", instant), |inquiry| inquiry.local = Some(local))
    };
    vec![
        swallowed("a time that the clock skipped, made up for", None),
        swallowed("a time that the clock skipped, for good", Some(Gap::Skip)),
        ask("the first of two passes", &autumn("30 2 * * *"), "sync", "2026-10-25T00:30:00Z"),
        ask("the second of two passes", &autumn("30 2 * * *"), "sync", "2026-10-25T01:30:00Z"),
        ask("the second of two passes, both count", &autumn("30 * * * *"), "sync", "2026-10-25T01:30:00Z"),
    ]
}

fn asked_for() -> Vec<Case> {
    let wish = |nonce: &str| Act::Trigger(Request { nonce: nonce.to_owned(), is_forced: false });
    let one = utc("sync", "0 * * * *", |_| {});
    let by_hand = act(world("09:55:00", "10:30:00", [one.clone()]), "10:07:00", wish("ada-1"));
    let beside = act(world("09:55:00", "10:30:00", [one.clone()]), "10:00:00", wish("ada-2"));
    let mut mail = utc("mail", "0 0 * * *", |_| {});
    mail.when = When::Chain(Chain { delay: minutes(2), ..Chain::new(one.id, ChainOn::Success) });
    let chained = world("09:55:00", "10:30:00", [one, mail]);
    vec![
        ask("asked for by a person", &by_hand, "sync", "10:07:00"),
        ask("a tick, and a wish beside it", &beside, "sync", "10:00:00"),
        ask("came of another run", &chained, "mail", "10:02:00"),
        ask("nothing came of another run", &chained, "mail", "10:20:00"),
    ]
}
