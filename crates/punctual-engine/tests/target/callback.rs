//! Closures: they get their run, their failures and panics are failures of the run, and dropping them ends them.

use std::sync::Arc;

use punctual_engine::{Callbacks, Targets, Why};
use punctual_plan::{Action, Outcome};
use tokio::sync::Notify;

use super::stage::{Stage, TRACE, limited, schedule, shell};

fn call(task: &str) -> Action {
    Action::Callback { task: task.to_owned() }
}

fn reported(error: &str) -> Outcome {
    Outcome::Reported { error: error.to_owned() }
}

#[tokio::test]
async fn a_closure_gets_everything_about_its_run() {
    let callbacks = Callbacks::new().add("check", |context| async move {
        let json = context.json();
        let facts = [
            context.schedule.name == "nightly",
            context.attempt == 2 && context.run_id.0 == 41,
            context.is_manual() && context.nonce == "request-7",
            context.payload()["size"] == 3,
            json["idempotency_key"] == context.idempotency_key().as_str(),
            context.trace.is_some_and(|trace| trace.to_string() == TRACE) && json["traceparent"] == TRACE,
        ];
        if facts == [true; 6] { Ok(()) } else { Err(format!("{facts:?}").into()) }
    });
    let stage = Stage::with(callbacks).await;
    let launched = stage.launch(schedule(call("check")));
    assert_eq!(launched.end().await.outcome, Outcome::Succeeded);
}

#[tokio::test]
async fn a_closure_that_fails_or_panics_is_a_run_that_failed() {
    let callbacks = Callbacks::new()
        .add("fails", |_| async { Err("not today".into()) })
        .add("panics", |_| async { panic!("by surprise") })
        .add("panics at once", |context| {
            assert!(context.attempt == 0, "before its future is there");
            async { Ok(()) }
        });
    let stage = Stage::with(callbacks).await;
    let end = async |task: &str| stage.launch(schedule(call(task))).end().await.outcome;
    assert_eq!(end("fails").await, reported("not today"));
    assert_eq!(end("panics").await, reported("panicked: by surprise"));
    assert_eq!(end("panics at once").await, reported("panicked: before its future is there"));
    let error = "this program has no callback `unknown`".to_owned();
    assert_eq!(end("unknown").await, Outcome::LaunchFailed { error });
}

/// Tells when it is dropped.
struct Told(Arc<Notify>);

impl Drop for Told {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

#[tokio::test]
async fn a_closure_ends_when_its_time_is_up_or_it_is_cancelled() {
    let dropped = Arc::new(Notify::new());
    let told = Arc::clone(&dropped);
    let callbacks = Callbacks::new().add("waits", move |_| {
        let told = Told(Arc::clone(&told));
        async move {
            let _told = told;
            std::future::pending().await
        }
    });
    let stage = Stage::with(callbacks).await;
    assert_eq!(stage.launch(limited(call("waits"), 20)).end().await.outcome, Outcome::TimedOut);
    dropped.notified().await;
    let mut launched = stage.launch(schedule(call("waits")));
    (&mut launched.started).await.expect("it starts");
    launched.canceller.cancel(Why::Ended);
    assert_eq!(launched.end().await.outcome, Outcome::Cancelled { by: "the ledger".to_owned() });
    dropped.notified().await;
}

#[tokio::test]
async fn a_closure_of_another_program_is_left_to_it() {
    let stage = Stage::with(Callbacks::new().add("own", |_| async { Ok(()) })).await;
    let takes = |task: &str| stage.targets.takes(&call(task));
    assert_eq!((takes("own"), takes("another's")), (true, false));
    assert!(stage.targets.takes(&Action::Process(shell("true"))));
}
