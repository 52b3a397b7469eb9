//! Many runs: a slow target delays nobody, a herd's planning delays no row, a seed decides everything.

use jiff::SignedDuration;
use punctual_engine::harness::{Cluster, Deed};
use punctual_plan::Overlap;

use crate::stage::{SEED, at, cron, with};

#[test]
fn a_target_that_hangs_delays_no_other() {
    let quick = Cluster::tell(SEED, at("10:00:00"), async |mut cluster| {
        cluster.targets.always("slow", Deed::Hangs);
        cluster.create(with(cron("slow", "* * * * * *"), |policy| policy.overlap = Overlap::Allow)).await;
        cluster.create(cron("quick", "*/10 * * * * *")).await;
        cluster.start("a").await;
        // After a thousand seconds every common place is taken by runs that hang.
        cluster.until(at("10:20:05")).await;
        assert!(cluster.metrics("a").contains("punctual_runs_in_flight 1000\n"), "{}", cluster.metrics("a"));
        cluster.targets.launched().into_iter().filter(|one| one.schedule == "quick").collect::<Vec<_>>()
    });
    assert_eq!(quick.len(), 120);
    for one in quick {
        assert!(one.at.duration_since(one.scheduled_for) < SignedDuration::from_millis(20), "{one:?}");
    }
}

#[test]
fn a_herd_is_planned_before_its_instant_and_fires_at_it() {
    let launched = Cluster::tell(SEED, at("10:28:30"), async |mut cluster| {
        for number in 0..3_000 {
            cluster.create(cron(&format!("herd {number}"), "30 10 * * *")).await;
        }
        cluster.create(cron("each", "* * * * * *")).await;
        cluster.start("a").await;
        cluster.until(at("10:30:01")).await;
        cluster.targets.launched()
    });
    let late = |one: &punctual_engine::harness::Launched| one.at.duration_since(one.scheduled_for);
    let herd: Vec<_> = launched.iter().filter(|one| one.schedule != "each").collect();
    assert_eq!(herd.len(), 3_000);
    assert_eq!(launched.len() - herd.len(), 91);
    assert!(launched.iter().all(|one| late(one) < SignedDuration::from_millis(100)));
}

#[test]
fn the_same_seed_tells_the_same_story() {
    let tell = |seed| {
        Cluster::tell(seed, at("10:00:00"), async |mut cluster| {
            for number in 0..10 {
                let name = format!("s{number}");
                cluster.targets.always(&name, Deed::succeeds(number * 7));
                cluster.create(cron(&name, "*/20 * * * * *")).await;
            }
            cluster.start("a").await;
            cluster.start("b").await;
            cluster.until(at("10:02:00")).await;
            cluster.crash("a").await;
            cluster.until(at("10:05:00")).await;
            let nodes = punctual_store::Store::nodes(&cluster.store).await.expect("the store answers");
            let ids: Vec<String> = nodes.into_iter().map(|node| node.id).collect();
            (cluster.ledger().await, cluster.targets.launched(), ids)
        })
    };
    assert_eq!(tell(1), tell(1));
    let (.., ids) = tell(1);
    let (.., other) = tell(2);
    assert_ne!(ids, other, "the ids come of the seed");
}
