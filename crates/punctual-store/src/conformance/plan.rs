//! Plans: guarded by the cursor and the version they were made on, one entry per tick.

use punctual_plan::{
    Basis, CatchUp, Jitter, JitterMode, Origin, Outcome, Overlap, Recorded, RunStatus, Span, Status,
    audit_ledger,
};
use punctual_time::{Anchor, Weekdays};

use super::Backend;
use super::stage::{Shape, Stage, at, cron, every, seconds};
use crate::{
    Ask, BATCH_MAX, Commit, Cut, PlanCommit, RunFilter, SHARDS, ScheduleWrite, Shards, Store, Whose, Write,
};

/// The first window is armed in the transaction that makes the schedule.
pub async fn a_created_schedule_has_its_first_window_armed<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    stage.create(cron("one", "*/20 * * * * *"), at("10:00:05")).await;
    assert_eq!(stage.ledger("one").await, "10:00:20 scheduled | 10:00:40 scheduled | 10:01:00 scheduled");
    assert_eq!(stage.row("one").await.next_run_at, Some(at("10:00:20")));
}

/// What is written without a plan is left to the planner, as long as it is active.
pub async fn a_schedule_without_a_plan_is_left_to_the_planner<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let without = |mut write: ScheduleWrite| {
        match &mut write.write {
            Write::Create { plan, .. } | Write::Change { plan, .. } => *plan = None,
            Write::Trigger { .. } => {}
        }
        write
    };
    stage.write(without(stage.creation(cron("one", "*/20 * * * * *"), at("10:00:05")))).await;
    assert!(stage.ledger("one").await.is_empty());
    assert_eq!(stage.plan(at("10:00:05")).await, [Commit::Done]);
    assert!(stage.ledger("one").await.starts_with("10:00:20 scheduled"));
    let edit = stage.edit("one", cron("one", "*/30 * * * * *"), at("10:00:06")).await;
    stage.write(without(edit)).await;
    assert_eq!(stage.plan(at("10:00:06")).await, [Commit::Done]);
    assert!(stage.ledger("one").await.starts_with("10:00:30 scheduled"));
    stage.write(stage.pause("one", at("10:00:07")).await).await;
    let edit = stage.edit("one", cron("one", "*/40 * * * * *"), at("10:00:08")).await;
    stage.write(without(edit)).await;
    assert!(stage.plan(at("10:00:08")).await.is_empty(), "it is paused");
}

/// Two planners read the same cursor: the second commit changes nothing.
pub async fn the_second_planner_to_commit_creates_no_run<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    stage.create(cron("one", "*/20 * * * * *"), at("10:00:05")).await;
    let (first, second) = (stage.plans(at("10:01:00")).await, stage.plans(at("10:01:00")).await);
    assert_eq!(stage.commit(first, at("10:01:00")).await, [Commit::Done]);
    let planned = stage.ledger("one").await;
    assert_eq!(stage.commit(second, at("10:01:00")).await, [Commit::Stale]);
    assert_eq!(stage.ledger("one").await, planned);
}

/// A plan counts only while the version is valid that it was made of.
pub async fn a_plan_of_an_older_version_is_stale<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    stage.create(cron("one", "*/20 * * * * *"), at("10:00:05")).await;
    let plans = stage.plans(at("10:00:50")).await;
    let edit = stage.edit("one", cron("one", "*/15 * * * * *"), at("10:00:50")).await;
    stage.write(edit).await;
    let ledger = stage.ledger("one").await;
    let mut again = plans.clone();
    assert_eq!(stage.commit(plans, at("10:00:50")).await, [Commit::Stale]);
    // The version is enough, wherever the cursor stands.
    again[0].from = stage.row("one").await.state.cursor;
    assert_eq!(stage.commit(again, at("10:00:50")).await, [Commit::Stale]);
    assert_eq!(stage.ledger("one").await, ledger);
}

