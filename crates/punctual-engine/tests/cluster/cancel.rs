//! Runs that a person ends: the ledger first, then the program.

use std::time::Duration;

use jiff::Timestamp;
use punctual_engine::harness::{Cluster, Deed};
use punctual_plan::{CatchUp, Outcome, Overlap};
use punctual_store::Commit;

use crate::stage::{SEED, at, cron, with};

#[test]
fn a_program_ends_when_its_run_is_cancelled_in_the_ledger() {
    let (done, ledger, launched) = Cluster::tell(SEED, at("10:00:00"), async |mut cluster| {
        cluster.targets.always("one", Deed::succeeds(600));
        cluster.create(with(cron("one", "* * * * *"), |policy| policy.overlap = Overlap::Queue)).await;
        cluster.start("a").await;
        cluster.until(at("10:02:10")).await;
        let done = cluster.cancel_all("ada").await;
        cluster.until(at("10:02:12")).await;
        (done, cluster.ledger().await, cluster.targets.launched())
    });
    assert_eq!(done, [Commit::Done]);
    assert_eq!(ledger, ["10:01:00 cancelled cancelled", "10:02:00 running"], "and who waited is woken");
    let (ended, outcome) = launched[0].ended.clone().expect("the program was told to end");
    assert!(ended < at("10:02:11"), "at once: {ended}");
    assert_eq!(outcome, Outcome::Cancelled { by: "the ledger".to_owned() });
}

#[test]
fn a_late_success_of_a_cancelled_run_changes_nothing() {
    let ledger = Cluster::tell(SEED, at("10:00:00"), async |mut cluster| {
        let deaf = Deed::Ignores(std::time::Duration::from_secs(30), Outcome::Succeeded);
        cluster.targets.always("one", deaf);
        cluster.create(cron("one", "1 10 * * *")).await;
        cluster.start("a").await;
        cluster.until(at("10:01:10")).await;
        cluster.cancel_all("ada").await;
        cluster.until(at("10:02:00")).await;
        cluster.ledger().await
    });
    assert_eq!(ledger, ["10:01:00 cancelled cancelled"]);
}

#[test]
fn what_a_run_prints_is_in_the_ledger_while_it_runs() {
    let output = Cluster::tell(SEED, at("10:00:00"), async |mut cluster| {
        cluster.targets.always("one", Deed::succeeds(60));
        cluster.create(cron("one", "1 10 * * *")).await;
        cluster.start("a").await;
        cluster.until(at("10:01:02")).await;
        cluster.runs().await.remove(0).output
    });
    assert_eq!(output.as_deref(), Some("working\n"));
}

#[test]
fn what_a_later_tick_of_the_same_batch_cancels_is_never_launched() {
    let (launched, ledger) = Cluster::tell(SEED, at("10:00:00"), async |mut cluster| {
        cluster.targets.always("one", Deed::succeeds(30));
        let schedule = with(cron("one", "*/10 * * * * *"), |policy| {
            (policy.overlap, policy.catch_up) = (Overlap::Cancel, CatchUp::RunAll);
        });
        cluster.create(schedule).await;
        // Nobody serves while four ticks pass; then all of them are due at once.
        cluster.pass(Duration::from_secs(45)).await;
        cluster.start("a").await;
        cluster.until(at("10:00:48")).await;
        (cluster.targets.launched(), cluster.ledger().await)
    });
    let ticks: Vec<Timestamp> = launched.iter().map(|one| one.scheduled_for).collect();
    assert_eq!(ticks, [at("10:00:40")], "{ledger:?}");
    assert_eq!(ledger[0], "10:00:10 cancelled cancelled");
}
