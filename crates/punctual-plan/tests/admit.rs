//! Goal: at its instant each row starts, waits or ends for one reason, and takes what it needs exactly once.
//! Method: due rows and a world, against one line per verdict with its claims and effects, as text.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use punctual_plan::{
    Admission, Breaker, CatchUp, Claim, Dependency, Due, Effect, Lane, OrgKey, OrgLimits, OrgUse, Origin,
    OverLimit, Overlap, Policy, QUEUE_MAX, Reason, Room, RunKey, RunStatus, RunsLeft, ScheduleId,
    ScheduleKey, Standing, Traffic, Upstream, Verdict, Wait, Waiting, World, admit,
};

fn at(text: &str) -> Timestamp {
    format!("2026-01-01T{text}Z").parse().expect("a time of day")
}

fn tick(run: i64, time: &str) -> Due {
    Due::tick(RunKey(run), ScheduleKey(1), at(time))
}

/// A world in which schedule 1 stands as given.
fn world(now: &str, standing: Standing) -> World {
    let mut world = World::free(at(now));
    world.schedules.insert(ScheduleKey(1), standing);
    world
}

fn wants(change: impl FnOnce(&mut Policy)) -> Standing {
    let mut standing = Standing { target: "mail".to_owned(), ..Standing::default() };
    change(Arc::make_mut(&mut standing.policy));
    standing
}

fn claim(claim: &Claim) -> String {
    match claim {
        Claim::Lane(Lane::Schedule(_)) => "schedule".to_owned(),
        Claim::Lane(Lane::Shared(_, name)) => format!("lane {name}"),
        Claim::Guard(_, key) => format!("guard {key}"),
        Claim::Probe(_, target) => format!("probe {target}"),
        Claim::Place(_) => "place".to_owned(),
        Claim::MaxRuns(..) => "max_runs".to_owned(),
    }
}

fn effect(effect: &Effect) -> String {
    match effect {
        Effect::Cancel(run, reason) => format!("cancels {run}: {reason}"),
        Effect::EndRetry(run, reason) => format!("ends the retry of {run}: {reason}"),
        Effect::EndWait(run, reason) => format!("ends the wait of {run}: {reason}"),
    }
}

fn line(admission: &Admission) -> String {
    let clock = |time: Timestamp| time.strftime("%H:%M:%S").to_string();
    let verdict = match &admission.verdict {
        Verdict::Start => "starts".to_owned(),
        Verdict::Later(time) => format!("fires {}", clock(*time)),
        Verdict::Wait(Waiting { wait, deadline, .. }) => match wait {
            Wait::Turn { behind } => format!("waits behind {behind}"),
            Wait::Upstream { schedule } => format!("waits for {schedule} until {}", clock(*deadline)),
            Wait::Limit { limit } => format!("waits for {limit}"),
            Wait::Room { target, again_at } => format!("waits for room at {target} until {again_at}"),
        },
        Verdict::Skip(reason) => format!("skipped {}", reason.code()),
        Verdict::Miss(reason) => format!("missed {}", reason.code()),
        Verdict::Fail(reason) => format!("failed {}", reason.code()),
    };
    let mut said = format!("{} {verdict}", admission.run);
    if !admission.claims.is_empty() {
        let claims: Vec<String> = admission.claims.iter().map(claim).collect();
        said = format!("{said} [{}]", claims.join(", "));
    }
    admission.effects.iter().fold(said, |said, one| format!("{said}, {}", effect(one)))
}

fn check(due: &[Due], mut world: World, expected: &[&str]) {
    let said: Vec<String> = admit(due, &mut world).iter().map(line).collect();
    assert_eq!(said, expected);
}

#[test]
fn a_row_starts_at_its_instant_and_not_before() {
    check(&[tick(1, "10:00:00")], World::free(at("10:00:00")), &["run-1 starts [schedule]"]);
    check(&[tick(1, "10:00:00")], World::free(at("09:59:59.999")), &[]);
}

#[test]
fn of_several_due_ticks_only_the_last_fires_and_only_within_the_grace_period() {
    let other = Due::tick(RunKey(3), ScheduleKey(2), at("10:00:00"));
    check(
        &[tick(1, "10:00:00"), tick(2, "10:00:01"), other],
        World::free(at("10:00:02")),
        &["run-1 missed overtaken", "run-2 starts [schedule]", "run-3 starts [schedule]"],
    );
    check(&[tick(1, "10:00:00")], World::free(at("10:01:00")), &["run-1 starts [schedule]"]);
    check(&[tick(1, "10:00:00")], World::free(at("10:01:00.001")), &["run-1 missed outage"]);
}

