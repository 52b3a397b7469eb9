//! Nodes whose tz databases differ: who has an older one plans nothing, and leaves to the others what a plan decides; who has
//! a newer one plans again what has moved.

use std::sync::Arc;
use std::time::Duration;

use punctual_engine::harness::Cluster;
use punctual_plan::{CatchUp, Cursor, Schedule, Status, Subject, When, Window, plan};
use punctual_store::{AuditFilter, Cut, ScheduleFilter, ScheduleWrite, Scope, Store, Write};
use punctual_time::Zone;

use crate::stage::{SEED, at, cron, with};

/// A tz database that is newer than that of this program.
const NEWER: Option<&str> = Some("2091c");

const MANY: usize = 20;

#[test]
fn a_node_with_an_older_tz_database_plans_nothing_and_the_others_plan_for_it() {
    let (launched, metrics) = Cluster::tell(SEED, at("10:00:00"), async |mut cluster| {
        for number in 0..MANY {
            cluster.create(cron(&format!("s{number}"), "* * * * *")).await;
        }
        cluster.tz_version = NEWER;
        cluster.start("new").await;
        cluster.tz_version = None;
        cluster.start("old").await;
        cluster.until(at("10:05:30")).await;
        let metrics = cluster.metrics("old");
        (cluster.targets.launched(), metrics)
    });
    assert!(metrics.contains("punctual_schedules_planned_total 0\n"), "{metrics}");
    let mut ticks: Vec<_> = launched.iter().map(|one| (&one.schedule, one.scheduled_for)).collect();
    ticks.sort_unstable();
    ticks.dedup();
    assert_eq!((ticks.len(), launched.len()), (MANY * 5, MANY * 5), "every tick runs once");
    assert!(launched.iter().all(|one| one.at == one.scheduled_for), "each in time");
    assert!(launched.iter().any(|one| one.node == "old"), "what is planned is admitted by whoever holds it");
}

#[test]
fn a_node_stops_to_plan_when_one_with_a_newer_tz_database_comes() {
    let (before, after) = Cluster::tell(SEED, at("10:00:00"), async |mut cluster| {
        cluster.create(cron("one", "* * * * *")).await;
        cluster.start("old").await;
        cluster.until(at("10:05:30")).await;
        let planned = |text: String| {
            let line = text.lines().find(|line| line.starts_with("punctual_schedules_planned_total "));
            line.expect("it is counted").to_owned()
        };
        cluster.tz_version = NEWER;
        cluster.start("new").await;
        cluster.pass(std::time::Duration::from_secs(2)).await;
        let before = planned(cluster.metrics("old"));
        cluster.until(at("10:10:30")).await;
        (before, planned(cluster.metrics("old")))
    });
    assert_ne!(before, "punctual_schedules_planned_total 0");
    assert_eq!(before, after);
}

/// What an outage from 10:02:30 to 10:06:40 came to, in which perhaps a node served that may not plan.
fn ledger_of(schedule: &Schedule, visitor: Option<&'static str>) -> Vec<String> {
    Cluster::tell(SEED, at("10:00:00"), async |mut cluster| {
        cluster.create(schedule.clone()).await;
        cluster.tz_version = NEWER;
        cluster.start("new").await;
        cluster.until(at("10:02:30")).await;
        cluster.stop("new").await;
        cluster.until(at("10:06:10")).await;
        if let Some(visitor) = visitor {
            cluster.tz_version = None;
            cluster.start(visitor).await;
            cluster.until(at("10:06:40")).await;
            assert!(
                cluster.ledger().await.iter().all(|line| !line.contains("missed")),
                "it decided something"
            );
            cluster.stop(visitor).await;
        }
        cluster.until(at("10:06:40")).await;
        cluster.tz_version = NEWER;
        cluster.start("new").await;
        cluster.until(at("10:08:30")).await;
        cluster.ledger().await
    })
}

#[test]
fn what_was_slept_through_is_left_to_a_node_that_may_plan() {
    for catch_up in [CatchUp::Skip, CatchUp::RunOnce, CatchUp::RunAll] {
        let schedule = with(cron("one", "* * * * *"), |policy| policy.catch_up = catch_up);
        assert_eq!(ledger_of(&schedule, Some("old")), ledger_of(&schedule, None), "{catch_up:?}");
    }
}

