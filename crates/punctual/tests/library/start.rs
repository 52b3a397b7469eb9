//! First start, restart, drift and migration.

#![allow(dead_code, reason = "each test program tells some of the stories")]

use punctual::Task;
use punctual::scheduler::{Dialect, Drift, Error};

use crate::stage::{Stage, at, ledger, minutes};

/// Begins at 15:30:20 on a Tuesday.
pub(crate) async fn the_first_start_fires_only_what_matches_its_minute_or_second(stage: Stage) {
    let seconds = |name, cron| stage.good(name, cron).dialect(Dialect::Standard);
    let tasks = || {
        [
            stage.good("now", "30 15 * * 2"),
            stage.good("earlier", "20 15 * * 2"),
            stage.good("other-day", "30 15 * * 3"),
            seconds("second", "20 30 15 * * *"),
            seconds("second-before", "19 30 15 * * *"),
        ]
    };
    let scheduler = stage.start(tasks()).await;
    stage.until("15:30:30").await;
    let mut calls = stage.calls();
    calls.sort();
    assert_eq!(calls, ["now at 15:30:20 for 15:30:00 #1", "second at 15:30:20 for 15:30:20 #1"]);
    scheduler.stop().await;

    // Only the very first start has this rule.
    let scheduler = stage.start(tasks()).await;
    stage.until("15:35:00").await;
    assert_eq!(stage.calls().len(), 2);
    scheduler.stop().await;
}

/// Begins at 09:30.
pub(crate) async fn a_restart_goes_on_from_the_last_known_state(stage: Stage) {
    let tasks = || [stage.good("a", "0 * * * *")];
    let scheduler = stage.start(tasks()).await;
    stage.until("10:20:00").await;
    scheduler.stop().await;
    stage.until("10:40:00").await;
    let scheduler = stage.start(tasks()).await;
    stage.until("11:20:00").await;
    assert_eq!(stage.calls(), ["a at 10:00:00 for 10:00:00 #1", "a at 11:00:00 for 11:00:00 #1"]);
    assert_eq!(ledger(&scheduler, "a").await, ["10:00:00 success", "11:00:00 success"]);
    assert!(scheduler.metrics().text().contains("punctual_runs_in_flight 0"));
    scheduler.stop().await;
}

/// Begins at 09:30.
pub(crate) async fn drift_is_refused_with_every_difference(stage: Stage) {
    let task = |name: &str, cron: &str| stage.good(name, cron);
    let stored = || [task("a", "0 * * * *"), task("b", "30 4 * * *")];
    stage.start(stored()).await.stop().await;
    let cases: [(Vec<Task>, &[&str]); 7] = [
        (
            vec![task("a", "5 * * * *"), task("b", "30 4 * * *")],
            &["  `a`: `spec` is stored as `0 * * * *` and declared as `5 * * * *`"],
        ),
        (
            vec![task("a", "0 * * * *").timezone("Europe/Paris"), task("b", "30 4 * * *")],
            &["  `a`: `timezone` is stored as `UTC` and declared as `Europe/Paris`"],
        ),
        (
            vec![task("a", "0 * * * *"), Task::new("b", "30 4 * * *", minutes(11), |_| async { Ok(()) })],
            &["  `b`: `retry_after` is stored as `10m` and declared as `11m`"],
        ),
        (vec![task("a", "0 * * * *")], &["  `b` is stored and not declared"]),
        (
            vec![task("a", "0 * * * *"), task("b", "30 4 * * *"), task("c", "0 0 * * *")],
            &["  `c` is declared and not stored"],
        ),
        (
            vec![task("a", "0 * * * *"), task("bee", "30 4 * * *")],
            &["  `b` is stored and not declared", "  `bee` is declared and not stored"],
        ),
        (vec![], &["  `a` is stored and not declared", "  `b` is stored and not declared"]),
    ];
    for (declared, lines) in cases {
        let refused = stage.refused(declared).await;
        let text = refused.to_string();
        let told: Vec<&str> = text.lines().collect();
        assert_eq!(told[0], "the tasks of `shop` are not the ones that are stored");
        assert_eq!(told[1..told.len() - 1], *lines);
        assert!(told[told.len() - 1].starts_with("hint: "), "{text}");
        let Error::Drift { set, differences } = refused else { panic!("{text}") };
        assert_eq!((set.as_str(), differences.len()), ("shop", lines.len()));
        assert!(differences.iter().all(|one| one.drift != Drift::Unchanged));
    }
    // A refusal changes nothing: the stored set still starts, however its fields are spaced.
    let scheduler = stage.start([task("a", "0  *  * * *"), task("b", "30 4 * * *")]).await;
    stage.until("10:20:00").await;
    assert_eq!(stage.calls(), ["a at 10:00:00 for 10:00:00 #1"]);
    scheduler.stop().await;
}

/// Begins at 09:30.
pub(crate) async fn a_migration_accepts_a_new_set_and_keeps_the_history(stage: Stage) {
    let old = || {
        [stage.good("same", "0 * * * *"), stage.good("moved", "0 * * * *"), stage.good("gone", "0 * * * *")]
    };
    let new = || {
        [stage.good("same", "0 * * * *"), stage.good("moved", "30 * * * *"), stage.good("new", "15 * * * *")]
    };
    let scheduler = stage.start(old()).await;
    stage.until("10:15:30").await;
    scheduler.stop().await;
    let scheduler = stage.builder().migrate(new()).await.expect("it is accepted");
    stage.until("11:20:00").await;
    assert_eq!(ledger(&scheduler, "same").await, ["10:00:00 success", "11:00:00 success"]);
    assert_eq!(ledger(&scheduler, "moved").await, ["10:00:00 success", "10:30:00 success"]);
    assert_eq!(ledger(&scheduler, "gone").await, ["10:00:00 success"], "its history stays");
    assert_eq!(ledger(&scheduler, "new").await, ["11:15:00 success"], "a first start there is only once");
    let versions = async |task: &str| -> Vec<i64> {
        scheduler.runs(task).await.expect("it is known").iter().map(|row| row.run.version).collect()
    };
    assert_eq!(versions("same").await, [1, 1]);
    assert_eq!(versions("moved").await, [2, 1]);
    scheduler.stop().await;

    assert!(matches!(stage.refused(old()).await, Error::Drift { .. }));
    let scheduler = stage.start(new()).await;
    assert_eq!(ledger(&scheduler, "same").await.len(), 2);
    scheduler.stop().await;
}

/// Begins at 09:30.
pub(crate) async fn a_migration_of_nothing_is_a_first_start(stage: Stage) {
    let scheduler = stage.builder().migrate([stage.good("a", "30 9 * * *")]).await.expect("it starts");
    stage.until("09:31:00").await;
    assert_eq!(stage.calls(), ["a at 09:30:00 for 09:30:00 #1"]);
    assert_eq!(scheduler.runs("a").await.expect("it is known")[0].run.scheduled_for, at("09:30:00"));
    scheduler.stop().await;
}
