//! Many at once, and ahead of their instant: a herd is admitted like each of its rows, and a verdict that was made ahead
//! counts only while nothing was written that it may depend on.

use std::collections::HashSet;
use std::sync::Arc;

use punctual_plan::{BreakerRule, Fence, Outcome, RunKey, RunState, RunStatus, Trace};

use super::Backend;
use super::stage::{Shape, Stage, at, cron, seconds};
use crate::{AdmitCommit, Ahead, AttemptToken, Commit, Cut, Error, Hold, Report, RunFilter, RunRow, Store};

/// So many that a store may write them in another way than a few.
const MANY: usize = 150;

async fn herd<B: Backend>(backend: &B) -> Stage<B::Store> {
    let stage = Stage::open(backend).await;
    let create =
        |number: usize| stage.creation(cron(&format!("one-{number}"), "*/20 * * * * *"), at("10:00:05"));
    let writes = (0..MANY).map(create).collect();
    let written = stage.store.write_schedules(stage.scope(), writes).await.expect("the store answers");
    assert!(written.iter().all(Result::is_ok));
    stage
}

async fn rows<S: Store>(stage: &Stage<S>, status: RunStatus) -> Vec<RunRow> {
    let filter = RunFilter { status: Some(status), ..RunFilter::default() };
    stage.store.runs(stage.scope(), filter, Cut::first(1_000)).await.expect("the store answers").rows
}

fn traced(verdicts: Vec<AdmitCommit>) -> Vec<AdmitCommit> {
    let give = |(number, mut one): (u64, AdmitCommit)| {
        one.row.launch.trace = Some(Trace::new(u128::from(number) + 7, number + 9));
        one
    };
    (0..).zip(verdicts).map(give).collect()
}

/// Each row of a herd is as if it had been admitted alone, for whoever looks right after it.
pub async fn a_herd_is_admitted_like_each_of_its_rows<B: Backend>(backend: &B) {
    let stage = herd(backend).await;
    let verdicts = traced(stage.judge(at("10:00:20")).await);
    let traces: HashSet<_> = verdicts.iter().filter_map(|one| one.row.launch.trace).collect();
    let commits = stage.carry_out(verdicts, at("10:00:20")).await;
    assert_eq!(commits, vec![Commit::Done; MANY]);
    let admitted = rows(&stage, RunStatus::Enqueued).await;
    assert_eq!(admitted.len(), MANY);
    for row in &admitted {
        assert_eq!(row.run.state, RunState::Enqueued { attempt: 1, since: at("10:00:20") });
        assert_eq!((row.enqueued_at, row.node.as_deref()), (Some(at("10:00:20")), Some("one")));
    }
    assert_eq!(admitted.iter().filter_map(|row| row.trace).collect::<HashSet<_>>(), traces);
    let one = stage.row("one-7").await;
    assert_eq!((one.state.counters.admitted, one.state.last_start), (1, Some(at("10:00:20"))));
    assert_eq!(one.launched_through, Some(at("10:00:20")));
    assert!(stage.due(at("10:00:20")).await.rows.is_empty());
    assert!(stage.store.check().await.expect("the store answers").is_empty());
}

/// A herd that was admitted is not admitted again, whoever tries, and ends like any other runs.
pub async fn a_herd_is_admitted_once_and_ends<B: Backend>(backend: &B) {
    let stage = herd(backend).await;
    let verdicts = stage.judge(at("10:00:20")).await;
    let runs: Vec<RunKey> = verdicts.iter().map(|one| one.admission.run).collect();
    assert_eq!(stage.carry_out(verdicts.clone(), at("10:00:20")).await, vec![Commit::Done; MANY]);
    assert_eq!(stage.carry_out(verdicts, at("10:00:20")).await, vec![Commit::Stale; MANY]);
    let mut reports = Vec::new();
    for run in runs {
        reports.push(stage.report(run, Outcome::Succeeded, at("10:00:21")).await);
    }
    let settled = stage.send(reports, at("10:00:21")).await;
    assert!(settled.iter().all(|one| one.commit == Commit::Done));
    assert_eq!(rows(&stage, RunStatus::Success).await.len(), MANY);
    assert_eq!(stage.row("one-0").await.state.counters.admitted, 1);
}

