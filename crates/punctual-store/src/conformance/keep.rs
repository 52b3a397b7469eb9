//! What is kept: digests that an audit accepts, and a chain of seals that shows what was altered.

use jiff::SignedDuration;
use punctual_plan::{Outcome, Recorded, RunStatus, Span, audit_ledger};

use super::Backend;
use super::stage::{Stage, at, cron, seconds};
use crate::{Cut, Retention, RunFilter, Scope, Store};

fn hours(count: i64) -> SignedDuration {
    SignedDuration::from_hours(count)
}

/// Ticks for a few minutes, each run at its time; every fourth fails.
async fn busy<S: Store>(stage: &Stage<S>) {
    stage.create(cron("one", "*/20 * * * * *"), at("10:00:05")).await;
    let mut number = 0;
    for step in 0..30 {
        let now = at("10:00:10") + seconds(step * 10);
        stage.plan(now).await;
        for run in stage.admit(now).await {
            number += 1;
            let outcome = if number % 4 == 0 { Outcome::Exited { code: 1 } } else { Outcome::Succeeded };
            stage.settle(run, outcome, now).await;
        }
    }
}

/// Old runs become digests with counts of their states; the ledger is whole with them.
pub async fn old_runs_become_digests<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    busy(&stage).await;
    let before = stage.runs("one").await.len() as u64;
    let retention = Retention { runs: hours(1), failures: hours(100), ..Retention::default() };
    let retained = stage.store.retain(retention, at("18:00:00")).await.expect("answers");
    let after = stage.runs("one").await;
    assert_eq!(retained.runs + after.len() as u64, before);
    assert!(!retained.is_more && retained.runs > 5);
    let listed = stage.store.ranges(stage.scope(), RunFilter::default(), Cut::first(100)).await;
    let ranges = listed.expect("answers").rows;
    assert_eq!(ranges.iter().map(|row| row.range.count).sum::<u64>(), retained.runs);
    for row in &ranges {
        assert_eq!(row.counts.iter().map(|(_, count)| count).sum::<u64>(), row.range.count);
        assert_eq!(row.counts[0].0, RunStatus::Success);
    }
    assert!(after.iter().any(|row| row.run.state.status() == RunStatus::Failed), "failures are kept longer");
    let spans: Vec<Span> = ranges
        .iter()
        .map(|row| Span { first: row.range.first, last: row.range.last, count: row.range.count })
        .collect();
    let rows: Vec<_> = after.iter().map(|row| row.run.scheduled_for).collect();
    let row = stage.row("one").await;
    let stretch = at("10:00:06")..=row.state.cursor.planned_through;
    let timing = row.definition.when.timing().expect("it ticks");
    let audit = audit_ledger(timing, Recorded { rows: &rows, ranges: &spans }, stretch);
    assert!(audit.is_proved(), "{audit:?}");
    assert!(stage.store.check().await.expect("answers").is_empty());
}

/// Retention goes in steps, and neighbouring digests of all steps still cover each tick once.
pub async fn retention_goes_in_bounded_steps<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    busy(&stage).await;
    let retention = Retention { runs: hours(1), failures: hours(1), limit: 2, ..Retention::default() };
    let (mut steps, mut gone) = (0, 0);
    loop {
        let retained = stage.store.retain(retention, at("18:00:00")).await.expect("answers");
        assert!(retained.runs <= 2);
        gone += retained.runs;
        steps += 1;
        if !retained.is_more {
            break;
        }
    }
    assert!(steps > 3);
    let listed = stage.store.ranges(stage.scope(), RunFilter::default(), Cut::first(100)).await;
    let ranges = listed.expect("answers").rows;
    assert_eq!(ranges.iter().map(|row| row.range.count).sum::<u64>(), gone);
    assert!(stage.store.check().await.expect("answers").is_empty());
}

