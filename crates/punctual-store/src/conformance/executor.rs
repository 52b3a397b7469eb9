//! Executors: whoever was handed a run speaks for it by the attempt's token, whatever became of the node.

use jiff::Timestamp;
use punctual_plan::{Outcome, RunKey, RunState, Status};

use super::Backend;
use super::stage::{Shape, Stage, at, cron, seconds};
use crate::{AttemptToken, Begun, Commit, Entrusted, Report, Store};

fn entrusted(run: RunKey, attempt: u32, token: &str) -> Entrusted {
    Entrusted { run, attempt, token: token.to_owned() }
}

fn begun(run: RunKey, token: &str, at: Timestamp) -> Begun {
    Begun { run, token: token.to_owned(), executor_run_id: "theirs-7".to_owned(), at }
}

fn told(run: RunKey, token: &str, outcome: Outcome) -> Report {
    let (token, at) = (AttemptToken::Holder(token.to_owned()), at("10:01:30"));
    Report { run, attempt: 1, token, outcome, started_at: None, at, output: Some("done".to_owned()) }
}

/// A run that was admitted, and has a token.
async fn handed_over<B: Backend>(stage: &Stage<B::Store>) -> RunKey {
    stage.create(cron("one", "1 10 * * *"), at("10:00:05")).await;
    let run = stage.admit(at("10:01:00")).await[0];
    let given = stage.store.entrust(stage.fence, entrusted(run, 1, "secret")).await.expect("answers");
    assert_eq!(given, Commit::Done);
    run
}

/// STARTED, FAILED and SUCCESS count by the token and by nothing else.
pub async fn an_executor_speaks_for_a_run_by_its_token<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let run = handed_over::<B>(&stage).await;
    let begin = async |token| stage.store.begin(stage.scope(), begun(run, token, at("10:01:05"))).await;
    assert_eq!(begin("forged").await.expect("answers"), Commit::Stale);
    assert_eq!(stage.status(run).await, "enqueued");
    assert_eq!(begin("secret").await.expect("answers"), Commit::Done);
    let row = stage.run(run).await;
    assert!(matches!(row.run.state, RunState::Running { attempt: 1, since } if since == at("10:01:05")));
    assert_eq!(row.executor_run_id.as_deref(), Some("theirs-7"));
    assert_eq!(begin("secret").await.expect("answers"), Commit::Done, "it may say so again");
    let forged = told(run, "forged", Outcome::Succeeded);
    assert_eq!(stage.send(vec![forged], at("10:01:30")).await[0].commit, Commit::Stale);
    let failed = told(run, "secret", Outcome::Reported { error: "no disk".to_owned() });
    assert_eq!(stage.send(vec![failed], at("10:01:30")).await[0].commit, Commit::Done);
    assert_eq!(stage.status(run).await, "failed/reported");
    assert_eq!(begin("secret").await.expect("answers"), Commit::Stale, "it is over");
}

/// Whoever is quicker than its own answer is heard as well.
pub async fn a_report_before_the_answer_counts<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let run = handed_over::<B>(&stage).await;
    let success = told(run, "secret", Outcome::Succeeded);
    assert_eq!(stage.send(vec![success], at("10:01:30")).await[0].commit, Commit::Done);
    assert_eq!(stage.status(run).await, "success");
    let late = stage.store.begin(stage.scope(), begun(run, "secret", at("10:01:31"))).await;
    assert_eq!(late.expect("answers"), Commit::Stale);
}

/// A node that takes over is told which runs somebody else answers for; their tokens stay good.
pub async fn a_run_that_an_executor_has_taken_is_not_in_doubt<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let run = handed_over::<B>(&stage).await;
    stage.create(cron("two", "1 10 * * *"), at("10:00:05")).await;
    let doubtful = stage.admit(at("10:01:00")).await[0];
    stage.store.entrust(stage.fence, entrusted(doubtful, 1, "other")).await.expect("answers");
    stage.store.begin(stage.scope(), begun(run, "secret", at("10:01:05"))).await.expect("answers");
    let other = stage.beside(backend).await;
    stage.store.leave(stage.fence).await.expect("it leaves");
    let mut taken = other.store.take_over(other.fence, 10).await.expect("answers");
    taken.sort_by_key(|orphan| orphan.launch.run);
    let known: Vec<(RunKey, bool)> = taken.iter().map(|one| (one.launch.run, one.is_taken)).collect();
    assert_eq!(known, [(run, true), (doubtful, false)]);
    let again = stage.store.entrust(stage.fence, entrusted(doubtful, 1, "third")).await.expect("answers");
    assert_eq!(again, Commit::Stale, "the one who left has nothing to give");
    let success = told(run, "secret", Outcome::Succeeded);
    assert_eq!(other.send(vec![success], at("10:01:30")).await[0].commit, Commit::Done);
    assert_eq!(other.status(run).await, "success");
}

