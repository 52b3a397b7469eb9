//! Ends: a report is judged once, by who may make it, and everything that follows is written with it.

use punctual_plan::{BreakerRule, Chain, ChainOn, Delivery, Fence, Outcome, RunState, Status};
use punctual_time::{Anchor, Once, Spec};

use super::Backend;
use super::stage::{Shape, Stage, at, cron, every, following, id_of, seconds};
use crate::{AttemptToken, Commit, OUTPUT_MAX, Started, Store};

/// A success ends the run and is counted.
pub async fn a_success_is_counted<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    stage.create(cron("one", "*/20 * * * * *"), at("10:00:05")).await;
    let run = stage.admit(at("10:00:20")).await[0];
    let settled = stage.settle(run, Outcome::Succeeded, at("10:00:25")).await;
    assert!(settled.commit == Commit::Done && settled.settlement.is_some());
    let (row, schedule) = (stage.run(run).await, stage.row("one").await);
    assert_eq!(row.run.state, RunState::Success { at: at("10:00:25") });
    assert_eq!(row.completed_at, Some(at("10:00:25")));
    let counters = schedule.state.counters;
    assert_eq!((counters.runs, counters.successes, counters.failures), (1, 1, 0));
    assert_eq!(schedule.last_success, Some((at("10:00:25"), run)));
    assert_eq!(schedule.state.last_finish.map(|(at, _)| at), Some(at("10:00:25")));
}

/// A failure without retries ends the run with its reason.
pub async fn a_failure_is_counted_with_its_reason<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    stage.create(cron("one", "*/20 * * * * *"), at("10:00:05")).await;
    let run = stage.admit(at("10:00:20")).await[0];
    stage.settle(run, Outcome::Exited { code: 3 }, at("10:00:25")).await;
    assert_eq!(stage.status(run).await, "failed/exit_code");
    let counters = stage.row("one").await.state.counters;
    assert_eq!((counters.failures, counters.consecutive_failures), (1, 1));
    assert_eq!(stage.row("one").await.last_success, None);
}

/// A failure with retries is tried again at its time, and both attempts are kept.
pub async fn a_failure_is_tried_again<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let schedule = cron("one", "1 10 * * *").policy(|policy| policy.retry_after = Some(seconds(10)));
    stage.create(schedule, at("10:00:05")).await;
    let run = stage.admit(at("10:01:00")).await[0];
    stage.settle(run, Outcome::Exited { code: 3 }, at("10:01:02")).await;
    let RunState::Retrying { attempt, at: again, .. } = stage.run(run).await.run.state else {
        panic!("it is tried again")
    };
    assert_eq!((attempt, again), (2, at("10:01:12")));
    assert!(stage.due(at("10:01:11")).await.rows.is_empty());
    assert_eq!(stage.admit(at("10:01:12")).await, [run]);
    stage.settle(run, Outcome::Succeeded, at("10:01:15")).await;
    let row = stage.run(run).await;
    assert_eq!(row.run.state, RunState::Success { at: at("10:01:15") });
    let attempts: Vec<(u32, bool)> =
        row.run.attempts.iter().map(|attempt| (attempt.number, attempt.reason.is_some())).collect();
    assert_eq!(attempts, [(1, true), (2, false)]);
    assert_eq!(stage.row("one").await.state.counters.admitted, 1, "a run counts once");
}

/// What cannot be launched is tried again, up to its number of attempts.
pub async fn a_failed_launch_is_repeated_a_few_times<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    stage.create(cron("one", "1 10 * * *"), at("10:00:05")).await;
    let run = stage.admit(at("10:01:00")).await[0];
    let failed = || Outcome::LaunchFailed { error: "no such file".to_owned() };
    for now in ["10:01:00", "10:01:10", "10:01:20"] {
        stage.settle(run, failed(), at(now)).await;
        if now != "10:01:20" {
            assert_eq!(stage.admit(at(now) + seconds(5)).await, [run]);
        }
    }
    assert_eq!(stage.status(run).await, "failed/launch_failed");
    assert_eq!(stage.run(run).await.run.attempts.len(), 3);
}

/// A run in doubt is repeated at once, or ends as unknown if it may be seen once only.
pub async fn a_run_in_doubt_follows_its_delivery<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    stage.create(cron("often", "1 10 * * *"), at("10:00:05")).await;
    let once = cron("once", "1 10 * * *").policy(|policy| policy.delivery = Delivery::AtMostOnce);
    stage.create(once, at("10:00:05")).await;
    for run in stage.admit(at("10:01:00")).await {
        stage.settle(run, Outcome::InDoubt, at("10:01:05")).await;
    }
    assert_eq!(stage.ledger("often").await, "10:01:00 retrying/outcome_unknown");
    assert_eq!(stage.ledger("once").await, "10:01:00 failed/outcome_unknown");
    assert_eq!(stage.due(at("10:01:05")).await.rows.len(), 1);
}