/// A herd that comes in two batches, the second before anybody has looked at the rows of the first, is admitted once.
pub async fn a_herd_in_two_batches_is_admitted_once<B: Backend>(backend: &B) {
    let stage = herd(backend).await;
    let mut first = stage.judge(at("10:00:20")).await;
    let second = first.split_off(MANY / 2);
    // Some of the first are asked for again together with the second.
    let both = [&first[..10], &second].concat();
    assert_eq!(stage.carry_out(first, at("10:00:20")).await, vec![Commit::Done; MANY / 2]);
    let commits = stage.carry_out(both, at("10:00:20")).await;
    assert_eq!(commits[..10], [Commit::Stale; 10]);
    assert_eq!(commits[10..], vec![Commit::Done; MANY / 2]);
    assert_eq!(rows(&stage, RunStatus::Enqueued).await.len(), MANY);
    let one = stage.row("one-0").await;
    assert_eq!((one.state.counters.admitted, one.launched_through), (1, Some(at("10:00:20"))));
    assert!(stage.store.check().await.expect("the store answers").is_empty());
}

/// A herd whose runs end right after they were admitted, in parts, is counted like each of its rows: those that end well, one
/// that is to be tried again, and one of which somebody else tells.
pub async fn a_herd_that_ends_at_once_is_counted_like_each_of_its_rows<B: Backend>(backend: &B) {
    let stage = herd(backend).await;
    let again = cron("again", "*/20 * * * * *").policy(|policy| policy.retry_after = Some(seconds(60)));
    stage.create(again, at("10:00:05")).await;
    let verdicts = traced(stage.judge(at("10:00:20")).await);
    let report = |one: &AdmitCommit| Report {
        run: one.admission.run,
        attempt: 1,
        token: AttemptToken::Node(stage.fence),
        outcome: Outcome::Succeeded,
        started_at: Some(at("10:00:21")),
        at: at("10:00:22"),
        output: None,
    };
    let of = |name: &str| verdicts.iter().find(|one| one.row.launch.definition.name == name).map(report);
    let (failed, wrong) = (of("again").expect("it is due"), of("one-7").expect("it is due"));
    let is_other = |report: &Report| report.run != failed.run && report.run != wrong.run;
    let mut others: Vec<Report> = verdicts.iter().map(report).filter(is_other).collect();
    let mut first = others.split_off(MANY / 2);
    first.insert(10, Report { token: AttemptToken::Node(Fence(stage.fence.0 + 1)), ..wrong.clone() });
    first.insert(40, Report { outcome: Outcome::Exited { code: 1 }, ..failed.clone() });
    stage.carry_out(verdicts, at("10:00:20")).await;
    let settled = stage.send(first, at("10:00:23")).await;
    let stale = settled.iter().enumerate().filter(|(_, one)| one.commit == Commit::Stale);
    assert_eq!(stale.map(|(place, _)| place).collect::<Vec<_>>(), [10]);
    let settled = stage.send(others, at("10:00:23")).await;
    assert!(settled.iter().all(|one| one.commit == Commit::Done));
    assert_eq!(stage.status(wrong.run).await, "enqueued");
    assert!(stage.status(failed.run).await.starts_with("retrying"), "{}", stage.status(failed.run).await);
    assert_eq!(stage.send(vec![wrong], at("10:00:23")).await[0].commit, Commit::Done);
    let ended = rows(&stage, RunStatus::Success).await;
    assert_eq!(ended.len(), MANY);
    assert_eq!(ended.iter().filter_map(|row| row.trace).collect::<HashSet<_>>().len(), MANY);
    for row in &ended {
        assert_eq!((row.enqueued_at, row.started_at), (Some(at("10:00:20")), Some(at("10:00:21"))));
        assert_eq!((row.run.attempts.len(), row.node.as_deref()), (1, Some("one")));
    }
    for name in ["one-0", "one-7", "one-149"] {
        let one = stage.row(name).await;
        let counters = one.state.counters;
        assert_eq!((counters.admitted, counters.runs, counters.successes), (1, 1, 1), "{name}");
        assert_eq!(one.state.last_start, Some(at("10:00:20")));
        assert_eq!(one.state.last_finish, Some((at("10:00:22"), RunStatus::Success)));
        assert_eq!(one.launched_through, Some(at("10:00:20")));
    }
    assert!(stage.store.check().await.expect("the store answers").is_empty());
}