#[test]
fn rows_that_were_slept_through_are_caught_up_by_the_policy() {
    let rows = [tick(1, "10:00:00"), tick(2, "10:01:00"), tick(3, "10:02:00")];
    let world = |catch_up, max| {
        let standing = wants(|policy| {
            policy.overlap = Overlap::Allow;
            policy.catch_up = catch_up;
            policy.max_catch_up = max;
        });
        world("12:00:00", standing)
    };
    check(
        &rows,
        world(CatchUp::RunOnce, 100),
        &["run-1 missed caught_up", "run-2 missed caught_up", "run-3 starts"],
    );
    check(&rows, world(CatchUp::RunAll, 2), &["run-1 missed catch_up_limit", "run-2 starts", "run-3 starts"]);
    check(
        &rows,
        world(CatchUp::Spread, 100),
        &["run-1 starts", "run-2 fires 12:00:20", "run-3 fires 12:00:40"],
    );
}

#[test]
fn a_row_that_was_caught_up_is_not_judged_again() {
    let row = Due { fire_at: at("10:30:00"), ..tick(1, "10:00:00") };
    check(&[row], World::free(at("10:45:00")), &["run-1 starts [schedule]"]);
}

#[test]
fn a_hundred_late_rows_fire_at_one_wake_and_the_rest_a_tick_later() {
    let tick_at = |run: i64| tick(run, &format!("10:{:02}:{:02}", run / 60, run % 60));
    let rows: Vec<Due> = (0..150).map(tick_at).collect();
    let standing = wants(|policy| {
        policy.overlap = Overlap::Allow;
        policy.catch_up = CatchUp::RunAll;
        policy.max_catch_up = 1_000;
    });
    let admissions = admit(&rows, &mut world("11:00:00", standing));
    let starts = admissions.iter().filter(|one| one.verdict == Verdict::Start).count();
    let later = admissions.iter().filter(|one| one.verdict == Verdict::Later(at("11:00:01"))).count();
    assert_eq!((starts, later), (100, 50));
}

#[test]
fn a_verdict_known_ahead_is_applied_at_its_instant() {
    let row = Due { verdict: Some(Reason::QuietHours { name: "night".to_owned() }), ..tick(1, "10:00:00") };
    check(&[row], World::free(at("10:00:00")), &["run-1 skipped quiet_hours"]);
}

#[test]
fn what_cannot_start_in_time_is_skipped() {
    let standing = || wants(|policy| policy.start_deadline = Some(SignedDuration::from_secs(5)));
    check(&[tick(1, "10:00:00")], world("10:00:05", standing()), &["run-1 starts [schedule]"]);
    check(&[tick(1, "10:00:00")], world("10:00:06", standing()), &["run-1 skipped start_deadline"]);
}

/// A world in which run 1 of schedule 1 is in flight and others wait behind it.
fn overlapping(overlap: Overlap, waiting: &[RunKey]) -> World {
    let mut world = world("10:00:00", wants(|policy| policy.overlap = overlap));
    let traffic = Traffic { in_flight: vec![RunKey(1)], waiting: waiting.to_vec() };
    world.lanes.insert(Lane::Schedule(ScheduleKey(1)), traffic);
    world
}

#[test]
fn a_run_in_flight_is_met_by_each_overlap_policy() {
    let row = [tick(2, "10:00:00")];
    let check = |overlap, expected| check(&row, overlapping(overlap, &[]), &[expected]);
    check(Overlap::Skip, "run-2 skipped overlap");
    check(Overlap::Allow, "run-2 starts");
    check(Overlap::Queue, "run-2 waits behind run-1");
    check(Overlap::Cancel, "run-2 waits behind run-1, cancels run-1: cancelled by its later run-2");
}

#[test]
fn a_queue_is_served_in_its_order_and_has_an_end() {
    let queue: Vec<RunKey> = (2..102).map(RunKey).collect();
    assert_eq!(queue.len(), QUEUE_MAX as usize);
    let mut world = overlapping(Overlap::Queue, &queue);
    check(&[tick(200, "10:00:00")], world.clone(), &["run-200 skipped queue_full"]);
    world.lanes.values_mut().for_each(|traffic| traffic.in_flight.clear());
    let waiting =
        Waiting { wait: Wait::Turn { behind: RunKey(1) }, since: at("09:00:00"), deadline: at("23:00:00") };
    let woken = |run| Due { waiting: Some(waiting.clone()), ..tick(run, "09:00:00") };
    check(&[woken(3), woken(2)], world, &["run-3 waits behind run-2", "run-2 starts [schedule]"]);
}

#[test]
fn a_later_tick_takes_the_place_of_one_that_waits_for_a_cancelled_run() {
    check(
        &[tick(3, "10:00:00")],
        overlapping(Overlap::Cancel, &[RunKey(2)]),
        &["run-3 waits behind run-1, ends the wait of run-2: superseded by its later run-3, \
           cancels run-1: cancelled by its later run-3"],
    );
}

