//! What runs at present: runs that end under their programs, output on its way, runs that people cancel.

use punctual_plan::{Fence, Outcome, Overlap, RunKey};

use super::Backend;
use super::stage::{Shape, Stage, at, cron, seconds};
use crate::{Attempt, Cancellation, Commit, OUTPUT_MAX, Scope, Shown, Store};

fn cancellation(runs: &[RunKey], now: &str) -> Cancellation {
    Cancellation { runs: runs.to_vec(), by: "ada".to_owned(), now: at(now) }
}

/// A run in flight ends as cancelled, with its claims freed, who waited woken, and an event of who did it.
pub async fn a_person_cancels_a_run_in_flight<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let schedule = cron("one", "*/20 * * * * *").policy(|policy| policy.overlap = Overlap::Queue);
    stage.create(schedule, at("10:00:05")).await;
    let run = stage.admit(at("10:00:20")).await[0];
    let next = stage.admit(at("10:00:40")).await[0];
    assert_eq!(stage.status(next).await, "waiting");
    let Scope::Org { org, .. } = stage.scope() else { panic!("an org has a scope") };
    let scope = Scope::Org { org, user: Some("ada".to_owned()) };
    let wanted = cancellation(&[run, run, RunKey(999_999)], "10:00:45");
    let done = stage.store.cancel_runs(scope, wanted).await.expect("answers");
    assert_eq!(done, [Commit::Done, Commit::Stale, Commit::Stale]);
    assert_eq!(stage.status(run).await, "cancelled/cancelled");
    assert_eq!(stage.run(run).await.completed_at, Some(at("10:00:45")));
    assert_eq!(stage.admit(at("10:00:45")).await, [next], "the one that waited has its turn");
    assert_eq!(stage.status(next).await, "enqueued");
    assert_eq!(stage.events("run.cancelled").await, ["ada"]);
    let again = stage.store.cancel_runs(stage.scope(), cancellation(&[run], "10:00:46")).await;
    assert_eq!(again.expect("answers"), [Commit::Stale], "what is over stays as it is");
    assert!(stage.store.check().await.expect("answers").is_empty());
}

/// A row that waits or is to be repeated is closed; one of the future is left to its schedule.
pub async fn a_person_cancels_an_open_row<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let schedule = cron("one", "*/20 * * * * *").policy(|policy| policy.retry_after = Some(seconds(60)));
    stage.create(schedule, at("10:00:05")).await;
    let run = stage.admit(at("10:00:20")).await[0];
    stage.settle(run, Outcome::Exited { code: 3 }, at("10:00:22")).await;
    let ahead = stage.runs("one").await.last().expect("a tick ahead").run.key;
    let wanted = cancellation(&[ahead, run], "10:00:25");
    let done = stage.store.cancel_runs(stage.scope(), wanted).await.expect("answers");
    assert_eq!(done, [Commit::Stale, Commit::Done]);
    assert_eq!(stage.status(run).await, "cancelled/cancelled");
    assert_eq!(stage.status(ahead).await, "scheduled");
    assert!(stage.store.check().await.expect("answers").is_empty());
}

/// Nobody cancels a run of another org.
pub async fn another_org_cancels_nothing<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    stage.create(cron("one", "*/20 * * * * *"), at("10:00:05")).await;
    let run = stage.admit(at("10:00:20")).await[0];
    let other = stage.other("stranger").await;
    let done = stage.store.cancel_runs(other, cancellation(&[run], "10:00:25")).await;
    assert_eq!(done.expect("answers"), [Commit::Stale]);
    assert_eq!(stage.status(run).await, "enqueued");
    assert!(stage.events("run.cancelled").await.is_empty());
}

/// Of the attempts in hand, those are named whose run is over, repeated, or under another fence.
pub async fn attempts_that_are_over_are_named<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    for name in ["one", "two", "three"] {
        let schedule = cron(name, "1 10 * * *").policy(|policy| policy.retry_after = Some(seconds(5)));
        stage.create(schedule, at("10:00:05")).await;
    }
    let runs = stage.admit(at("10:01:00")).await;
    let attempt = |run| Attempt { run, attempt: 1, fence: stage.fence };
    let in_hand: Vec<Attempt> = runs.iter().map(|run| attempt(*run)).collect();
    assert!(stage.store.ended(in_hand.clone()).await.expect("answers").is_empty());
    assert!(stage.store.ended(Vec::new()).await.expect("answers").is_empty());
    stage.settle(runs[0], Outcome::Succeeded, at("10:01:01")).await;
    stage.settle(runs[1], Outcome::Exited { code: 3 }, at("10:01:01")).await;
    assert_eq!(stage.store.ended(in_hand.clone()).await.expect("answers"), runs[..2]);
    assert_eq!(stage.admit(at("10:01:06")).await, [runs[1]]);
    assert_eq!(stage.store.ended(in_hand).await.expect("answers"), runs[..2], "attempt 2 is another one");
    let other = Attempt { fence: Fence(stage.fence.0 + 1), ..attempt(runs[2]) };
    assert_eq!(stage.store.ended(vec![other]).await.expect("answers"), runs[2..]);
}

/// What a running attempt prints is shown within its bound, and not under another fence or after the end.
pub async fn output_is_shown_while_it_runs<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    stage.create(cron("one", "1 10 * * *"), at("10:00:05")).await;
    let run = stage.admit(at("10:01:00")).await[0];
    let shown = |text: &str| vec![Shown { run, attempt: 1, text: text.to_owned() }];
    stage.store.note_output(stage.fence, shown("begun\n")).await.expect("answers");
    assert_eq!(stage.run(run).await.output.as_deref(), Some("begun\n"));
    stage.store.note_output(stage.fence, shown(&"x".repeat(2 * OUTPUT_MAX))).await.expect("answers");
    assert!(stage.run(run).await.output.is_some_and(|text| text.len() <= OUTPUT_MAX));
    stage.store.note_output(stage.fence, shown("begun\nand gone on\n")).await.expect("answers");
    stage.store.note_output(Fence(stage.fence.0 + 1), shown("not mine\n")).await.expect("answers");
    assert_eq!(stage.run(run).await.output.as_deref(), Some("begun\nand gone on\n"));
    assert_eq!(stage.settle(run, Outcome::Succeeded, at("10:01:09")).await.commit, Commit::Done);
    stage.store.note_output(stage.fence, shown("too late\n")).await.expect("answers");
    assert_eq!(stage.run(run).await.output.as_deref(), Some("begun\nand gone on\n"));
}
