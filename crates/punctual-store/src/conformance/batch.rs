//! Batches: one whose answer was lost is sent again under its id and is not done twice.

use punctual_plan::Outcome;

use super::Backend;
use super::copy::dump;
use super::stage::{Stage, at, cron};
use crate::{Commit, Started, Store};

/// A batch of plans that is repeated gives the first answer.
pub async fn a_repeated_plan_is_answered_alike<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    stage.create(cron("one", "*/20 * * * * *"), at("10:00:05")).await;
    let (plans, batch) = (stage.plans(at("10:00:50")).await, stage.batch(at("10:00:50")));
    let first = stage.store.commit_plans(batch, plans.clone()).await.expect("answers");
    let before = dump(&*stage.store).await;
    assert_eq!(stage.store.commit_plans(batch, plans.clone()).await.expect("answers"), first);
    assert_eq!(first, [Commit::Done]);
    assert_eq!(dump(&*stage.store).await, before);
    let other = stage.batch(at("10:00:50"));
    assert_eq!(stage.store.commit_plans(other, plans).await.expect("answers"), [Commit::Stale]);
}

/// A batch of admissions that is repeated gives the first answer and claims nothing twice.
pub async fn a_repeated_admission_is_answered_alike<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    stage.create(cron("one", "*/20 * * * * *"), at("10:00:05")).await;
    let (verdicts, batch) = (stage.judge(at("10:00:20")).await, stage.batch(at("10:00:20")));
    let first = stage.store.admit(batch, verdicts.clone()).await.expect("answers");
    let before = dump(&*stage.store).await;
    assert_eq!(stage.store.admit(batch, verdicts).await.expect("answers"), first);
    assert_eq!(first, [Commit::Done]);
    assert_eq!(dump(&*stage.store).await, before);
}

/// A batch of launches and one of reports that are repeated count once.
pub async fn a_repeated_settlement_is_answered_alike<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    stage.create(cron("one", "*/20 * * * * *"), at("10:00:05")).await;
    let run = stage.admit(at("10:00:20")).await[0];
    let (batch, started) =
        (stage.batch(at("10:00:21")), vec![Started { run, attempt: 1, at: at("10:00:21") }]);
    for _ in 0..2 {
        let marked = stage.store.mark_running(batch, started.clone()).await.expect("answers");
        assert_eq!(marked, [Commit::Done]);
    }
    let report = stage.report(run, Outcome::Succeeded, at("10:00:22")).await;
    let batch = stage.batch(at("10:00:22"));
    for _ in 0..2 {
        let settled = stage.store.settle(batch, vec![report.clone()]).await.expect("answers");
        assert_eq!(settled[0].commit, Commit::Done);
    }
    assert_eq!(stage.row("one").await.state.counters.runs, 1);
}

/// A batch that was stale is stale again under its id, though it would succeed by now.
pub async fn a_stale_answer_is_kept_too<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    stage.create(cron("one", "*/20 * * * * *"), at("10:00:05")).await;
    let verdicts = stage.judge(at("10:00:20")).await;
    stage.carry_out(verdicts.clone(), at("10:00:20")).await;
    let batch = stage.batch(at("10:00:21"));
    for _ in 0..2 {
        let answer = stage.store.admit(batch, verdicts.clone()).await.expect("answers");
        assert_eq!(answer, [Commit::Stale]);
    }
}

/// Empty batches are answered with nothing.
pub async fn an_empty_batch_is_answered_with_nothing<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let now = at("10:00:00");
    assert!(stage.store.commit_plans(stage.batch(now), Vec::new()).await.expect("answers").is_empty());
    assert!(stage.store.admit(stage.batch(now), Vec::new()).await.expect("answers").is_empty());
    assert!(stage.store.settle(stage.batch(now), Vec::new()).await.expect("answers").is_empty());
    assert!(stage.store.mark_running(stage.batch(now), Vec::new()).await.expect("answers").is_empty());
    assert!(stage.store.write_schedules(stage.scope(), Vec::new()).await.expect("answers").is_empty());
}