#[test]
fn a_pending_retry_is_superseded_keeps_its_turn_or_is_independent() {
    let check = |overlap, expected: &str| {
        let mut standing = wants(|policy| policy.overlap = overlap);
        standing.retrying = vec![RunKey(1)];
        check(&[tick(2, "10:00:00")], world("10:00:00", standing), &[expected]);
    };
    let superseded = "run-2 starts [schedule], ends the retry of run-1: superseded by its later run-2";
    check(Overlap::Skip, superseded);
    check(Overlap::Cancel, superseded);
    check(Overlap::Queue, "run-2 waits behind run-1");
    check(Overlap::Allow, "run-2 starts");
}

#[test]
fn rows_of_one_batch_see_the_claims_of_those_before_them() {
    let mut standing = wants(|policy| {
        policy.overlap = Overlap::Queue;
        policy.catch_up = CatchUp::RunAll;
        policy.guard = Some("poll".to_owned());
    });
    standing.runs_left = Some(RunsLeft { left: 1, max: 9 });
    let other = Due::tick(RunKey(7), ScheduleKey(2), at("10:00:00"));
    let mut world = world("10:00:01", standing);
    world.schedules.insert(ScheduleKey(2), wants(|policy| policy.guard = Some("poll".to_owned())));
    check(
        &[tick(1, "10:00:00"), tick(2, "10:00:01"), other],
        world,
        &["run-1 starts [schedule, guard poll, max_runs]", "run-2 skipped max_runs", "run-7 skipped guard"],
    );
}

#[test]
fn an_open_breaker_lets_a_single_probe_through_when_its_time_is_over() {
    let rows = [tick(1, "10:00:00"), Due::tick(RunKey(2), ScheduleKey(2), at("10:00:00"))];
    let world = |until: &str| {
        let mut world = world("10:00:00", wants(|_| {}));
        world.schedules.insert(ScheduleKey(2), wants(|_| {}));
        world.breakers.insert((OrgKey(1), "mail".to_owned()), Breaker::Open { until: at(until) });
        world
    };
    check(&rows, world("10:00:01"), &["run-1 skipped breaker_open", "run-2 skipped breaker_open"]);
    check(&rows, world("10:00:00"), &["run-1 starts [schedule, probe mail]", "run-2 skipped breaker_probe"]);
    let manual = Due { origin: Origin::Manual, ..tick(1, "10:00:00") };
    check(&[manual], world("10:00:01"), &["run-1 starts [schedule]"]);
}

#[test]
fn a_tick_waits_for_what_it_depends_on_and_not_for_what_has_failed() {
    let check = |latest: &[Option<RunStatus>], expected: &str| {
        let standing =
            wants(|policy| policy.depends_on = Some(Dependency::on(vec![ScheduleId(uuid::Uuid::nil())])));
        let upstream = latest
            .iter()
            .map(|status| Upstream {
                schedule: "load".to_owned(),
                latest: status.map(|status| (at("09:00:00"), status)),
            })
            .collect();
        let row = Due { upstream, ..tick(1, "10:00:00") };
        check(&[row], world("10:00:00", standing), &[expected]);
    };
    check(&[Some(RunStatus::Success)], "run-1 starts [schedule]");
    check(&[Some(RunStatus::Success), Some(RunStatus::Running)], "run-1 waits for load until 11:00:00");
    check(&[Some(RunStatus::Running), Some(RunStatus::Failed)], "run-1 skipped upstream_failed");
    check(&[Some(RunStatus::Skipped)], "run-1 skipped upstream_failed");
    check(&[None], "run-1 skipped upstream_absent");
}

#[test]
fn a_wait_ends_at_its_deadline() {
    let waiting = Waiting {
        wait: Wait::Upstream { schedule: "load".to_owned() },
        since: at("10:00:00"),
        deadline: at("11:00:00"),
    };
    let row = Due { waiting: Some(waiting), ..tick(1, "10:00:00") };
    let [admission] = admit(&[row], &mut World::free(at("11:00:00"))).try_into().expect("one row");
    let Verdict::Skip(reason) = admission.verdict else { panic!("it waited too long") };
    assert_eq!(reason.to_string(), "it waited 3600 s for `load`");
}

#[test]
fn an_org_that_used_up_its_limit_waits_or_is_skipped() {
    let rows = [tick(1, "10:00:00"), Due::tick(RunKey(2), ScheduleKey(2), at("10:00:00"))];
    let world = |over| {
        let limits = OrgLimits { per_minute_max: Some(3), in_flight_max: None, over };
        let used = OrgUse { limits, per_minute: 2, in_flight: 0 };
        let mut world = World::free(at("10:00:00"));
        world.orgs.insert(OrgKey(1), used);
        world
    };
    check(
        &rows,
        world(OverLimit::Wait),
        &["run-1 starts [schedule, place]", "run-2 waits for runs_per_minute"],
    );
    check(&rows, world(OverLimit::Skip), &["run-1 starts [schedule, place]", "run-2 skipped org_limit"]);
}

