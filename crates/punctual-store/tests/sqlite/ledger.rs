//! Goal: the ledger keeps its promises by its keys, guards and transactions, not by the good will of callers.
//! Method: a real file; two callers that read the same; rows altered by hand; statements made to fail.

use crate::bench::{Bench, at, unchanged};
use punctual_plan::{Cursor, Outcome, RunKey, Status, Verdict};
use punctual_store::{AdmitCommit, Commit, Error, Started, Store, Write, Written};

#[tokio::test]
async fn a_created_schedule_has_its_first_window_armed() {
    let bench = Bench::new();
    bench.create("one", "*/20 * * * * *", at("10:00:05")).await;
    assert_eq!(bench.ledger(), "10:00:20 scheduled | 10:00:40 scheduled | 10:01:00 scheduled");
}

#[tokio::test]
async fn the_second_planner_to_commit_creates_no_run() {
    let bench = Bench::new();
    let fence = bench.join("one").await;
    bench.create("one", "*/20 * * * * *", at("10:00:05")).await;
    let now = at("10:01:00");
    let (first, second) = (bench.plans(now).await, bench.plans(now).await);
    assert_eq!(bench.store.commit_plans(bench.batch(fence, now), first).await.unwrap(), [Commit::Done]);
    let planned = bench.ledger();
    assert_eq!(bench.store.commit_plans(bench.batch(fence, now), second).await.unwrap(), [Commit::Stale]);
    assert_eq!(bench.ledger(), planned);
}

#[tokio::test]
async fn a_batch_that_is_sent_again_writes_nothing_and_gets_its_first_answer() {
    let bench = Bench::new();
    let fence = bench.join("one").await;
    bench.create("one", "*/20 * * * * *", at("10:00:05")).await;
    let now = at("10:00:20");
    let (batch, admissions) = (bench.batch(fence, now), bench.admissions(now).await);
    assert_eq!(bench.store.admit(batch, admissions.clone()).await.unwrap(), [Commit::Done]);
    assert_eq!(bench.store.admit(batch, admissions.clone()).await.unwrap(), [Commit::Done]);
    assert_eq!(bench.store.admit(bench.batch(fence, now), admissions).await.unwrap(), [Commit::Stale]);
}

/// The unique key alone holds: the cursor says that nothing was planned, and still no tick gets a second entry.
#[tokio::test]
async fn a_cursor_set_back_by_hand_gives_no_tick_a_second_entry() {
    let bench = Bench::new();
    let fence = bench.join("one").await;
    bench.create("one", "*/20 * * * * *", at("10:00:05")).await;
    let (before, now) = (bench.ledger(), at("10:00:05"));
    bench.execute(&format!(
        "UPDATE schedule_state SET planned_through = {0}, next_tick = {1}, plan_at = {0}",
        now.as_microsecond(),
        at("10:00:20").as_second()
    ));
    let plans = bench.plans(now).await;
    assert_eq!(plans[0].plan.entries.len(), 3, "the planner wants to plan them again");
    assert_eq!(bench.store.commit_plans(bench.batch(fence, now), plans).await.unwrap(), [Commit::Done]);
    assert_eq!(bench.ledger(), before);
}

#[tokio::test]
async fn what_cannot_be_written_whole_is_not_written_at_all() {
    for broken in ["INSERT ON runs", "UPDATE ON schedule_state"] {
        let bench = Bench::new();
        let fence = bench.join("one").await;
        bench.create("one", "*/20 * * * * *", at("10:00:05")).await;
        let (cursor, ledger, now) = (bench.cursor(), bench.ledger(), at("10:01:00"));
        let plans = bench.plans(now).await;
        bench.execute(&format!(
            "CREATE TRIGGER broken BEFORE {broken} BEGIN SELECT RAISE(ABORT, 'broken disk'); END"
        ));
        bench.store.commit_plans(bench.batch(fence, now), plans).await.expect_err("the trigger refuses");
        assert_eq!((bench.cursor(), bench.ledger()), (cursor, ledger), "{broken}");
    }
}

