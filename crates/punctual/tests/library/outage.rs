//! Outages: one run on resume, however many ticks were missed.

#![allow(dead_code, reason = "each test program tells some of the stories")]

use crate::stage::{Stage, ledger};

const EVERY_TWO_HOURS: &str = "0 0,2,4,6,8,10,12,14,16,18,20,22 * * *";

/// Begins at 09:30.
pub(crate) async fn twelve_hours_without_a_scheduler_are_one_run(stage: Stage) {
    let tasks = || [stage.good("a", EVERY_TWO_HOURS)];
    let scheduler = stage.start(tasks()).await;
    stage.until("10:30:00").await;
    scheduler.stop().await;
    stage.until("22:30:00").await;
    let scheduler = stage.start(tasks()).await;
    stage.until("+1 02:30:00").await;
    let expected = [
        "a at 10:00:00 for 10:00:00 #1",
        "a at 22:30:00 for 22:00:00 #1",
        "a at 00:00:00 for 00:00:00 #1",
        "a at 02:00:00 for 02:00:00 #1",
    ];
    assert_eq!(stage.calls(), expected);
    let told = ledger(&scheduler, "a").await;
    assert_eq!(told[..2], ["10:00:00 success", "12:00:00 missed caught_up"]);
    assert_eq!(told.len(), 9, "every tick has its entry: {told:?}");
    scheduler.stop().await;
}

/// Begins at 09:30.
pub(crate) async fn a_pending_retry_and_missed_ticks_are_one_run(stage: Stage) {
    let ends = |number| if number == 1 { Err("not yet".into()) } else { Ok(()) };
    let tasks = || [stage.task("a", "0 * * * *", ends)];
    let scheduler = stage.start(tasks()).await;
    stage.until("10:01:00").await;
    scheduler.stop().await;
    stage.until("13:30:00").await;
    let scheduler = stage.start(tasks()).await;
    stage.until("13:59:00").await;
    let calls = stage.calls();
    assert_eq!(calls.len(), 2, "{calls:?}");
    assert!(calls[1].starts_with("a at 13:30:00"), "{calls:?}");
    stage.until("14:01:00").await;
    assert_eq!(stage.calls().len(), 3);
    scheduler.stop().await;
}

/// Begins at 09:30.
pub(crate) async fn a_short_stop_loses_nothing(stage: Stage) {
    let tasks = || [stage.good("a", "0 * * * *")];
    stage.start(tasks()).await.stop().await;
    stage.until("10:00:20").await;
    let scheduler = stage.start(tasks()).await;
    stage.until("10:05:00").await;
    assert_eq!(stage.calls(), ["a at 10:00:20 for 10:00:00 #1"]);
    scheduler.stop().await;
}
