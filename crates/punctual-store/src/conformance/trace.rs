//! Traces and tokens: what an admission gives a run stays with it, whoever launches it.

use punctual_plan::{Outcome, Trace};

use super::Backend;
use super::stage::{Shape, Stage, at, cron, seconds};
use crate::{AdmitCommit, AttemptToken, Begun, Commit, Cut, Report, RunFilter, Store};

fn given(mut verdicts: Vec<AdmitCommit>, trace: Trace, token: &str) -> Vec<AdmitCommit> {
    for one in &mut verdicts {
        one.row.launch.trace = one.row.launch.trace.or(Some(trace));
        one.row.launch.token = Some(token.to_owned());
    }
    verdicts
}

/// What the first attempt belongs to, the next ones and those who take it over belong to as well.
pub async fn a_run_keeps_the_trace_of_its_admission<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let schedule = cron("one", "1 10 * * *").policy(|policy| policy.retry_after = Some(seconds(5)));
    stage.create(schedule, at("10:00:05")).await;
    let (first, second) = (Trace::new(7, 1), Trace::new(8, 2));
    let verdicts = given(stage.judge(at("10:01:00")).await, first, "a");
    let run = verdicts[0].admission.run;
    assert_eq!(stage.run(run).await.trace, None, "nothing has begun yet");
    stage.carry_out(verdicts, at("10:01:00")).await;
    assert_eq!(stage.run(run).await.trace, Some(first));
    let listed = stage.store.runs(stage.scope(), RunFilter::default(), Cut::first(5)).await.expect("answers");
    assert_eq!(listed.rows[0].trace, Some(first));
    stage.settle(run, Outcome::Lost, at("10:01:10")).await;
    let verdicts = stage.judge(at("10:01:15")).await;
    assert_eq!((verdicts[0].row.launch.attempt, verdicts[0].row.launch.trace), (2, Some(first)));
    stage.carry_out(given(verdicts, second, "b"), at("10:01:15")).await;
    assert_eq!(stage.run(run).await.trace, Some(first));
    let other = stage.beside(backend).await;
    stage.store.leave(stage.fence).await.expect("it leaves");
    let taken = other.store.take_over(other.fence, 10).await.expect("answers");
    let launch = &taken[0].launch;
    assert_eq!((launch.trace, launch.token.as_deref()), (Some(first), Some("b")));
}

/// Whoever asks for a run may bring the trace that it belongs to; an admission without another one keeps it.
pub async fn a_run_belongs_to_the_trace_of_its_request<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let key = stage.create(cron("one", "1 11 * * *"), at("10:00:05")).await;
    let brought = Trace::new(9, 3);
    let mut wish = stage.wish(key, "now", at("10:01:00"));
    if let crate::Write::Trigger { trace, .. } = &mut wish.write {
        *trace = Some(brought);
    }
    stage.write(wish).await;
    let verdicts = stage.judge(at("10:01:00")).await;
    let run = verdicts[0].admission.run;
    assert_eq!((stage.run(run).await.trace, verdicts[0].row.launch.trace), (Some(brought), Some(brought)));
    stage.carry_out(verdicts, at("10:01:00")).await;
    assert_eq!(stage.run(run).await.trace, Some(brought));
}

/// A token that comes with the admission is good at once, and only for its attempt.
pub async fn an_admission_gives_an_attempt_its_token<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let schedule = cron("one", "1 10 * * *").policy(|policy| policy.retry_after = Some(seconds(5)));
    stage.create(schedule, at("10:00:05")).await;
    let verdicts = given(stage.judge(at("10:01:00")).await, Trace::new(1, 1), "first");
    let run = verdicts[0].admission.run;
    stage.carry_out(verdicts, at("10:01:00")).await;
    let begin = async |token: &str| {
        let begun = Begun {
            run,
            token: token.to_owned(),
            executor_run_id: "theirs-7".to_owned(),
            at: at("10:01:05"),
        };
        stage.store.begin(stage.scope(), begun).await.expect("answers")
    };
    assert_eq!((begin("forged").await, begin("first").await), (Commit::Stale, Commit::Done));
    let failed = Report {
        run,
        attempt: 1,
        token: AttemptToken::Holder("first".to_owned()),
        outcome: Outcome::Reported { error: "no".to_owned() },
        started_at: None,
        at: at("10:01:10"),
        output: None,
    };
    assert_eq!(stage.send(vec![failed], at("10:01:10")).await[0].commit, Commit::Done);
    assert_eq!(stage.status(run).await, "retrying/reported");
    let verdicts = given(stage.judge(at("10:01:15")).await, Trace::new(1, 1), "second");
    stage.carry_out(verdicts, at("10:01:15")).await;
    assert_eq!(stage.run(run).await.executor_run_id, None, "the next attempt is nobody's yet");
    assert_eq!((begin("first").await, begin("second").await), (Commit::Stale, Commit::Done));
}
