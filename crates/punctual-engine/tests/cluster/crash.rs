//! A node that dies or stops, and what the next start makes of what it left.

use std::sync::Arc;
use std::time::Duration;

use jiff::SignedDuration;
use punctual_engine::harness::{Cluster, Deed};
use punctual_plan::{CatchUp, Delivery, Overlap, Schedule};
use punctual_store::{AuditFilter, Cut, Fate, Scope, Store};

use crate::stage::{SEED, at, cron, with};

/// One tick at 10:01:00 that takes half a minute; the node dies at `crash` and is back at `back`.
struct Death {
    delivery: Delivery,
    crash: &'static str,
    back: &'static str,
}

fn check(death: &Death, expected: &[&str], launches: usize) {
    let told = Cluster::tell(SEED, at("10:00:00"), async |mut cluster| {
        let once = with(cron("one", "1 10 * * *"), |policy| policy.delivery = death.delivery);
        cluster.targets.always("one", Deed::succeeds(30));
        cluster.create(once).await;
        cluster.start("a").await;
        cluster.until(at(death.crash)).await;
        cluster.crash("a").await;
        cluster.until(at(death.back)).await;
        cluster.start("a").await;
        cluster.until(at("10:03:00")).await;
        (cluster.ledger().await, cluster.targets.launched().len())
    });
    assert_eq!(told, (expected.iter().map(ToString::to_string).collect(), launches));
}

#[test]
fn what_was_launched_by_a_node_that_died_is_in_doubt() {
    let death = |delivery| Death { delivery, crash: "10:01:10", back: "10:01:20" };
    check(&death(Delivery::AtLeastOnce), &["10:01:00 success"], 2);
    check(&death(Delivery::AtMostOnce), &["10:01:00 failed outcome_unknown"], 1);
}

#[test]
fn a_node_that_dies_before_the_instant_misses_nothing_within_the_grace() {
    let death = Death { delivery: Delivery::AtMostOnce, crash: "10:00:50", back: "10:01:40" };
    check(&death, &["10:01:00 success"], 1);
    let death = Death { back: "10:02:10", ..death };
    check(&death, &["10:01:00 missed outage"], 0);
}

/// What was admitted by a node that died and not launched, and the attempts as which the next start launches it, if its
/// lease ends `lost` times before it has taken up everything.
fn launched_after_the_restart(lost: usize) -> (usize, Vec<u32>) {
    Cluster::tell(SEED, at("10:00:00"), async |mut cluster| {
        cluster
            .create(with(cron("one", "1 10 * * *"), |policy| policy.delivery = Delivery::AtMostOnce))
            .await;
        // More that hang than there are places: some are admitted and wait.
        for number in 0..1_120 {
            let name = format!("filler {number}");
            cluster.targets.always(&name, Deed::Hangs);
            let schedule = with(cron(&name, "1 10 * * *"), |policy| policy.delivery = Delivery::AtMostOnce);
            cluster.create(schedule).await;
        }
        cluster.start("a").await;
        cluster.until(at("10:01:02")).await;
        cluster.crash("a").await;
        let before: Vec<String> = cluster.targets.launched().into_iter().map(|one| one.schedule).collect();
        let (world, mut looks) = (Arc::clone(&cluster.world), 0);
        cluster.store.on_commit(move |doing| {
            // The first look of each start finds everything, the second that nothing is left.
            let is_second = doing == "taking over runs" && {
                looks += 1;
                usize::is_multiple_of(looks, 2) && looks <= 2 * lost
            };
            if is_second {
                world.step(SignedDuration::from_secs(4));
            }
            Fate::Commits
        });
        cluster.start("a").await;
        cluster.until(at("10:01:30")).await;
        let after = cluster.targets.launched();
        let waited = cluster.runs().await.into_iter().filter(|row| !before.contains(&row.schedule_name));
        let waited: Vec<String> = waited.map(|row| row.schedule_name).collect();
        let nodes = Store::nodes(&cluster.store).await.expect("the store answers").len();
        assert_eq!(nodes, 2 + lost, "each lease is one of its own");
        let again: Vec<u32> =
            after.iter().filter(|one| waited.contains(&one.schedule)).map(|one| one.attempt).collect();
        (waited.len(), again)
    })
}

#[test]
fn what_was_admitted_and_not_launched_is_launched_after_the_restart() {
    // The journal of the dead node has no line of the run, and speaks for the lease under which it was admitted.
    let (waited, launched) = launched_after_the_restart(0);
    assert!(waited >= 20, "some waited for their place");
    assert_eq!(launched, vec![1; waited], "each is launched, as its first attempt");
}

#[test]
fn a_node_whose_lease_ends_while_it_starts_joins_again_and_knows_what_it_had_found() {
    for lost in [1, 3] {
        let (waited, launched) = launched_after_the_restart(lost);
        assert_eq!(launched, vec![1; waited], "after {lost} leases");
    }
}

/// A schedule of every minute over an outage from 10:01:30 to 10:06:30.
fn outage(catch_up: CatchUp, expected: &[&str]) {
    let ledger = Cluster::tell(SEED, at("10:00:00"), async |mut cluster| {
        let schedule: Schedule = with(cron("one", "* * * * *"), |policy| policy.catch_up = catch_up);
        cluster.create(schedule).await;
        cluster.start("a").await;
        cluster.until(at("10:01:30")).await;
        cluster.crash("a").await;
        cluster.until(at("10:06:30")).await;
        cluster.start("a").await;
        cluster.until(at("10:07:40")).await;
        cluster.ledger().await
    });
    assert_eq!(ledger, expected, "{catch_up:?}");
}