#[tokio::test]
async fn a_missed_tick_and_its_audit_event_are_written_together() {
    let bench = Bench::new();
    let fence = bench.join("one").await;
    bench.create("one", "0 * * * *", at("10:00:05")).await;
    let plans = bench.plans(at("12:30:00")).await;
    bench.store.commit_plans(bench.batch(fence, at("12:30:00")), plans).await.unwrap();
    assert_eq!(bench.ledger(), "11:00:00 missed outage | 12:00:00 missed outage");
    assert_eq!(bench.count("SELECT count(*) FROM audit_events WHERE kind = 'schedule.missed'"), 2);
}

#[tokio::test]
async fn of_two_nodes_that_read_the_same_due_row_one_starts_it() {
    let bench = Bench::new();
    let (one, two) = (bench.join("one").await, bench.join("two").await);
    bench.create("one", "*/20 * * * * *", at("10:00:05")).await;
    let now = at("10:00:20");
    let (first, second) = (bench.admissions(now).await, bench.admissions(now).await);
    assert_eq!(first[0].admission.verdict, Verdict::Start);
    assert_eq!(bench.store.admit(bench.batch(one, now), first).await.unwrap(), [Commit::Done]);
    assert_eq!(bench.store.admit(bench.batch(two, now), second).await.unwrap(), [Commit::Stale]);
    assert_eq!(bench.ledger(), "10:00:20 enqueued | 10:00:40 scheduled | 10:01:00 scheduled");
}

#[tokio::test]
async fn a_start_whose_schedule_is_claimed_meanwhile_stays_armed() {
    let bench = Bench::new();
    let fence = bench.join("one").await;
    bench.create("one", "*/20 * * * * *", at("10:00:05")).await;
    let now = at("10:00:40");
    let all = bench.admissions(now).await;
    let starts: Vec<AdmitCommit> =
        all.into_iter().filter(|one| one.admission.verdict == Verdict::Start).collect();
    bench.execute("UPDATE schedule_state SET active_run = 999");
    assert_eq!(bench.store.admit(bench.batch(fence, now), starts).await.unwrap(), [Commit::Stale]);
    assert!(bench.ledger().contains("10:00:40 scheduled"));
}

#[tokio::test]
async fn a_node_that_was_taken_over_from_settles_nothing() {
    let bench = Bench::new();
    bench.create("one", "*/20 * * * * *", at("10:00:05")).await;
    let (old, new) = (bench.join("old").await, bench.join("new").await);
    let (now, later) = (at("10:00:20"), at("10:00:21"));
    bench.store.admit(bench.batch(old, now), bench.admissions(now).await).await.unwrap();
    assert!(bench.store.take_over(new, 10).await.unwrap().is_empty(), "the old one lives");
    bench.store.leave(old).await.unwrap();
    let left = bench.store.take_over(new, 10).await.unwrap();
    let [run] = left.as_slice() else { panic!("one run was in flight, not {left:?}") };
    let settle = |fence, outcome| {
        bench.store.settle(bench.batch(fence, later), vec![bench.report(run.launch.run, fence, outcome)])
    };
    assert_eq!(settle(old, Outcome::Succeeded).await.unwrap()[0].commit, Commit::Stale);
    let started = vec![Started { run: run.launch.run, attempt: 1, at: later }];
    let marked = bench.store.mark_running(bench.batch(old, later), started.clone()).await;
    assert!(matches!(marked, Err(Error::LeaseLost)), "{marked:?}");
    assert!(bench.ledger().contains("10:00:20 enqueued"));
    assert_eq!(bench.store.mark_running(bench.batch(new, later), started).await.unwrap(), [Commit::Done]);
    assert_eq!(settle(new, Outcome::Exited { code: 3 }).await.unwrap()[0].commit, Commit::Done);
    assert_eq!(settle(new, Outcome::Succeeded).await.unwrap()[0].commit, Commit::Stale);
    assert!(bench.ledger().contains("10:00:20 failed exit_code"));
}

