//! Many at once, and ahead of their instant: a herd is admitted like each of its rows, and a verdict that was made ahead
//! counts only while nothing was written that it may depend on.

use std::collections::HashSet;

use punctual_plan::{Outcome, RunKey, RunState, RunStatus, Trace};

use super::Backend;
use super::stage::{Stage, at, cron};
use crate::{AdmitCommit, Ahead, Commit, Cut, RunFilter, RunRow, Store};

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
    // A database that several processes write into cannot know.
    let Some(moment) = stage.store.moment().await else { return };
    let ahead = Ahead::new(moment, stage.judge(at("10:00:20")).await);
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

/// Anything that a verdict may depend on makes it void.
pub async fn what_was_judged_ahead_is_void_after_a_change<B: Backend>(backend: &B) {
    let stage = herd(backend).await;
    let Some(moment) = stage.store.moment().await else { return };
    let ahead = Ahead::new(moment, stage.judge(at("10:00:20")).await);
    stage.write(stage.pause("one-3", at("10:00:19")).await).await;
    let admitted = stage.store.admit_ahead(stage.batch(at("10:00:20")), ahead).await;
    assert_eq!(admitted.expect("the store answers"), None);
    assert!(rows(&stage, RunStatus::Enqueued).await.is_empty());
}
