//! Receivers that answer 202 and report later, by the token that they were sent.

use punctual_engine::{Clock, SystemClock};
use punctual_plan::{Fence, Outcome, RunKey, RunStatus};
use punctual_store::{AttemptToken, Batch, BatchId, Begun, Commit, Report, RunRow, Scope, Store};

use super::server::{Reply, Seen, Server};
use super::stage::{Stage, end, hook};

async fn taking() -> Server {
    Server::start(|_| Reply::Answer(202, Vec::new(), r#"{"run_id": "theirs-9"}"#.to_owned())).await
}

impl Stage {
    /// Says how a run ended, as the server's endpoint does.
    async fn report(&self, run: RunKey, seen: &Seen, outcome: Outcome) -> Commit {
        let now = SystemClock.now();
        let report = Report {
            run,
            attempt: seen.header("punctual-attempt").parse().expect("a number"),
            token: AttemptToken::Holder(seen.header("punctual-token").to_owned()),
            outcome,
            started_at: None,
            at: now,
            output: Some("told".to_owned()),
        };
        let batch = Batch { id: BatchId(uuid::Uuid::new_v4()), fence: Fence(0), now };
        self.store.settle(batch, vec![report]).await.expect("answers")[0].commit
    }

    async fn taken(&self, name: &str) -> RunRow {
        loop {
            let run = self.reached(name, RunStatus::Running).await;
            if run.executor_run_id.is_some() {
                return run;
            }
            tokio::task::yield_now().await;
        }
    }
}

#[tokio::test]
async fn a_run_that_was_accepted_runs_until_it_is_reported() {
    let (stage, server) = (Stage::new(), taking().await);
    let serving = stage.serve().await;
    stage.once("later", hook(server.url("/a"))).await;
    let run = stage.taken("later").await;
    assert_eq!(run.executor_run_id.as_deref(), Some("theirs-9"));
    let seen = server.seen("/a").remove(0);
    let mut forged = seen.clone();
    forged.headers.insert("punctual-token", "forged".parse().expect("a value"));
    assert_eq!(stage.report(run.run.key, &forged, Outcome::Succeeded).await, Commit::Stale);
    assert_eq!(stage.report(run.run.key, &seen, Outcome::Succeeded).await, Commit::Done);
    let run = stage.whole(&run).await;
    assert_eq!((end(&run).as_str(), run.output.as_deref()), ("success", Some("told")));
    assert_eq!(stage.report(run.run.key, &seen, Outcome::Lost).await, Commit::Stale, "it is over");
    serving.stop().await;
    assert_eq!(server.seen("/a").len(), 1);
}

#[tokio::test]
async fn an_accepted_run_outlives_the_node_that_sent_it() {
    let (stage, server) = (Stage::new(), taking().await);
    let serving = stage.serve().await;
    stage.once("later", hook(server.url("/a"))).await;
    let run = stage.taken("later").await;
    // Nothing is left in flight: the receiver answers for it.
    serving.stop().await;
    let serving = stage.serve().await;
    stage.every_second("other", hook(server.url("/b"))).await;
    stage.taken("other").await;
    assert_eq!(stage.whole(&run).await.run.state.status(), RunStatus::Running);
    let seen = server.seen("/a");
    assert_eq!(seen.len(), 1, "it was not sent again");
    let failed = Outcome::Reported { error: "no disk".to_owned() };
    assert_eq!(stage.report(run.run.key, &seen[0], failed).await, Commit::Done);
    assert_eq!(end(&stage.whole(&run).await), "failed reported: its executor reported: no disk");
    serving.stop().await;
}

#[tokio::test]
async fn a_receiver_may_report_before_it_answers() {
    let (stage, hold) = (Stage::new(), std::sync::Arc::new(tokio::sync::Notify::new()));
    let until = std::sync::Arc::clone(&hold);
    let server = Server::start(move |_| Reply::Wait(std::sync::Arc::clone(&until))).await;
    let serving = stage.serve().await;
    stage.once("quick", hook(server.url("/a"))).await;
    let seen = server.wait_for("/a", 1).await.remove(0);
    let run: i64 = seen.header("punctual-run-id").trim_start_matches("run-").parse().expect("a number");
    let begun = Begun {
        run: RunKey(run),
        token: seen.header("punctual-token").to_owned(),
        executor_run_id: "theirs".to_owned(),
        at: SystemClock.now(),
    };
    assert_eq!(stage.store.begin(Scope::Engine, begun).await.expect("answers"), Commit::Done);
    assert_eq!(stage.report(RunKey(run), &seen, Outcome::Succeeded).await, Commit::Done);
    hold.notify_one();
    assert_eq!(end(&stage.ended("quick", 1).await[0]), "success");
    serving.stop().await;
}
