//! Claims and what follows from an end: lanes, guards, limits, `max_runs`, chains, dependencies, auto-disabling.

mod ground;

use ground::{at, batch, cron, ground, node, with};
use jiff::ToSpan as _;
use punctual_plan::{
    Chain, ChainOn, Dependency, Fence, Outcome, Overlap, Policy, RunKey, RunStatus, Schedule, Verdict, When,
    admit,
};
use punctual_store::{
    AdmitCommit, Ask, AttemptToken, Commit, Cut, DocumentKind, NewDocument, Report, RunFilter, Scope,
    Selector, Settled, Store,
};

const NOW: &str = "2026-03-01T10:00:00Z";

fn report(run: RunKey, fence: Fence, outcome: Outcome) -> Report {
    let at = at(NOW) + 62.seconds();
    Report {
        run,
        attempt: 1,
        token: AttemptToken::Node(fence),
        outcome,
        started_at: Some(at),
        at,
        output: None,
    }
}

#[tokio::test]
async fn a_guard_a_lane_and_a_limit_let_one_through() {
    let ground = ground().await;
    let (store, now) = (&ground.store, at(NOW));
    let later = now + 61.seconds();
    let fence = store.join(node("a")).await.unwrap().fence;
    let guarded = Policy { guard: Some("g".to_owned()), ..Policy::default() };
    let queued = Policy { lane: Some("l".to_owned()), overlap: Overlap::Queue, ..Policy::default() };
    for (name, policy) in [("guards", guarded), ("lanes", queued), ("limited", Policy::default())] {
        let org = ground.org(name).await;
        if name == "limited" {
            let body = r#"{"runs_in_flight":1,"runs_per_minute":5,"over":"wait","schedules":2}"#.to_owned();
            let limits =
                NewDocument { kind: DocumentKind::Limits, name: "org".to_owned(), body, replaces: None, now };
            store.put_document(Scope::org(org), limits).await.unwrap();
        }
        for one in ["one", "two"] {
            ground.make(org, with(cron(one, "* * * * *"), policy.clone()), now).await;
        }
    }
    // What two nodes read is the same; the second to commit finds the claims taken.
    let (first, second) = (ground.judged(later).await, ground.judged(later).await);
    assert!(
        store.admit(batch(fence, later), first.clone()).await.unwrap().iter().all(|one| *one == Commit::Done)
    );
    let again = store.admit(batch(fence, later), second.clone()).await.unwrap();
    let started = second.iter().zip(again).filter(|(commit, _)| commit.admission.verdict == Verdict::Start);
    let started: Vec<Commit> = started.map(|(_, commit)| commit).collect();
    assert_eq!(started, [Commit::Stale; 3]);
    let states = store.runs(Scope::Engine, RunFilter::default(), Cut::first(100)).await.unwrap();
    let count = |status| states.rows.iter().filter(|row| row.run.state.status() == status).count();
    assert_eq!((count(RunStatus::Enqueued), count(RunStatus::Waiting), count(RunStatus::Skipped)), (3, 2, 1));
    let flying = states.rows.iter().filter(|row| row.run.state.status() == RunStatus::Enqueued);
    let reports: Vec<Report> = flying.map(|row| report(row.run.key, fence, Outcome::Succeeded)).collect();
    let end = later + 1.second();
    assert!(
        store.settle(batch(fence, end), reports).await.unwrap().iter().all(|one| one.commit == Commit::Done)
    );
    // Both that waited are woken, and find room.
    let woken = ground.judged(end).await;
    assert_eq!(woken.len(), 2, "{woken:?}");
    assert_eq!(store.admit(batch(fence, end), woken).await.unwrap(), [Commit::Done, Commit::Done]);
    assert_eq!(store.check().await.unwrap(), []);
}

