//! Goal: the ledger keeps its promises by its keys, guards and transactions, not by the good will of callers.
//! Method: a real file; two callers that read the same; rows altered by hand; statements made to fail.

mod bench;

use bench::{Bench, at};
use jiff::Timestamp;
use punctual_plan::{Admission, Fence, InFlight, Outcome, Policy, Situation, Verdict, World, admit, settle};
use punctual_store::{Access, Commit, Ended, Error, Selector, Sqlite, Started, Store};

#[tokio::test]
async fn a_created_schedule_has_its_first_window_armed() {
    let bench = Bench::new();
    bench.create("one", "*/20 * * * * *", at("10:00:05")).await;
    assert_eq!(bench.ledger(), "10:00:20 scheduled | 10:00:40 scheduled | 10:01:00 scheduled");
}

#[tokio::test]
async fn the_second_planner_to_commit_creates_no_run() {
    let bench = Bench::new();
    bench.create("one", "*/20 * * * * *", at("10:00:05")).await;
    let first = bench.plans(at("10:01:00")).await;
    let second = bench.plans(at("10:01:00")).await;
    assert_eq!(bench.store.commit_plans(first).await.unwrap(), [Commit::Done]);
    let planned = bench.ledger();
    assert_eq!(bench.store.commit_plans(second).await.unwrap(), [Commit::Stale]);
    assert_eq!(bench.ledger(), planned);
}

/// The unique key alone holds: the cursor says that nothing was planned, and still no tick gets a second entry.
#[tokio::test]
async fn a_cursor_set_back_by_hand_gives_no_tick_a_second_entry() {
    let bench = Bench::new();
    bench.create("one", "*/20 * * * * *", at("10:00:05")).await;
    let before = bench.ledger();
    bench.execute(&format!(
        "UPDATE schedule_state SET planned_through = {}, next_tick = {}",
        at("10:00:05").as_microsecond(),
        at("10:00:20").as_second()
    ));
    let plans = bench.plans(at("10:00:05")).await;
    assert_eq!(plans[0].plan.entries.len(), 3, "the planner wants to plan them again");
    assert_eq!(bench.store.commit_plans(plans).await.unwrap(), [Commit::Done]);
    assert_eq!(bench.ledger(), before);
}

#[tokio::test]
async fn an_entry_that_cannot_be_written_leaves_the_cursor_where_it_was() {
    let bench = Bench::new();
    bench.create("one", "*/20 * * * * *", at("10:00:05")).await;
    let (cursor, ledger) = (bench.cursor(), bench.ledger());
    let plans = bench.plans(at("10:01:00")).await;
    bench
        .execute("CREATE TRIGGER broken BEFORE INSERT ON runs BEGIN SELECT RAISE(ABORT, 'broken disk'); END");
    bench.store.commit_plans(plans).await.expect_err("the trigger refuses");
    assert_eq!((bench.cursor(), bench.ledger()), (cursor, ledger));
}

#[tokio::test]
async fn a_cursor_that_cannot_be_moved_leaves_no_entry() {
    let bench = Bench::new();
    bench.create("one", "*/20 * * * * *", at("10:00:05")).await;
    let (cursor, ledger) = (bench.cursor(), bench.ledger());
    let plans = bench.plans(at("10:01:00")).await;
    bench.execute(
        "CREATE TRIGGER broken BEFORE UPDATE ON schedule_state BEGIN SELECT RAISE(ABORT, 'broken disk'); END",
    );
    bench.store.commit_plans(plans).await.expect_err("the trigger refuses");
    assert_eq!((bench.cursor(), bench.ledger()), (cursor, ledger));
}

#[tokio::test]
async fn a_missed_tick_and_its_audit_event_are_written_together() {
    let bench = Bench::new();
    bench.create("one", "0 * * * *", at("10:00:05")).await;
    let plans = bench.plans(at("12:30:00")).await;
    bench.store.commit_plans(plans).await.unwrap();
    assert_eq!(bench.ledger(), "11:00:00 missed outage | 12:00:00 missed outage");
    assert_eq!(bench.count("SELECT count(*) FROM audit_events WHERE kind = 'schedule.missed'"), 2);
}

#[tokio::test]
async fn of_two_nodes_that_read_the_same_due_row_one_starts_it() {
    let bench = Bench::new();
    bench.create("one", "*/20 * * * * *", at("10:00:05")).await;
    let now = at("10:00:20");
    let (first, second) = (bench.admissions(now).await, bench.admissions(now).await);
    assert_eq!(first[0].verdict, Verdict::Start);
    assert_eq!(bench.store.admit(Fence(1), now, first).await.unwrap(), [Commit::Done]);
    assert_eq!(bench.store.admit(Fence(2), now, second).await.unwrap(), [Commit::Stale]);
    assert_eq!(bench.ledger(), "10:00:20 enqueued | 10:00:40 scheduled | 10:01:00 scheduled");
}