fn within(mut schedule: Schedule, zone: &str) -> Schedule {
    if let When::Ticks(timing) = &mut schedule.when {
        timing.zone = Zone::get(zone).expect("there is such a zone");
    }
    schedule
}

/// Makes a schedule of Berlin's noon, at 11:00, whose first window is that of Athens, where noon is at 10:00: as if Berlin's
/// rules had been those of Athens before.
async fn create_by_older_rules(cluster: &Cluster, name: &str) {
    let now = cluster.now();
    let noon = |zone| within(cron(name, "0 12 * * *"), zone);
    let older = noon("Europe/Athens");
    let subject = Subject::of(&older, Cursor::starting(now)).expect("it ticks");
    let plan = Some(plan(&subject, Window { now, pace: cluster.pace }));
    let definition = Arc::new(noon("Europe/Berlin"));
    let write = Write::Create { definition, status: Status::Active, plan, declared_set: None };
    let write = ScheduleWrite { write, kind: "schedule.created", note: String::new(), now };
    cluster.write(write).await.expect("it is made");
}

/// How often the audit log says that a schedule has moved, and the versions of all schedules.
async fn moves(cluster: &Cluster) -> (usize, Vec<i64>) {
    let filter = AuditFilter { kind: Some("schedule.changed".to_owned()), ..AuditFilter::default() };
    let said = cluster.store.audit(Scope::org(cluster.org), filter, Cut::first(10_000)).await;
    let rows = cluster.store.schedules(Scope::Engine, ScheduleFilter::default(), Cut::first(10_000)).await;
    let versions = rows.expect("the store answers").rows.iter().map(|row| row.definition.version).collect();
    (said.expect("the store answers").rows.len(), versions)
}

#[test]
fn what_newer_rules_move_is_run_where_they_put_it() {
    // Armed by the older rules, or only known.
    for begin in ["09:59:30", "08:00:00"] {
        let (launched, moves) = Cluster::tell(SEED, at(begin), async |mut cluster| {
            create_by_older_rules(&cluster, "moved").await;
            cluster.create(within(cron("still", "30 12 * * *"), "Europe/Berlin")).await;
            cluster.tz_version = NEWER;
            cluster.start("new").await;
            cluster.until(at("12:00:00")).await;
            (cluster.targets.launched(), moves(&cluster).await)
        });
        let ran: Vec<_> = launched.iter().map(|one| (one.schedule.as_str(), one.at)).collect();
        assert_eq!(ran, [("moved", at("11:00:00")), ("still", at("11:30:00"))], "{begin}");
        assert_eq!(moves, (1, vec![2, 1]), "{begin}");
    }
}

#[test]
fn everything_is_gone_over_once_whoever_is_killed_meanwhile() {
    const ALL: usize = 350;
    let (ticks, moves, after) = Cluster::tell(SEED, at("09:59:30"), async |mut cluster| {
        for number in 0..ALL {
            create_by_older_rules(&cluster, &format!("s{number:03}")).await;
        }
        cluster.tz_version = NEWER;
        // Each has gone over a page or two when it is killed, or the next one comes.
        for _ in 0..3 {
            cluster.start("new").await;
            cluster.pass(Duration::from_millis(25)).await;
            cluster.crash("new").await;
        }
        cluster.start("new").await;
        cluster.start("other").await;
        cluster.until(at("11:00:01")).await;
        let seen = moves(&cluster).await;
        cluster.stop("other").await;
        cluster.stop("new").await;
        cluster.start("new").await;
        cluster.pass(Duration::from_secs(10)).await;
        (cluster.targets.launched(), seen, moves(&cluster).await)
    });
    assert_eq!(ticks.len(), ALL);
    assert!(ticks.iter().all(|one| one.at == at("11:00:00")), "each in time, and none at the older one");
    assert_eq!(moves, (ALL, vec![2; ALL]));
    assert_eq!(after, moves, "a restart with the same rules moves nothing");
}