/// A run is settled once.
pub async fn an_ended_run_is_not_settled_again<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    stage.create(cron("one", "1 10 * * *"), at("10:00:05")).await;
    let run = stage.admit(at("10:01:00")).await[0];
    let report = stage.report(run, Outcome::Succeeded, at("10:01:05")).await;
    assert_eq!(stage.send(vec![report.clone()], at("10:01:05")).await[0].commit, Commit::Done);
    let again = stage.send(vec![report], at("10:01:06")).await.remove(0);
    assert!(again.commit == Commit::Stale && again.settlement.is_none());
    assert_eq!(stage.row("one").await.state.counters.runs, 1);
}

/// The fence compared is the run's own: another node has no say.
pub async fn a_report_under_another_fence_is_refused<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    stage.create(cron("one", "1 10 * * *"), at("10:00:05")).await;
    let run = stage.admit(at("10:01:00")).await[0];
    let mut report = stage.report(run, Outcome::Succeeded, at("10:01:05")).await;
    report.token = AttemptToken::Node(Fence(stage.fence.0 + 1));
    assert_eq!(stage.send(vec![report.clone()], at("10:01:05")).await[0].commit, Commit::Stale);
    report.token = AttemptToken::Holder("guessed".to_owned());
    assert_eq!(stage.send(vec![report], at("10:01:05")).await[0].commit, Commit::Stale);
    assert_eq!(stage.status(run).await, "enqueued");
}

/// A late success of an older attempt closes a run that is tried again; a late failure changes nothing.
pub async fn a_late_success_of_an_older_attempt_closes_the_run<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let schedule = cron("one", "1 10 * * *").policy(|policy| policy.retry_after = Some(seconds(10)));
    stage.create(schedule, at("10:00:05")).await;
    let run = stage.admit(at("10:01:00")).await[0];
    let first = stage.report(run, Outcome::Lost, at("10:01:05")).await;
    stage.send(vec![first.clone()], at("10:01:05")).await;
    stage.admit(at("10:01:15")).await;
    let failure = crate::Report { outcome: Outcome::Exited { code: 1 }, ..first.clone() };
    assert_eq!(stage.send(vec![failure], at("10:01:16")).await[0].commit, Commit::Stale);
    assert_eq!(stage.status(run).await, "enqueued");
    let success = crate::Report { outcome: Outcome::Succeeded, ..first };
    assert_eq!(stage.send(vec![success], at("10:01:17")).await[0].commit, Commit::Done);
    assert_eq!(stage.status(run).await, "success");
    assert!(stage.store.check().await.expect("answers").is_empty(), "its claims are freed");
}

/// Reports of one batch are judged one after the other.
pub async fn reports_of_one_batch_see_each_other<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let schedule = cron("one", "*/20 * * * * *").policy(|policy| {
        policy.overlap = punctual_plan::Overlap::Allow;
        policy.catch_up = punctual_plan::CatchUp::RunAll;
        policy.max_consecutive_failures = Some(2);
    });
    stage.create(schedule, at("10:00:05")).await;
    let mut reports = Vec::new();
    for run in stage.admit(at("10:00:40")).await {
        reports.push(stage.report(run, Outcome::Exited { code: 1 }, at("10:00:45")).await);
    }
    let settled = stage.send(reports, at("10:00:45")).await;
    let failures: Vec<u32> = settled
        .iter()
        .filter_map(|one| one.settlement.as_ref())
        .map(|settlement| settlement.counters.consecutive_failures)
        .collect();
    assert_eq!(failures, [1, 2]);
    assert_eq!(stage.row("one").await.state.status, Status::AutoDisabled { failures: 2 });
}

/// A breaker opens after its failures, with a transition and an event; a person closes it.
pub async fn a_breaker_opens_and_is_closed_by_hand<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let mut schedule = cron("one", "*/20 * * * * *");
    std::sync::Arc::make_mut(&mut schedule.target).breaker =
        BreakerRule { threshold: 2, reset_after: seconds(600) };
    stage.create(schedule, at("10:00:05")).await;
    for now in ["10:00:20", "10:00:40"] {
        let run = stage.admit(at(now)).await[0];
        stage.settle(run, Outcome::Exited { code: 1 }, at(now)).await;
    }
    let moves = stage.store.transitions(stage.scope(), "one".to_owned(), 10).await.expect("answers");
    assert_eq!((moves.len(), moves[0].from.as_str(), moves[0].to.as_str()), (1, "closed", "open"));
    assert!(moves[0].run.is_some());
    assert_eq!(stage.events("breaker.moved").await.len(), 1);
    let reset = async || stage.store.reset_breaker(stage.scope(), "one".to_owned(), at("10:00:50")).await;
    assert!(reset().await.expect("answers"));
    assert!(!reset().await.expect("answers"), "it is closed already");
    assert!(stage.store.breakers(stage.scope()).await.expect("answers").is_empty());
    let moves = stage.store.transitions(stage.scope(), "one".to_owned(), 1).await.expect("answers");
    assert_eq!((moves.len(), moves[0].to.as_str(), moves[0].run), (1, "closed", None));
    let run = stage.admit(at("10:01:00")).await[0];
    assert_eq!(stage.status(run).await, "enqueued");
}

