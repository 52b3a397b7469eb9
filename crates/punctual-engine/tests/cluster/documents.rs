//! The flows of two documents, told in virtual time: a scheduler of messages, and one of workflows.

use std::sync::Arc;
use std::time::Duration;

use punctual_engine::harness::{Cluster, Deed};
use punctual_plan::{
    Action, CatchUp, Jitter, JitterMode, Overlap, Schedule, Target, When, Workflow, idempotency_key,
};
use punctual_store::{AuditFilter, Cut, DocumentKind, NewDocument, Scope, Store, quiet_hours_body};
use punctual_time::QuietHours;
use serde_json::{Value, json};

use crate::stage::{SEED, at, cron, seconds, with};

fn to(mut schedule: Schedule, action: Action) -> Schedule {
    schedule.target = Arc::new(Target { action, ..(*schedule.target).clone() });
    schedule
}

fn message(name: &str, spec: &str) -> Schedule {
    let template = json!({"type": "reminder", "text": "due {{ scheduled_for }}", "n": "{{ payload.n }}"});
    let message = template.as_object().cloned().expect("an object");
    let mut schedule = to(cron(name, spec), Action::Message { message });
    schedule.payload = json!({"n": 3}).as_object().cloned().expect("an object");
    schedule
}

/// Quiet from 10:03 to 10:05.
async fn quiet(cluster: &Cluster, mut schedule: Schedule) -> Schedule {
    let during = "10:03-10:05".parse().expect("a part of the day");
    let quiet = QuietHours { name: "lunch".to_owned(), during, on: Default::default(), zone: None };
    let (kind, name, body) = (DocumentKind::QuietHours, "lunch".to_owned(), quiet_hours_body(&quiet));
    let new = NewDocument { kind, name, body, replaces: None, now: cluster.now() };
    cluster.store.put_document(Scope::org(cluster.org), new).await.expect("it is kept");
    let When::Ticks(timing) = &mut schedule.when else { panic!("it ticks") };
    timing.windows.quiet_hours.push(quiet);
    schedule
}

async fn events(cluster: &Cluster, kind: &str) -> Vec<String> {
    let filter = AuditFilter { kind: Some(kind.to_owned()), ..AuditFilter::default() };
    let listed = cluster.store.audit(Scope::org(cluster.org), filter, Cut::first(1_000)).await;
    let mut details: Vec<String> =
        listed.expect("the store answers").rows.into_iter().map(|row| row.detail).collect();
    details.reverse();
    details
}

async fn messages(cluster: &Cluster) -> Vec<Value> {
    let rows = cluster.store.outbox(Scope::org(cluster.org), 0, 1_000).await.expect("the store answers");
    rows.iter().map(|row| serde_json::from_str(&row.body).expect("JSON")).collect()
}

#[test]
fn s0_emits_message_events_and_audits_what_quiet_hours_and_outages_kept_back() {
    Cluster::tell(SEED, at("10:00:30"), async |mut cluster| {
        let schedule = quiet(&cluster, message("note", "* * * * *")).await;
        let id = schedule.id;
        cluster.create(schedule).await;
        cluster.start("a").await;
        cluster.until(at("10:06:30")).await;
        let sent = messages(&cluster).await;
        let due: Vec<&str> = sent.iter().filter_map(|one| one["text"].as_str()).collect();
        let minute = |text: &str| format!("due 2026-01-01T{text}:00Z");
        assert_eq!(due, ["10:01", "10:02", "10:05", "10:06"].map(minute));
        let first = &sent[0];
        assert_eq!(first["source"], json!({"channel": "scheduler", "connector_id": id.to_string()}));
        assert_eq!(first["id"], json!(idempotency_key(id, at("10:01:00"))));
        assert_eq!((&first["n"], &first["context"]["payload"]["n"]), (&json!(3), &json!(3)));
        let skipped = events(&cluster, "schedule.skipped").await;
        assert_eq!(skipped.len(), 2, "{skipped:?}");
        assert!(skipped[0].contains("2026-01-01T10:03:00Z") && skipped[0].contains("lunch"), "{skipped:?}");

        // An outage beyond the grace: one event for each slot that was missed.
        cluster.stop("a").await;
        cluster.until(at("10:11:30")).await;
        cluster.start("a").await;
        cluster.until(at("10:12:30")).await;
        let missed = events(&cluster, "schedule.missed").await;
        assert_eq!(missed.len(), 4, "10:07 to 10:10; the one of 10:11 is late, not missed: {missed:?}");
        let due: Vec<String> =
            messages(&cluster).await[4..].iter().map(|one| one["text"].to_string()).collect();
        assert_eq!(due, ["10:11", "10:12"].map(|text| json!(minute(text)).to_string()));
        let chain = cluster.store.verify_audit(Scope::org(cluster.org)).await.expect("the store answers");
        assert_eq!((chain.unsealed, chain.broken), (0, None));
    });
}

