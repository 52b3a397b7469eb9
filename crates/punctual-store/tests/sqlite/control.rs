//! Goal: what people see and do through the store reads back as it was written, and a check finds what was altered.
//! Method: a small ledger by the public calls, then rows altered by hand.

use jiff::{SignedDuration, Timestamp};
use punctual_plan::{Outcome, RunKey, RunState, RunStatus};
use punctual_store::{
    AuditFilter, Cut, DocumentKind, NewDocument, Retention, RunFilter, ScheduleFilter, Scope, Selector,
    Store, Table,
};

use crate::bench::{Bench, at};

/// A ledger with a run that succeeded, one that failed, and armed ones.
async fn lived() -> Bench {
    let bench = Bench::new();
    let fence = bench.join("one").await;
    bench.create("one", "*/20 * * * * *", at("10:00:05")).await;
    for (time, outcome) in [("10:00:20", Outcome::Succeeded), ("10:00:40", Outcome::Exited { code: 3 })] {
        let now = at(time);
        let starts = bench.admissions(now).await;
        let run = starts[0].admission.run;
        bench.store.admit(bench.batch(fence, now), starts).await.expect("the ledger lives");
        let report = bench.report(run, fence, outcome);
        bench.store.settle(bench.batch(fence, now), vec![report]).await.expect("the ledger lives");
    }
    bench.store.seal_audit(100).await.expect("the ledger lives");
    bench
}

#[tokio::test]
async fn runs_are_shown_with_their_states_and_attempts() {
    let bench = lived().await;
    let runs = bench.store.runs(Scope::Engine, RunFilter::default(), Cut::first(2)).await.unwrap();
    assert_eq!(runs.rows[0].run.state.status(), RunStatus::Scheduled);
    assert_eq!(runs.rows[1].run.state.status(), RunStatus::Failed);
    let after = Cut { after: runs.next, limit: 2 };
    let rest = bench.store.runs(Scope::Engine, RunFilter::default(), after).await.unwrap();
    assert_eq!((rest.rows.len(), rest.next), (1, None));
    let run = bench.store.run(Scope::Engine, RunKey(1)).await.unwrap().expect("it is there");
    assert!(matches!(run.run.state, RunState::Success { .. }), "{run:?}");
    assert_eq!(run.run.attempts.len(), 1);
    assert_eq!(run.node.as_deref(), Some("one"));
}

#[tokio::test]
async fn schedules_are_found_and_listed() {
    let bench = lived().await;
    bench.create("two", "0 0 * * *", at("10:00:00")).await;
    let found = bench.store.schedule(Scope::Engine, Selector::Name("one".to_owned())).await.unwrap();
    let found = found.expect("it lives");
    assert_eq!((found.state.counters.runs, found.state.counters.failures), (2, 1));
    assert_eq!(found.next_run_at, Some(at("10:01:00")));
    let filter = ScheduleFilter { search: Some("TW".to_owned()), ..ScheduleFilter::default() };
    let listed = bench.store.schedules(Scope::Engine, filter, Cut::first(10)).await.unwrap();
    assert_eq!(listed.rows.iter().map(|row| row.definition.name.as_str()).collect::<Vec<_>>(), ["two"]);
    let org = bench.store.org(Scope::Engine, "other".to_owned()).await.unwrap();
    let other =
        bench.store.schedules(Scope::org(org), ScheduleFilter::default(), Cut::first(10)).await.unwrap();
    assert!(other.rows.is_empty(), "another org sees nothing");
    assert_eq!(bench.store.open_rows(Scope::Engine, found.key).await.unwrap().len(), 1);
    assert_eq!(bench.store.versions(Scope::Engine, found.definition.id).await.unwrap().len(), 1);
}