#[tokio::test]
async fn ends_bring_followers_wake_dependents_and_disable() {
    let ground = ground().await;
    let (store, now) = (&ground.store, at(NOW));
    let org = ground.org("acme").await;
    let fence = store.join(node("a")).await.unwrap().fence;
    let fragile = Policy { max_consecutive_failures: Some(1), ..Policy::default() };
    let upstream = with(cron("up", "* * * * *"), fragile);
    let depends = Policy { depends_on: Some(Dependency::on(vec![upstream.id])), ..Policy::default() };
    let mut follower: Schedule = cron("follower", "* * * * *");
    follower.when = When::Chain(Chain::new(upstream.id, ChainOn::Finish));
    let mut once = cron("once", "* * * * *");
    if let When::Ticks(timing) = &mut once.when {
        timing.bounds.max_runs = Some(1);
    }
    ground.make(org, upstream, now).await;
    ground.make(org, with(cron("down", "* * * * *"), depends), now).await;
    ground.make(org, follower, now).await;
    ground.make(org, once, now).await;
    let later = now + 61.seconds();
    let commits = ground.judged(later).await;
    let run_of = |name: &str| {
        let of = commits.iter().find(|commit| commit.row.launch.definition.name == name);
        of.expect("it is due").admission.run
    };
    let (up, once) = (run_of("up"), run_of("once"));
    assert!(
        store
            .admit(batch(fence, later), commits.clone())
            .await
            .unwrap()
            .iter()
            .all(|one| *one == Commit::Done)
    );
    let reports =
        vec![report(up, fence, Outcome::Exited { code: 1 }), report(once, fence, Outcome::Succeeded)];
    let settled: Vec<Settled> = store.settle(batch(fence, later), reports).await.unwrap();
    assert!(settled.iter().all(|one| one.commit == Commit::Done));
    let status = async |name: &str| {
        let row = store.schedule(Scope::org(org), Selector::Name(name.to_owned())).await.unwrap().unwrap();
        row.state.status.name()
    };
    assert_eq!((status("up").await, status("once").await), ("auto_disabled", "exhausted"));
    let due = ground.judged(later + 1.second()).await;
    let mut names: Vec<&str> = due.iter().map(|commit| commit.row.launch.definition.name.as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["down", "follower"], "the dependent is woken, the follower has a run");
    assert!(
        store
            .admit(batch(fence, later + 1.second()), due)
            .await
            .unwrap()
            .iter()
            .all(|one| *one == Commit::Done)
    );
    assert_eq!(store.check().await.unwrap(), []);
}

#[tokio::test]
async fn a_claim_that_was_taken_meanwhile_leaves_the_row_as_it_was() {
    let ground = ground().await;
    let (store, now) = (&ground.store, at(NOW));
    let org = ground.org("acme").await;
    let fence = store.join(node("a")).await.unwrap().fence;
    let guarded = Policy { guard: Some("g".to_owned()), ..Policy::default() };
    for name in ["one", "two"] {
        ground.make(org, with(cron(name, "* * * * *"), guarded.clone()), now).await;
    }
    ground.make(org, cron("three", "* * * * *"), now).await;
    let later = now + 61.seconds();
    // Each is judged as if it were alone.
    let mut alone = Vec::new();
    for place in 0..3 {
        let mut due = store.due(Ask::all(later)).await.unwrap();
        let row = due.rows.remove(place);
        let admission = admit(std::slice::from_ref(&row.due), &mut due.world).remove(0);
        alone.push(AdmitCommit { admission, row });
    }
    let commits = store.admit(batch(fence, later), alone.clone()).await.unwrap();
    assert_eq!(commits.iter().filter(|one| **one == Commit::Stale).count(), 1, "{commits:?}");
    let loser = commits.iter().position(|one| *one == Commit::Stale).unwrap();
    let row = store.run(Scope::org(org), alone[loser].admission.run).await.unwrap().unwrap();
    assert_eq!(row.run.state.status(), RunStatus::Scheduled);
    assert_eq!(store.check().await.unwrap(), []);
}
