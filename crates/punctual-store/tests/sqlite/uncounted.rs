//! Goal: an end that is in its row alone counts like any other, whoever asks, and is counted once.
//! Method: a herd that is large enough for it in a real file; the counters as the store shows them beside those that lie in the
//! table, after each thing that can come next.

use punctual_plan::{Cursor, Fence, Outcome, RunStatus, ScheduleKey, Status};
use punctual_store::{Commit, Cut, ScheduleFilter, ScheduleRow, Scope, Store, Table, Write, Written};

use crate::bench::{Bench, at, unchanged};

/// As many schedules as it takes for their ends to wait, and one more.
const HERD: usize = 501;

/// A herd that ticks every ten seconds, under a fence.
async fn herd() -> (Bench, Fence) {
    let bench = Bench::new();
    let fence = bench.join("one").await;
    for number in 0..HERD {
        bench.create(&format!("s{number}"), "*/10 * * * * *", at("10:00:05")).await;
    }
    (bench, fence)
}

/// Lets everything start that is due, and end in some way before its starts are in their rows.
async fn run_all(bench: &Bench, fence: Fence, now: &str, outcome: Outcome) {
    let admissions = bench.admissions(at(now)).await;
    assert_eq!(admissions.len(), HERD);
    let report = |run| punctual_store::Report { at: at(now), ..bench.report(run, fence, outcome.clone()) };
    let reports = admissions.iter().map(|one| report(one.admission.run)).collect();
    let (started, ended) = tokio::join!(
        bench.store.admit(bench.batch(fence, at(now)), admissions),
        bench.store.settle(bench.batch(fence, at(now)), reports),
    );
    assert!(started.expect("an answer").iter().all(|commit| *commit == Commit::Done));
    assert!(ended.expect("an answer").iter().all(|one| one.commit == Commit::Done));
}

/// What the states in the table count, all together.
fn counted(bench: &Bench) -> usize {
    bench.count("SELECT sum(run_count) FROM schedule_state") as usize
}

async fn shown(bench: &Bench) -> Vec<ScheduleRow> {
    let cut = Cut::first(HERD as u32);
    bench.store.schedules(Scope::Engine, ScheduleFilter::default(), cut).await.expect("a list").rows
}

/// Every schedule has so many runs, all good, the last at some time, and nothing in the ledger is wrong.
async fn all_have(bench: &Bench, runs: u64, last: &str) {
    for row in shown(bench).await {
        let counters = row.state.counters;
        assert_eq!(
            (counters.runs, counters.successes, counters.admitted),
            (runs, runs, runs),
            "{}",
            row.key.0
        );
        assert_eq!(row.launched_through, Some(at(last)));
        assert_eq!(row.last_success.map(|(when, _)| when), Some(at(last)));
        assert_eq!(row.state.last_finish, Some((at(last), RunStatus::Success)));
    }
    let findings = bench.store.check().await.expect("a bill");
    assert!(findings.is_empty(), "{findings:?}");
}

#[tokio::test]
async fn ends_of_many_are_counted_with_their_plans() {
    let (bench, fence) = herd().await;
    run_all(&bench, fence, "10:00:10", Outcome::Succeeded).await;
    assert_eq!(counted(&bench), 0, "they wait");
    all_have(&bench, 1, "10:00:10").await;
    let plans = bench.plans(at("10:00:40")).await;
    assert_eq!(plans.len(), HERD);
    bench.store.commit_plans(bench.batch(fence, at("10:00:40")), plans).await.expect("an answer");
    assert_eq!(counted(&bench), HERD);
    all_have(&bench, 1, "10:00:10").await;
}

#[tokio::test]
async fn of_each_schedule_one_end_waits_at_most() {
    let (bench, fence) = herd().await;
    run_all(&bench, fence, "10:00:10", Outcome::Succeeded).await;
    run_all(&bench, fence, "10:00:20", Outcome::Succeeded).await;
    assert_eq!(counted(&bench), HERD, "the first were counted before the second");
    all_have(&bench, 2, "10:00:20").await;
}

