//! Nodes: fences only rise, leases end, shards are spread, and only the dead are inherited from.

use std::collections::BTreeSet;

use jiff::SignedDuration;
use punctual_plan::{Fence, Outcome, RunState};

use super::Backend;
use super::copy::dump;
use super::stage::{Stage, at, cron, node, seconds};
use crate::{
    ANSWER_MARGIN_S, Alive, Attempt, Batch, Commit, Error, HANDED_BACK, Node, SHARDS, Shards, Started, Store,
};

fn share(shards: Shards) -> Vec<u16> {
    match shards {
        Shards::All => (0..SHARDS).collect(),
        Shards::Some(shards) => shards,
    }
}

/// A node whose clock agrees with the store's.
fn alive(fence: Fence) -> Alive {
    Alive { fence, ahead: SignedDuration::ZERO }
}

/// Each node that joins has a higher fence than all before it.
pub async fn each_join_raises_the_fence<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let mut last = stage.fence;
    for name in ["a", "b", "c"] {
        let joined = stage.store.join(node(name, seconds(60))).await.expect("it joins");
        assert!(joined.fence > last && joined.may_plan);
        last = joined.fence;
    }
    let nodes = stage.store.nodes().await.expect("answers");
    assert_eq!((nodes.len(), nodes[0].id.as_str(), nodes[0].fence), (4, "c", last));
}

/// A heartbeat renews the lease from the store's own clock.
pub async fn a_heartbeat_renews_the_lease<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let beat = stage.store.heartbeat(alive(stage.fence)).await.expect("it lives");
    assert_eq!(beat.lease_until, beat.now + seconds(3_600));
    assert!(
        beat.may_plan && share(beat.shards).len() == usize::from(SHARDS),
        "a single node has every shard"
    );
}

/// A heartbeat keeps what the node knows of its clock.
pub async fn a_heartbeat_notes_the_node_s_clock<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let ahead = async || stage.store.nodes().await.expect("answers")[0].ahead;
    assert_eq!(ahead().await, None, "nothing is known before the first one");
    for millis in [-200, 0, 7] {
        let told = SignedDuration::from_millis(millis);
        stage.store.heartbeat(Alive { fence: stage.fence, ahead: told }).await.expect("it lives");
        assert_eq!(ahead().await, Some(told));
    }
}

/// A node whose lease is over, or who left, is told so.
pub async fn a_lost_lease_is_told<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let dead = stage.store.join(node("dead", seconds(-1))).await.expect("it joins").fence;
    assert!(matches!(stage.store.heartbeat(alive(dead)).await, Err(Error::LeaseLost)));
    stage.store.leave(stage.fence).await.expect("it leaves");
    assert!(matches!(stage.store.heartbeat(alive(stage.fence)).await, Err(Error::LeaseLost)));
    let nodes = stage.store.nodes().await.expect("answers");
    let left = nodes.iter().find(|node| node.fence == stage.fence).expect("it is shown");
    assert!(left.left_at.is_some() && left.shards == 0);
}

/// Every shard has one node, and the shares differ by less than a fifth.
pub async fn shards_are_spread_evenly<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let mut fences = vec![stage.fence];
    for name in ["b", "c"] {
        fences.push(stage.store.join(node(name, seconds(3_600))).await.expect("it joins").fence);
    }
    let mut shares: Vec<Vec<u16>> = Vec::new();
    for _ in 0..4 {
        shares.clear();
        for fence in &fences {
            shares.push(share(stage.store.heartbeat(alive(*fence)).await.expect("it lives").shards));
        }
    }
    let all: BTreeSet<u16> = shares.iter().flatten().copied().collect();
    assert_eq!(all.len(), usize::from(SHARDS), "no shard is without a node");
    assert_eq!(shares.iter().map(Vec::len).sum::<usize>(), usize::from(SHARDS), "no shard has two");
    let fair = f64::from(SHARDS) / 3.0;
    assert!(shares.iter().all(|share| (share.len() as f64 - fair).abs() <= fair * 0.2), "{shares:?}");
}

/// The shards of a node that left go to the others.
pub async fn the_shards_of_a_node_that_left_are_taken<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let other = stage.store.join(node("b", seconds(3_600))).await.expect("it joins").fence;
    for _ in 0..3 {
        for fence in [stage.fence, other] {
            stage.store.heartbeat(alive(fence)).await.expect("it lives");
        }
    }
    stage.store.leave(other).await.expect("it leaves");
    let beat = stage.store.heartbeat(alive(stage.fence)).await.expect("it lives");
    assert_eq!(share(beat.shards).len(), usize::from(SHARDS));
}

/// The runs of a dead node go to the one that asks, under its fence; those of a living one stay.
pub async fn only_the_runs_of_the_dead_are_taken_over<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    stage.create(cron("one", "1 10 * * *"), at("10:00:05")).await;
    // Whoever launches it, now or after a take-over, knows when others give it up.
    let given_up_at = at("11:01:00") + seconds(ANSWER_MARGIN_S);
    assert_eq!(stage.due(at("10:01:00")).await.rows[0].launch.answer_by, given_up_at);
    let run = stage.admit(at("10:01:00")).await[0];
    let other = stage.beside(backend).await;
    assert!(other.store.take_over(other.fence, 10).await.expect("answers").is_empty(), "it lives");
    stage.store.leave(stage.fence).await.expect("it leaves");
    let taken = other.store.take_over(other.fence, 10).await.expect("answers");
    assert_eq!(taken.len(), 1);
    assert_eq!((taken[0].launch.run, taken[0].launch.attempt, taken[0].held_by), (run, 1, stage.fence));
    assert_eq!(taken[0].launch.answer_by, given_up_at);
    assert!(other.store.take_over(other.fence, 10).await.expect("answers").is_empty(), "once");
    let report = stage.report(run, Outcome::Succeeded, at("10:01:10")).await;
    assert_eq!(stage.send(vec![report], at("10:01:10")).await[0].commit, Commit::Stale, "it is fenced off");
    assert_eq!(other.settle(run, Outcome::InDoubt, at("10:01:11")).await.commit, Commit::Done);
    assert!(matches!(other.run(run).await.run.state, RunState::Retrying { attempt: 2, .. }));
}