/// What was paused after it was read is not planned any more.
pub async fn a_plan_of_a_paused_schedule_is_stale<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    stage.create(cron("one", "*/20 * * * * *"), at("10:00:05")).await;
    let plans = stage.plans(at("10:00:50")).await;
    let pause = stage.pause("one", at("10:00:50")).await;
    stage.write(pause).await;
    let mut again = plans.clone();
    assert_eq!(stage.commit(plans, at("10:00:50")).await, [Commit::Stale]);
    // The pause is enough, wherever the cursor stands.
    again[0].from = stage.row("one").await.state.cursor;
    assert_eq!(stage.commit(again, at("10:00:50")).await, [Commit::Stale]);
    assert!(stage.plans(at("11:00:00")).await.is_empty(), "a paused schedule is not plannable");
}

/// A plan that was made before the last run of its schedule started arms nothing beyond it.
pub async fn a_plan_of_a_spent_schedule_is_stale<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let schedule = cron("one", "*/20 * * * * *").timing(|timing| {
        timing.bounds.max_runs = Some(1);
        timing.bounds.start_at = Some(at("10:01:00"));
    });
    stage.create(schedule, at("10:00:05")).await;
    let plans = stage.plans(at("10:00:50")).await;
    assert!(!plans[0].plan.entries.is_empty(), "there is more to come");
    assert_eq!(stage.admit(at("10:01:00")).await.len(), 1);
    assert_eq!(stage.commit(plans, at("10:01:00")).await, [Commit::Stale]);
    assert_eq!(stage.runs("one").await.len(), 1);
}

/// An outage of many ticks is a range, and the ledger is whole with it.
pub async fn a_long_outage_leaves_ranges_up_to_the_cursor<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    stage.create(cron("one", "* * * * * *"), at("10:00:00")).await;
    assert_eq!(stage.plan(at("12:00:00")).await, [Commit::Done]);
    let row = stage.row("one").await;
    let listed = stage.store.ranges(stage.scope(), RunFilter::default(), Cut::first(100)).await;
    let ranges = listed.expect("the store answers").rows;
    assert!(ranges.iter().map(|range| range.range.count).sum::<u64>() > 7_000, "{ranges:?}");
    assert!(ranges.iter().all(|range| range.range.last <= at("12:00:00") && range.counts.is_empty()));
    let spans: Vec<Span> = ranges
        .iter()
        .map(|row| Span { first: row.range.first, last: row.range.last, count: row.range.count })
        .collect();
    let rows: Vec<_> = stage.runs("one").await.iter().map(|row| row.run.scheduled_for).collect();
    let timing = row.definition.when.timing().expect("it ticks").clone();
    let through = row.state.cursor.planned_through;
    let audit = audit_ledger(&timing, Recorded { rows: &rows, ranges: &spans }, at("10:00:01")..=through);
    assert!(audit.basis == Basis::Spec && audit.is_proved(), "{audit:?}");
}

/// Ranges are written with the cursor or not at all.
pub async fn a_stale_plan_writes_no_range<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    stage.create(cron("one", "* * * * * *"), at("10:00:00")).await;
    let plans = stage.plans(at("12:00:00")).await;
    assert!(!plans[0].plan.ranges.is_empty(), "the plan has ranges");
    let pause = stage.pause("one", at("10:00:00")).await;
    stage.write(pause).await;
    assert_eq!(stage.commit(plans, at("12:00:00")).await, [Commit::Stale]);
    let listed = stage.store.ranges(stage.scope(), RunFilter::default(), Cut::first(100)).await;
    assert!(listed.expect("the store answers").rows.is_empty());
}

/// Armed rows that were slept through end with the plan, each with its event.
pub async fn a_slept_through_row_is_closed_with_its_event<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    stage.create(cron("one", "*/20 * * * * *"), at("10:00:05")).await;
    let plans = stage.plans(at("10:30:00")).await;
    assert_eq!(plans[0].plan.closed.len(), 3, "the armed rows are late");
    stage.commit(plans, at("10:30:00")).await;
    assert_eq!(stage.runs("one").await[0].run.state.status().name(), "missed");
    let missed = stage.events("schedule.missed").await;
    assert!(missed.iter().any(|event| event.contains("2026-01-01T10:00:20Z")), "{missed:?}");
}