#[test]
fn a_forced_run_starts_beside_what_is_in_flight() {
    let forced = Due { origin: Origin::Manual, is_forced: true, ..tick(2, "10:00:00") };
    check(&[forced], overlapping(Overlap::Skip, &[]), &["run-2 starts"]);
}

#[test]
fn schedules_that_share_a_lane_take_turns() {
    let shared = |overlap| {
        wants(|policy| {
            policy.overlap = overlap;
            policy.lane = Some("mail/send".to_owned());
        })
    };
    let rows = [tick(1, "10:00:00"), Due::tick(RunKey(2), ScheduleKey(2), at("10:00:00"))];
    let check = |overlap, expected| {
        let mut world = world("10:00:00", shared(Overlap::Skip));
        world.schedules.insert(ScheduleKey(2), shared(overlap));
        check(&rows, world, &["run-1 starts [lane mail/send]", expected]);
    };
    check(Overlap::Skip, "run-2 skipped overlap");
    check(Overlap::Queue, "run-2 waits behind run-1");
    check(Overlap::Allow, "run-2 starts");
}

#[test]
fn a_retry_is_never_skipped_it_waits_or_fails() {
    let retry = || Due { attempt: 2, ..tick(2, "09:00:00") };
    let check = |world: World, expected| check(&[retry()], world, &[expected]);
    for overlap in [Overlap::Skip, Overlap::Queue, Overlap::Cancel] {
        check(overlapping(overlap, &[RunKey(3)]), "run-2 waits behind run-1");
    }
    check(overlapping(Overlap::Allow, &[]), "run-2 starts");
    check(
        world("10:00:00", wants(|policy| policy.start_deadline = Some(SignedDuration::ZERO))),
        "run-2 starts [schedule]",
    );
    let mut guarded = world("10:00:00", wants(|policy| policy.guard = Some("poll".to_owned())));
    guarded.guards.insert((OrgKey(1), "poll".to_owned()), RunKey(9));
    check(guarded, "run-2 waits behind run-9");
    let broken = |breaker| {
        let mut world = world("10:00:00", wants(|_| {}));
        world.breakers.insert((OrgKey(1), "mail".to_owned()), breaker);
        world
    };
    check(broken(Breaker::Open { until: at("10:05:00") }), "run-2 fires 10:05:00");
    check(broken(Breaker::HalfOpen { probe: RunKey(9) }), "run-2 waits behind run-9");
    let waiting =
        Waiting { wait: Wait::Turn { behind: RunKey(1) }, since: at("09:00:00"), deadline: at("10:00:00") };
    let [late] = admit(&[Due { waiting: Some(waiting), ..retry() }], &mut World::free(at("10:00:00")))
        .try_into()
        .expect("one row");
    assert_eq!(line(&late), "run-2 failed waited_too_long");
}

#[test]
fn a_tick_comes_before_a_retry_that_is_due_at_the_same_instant() {
    let rows = [Due { attempt: 2, ..tick(1, "09:50:00") }, tick(2, "10:00:00")];
    let check = |overlap, expected: &[&str]| {
        let mut standing = wants(|policy| policy.overlap = overlap);
        standing.retrying = vec![RunKey(1)];
        check(&rows, world("10:00:00", standing), expected);
    };
    let superseded = [
        "run-1 failed superseded",
        "run-2 starts [schedule], ends the retry of run-1: superseded by its later run-2",
    ];
    check(Overlap::Skip, &superseded);
    check(Overlap::Cancel, &superseded);
    check(Overlap::Queue, &["run-1 starts [schedule]", "run-2 waits behind run-1"]);
    check(Overlap::Allow, &["run-1 starts", "run-2 starts"]);
}

#[test]
fn rows_of_a_full_target_wait_one_behind_the_other_and_take_nothing() {
    let mut full = world("10:00:00", wants(|policy| policy.overlap = Overlap::Allow));
    full.rooms.insert((OrgKey(1), "mail".to_owned()), Room { left: 1, again_at: at("10:00:01") });
    let other = Due::tick(RunKey(3), ScheduleKey(2), at("10:00:00"));
    check(
        &[tick(4, "10:00:00"), tick(1, "10:00:00"), tick(2, "10:00:00"), other],
        full,
        &[
            "run-4 starts",
            "run-1 waits for room at mail until 2026-01-01T10:00:01Z",
            "run-2 waits for room at mail until 2026-01-01T10:00:01.0001Z",
            "run-3 starts [schedule]",
        ],
    );
}
