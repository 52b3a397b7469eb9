//! Claims: each is held by one run, and an admission that loses one leaves nothing behind.

use punctual_plan::{Breaker, BreakerRule, OrgLimit, Outcome, Overlap, RunState, Wait};

use super::Backend;
use super::stage::{Shape, Stage, at, cron, seconds};
use crate::{Commit, Store};

/// Two schedules with one guard, judged apart: the second loses and stays as it was, and its lane is free.
pub async fn a_lost_guard_leaves_nothing_behind<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    for name in ["a", "b"] {
        let schedule = cron(name, "1 10 * * *").policy(|policy| policy.guard = Some("disk".to_owned()));
        stage.create(schedule, at("10:00:05")).await;
    }
    let (first, second) = (stage.judge(at("10:01:00")).await, stage.judge(at("10:01:00")).await);
    assert_eq!(stage.carry_out(vec![first[0].clone()], at("10:01:00")).await, [Commit::Done]);
    // Judged on its own, the other would start too.
    let mut lone = second[1].clone();
    lone.admission.verdict = punctual_plan::Verdict::Start;
    lone.admission.claims = first[0].admission.claims.clone();
    if let Some(punctual_plan::Claim::Lane(lane)) = lone.admission.claims.first_mut() {
        *lane = punctual_plan::Lane::Schedule(lone.admission.schedule);
    }
    assert_eq!(stage.carry_out(vec![lone], at("10:01:00")).await, [Commit::Stale]);
    let (won, lost) = (&first[0].row.launch.definition.name, &second[1].row.launch.definition.name);
    let admitted =
        (stage.row(won).await.state.counters.admitted, stage.row(lost).await.state.counters.admitted);
    assert_eq!(admitted, (1, 0));
    assert_eq!(stage.ledger(lost).await, "10:01:00 scheduled");
    stage.settle(first[0].admission.run, Outcome::Succeeded, at("10:01:01")).await;
    stage.admit(at("10:01:02")).await;
    assert_eq!(stage.ledger(lost).await, "10:01:00 enqueued", "its lane was given back");
}

/// A guard that is held skips the tick of another schedule.
pub async fn a_held_guard_skips_the_tick<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    for (name, spec) in [("a", "1 10 * * *"), ("b", "2 10 * * *")] {
        let schedule = cron(name, spec).policy(|policy| policy.guard = Some("disk".to_owned()));
        stage.create(schedule, at("10:00:05")).await;
    }
    stage.admit(at("10:01:00")).await;
    stage.plan(at("10:01:30")).await;
    stage.admit(at("10:02:00")).await;
    assert_eq!(stage.ledger("b").await, "10:02:00 skipped/guard");
}

/// A lane that schedules share is held by one run of all of them.
pub async fn a_shared_lane_is_held_by_one_run<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    for name in ["a", "b"] {
        let schedule = cron(name, "1 10 * * *").policy(|policy| {
            policy.lane = Some("tape".to_owned());
            policy.overlap = Overlap::Queue;
        });
        stage.create(schedule, at("10:00:05")).await;
    }
    stage.admit(at("10:01:00")).await;
    let (a, b) = (stage.runs("a").await.remove(0), stage.runs("b").await.remove(0));
    let (running, waiting) = match a.run.state {
        RunState::Enqueued { .. } => (a, b),
        _ => (b, a),
    };
    let RunState::Waiting(turn) = &waiting.run.state else { panic!("one waits: {waiting:?}") };
    assert_eq!(turn.wait, Wait::Turn { behind: running.run.key });
    stage.settle(running.run.key, Outcome::Succeeded, at("10:01:05")).await;
    stage.admit(at("10:01:05")).await;
    assert_eq!(stage.status(waiting.run.key).await, "enqueued");
}

/// Rows that were judged apart cannot both take a shared lane.
pub async fn a_shared_lane_is_not_taken_twice<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    for name in ["a", "b"] {
        let schedule = cron(name, "1 10 * * *").policy(|policy| policy.lane = Some("tape".to_owned()));
        stage.create(schedule, at("10:00:05")).await;
    }
    let verdicts = stage.judge(at("10:01:00")).await;
    let mut second = verdicts[1].clone();
    second.admission.verdict = punctual_plan::Verdict::Start;
    second.admission.claims = verdicts[0].admission.claims.clone();
    let commits = stage.carry_out(vec![verdicts[0].clone(), second], at("10:01:00")).await;
    assert_eq!(commits, [Commit::Done, Commit::Stale]);
}

