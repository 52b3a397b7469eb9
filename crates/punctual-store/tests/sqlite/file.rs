//! Goal: one process serves a file, others are noticed, and a damaged or newer file is refused in clear words.
//! Method: real files opened twice, altered by hand and with bytes overwritten.

use std::io::{Seek, SeekFrom, Write as _};
use std::path::PathBuf;
use std::time::Duration;

use jiff::SignedDuration;
use punctual_store::{Access, Alive, Ask, Error, RunFilter, Scope, Sqlite, Store};
use tempfile::TempDir;

use crate::bench::{Bench, at};

/// Nobody waits longer than this for what should come within milliseconds.
const TOLD_WITHIN: Duration = Duration::from_secs(5);

#[tokio::test]
async fn a_change_by_another_process_is_noticed() {
    let bench = Bench::new();
    let other = Sqlite::open(bench.store.path(), Access::Visit).unwrap();
    bench.create("one", "0 0 * * *", at("10:00:00")).await;
    tokio::time::timeout(TOLD_WITHIN, other.changed()).await.expect("it is told");
}

#[tokio::test]
async fn a_second_process_that_wants_to_serve_is_told_who_does() {
    let bench = Bench::with(Access::Serve);
    assert!(bench.store.is_served());
    let refused = Sqlite::open(bench.store.path(), Access::Serve).map(|_| ()).expect_err("one is enough");
    assert!(matches!(refused, Error::InUse { pid: Some(pid), .. } if pid == std::process::id()), "{refused}");
    Sqlite::open(bench.store.path(), Access::Visit).expect("a visitor is welcome");
}

#[tokio::test]
async fn who_serves_after_another_takes_over_at_once() {
    let bench = Bench::with(Access::Serve);
    let fence = bench.join("first").await;
    bench.create("one", "*/20 * * * * *", at("10:00:05")).await;
    let now = at("10:00:20");
    bench.store.admit(bench.batch(fence, now), bench.admissions(now).await).await.unwrap();
    let bench = bench.reopened(Access::Serve);
    let second = bench.join("second").await;
    assert!(matches!(
        bench.store.heartbeat(Alive { fence, ahead: SignedDuration::ZERO }).await,
        Err(Error::LeaseLost)
    ));
    assert_eq!(bench.store.take_over(second, 10).await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_database_of_a_newer_version_is_refused_as_it_is() {
    let bench = Bench::new();
    bench.execute("INSERT INTO migrations VALUES (99, 'the future', '', 0)");
    let refused = Sqlite::open(bench.store.path(), Access::Visit).map(|_| ()).expect_err("it is newer");
    assert!(matches!(refused, Error::Newer { found: 99, .. }), "{refused}");
}

#[tokio::test]
async fn a_damaged_page_is_named_and_stops_no_process() {
    let (path, folder) = damaged("runs").await;
    let store = Sqlite::open(&path, Access::Visit).expect("other pages are whole");
    let runs = store.runs(Scope::Engine, RunFilter::default(), punctual_store::Cut::first(10)).await;
    let error = runs.expect_err("the table of runs is damaged");
    assert!(matches!(error, Error::Damaged { .. }), "{error}");
    assert!(error.hint().is_some_and(|hint| hint.contains("backup")), "{error}");
    assert!(!error.is_transient());
    drop((store, folder));
}

#[tokio::test]
async fn a_damaged_page_is_no_definition_that_cannot_be_read() {
    let (path, folder) = damaged("schedule_versions").await;
    let store = Sqlite::open(&path, Access::Visit).expect("other pages are whole");
    // Neither the schedules nor the runs are to blame: whoever was told so would pause the ones and skip the others.
    let due = store.due(Ask::all(at("10:00:20"))).await.map(|batch| batch.unreadable.len());
    assert!(matches!(due, Err(Error::Damaged { .. })), "{due:?}");
    let plannable = store.plannable(Ask::all(at("10:01:00"))).await.map(|batch| batch.unreadable.len());
    assert!(matches!(plannable, Err(Error::Damaged { .. })), "{plannable:?}");
    drop((store, folder));
}

/// A ledger of which the first page of a table is overwritten.
async fn damaged(table: &str) -> (PathBuf, TempDir) {
    let bench = Bench::new();
    for number in 0..200 {
        bench.create(&format!("schedule {number}"), "*/20 * * * * *", at("10:00:05")).await;
    }
    bench.execute("PRAGMA wal_checkpoint(TRUNCATE)");
    let path = bench.store.path().to_owned();
    let root: u32 = bench.count(&format!("SELECT rootpage FROM sqlite_schema WHERE name = '{table}'"));
    let size: u32 = bench.count("SELECT page_size FROM pragma_page_size");
    let folder = bench.closed();
    let mut file = std::fs::OpenOptions::new().write(true).open(&path).expect("the file is there");
    file.seek(SeekFrom::Start(u64::from(root - 1) * u64::from(size))).expect("the page is in the file");
    file.write_all(&vec![0xaa; size as usize]).expect("it may be written");
    (path, folder)
}

#[tokio::test]
async fn a_file_that_is_no_database_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.db");
    std::fs::write(&path, "this is a letter, not a ledger; ".repeat(100)).unwrap();
    let refused = Sqlite::open(&path, Access::Visit).map(|_| ()).expect_err("it is a letter");
    assert!(matches!(refused, Error::Damaged { .. } | Error::Open { .. }), "{refused}");
}

#[tokio::test]
async fn a_backup_is_a_whole_database_and_vacuum_keeps_everything() {
    let bench = Bench::with(Access::Serve);
    bench.create("one", "*/20 * * * * *", at("10:00:05")).await;
    let copy = bench.store.path().with_extension("copy");
    bench.store.backup(&copy).await.unwrap();
    bench.store.backup(&copy).await.expect_err("a copy is never overwritten");
    let restored = Sqlite::open(&copy, Access::Serve).unwrap();
    let runs =
        restored.runs(Scope::Engine, RunFilter::default(), punctual_store::Cut::first(10)).await.unwrap();
    assert_eq!(runs.rows.len(), 3);
    bench.store.vacuum().await.unwrap();
    assert_eq!(bench.ledger(), "10:00:20 scheduled | 10:00:40 scheduled | 10:01:00 scheduled");
}

#[tokio::test]
async fn an_audit_event_can_be_neither_changed_nor_removed() {
    let bench = Bench::new();
    bench.create("one", "0 0 * * *", at("10:00:00")).await;
    for statement in ["UPDATE audit_events SET detail = ''", "DELETE FROM audit_events"] {
        let refused = bench.try_execute(statement).expect_err(statement);
        assert!(refused.to_string().contains("append-only"), "{refused}");
    }
}

#[test]
fn instants_are_cut_to_what_the_database_keeps() {
    let precise: jiff::Timestamp = "2026-01-01T00:00:00.123456789Z".parse().unwrap();
    assert_eq!(punctual_store::to_microsecond(precise).to_string(), "2026-01-01T00:00:00.123456Z");
}
