//! Several nodes: shards, leases, take-over, and a node that was away too long.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use punctual_engine::harness::{Cluster, Deed, Launched};
use punctual_plan::{Action, Delivery, Outcome, Policy};
use punctual_store::{Fate, Store};

use crate::stage::{SEED, at, cron, with};

const MANY: usize = 20;

async fn create_many(cluster: &Cluster) {
    for number in 0..MANY {
        cluster.create(cron(&format!("s{number}"), "* * * * *")).await;
    }
}

fn by_tick(launched: &[Launched]) -> BTreeMap<(String, Timestamp), usize> {
    let mut count = BTreeMap::new();
    for one in launched {
        *count.entry((one.schedule.clone(), one.scheduled_for)).or_default() += 1;
    }
    count
}

#[test]
fn nodes_share_the_work_and_every_tick_runs_once() {
    let launched = Cluster::tell(SEED, at("10:00:00"), async |mut cluster| {
        create_many(&cluster).await;
        for node in ["a", "b", "c"] {
            cluster.start(node).await;
        }
        cluster.until(at("10:05:30")).await;
        cluster.targets.launched()
    });
    let ticks = by_tick(&launched);
    assert_eq!(ticks.len(), MANY * 5);
    assert!(ticks.values().all(|count| *count == 1), "{ticks:?}");
    for node in ["a", "b", "c"] {
        assert!(launched.iter().any(|one| one.node == node), "{node} did nothing");
    }
    assert!(launched.iter().all(|one| one.at >= one.scheduled_for), "never early");
}

#[test]
fn nodes_are_replaced_one_by_one_and_no_tick_is_lost() {
    let (launched, ledger) = Cluster::tell(SEED, at("10:00:00"), async |mut cluster| {
        create_many(&cluster).await;
        let nodes = ["a", "b", "c"];
        for node in nodes {
            cluster.start(node).await;
        }
        for (node, minute) in nodes.into_iter().zip(["10:01", "10:02", "10:03"]) {
            cluster.until(at(&format!("{minute}:30"))).await;
            assert_eq!(cluster.stop(node).await.left_in_flight, 0);
            cluster.until(at(&format!("{minute}:55"))).await;
            cluster.start(node).await;
        }
        cluster.until(at("10:06:30")).await;
        (cluster.targets.launched(), cluster.ledger().await)
    });
    let ticks = by_tick(&launched);
    assert_eq!((ticks.len(), launched.len()), (MANY * 6, MANY * 6));
    assert!(ledger.iter().all(|line| line.ends_with("success")), "{ledger:?}");
    let late = launched.iter().map(|one| one.at.duration_since(one.scheduled_for)).max();
    assert!(
        late.is_some_and(|late| late.as_millis() <= 1_300),
        "the sweep finds what nobody holds: {late:?}"
    );
}

#[test]
fn what_a_dead_node_left_is_taken_up_within_five_seconds() {
    let (launched, ledger) = Cluster::tell(SEED, at("10:00:00"), async |mut cluster| {
        cluster.targets.on("one", |launch, _| Deed::succeeds(if launch.attempt == 1 { 60 } else { 1 }));
        cluster.create(cron("one", "1 10 * * *")).await;
        cluster.start("a").await;
        cluster.until(at("10:01:01")).await;
        cluster.start("b").await;
        cluster.until(at("10:01:10")).await;
        cluster.crash("a").await;
        cluster.until(at("10:01:20")).await;
        (cluster.targets.launched(), cluster.ledger().await)
    });
    let who: Vec<(&str, u32)> = launched.iter().map(|one| (&*one.node, one.attempt)).collect();
    assert_eq!(who, [("a", 1), ("b", 2)]);
    assert!(launched[1].at <= at("10:01:15"), "{}", launched[1].at);
    assert_eq!(ledger, ["10:01:00 success"]);
}