/// A late row that catch-up lets fire gets its new instant and keeps its entry.
pub async fn a_late_row_that_is_caught_up_fires_later<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let schedule = cron("one", "*/20 * * * * *").policy(|policy| policy.catch_up = CatchUp::RunAll);
    stage.create(schedule, at("10:00:05")).await;
    let plans = stage.plans(at("10:02:10")).await;
    assert_eq!(plans[0].plan.refired.len(), 3, "the armed rows fire late");
    stage.commit(plans, at("10:02:10")).await;
    let row = &stage.runs("one").await[0];
    assert_eq!(row.run.scheduled_for, at("10:00:20"));
    assert!(row.run.fire_at >= at("10:02:10"), "{}", row.run.fire_at);
    assert!(stage.events("schedule.caught_up").await.len() == 1);
}

/// Ticks that were armed and slept through, with nothing unplanned behind them, are one decision: a run for all of them
/// or none, `missed_audit_max` events and one that sums up the rest.
pub async fn armed_ticks_that_were_slept_through_are_one_decision<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    for (name, catch_up, grace) in
        [("once", CatchUp::RunOnce, 60), ("near", CatchUp::Skip, 60), ("far", CatchUp::Skip, 0)]
    {
        let schedule = cron(name, "* * * * * *").policy(|policy| {
            policy.catch_up = catch_up;
            policy.grace = seconds(grace);
            policy.missed_audit_max = 3;
        });
        stage.create(schedule, at("10:00:00")).await;
    }
    let now = at("10:00:20") + jiff::SignedDuration::from_millis(500);
    assert!(stage.plans(now).await.is_empty(), "nothing wants planning");
    stage.decide(now).await;
    assert!(stage.due(now).await.stretches().is_empty(), "it is decided once");
    stage.admit(now).await;
    for (name, fired, code) in [("once", 1, "caught_up"), ("near", 1, "overtaken"), ("far", 0, "outage")] {
        let rows = stage.runs(name).await;
        let fires = rows.iter().filter(|row| row.run.state.status().is_in_flight()).count();
        let missed = rows.iter().filter(|row| row.run.state.reason().is_some_and(|why| why.code() == code));
        assert_eq!((fires, missed.count()), (fired, 20 - fired), "{name}: {}", stage.ledger(name).await);
    }
    let told = stage.events("schedule.missed").await;
    let more = |count: usize, last: &str| {
        format!("{count} more ticks from 2026-01-01T10:00:04Z to 2026-01-01T10:00:{last}Z were missed")
    };
    let sums: Vec<&String> = told.iter().filter(|event| event.contains("more ticks")).collect();
    assert_eq!(
        (told.len(), sums),
        (12, vec![&more(16, "19"), &more(16, "19"), &more(17, "20")]),
        "{told:#?}"
    );
    assert_eq!(stage.events("schedule.caught_up").await, ["1 run for 20 late ticks"; 2]);
}

/// A row that was started before its plan could close it runs on, and no event says otherwise.
pub async fn a_row_that_has_started_is_not_closed_by_a_plan<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let key = stage.create(cron("one", "*/20 * * * * *"), at("10:00:05")).await;
    let batch = stage.store.decidable(at("10:00:45"), vec![key]).await.expect("the store answers");
    let plan = punctual_plan::plan(&batch.ready[0].subject(None), punctual_plan::Window::at(at("10:00:45")));
    assert_eq!((plan.closed.len(), plan.refired.len()), (1, 1));
    let first = stage.admit(at("10:00:20")).await[0];
    let (ready, one) = (&batch.ready[0], batch.ready[0].definition.clone());
    let commit = PlanCommit { schedule: key, org: ready.org, definition: one, from: ready.cursor, plan };
    assert_eq!(stage.commit(vec![commit], at("10:00:45")).await, [Commit::Done]);
    assert_eq!(stage.status(first).await, "enqueued");
    assert!(stage.events("schedule.missed").await.is_empty());
}

