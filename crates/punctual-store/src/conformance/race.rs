//! Races: two nodes do the same at once, and exactly one of them has done it.

use std::collections::BTreeSet;
use std::sync::Arc;

use punctual_plan::{Action, BreakerRule, Object, Outcome, Queue};

use super::Backend;
use super::stage::{Shape, Stage, at, cron, id_of, node, seconds};
use crate::{AdmitCommit, Commit, Error, Store, Worker, Written};

/// How often each race is run: whoever wins, the outcome is the same.
const ROUNDS: usize = 8;

fn done(commits: &[&[Commit]]) -> usize {
    commits.iter().map(|batch| batch.iter().filter(|commit| **commit == Commit::Done).count()).sum()
}

/// Both carry out the same verdicts at once; gives back how many counted.
async fn both_admit<S: Store>(one: &Stage<S>, two: &Stage<S>, verdicts: [Vec<AdmitCommit>; 2]) -> usize {
    let now = verdicts[0][0].row.due.fire_at + seconds(1);
    let [first, second] = verdicts;
    let (store, batch) = (Arc::clone(&one.store), one.batch(now));
    let left = tokio::spawn(async move { store.admit(batch, first).await });
    let (store, batch) = (Arc::clone(&two.store), two.batch(now));
    let right = tokio::spawn(async move { store.admit(batch, second).await });
    let left = left.await.expect("no panic").expect("answers");
    let right = right.await.expect("no panic").expect("answers");
    done(&[&left, &right])
}

/// Two nodes plan the same schedule: one plan is written.
pub async fn one_of_two_planners_wins<B: Backend>(backend: &B) {
    let one = Stage::open(backend).await;
    let two = one.beside(backend).await;
    one.create(cron("one", "*/20 * * * * *"), at("10:00:05")).await;
    for round in 0..ROUNDS {
        let now = one.row("one").await.next_run_at.expect("it ticks") + seconds(45);
        let (first, second) = (one.plans(now).await, two.plans(now).await);
        if first.is_empty() {
            continue;
        }
        let (store, batch) = (Arc::clone(&one.store), one.batch(now));
        let left = tokio::spawn(async move { store.commit_plans(batch, first).await });
        let (store, batch) = (Arc::clone(&two.store), two.batch(now));
        let right = tokio::spawn(async move { store.commit_plans(batch, second).await });
        let left = left.await.expect("no panic").expect("answers");
        let right = right.await.expect("no panic").expect("answers");
        assert_eq!(done(&[&left, &right]), 1, "in round {round}");
    }
}

/// Many make schedules one by one at the same time: each is made, or refused for itself.
pub async fn of_many_who_make_schedules_each_is_answered_for_itself<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let mut making = Vec::new();
    for number in 0..40 {
        let mut schedule = cron(&format!("s{}", number % 30), "1 10 * * *");
        schedule.id = id_of(&format!("id {number}"));
        let (store, scope) = (Arc::clone(&stage.store), stage.scope());
        let write = stage.creation(schedule, at("10:00:05"));
        making.push(tokio::spawn(async move { store.write_schedules(scope, vec![write]).await }));
    }
    let (mut made, mut taken) = (0, 0);
    for one in making {
        match one.await.expect("no panic").expect("answers").pop() {
            Some(Ok(_)) => made += 1,
            Some(Err(Error::NameTaken { .. })) => taken += 1,
            other => panic!("{other:?}"),
        }
    }
    assert_eq!((made, taken), (30, 10));
    assert_eq!(stage.ledger("s29").await, "10:01:00 scheduled");
}

/// Two nodes admit the same row: one starts it.
pub async fn one_of_two_admitters_wins<B: Backend>(backend: &B) {
    let one = Stage::open(backend).await;
    let two = one.beside(backend).await;
    for round in 0..ROUNDS {
        one.create(cron(&format!("s{round}"), "1 10 * * *"), at("10:00:05")).await;
    }
    let verdicts = [one.judge(at("10:01:00")).await, two.judge(at("10:01:00")).await];
    assert_eq!(both_admit(&one, &two, verdicts).await, ROUNDS);
    for round in 0..ROUNDS {
        assert_eq!(one.row(&format!("s{round}")).await.state.counters.admitted, 1);
    }
    assert!(one.store.check().await.expect("answers").is_empty());
}

