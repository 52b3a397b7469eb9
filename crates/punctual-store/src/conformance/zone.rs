//! Zones: what was planned by older rules is planned again by newer ones, once, and only by whoever has the newest.
//!
//! A zone has one set of rules here. What older ones would have planned is what another zone plans.

use jiff::Timestamp;
use punctual_plan::{Cursor, Outcome, Schedule, ScheduleKey, Subject, Window, plan};
use punctual_time::Zone;

use super::Backend;
use super::copy::dump;
use super::stage::{Shape, Stage, at, cron, node, seconds};
use crate::{Commit, NewRules, Node, ScheduleWrite, Scope, Store, Turn, Write, Written};

/// A schedule of a zone.
fn within(schedule: Schedule, zone: &str) -> Schedule {
    schedule.timing(|timing| timing.zone = Zone::get(zone).expect("there is such a zone"))
}

/// Makes a schedule whose first window another one has planned, which is what older rules would have made of it.
async fn planned_as<S: Store>(
    stage: &Stage<S>,
    present: Schedule,
    older: &Schedule,
    now: Timestamp,
) -> ScheduleKey {
    let before = Subject::of(older, Cursor::starting(now)).map(|subject| plan(&subject, Window::at(now)));
    let mut creation = stage.creation(present, now);
    if let Write::Create { plan, .. } = &mut creation.write {
        *plan = before;
    }
    match stage.write(creation).await {
        Written::Schedule(key) => key,
        other => panic!("a schedule was made, not {other:?}"),
    }
}

/// What the newest rules change of a schedule.
async fn moved<S: Store>(stage: &Stage<S>, name: &str, now: Timestamp) -> Option<ScheduleWrite> {
    let row = stage.row(name).await;
    assert!(row.hangs_on_zones(now), "{row:?}");
    let open = stage.store.open_rows(Scope::Engine, row.key).await.expect("the store answers");
    let rules = NewRules { before: Some("2089c".to_owned()), version: "2090a".to_owned() };
    let write = Turn { row: &row, open: &open, window: Window::at(now) }.replan(&rules);
    assert!(write.is_none() || !row.is_in_place(now), "{row:?}");
    write
}

/// Plans a schedule again; gives back whether there was anything to move.
async fn replan<S: Store>(stage: &Stage<S>, name: &str, now: Timestamp) -> bool {
    let Some(write) = moved(stage, name, now).await else { return false };
    let written = stage.store.replan(stage.fence, vec![write]).await.expect("the store answers");
    let written = written.expect("nobody has newer rules").remove(0);
    assert!(matches!(written, Ok(Written::Schedule(_))), "{written:?}");
    true
}

/// A tick that newer rules put elsewhere is there: earlier or later, armed or not.
pub async fn newer_rules_move_what_is_to_come<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let noon = |zone: &str| within(cron("one", "0 12 * * *"), zone);
    // By the older rules it is noon at 10:00, by the newer ones at 11:00; the other way round for the second.
    planned_as(&stage, noon("Europe/Berlin"), &noon("Europe/Athens"), at("09:59:30")).await;
    let second = |zone: &str| within(cron("two", "0 12 * * *"), zone);
    planned_as(&stage, second("Europe/Athens"), &second("Europe/Berlin"), at("09:59:30")).await;
    assert_eq!(stage.ledger("one").await, "10:00:00 scheduled");
    assert_eq!(stage.row("two").await.next_run_at, Some(at("11:00:00")));
    assert!(replan(&stage, "one", at("09:59:40")).await && replan(&stage, "two", at("09:59:40")).await);
    assert_eq!(stage.ledger("one").await, "");
    assert_eq!(stage.row("one").await.next_run_at, Some(at("11:00:00")));
    assert_eq!(stage.ledger("two").await, "10:00:00 scheduled");
    assert_eq!(stage.admit(at("10:00:00")).await.len(), 1);
    assert!(stage.plan(at("10:59:40")).await.contains(&Commit::Done));
    assert_eq!(stage.ledger("one").await, "11:00:00 scheduled");
    let said = stage.events("schedule.changed").await;
    assert_eq!(
        said,
        [
            "decided again after a change of the rules of `Europe/Berlin` (tz database 2090a instead of 2089c): armed ticks \
             that went: 1, that came: 0; the next is at 2026-01-01T11:00:00Z",
            "decided again after a change of the rules of `Europe/Athens` (tz database 2090a instead of 2089c): armed ticks \
             that went: 0, that came: 1; the next is at 2026-01-01T10:00:00Z",
        ]
    );
    assert!(stage.store.check().await.expect("it is checked").is_empty());
}