/// An open breaker skips ticks; after its time one run probes it, and no other.
pub async fn a_breaker_has_a_single_probe<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    for name in ["a", "b"] {
        let mut schedule = cron(name, "*/20 * * * * *");
        let target = std::sync::Arc::make_mut(&mut schedule.target);
        target.name = "shared".to_owned();
        target.breaker = BreakerRule { threshold: 1, reset_after: seconds(30) };
        stage.create(schedule, at("10:00:05")).await;
    }
    let runs = stage.admit(at("10:00:20")).await;
    stage.settle(runs[0], Outcome::Exited { code: 1 }, at("10:00:21")).await;
    stage.settle(runs[1], Outcome::Cancelled { by: "ada".to_owned() }, at("10:00:21")).await;
    stage.admit(at("10:00:40")).await;
    assert!(stage.ledger("a").await.contains("10:00:40 skipped/breaker_open"));
    let verdicts = stage.judge(at("10:01:00")).await;
    let probe = verdicts[0].admission.run;
    stage.carry_out(verdicts, at("10:01:00")).await;
    let breakers = stage.store.breakers(stage.scope()).await.expect("answers");
    assert_eq!(breakers[0].breaker, Breaker::HalfOpen { probe });
    let ledgers = format!("{} {}", stage.ledger("a").await, stage.ledger("b").await);
    assert!(ledgers.contains("10:01:00 skipped/breaker_probe"), "{ledgers}");
    stage.settle(probe, Outcome::Succeeded, at("10:01:05")).await;
    assert!(stage.store.breakers(stage.scope()).await.expect("answers").is_empty());
}

/// Every move of a breaker leaves a transition and an event: to open, to half open, to closed, and by hand.
pub async fn every_move_of_a_breaker_is_told_alike<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let mut schedule = cron("a", "*/20 * * * * *");
    std::sync::Arc::make_mut(&mut schedule.target).breaker =
        BreakerRule { threshold: 1, reset_after: seconds(10) };
    stage.create(schedule, at("10:00:05")).await;
    for (tick, outcome) in [
        ("10:00:20", Outcome::Exited { code: 1 }),
        ("10:00:40", Outcome::Succeeded),
        ("10:01:00", Outcome::Exited { code: 1 }),
    ] {
        let run = stage.admit(at(tick)).await[0];
        stage.settle(run, outcome, at(tick)).await;
    }
    assert!(stage.store.reset_breaker(stage.scope(), "a".to_owned(), at("10:01:05")).await.expect("answers"));
    assert!(
        !stage.store.reset_breaker(stage.scope(), "a".to_owned(), at("10:01:06")).await.expect("answers")
    );
    let moves = stage.store.transitions(stage.scope(), "a".to_owned(), 10).await.expect("answers");
    let moves: Vec<&str> = moves.iter().rev().map(|one| one.to.as_str()).collect();
    assert_eq!(moves, ["open", "half_open", "closed", "open", "closed"]);
    let events = stage.events("breaker.moved").await;
    let told = moves.iter().map(|to| format!("the circuit breaker of `a` is {}", to.replace('_', " ")));
    assert_eq!(events, told.collect::<Vec<_>>());
}

/// Verdicts that were made before a probe was taken cannot take it again.
pub async fn a_probe_is_not_taken_twice<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    for name in ["a", "b"] {
        let mut schedule = cron(name, "*/20 * * * * *");
        let target = std::sync::Arc::make_mut(&mut schedule.target);
        target.name = "shared".to_owned();
        target.breaker = BreakerRule { threshold: 1, reset_after: seconds(10) };
        stage.create(schedule, at("10:00:05")).await;
    }
    for run in stage.admit(at("10:00:20")).await {
        stage.settle(run, Outcome::Exited { code: 1 }, at("10:00:21")).await;
    }
    let verdicts = stage.judge(at("10:00:40")).await;
    let mut second = verdicts[1].clone();
    second.admission.verdict = punctual_plan::Verdict::Start;
    second.admission.claims = verdicts[0]
        .admission
        .claims
        .iter()
        .filter(|claim| matches!(claim, punctual_plan::Claim::Probe(..)))
        .cloned()
        .collect();
    assert_eq!(second.admission.claims.len(), 1, "the first one probes");
    let commits = stage.carry_out(vec![verdicts[0].clone(), second], at("10:00:40")).await;
    assert_eq!(commits, [Commit::Done, Commit::Stale]);
}