#[test]
fn s0_run_once_sends_one_message_for_a_whole_outage_with_its_slots_counted() {
    Cluster::tell(SEED, at("10:00:30"), async |mut cluster| {
        cluster.create(with(message("note", "* * * * *"), |policy| policy.catch_up = CatchUp::RunOnce)).await;
        cluster.start("a").await;
        cluster.until(at("10:01:30")).await;
        cluster.stop("a").await;
        cluster.until(at("10:31:30")).await;
        cluster.start("a").await;
        cluster.until(at("10:31:40")).await;
        assert_eq!(messages(&cluster).await.len(), 2, "{:?}", cluster.ledger().await);
        let caught = events(&cluster, "schedule.caught_up").await;
        assert!(caught.iter().any(|detail| detail.contains("30")), "{caught:?}");
    });
}

#[test]
fn s0_a_message_in_the_outbox_is_not_sent_again_after_a_crash() {
    Cluster::tell(SEED, at("10:00:30"), async |mut cluster| {
        // The node dies after the admission and before it could say that the run ended.
        cluster.targets.always("note", Deed::Hangs);
        cluster.create(message("note", "1 10 * * *")).await;
        cluster.start("a").await;
        cluster.until(at("10:01:01")).await;
        cluster.crash("a").await;
        cluster.targets.always("note", Deed::succeeds(0));
        cluster.start("b").await;
        cluster.until(at("10:01:30")).await;
        assert_eq!(cluster.ledger().await, ["10:01:00 success"]);
        assert_eq!(messages(&cluster).await.len(), 1);
    });
}

fn flow(spec: &str, overlap: Overlap) -> Schedule {
    let schedule = to(cron("flow", spec), Action::Workflow(Workflow::new("report", 3)));
    with(schedule, |policy| policy.overlap = overlap)
}

#[test]
fn s4_overlap_skips_allows_or_queues_what_comes_while_a_run_is_in_flight() {
    let told = |overlap| {
        Cluster::tell(SEED, at("10:00:30"), async |mut cluster| {
            cluster.targets.always("flow", Deed::succeeds(90));
            cluster.create(flow("* * * * *", overlap)).await;
            cluster.start("a").await;
            cluster.until(at("10:03:10")).await;
            cluster.ledger().await
        })
    };
    assert_eq!(told(Overlap::Skip), ["10:01:00 success", "10:02:00 skipped overlap", "10:03:00 running"]);
    assert_eq!(told(Overlap::Allow), ["10:01:00 success", "10:02:00 running", "10:03:00 running"]);
    assert_eq!(told(Overlap::Queue), ["10:01:00 success", "10:02:00 running", "10:03:00 waiting"]);
}

#[test]
fn s4_catch_up_fires_none_all_at_once_or_spread_over_the_lookahead() {
    let told = |catch_up| {
        Cluster::tell(SEED, at("10:00:30"), async |mut cluster| {
            let schedule = with(flow("* * * * *", Overlap::Allow), |policy| policy.catch_up = catch_up);
            cluster.create(schedule).await;
            cluster.start("a").await;
            cluster.until(at("10:01:10")).await;
            cluster.stop("a").await;
            cluster.until(at("10:06:30")).await;
            cluster.start("a").await;
            cluster.pass(Duration::from_secs(1)).await;
            let at_once = cluster.targets.launched().len();
            cluster.until(at("10:07:50")).await;
            (at_once, cluster.targets.launched().len())
        })
    };
    // The first one before the outage, the last within the grace, and the next.
    assert_eq!(told(CatchUp::Skip), (2, 3));
    assert_eq!(told(CatchUp::RunAll), (6, 7));
    let (at_once, all) = told(CatchUp::Spread);
    assert!(at_once < 6 && all == 7, "{at_once} at once, {all} in all");
}

#[test]
fn s4_jitter_moves_each_tick_alike_before_and_after_a_restart() {
    let told = |restart: bool| {
        Cluster::tell(SEED, at("10:00:30"), async |mut cluster| {
            let jitter = Jitter { max: seconds(20), mode: JitterMode::Around };
            let schedule = with(flow("* * * * *", Overlap::Allow), |policy| policy.jitter = jitter);
            cluster.create(schedule).await;
            cluster.start("a").await;
            if restart {
                cluster.until(at("10:02:31")).await;
                cluster.crash("a").await;
                cluster.start("a").await;
            }
            cluster.until(at("10:05:30")).await;
            let rows = cluster.runs().await;
            rows.iter()
                .take(5)
                .map(|row| row.run.fire_at.duration_since(row.run.scheduled_for))
                .collect::<Vec<_>>()
        })
    };
    let moved = told(false);
    assert!(moved.iter().all(|by| by.abs() <= seconds(20)), "{moved:?}");
    assert!(
        moved.iter().any(jiff::SignedDuration::is_negative)
            || moved.iter().any(jiff::SignedDuration::is_positive),
        "{moved:?}"
    );
    assert_eq!(moved, told(true));
}