#[tokio::test]
async fn documents_have_versions() {
    let bench = Bench::new();
    let org = Scope::org(bench.store.org(Scope::Engine, "acme".to_owned()).await.unwrap());
    let new = |replaces| NewDocument {
        kind: DocumentKind::Template,
        name: "base".to_owned(),
        body: "{}".to_owned(),
        replaces,
        now: at("10:00:00"),
    };
    assert_eq!(bench.store.put_document(org.clone(), new(Some(0))).await.unwrap().version, 1);
    bench.store.put_document(org.clone(), new(Some(0))).await.expect_err("it exists");
    assert_eq!(bench.store.put_document(org.clone(), new(Some(1))).await.unwrap().version, 2);
    assert!(
        bench.store.remove_document(org.clone(), DocumentKind::Template, "base".to_owned()).await.unwrap()
    );
    assert!(!bench.store.remove_document(org, DocumentKind::Template, "base".to_owned()).await.unwrap());
}

#[tokio::test]
async fn a_check_finds_what_was_altered() {
    for (altered, table) in [
        ("SELECT 1", ""),
        ("UPDATE audit_seals SET hash = 'x' WHERE position = 1", "audit_events"),
        ("DROP TRIGGER audit_events_never_change; UPDATE audit_events SET detail = 'x'", "audit_events"),
        ("UPDATE runs SET status = 'success', reason = NULL, detail = NULL WHERE key = 2", "schedule_state"),
        ("UPDATE runs SET scheduled_for = scheduled_for + 1 WHERE key = 1", "runs"),
        ("UPDATE runs SET look_at = 5 WHERE key = 1", "runs"),
        ("DELETE FROM runs WHERE key = 1", "runs"),
        ("UPDATE schedule_state SET next_tick = next_tick + 20", "schedule_state"),
        ("UPDATE schedule_state SET planned_through = planned_through - 20000000", "schedule_state"),
        ("UPDATE schedule_state SET active_run = 1", "schedule_state"),
        ("INSERT INTO guards VALUES (1, 'g', 77)", "guards"),
    ] {
        let bench = lived().await;
        bench.execute(altered);
        let findings = bench.store.check().await.unwrap();
        let is_found = findings.iter().any(|finding| finding.table == table);
        assert_eq!(is_found, !table.is_empty(), "{altered}: {findings:?}");
        assert!(!table.is_empty() || findings.is_empty(), "{findings:?}");
    }
}

#[tokio::test]
async fn retention_leaves_digests_that_a_check_accepts() {
    let bench = lived().await;
    let later: Timestamp = at("10:00:50") + SignedDuration::from_hours(40 * 24);
    let retention = Retention { failures: SignedDuration::from_hours(1), ..Retention::default() };
    let mut removed = 0;
    loop {
        let step = bench.store.retain(retention, later).await.unwrap();
        removed += step.runs;
        if !step.is_more {
            break;
        }
    }
    assert_eq!(removed, 2);
    let ranges = bench.store.ranges(Scope::Engine, RunFilter::default(), Cut::first(10)).await.unwrap();
    assert_eq!(ranges.rows[0].counts, [(RunStatus::Failed, 1), (RunStatus::Success, 1)]);
    assert!(bench.store.check().await.unwrap().is_empty(), "{:?}", bench.store.check().await);
    let audit = Retention { audit: SignedDuration::from_hours(1), ..retention };
    assert!(bench.store.retain(audit, later).await.unwrap().events > 0);
    let chain = bench.store.verify_audit(Scope::Engine).await.unwrap();
    assert_eq!(chain.broken, None);
}

#[tokio::test]
async fn a_database_is_copied_row_by_row() {
    let (from, to) = (lived().await, Bench::new());
    for table in Table::ALL {
        let mut after = None;
        loop {
            let rows = from.store.read_table(*table, after, 2).await.unwrap();
            let Some(last) = rows.last().cloned() else { break };
            to.store.write_table(*table, rows).await.unwrap();
            after = Some(last);
        }
        let (read, written) = (
            from.store.read_table(*table, None, 1_000).await.unwrap(),
            to.store.read_table(*table, None, 1_000).await.unwrap(),
        );
        assert_eq!(read, written, "{}", table.name());
    }
    assert!(to.store.check().await.unwrap().is_empty());
    let (one, two) = (from.store.status().await.unwrap(), to.store.status().await.unwrap());
    assert_eq!((one.rows, one.schema), (two.rows, two.schema));
    let events = to.store.audit(Scope::Engine, AuditFilter::default(), Cut::first(10)).await.unwrap();
    assert!(events.rows.iter().all(|event| event.sealed.is_some()));
}
