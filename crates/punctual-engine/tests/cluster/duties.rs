//! What an engine does beside the ticks, and the settings that it goes by.

use jiff::SignedDuration;
use punctual_engine::harness::{Cluster, Deed};
use punctual_plan::{Action, CatchUp, Pace, RunStatus, Status, Target, When};
use punctual_store::{DocumentKind, NewDocument, Retention, Scope, Selector, Store, calendar_body};
use punctual_time::Calendar;

use crate::stage::{SEED, at, cron, seconds, with};

#[test]
fn old_rows_become_digests_while_ticks_go_on() {
    let (rows, digested, metrics) = Cluster::tell(SEED, at("10:00:00"), async |mut cluster| {
        cluster.retention = Retention { runs: SignedDuration::from_mins(10), ..Retention::default() };
        cluster.create(cron("one", "*/10 * * * * *")).await;
        cluster.start("a").await;
        cluster.until(at("10:45:05")).await;
        let rows = cluster.runs().await;
        let digested: u64 = cluster.ranges().await.iter().map(|row| row.range.count).sum();
        (rows, digested, cluster.metrics("a"))
    });
    let ended = rows.iter().filter(|row| row.run.state.status() == RunStatus::Success).count() as u64;
    assert_eq!(ended + digested, 45 * 6, "every tick is accounted for");
    assert!((60..=75).contains(&ended), "ten minutes of them, and what came since the last step: {ended}");
    assert!(metrics.contains(&format!("punctual_runs_retained_total {digested}\n")), "{metrics}");
}

#[test]
fn events_are_sealed_and_messages_have_their_place_within_seconds() {
    let (chain, messages) = Cluster::tell(SEED, at("10:00:00"), async |mut cluster| {
        let mut schedule = cron("tell", "1 10 * * *");
        let message = serde_json::json!({"text": "good morning"}).as_object().cloned().expect("an object");
        let action = Action::Message { message };
        schedule.target = std::sync::Arc::new(Target { action, ..(*schedule.target).clone() });
        cluster.create(schedule).await;
        cluster.start("a").await;
        cluster.until(at("10:01:02")).await;
        let chain = cluster.store.verify_audit(Scope::org(cluster.org)).await.expect("the store answers");
        (chain, cluster.store.outbox(Scope::org(cluster.org), 0, 10).await.expect("the store answers"))
    });
    assert_eq!((chain.unsealed, chain.broken), (0, None));
    assert!(chain.checked > 0);
    assert_eq!(messages.len(), 1);
}

#[test]
fn a_due_row_that_cannot_be_read_pauses_its_schedule_at_once_and_no_other() {
    let (status, ledger) = Cluster::tell(SEED, at("10:00:00"), async |mut cluster| {
        let free = Calendar::new("free", ["2026-01-02".parse().expect("a date")]);
        let scope = || Scope::org(cluster.org);
        let (kind, name, body) = (DocumentKind::Calendar, "free".to_owned(), calendar_body(&free));
        let document = NewDocument { kind, name: name.clone(), body, replaces: None, now: cluster.now() };
        cluster.store.put_document(scope(), document).await.expect("the store answers");
        let mut broken = cron("broken", "1 10 * * *");
        if let When::Ticks(timing) = &mut broken.when {
            timing.windows.calendars = vec![free];
        }
        cluster.create(broken).await;
        cluster.create(cron("whole", "1 10 * * *")).await;
        // Its next plan is a day away.
        cluster.store.remove_document(scope(), kind, name.clone()).await.expect("the store answers");
        cluster.start("a").await;
        cluster.until(at("10:01:01")).await;
        let found =
            cluster.store.schedule(Scope::org(cluster.org), Selector::Name("broken".to_owned())).await;
        let status = found.expect("the store answers").expect("it is there").state.status;
        (status, cluster.ledger().await)
    });
    assert_eq!(status, Status::PausedInvalid { error: "there is no calendar `free` any more".to_owned() });
    assert_eq!(ledger, ["10:01:00 skipped invalid", "10:01:00 success"]);
}

#[test]
fn a_healthy_installation_has_nothing_unplanned() {
    let metrics = Cluster::tell(SEED, at("10:00:00"), async |mut cluster| {
        cluster.targets.on("one", |_, number| if number == 2 { Deed::fails(1) } else { Deed::succeeds(70) });
        cluster.create(cron("one", "* * * * *")).await;
        cluster.start("a").await;
        cluster.until(at("10:06:30")).await;
        cluster.metrics("a")
    });
    for line in [
        "punctual_schedules_unplanned 0",
        "punctual_runs_emitted_total{origin=\"tick\"} 4",
        "punctual_runs_skipped_overlap_total 2",
        "punctual_runs_skipped_total{reason=\"overlap\"} 2",
        "punctual_target_runs_ended_total{target=\"one\",status=\"success\"} 2",
        "punctual_target_runs_ended_total{target=\"one\",status=\"failed\"} 1",
        "punctual_org_runs_ended_total{org=\"default\",status=\"success\"} 2",
        "punctual_schedule_lateness_seconds_count 4",
        "punctual_schedule_drift_seconds_count 4",
        "punctual_runs_in_flight 1",
    ] {
        assert!(metrics.lines().any(|known| known == line), "{line} is not in\n{metrics}");
    }
}

/// How far ahead of 10:00:30 rows are planned, with a lookahead of so many seconds.
fn planned_ahead(lookahead: i64) -> i64 {
    Cluster::tell(SEED, at("10:00:00"), async |mut cluster| {
        cluster.pace = Pace { lookahead: seconds(lookahead), ..Pace::default() };
        cluster.create(cron("one", "* * * * * *")).await;
        cluster.start("a").await;
        cluster.until(at("10:00:30")).await;
        let last = cluster.runs().await.last().expect("a planned tick").run.scheduled_for;
        last.duration_since(at("10:00:30")).as_secs()
    })
}

#[test]
fn the_lookahead_is_kept_between_its_half_and_its_whole() {
    for lookahead in [20, 60, 600] {
        let ahead = planned_ahead(lookahead);
        assert!((lookahead / 2..=lookahead).contains(&ahead), "{lookahead}: {ahead}");
    }
    assert!(planned_ahead(100_000) <= 3_600, "never further than an hour");
}

#[test]
fn late_ticks_fire_in_batches_a_tick_apart() {
    let launched = Cluster::tell(SEED, at("10:00:00"), async |mut cluster| {
        cluster.pace = Pace { tick: seconds(2), catch_up_per_tick_max: 3, ..Pace::default() };
        let all = with(cron("one", "* * * * *"), |policy| {
            policy.catch_up = CatchUp::RunAll;
            policy.overlap = punctual_plan::Overlap::Allow;
        });
        cluster.create(all).await;
        cluster.until(at("10:09:30")).await;
        cluster.start("a").await;
        cluster.until(at("10:09:50")).await;
        cluster.targets.launched()
    });
    let after: Vec<i64> =
        launched.iter().map(|one| one.at.duration_since(at("10:09:30")).as_secs()).collect();
    assert_eq!(after, [0, 0, 0, 2, 2, 2, 4, 4, 4]);
}