#[test]
fn a_missed_stretch_is_caught_up_as_the_schedule_wants() {
    outage(
        CatchUp::Skip,
        &[
            "10:01:00 success",
            "10:02:00 missed outage",
            "10:03:00 missed outage",
            "10:04:00 missed outage",
            "10:05:00 missed outage",
            "10:06:00 success",
            "10:07:00 success",
        ],
    );
    outage(
        CatchUp::RunOnce,
        &[
            "10:01:00 success",
            "10:02:00 missed caught_up",
            "10:03:00 missed caught_up",
            "10:04:00 missed caught_up",
            "10:05:00 missed caught_up",
            "10:06:00 success",
            "10:07:00 success",
        ],
    );
    let all = ["10:01", "10:02", "10:03", "10:04", "10:05", "10:06", "10:07"]
        .map(|tick| format!("{tick}:00 success"));
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    outage(CatchUp::Spread, &all);
}

/// What the audit log says of a schedule of every second over an outage of twenty seconds, all of them armed before.
fn short_outage(catch_up: CatchUp) -> (usize, Vec<String>) {
    Cluster::tell(SEED, at("10:00:00"), async |mut cluster| {
        let schedule = with(cron("one", "* * * * * *"), |policy| {
            policy.catch_up = catch_up;
            policy.missed_audit_max = 2;
            policy.overlap = Overlap::Allow;
        });
        cluster.create(schedule).await;
        cluster.start("a").await;
        cluster.until(at("10:00:05")).await;
        cluster.crash("a").await;
        cluster.until(at("10:00:25")).await;
        cluster.start("a").await;
        cluster.until(at("10:00:26")).await;
        let scope = Scope::org(cluster.org);
        let listed = cluster.store.audit(scope, AuditFilter::default(), Cut::first(1_000)).await;
        let events = listed.expect("the store answers").rows.into_iter().rev();
        let told = events.filter(|event| event.kind != "schedule.created");
        (
            cluster.targets.launched().len(),
            told.map(|event| format!("{} {}", event.kind, event.detail)).collect(),
        )
    })
}

#[test]
fn an_outage_shorter_than_the_window_is_one_decision_with_few_words() {
    let told = |why: &str| {
        let missed = |second: u32| {
            let tick = format!("2026-01-01T10:00:{second:02}Z");
            format!("schedule.missed the tick at {tick} was missed: {why}")
        };
        let more =
            "schedule.missed 17 more ticks from 2026-01-01T10:00:08Z to 2026-01-01T10:00:24Z were missed";
        let caught_up = "schedule.caught_up 1 run for 20 late ticks";
        vec![missed(6), missed(7), more.to_owned(), caught_up.to_owned()]
    };
    let by = "2026-01-01T10:00:25Z";
    let once = told(&format!("one run for all 20 late ticks: that of {by}"));
    assert_eq!(short_outage(CatchUp::RunOnce), (7, once));
    let skip = told(&format!("nobody looked before the schedule's later tick at {by} was due as well"));
    assert_eq!(short_outage(CatchUp::Skip), (7, skip));
    let all = vec!["schedule.caught_up 20 runs for 20 late ticks".to_owned()];
    assert_eq!(short_outage(CatchUp::RunAll).1, all);
}

#[test]
fn a_stop_waits_for_what_runs_and_leaves_the_rest_for_the_next_start() {
    for (takes, left, expected) in [(20, 0, "10:01:00 success"), (60, 1, "10:01:00 running")] {
        let (stopped, ledger, then) = Cluster::tell(SEED, at("10:00:00"), async |mut cluster| {
            cluster.drain_for = Duration::from_secs(30);
            cluster.targets.always("one", Deed::succeeds(takes));
            cluster.create(cron("one", "* * * * *")).await;
            cluster.start("a").await;
            cluster.until(at("10:01:10")).await;
            let stopped = cluster.stop("a").await;
            let ledger = cluster.ledger().await;
            cluster.start("a").await;
            cluster.pass(Duration::from_secs(1)).await;
            (stopped, ledger, cluster.ledger().await)
        });
        assert_eq!((stopped.left_in_flight, &*ledger), (left, &[expected.to_owned()][..]));
        assert_eq!(then.len(), 1, "no tick was due while it stopped: {then:?}");
    }
}

#[test]
fn nothing_is_admitted_while_a_node_stops() {
    let launched = Cluster::tell(SEED, at("10:00:00"), async |mut cluster| {
        cluster.targets.always("slow", Deed::succeeds(25));
        cluster.create(cron("slow", "0 1 10 * * *")).await;
        cluster.create(cron("late", "10 1 10 * * *")).await;
        cluster.start("a").await;
        cluster.until(at("10:01:05")).await;
        cluster.stop("a").await;
        assert!(cluster.now() > at("10:01:20"));
        cluster.targets.launched()
    });
    assert_eq!(launched.iter().map(|one| &*one.schedule).collect::<Vec<_>>(), ["slow"]);
}