#[tokio::test]
async fn a_settled_run_frees_its_schedule_and_is_counted() {
    let bench = Bench::new();
    let fence = bench.join("one").await;
    bench.create("one", "*/20 * * * * *", at("10:00:05")).await;
    let now = at("10:00:20");
    bench.store.admit(bench.batch(fence, now), bench.admissions(now).await).await.unwrap();
    let overlapping = bench.admissions(at("10:00:40")).await;
    assert!(matches!(overlapping[0].admission.verdict, Verdict::Skip(_)), "{overlapping:?}");
    let report = bench.report(RunKey(1), fence, Outcome::Succeeded);
    bench.store.settle(bench.batch(fence, at("10:00:30")), vec![report]).await.unwrap();
    assert_eq!(bench.admissions(at("10:00:40")).await[0].admission.verdict, Verdict::Start);
    assert_eq!(
        bench.text("SELECT run_count || ' ' || success_count || ' ' || failure_count FROM schedule_state"),
        "1 1 0"
    );
    assert_eq!(bench.count("SELECT count(*) FROM schedule_state WHERE active_run IS NOT NULL"), 0);
}

#[tokio::test]
async fn a_schedule_that_fails_too_often_is_disabled_with_its_rows() {
    let bench = Bench::new();
    let fence = bench.join("one").await;
    bench.create("one", "*/5 * * * * *", at("10:00:04")).await;
    for second in [5, 10, 15, 20, 25] {
        let now = at(&format!("10:00:{second:02}"));
        let starts = bench.admissions(now).await;
        let run = starts[0].admission.run;
        bench.store.admit(bench.batch(fence, now), starts).await.unwrap();
        let report = bench.report(run, fence, Outcome::Exited { code: 1 });
        assert_eq!(
            bench.store.settle(bench.batch(fence, now), vec![report]).await.unwrap()[0].commit,
            Commit::Done
        );
    }
    assert_eq!(bench.text("SELECT status || ' ' || status_detail FROM schedule_state"), "auto_disabled 5");
    assert_eq!(bench.count("SELECT count(*) FROM runs WHERE look_at IS NOT NULL"), 0);
    assert_eq!(bench.text("SELECT state FROM circuit_breakers"), "open");
    assert!(bench.plans(at("11:00:00")).await.is_empty());
}

#[tokio::test]
async fn a_plan_made_before_a_change_writes_nothing() {
    let bench = Bench::new();
    let fence = bench.join("one").await;
    let schedule = bench.create("one", "*/20 * * * * *", at("10:00:05")).await;
    let now = at("10:01:00");
    let stale = bench.plans(now).await;
    let from = stale[0].from;
    let write = |from| Write::Change {
        schedule,
        version: 1,
        from,
        definition: None,
        status: Some(Status::PausedManual { by: "ada".to_owned(), note: String::new() }),
        is_deleted: false,
        changed: unchanged(Cursor { decided_through: now, ..stale[0].from }),
        plan: None,
    };
    assert_eq!(bench.write(write(from), now).await.unwrap(), Written::Schedule(schedule));
    assert_eq!(bench.write(write(from), now).await.unwrap(), Written::Stale);
    assert_eq!(
        bench.store.commit_plans(bench.batch(fence, now), stale.clone()).await.unwrap(),
        [Commit::Stale]
    );
    assert!(bench.plans(at("12:00:00")).await.is_empty());
}

#[tokio::test]
async fn a_name_is_taken_while_its_schedule_lives() {
    let bench = Bench::new();
    bench.create("one", "0 0 * * *", at("10:00:00")).await;
    let second = bench.schedule("one", "0 0 * * *");
    let taken = bench.create_as(second, at("10:00:00")).await.expect_err("it is taken");
    assert!(matches!(taken, Error::NameTaken { .. }), "{taken}");
}

#[tokio::test]
async fn hot_statements_use_their_indexes() {
    let bench = Bench::new();
    for (file, index) in [
        ("due", "runs_look"),
        ("due_heads", "COVERING INDEX runs_look"),
        ("next_look", "runs_look"),
        ("plannable", "schedule_state_plannable"),
        ("next_plan", "schedule_state_plannable"),
        ("late_rows", "runs_history"),
        ("busy_rows", "runs_busy"),
        ("busy_all", "runs_busy"),
        ("orphans", "runs_busy"),
        ("org_in_flight", "runs_busy"),
        ("asked_run", "runs_asked"),
        ("wake", "runs_waiting"),
        ("is_any_waiting", "runs_waiting"),
        ("remove_ahead", "runs_history"),
        ("latest_tick", "runs_history"),
    ] {
        let plan = bench.query_plan(file);
        assert!(plan.contains(index), "{file}: {plan}");
    }
}