#[test]
fn a_node_that_was_paused_too_long_stops_its_work_and_joins_anew() {
    let (launched, ledger, metrics) = Cluster::tell(SEED, at("10:00:00"), async |mut cluster| {
        cluster.targets.on("one", |launch, _| Deed::succeeds(if launch.attempt == 1 { 120 } else { 5 }));
        cluster.create(cron("one", "1 10 * * *")).await;
        cluster.create(cron("each", "* * * * *")).await;
        cluster.start("a").await;
        cluster.until(at("10:01:05")).await;
        cluster.start("b").await;
        cluster.until(at("10:01:10")).await;
        cluster.pause("a");
        cluster.until(at("10:01:30")).await;
        cluster.resume("a");
        cluster.until(at("10:03:30")).await;
        let metrics = cluster.metrics("a");
        (cluster.targets.launched(), cluster.ledger().await, metrics)
    });
    let one: Vec<&Launched> = launched.iter().filter(|one| one.schedule == "one").collect();
    assert_eq!(one.iter().map(|one| (&*one.node, one.attempt)).collect::<Vec<_>>(), [("a", 1), ("b", 2)]);
    let (stopped, outcome) = one[0].ended.clone().expect("its program was stopped");
    assert!(stopped < at("10:01:32"), "as soon as the node is back: {stopped}");
    assert_eq!(outcome, Outcome::Cancelled { by: "a lost lease".to_owned() });
    assert!(metrics.contains("punctual_fence_losses_total 1\n"), "{metrics}");
    let each = ["10:01:00 success", "10:01:00 success", "10:02:00 success", "10:03:00 success"];
    assert_eq!(ledger, each);
    assert!(launched.iter().any(|one| one.node == "a" && one.at > at("10:02:00")) || launched.len() == 5);
}

/// No heartbeat is answered any more; everything else is.
fn without_heartbeats(cluster: &Cluster) {
    cluster.store.on_commit(|doing| match doing {
        "renewing the lease" => Fate::Fails,
        _ => Fate::Commits,
    });
}

#[test]
fn nothing_is_admitted_without_a_certain_lease() {
    let told = Cluster::tell(SEED, at("10:00:00"), async |mut cluster| {
        cluster.create(cron("one", "1 10 * * *")).await;
        cluster.start("a").await;
        cluster.until(at("10:00:57")).await;
        // The lease renewed last would end at 10:01:00, and is not certain half a second before.
        without_heartbeats(&cluster);
        cluster.until(at("10:01:02")).await;
        let before = cluster.ledger().await;
        cluster.store.on_commit(|_| Fate::Commits);
        cluster.until(at("10:01:10")).await;
        (before, cluster.ledger().await, cluster.targets.launched().len())
    });
    assert_eq!(told, (vec!["10:01:00 scheduled".to_owned()], vec!["10:01:00 success".to_owned()], 1));
}

#[test]
fn nothing_is_launched_without_a_certain_lease() {
    let (before, after, metrics) = Cluster::tell(SEED, at("10:00:00"), async |mut cluster| {
        // One more than there are places; the first to end makes room while the lease is not certain.
        for number in 0..1_101 {
            let name = format!("s{number}");
            cluster.targets.always(&name, Deed::succeeds(60));
            cluster.create(cron(&name, "1 10 * * *")).await;
        }
        cluster.start("a").await;
        cluster.until(at("10:01:57")).await;
        without_heartbeats(&cluster);
        cluster.until(at("10:02:02")).await;
        let (before, metrics) = (cluster.targets.launched().len(), cluster.metrics("a"));
        cluster.store.on_commit(|_| Fate::Commits);
        cluster.until(at("10:02:10")).await;
        (before, cluster.targets.launched(), metrics)
    });
    assert_eq!((before, after.len()), (1_100, 1_101));
    assert!(!metrics.contains("punctual_launches_held_total 0\n"), "{metrics}");
    assert_eq!(after.last().map(|one| one.attempt), Some(1), "it was never launched before");
}

#[test]
fn what_the_database_refuses_a_node_without_a_lease_it_does_under_a_new_one() {
    let (launched, ledger, metrics) = Cluster::tell(SEED, at("10:00:00"), async |mut cluster| {
        cluster.targets.always("one", Deed::succeeds(5));
        cluster.create(cron("one", "1 10 * * *")).await;
        // Its heartbeats come half a second after the ticks.
        cluster.pass(Duration::from_millis(500)).await;
        cluster.start("a").await;
        cluster.until(at("10:00:59.7")).await;
        // By its own clocks its lease lasts two seconds more.
        let fence = Store::nodes(&cluster.store).await.expect("the store answers")[0].fence;
        Store::leave(&cluster.store, fence).await.expect("the store answers");
        cluster.until(at("10:01:10")).await;
        let metrics = cluster.metrics("a");
        (cluster.targets.launched(), cluster.ledger().await, metrics)
    });
    assert_eq!((launched.len(), ledger), (1, vec!["10:01:00 success".to_owned()]));
    assert!(launched[0].at < at("10:01:00.4"), "before the next heartbeat: {}", launched[0].at);
    assert!(metrics.contains("punctual_writes_refused_total{step=\"admit\"} 1\n"), "{metrics}");
    assert!(metrics.contains("punctual_fence_losses_total 1\n"), "{metrics}");
}

