//! Why: what became of a task at an instant, by the clock that its scheduler lives by.

#![allow(dead_code, reason = "each test program tells some of the stories")]

use crate::stage::{Stage, at, ledger};

/// Begins at 09:30.
pub(crate) async fn every_instant_of_a_task_is_explained(stage: Stage) {
    let tasks = || [stage.good("a", "0 0,2,4,6,8,10,12,14,16,18,20,22 * * *")];
    let scheduler = stage.start(tasks()).await;
    stage.until("10:30:00").await;
    scheduler.stop().await;
    stage.until("22:30:00").await;
    let scheduler = stage.start(tasks()).await;
    stage.until("22:31:00").await;
    let check = async |time: &str, said: &[&str]| {
        let why = scheduler.why("a", at(time)).await.expect("it is known").to_string();
        assert!(said.iter().all(|said| why.contains(said)), "{time}: {why}");
    };
    check("10:00:00", &["`a` at 2026-03-03T10:00:00Z: it ran on time and ended well"]).await;
    check("12:00:00", &["missed (`caught_up`)", "2026-03-03T22:00:00Z"]).await;
    check("13:00:00", &["hour 13 is not in"]).await;
    check("+1 00:00:00", &["is still to come"]).await;
    assert!(scheduler.why("b", at("10:00:00")).await.is_err());
    scheduler.stop().await;
}

/// Begins at 09:30.
pub(crate) async fn a_clock_that_is_set_is_noticed_at_once(stage: Stage) {
    let scheduler = stage.start([stage.good("a", "0 * * * *")]).await;
    stage.until("09:31:00").await;
    stage.clock.set(at("10:00:20"));
    stage.until("10:00:21").await;
    assert_eq!(
        ledger(&scheduler, "a").await,
        ["10:00:00 success"],
        "within its grace, and not minutes later"
    );
    scheduler.stop().await;
}
