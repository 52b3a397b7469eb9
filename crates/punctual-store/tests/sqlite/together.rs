//! Goal: what lies together is planned and written together, and what is apart does not disturb each other.
//! Method: schedules of different seconds in a real file; which of them are given to a planner, where their rows come to lie,
//! and which writes verdicts outlive that were made ahead.

use std::sync::Arc;

use jiff::SignedDuration;
use punctual_plan::{Dependency, Fence, Outcome, Policy, RunKey, Schedule, ScheduleKey};
use punctual_store::{Ahead, Ask, Commit, PlannableBatch, Store, Whose};

use crate::bench::{Bench, at};

/// Schedules by turns at the fiftieth and the fifth second of each minute, planned to 10:01:05, of which nothing is late: the
/// first half wants planning from 10:01:20 on, the others from 10:01:35 on.
async fn by_turns(count: usize) -> (Bench, Fence, Vec<ScheduleKey>) {
    let bench = Bench::new();
    let fence = bench.join("one").await;
    let mut keys = Vec::new();
    for number in 0..count {
        let spec = if number % 2 == 0 { "50 * * * * *" } else { "5 * * * * *" };
        keys.push(bench.create(&format!("s{number}"), spec, at("10:00:05")).await);
    }
    bench.execute("UPDATE runs SET status = 'success', look_at = NULL");
    (bench, fence, keys)
}

fn keys_of(batch: &PlannableBatch) -> Vec<ScheduleKey> {
    batch.ready.iter().map(|one| one.schedule).collect()
}

#[tokio::test]
async fn many_that_want_planning_take_their_neighbours_along() {
    let (bench, _, keys) = by_turns(500).await;
    let few = Ask { limit: 100, ..Ask::all(at("10:01:20")) };
    let first: Vec<ScheduleKey> = keys.iter().copied().step_by(2).take(100).collect();
    assert_eq!(
        keys_of(&bench.store.plannable(few).await.expect("an answer")),
        first,
        "few are taken as they come"
    );
    let many = |now| Ask { limit: 240, ..Ask::all(at(now)) };
    let swept = bench.store.plannable(many("10:01:20")).await.expect("an answer");
    assert_eq!(keys_of(&swept), keys[..240], "those beside each other");
    assert_eq!(swept.next_plan_at, Some(at("10:01:20")), "there are more");
    // One of which something is late is decided when it is time for it.
    bench.execute("UPDATE runs SET status = 'scheduled', look_at = fire_at WHERE schedule = 2");
    let swept = bench.store.plannable(many("10:01:20")).await.expect("an answer");
    assert!(!keys_of(&swept).contains(&ScheduleKey(2)) && keys_of(&swept).contains(&ScheduleKey(4)));
    // Whoever waits for too long comes before all who do not.
    let late = bench.store.plannable(many("10:01:31")).await.expect("an answer");
    assert!(late.ready.iter().all(|one| one.schedule.0 % 2 == 1), "{:?}", keys_of(&late));
    let of_others = Ask { whose: Whose::Late(SignedDuration::ZERO), ..many("10:01:20") };
    let of_others = bench.store.plannable(of_others).await.expect("an answer");
    assert!(of_others.ready.iter().all(|one| one.schedule.0 % 2 == 1), "only what is late is anybody's");
}

#[tokio::test]
async fn ticks_of_one_batch_lie_in_the_order_of_their_instants() {
    let (bench, fence, _) = by_turns(40).await;
    let plans = bench.plans(at("10:01:40")).await;
    assert_eq!(plans.len(), 40);
    let before = bench.count("SELECT max(key) FROM runs");
    let commits =
        bench.store.commit_plans(bench.batch(fence, at("10:01:40")), plans).await.expect("an answer");
    assert!(commits.iter().all(|commit| *commit == Commit::Done));
    let rows = format!("FROM runs WHERE key > {before}");
    assert_eq!(bench.count(&format!("SELECT count(*) {rows}")), 40);
    let of_second = |second: u32| format!("{rows} AND scheduled_for % 60 = {second}");
    let highest = bench.count(&format!("SELECT max(key) {}", of_second(50)));
    let lowest = bench.count(&format!("SELECT min(key) {}", of_second(5)));
    assert!(highest < lowest, "10:01:50 before 10:02:05");
}

/// Ticks at 10:00:20 and at 10:00:40.
const BUSY: &str = "20 0 10 * * *";
const OTHER: &str = "40 0 10 * * *";

/// A run in flight of a schedule, and verdicts that were made ahead over what is due later of another.
async fn judged_beside_a_run(bench: &Bench, busy: &Schedule, other: &Schedule) -> (Fence, RunKey, Ahead) {
    let fence = bench.join("one").await;
    bench.create_as(busy.clone(), at("10:00:05")).await.expect("an answer");
    let started = bench.admissions(at("10:00:20")).await;
    let run = started[0].admission.run;
    bench.store.admit(bench.batch(fence, at("10:00:20")), started).await.expect("an answer");
    bench.create_as(other.clone(), at("10:00:20")).await.expect("an answer");
    let moment = bench.store.moment().await.expect("an answer");
    let ahead = Ahead::new(moment, bench.admissions(at("10:00:40")).await);
    assert_eq!(ahead.admissions.len(), 1);
    (fence, run, ahead)
}