/// Two nodes start runs of two schedules that share a guard and a lane: one starts.
pub async fn a_guard_and_a_lane_are_claimed_once<B: Backend>(backend: &B) {
    let one = Stage::open(backend).await;
    let two = one.beside(backend).await;
    for name in ["a", "b"] {
        let schedule = cron(name, "1 10 * * *").policy(|policy| {
            policy.guard = Some("disk".to_owned());
            policy.lane = Some("tape".to_owned());
        });
        one.create(schedule, at("10:00:05")).await;
    }
    let (mut first, mut second) = (one.judge(at("10:01:00")).await, two.judge(at("10:01:00")).await);
    let claims = first[0].admission.claims.clone();
    assert_eq!(claims.len(), 2);
    first.truncate(1);
    second.remove(0);
    // Read before the other started, it would have been judged so.
    second[0].admission.verdict = punctual_plan::Verdict::Start;
    second[0].admission.claims = claims;
    assert_eq!(both_admit(&one, &two, [first, second]).await, 1);
    assert!(one.store.check().await.expect("answers").is_empty());
}

/// Two nodes probe the same breaker: one does.
pub async fn a_probe_is_claimed_once<B: Backend>(backend: &B) {
    let one = Stage::open(backend).await;
    let two = one.beside(backend).await;
    for name in ["a", "b"] {
        let mut schedule = cron(name, "*/20 * * * * *");
        let target = Arc::make_mut(&mut schedule.target);
        target.name = "shared".to_owned();
        target.breaker = BreakerRule { threshold: 1, reset_after: seconds(10) };
        one.create(schedule, at("10:00:05")).await;
    }
    for run in one.admit(at("10:00:20")).await {
        one.settle(run, Outcome::Exited { code: 1 }, at("10:00:21")).await;
    }
    let (mut first, mut second) = (one.judge(at("10:00:40")).await, two.judge(at("10:00:40")).await);
    first.truncate(1);
    second.remove(0);
    second[0].admission.verdict = punctual_plan::Verdict::Start;
    let probe =
        first[0].admission.claims.iter().filter(|claim| matches!(claim, punctual_plan::Claim::Probe(..)));
    second[0].admission.claims = probe.cloned().collect();
    assert_eq!(both_admit(&one, &two, [first, second]).await, 1);
}

/// The same report through two nodes counts once.
pub async fn one_of_two_reports_counts<B: Backend>(backend: &B) {
    let one = Stage::open(backend).await;
    let two = one.beside(backend).await;
    one.create(cron("one", "1 10 * * *"), at("10:00:05")).await;
    let run = one.admit(at("10:01:00")).await[0];
    let report = one.report(run, Outcome::Succeeded, at("10:01:05")).await;
    let (store, batch, reports) = (Arc::clone(&one.store), one.batch(at("10:01:05")), vec![report.clone()]);
    let left = tokio::spawn(async move { store.settle(batch, reports).await });
    let (store, batch, reports) = (Arc::clone(&two.store), two.batch(at("10:01:05")), vec![report]);
    let right = tokio::spawn(async move { store.settle(batch, reports).await });
    let left = left.await.expect("no panic").expect("answers").remove(0).commit;
    let right = right.await.expect("no panic").expect("answers").remove(0).commit;
    assert_eq!(done(&[&[left], &[right]]), 1);
    assert_eq!(one.row("one").await.state.counters.runs, 1);
}

/// Settlements of many runs of one target from two nodes are all counted.
pub async fn settlements_from_two_nodes_are_all_counted<B: Backend>(backend: &B) {
    let one = Stage::open(backend).await;
    let two = one.beside(backend).await;
    let schedule = cron("one", "1 10 * * *").policy(|policy| {
        policy.overlap = punctual_plan::Overlap::Allow;
        policy.max_consecutive_failures = None;
    });
    let key = one.create(schedule, at("10:00:05")).await;
    for number in 0..2 * ROUNDS {
        one.trigger(key, &format!("k{number}"), at("10:00:10")).await;
    }
    let runs = one.admit(at("10:00:10")).await;
    let mut reports = Vec::new();
    for run in &runs {
        reports.push(one.report(*run, Outcome::Exited { code: 1 }, at("10:00:11")).await);
    }
    let rest = reports.split_off(ROUNDS);
    let (store, batch) = (Arc::clone(&one.store), one.batch(at("10:00:11")));
    let left = tokio::spawn(async move { store.settle(batch, reports).await });
    let (store, batch) = (Arc::clone(&two.store), two.batch(at("10:00:11")));
    let right = tokio::spawn(async move { store.settle(batch, rest).await });
    left.await.expect("no panic").expect("answers");
    right.await.expect("no panic").expect("answers");
    let counters = one.row("one").await.state.counters;
    assert_eq!((counters.runs, counters.failures), (2 * ROUNDS as u64, 2 * ROUNDS as u64));
}