/// An org that is at its limit lets runs wait until one ends.
pub async fn a_limit_in_flight_lets_runs_wait<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    stage.limits(r#"{"runs_in_flight":1,"over":"wait"}"#).await;
    for name in ["a", "b"] {
        stage.create(cron(name, "1 10 * * *"), at("10:00:05")).await;
    }
    let runs = stage.admit(at("10:01:00")).await;
    assert_eq!(
        (stage.status(runs[0]).await.as_str(), stage.status(runs[1]).await.as_str()),
        ("enqueued", "waiting")
    );
    stage.settle(runs[0], Outcome::Succeeded, at("10:01:05")).await;
    assert_eq!(stage.admit(at("10:01:05")).await, [runs[1]]);
    assert_eq!(stage.status(runs[1]).await, "enqueued");
}

/// What a run waited for is kept when it starts and when it ends, and what it waited for does not wake it again.
pub async fn what_a_run_waited_for_is_kept<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    stage.limits(r#"{"runs_in_flight":2,"over":"wait"}"#).await;
    for name in ["a", "b", "c"] {
        stage.create(cron(name, "1 10 * * *"), at("10:00:05")).await;
    }
    let runs = stage.admit(at("10:01:00")).await;
    let last = runs[2];
    let waited = async || stage.run(last).await.run.waited.map(|waiting| (waiting.wait, waiting.since));
    let kept = Some((Wait::Limit { limit: OrgLimit::InFlight }, at("10:01:00")));
    assert_eq!((stage.status(last).await.as_str(), waited().await), ("waiting", kept.clone()));
    stage.settle(runs[0], Outcome::Succeeded, at("10:01:05")).await;
    assert_eq!(stage.admit(at("10:01:05")).await, [last]);
    assert_eq!((stage.status(last).await.as_str(), waited().await), ("enqueued", kept.clone()));
    stage.settle(runs[1], Outcome::Succeeded, at("10:01:10")).await;
    let due = stage.due(at("10:01:10")).await;
    assert!(due.rows.is_empty() && due.expired.is_empty(), "it is in flight: {:?}", due.expired);
    stage.settle(last, Outcome::Succeeded, at("10:01:15")).await;
    assert_eq!((stage.status(last).await.as_str(), waited().await), ("success", kept));
}

/// A run that took its turn is no more among those that wait for theirs.
pub async fn whoever_had_its_turn_does_not_wait_any_more<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let queued = cron("one", "*/20 * * * * *").policy(|policy| {
        policy.overlap = Overlap::Queue;
        policy.retry_after = Some(seconds(30));
    });
    stage.create(queued, at("10:00:05")).await;
    let first = stage.admit(at("10:00:20")).await[0];
    let second = stage.admit(at("10:00:40")).await[0];
    stage.settle(first, Outcome::Succeeded, at("10:00:45")).await;
    assert_eq!(stage.admit(at("10:00:45")).await, [second]);
    stage.settle(second, Outcome::Exited { code: 1 }, at("10:00:50")).await;
    assert_eq!(stage.status(second).await, "retrying/exit_code");
    let due = stage.due(at("10:01:00")).await;
    let lane = due.world.lanes.values().next().cloned().unwrap_or_default();
    assert!(lane.waiting.is_empty() && lane.in_flight.is_empty(), "{lane:?}");
    let waited = stage.run(second).await.run.waited.map(|waiting| waiting.wait);
    assert_eq!(waited, Some(Wait::Turn { behind: first }));
}

/// Places under a limit are counted in the transaction that takes them.
pub async fn a_place_under_a_limit_is_not_taken_twice<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    stage.limits(r#"{"runs_in_flight":1}"#).await;
    for name in ["a", "b"] {
        stage.create(cron(name, "1 10 * * *"), at("10:00:05")).await;
    }
    let verdicts = stage.judge(at("10:01:00")).await;
    let mut second = verdicts[1].clone();
    second.admission.verdict = punctual_plan::Verdict::Start;
    second.admission.claims = vec![punctual_plan::Claim::Place(stage.org)];
    let lost = second.admission.run;
    let commits = stage.carry_out(vec![verdicts[0].clone(), second], at("10:01:00")).await;
    assert_eq!(commits, [Commit::Done, Commit::Stale]);
    assert_eq!(stage.status(lost).await, "scheduled");
}

