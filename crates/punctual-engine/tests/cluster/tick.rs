//! One node and its ticks: waits, retries, cancels, timeouts.

use punctual_engine::harness::{Cluster, Deed};
use punctual_plan::{Overlap, Schedule};

use crate::stage::{SEED, at, cron, seconds, with};

/// A story of one schedule on one node from 10:00:00 to `until`, against its ledger.
fn check(schedule: Schedule, script: &[Deed], until: &str, expected: &[&str]) {
    let script = script.to_vec();
    let ledger = Cluster::tell(SEED, at("10:00:00"), async |mut cluster| {
        let name = schedule.name.clone();
        cluster.targets.on(&name, move |_, number| {
            script.get(number as usize - 1).or(script.last()).cloned().unwrap_or(Deed::succeeds(0))
        });
        cluster.create(schedule).await;
        cluster.start("a").await;
        cluster.until(at(until)).await;
        cluster.ledger().await
    });
    assert_eq!(ledger, expected);
}

#[test]
fn each_tick_runs_at_its_instant() {
    check(cron("one", "* * * * *"), &[], "10:02:30", &["10:01:00 success", "10:02:00 success"]);
}

#[test]
fn what_runs_makes_the_next_tick_wait_skip_or_cancel() {
    let slow = [Deed::succeeds(90)];
    let schedule = |overlap| with(cron("one", "* * * * *"), |policy| policy.overlap = overlap);
    let skipped = ["10:01:00 success", "10:02:00 skipped overlap", "10:03:00 running"];
    check(schedule(Overlap::Skip), &slow, "10:03:20", &skipped);
    let queued = ["10:01:00 success", "10:02:00 running", "10:03:00 waiting"];
    check(schedule(Overlap::Queue), &slow, "10:03:20", &queued);
    let cancelled = ["10:01:00 cancelled cancelled", "10:02:00 cancelled cancelled", "10:03:00 running"];
    check(schedule(Overlap::Cancel), &slow, "10:03:20", &cancelled);
    let both = ["10:01:00 success", "10:02:00 running", "10:03:00 running"];
    check(schedule(Overlap::Allow), &slow, "10:03:20", &both);
}

#[test]
fn failures_are_repeated_as_the_schedule_wants() {
    let retried = with(cron("one", "1 10 * * *"), |policy| policy.retry_after = Some(seconds(20)));
    let deeds = [Deed::fails(5), Deed::fails(5), Deed::succeeds(5)];
    check(retried.clone(), &deeds, "10:01:10", &["10:01:00 retrying exit_code"]);
    check(retried, &deeds, "10:02:00", &["10:01:00 success"]);
    let refused = [Deed::Refuses("no such file".to_owned())];
    check(cron("one", "1 10 * * *"), &refused, "10:02:00", &["10:01:00 failed launch_failed"]);
    let timely = with(cron("one", "1 10 * * *"), |policy| policy.run_timeout = seconds(10));
    check(timely.clone(), &[Deed::succeeds(60)], "10:01:11", &["10:01:00 failed timeout"]);
    // Whoever never answers is given up half a minute after its time.
    check(timely.clone(), &[Deed::Hangs], "10:01:35", &["10:01:00 running"]);
    check(timely, &[Deed::Hangs], "10:01:45", &["10:01:00 failed lost"]);
}