#[tokio::test]
async fn a_start_whose_schedule_is_claimed_meanwhile_stays_armed() {
    let bench = Bench::new();
    bench.create("one", "*/20 * * * * *", at("10:00:05")).await;
    let stale: Vec<Admission> = bench.admissions(at("10:00:40")).await;
    let starts: Vec<Admission> = stale.into_iter().filter(|one| one.verdict == Verdict::Start).collect();
    bench.execute("UPDATE schedule_state SET active_run = 999");
    assert_eq!(bench.store.admit(Fence(1), at("10:00:40"), starts).await.unwrap(), [Commit::Stale]);
    assert!(bench.ledger().contains("10:00:40 scheduled"));
}

#[tokio::test]
async fn a_node_that_was_taken_over_from_settles_nothing() {
    let bench = Bench::new();
    bench.create("one", "*/20 * * * * *", at("10:00:05")).await;
    let (old, _) = bench.store.take_over(bench.node("old")).await.unwrap();
    bench.store.admit(old, at("10:00:20"), bench.admissions(at("10:00:20")).await).await.unwrap();
    let (new, left) = bench.store.take_over(bench.node("new")).await.unwrap();
    let [run] = left.as_slice() else { panic!("one run was in flight, not {left:?}") };
    let end = |outcome| {
        let in_flight = InFlight { run: run.run, schedule: run.schedule };
        let policy = Policy::default();
        let settlement = settle(in_flight, outcome, &Situation::first(&policy, at("10:00:21")));
        vec![Ended { settlement, started_at: None, output: None }]
    };
    assert_eq!(bench.store.settle(old, end(Outcome::Succeeded)).await.unwrap(), [Commit::Stale]);
    bench.store.mark_running(old, vec![Started { run: run.run, at: at("10:00:21") }]).await.unwrap();
    assert!(bench.ledger().contains("10:00:20 enqueued"));
    assert_eq!(bench.store.settle(new, end(Outcome::Exited { code: 3 })).await.unwrap(), [Commit::Done]);
    assert_eq!(bench.store.settle(new, end(Outcome::Succeeded)).await.unwrap(), [Commit::Stale]);
    assert!(bench.ledger().contains("10:00:20 failed exit_code"));
}

#[tokio::test]
async fn a_settled_run_frees_its_schedule_and_is_counted() {
    let bench = Bench::new();
    bench.create("one", "*/20 * * * * *", at("10:00:05")).await;
    let (fence, _) = bench.store.take_over(bench.node("one")).await.unwrap();
    let due = bench.store.due(at("10:00:20")).await.unwrap().rows;
    let verdicts = admit(&[due[0].due.clone()], &mut World::free(at("10:00:20")));
    bench.store.admit(fence, at("10:00:20"), verdicts).await.unwrap();
    let overlapping = bench.admissions(at("10:00:40")).await;
    assert!(matches!(overlapping[0].verdict, Verdict::Skip(_)), "{overlapping:?}");
    let in_flight = InFlight { run: due[0].due.run, schedule: due[0].due.schedule };
    let policy = Policy::default();
    let settlement = settle(in_flight, Outcome::Succeeded, &Situation::first(&policy, at("10:00:30")));
    let ended = Ended { settlement, started_at: Some(at("10:00:20")), output: Some("done".to_owned()) };
    bench.store.settle(fence, vec![ended]).await.unwrap();
    assert_eq!(bench.admissions(at("10:00:40")).await[0].verdict, Verdict::Start);
    let row = bench.store.find(Selector::Name("one".to_owned())).await.unwrap().expect("it lives");
    assert_eq!((row.run_count, row.success_count, row.failure_count), (1, 1, 0));
}

#[tokio::test]
async fn nothing_of_a_deleted_schedule_is_admitted() {
    let bench = Bench::new();
    let id = bench.create("one", "*/20 * * * * *", at("10:00:05")).await;
    let stale = bench.admissions(at("10:00:20")).await;
    bench.store.delete(id, at("10:00:30")).await.unwrap();
    assert_eq!(bench.ledger(), "10:00:20 skipped deleted");
    assert_eq!(bench.store.admit(Fence(1), at("10:00:30"), stale).await.unwrap(), [Commit::Stale]);
    assert_eq!(bench.count("SELECT count(*) FROM schedule_state WHERE active_run IS NOT NULL"), 0);
    assert!(bench.plans(at("12:00:00")).await.is_empty());
    assert!(matches!(bench.store.delete(id, at("10:00:31")).await, Err(Error::NotFound { .. })));
}

#[tokio::test]
async fn a_deletion_accounts_for_the_ticks_that_nobody_planned() {
    let bench = Bench::new();
    let id = bench.create("one", "0 * * * *", at("10:00:05")).await;
    bench.store.delete(id, at("12:30:00")).await.unwrap();
    assert_eq!(bench.ledger(), "11:00:00 skipped deleted | 12:00:00 skipped deleted");
}

#[tokio::test]
async fn a_schedule_that_cannot_be_read_can_be_deleted() {
    let bench = Bench::new();
    let id = bench.create("one", "*/20 * * * * *", at("10:00:05")).await;
    bench.execute("UPDATE schedules SET timezone = 'Nowhere/Land'");
    bench.store.delete(id, at("10:00:30")).await.unwrap();
    assert_eq!(bench.ledger(), "10:00:20 skipped deleted");
}