/// A herd is admitted while one of its schedules is paused: whichever comes first, what was said to be started is.
pub async fn a_herd_and_a_change_at_once_agree<B: Backend>(backend: &B) {
    let stage = herd(backend).await;
    let verdicts = stage.judge(at("10:00:20")).await;
    let place = verdicts.iter().position(|one| one.row.launch.definition.name == "one-3");
    let place = place.expect("it is due");
    let run = verdicts[place].admission.run;
    let pause = stage.pause("one-3", at("10:00:20")).await;
    let (commits, paused) = tokio::join!(
        stage.carry_out(verdicts, at("10:00:20")),
        stage.store.write_schedules(stage.scope(), vec![pause]),
    );
    paused.expect("the store answers").remove(0).expect("nobody else has changed it");
    let expected = if commits[place] == Commit::Done { "enqueued" } else { "skipped/paused" };
    assert_eq!(stage.status(run).await, expected);
    assert!(stage.store.check().await.expect("the store answers").is_empty());
}

/// A herd in which something has changed since it was judged is admitted without what has changed.
pub async fn a_herd_leaves_out_what_has_changed<B: Backend>(backend: &B) {
    let stage = herd(backend).await;
    let verdicts = stage.judge(at("10:00:20")).await;
    let gone = stage.row("one-3").await.key;
    stage.write(stage.deletion("one-3", at("10:00:19")).await).await;
    let stale: Vec<bool> = verdicts.iter().map(|one| one.admission.schedule == gone).collect();
    let commits = stage.carry_out(verdicts, at("10:00:20")).await;
    assert_eq!(commits.iter().map(|commit| *commit == Commit::Stale).collect::<Vec<_>>(), stale);
    assert_eq!(rows(&stage, RunStatus::Enqueued).await.len(), MANY - 1);
}

/// Verdicts that were made ahead hold at their instant, if nothing was written meanwhile.
pub async fn what_was_judged_ahead_is_admitted<B: Backend>(backend: &B) {
    let stage = herd(backend).await;
    let ahead = judged_ahead(&stage).await;
    let batch = stage.batch(at("10:00:20"));
    let admit = || stage.store.admit_ahead(batch, ahead.clone());
    let done = Some(vec![Commit::Done; MANY]);
    assert_eq!(admit().await.expect("the store answers"), done);
    assert_eq!(
        admit().await.expect("the store answers"),
        done,
        "a batch that is sent again finds its answer"
    );
    let late = stage.store.admit_ahead(stage.batch(at("10:00:20")), ahead.clone()).await;
    assert_eq!(late.expect("the store answers"), None, "the first has written");
    assert_eq!(rows(&stage, RunStatus::Enqueued).await.len(), MANY);
}

/// Anything that a verdict may depend on makes it void: where that is known without a look, all of them.
pub async fn what_was_judged_ahead_is_void_after_a_change<B: Backend>(backend: &B) {
    let stage = herd(backend).await;
    let ahead = judged_ahead(&stage).await;
    let gone = stage.row("one-3").await.key;
    stage.write(stage.pause("one-3", at("10:00:19")).await).await;
    let of_gone = |one: &AdmitCommit| one.admission.schedule == gone;
    let left_out: Vec<bool> = ahead.admissions.iter().map(of_gone).collect();
    let is_any = ahead.moment.is_any();
    let admitted = stage.store.admit_ahead(stage.batch(at("10:00:20")), ahead).await;
    let admitted = admitted.expect("the store answers");
    let stale = admitted.map(|commits| commits.iter().map(|one| *one == Commit::Stale).collect::<Vec<_>>());
    assert_eq!(stale, is_any.then_some(left_out));
    assert_eq!(rows(&stage, RunStatus::Enqueued).await.len(), if is_any { MANY - 1 } else { 0 });
}

/// A breaker that has opened since they were judged is no row of theirs, and is looked at all the same.
pub async fn what_was_judged_ahead_does_not_pass_a_breaker_that_has_opened<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let guarded = |name: &str, spec: &str| {
        let mut schedule = cron(name, spec);
        let target = Arc::make_mut(&mut schedule.target);
        target.breaker = BreakerRule { threshold: 1, reset_after: seconds(600) };
        target.name = "shaky".to_owned();
        schedule
    };
    stage.create(guarded("before", "15 0 10 * * *"), at("10:00:05")).await;
    stage.create(guarded("after", "20 0 10 * * *"), at("10:00:05")).await;
    let run = stage.admit(at("10:00:15")).await[0];
    let ahead = judged_ahead(&stage).await;
    stage.settle(run, Outcome::Exited { code: 1 }, at("10:00:19")).await;
    let admitted = stage.store.admit_ahead(stage.batch(at("10:00:20")), ahead).await;
    assert_eq!(admitted.expect("the store answers"), None);
    assert!(rows(&stage, RunStatus::Enqueued).await.is_empty());
}