#[test]
fn what_a_stopped_node_did_not_launch_another_launches_without_a_doubt() {
    let (stopped, launched) = Cluster::tell(SEED, at("10:00:00"), async |mut cluster| {
        // One more than there are places, each of which would fail if its first attempt were in doubt.
        for number in 0..1_101 {
            let name = format!("s{number}");
            cluster.targets.always(&name, Deed::succeeds(10));
            let once = |policy: &mut Policy| policy.delivery = Delivery::AtMostOnce;
            cluster.create(with(cron(&name, "1 10 * * *"), once)).await;
        }
        cluster.start("a").await;
        cluster.until(at("10:01:05")).await;
        cluster.start("b").await;
        let stopped = cluster.stop("a").await;
        cluster.until(at("10:01:40")).await;
        let ledger = cluster.ledger().await;
        assert!(ledger.iter().all(|line| line.ends_with("success")), "{ledger:?}");
        (stopped, cluster.targets.launched())
    });
    assert_eq!((stopped.handed_back, stopped.left_in_flight), (1, 0));
    let last = launched.last().expect("launches");
    assert_eq!((launched.len(), last.node.as_str(), last.attempt), (1_101, "b", 1));
}

#[test]
fn nodes_with_wrong_clocks_go_by_the_database() {
    let launched = Cluster::tell(SEED, at("10:00:00"), async |mut cluster| {
        create_many(&cluster).await;
        for (node, wrong) in [("a", 7), ("b", -7)] {
            cluster.start(node).await;
            cluster.clock(node).step(jiff::SignedDuration::from_secs(wrong));
        }
        cluster.pass(Duration::from_secs(1)).await;
        cluster.until(at("10:03:30")).await;
        let nodes = Store::nodes(&cluster.store).await.expect("the store answers");
        let shown: Vec<_> = nodes.iter().map(|node| node.ahead.map(|ahead| ahead.as_secs())).collect();
        assert_eq!(shown, [Some(7), Some(-7)], "newest first");
        assert!(cluster.metrics("a").contains("punctual_clock_offset_seconds -7\n"));
        cluster.targets.launched()
    });
    let ticks = by_tick(&launched);
    assert_eq!((ticks.len(), launched.len()), (MANY * 3, MANY * 3));
    for one in launched {
        let late = one.at.duration_since(one.scheduled_for);
        assert!(!late.is_negative() && late.as_millis() < 1_000, "{one:?}");
    }
}

#[test]
fn a_node_hands_back_the_closures_of_another_program_that_were_handed_back() {
    let told = Cluster::tell(SEED, at("10:00:00"), async |mut cluster| {
        cluster.drain_for = Duration::from_secs(1);
        cluster.targets.lacks("server", "greet");
        // More that hang than there are places: the last one is admitted and waits.
        for number in 0..1_100 {
            let name = format!("filler {number}");
            cluster.targets.always(&name, Deed::Hangs);
            let schedule = with(cron(&name, "1 10 * * *"), |policy| policy.delivery = Delivery::AtMostOnce);
            cluster.create(schedule).await;
        }
        let mut greet = cron("greet", "1 10 * * *");
        Arc::make_mut(&mut greet.target).action = Action::Callback { task: "greet".to_owned() };
        cluster.create(greet).await;
        cluster.start("program").await;
        cluster.until(at("10:01:02")).await;
        assert_eq!(cluster.stop("program").await.handed_back, 1);
        // Once at its start, and again at each heartbeat.
        cluster.start("server").await;
        cluster.until(at("10:01:30")).await;
        cluster.start("program").await;
        cluster.until(at("10:01:40")).await;
        let launched = cluster.targets.launched().into_iter().filter(|one| one.schedule == "greet");
        launched.map(|one| (one.node, one.attempt)).collect::<Vec<(String, u32)>>()
    });
    assert_eq!(told, [("program".to_owned(), 1)]);
}