/// A run is kept for its time from its end on, however long ago the tick was that it stands for.
pub async fn a_run_is_kept_from_its_end_on<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    stage.create(cron("one", "*/20 * * * * *"), at("10:00:05")).await;
    stage.plan(at("10:00:10")).await;
    let first = stage.admit(at("10:00:20")).await.pop().expect("its tick is due");
    stage.plan(at("10:00:30")).await;
    assert_eq!(stage.admit(at("10:00:40")).await.len(), 1, "another tick is newer");
    stage.settle(first, Outcome::Succeeded, at("17:30:00")).await;
    let retention = Retention { runs: hours(1), failures: hours(1), ..Retention::default() };
    let is_kept = || async { stage.runs("one").await.iter().any(|row| row.run.key == first) };
    stage.store.retain(retention, at("18:00:00")).await.expect("answers");
    assert!(is_kept().await, "it ended half an hour ago");
    stage.store.retain(retention, at("19:00:00")).await.expect("answers");
    assert!(!is_kept().await);
    assert!(stage.store.check().await.expect("answers").is_empty());
}

/// A schedule keeps its newest rows up to a number, and what is open is never touched.
pub async fn a_schedule_keeps_its_newest_rows<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    busy(&stage).await;
    let open = stage.runs("one").await.iter().filter(|row| !row.run.state.status().is_terminal()).count();
    let retention = Retention { runs_per_schedule: 6, ..Retention::default() };
    stage.store.retain(retention, at("10:10:00")).await.expect("answers");
    let rows = stage.runs("one").await;
    let succeeded = rows.iter().filter(|row| row.run.state.status() == RunStatus::Success).count();
    assert!(succeeded <= 6, "{succeeded}");
    assert_eq!(rows.iter().filter(|row| !row.run.state.status().is_terminal()).count(), open);
    assert!(rows.iter().any(|row| row.run.state.status() == RunStatus::Failed));
}

/// Events are sealed in order and the chain is whole; the tail that is not sealed is counted.
pub async fn events_are_sealed_in_a_chain<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    for name in ["a", "b", "c"] {
        stage.create(cron(name, "1 10 * * *"), at("10:00:05")).await;
    }
    let chain = stage.store.verify_audit(stage.scope()).await.expect("answers");
    assert_eq!((chain.checked, chain.unsealed, chain.broken), (0, 3, None));
    let sealed = stage.store.seal_audit(2).await.expect("answers");
    let own = sealed.iter().find(|sealed| sealed.org == stage.org).expect("its org is named");
    assert_eq!((own.position, own.unsealed), (2, 1));
    stage.store.seal_audit(100).await.expect("answers");
    let chain = stage.store.verify_audit(stage.scope()).await.expect("answers");
    assert_eq!((chain.checked, chain.unsealed, chain.broken), (3, 0, None));
    let rows = stage.store.audit(stage.scope(), crate::AuditFilter::default(), Cut::first(10)).await;
    let places: Vec<i64> =
        rows.expect("answers").rows.iter().filter_map(|row| row.sealed.as_ref()).map(|seal| seal.0).collect();
    assert_eq!(places, [3, 2, 1]);
}

/// Each org has a chain of its own.
pub async fn each_org_has_its_own_chain<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let other = stage.other("other").await;
    for number in 0..3 {
        stage.create(cron(&format!("a{number}"), "1 10 * * *"), at("10:00:05")).await;
        let write = stage.creation(cron(&format!("b{number}"), "1 10 * * *"), at("10:00:05"));
        stage.write_in(other.clone(), write).await.expect("made");
    }
    stage.store.seal_audit(100).await.expect("answers");
    for scope in [stage.scope(), other] {
        let chain = stage.store.verify_audit(scope).await.expect("answers");
        assert_eq!((chain.checked, chain.unsealed, chain.broken), (3, 0, None));
    }
}

/// Retention removes only sealed events, and the chain is whole without them.
pub async fn only_sealed_events_are_removed<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    for name in ["a", "b", "c"] {
        stage.create(cron(name, "1 10 * * *"), at("10:00:05")).await;
    }
    stage.store.seal_audit(2).await.expect("answers");
    let retention = Retention { audit: hours(1), ..Retention::default() };
    let retained = stage.store.retain(retention, at("20:00:00")).await.expect("answers");
    assert_eq!(retained.events, 2);
    stage.store.seal_audit(10).await.expect("answers");
    let chain = stage.store.verify_audit(Scope::org(stage.org)).await.expect("answers");
    assert_eq!((chain.checked, chain.broken), (1, None));
}