/// An edit and a plan of what it edits: one of them is stale.
pub async fn an_edit_and_a_plan_do_not_both_count<B: Backend>(backend: &B) {
    let one = Stage::open(backend).await;
    let two = one.beside(backend).await;
    for round in 0..ROUNDS {
        let name = format!("s{round}");
        one.create(cron(&name, "*/20 * * * * *"), at("10:00:05")).await;
        let mut plans = two.plans(at("10:00:50")).await;
        plans.retain(|plan| plan.definition.name == name);
        let edit = one.edit(&name, cron(&name, "*/30 * * * * *"), at("10:00:50")).await;
        let (store, scope) = (Arc::clone(&one.store), one.scope());
        let left = tokio::spawn(async move { store.write_schedules(scope, vec![edit]).await });
        let (store, batch) = (Arc::clone(&two.store), two.batch(at("10:00:50")));
        let right = tokio::spawn(async move { store.commit_plans(batch, plans).await });
        let written = left.await.expect("no panic").expect("answers").remove(0).expect("accepted");
        let planned = right.await.expect("no panic").expect("answers").remove(0);
        let is_edited = written != Written::Stale;
        assert_ne!(is_edited, planned == Commit::Done, "in round {round}");
        assert_eq!(one.row(&name).await.definition.version, if is_edited { 2 } else { 1 });
    }
    assert!(one.store.check().await.expect("answers").is_empty());
}

/// Two people make a schedule of one name: one does.
pub async fn a_name_is_given_once<B: Backend>(backend: &B) {
    let one = Stage::open(backend).await;
    let two = one.beside(backend).await;
    for round in 0..ROUNDS {
        let (mut first, mut second) = (cron("x", "1 10 * * *"), cron("x", "1 10 * * *"));
        (first.name, second.name) = (format!("s{round}"), format!("s{round}"));
        (first.id, second.id) = (id_of(&format!("a{round}")), id_of(&format!("b{round}")));
        let writes = [one.creation(first, at("10:00:05")), two.creation(second, at("10:00:05"))];
        let [left, right] = writes;
        let (store, scope) = (Arc::clone(&one.store), one.scope());
        let left = tokio::spawn(async move { store.write_schedules(scope, vec![left]).await });
        let (store, scope) = (Arc::clone(&two.store), two.scope());
        let right = tokio::spawn(async move { store.write_schedules(scope, vec![right]).await });
        let left = left.await.expect("no panic").expect("answers").remove(0);
        let right = right.await.expect("no panic").expect("answers").remove(0);
        assert!(left.is_ok() != right.is_ok(), "{left:?} {right:?}");
    }
}

