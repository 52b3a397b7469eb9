//! Goal: starts that were committed on a sheet are starts, whatever becomes of the process that committed them.
//! Method: sheets written by hand into a real file, as a killed process leaves them; then the file is opened, or written
//! into by a process that was there before.

use punctual_plan::{Fence, Outcome, RunKey};
use punctual_store::{Access, Commit, Cut, RunFilter, RunRow, Scope, Store};

use crate::bench::{Bench, at};

/// The bytes of a sheet with one start, in the order that the file keeps them in: run, schedule, tick, deadline, trace,
/// place in the trace, whether it holds its schedule's lane.
fn sheet(run: i64, schedule: i64) -> String {
    let (tick, deadline) = (at("10:00:20").as_second(), at("11:00:00").as_microsecond());
    let mut bytes = Vec::new();
    for number in [run, schedule, tick, deadline] {
        bytes.extend(number.to_le_bytes());
    }
    bytes.extend(7_u128.to_le_bytes());
    bytes.extend(9_u64.to_le_bytes());
    bytes.push(1);
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

async fn only_run(bench: &Bench) -> RunRow {
    let filter = RunFilter { until: Some(at("10:00:20")), ..RunFilter::default() };
    bench
        .store
        .runs(Scope::Engine, filter, Cut::first(10))
        .await
        .expect("the ledger can be read")
        .rows
        .remove(0)
}

/// A ledger with one due row whose start is on a sheet, under a fence.
async fn left_behind() -> (Bench, Fence, RunKey) {
    let bench = Bench::new();
    let fence = bench.join("one").await;
    let schedule = bench.create("one", "*/20 * * * * *", at("10:00:05")).await;
    let run = only_run(&bench).await.run.key;
    bench.execute(&format!(
        "INSERT INTO sheets (fence, at, starts) VALUES ({}, {}, x'{}')",
        fence.0,
        at("10:00:20").as_microsecond(),
        sheet(run.0, schedule.0)
    ));
    (bench, fence, run)
}

#[tokio::test]
async fn whoever_opens_the_file_finds_the_starts_in_their_rows() {
    for access in [Access::Serve, Access::Visit] {
        let (bench, _, _) = left_behind().await;
        assert!(bench.ledger().starts_with("10:00:20 scheduled"), "{}", bench.ledger());
        let bench = bench.reopened(access);
        assert!(bench.ledger().starts_with("10:00:20 enqueued"), "{}", bench.ledger());
        let row = only_run(&bench).await;
        assert_eq!(row.enqueued_at, Some(at("10:00:20")));
        let trace = row.trace.expect("a trace").to_string();
        assert_eq!(trace, "00-00000000000000000000000000000007-0000000000000009-01");
        assert!(bench.store.check().await.expect("a bill").is_empty());
    }
}

#[tokio::test]
async fn whoever_writes_next_finds_the_starts_in_their_rows() {
    let (bench, fence, run) = left_behind().await;
    let report = bench.report(run, fence, Outcome::Succeeded);
    let settled =
        bench.store.settle(bench.batch(fence, at("10:00:21")), vec![report]).await.expect("an answer");
    assert_eq!(settled[0].commit, Commit::Done);
    assert!(bench.ledger().starts_with("10:00:20 success"), "{}", bench.ledger());
}

#[tokio::test]
async fn a_start_on_a_sheet_is_not_made_again() {
    let (bench, fence, _) = left_behind().await;
    let admissions = bench.admissions(at("10:00:20")).await;
    assert_eq!(admissions.len(), 1, "who only reads sees it as it was");
    let again = bench.store.admit(bench.batch(fence, at("10:00:20")), admissions).await.expect("an answer");
    assert_eq!(again, [Commit::Stale]);
}