/// Failing too often disables the schedule: what is armed goes, what is due ends, nothing is planned.
pub async fn failing_too_often_disables_the_schedule<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let schedule = cron("one", "*/20 * * * * *").policy(|policy| policy.max_consecutive_failures = Some(1));
    stage.create(schedule, at("10:00:05")).await;
    let run = stage.admit(at("10:00:20")).await[0];
    stage.settle(run, Outcome::Exited { code: 1 }, at("10:00:45")).await;
    assert_eq!(stage.ledger("one").await, "10:00:20 failed/exit_code | 10:00:40 skipped/auto_disabled");
    let row = stage.row("one").await;
    assert_eq!((row.state.status, row.left_at), (Status::AutoDisabled { failures: 1 }, Some(at("10:00:45"))));
    assert_eq!(row.next_run_at, None);
    assert!(stage.plans(at("12:00:00")).await.is_empty());
    assert_eq!(stage.events("schedule.left_active").await.len(), 1);
}

/// What still runs when its schedule is deleted, and fails, does not disable it: no tick comes of that after the deletion.
pub async fn a_deleted_schedule_is_not_disabled<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let schedule = cron("one", "*/20 * * * * *").policy(|policy| policy.max_consecutive_failures = Some(1));
    stage.create(schedule, at("10:00:05")).await;
    let run = stage.admit(at("10:00:20")).await[0];
    let deletion = stage.deletion("one", at("10:00:30")).await;
    stage.write(deletion).await;
    let settled = stage.settle(run, Outcome::Exited { code: 1 }, at("10:00:45")).await;
    assert_eq!(settled.settlement.expect("it counts").disabled, None);
    assert_eq!(stage.ledger("one").await, "10:00:20 failed/exit_code");
    let row = stage.row("one").await;
    assert_eq!((row.state.status, row.left_at), (Status::Active, Some(at("10:00:30"))));
    assert_eq!(row.state.cursor.decided_through, at("10:00:30"));
    assert!(stage.events("schedule.left_active").await.is_empty());
}

/// The end of a run brings about those of its followers, once each.
pub async fn an_end_brings_about_chained_runs<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    stage.create(cron("up", "1 10 * * *"), at("10:00:05")).await;
    let mut later = Chain::new(id_of("up"), ChainOn::Success);
    later.delay = seconds(30);
    stage.create(following("down", later), at("10:00:05")).await;
    stage.create(following("sad", Chain::new(id_of("up"), ChainOn::Failure)), at("10:00:05")).await;
    let run = stage.admit(at("10:01:00")).await[0];
    stage.settle(run, Outcome::Succeeded, at("10:01:05")).await;
    let rows = stage.runs("down").await;
    assert_eq!(rows.len(), 1);
    assert_eq!(
        (rows[0].run.origin.name(), rows[0].run.nonce.as_str()),
        ("chained", run.to_string().as_str())
    );
    assert_eq!(rows[0].run.fire_at, at("10:01:35"));
    assert_eq!(stage.ledger("sad").await, "");
    stage.admit(at("10:01:35")).await;
    assert_eq!(stage.ledger("down").await, "10:01:35 enqueued");
    assert_eq!(stage.row("down").await.state.counters.admitted, 1);
}

/// A follower that is paused gets its entry with the reason; a deleted one gets none.
pub async fn a_paused_follower_is_skipped_and_a_deleted_one_is_left_out<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    stage.create(cron("up", "1 10 * * *"), at("10:00:05")).await;
    for name in ["paused", "deleted"] {
        stage.create(following(name, Chain::new(id_of("up"), ChainOn::Finish)), at("10:00:05")).await;
    }
    let pause = stage.pause("paused", at("10:00:10")).await;
    stage.write(pause).await;
    let deletion = stage.deletion("deleted", at("10:00:10")).await;
    stage.write(deletion).await;
    let run = stage.admit(at("10:01:00")).await[0];
    stage.settle(run, Outcome::Exited { code: 1 }, at("10:01:05")).await;
    assert_eq!(stage.ledger("paused").await, "10:01:05 scheduled/paused");
    assert_eq!(stage.ledger("deleted").await, "");
    stage.admit(at("10:01:05")).await;
    assert_eq!(stage.ledger("paused").await, "10:01:05 skipped/paused");
}

