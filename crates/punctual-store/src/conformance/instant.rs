//! Instants: when ticks are planned, and when they fire.
//!
//! Where a tick lies in its jitter follows from its schedule's id: several schedules lie on both sides of it.

use jiff::Timestamp;
use punctual_plan::{
    Cursor, Jitter, JitterMode, Reason, Run, RunState, Schedule, Status, Subject, Window, plan_first,
};

use super::Backend;
use super::stage::{Shape, Stage, at, cron, seconds};
use crate::{Ask, Store, Write, Written};

/// So many schedules lie on both sides of an instant.
const MANY: usize = 20;

/// A schedule whose ticks are scattered.
fn scattered(name: &str, spec: &str, jitter: Jitter) -> Schedule {
    cron(name, spec).policy(|policy| policy.jitter = jitter)
}

/// Half a minute to both sides.
fn around() -> Jitter {
    Jitter { max: seconds(30), mode: JitterMode::Around }
}

/// Makes many schedules of every minute that are scattered to both sides; gives back the first tick of each.
async fn first_ticks<S: Store>(
    stage: &Stage<S>,
    now: Timestamp,
    shape: impl Fn(Schedule) -> Schedule,
) -> Vec<Run> {
    let mut first = Vec::with_capacity(MANY);
    for number in 0..MANY {
        let name = format!("s{number}");
        stage.create(shape(scattered(&name, "* * * * *", around())), now).await;
        first.push(stage.runs(&name).await.remove(0).run);
    }
    assert!(first.iter().all(|run| run.scheduled_for == at("10:01:00")), "{first:?}");
    first
}

/// A schedule wants planning half a window before its next tick may fire, not before its instant.
pub async fn what_jitter_may_fire_early_is_planned_earlier<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let jitter = Jitter { max: seconds(600), mode: JitterMode::Around };
    stage.create(scattered("one", "20 * * * *", jitter), at("10:00:05")).await;
    let batch = stage.store.plannable(Ask::all(at("10:09:29"))).await.expect("the store answers");
    assert!(batch.ready.is_empty() && batch.next_plan_at == Some(at("10:09:30")), "{batch:?}");
    stage.plan(at("10:09:30")).await;
    assert_eq!(stage.ledger("one").await, "10:20:00 scheduled");
}

/// A tick that jitter puts before the instant at which it is planned fires at that.
pub async fn nothing_fires_before_it_was_planned<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let now = at("10:00:45");
    let first = first_ticks(&stage, now, |schedule| schedule).await;
    assert!(first.iter().all(|run| run.fire_at >= now), "{first:?}");
    assert!(first.iter().any(|run| run.fire_at == now), "none of them would have fired before: {first:?}");
}

/// A tick that jitter puts before the start of its schedule fires at that.
pub async fn nothing_fires_before_its_schedule_starts<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let start = at("10:01:00");
    let started = |schedule: Schedule| schedule.timing(|timing| timing.bounds.start_at = Some(start));
    let first = first_ticks(&stage, at("10:00:05"), started).await;
    assert!(first.iter().all(|run| run.fire_at >= start), "{first:?}");
    assert!(first.iter().any(|run| run.fire_at == start), "none of them would have fired before: {first:?}");
}

/// A tick within the window runs, though jitter puts it outside.
pub async fn a_window_is_asked_about_the_tick<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let windowed = |schedule: Schedule| {
        schedule.timing(|timing| {
            timing.windows.only_between = Some("10:01-11:00".parse().expect("a part of the day"));
        })
    };
    let first = first_ticks(&stage, at("10:00:05"), windowed).await;
    let is_free = |run: &Run| run.state == RunState::Scheduled { verdict: None::<Reason> };
    assert!(first.iter().all(is_free), "{first:?}");
    assert!(first.iter().any(|run| run.fire_at < at("10:01:00")), "none of them fires outside: {first:?}");
}

/// A tick that jitter lets fire long after its instant is in time when it does.
pub async fn lateness_counts_from_when_a_tick_was_to_fire<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let jitter = Jitter { max: seconds(300), mode: JitterMode::After };
    let mut fires = Vec::new();
    for name in ["a", "b", "c", "d"] {
        let schedule = scattered(name, "1 10 * * *", jitter).policy(|policy| policy.grace = seconds(5));
        stage.create(schedule, at("10:00:05")).await;
        fires.push(stage.runs(name).await.remove(0).run);
    }
    fires.sort_by_key(|run| run.fire_at);
    assert!(fires[3].fire_at > at("10:01:10"), "none of them is scattered: {fires:?}");
    for run in fires {
        stage.admit(run.fire_at + seconds(2)).await;
        assert_eq!(stage.status(run.key).await, "enqueued", "{run:?}");
    }
}

/// A schedule that is made in the minute of a tick fires at once, however much of that minute is over.
pub async fn a_first_start_fires_at_once<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let now = at("10:00:40");
    let schedule = cron("one", "* * * * *").policy(|policy| policy.grace = seconds(1));
    let first = Subject::of(&schedule, Cursor::starting(now))
        .map(|subject| plan_first(&subject, Window::at(now)))
        .expect("it ticks");
    let mut creation = stage.creation(schedule, now);
    creation.write = Write::Create {
        definition: match creation.write {
            Write::Create { definition, .. } => definition,
            other => panic!("a schedule is made, not {other:?}"),
        },
        status: Status::Active,
        plan: Some(first),
        declared_set: None,
    };
    assert!(matches!(stage.write(creation).await, Written::Schedule(_)));
    let tick = stage.runs("one").await.remove(0).run;
    assert_eq!((tick.scheduled_for, tick.fire_at), (at("10:00:00"), now));
    stage.admit(now).await;
    assert_eq!(stage.status(tick.key).await, "enqueued");
}