/// A schedule that is not active, or is gone, is not decided.
pub async fn only_active_schedules_are_decided<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let mut keys = Vec::new();
    for name in ["on", "off", "gone"] {
        keys.push(stage.create(cron(name, "*/20 * * * * *"), at("10:00:05")).await);
    }
    let pause = stage.pause("off", at("10:00:06")).await;
    let deletion = stage.deletion("gone", at("10:00:06")).await;
    stage.write(pause).await;
    stage.write(deletion).await;
    let batch = stage.store.decidable(at("10:00:45"), keys.clone()).await.expect("the store answers");
    let found: Vec<_> = batch.ready.iter().map(|one| (one.schedule, one.late.len())).collect();
    assert_eq!(found, [(keys[0], 2)]);
}

/// A skip that is known ahead waits for its instant with its verdict.
pub async fn a_suppressed_tick_waits_with_its_verdict<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let thursdays =
        cron("one", "*/20 * * * * *").timing(|timing| timing.windows.not_on = Weekdays::none().with(4));
    stage.create(thursdays, at("10:00:25")).await;
    let ledger = stage.ledger("one").await;
    assert!(ledger.starts_with("10:00:40 scheduled/not_on"), "{ledger}");
    stage.admit(at("10:00:40")).await;
    let ledger = stage.ledger("one").await;
    assert!(ledger.starts_with("10:00:40 skipped/not_on"), "{ledger}");
}

/// Who wants planning first comes first, and the next beyond is named.
pub async fn plannable_schedules_come_in_the_order_of_their_time<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    stage.create(cron("later", "40 * * * *"), at("10:00:05")).await;
    stage.create(cron("sooner", "20 * * * *"), at("10:00:05")).await;
    stage.create(cron("last", "55 * * * *"), at("10:00:05")).await;
    let batch = stage.store.plannable(Ask::all(at("10:45:00"))).await.expect("the store answers");
    let names: Vec<&str> = batch.ready.iter().map(|ready| ready.definition.name.as_str()).collect();
    assert_eq!(names, ["sooner", "later"]);
    assert_eq!(batch.next_plan_at, Some(at("10:54:30")));
    let one = Ask { limit: 1, ..Ask::all(at("10:45:00")) };
    let batch = stage.store.plannable(one).await.expect("the store answers");
    assert_eq!(batch.ready.len(), 1);
    assert!(batch.next_plan_at.is_some_and(|next| next <= at("10:45:00")), "the other wants planning too");
}

/// A node is given its own shards alone.
pub async fn plannable_schedules_keep_to_the_shards<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    for number in 0..20 {
        stage.create(cron(&format!("s{number}"), "20 * * * *"), at("10:00:05")).await;
    }
    let (mut found, halves) = (0, [0..SHARDS / 2, SHARDS / 2..SHARDS]);
    for half in halves {
        let whose = Whose::Own(Shards::Some(half.collect()));
        let ask = Ask { now: at("10:20:00"), whose, limit: BATCH_MAX };
        let part = stage.store.plannable(ask).await.expect("the store answers").ready.len();
        assert!(part < 20, "each half has a part of them");
        found += part;
    }
    assert_eq!(found, 20);
}

/// The sweep sees what is late, whosever it is, and nothing else.
pub async fn the_sweep_sees_what_is_late_in_any_shard<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    stage.create(cron("one", "20 * * * *"), at("10:00:05")).await;
    let sweep = |now| Ask { now, whose: Whose::Late(seconds(5)), limit: BATCH_MAX };
    let count = async |now| stage.store.plannable(sweep(now)).await.expect("the store answers").ready.len();
    assert_eq!(count(at("10:19:34")).await, 0);
    assert_eq!(count(at("10:19:35")).await, 1);
    stage.plan(at("10:19:35")).await;
    let due = async |now| stage.store.due(sweep(now)).await.expect("the store answers").rows.len();
    assert_eq!((due(at("10:20:04")).await, due(at("10:20:05")).await), (0, 1));
}