/// A change of what is held waits for it, and finds it started.
pub async fn a_change_of_what_is_held_waits_for_it<B: Backend>(backend: &B) {
    let stage = herd(backend).await;
    let (ahead, batch) = (judged_ahead(&stage).await, stage.batch(at("10:00:20")));
    let held = stage.store.hold(batch, ahead.clone()).await.expect("the store answers");
    assert!(rows(&stage, RunStatus::Enqueued).await.is_empty(), "what is held is nothing yet");
    if held == Hold::Nothing {
        return;
    }
    let pause = stage.pause("one-3", at("10:00:19")).await;
    let (store, scope) = (Arc::clone(&stage.store), stage.scope());
    let pausing = tokio::spawn(async move { store.write_schedules(scope, vec![pause]).await });
    let admitted = stage.store.admit_ahead(batch, ahead).await;
    assert_eq!(admitted.expect("the store answers"), Some(vec![Commit::Done; MANY]));
    let paused = pausing.await.expect("no panic").expect("the store answers").remove(0);
    // It was made on what has changed since, so it may have to be made again.
    if paused.is_err() {
        stage.write(stage.pause("one-3", at("10:00:20")).await).await;
    }
    assert_eq!(rows(&stage, RunStatus::Enqueued).await.len(), MANY);
    assert!(!stage.row("one-3").await.state.status.is_active());
    assert!(stage.store.check().await.expect("the store answers").is_empty());
}

/// What is let go was never held.
pub async fn a_hold_that_is_let_go_leaves_nothing<B: Backend>(backend: &B) {
    let stage = herd(backend).await;
    let (ahead, batch) = (judged_ahead(&stage).await, stage.batch(at("10:00:20")));
    stage.store.hold(batch, ahead).await.expect("the store answers");
    stage.store.let_go(batch.id).await.expect("the store answers");
    assert!(rows(&stage, RunStatus::Enqueued).await.is_empty());
    stage.write(stage.pause("one-3", at("10:00:19")).await).await;
    assert_eq!(stage.admit(at("10:00:20")).await.len(), MANY - 1);
}

/// A node that has lost its lease commits nothing, whatever it holds.
pub async fn a_hold_ends_with_the_lease<B: Backend>(backend: &B) {
    let stage = herd(backend).await;
    let (ahead, batch) = (judged_ahead(&stage).await, stage.batch(at("10:00:20")));
    stage.store.hold(batch, ahead.clone()).await.expect("the store answers");
    stage.store.leave(stage.fence).await.expect("the store answers");
    let admitted = stage.store.admit_ahead(batch, ahead).await;
    assert!(matches!(admitted, Err(Error::LeaseLost) | Ok(None)), "{admitted:?}");
    assert!(rows(&stage, RunStatus::Enqueued).await.is_empty());
}

/// A herd may be held in parts: each is committed or let go by itself.
pub async fn a_herd_is_held_in_parts<B: Backend>(backend: &B) {
    let stage = herd(backend).await;
    let moment = stage.store.moment().await.expect("every store here has one");
    let mut verdicts = stage.judge(at("10:00:20")).await;
    let (one, other) = (Ahead::new(moment, verdicts.split_off(MANY / 3)), Ahead::new(moment, verdicts));
    let (first, second) = (stage.batch(at("10:00:20")), stage.batch(at("10:00:20")));
    let held = stage.store.hold(first, one.clone()).await.expect("the store answers");
    if held == Hold::Nothing {
        return;
    }
    stage.store.hold(second, other.clone()).await.expect("the store answers");
    assert!(rows(&stage, RunStatus::Enqueued).await.is_empty(), "what is held is nothing yet");
    let admitted = stage.store.admit_ahead(first, one).await.expect("the store answers");
    assert_eq!(admitted, Some(vec![Commit::Done; MANY - MANY / 3]));
    stage.store.let_go(second.id).await.expect("the store answers");
    assert_eq!(rows(&stage, RunStatus::Enqueued).await.len(), MANY - MANY / 3);
    let third = stage.batch(at("10:00:20"));
    stage.store.hold(third, other.clone()).await.expect("the store answers");
    let admitted = stage.store.admit_ahead(third, other).await.expect("the store answers");
    assert_eq!(admitted, Some(vec![Commit::Done; MANY / 3]));
    assert_eq!(rows(&stage, RunStatus::Enqueued).await.len(), MANY);
    assert!(stage.store.check().await.expect("the store answers").is_empty());
}

async fn judged_ahead<S: Store>(stage: &Stage<S>) -> Ahead {
    let moment = stage.store.moment().await.expect("every store here has one");
    Ahead::new(moment, stage.judge(at("10:00:20")).await)
}