/// Who is dead takes nothing over.
pub async fn a_dead_node_takes_nothing_over<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let dead = stage.store.join(node("dead", seconds(-1))).await.expect("it joins").fence;
    assert!(matches!(stage.store.take_over(dead, 10).await, Err(Error::LeaseLost)));
}

/// A node without a lease writes no plan, no admission and no launch, whether it left, was forgotten or is dead; what it
/// wrote before it is still answered.
pub async fn a_node_without_a_lease_writes_nothing<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    stage.create(cron("one", "*/20 * * * * *"), at("10:00:05")).await;
    let run = stage.admit(at("10:00:20")).await[0];
    let (plans, verdicts) = (stage.plans(at("10:00:50")).await, stage.judge(at("10:00:50")).await);
    let started = vec![Started { run, attempt: 1, at: at("10:00:21") }];
    let answered = stage.batch(at("10:00:50"));
    assert!(stage.store.admit(answered, Vec::new()).await.expect("it lives").is_empty());
    let dead = stage.store.join(node("dead", seconds(-1))).await.expect("it joins").fence;
    let unknown = Fence(dead.0 + 100);
    stage.store.leave(stage.fence).await.expect("it leaves");
    let before = dump(&*stage.store).await;
    for fence in [stage.fence, dead, unknown] {
        let batch = || Batch { fence, ..stage.batch(at("10:00:51")) };
        let planned = stage.store.commit_plans(batch(), plans.clone()).await;
        let admitted = stage.store.admit(batch(), verdicts.clone()).await;
        let marked = stage.store.mark_running(batch(), started.clone()).await;
        for answer in [planned, admitted, marked] {
            assert!(matches!(answer, Err(Error::LeaseLost)), "{fence:?}: {answer:?}");
        }
    }
    assert_eq!(dump(&*stage.store).await, before);
    assert!(stage.store.admit(answered, Vec::new()).await.expect("it was done before").is_empty());
    let other = stage.beside(backend).await;
    assert_eq!(other.commit(plans, at("10:00:51")).await, [Commit::Done], "whoever lives goes on");
}

/// What a node gives back before it launched it is told as such to whoever takes it over; what runs is not given back.
pub async fn what_was_handed_back_is_told_to_who_takes_it_over<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    for name in ["one", "two"] {
        stage.create(cron(name, "1 10 * * *"), at("10:00:05")).await;
    }
    let runs = stage.admit(at("10:01:00")).await;
    let started = vec![Started { run: runs[0], attempt: 1, at: at("10:01:00") }];
    stage.store.mark_running(stage.batch(at("10:01:01")), started).await.expect("answers");
    let held = |run| Attempt { run, attempt: 1, fence: stage.fence };
    stage.store.hand_back(runs.iter().copied().map(held).collect()).await.expect("answers");
    let other = stage.beside(backend).await;
    let taken = other.store.take_over(other.fence, 10).await.expect("answers");
    let taken: Vec<_> = taken.iter().map(|one| (one.launch.run, one.launch.attempt, one.held_by)).collect();
    assert_eq!(taken, [(runs[1], 1, HANDED_BACK)], "its node still lives");
    assert_eq!(other.settle(runs[1], Outcome::Succeeded, at("10:01:05")).await.commit, Commit::Done);
    assert!(other.store.check().await.expect("answers").is_empty());
}

/// A run that waits for its retry is nobody's to take over.
pub async fn a_pending_retry_is_not_taken_over<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    stage.create(cron("one", "1 10 * * *"), at("10:00:05")).await;
    let run = stage.admit(at("10:01:00")).await[0];
    stage.settle(run, Outcome::LaunchFailed { error: "no".to_owned() }, at("10:01:01")).await;
    let other = stage.beside(backend).await;
    stage.store.leave(stage.fence).await.expect("it leaves");
    assert!(other.store.take_over(other.fence, 10).await.expect("answers").is_empty());
    assert_eq!(other.admit(at("10:01:05")).await, [run], "whoever is there admits it");
}

/// A node with an older tz database does not plan; a newer one makes the others stop.
pub async fn an_older_tz_database_does_not_plan<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let with = |id: &str, tz: &str| Node { tz_version: tz.to_owned(), ..node(id, seconds(3_600)) };
    assert!(!stage.store.join(with("old", "2020a")).await.expect("it joins").may_plan);
    assert!(stage.store.heartbeat(alive(stage.fence)).await.expect("it lives").may_plan);
    assert!(stage.store.join(with("new", "2091c")).await.expect("it joins").may_plan);
    assert!(!stage.store.heartbeat(alive(stage.fence)).await.expect("it lives").may_plan);
    assert_eq!(stage.store.status().await.expect("answers").tz_version, "2091c");
}

/// Runs say by which tz database they were planned.
pub async fn a_run_names_its_tz_database<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    stage.create(cron("one", "*/20 * * * * *"), at("10:00:05")).await;
    stage.plan(at("10:00:50")).await;
    let rows = stage.runs("one").await;
    assert!(rows.iter().all(|row| row.tz_version.is_some()), "{rows:?}");
}