#[test]
fn a_node_leaves_the_closures_of_another_program_to_it() {
    let (before, ledger, launched) = Cluster::tell(SEED, at("10:00:00"), async |mut cluster| {
        cluster.targets.lacks("server", "greet");
        let mut greet = cron("greet", "1 10 * * *");
        Arc::make_mut(&mut greet.target).action = Action::Callback { task: "greet".to_owned() };
        cluster.create(greet).await;
        cluster.create(cron("each", "* * * * *")).await;
        cluster.start("server").await;
        cluster.until(at("10:01:20")).await;
        let before = cluster.ledger().await;
        cluster.start("program").await;
        cluster.until(at("10:01:50")).await;
        (before, cluster.ledger().await, cluster.targets.launched())
    });
    assert_eq!(before, ["10:01:00 scheduled", "10:01:00 success"]);
    assert_eq!(ledger, ["10:01:00 success", "10:01:00 success"]);
    let greeted: Vec<&str> =
        launched.iter().filter(|one| one.schedule == "greet").map(|one| &*one.node).collect();
    assert_eq!(greeted, ["program"]);
}

#[test]
fn nodes_that_may_do_nothing_sleep_until_they_may() {
    // A node that spins lets no virtual time pass, and the story never ends.
    let ledger = Cluster::tell(SEED, at("10:00:00"), async |mut cluster| {
        cluster.create(cron("one", "* * * * *")).await;
        cluster.start("a").await;
        cluster.start("b").await;
        cluster.until(at("10:00:30")).await;
        without_heartbeats(&cluster);
        cluster.until(at("10:02:30")).await;
        cluster.store.on_commit(|_| Fate::Commits);
        let newer = punctual_store::Node {
            id: "newer".to_owned(),
            pid: 1,
            started_at: cluster.now(),
            lease: jiff::SignedDuration::from_hours(1),
            tz_version: "2099z".to_owned(),
            version: "2".to_owned(),
        };
        cluster.store.join(newer).await.expect("it joins");
        cluster.until(at("10:05:30")).await;
        cluster.ledger().await
    });
    assert!(!ledger.is_empty());
}

#[test]
fn what_a_node_took_over_and_did_not_settle_is_not_launched_again() {
    for (doing, fate) in [("settling runs", Fate::Fails), ("taking over runs", Fate::GoesUnanswered)] {
        let (launched, ledger) = Cluster::tell(SEED, at("10:00:00"), async |mut cluster| {
            cluster.targets.on("one", |launch, _| Deed::succeeds(if launch.attempt == 1 { 60 } else { 1 }));
            cluster.create(cron("one", "1 10 * * *")).await;
            cluster.start("a").await;
            cluster.until(at("10:01:01")).await;
            cluster.start("b").await;
            cluster.until(at("10:01:10")).await;
            let mut is_due = true;
            cluster.store.on_commit(move |what| {
                let is_struck = what == doing && (is_due || doing == "settling runs");
                is_due &= !is_struck;
                if is_struck { fate } else { Fate::Commits }
            });
            cluster.crash("a").await;
            // From now on the ledger says that the run is held by `b`, whose journal knows nothing of it.
            cluster.until(at("10:01:16")).await;
            cluster.crash("b").await;
            cluster.store.on_commit(|_| Fate::Commits);
            cluster.start("b").await;
            cluster.until(at("10:01:30")).await;
            (cluster.targets.launched(), cluster.ledger().await)
        });
        let who: Vec<(&str, u32)> = launched.iter().map(|one| (&*one.node, one.attempt)).collect();
        assert_eq!(who, [("a", 1), ("b", 2)], "{doing}");
        assert_eq!(ledger, ["10:01:00 success"], "{doing}");
    }
}

#[test]
fn what_a_node_could_not_settle_at_first_it_settles_as_soon_as_it_can() {
    let launched = Cluster::tell(SEED, at("10:00:00"), async |mut cluster| {
        cluster.targets.on("one", |launch, _| Deed::succeeds(if launch.attempt == 1 { 60 } else { 1 }));
        cluster.create(cron("one", "1 10 * * *")).await;
        cluster.start("a").await;
        cluster.until(at("10:01:01")).await;
        cluster.start("b").await;
        cluster.until(at("10:01:10")).await;
        cluster.store.on_commit(|what| if what == "settling runs" { Fate::Fails } else { Fate::Commits });
        cluster.crash("a").await;
        cluster.until(at("10:01:20")).await;
        cluster.store.on_commit(|_| Fate::Commits);
        cluster.until(at("10:01:30")).await;
        cluster.targets.launched()
    });
    let who: Vec<(&str, u32)> = launched.iter().map(|one| (&*one.node, one.attempt)).collect();
    assert_eq!(who, [("a", 1), ("b", 2)]);
}