/// A schedule that was planned wants planning again only half a window before its next tick.
pub async fn a_planned_schedule_is_left_alone<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    stage.create(cron("one", "* * * * * *"), at("10:00:00")).await;
    assert!(stage.plans(at("10:00:29")).await.is_empty());
    assert_eq!(stage.plan(at("10:00:40")).await, [Commit::Done]);
    let batch = stage.store.plannable(Ask::all(at("10:00:40"))).await.expect("the store answers");
    assert!(batch.ready.is_empty() && batch.next_plan_at == Some(at("10:01:11")), "{batch:?}");
}

/// Instants read back as they were written, to the microsecond.
pub async fn instants_read_back_as_they_were_written<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let jitter = Jitter { max: seconds(20), mode: JitterMode::After };
    let schedule = cron("one", "* * * * *").policy(|policy| policy.jitter = jitter);
    let now = at("10:00:05.123456");
    let write = stage.creation(schedule, now);
    let crate::Write::Create { plan: Some(plan), .. } = &write.write else { panic!("it is planned") };
    let plan = plan.clone();
    stage.write(write).await;
    let row = stage.row("one").await;
    assert_eq!((row.state.cursor, row.created_at), (plan.cursor, now));
    let fired = crate::to_microsecond(plan.entries[0].fire_at);
    assert_eq!(stage.runs("one").await[0].run.fire_at, fired);
}

/// However time is cut into plans, each tick has one entry.
pub async fn every_tick_has_exactly_one_entry<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    stage.create(cron("one", "*/7 * * * * *"), at("10:00:00")).await;
    for minute in ["10:00:40", "10:00:41", "10:02:30", "10:04:00", "10:04:00"] {
        stage.plan(at(minute)).await;
        stage.run_due(at(minute)).await;
    }
    let row = stage.row("one").await;
    let rows: Vec<_> = stage.runs("one").await.iter().map(|row| row.run.scheduled_for).collect();
    let timing = row.definition.when.timing().expect("it ticks");
    let stretch = at("10:00:01")..=row.state.cursor.planned_through;
    let audit = audit_ledger(timing, Recorded { rows: &rows, ranges: &[] }, stretch);
    assert!(audit.is_proved() && audit.planned > 30, "{audit:?}");
}

/// The planner is told which ticks the next one hangs on, and which it has slept through.
pub async fn the_planner_is_told_what_is_outstanding<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let floating = |name: &str, anchor| every(name, "30s").timing(|timing| timing.anchor = anchor);
    stage.create(floating("start", Anchor::LastStart), at("10:00:00")).await;
    let finish = stage.create(floating("finish", Anchor::LastFinish), at("10:00:00")).await;
    let start = stage.runs("start").await[0].run.fire_at;
    stage.admit(start).await;
    // What a person asked for moves no tick.
    stage.trigger(finish, "now", start + seconds(1)).await;
    let ready = stage.store.plannable(Ask::all(start + seconds(1))).await.expect("the store answers").ready;
    let told: Vec<_> = ready.iter().map(|one| (one.definition.name.as_str(), one.outstanding)).collect();
    assert_eq!(told, [("start", 0)], "its tick has started; the other's has not ended");
    stage.plan(start + seconds(1)).await;
    let (first, second) = (stage.runs("start").await, stage.runs("finish").await);
    assert_eq!(first[1].run.scheduled_for, start + seconds(30));
    stage.settle(second[0].run.key, Outcome::Succeeded, start + seconds(2)).await;
    assert_eq!(stage.plan(start + seconds(2)).await.len(), 1);
    let ticks = stage.runs("finish").await;
    let mut ticks = ticks.iter().filter(|row| row.run.origin == Origin::Tick);
    assert_eq!(ticks.next_back().map(|row| row.run.scheduled_for), Some(start + seconds(32)));
    stage.create(cron("one", "*/20 * * * * *"), at("10:01:05")).await;
    let batch = stage.store.plannable(Ask::all(at("10:01:55"))).await.expect("the store answers");
    let one = batch.ready.iter().find(|ready| ready.definition.name == "one").expect("it wants planning");
    let late: Vec<_> = one.late.iter().map(|row| row.scheduled_for).collect();
    assert_eq!(late, [at("10:01:20"), at("10:01:40")]);
}

