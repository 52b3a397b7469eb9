//! Many runs: a slow target delays nobody, a herd's planning delays no row, a seed decides everything.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use jiff::SignedDuration;
use punctual_engine::harness::{Cluster, Deed};
use punctual_plan::{Overlap, RunState, RunStatus};
use punctual_store::Fate;

use crate::stage::{SEED, at, cron, with};

/// What the commit of a batch of plans takes in a story; less than what counts as a clock that was set.
const BATCH_TAKES: SignedDuration = SignedDuration::from_millis(400);

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
fn a_full_target_lets_its_rows_wait_and_delays_no_other() {
    let (quick, waiting, after) = Cluster::tell(SEED, at("10:00:30"), async |mut cluster| {
        // A thousand have a place, ten thousand wait for one, and what is beyond that waits in the ledger.
        for number in 0..11_500 {
            let name = format!("slow {number}");
            let mut slow = cron(&name, "1 10 * * *");
            Arc::make_mut(&mut slow.target).name = "slow".to_owned();
            cluster.targets.always(&name, Deed::succeeds(120));
            cluster.create(slow).await;
        }
        cluster.create(cron("quick", "* * * * * *")).await;
        cluster.start("a").await;
        cluster.until(at("10:01:30")).await;
        let runs = cluster.runs().await;
        let waiting = runs.iter().filter_map(|row| match &row.run.state {
            RunState::Waiting(waiting) => Some(waiting.wait.to_string()),
            _ => None,
        });
        let waiting: Vec<String> = waiting.collect();
        let launched = cluster.targets.launched();
        let quick: Vec<_> = launched.into_iter().filter(|one| one.schedule == "quick").collect();
        // The first thousand have ended, and there is room for those that waited.
        cluster.until(at("10:03:10")).await;
        let runs = cluster.runs().await;
        let after = runs.iter().filter(|row| row.run.state.status() == RunStatus::Waiting).count();
        (quick, waiting, after)
    });
    assert!((300..=500).contains(&waiting.len()), "{}", waiting.len());
    assert!(waiting.iter().all(|wait| wait == "room at its target `slow`"), "{:?}", waiting.first());
    assert_eq!(after, 0);
    assert_eq!(quick.len(), 60);
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
fn where_others_write_plans_are_made_beside_herds_that_are_held() {
    let launched = Cluster::tell(SEED, at("10:00:00"), async |mut cluster| {
        cluster.store.stop_counting();
        // A herd is held in each second, and others are to be planned meanwhile.
        for number in 0..300 {
            cluster.create(cron(&format!("each {number}"), "* * * * * *")).await;
        }
        for number in 0..5_000 {
            cluster.create(cron(&format!("minute {number}"), &format!("{} * * * * *", number % 60))).await;
        }
        cluster.start("a").await;
        cluster.until(at("10:03:00")).await;
        cluster.targets.launched()
    });
    let late = launched.iter().map(|one| one.at.duration_since(one.scheduled_for)).max();
    assert!(late.is_some_and(|late| late < SignedDuration::from_millis(100)), "{late:?}");
    let of = |name: &str| launched.iter().filter(|one| one.schedule.starts_with(name)).count();
    // From the first second after their making up to the last instant.
    assert_eq!((of("each"), of("minute")), (300 * 180, 5_000 * 3));
}

#[test]
fn of_what_is_late_and_committed_in_two_parts_one_may_fail_and_is_judged_again() {
    let (launched, before) = Cluster::tell(SEED, at("10:00:00"), async |mut cluster| {
        cluster.store.stop_counting();
        for number in 0..6_000 {
            cluster.create(cron(&format!("herd {number}"), "1 10 * * *")).await;
        }
        // What is mustered for it tells the node that others may write.
        cluster.create(cron("early", "30 0 10 * * *")).await;
        cluster.start("a").await;
        cluster.until(at("10:00:58")).await;
        // It sleeps over the instant, so that nothing is held for it.
        cluster.pause("a");
        cluster.until(at("10:01:00.8")).await;
        // How many were launched before each commit of admissions.
        let before = Arc::new(Mutex::new(Vec::new()));
        let (noted, targets) = (Arc::clone(&before), Arc::clone(&cluster.targets));
        cluster.store.on_commit(move |doing| {
            if doing != "admitting runs" {
                return Fate::Commits;
            }
            let mut noted = noted.lock().expect("nobody panics with it");
            noted.push(targets.launched().iter().filter(|one| one.schedule != "early").count());
            if noted.len() == 2 { Fate::Fails } else { Fate::Commits }
        });
        cluster.resume("a");
        cluster.until(at("10:01:10")).await;
        let launched = cluster.targets.launched().into_iter().filter(|one| one.schedule != "early");
        (launched.map(|one| one.schedule).collect::<Vec<_>>(), before.lock().expect("nobody panics").clone())
    });
    // A batch is five thousand: one half of it is being launched when the other is judged again, with what was left.
    assert!(matches!(before.get(..3), Some([0, 0, 1..=2_500])), "{before:?}");
    let each: BTreeSet<&String> = launched.iter().collect();
    assert_eq!((launched.len(), each.len()), (6_000, 6_000));
}

#[test]
fn planning_a_backlog_delays_no_row_by_more_than_a_batch() {
    let launched = Cluster::tell(SEED, at("10:00:00"), async |mut cluster| {
        // Several batches, which all want planning half a minute before the lookahead ends.
        for number in 0..10_000 {
            cluster.create(cron(&format!("herd {number}"), "*/2 * * * *")).await;
        }
        cluster.create(cron("each", "* * * * * *")).await;
        cluster.start("a").await;
        cluster.until(at("10:00:20")).await;
        // From now on each batch takes its time.
        let clocks = [Arc::clone(&cluster.world), Arc::clone(cluster.clock("a"))];
        let batches = Arc::new(AtomicU32::new(0));
        let counted = Arc::clone(&batches);
        cluster.store.on_commit(move |doing| {
            if doing == "writing plans" {
                counted.fetch_add(1, Ordering::Relaxed);
                // Time passes by every clock of the node, and not only on its wall.
                clocks.iter().for_each(|clock| clock.suspend(BATCH_TAKES.unsigned_abs()));
            }
            Fate::Commits
        });
        cluster.until(at("10:01:50")).await;
        assert!(batches.load(Ordering::Relaxed) >= 5, "{batches:?}");
        cluster.targets.launched()
    });
    let each: Vec<_> = launched.iter().filter(|one| one.schedule == "each").collect();
    assert!(each.len() >= 100, "{}", each.len());
    let late = each.iter().map(|one| one.at.duration_since(one.scheduled_for)).max();
    assert!(late.is_some_and(|late| late <= BATCH_TAKES + SignedDuration::from_millis(50)), "{late:?}");
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