/// The token of an attempt says nothing about the next one, except that it succeeded after all.
pub async fn each_attempt_has_a_token_of_its_own<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let schedule = cron("one", "1 10 * * *").policy(|policy| policy.retry_after = Some(seconds(5)));
    stage.create(schedule, at("10:00:05")).await;
    let run = stage.admit(at("10:01:00")).await[0];
    stage.store.entrust(stage.fence, entrusted(run, 1, "first")).await.expect("answers");
    stage.store.begin(stage.scope(), begun(run, "first", at("10:01:01"))).await.expect("answers");
    stage.settle(run, Outcome::Lost, at("10:01:10")).await;
    stage.admit(at("10:01:15")).await;
    assert_eq!(stage.run(run).await.executor_run_id, None, "the next attempt is nobody's yet");
    let late = stage.store.entrust(stage.fence, entrusted(run, 1, "again")).await.expect("answers");
    assert_eq!(late, Commit::Stale, "that attempt is over");
    stage.store.entrust(stage.fence, entrusted(run, 2, "second")).await.expect("answers");
    let begin = stage.store.begin(stage.scope(), begun(run, "first", at("10:01:16"))).await;
    assert_eq!(begin.expect("answers"), Commit::Stale);
    let failed = told(run, "first", Outcome::Reported { error: "no".to_owned() });
    assert_eq!(stage.send(vec![failed], at("10:01:30")).await[0].commit, Commit::Stale);
    let success = told(run, "first", Outcome::Succeeded);
    assert_eq!(stage.send(vec![success], at("10:01:30")).await[0].commit, Commit::Done);
    assert_eq!(stage.status(run).await, "success");
}

/// A run that was taken and never reported ends by its deadline.
pub async fn an_executor_that_never_reports_is_given_up<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let schedule = cron("one", "1 10 * * *").policy(|policy| policy.run_timeout = seconds(60));
    stage.create(schedule, at("10:00:05")).await;
    let run = stage.admit(at("10:01:00")).await[0];
    stage.store.entrust(stage.fence, entrusted(run, 1, "secret")).await.expect("answers");
    stage.store.begin(stage.scope(), begun(run, "secret", at("10:01:01"))).await.expect("answers");
    assert!(stage.due(at("10:02:29")).await.expired.is_empty());
    let expired = stage.due(at("10:02:30")).await.expired;
    assert_eq!((expired.len(), expired[0].run), (1, run));
    stage.settle(run, Outcome::Lost, at("10:02:30")).await;
    assert_eq!(stage.status(run).await, "failed/lost");
}

/// A token is good within its org only.
pub async fn an_executor_of_another_org_says_nothing<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let run = handed_over::<B>(&stage).await;
    let other = stage.other("other").await;
    let begin = stage.store.begin(other, begun(run, "secret", at("10:01:05"))).await;
    assert_eq!(begin.expect("answers"), Commit::Stale);
    assert_eq!(stage.status(run).await, "enqueued");
}

/// After a 410 nothing more is sent: the run fails and its schedule leaves `active`.
pub async fn a_target_that_is_gone_disables_its_schedule<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    stage.create(cron("one", "*/20 * * * * *"), at("10:00:05")).await;
    let run = stage.admit(at("10:00:20")).await[0];
    let url = "https://example.com/hook".to_owned();
    stage.settle(run, Outcome::Answered { code: 410, retry_at: None, url }, at("10:00:21")).await;
    assert_eq!(stage.status(run).await, "failed/gone");
    assert_eq!(stage.row("one").await.state.status, Status::AutoDisabled { failures: 1 });
    assert!(stage.due(at("10:00:40")).await.rows.is_empty());
}