/// What is where the newer rules put it stays as it is, and nobody hears of it.
pub async fn newer_rules_leave_what_is_in_its_place<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let busy = within(cron("busy", "*/20 * * * * *"), "Europe/Berlin");
    planned_as(&stage, busy, &within(cron("busy", "*/20 * * * * *"), "Europe/Athens"), at("10:00:05")).await;
    stage.create(within(cron("quiet", "0 12 * * *"), "Europe/Berlin"), at("10:00:05")).await;
    let windowed = within(cron("windowed", "*/20 * * * * *"), "Europe/Berlin").timing(|timing| {
        timing.windows.only_between = Some("09:00-11:00".parse().expect("a part of the day"));
    });
    stage.create(windowed, at("10:00:05")).await;
    let before = dump(&*stage.store).await;
    for name in ["busy", "quiet", "windowed"] {
        assert!(!replan(&stage, name, at("10:00:10")).await, "{name}");
    }
    assert_eq!(dump(&*stage.store).await, before);
}

/// What has come stays: it is neither planned again nor run twice, and what was launched goes on.
pub async fn newer_rules_do_not_reach_back<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let present = within(cron("one", "*/30 * * * * *"), "Europe/Berlin");
    planned_as(&stage, present, &cron("one", "*/20 * * * * *"), at("10:00:05")).await;
    let run = stage.admit(at("10:00:20")).await[0];
    assert!(replan(&stage, "one", at("10:00:25")).await);
    let rest = "10:00:30 scheduled | 10:01:00 scheduled";
    assert_eq!(stage.ledger("one").await, format!("10:00:20 enqueued | {rest}"));
    assert!(!replan(&stage, "one", at("10:00:25")).await, "it is in its place now");
    stage.settle(run, Outcome::Succeeded, at("10:00:26")).await;
    assert_eq!(stage.ledger("one").await, format!("10:00:20 success | {rest}"));
    let row = stage.row("one").await;
    assert_eq!((row.definition.version, row.state.cursor.decided_through), (2, at("10:00:25")));
    let versions = stage.store.versions(stage.scope(), row.definition.id).await.expect("the store answers");
    assert_eq!((versions[0].since, versions[0].by.as_deref()), (at("10:00:25"), None));
    assert_eq!(stage.events("schedule.changed").await.len(), 1);
    assert!(stage.store.check().await.expect("it is checked").is_empty());
}

/// A window that suppresses by the clock of a zone suppresses by its newer rules.
pub async fn newer_rules_move_windows_too<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let until_noon = |zone: &str| {
        within(cron("one", "*/20 * * * * *"), zone).timing(|timing| {
            timing.windows.only_between = Some("00:00-12:00".parse().expect("a part of the day"));
        })
    };
    planned_as(&stage, until_noon("Europe/Berlin"), &until_noon("Europe/Athens"), at("09:59:30")).await;
    assert!(stage.ledger("one").await.contains("09:59:40 scheduled | 10:00:00 scheduled/outside_window"));
    assert!(replan(&stage, "one", at("09:59:35")).await);
    assert!(!stage.ledger("one").await.contains("outside_window"), "{}", stage.ledger("one").await);
    assert!(!replan(&stage, "one", at("09:59:35")).await);
}

/// Of two who go over the same schedule one moves it, and the other hears that it is late.
pub async fn a_schedule_is_moved_once<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let beside = stage.beside(backend).await;
    let noon = |zone: &str| within(cron("one", "0 12 * * *"), zone);
    planned_as(&stage, noon("Europe/Berlin"), &noon("Europe/Athens"), at("09:59:30")).await;
    let writes = [moved(&stage, "one", at("09:59:30")).await, moved(&beside, "one", at("09:59:30")).await];
    let [first, second] = writes.map(|write| vec![write.expect("it moves")]);
    let first = stage.store.replan(stage.fence, first).await.expect("the store answers");
    assert!(matches!(first.as_deref(), Some([Ok(Written::Schedule(_))])), "{first:?}");
    let second = beside.store.replan(beside.fence, second).await.expect("the store answers");
    assert!(matches!(second.as_deref(), Some([Ok(Written::Stale)])), "{second:?}");
    assert_eq!(stage.events("schedule.changed").await.len(), 1);
}

/// Whoever has older rules neither plans nor moves anything, though nobody has told it yet.
pub async fn older_rules_change_nothing_any_more<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let noon = |zone: &str| within(cron("one", "0 12 * * *"), zone);
    planned_as(&stage, noon("Europe/Berlin"), &noon("Europe/Athens"), at("09:59:30")).await;
    stage.create(within(cron("two", "*/20 * * * * *"), "Europe/Berlin"), at("09:59:30")).await;
    let (plans, write) = (stage.plans(at("10:00:10")).await, moved(&stage, "one", at("09:59:40")).await);
    assert!(!plans.is_empty());
    let newer = Node { tz_version: "2091c".to_owned(), ..node("newer", seconds(3_600)) };
    assert!(stage.store.join(newer).await.expect("it joins").may_plan);
    let ledger = (stage.ledger("one").await, stage.ledger("two").await);
    assert!(stage.commit(plans, at("10:00:10")).await.iter().all(|commit| *commit == Commit::Stale));
    let answer = stage.store.replan(stage.fence, vec![write.expect("it moves")]).await;
    assert!(answer.expect("the store answers").is_none());
    assert_eq!((stage.ledger("one").await, stage.ledger("two").await), ledger);
}