/// Where each tick hangs on the start of the one before, what would have come while that one waited was never a tick:
/// nobody has missed it.
pub async fn nothing_is_missed_while_a_tick_waits_to_start<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let floating = every("one", "30s").timing(|timing| timing.anchor = Anchor::LastStart);
    let schedule = floating.policy(|policy| {
        policy.overlap = Overlap::Queue;
        policy.start_deadline = Some(seconds(300));
        policy.grace = seconds(1);
    });
    let schedule = stage.create(schedule, at("10:00:00")).await;
    stage.trigger(schedule, "now", at("10:00:29")).await;
    stage.admit(at("10:00:29")).await;
    let tick = stage.admit(at("10:00:30")).await[0];
    assert_eq!(stage.run(tick).await.run.state.status(), RunStatus::Waiting);
    stage.admit(at("10:05:31")).await;
    assert_eq!(stage.run(tick).await.run.state.status(), RunStatus::Skipped);
    assert_eq!(stage.plan(at("10:05:31")).await, [Commit::Done]);
    let ticks = stage.runs("one").await;
    let ticks: Vec<_> = ticks.iter().filter(|row| row.run.origin == Origin::Tick).collect();
    assert_eq!(ticks.len(), 2, "{}", stage.ledger("one").await);
    assert_eq!(ticks[1].run.scheduled_for, at("10:06:00"));
    assert_eq!(stage.stretches("one").await, [""; 0]);
}

/// A plan that ends the tick on which the next one hung lets the schedule go on.
pub async fn a_missed_tick_is_followed_by_the_next_one<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let floating = every("one", "30s").timing(|timing| timing.anchor = Anchor::LastStart);
    let schedule = floating.policy(|policy| policy.grace = seconds(10));
    let schedule = stage.create(schedule, at("10:00:00")).await;
    let now = at("10:10:27");
    let batch = stage.store.decidable(now, vec![schedule]).await.expect("the store answers");
    let ready = &batch.ready[0];
    let plan = punctual_plan::plan(&ready.subject(None), punctual_plan::Window::at(now));
    assert_eq!(plan.closed.len(), 1, "its only row is too late: {plan:?}");
    let (definition, from) = (std::sync::Arc::clone(&ready.definition), ready.cursor);
    let commit = PlanCommit { schedule, org: ready.org, definition, from, plan };
    assert_eq!(stage.commit(vec![commit], now).await, [Commit::Done]);
    assert_eq!(stage.row("one").await.state.status, Status::Active);
    stage.plan(now).await;
    let last = stage.runs("one").await.pop().expect("it has rows");
    assert_eq!((last.run.scheduled_for, last.run.state.status()), (at("10:10:30"), RunStatus::Scheduled));
}

/// A plan that waits for the end of a run which has ended before it was written does not wait for ever.
pub async fn a_plan_that_waits_for_what_has_ended_goes_on<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let floating = every("one", "30s").timing(|timing| timing.anchor = Anchor::LastFinish);
    let schedule = stage.create(floating, at("10:00:00")).await;
    let run = stage.admit(at("10:00:30")).await[0];
    let batch = stage.store.decidable(at("10:00:31"), vec![schedule]).await.expect("the store answers");
    let ready = &batch.ready[0];
    let plan = punctual_plan::plan(&ready.subject(None), punctual_plan::Window::at(at("10:00:31")));
    assert!(plan.is_hanging && plan.next_tick.is_none(), "{plan:?}");
    stage.settle(run, Outcome::Succeeded, at("10:00:32")).await;
    let (definition, from) = (std::sync::Arc::clone(&ready.definition), ready.cursor);
    let commit = PlanCommit { schedule, org: ready.org, definition, from, plan };
    assert_eq!(stage.commit(vec![commit], at("10:00:33")).await, [Commit::Done]);
    assert_eq!(stage.row("one").await.state.status, Status::Active);
    stage.plan(at("10:00:33")).await;
    let last = stage.runs("one").await.pop().expect("it has rows");
    assert_eq!(last.run.scheduled_for, at("10:01:02"));
}