async fn stands_after_the_end(bench: &Bench, fence: Fence, run: RunKey, ahead: Ahead) -> bool {
    let reports = vec![bench.report(run, fence, Outcome::Succeeded)];
    let settled = bench.store.settle(bench.batch(fence, at("10:00:21")), reports).await.expect("an answer");
    assert_eq!(settled[0].commit, Commit::Done);
    bench.store.admit_ahead(bench.batch(fence, at("10:00:40")), ahead).await.expect("an answer").is_some()
}

#[tokio::test]
async fn a_verdict_made_ahead_stands_beside_the_end_of_another_schedule() {
    let bench = Bench::new();
    let (busy, other) = (bench.schedule("busy", BUSY), bench.schedule("other", OTHER));
    let (fence, run, ahead) = judged_beside_a_run(&bench, &busy, &other).await;
    assert!(stands_after_the_end(&bench, fence, run, ahead).await);
    assert!(bench.store.check().await.expect("an answer").is_empty());
}

#[tokio::test]
async fn a_verdict_made_ahead_does_not_outlive_the_end_of_what_it_depends_on() {
    let bench = Bench::new();
    let (busy, mut other) = (bench.schedule("busy", BUSY), bench.schedule("other", OTHER));
    let on_the_other = Dependency { on: vec![busy.id], timeout: SignedDuration::from_hours(1) };
    other.policy = Arc::new(Policy { depends_on: Some(on_the_other), ..Policy::default() });
    let (fence, run, ahead) = judged_beside_a_run(&bench, &busy, &other).await;
    assert!(!stands_after_the_end(&bench, fence, run, ahead).await);
}

#[tokio::test]
async fn a_verdict_made_ahead_does_not_outlive_the_end_of_its_own_schedule() {
    let bench = Bench::new();
    let fence = bench.join("one").await;
    bench.create("one", "*/20 * * * * *", at("10:00:05")).await;
    let started = bench.admissions(at("10:00:20")).await;
    let run = started[0].admission.run;
    bench.store.admit(bench.batch(fence, at("10:00:20")), started).await.expect("an answer");
    let moment = bench.store.moment().await.expect("an answer");
    let ahead = Ahead::new(moment, bench.admissions(at("10:00:40")).await);
    assert_eq!(ahead.admissions.len(), 1, "it would be skipped: its last run is in flight");
    assert!(!stands_after_the_end(&bench, fence, run, ahead).await);
    assert!(bench.ledger().contains("10:00:40 scheduled"), "{}", bench.ledger());
}

#[tokio::test]
async fn plain_starts_undo_no_verdict_but_those_over_their_own_schedules() {
    let bench = Bench::new();
    let fence = bench.join("one").await;
    for number in 0..140 {
        bench.create(&format!("s{number}"), "20,40 0 10 * * *", at("10:00:05")).await;
    }
    let moment = bench.store.moment().await.expect("an answer");
    let mut first = bench.admissions(at("10:00:20")).await;
    let second = first.split_off(70);
    // As if nothing had been started by then.
    let mut later = bench.admissions(at("10:00:40")).await;
    later.truncate(1);
    let call = async |admissions, now| {
        let ahead = Ahead::new(moment, admissions);
        bench.store.admit_ahead(bench.batch(fence, at(now)), ahead).await.expect("an answer")
    };
    assert_eq!(call(first, "10:00:20").await, Some(vec![Commit::Done; 70]));
    assert_eq!(call(second, "10:00:20").await, Some(vec![Commit::Done; 70]), "they are over other schedules");
    assert_eq!(call(later, "10:00:40").await, None, "its schedule has started a run since");
    let in_flight = || bench.count("SELECT count(*) FROM runs WHERE status = 'enqueued'");
    bench.store.living(punctual_store::Scope::Engine).await.expect("who reads waits for them");
    assert_eq!(in_flight(), 140);
    assert!(bench.store.check().await.expect("an answer").is_empty());
}

#[tokio::test]
async fn what_is_due_beside_starts_on_sheets_is_told_without_them() {
    let bench = Bench::new();
    let fence = bench.join("one").await;
    for number in 0..510 {
        bench.create(&format!("s{number}"), "20 0 10 * * *", at("10:00:05")).await;
    }
    bench.create("later", "21 0 10 * * *", at("10:00:05")).await;
    bench.create("again", "20,21 0 10 * * *", at("10:00:05")).await;
    let started = bench.admissions(at("10:00:20")).await;
    assert_eq!(started.len(), 511);
    bench.store.admit(bench.batch(fence, at("10:00:20")), started).await.expect("an answer");
    let none = bench.store.due(Ask::all(at("10:00:20"))).await.expect("an answer");
    assert!(none.rows.is_empty() && none.expired.is_empty());
    assert_eq!(none.next_look_at, Some(at("10:00:21")));
    // Of one that has just started the verdict over its next tick is another than that over a free one.
    let next = bench.admissions(at("10:00:21")).await;
    let mut verdicts: Vec<String> = next.iter().map(|one| format!("{:?}", one.admission.verdict)).collect();
    verdicts.sort();
    assert_eq!(next.len(), 2);
    assert!(verdicts[0].starts_with("Skip") && verdicts[1] == "Start", "{verdicts:?}");
}
