//! Effects: what an admission does to other runs, in its own transaction.

use punctual_plan::{Effect, Outcome, Overlap, QUEUE_MAX, admit};

use super::Backend;
use super::stage::{Shape, Stage, at, cron, id_of, seconds};
use crate::{AdmitCommit, AuditFilter, Cut, Store};

/// Under `cancel` a tick ends the run in flight and starts in its place.
pub async fn a_tick_cancels_the_run_in_flight<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let schedule = cron("one", "*/20 * * * * *").policy(|policy| policy.overlap = Overlap::Cancel);
    stage.create(schedule, at("10:00:05")).await;
    let first = stage.admit(at("10:00:20")).await[0];
    let second = stage.admit(at("10:00:40")).await[0];
    assert_eq!(stage.status(first).await, "cancelled/cancelled");
    assert_eq!(stage.admit(at("10:00:40")).await, [second], "the end of the other woke it");
    assert_eq!(stage.status(second).await, "enqueued");
    assert_eq!(stage.row("one").await.state.counters.runs, 1);
}

/// A later tick under `cancel` ends those that wait.
pub async fn a_later_tick_ends_those_that_wait<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let schedule = cron("one", "*/20 * * * * *").policy(|policy| policy.overlap = Overlap::Cancel);
    stage.create(schedule, at("10:00:05")).await;
    stage.admit(at("10:00:20")).await;
    let second = stage.admit(at("10:00:40")).await[0];
    // Nobody has looked at the one that was woken when the next is judged.
    let mut batch = stage.due(at("10:01:00")).await;
    batch.rows.retain(|row| row.due.run != second);
    let row = batch.rows.remove(0);
    let admission = admit(std::slice::from_ref(&row.due), &mut batch.world).remove(0);
    assert!(matches!(admission.effects[..], [Effect::EndWait(..)]), "{admission:?}");
    stage.carry_out(vec![AdmitCommit { admission, row }], at("10:01:00")).await;
    assert_eq!(stage.status(second).await, "skipped/superseded");
    let ledger = stage.ledger("one").await;
    assert!(ledger.starts_with("10:00:20 cancelled/cancelled | 10:00:40 skipped/superseded"), "{ledger}");
}

/// In a lane that schedules share, what another's tick ends is booked on the schedule that it belongs to.
pub async fn a_wait_in_a_shared_lane_ends_for_its_own_schedule<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let sharing = |name: &str, spec: &str, overlap| {
        cron(name, spec).policy(|policy| {
            policy.overlap = overlap;
            policy.lane = Some("disk".to_owned());
        })
    };
    stage.create(sharing("one", "20,50 0 10 * * *", Overlap::Cancel), at("10:00:05")).await;
    let last = sharing("two", "30 0 10 1 1 *", Overlap::Queue);
    let two = last.timing(|timing| timing.bounds.end_at = Some(at("10:00:40")));
    stage.create(two, at("10:00:05")).await;
    stage.admit(at("10:00:20")).await;
    let second = stage.admit(at("10:00:30")).await[0];
    assert_eq!(stage.status(second).await, "waiting");
    stage.admit(at("10:00:50")).await;
    assert_eq!(stage.status(second).await, "skipped/superseded");
    let filter = AuditFilter { run: Some(second), ..AuditFilter::default() };
    let events = stage.store.audit(stage.scope(), filter, Cut::first(10)).await.expect("the store answers");
    assert_eq!(events.rows.iter().map(|row| row.schedule).collect::<Vec<_>>(), [Some(id_of("two"))]);
    assert_eq!(stage.row("two").await.state.status.name(), "exhausted", "it was the last of its runs");
}

/// A tick that starts ends the pending retry of an earlier one.
pub async fn a_tick_supersedes_a_pending_retry<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let schedule = cron("one", "*/20 * * * * *").policy(|policy| policy.retry_after = Some(seconds(60)));
    stage.create(schedule, at("10:00:05")).await;
    let first = stage.admit(at("10:00:20")).await[0];
    stage.settle(first, Outcome::Exited { code: 1 }, at("10:00:21")).await;
    assert_eq!(stage.status(first).await, "retrying/exit_code");
    stage.admit(at("10:00:40")).await;
    assert_eq!(stage.status(first).await, "failed/superseded");
    assert!(stage.due(at("10:00:50")).await.rows.is_empty(), "the retry does not come any more");
}