/// A schedule of one tick is exhausted when its run has ended.
pub async fn a_schedule_without_further_ticks_is_exhausted<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let schedule =
        cron("one", "1 10 * * *").timing(|timing| timing.spec = Spec::Once(Once::at(at("10:00:30"))));
    stage.create(schedule, at("10:00:05")).await;
    let run = stage.admit(at("10:00:30")).await[0];
    assert_eq!(stage.row("one").await.state.status, Status::Active);
    stage.settle(run, Outcome::Succeeded, at("10:00:35")).await;
    let row = stage.row("one").await;
    assert_eq!(row.state.status, Status::Exhausted { at: at("10:00:35") });
    assert_eq!(row.next_run_at, None);
}

/// What a run printed is kept within its bound: beginning and end.
pub async fn output_is_kept_within_its_bound<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    stage.create(cron("one", "1 10 * * *"), at("10:00:05")).await;
    let run = stage.admit(at("10:01:00")).await[0];
    let mut report = stage.report(run, Outcome::Succeeded, at("10:01:05")).await;
    report.output = Some(format!("begin{}end", "ä".repeat(OUTPUT_MAX)));
    stage.send(vec![report], at("10:01:05")).await;
    let output = stage.run(run).await.output.expect("it is kept");
    assert!(output.len() <= OUTPUT_MAX && output.len() > OUTPUT_MAX / 2, "{}", output.len());
    assert!(output.starts_with("begin") && output.ends_with("end"));
}

/// An interval that is reckoned from the last end is planned again when a run has ended.
pub async fn an_interval_from_the_last_end_goes_on_after_each_run<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let schedule = every("one", "30s").timing(|timing| timing.anchor = Anchor::LastFinish);
    stage.create(schedule, at("10:00:00")).await;
    let mut now = stage.runs("one").await[0].run.fire_at;
    for ended in 1..=3 {
        let run = stage.admit(now).await[0];
        stage.plan(now).await;
        stage.settle(run, Outcome::Succeeded, now + seconds(7)).await;
        assert_eq!(stage.row("one").await.state.status, Status::Active, "after {ended}");
        assert_eq!(stage.plan(now + seconds(7)).await, [Commit::Done]);
        let rows = stage.runs("one").await;
        assert_eq!(rows.len(), ended + 1);
        assert_eq!(rows[ended].run.scheduled_for, now + seconds(37));
        now = rows[ended].run.fire_at;
    }
}

/// An interval that is reckoned from the last start goes on after a run that takes its time.
pub async fn an_interval_from_the_last_start_goes_on_after_each_run<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let schedule = every("one", "30s").timing(|timing| timing.anchor = Anchor::LastStart);
    stage.create(schedule, at("10:00:00")).await;
    let now = stage.runs("one").await[0].run.fire_at;
    let run = stage.admit(now).await[0];
    stage.plan(now).await;
    stage.settle(run, Outcome::Succeeded, now + seconds(7)).await;
    assert_eq!(stage.row("one").await.state.status, Status::Active);
    stage.plan(now + seconds(7)).await;
    let rows = stage.runs("one").await;
    assert_eq!(rows.len(), 2);
    assert_eq!(rows[1].run.scheduled_for, now + seconds(30));
}

/// A launch is noted by the node that admitted it, and by no other.
pub async fn a_launch_is_noted_under_the_fence<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    stage.create(cron("one", "1 10 * * *"), at("10:00:05")).await;
    let run = stage.admit(at("10:01:00")).await[0];
    let started = vec![Started { run, attempt: 1, at: at("10:01:00.25") }];
    let other = stage.beside(backend).await;
    let foreign = other.batch(at("10:01:01"));
    assert_eq!(other.store.mark_running(foreign, started.clone()).await.expect("answers"), [Commit::Stale]);
    let batch = stage.batch(at("10:01:01"));
    assert_eq!(stage.store.mark_running(batch, started).await.expect("answers"), [Commit::Done]);
    let since = at("10:01:00.25");
    assert_eq!(stage.run(run).await.run.state, RunState::Running { attempt: 1, since });
}

/// Nothing of a schedule that was paused is tried again.
pub async fn a_failure_after_a_pause_is_final<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let schedule = cron("one", "1 10 * * *").policy(|policy| policy.retry_after = Some(seconds(10)));
    stage.create(schedule, at("10:00:05")).await;
    let run = stage.admit(at("10:01:00")).await[0];
    let pause = stage.pause("one", at("10:01:01")).await;
    stage.write(pause).await;
    assert_eq!(stage.status(run).await, "enqueued", "what was launched goes on");
    stage.settle(run, Outcome::Exited { code: 1 }, at("10:01:05")).await;
    assert_eq!(stage.status(run).await, "failed/exit_code");
}