/// Two people make schedules at once in an org that may have only so many: no more than that are made.
pub async fn no_more_schedules_are_made_than_an_org_may_have<B: Backend>(backend: &B) {
    let one = Stage::open(backend).await;
    let two = one.beside(backend).await;
    let mut left = 0;
    for round in 0..ROUNDS {
        let max = (round + 1) * 3;
        one.limits(&format!(r#"{{"schedules":{max}}}"#)).await;
        let make = |stage: &Stage<B::Store>, by: &str| {
            let name = |number| format!("{by}{round}-{number}");
            let schedule = |number| stage.creation(cron(&name(number), "1 10 * * *"), at("10:00:05"));
            let (store, scope, writes) =
                (Arc::clone(&stage.store), stage.scope(), (0..2).map(schedule).collect());
            tokio::spawn(async move { store.write_schedules(scope, writes).await })
        };
        let (first, second) = (make(&one, "a"), make(&two, "b"));
        let first = first.await.expect("no panic").expect("answers");
        let second = second.await.expect("no panic").expect("answers");
        left += first.iter().chain(&second).filter(|made| made.is_err()).count();
        assert_eq!(left, round + 1, "{first:?} {second:?}");
    }
}

/// Workers that ask at once share the runs among them.
pub async fn a_run_is_leased_to_one_worker<B: Backend>(backend: &B) {
    let one = Stage::open(backend).await;
    let two = one.beside(backend).await;
    for number in 0..2 * ROUNDS {
        let queue = Action::Queue(Queue {
            queue: "work".to_owned(),
            worker_type: None,
            prompt: None,
            repo_url: None,
            branch: "main".to_owned(),
            context: Object::new(),
            config: Object::new(),
        });
        one.create(cron(&format!("s{number}"), "1 10 * * *").action(queue), at("10:00:05")).await;
    }
    one.admit(at("10:01:00")).await;
    let worker = |name: &str| Worker {
        queue: "work".to_owned(),
        name: name.to_owned(),
        limit: 2 * ROUNDS,
        until: at("10:02:00"),
        now: at("10:01:01"),
    };
    let (store, scope, first) = (Arc::clone(&one.store), one.scope(), worker("a"));
    let left = tokio::spawn(async move { store.lease(scope, first).await });
    let (store, scope, second) = (Arc::clone(&two.store), two.scope(), worker("b"));
    let right = tokio::spawn(async move { store.lease(scope, second).await });
    let mut leased = left.await.expect("no panic").expect("answers");
    leased.extend(right.await.expect("no panic").expect("answers"));
    leased.extend(one.store.lease(one.scope(), worker("c")).await.expect("answers"));
    let runs: BTreeSet<_> = leased.iter().map(|lease| lease.launch.run).collect();
    assert_eq!((leased.len(), runs.len()), (2 * ROUNDS, 2 * ROUNDS));
}

/// Nodes that join at once have fences of their own.
pub async fn every_node_has_its_own_fence<B: Backend>(backend: &B) {
    let one = Stage::open(backend).await;
    let two = one.beside(backend).await;
    let mut joining = Vec::new();
    for number in 0..ROUNDS {
        let store = Arc::clone(if number % 2 == 0 { &one.store } else { &two.store });
        joining.push(tokio::spawn(async move { store.join(node(&format!("n{number}"), seconds(60))).await }));
    }
    let mut fences = BTreeSet::new();
    for joined in joining {
        fences.insert(joined.await.expect("no panic").expect("it joins").fence);
    }
    assert_eq!(fences.len(), ROUNDS);
}

/// Somebody else's change is announced; one's own is not.
pub async fn a_change_of_another_is_announced<B: Backend>(backend: &B) {
    let one = Stage::open(backend).await;
    let two = one.beside(backend).await;
    let store = Arc::clone(&two.store);
    let told = tokio::spawn(async move { store.changed().await });
    one.create(cron("one", "1 10 * * *"), at("10:00:05")).await;
    told.await.expect("it was told");
}

/// A verdict to wait is carried out after the other run has ended: nobody would wake it any more, so it is due at once.
pub async fn a_wait_for_what_has_ended_is_due_at_once<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let schedule =
        cron("one", "*/20 * * * * *").policy(|policy| policy.overlap = punctual_plan::Overlap::Queue);
    stage.create(schedule, at("10:00:05")).await;
    let first = stage.admit(at("10:00:20")).await[0];
    let verdicts = stage.judge(at("10:00:40")).await;
    stage.settle(first, Outcome::Succeeded, at("10:00:40")).await;
    assert_eq!(stage.carry_out(verdicts, at("10:00:41")).await, [Commit::Done]);
    assert!(stage.ledger("one").await.contains("10:00:40 waiting"));
    stage.admit(at("10:00:41")).await;
    assert!(stage.ledger("one").await.contains("10:00:40 enqueued"));
}

/// The same for a tick that waits for its upstream, and for one that waits for room under a limit.
pub async fn a_wait_for_an_upstream_or_a_place_is_due_at_once<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    stage.limits(r#"{"runs_in_flight":1,"over":"wait"}"#).await;
    stage.create(cron("up", "*/20 * * * * *"), at("10:00:05")).await;
    let first = stage.admit(at("10:00:20")).await[0];
    let on_up = punctual_plan::Dependency::on(vec![id_of("up")]);
    stage
        .create(
            cron("down", "30 0 10 * * *").policy(|policy| policy.depends_on = Some(on_up)),
            at("10:00:25"),
        )
        .await;
    stage.create(cron("room", "30 0 10 * * *"), at("10:00:25")).await;
    let verdicts = stage.judge(at("10:00:30")).await;
    assert_eq!(verdicts.len(), 2);
    stage.settle(first, Outcome::Succeeded, at("10:00:30")).await;
    stage.carry_out(verdicts, at("10:00:31")).await;
    assert_eq!(stage.ledger("down").await, "10:00:30 waiting");
    assert_eq!(stage.ledger("room").await, "10:00:30 waiting");
    assert_eq!(stage.due(at("10:00:31")).await.rows.len(), 2);
}