/// A retry that has come and waits for a guard is superseded like one whose time has not come.
pub async fn a_tick_supersedes_a_retry_that_waits<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let guarded = |name: &str, spec: &str| {
        cron(name, spec).policy(|policy| {
            policy.guard = Some("disk".to_owned());
            policy.retry_after = Some(seconds(5));
        })
    };
    stage.create(guarded("one", "*/20 * * * * *"), at("10:00:05")).await;
    stage.create(guarded("two", "25 0 10 * * *"), at("10:00:05")).await;
    let first = stage.admit(at("10:00:20")).await[0];
    stage.settle(first, Outcome::Exited { code: 1 }, at("10:00:21")).await;
    let other = stage.admit(at("10:00:25")).await[0];
    assert_eq!(stage.admit(at("10:00:26")).await, [first]);
    assert_eq!(stage.status(first).await, "waiting", "another schedule holds the guard");
    // The tick and the retry that the freed guard woke are judged together.
    stage.settle(other, Outcome::Succeeded, at("10:00:40")).await;
    stage.admit(at("10:00:40")).await;
    assert_eq!(stage.ledger("one").await.split(" | ").next(), Some("10:00:20 failed/superseded"));
    let world = stage.due(at("10:00:40")).await.world;
    assert!(world.schedules.values().all(|standing| standing.retrying.is_empty()), "{world:?}");
}

/// Under `queue` a retry keeps its turn before later ticks.
pub async fn a_retry_keeps_its_turn_in_a_queue<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let schedule = cron("one", "*/20 * * * * *").policy(|policy| {
        policy.overlap = Overlap::Queue;
        policy.retry_after = Some(seconds(30));
    });
    stage.create(schedule, at("10:00:05")).await;
    let first = stage.admit(at("10:00:20")).await[0];
    stage.settle(first, Outcome::Exited { code: 1 }, at("10:00:21")).await;
    let second = stage.admit(at("10:00:40")).await[0];
    assert_eq!(stage.status(second).await, "waiting");
    assert_eq!(stage.admit(at("10:00:51")).await, [first]);
    assert_eq!(stage.status(first).await, "enqueued");
    stage.settle(first, Outcome::Succeeded, at("10:00:52")).await;
    assert_eq!(stage.admit(at("10:00:52")).await, [second]);
}

/// A retry whose wait is over has been launched before: it fails, it is not skipped.
pub async fn a_retry_that_waited_too_long_fails<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let schedule = cron("one", "1 10 * * *").policy(|policy| {
        policy.retry_after = Some(seconds(5));
        policy.run_timeout = seconds(3 * 86_400);
    });
    let key = stage.create(schedule, at("10:00:05")).await;
    let first = stage.admit(at("10:01:00")).await[0];
    stage.settle(first, Outcome::Exited { code: 1 }, at("10:01:01")).await;
    let manual = stage.trigger(key, "beside", at("10:01:02")).await;
    assert_eq!(stage.admit(at("10:01:02")).await, [manual]);
    assert_eq!(stage.admit(at("10:01:06")).await, [first]);
    assert_eq!(stage.status(first).await, "waiting", "another run holds the lane");
    let tomorrow = at("10:01:06") + seconds(86_400);
    assert_eq!(stage.admit(tomorrow).await, [first]);
    assert_eq!(stage.status(first).await, "failed/waited_too_long");
}

/// Only so many runs wait behind one; the next is skipped.
pub async fn a_queue_has_an_end<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let schedule = cron("one", "1 10 * * *").policy(|policy| policy.overlap = Overlap::Queue);
    let key = stage.create(schedule, at("10:00:05")).await;
    let mut runs = Vec::new();
    for number in 0..QUEUE_MAX + 2 {
        runs.push(stage.trigger(key, &format!("r{number}"), at("10:00:10")).await);
    }
    stage.admit(at("10:00:10")).await;
    let (mut waiting, mut full) = (0, 0);
    for run in runs {
        match stage.status(run).await.as_str() {
            "enqueued" => {}
            "skipped/queue_full" => full += 1,
            _ => waiting += 1,
        }
    }
    assert_eq!((waiting, full), (QUEUE_MAX, 1));
}
