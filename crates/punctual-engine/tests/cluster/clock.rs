//! Clocks that are set, and machines that sleep: noticed at once, and every tick has one entry.

use std::sync::Arc;
use std::time::Duration;

use punctual_engine::harness::Cluster;
use punctual_store::{AuditFilter, Cut, Fate, INSTALLATION, Scope, Store};

use crate::stage::{SEED, at, cron, seconds};

#[test]
fn a_clock_that_is_set_forward_makes_the_stretch_late_and_is_counted() {
    let (ledger, metrics) = Cluster::tell(SEED, at("10:00:00"), async |mut cluster| {
        cluster.create(cron("one", "* * * * *")).await;
        cluster.start("a").await;
        cluster.until(at("10:01:30")).await;
        cluster.step(seconds(300));
        cluster.until(at("10:07:30")).await;
        let metrics = cluster.metrics("a");
        (cluster.ledger().await, metrics)
    });
    assert_eq!(
        ledger,
        [
            "10:01:00 success",
            "10:02:00 missed outage",
            "10:03:00 missed outage",
            "10:04:00 missed outage",
            "10:05:00 missed outage",
            "10:06:00 success",
            "10:07:00 success",
        ]
    );
    assert!(metrics.contains("punctual_clock_steps_total{direction=\"forward\"} 1\n"), "{metrics}");
}

#[test]
fn a_clock_that_is_set_backward_fires_nothing_twice() {
    let (ledger, launches, metrics) = Cluster::tell(SEED, at("10:00:00"), async |mut cluster| {
        cluster.create(cron("one", "* * * * *")).await;
        cluster.start("a").await;
        cluster.until(at("10:03:30")).await;
        cluster.step(seconds(-150));
        cluster.until(at("10:05:30")).await;
        let metrics = cluster.metrics("a");
        (cluster.ledger().await, cluster.targets.launched().len(), metrics)
    });
    let each =
        ["10:01:00", "10:02:00", "10:03:00", "10:04:00", "10:05:00"].map(|tick| format!("{tick} success"));
    assert_eq!((ledger, launches), (each.to_vec(), 5));
    assert!(metrics.contains("punctual_clock_steps_total{direction=\"backward\"} 1\n"), "{metrics}");
}

#[test]
fn a_node_renews_its_lease_though_the_clock_of_the_database_was_set_back() {
    Cluster::tell(SEED, at("10:00:00"), async |mut cluster| {
        cluster.start("a").await;
        cluster.start("b").await;
        cluster.until(at("10:01:30")).await;
        cluster.world.step(seconds(-3_600));
        cluster.pass(Duration::from_secs(60)).await;
        let nodes = cluster.store.nodes().await.expect("the store answers");
        assert_eq!(nodes.len(), 2);
        for node in nodes {
            let silent = cluster.now().duration_since(node.seen_at);
            assert!(silent.abs() <= seconds(2), "{} was seen at {}", node.id, node.seen_at);
        }
    });
}

#[test]
fn a_suspended_machine_catches_up_as_after_an_outage() {
    let (ledger, metrics) = Cluster::tell(SEED, at("10:00:00"), async |mut cluster| {
        cluster.create(cron("one", "* * * * *")).await;
        cluster.start("a").await;
        cluster.until(at("10:01:30")).await;
        cluster.suspend(Duration::from_secs(300));
        cluster.until(at("10:07:30")).await;
        let metrics = cluster.metrics("a");
        (cluster.ledger().await, metrics)
    });
    assert_eq!(
        ledger,
        [
            "10:01:00 success",
            "10:02:00 missed outage",
            "10:03:00 missed outage",
            "10:04:00 missed outage",
            "10:05:00 missed outage",
            "10:06:00 success",
            "10:07:00 success",
        ]
    );
    assert!(metrics.contains("punctual_suspends_total 1\n"), "{metrics}");
    assert!(metrics.contains("punctual_fence_losses_total 1\n"), "its lease ended meanwhile: {metrics}");
}

#[test]
fn what_happened_to_a_clock_is_in_the_audit_log_of_the_installation() {
    let (told, own) = Cluster::tell(SEED, at("10:00:00"), async |mut cluster| {
        cluster.start("a").await;
        cluster.until(at("10:01:30")).await;
        cluster.step(seconds(300));
        cluster.until(at("10:07:00")).await;
        cluster.clock("a").step(seconds(-60));
        cluster.until(at("10:08:00")).await;
        cluster.suspend(Duration::from_secs(90));
        cluster.until(at("10:10:00")).await;
        let installation = cluster.store.org(Scope::Engine, INSTALLATION.to_owned()).await.expect("answers");
        let listed = async |org| {
            let listed = cluster.store.audit(Scope::org(org), AuditFilter::default(), Cut::first(100)).await;
            listed.expect("answers").rows
        };
        (listed(installation).await, listed(cluster.org).await)
    });
    let words = |detail: &str| {
        detail
            .split('`')
            .enumerate()
            .filter(|(part, _)| part % 2 == 0)
            .map(|(_, text)| text.to_owned())
            .collect::<String>()
    };
    let told = told.iter().rev().filter(|event| event.kind.starts_with("clock."));
    let told: Vec<String> = told.map(|event| format!("{}: {}", event.kind, words(&event.detail))).collect();
    assert_eq!(
        told,
        [
            "clock.stepped: the clock of node  was set forward by 300.000 s",
            "clock.stepped: the clock of node  was set back by 60.000 s",
            "clock.suspended: the machine of node  was suspended for 90.000 s",
        ]
    );
    assert!(own.is_empty(), "no tenant has them among its own: {own:?}");
}

#[test]
fn a_clock_that_drifts_is_no_step() {
    let (launches, metrics) = Cluster::tell(SEED, at("10:00:00"), async |mut cluster| {
        cluster.create(cron("one", "* * * * *")).await;
        cluster.start("a").await;
        cluster.clock("a").drift(500);
        cluster.until(at("11:00:30")).await;
        let metrics = cluster.metrics("a");
        (cluster.targets.launched(), metrics)
    });
    assert_eq!(launches.len(), 60);
    assert!(launches.iter().all(|one| one.at >= one.scheduled_for), "never early by the database's clock");
    assert!(!metrics.contains("punctual_clock_steps_total{"), "{metrics}");
}

#[test]
fn a_step_holds_only_what_has_a_past_to_decide() {
    let launched = Cluster::tell(SEED, at("10:00:00"), async |mut cluster| {
        // After the step two batches of schedules want their stretch decided; what is planned beyond it does not wait.
        for number in 0..1_500 {
            cluster.create(cron(&format!("herd {number}"), "*/10 * * * * *")).await;
        }
        cluster.create(cron("rare", "5 10 * * *")).await;
        cluster.start("a").await;
        // Planned through 10:05:00.
        cluster.until(at("10:04:35")).await;
        cluster.step(seconds(40));
        let clocks = [Arc::clone(&cluster.world), Arc::clone(cluster.clock("a"))];
        cluster.store.on_commit(move |doing| {
            if doing == "writing plans" {
                clocks.iter().for_each(|clock| clock.step(seconds(2)));
            }
            Fate::Commits
        });
        cluster.until(at("10:06:30")).await;
        cluster.targets.launched()
    });
    let rare: Vec<_> = launched.iter().filter(|one| one.schedule == "rare").collect();
    assert_eq!(rare.len(), 1);
    assert!(rare[0].at < at("10:05:17"), "before any batch of plans: {}", rare[0].at);
}