#[tokio::test]
async fn a_failure_counts_what_went_well_before_it() {
    let (bench, fence) = herd().await;
    run_all(&bench, fence, "10:00:10", Outcome::Succeeded).await;
    run_all(&bench, fence, "10:00:20", Outcome::Exited { code: 3 }).await;
    assert_eq!(counted(&bench), 2 * HERD);
    for row in shown(&bench).await {
        let counters = row.state.counters;
        assert_eq!((counters.runs, counters.successes, counters.consecutive_failures), (2, 1, 1));
        assert_eq!(row.last_success.map(|(when, _)| when), Some(at("10:00:10")));
    }
    // What fails is not left to a plan, and neither is the good end after it.
    run_all(&bench, fence, "10:00:30", Outcome::Succeeded).await;
    assert_eq!(counted(&bench), 3 * HERD);
    assert!(shown(&bench).await.iter().all(|row| row.state.counters.consecutive_failures == 0));
}

#[tokio::test]
async fn a_start_after_it_counts_what_has_ended() {
    let (bench, fence) = herd().await;
    run_all(&bench, fence, "10:00:10", Outcome::Succeeded).await;
    let mut next = bench.admissions(at("10:00:20")).await;
    next.truncate(1);
    bench.store.admit(bench.batch(fence, at("10:00:20")), next).await.expect("an answer");
    assert_eq!(counted(&bench), 1);
    let row = shown(&bench).await.into_iter().find(|row| row.launched_through == Some(at("10:00:20")));
    assert_eq!(row.map(|row| (row.state.counters.runs, row.state.counters.admitted)), Some((1, 2)));
}

#[tokio::test]
async fn a_change_after_it_counts_what_has_ended() {
    let (bench, fence) = herd().await;
    run_all(&bench, fence, "10:00:10", Outcome::Succeeded).await;
    let (now, row) = (at("10:00:15"), shown(&bench).await.remove(0));
    let pause = Write::Change {
        schedule: row.key,
        version: 1,
        from: row.state.cursor,
        definition: None,
        status: Some(Status::PausedManual { by: "ada".to_owned(), note: String::new() }),
        is_deleted: false,
        changed: unchanged(Cursor { decided_through: now, ..row.state.cursor }),
        plan: None,
    };
    assert_eq!(bench.write(pause, now).await.expect("an answer"), Written::Schedule(row.key));
    assert_eq!(counted(&bench), 1);
}

#[tokio::test]
async fn whoever_copies_the_states_finds_them_counted() {
    let (bench, fence) = herd().await;
    run_all(&bench, fence, "10:00:10", Outcome::Succeeded).await;
    let page = bench.store.read_table(Table::ScheduleState, None, 10).await.expect("a page");
    assert_eq!((page.len(), counted(&bench)), (10, 10));
    let after = page.last().cloned();
    bench.store.read_table(Table::ScheduleState, after, HERD).await.expect("the rest");
    assert_eq!(counted(&bench), HERD);
}

#[tokio::test]
async fn what_is_limited_in_its_runs_never_waits() {
    let bench = Bench::new();
    let fence = bench.join("one").await;
    for number in 0..HERD {
        let mut definition = bench.schedule(&format!("s{number}"), "*/10 * * * * *");
        if let punctual_plan::When::Ticks(timing) = &mut definition.when {
            timing.bounds.max_runs = (number == 7).then_some(5);
        }
        bench.create_as(definition, at("10:00:05")).await.expect("a schedule");
    }
    run_all(&bench, fence, "10:00:10", Outcome::Succeeded).await;
    assert_eq!(counted(&bench), 1);
    assert_eq!(bench.count("SELECT schedule FROM schedule_state WHERE run_count = 1"), 8);
    let row = shown(&bench).await.into_iter().find(|row| row.key == ScheduleKey(8));
    assert_eq!(row.map(|row| row.state.counters.runs), Some(1));
}
