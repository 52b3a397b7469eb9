//! Failures: the fixed delay, the next tick, and what never happens because of them.

#![allow(dead_code, reason = "each test program tells some of the stories")]

use std::sync::Arc;
use std::time::Duration;

use jiff::SignedDuration;
use punctual::Task;
use tokio::sync::Notify;

use crate::stage::{Stage, ledger, minutes};

/// Begins at 09:30.
pub(crate) async fn a_failed_run_is_repeated_after_its_fixed_delay_until_it_succeeds(stage: Stage) {
    let ends = |number| if number < 3 { Err("not yet".into()) } else { Ok(()) };
    let scheduler = stage.start([stage.task("a", "0 * * * *", ends)]).await;
    stage.until("11:30:00").await;
    let expected = [
        "a at 10:00:00 for 10:00:00 #1",
        "a at 10:10:00 for 10:00:00 #2",
        "a at 10:20:00 for 10:00:00 #3",
        "a at 11:00:00 for 11:00:00 #1",
    ];
    assert_eq!(stage.calls(), expected, "success clears the pending retry");
    assert_eq!(ledger(&scheduler, "a").await, ["10:00:00 success", "11:00:00 success"]);
    scheduler.stop().await;
}

/// Begins at 09:30.
pub(crate) async fn the_next_tick_runs_if_it_is_earlier_than_the_retry(stage: Stage) {
    let ends = |number| if number == 1 { Err("not yet".into()) } else { Ok(()) };
    let task = stage.task("a", "0,5 * * * *", ends);
    let scheduler = stage.start([task]).await;
    stage.until("10:50:00").await;
    let expected = ["a at 10:00:00 for 10:00:00 #1", "a at 10:05:00 for 10:05:00 #1"];
    assert_eq!(stage.calls(), expected, "the retry of 10:10 is cleared by the success of 10:05");
    assert_eq!(ledger(&scheduler, "a").await, ["10:00:00 failed superseded", "10:05:00 success"]);
    scheduler.stop().await;
}

/// Begins at 09:30.
pub(crate) async fn a_retry_outlives_the_program(stage: Stage) {
    let ends = |number| if number == 1 { Err("not yet".into()) } else { Ok(()) };
    let tasks = || [stage.task("a", "0 10 * * *", ends)];
    let scheduler = stage.start(tasks()).await;
    stage.until("10:01:00").await;
    scheduler.stop().await;
    let scheduler = stage.start(tasks()).await;
    stage.until("10:30:00").await;
    assert_eq!(stage.calls(), ["a at 10:00:00 for 10:00:00 #1", "a at 10:10:00 for 10:00:00 #2"]);
    scheduler.stop().await;
}

/// Begins at 09:30.
pub(crate) async fn a_task_that_always_fails_is_never_disabled(stage: Stage) {
    let tasks = [stage.task("a", "0,30 * * * *", |_| Err("never".into()))];
    let scheduler = stage.start(tasks).await;
    stage.until("21:29:00").await;
    assert_eq!(stage.calls().len(), 3 * 24, "every ten minutes for twelve hours, the first tick included");
    assert!(
        ledger(&scheduler, "a")
            .await
            .iter()
            .all(|line| line.contains("failed superseded") || line.contains("retrying"))
    );
    scheduler.stop().await;
}

/// Begins at 09:30.
pub(crate) async fn a_closure_that_panics_is_a_failed_run(stage: Stage) {
    let ends = |number| if number == 1 { panic!("by surprise") } else { Ok(()) };
    let tasks = [Task::new("a", "0 * * * *", minutes(10), {
        let count = Arc::new(std::sync::atomic::AtomicUsize::new(0));
        move |_| {
            let ended: Result<(), &str> = ends(count.fetch_add(1, std::sync::atomic::Ordering::SeqCst) + 1);
            async move { Ok(ended?) }
        }
    })];
    let scheduler = stage.start(tasks).await;
    stage.until("10:05:00").await;
    let runs = scheduler.runs("a").await.expect("it is known");
    let reason = runs[0].run.state.reason().map(ToString::to_string).unwrap_or_default();
    assert!(reason.contains("panicked: by surprise"), "{reason}");
    stage.until("10:15:00").await;
    assert_eq!(ledger(&scheduler, "a").await, ["10:00:00 success"]);
    scheduler.stop().await;
}

/// Begins at 09:30.
pub(crate) async fn a_closure_that_hangs_is_ended_at_its_time_limit(stage: Stage) {
    let hang = Task::new("a", "0 * * * *", minutes(10), |_| std::future::pending())
        .policy(|policy| policy.run_timeout = SignedDuration::from_mins(2));
    let scheduler = stage.start([hang, stage.good("b", "1 * * * *")]).await;
    stage.until("10:01:30").await;
    assert_eq!(ledger(&scheduler, "a").await, ["10:00:00 running"]);
    assert_eq!(ledger(&scheduler, "b").await, ["10:01:00 success"], "nobody waits for it");
    stage.until("10:03:00").await;
    assert_eq!(ledger(&scheduler, "a").await, ["10:00:00 retrying timeout"]);
    scheduler.stop().await;
}

/// Begins at 09:30.
pub(crate) async fn a_stop_waits_for_what_runs(stage: Stage) {
    let (begun, go_on) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let waits = |task: &str| {
        let (begun, go_on) = (Arc::clone(&begun), Arc::clone(&go_on));
        Task::new(task, "0 10 * * *", minutes(10), move |_| {
            let (begun, go_on) = (Arc::clone(&begun), Arc::clone(&go_on));
            async move {
                begun.notify_one();
                go_on.notified().await;
                Ok(())
            }
        })
    };
    let scheduler = stage.start([waits("a")]).await;
    stage.until("10:00:00").await;
    begun.notified().await;
    let (stopped, ()) = tokio::join!(scheduler.stop(), async {
        tokio::task::yield_now().await;
        go_on.notify_one();
    });
    assert_eq!(stopped.left_in_flight, 0);
    let scheduler = stage.start([waits("a")]).await;
    assert_eq!(ledger(&scheduler, "a").await, ["10:00:00 success"]);
    scheduler.stop().await;
}

/// Begins at 09:30.
pub(crate) async fn what_a_stop_did_not_wait_for_is_repeated_as_the_next_attempt(stage: Stage) {
    let task = |stage: &Stage| stage.good("a", "0 10 * * *");
    let hangs = Task::new("a", "0 10 * * *", minutes(10), |_| std::future::pending());
    let builder = stage.builder().drain_for(Duration::from_secs(1));
    let scheduler = builder.initialize([hangs]).await.expect("it starts");
    stage.until("10:00:00").await;
    assert_eq!(scheduler.stop().await.left_in_flight, 1);
    let scheduler = stage.start([task(&stage)]).await;
    stage.until("10:01:00").await;
    assert_eq!(stage.calls(), ["a at 10:00:01 for 10:00:00 #2"]);
    assert_eq!(ledger(&scheduler, "a").await, ["10:00:00 success"]);
    scheduler.stop().await;
}