#[tokio::test]
async fn a_plan_made_before_a_deletion_writes_nothing() {
    let bench = Bench::new();
    let id = bench.create("one", "*/20 * * * * *", at("10:00:05")).await;
    let stale = bench.plans(at("10:01:00")).await;
    bench.store.delete(id, at("10:00:06")).await.unwrap();
    assert_eq!(bench.store.commit_plans(stale).await.unwrap(), [Commit::Stale]);
    assert_eq!(bench.ledger(), "");
}

#[tokio::test]
async fn a_name_is_free_again_after_a_deletion_and_not_before() {
    let bench = Bench::new();
    let id = bench.create("one", "0 0 * * *", at("10:00:00")).await;
    let taken = bench.try_create("one", "0 0 * * *", at("10:00:00")).await.expect_err("it is taken");
    assert!(matches!(taken, Error::NameTaken { .. }), "{taken}");
    bench.store.delete(id, at("10:00:01")).await.unwrap();
    let again = bench.create("one", "0 0 * * *", at("10:00:02")).await;
    let found = bench.store.find(Selector::Name("one".to_owned())).await.unwrap().expect("it lives");
    assert_eq!(found.definition.id, again);
    assert!(bench.store.find(Selector::Id(id)).await.unwrap().is_some(), "the deleted one keeps its history");
}

#[tokio::test]
async fn a_job_that_fails_takes_no_other_of_its_commit_with_it() {
    let bench = Bench::new();
    bench.create("taken", "0 0 * * *", at("10:00:00")).await;
    let (good, bad, also_good) = tokio::join!(
        bench.try_create("good", "0 0 * * *", at("10:00:00")),
        bench.try_create("taken", "0 0 * * *", at("10:00:00")),
        bench.try_create("also good", "0 0 * * *", at("10:00:00")),
    );
    assert!(good.is_ok() && bad.is_err() && also_good.is_ok());
    assert_eq!(bench.store.schedules().await.unwrap().len(), 3);
}

#[tokio::test]
async fn a_schedule_that_cannot_be_read_does_not_stop_the_others() {
    let bench = Bench::new();
    bench.create("good", "*/20 * * * * *", at("10:00:05")).await;
    bench.create("bad", "*/20 * * * * *", at("10:00:05")).await;
    bench.execute("UPDATE schedules SET timezone = 'Nowhere/Land' WHERE name = 'bad'");
    let batch = bench.store.plannable(at("10:01:00"), at("10:01:30")).await.unwrap();
    assert_eq!((batch.ready.len(), batch.unreadable.len()), (1, 1));
    assert!(batch.unreadable[0].to_string().contains("Nowhere/Land"), "{}", batch.unreadable[0]);
}

#[tokio::test]
async fn a_change_by_another_process_is_noticed() {
    let bench = Bench::new();
    let other = Sqlite::open(bench.store.path(), Access::Visit).unwrap();
    bench.create("one", "0 0 * * *", at("10:00:00")).await;
    other.changed().await;
}

#[tokio::test]
async fn a_second_process_that_wants_to_serve_is_told_who_does() {
    let bench = Bench::new();
    let _serving = Sqlite::open(bench.store.path(), Access::Serve).unwrap();
    let refused = Sqlite::open(bench.store.path(), Access::Serve).map(|_| ()).expect_err("one is enough");
    assert!(matches!(refused, Error::InUse { pid: Some(pid), .. } if pid == std::process::id()), "{refused}");
}

#[tokio::test]
async fn a_database_of_a_newer_version_is_refused_as_it_is() {
    let bench = Bench::new();
    bench.execute("INSERT INTO migrations VALUES (99, 'the future', '', 0)");
    let refused = Sqlite::open(bench.store.path(), Access::Visit).map(|_| ()).expect_err("it is newer");
    assert!(matches!(refused, Error::Newer { found: 99, .. }), "{refused}");
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

#[tokio::test]
async fn hot_statements_use_their_indexes() {
    let bench = Bench::new();
    for (file, index) in [
        ("due", "runs_due"),
        ("next_fire", "runs_due"),
        ("plannable", "schedule_state_plannable"),
        ("next_tick", "schedule_state_plannable"),
        ("late_rows", "runs_history"),
        ("in_flight", "runs_in_flight"),
        ("take_over", "runs_in_flight"),
        ("list_runs", "runs_history"),
        ("find_by_id", "sqlite_autoindex_schedules_1"),
        ("find_by_name", "schedules_history"),
    ] {
        let plan = bench.query_plan(file);
        assert!(plan.contains(index), "{file}: {plan}");
    }
}

#[test]
fn instants_are_cut_to_what_the_database_keeps() {
    let precise: Timestamp = "2026-01-01T00:00:00.123456789Z".parse().unwrap();
    assert_eq!(punctual_store::to_microsecond(precise).to_string(), "2026-01-01T00:00:00.123456Z");
}
