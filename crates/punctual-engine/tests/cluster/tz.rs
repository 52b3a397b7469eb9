//! Nodes whose tz databases differ: who has an older one plans nothing, and leaves to the others what a plan decides.

use punctual_engine::harness::Cluster;
use punctual_plan::{CatchUp, Schedule};

use crate::stage::{SEED, at, cron, with};

/// A tz database that is newer than that of this program.
const NEWER: Option<&str> = Some("2091c");

const MANY: usize = 20;

#[test]
fn a_node_with_an_older_tz_database_plans_nothing_and_the_others_plan_for_it() {
    let (launched, metrics) = Cluster::tell(SEED, at("10:00:00"), async |mut cluster| {
        for number in 0..MANY {
            cluster.create(cron(&format!("s{number}"), "* * * * *")).await;
        }
        cluster.tz_version = NEWER;
        cluster.start("new").await;
        cluster.tz_version = None;
        cluster.start("old").await;
        cluster.until(at("10:05:30")).await;
        let metrics = cluster.metrics("old");
        (cluster.targets.launched(), metrics)
    });
    assert!(metrics.contains("punctual_schedules_planned_total 0\n"), "{metrics}");
    let mut ticks: Vec<_> = launched.iter().map(|one| (&one.schedule, one.scheduled_for)).collect();
    ticks.sort_unstable();
    ticks.dedup();
    assert_eq!((ticks.len(), launched.len()), (MANY * 5, MANY * 5), "every tick runs once");
    assert!(launched.iter().all(|one| one.at == one.scheduled_for), "each in time");
    assert!(launched.iter().any(|one| one.node == "old"), "what is planned is admitted by whoever holds it");
}

#[test]
fn a_node_stops_to_plan_when_one_with_a_newer_tz_database_comes() {
    let (before, after) = Cluster::tell(SEED, at("10:00:00"), async |mut cluster| {
        cluster.create(cron("one", "* * * * *")).await;
        cluster.start("old").await;
        cluster.until(at("10:05:30")).await;
        let planned = |text: String| {
            let line = text.lines().find(|line| line.starts_with("punctual_schedules_planned_total "));
            line.expect("it is counted").to_owned()
        };
        cluster.tz_version = NEWER;
        cluster.start("new").await;
        cluster.pass(std::time::Duration::from_secs(2)).await;
        let before = planned(cluster.metrics("old"));
        cluster.until(at("10:10:30")).await;
        (before, planned(cluster.metrics("old")))
    });
    assert_ne!(before, "punctual_schedules_planned_total 0");
    assert_eq!(before, after);
}

/// What an outage from 10:02:30 to 10:06:40 came to, in which perhaps a node served that may not plan.
fn ledger_of(schedule: &Schedule, visitor: Option<&'static str>) -> Vec<String> {
    Cluster::tell(SEED, at("10:00:00"), async |mut cluster| {
        cluster.create(schedule.clone()).await;
        cluster.tz_version = NEWER;
        cluster.start("new").await;
        cluster.until(at("10:02:30")).await;
        cluster.stop("new").await;
        cluster.until(at("10:06:10")).await;
        if let Some(visitor) = visitor {
            cluster.tz_version = None;
            cluster.start(visitor).await;
            cluster.until(at("10:06:40")).await;
            assert!(
                cluster.ledger().await.iter().all(|line| !line.contains("missed")),
                "it decided something"
            );
            cluster.stop(visitor).await;
        }
        cluster.until(at("10:06:40")).await;
        cluster.tz_version = NEWER;
        cluster.start("new").await;
        cluster.until(at("10:08:30")).await;
        cluster.ledger().await
    })
}

#[test]
fn what_was_slept_through_is_left_to_a_node_that_may_plan() {
    for catch_up in [CatchUp::Skip, CatchUp::RunOnce, CatchUp::RunAll] {
        let schedule = with(cron("one", "* * * * *"), |policy| policy.catch_up = catch_up);
        assert_eq!(ledger_of(&schedule, Some("old")), ledger_of(&schedule, None), "{catch_up:?}");
    }
}
