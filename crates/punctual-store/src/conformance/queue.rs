//! The queue: a run is leased to one worker, under a token of its own.

use jiff::Timestamp;
use punctual_plan::{Action, Object, Outcome, Queue, Schedule};

use super::Backend;
use super::stage::{Shape, Stage, at, cron, seconds};
use crate::{AttemptToken, Commit, Held, Report, Scope, Store, Worker};

/// A schedule whose runs wait for workers.
fn queued(name: &str) -> Schedule {
    cron(name, "1 10 * * *").action(Action::Queue(Queue {
        queue: "work".to_owned(),
        worker_type: None,
        prompt: None,
        repo_url: None,
        branch: "main".to_owned(),
        context: Object::new(),
        config: Object::new(),
    }))
}

fn worker(now: Timestamp) -> Worker {
    let (queue, name, until) = ("work".to_owned(), "w".to_owned(), now + seconds(30));
    Worker { queue, name, limit: 10, until, now }
}

fn by_holder(lease: &crate::Leased, outcome: Outcome, at: Timestamp) -> Report {
    let token = AttemptToken::Holder(lease.token.clone());
    let (run, attempt) = (lease.launch.run, lease.launch.attempt);
    Report { run, attempt, token, outcome, started_at: None, at, output: None }
}

/// Each admitted run of a queue goes to one worker.
pub async fn a_run_is_leased_once<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    stage.create(queued("one"), at("10:00:05")).await;
    let lease = async || stage.store.lease(stage.scope(), worker(at("10:01:05"))).await.expect("answers");
    assert!(lease().await.is_empty(), "what is not admitted cannot be leased");
    let run = stage.admit(at("10:01:00")).await[0];
    let leased = lease().await;
    assert_eq!((leased.len(), leased[0].launch.run, leased[0].launch.attempt), (1, run, 1));
    assert!(!leased[0].token.is_empty());
    assert!(lease().await.is_empty());
}

/// A worker takes from its own queue, within its limit.
pub async fn a_worker_takes_from_its_own_queue<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    for name in ["a", "b", "c"] {
        stage.create(queued(name), at("10:00:05")).await;
    }
    stage.admit(at("10:01:00")).await;
    let other = Worker { queue: "other".to_owned(), ..worker(at("10:01:05")) };
    assert!(stage.store.lease(stage.scope(), other).await.expect("answers").is_empty());
    let two = Worker { limit: 2, ..worker(at("10:01:05")) };
    assert_eq!(stage.store.lease(stage.scope(), two.clone()).await.expect("answers").len(), 2);
    assert_eq!(stage.store.lease(stage.scope(), two).await.expect("answers").len(), 1);
}

/// The token settles the run, and nothing else of the worker does.
pub async fn the_token_settles_a_leased_run<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    stage.create(queued("one"), at("10:00:05")).await;
    let run = stage.admit(at("10:01:00")).await[0];
    let leased = stage.store.lease(stage.scope(), worker(at("10:01:05"))).await.expect("answers").remove(0);
    let mut forged = by_holder(&leased, Outcome::Succeeded, at("10:01:10"));
    forged.token = AttemptToken::Holder("forged".to_owned());
    assert_eq!(stage.send(vec![forged], at("10:01:10")).await[0].commit, Commit::Stale);
    let told = by_holder(&leased, Outcome::Succeeded, at("10:01:10"));
    assert_eq!(stage.send(vec![told], at("10:01:10")).await[0].commit, Commit::Done);
    assert_eq!(stage.status(run).await, "success");
}

/// A lease that is not extended expires; one that is, is held on.
pub async fn a_lease_expires_unless_it_is_extended<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    stage.create(queued("one"), at("10:00:05")).await;
    stage.admit(at("10:01:00")).await;
    let leased = stage.store.lease(stage.scope(), worker(at("10:01:05"))).await.expect("answers").remove(0);
    assert_eq!(leased.until, at("10:01:35"));
    let held = |until| Held { run: leased.launch.run, token: leased.token.clone(), until };
    let extend = async |held| stage.store.extend_lease(stage.scope(), held).await.expect("answers");
    assert_eq!(extend(held(at("10:02:00"))).await, Commit::Done);
    assert!(stage.due(at("10:01:59")).await.expired.is_empty());
    let expired = stage.due(at("10:02:00")).await.expired;
    assert_eq!(expired.len(), 1);
    let wrong = Held { token: "wrong".to_owned(), ..held(at("10:09:00")) };
    assert_eq!(extend(wrong).await, Commit::Stale);
    stage.settle(expired[0].run, Outcome::Lost, at("10:02:01")).await;
    assert_eq!(extend(held(at("10:09:00"))).await, Commit::Stale, "it is over");
}

/// The late success of a worker whose lease expired closes the run while it is tried again.
pub async fn a_late_worker_may_still_succeed<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    stage.create(queued("one").policy(|policy| policy.retry_after = Some(seconds(5))), at("10:00:05")).await;
    let run = stage.admit(at("10:01:00")).await[0];
    let first = stage.store.lease(stage.scope(), worker(at("10:01:05"))).await.expect("answers").remove(0);
    stage.settle(run, Outcome::Lost, at("10:01:40")).await;
    stage.admit(at("10:01:45")).await;
    let second = stage.store.lease(stage.scope(), worker(at("10:01:46"))).await.expect("answers").remove(0);
    assert!(second.token != first.token && second.launch.attempt == 2);
    let failed = by_holder(&first, Outcome::Reported { error: "no".to_owned() }, at("10:01:47"));
    assert_eq!(stage.send(vec![failed], at("10:01:47")).await[0].commit, Commit::Stale);
    let late = by_holder(&first, Outcome::Succeeded, at("10:01:48"));
    assert_eq!(stage.send(vec![late], at("10:01:48")).await[0].commit, Commit::Done);
    assert_eq!(stage.status(run).await, "success");
}

/// A cancelled run is taken from its worker.
pub async fn a_cancelled_run_is_taken_from_its_worker<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    stage.create(queued("one"), at("10:00:05")).await;
    let run = stage.admit(at("10:01:00")).await[0];
    let leased = stage.store.lease(stage.scope(), worker(at("10:01:05"))).await.expect("answers").remove(0);
    stage.settle(run, Outcome::Cancelled { by: "ada".to_owned() }, at("10:01:06")).await;
    assert_eq!(stage.status(run).await, "cancelled/cancelled");
    let held = Held { run, token: leased.token.clone(), until: at("10:05:00") };
    assert_eq!(stage.store.extend_lease(stage.scope(), held).await.expect("answers"), Commit::Stale);
    let late = by_holder(&leased, Outcome::Succeeded, at("10:01:07"));
    assert_eq!(stage.send(vec![late], at("10:01:07")).await[0].commit, Commit::Stale);
}

/// A worker of another org gets nothing.
pub async fn a_worker_of_another_org_gets_nothing<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    stage.create(queued("one"), at("10:00:05")).await;
    stage.admit(at("10:01:00")).await;
    let other: Scope = stage.other("other").await;
    assert!(stage.store.lease(other.clone(), worker(at("10:01:05"))).await.expect("answers").is_empty());
    let leased = stage.store.lease(stage.scope(), worker(at("10:01:05"))).await.expect("answers").remove(0);
    let held = Held { run: leased.launch.run, token: leased.token, until: at("10:05:00") };
    assert_eq!(stage.store.extend_lease(other, held).await.expect("answers"), Commit::Stale);
}