/// Runs beyond a limit per minute are looked at again in the next minute.
pub async fn a_limit_per_minute_lets_runs_wait_for_the_next<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    stage.limits(r#"{"runs_per_minute":1,"over":"wait"}"#).await;
    for name in ["a", "b"] {
        stage.create(cron(name, "1 10 * * *"), at("10:00:05")).await;
    }
    let runs = stage.admit(at("10:01:10")).await;
    stage.settle(runs[0], Outcome::Succeeded, at("10:01:11")).await;
    assert_eq!(stage.status(runs[1]).await, "waiting");
    assert!(stage.due(at("10:01:59")).await.rows.is_empty());
    assert_eq!(stage.admit(at("10:02:00")).await, [runs[1]]);
    assert_eq!(stage.status(runs[1]).await, "enqueued");
}

/// An org may also have its runs skipped beyond a limit.
pub async fn a_limit_may_skip_instead<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    stage.limits(r#"{"runs_in_flight":1,"over":"skip"}"#).await;
    for name in ["a", "b"] {
        stage.create(cron(name, "1 10 * * *"), at("10:00:05")).await;
    }
    let runs = stage.admit(at("10:01:00")).await;
    assert_eq!(stage.status(runs[1]).await, "skipped/org_limit");
}

/// A lane is taken as long as a run of it is in flight, also one whose schedule is gone.
pub async fn a_lane_is_held_by_a_run_whose_schedule_is_gone<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let shared = |name, spec| cron(name, spec).policy(|policy| policy.lane = Some("lane".to_owned()));
    stage.create(shared("one", "20 0 10 * * *"), at("09:59:55")).await;
    stage.create(shared("two", "40 0 10 * * *"), at("09:59:55")).await;
    let run = stage.admit(at("10:00:20")).await[0];
    let deletion = stage.deletion("one", at("10:00:25")).await;
    stage.write(deletion).await;
    let next = stage.admit(at("10:00:40")).await[0];
    assert_eq!(stage.status(next).await, "skipped/overlap");
    assert_eq!(stage.settle(run, Outcome::Succeeded, at("10:00:45")).await.commit, Commit::Done);
}

/// `max_runs` is counted in the transaction that admits.
pub async fn max_runs_is_never_exceeded<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let schedule =
        cron("one", "*/20 * * * * *").timing(|timing| timing.bounds.max_runs = Some(1)).policy(|policy| {
            policy.overlap = Overlap::Allow;
            policy.catch_up = punctual_plan::CatchUp::RunAll;
        });
    stage.create(schedule, at("10:00:05")).await;
    let verdicts = stage.judge(at("10:00:40")).await;
    let mut second = verdicts[1].clone();
    second.admission.verdict = punctual_plan::Verdict::Start;
    second.admission.claims = verdicts[0].admission.claims.clone();
    let commits = stage.carry_out(vec![verdicts[0].clone(), second], at("10:00:40")).await;
    assert_eq!(commits, [Commit::Done, Commit::Stale]);
    assert_eq!(stage.row("one").await.state.counters.admitted, 1);
}

/// Claims are freed when the run ends, however it ends.
pub async fn claims_are_freed_by_every_end<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let schedule = cron("one", "*/20 * * * * *").policy(|policy| policy.guard = Some("disk".to_owned()));
    stage.create(schedule, at("10:00:05")).await;
    let ends = [
        ("10:00:20", Outcome::Succeeded),
        ("10:00:40", Outcome::Exited { code: 2 }),
        ("10:01:00", Outcome::Cancelled { by: "ada".to_owned() }),
    ];
    for (time, outcome) in ends {
        let run = stage.admit(at(time)).await[0];
        assert_eq!(stage.status(run).await, "enqueued", "at {time}");
        stage.settle(run, outcome, at(time)).await;
    }
    assert!(stage.store.check().await.expect("answers").is_empty());
}
