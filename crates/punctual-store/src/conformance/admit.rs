//! Verdicts: each does to its row what it says, and to nothing else.

use punctual_plan::{
    Action, CatchUp, Claim, Dependency, Object, Outcome, Overlap, Pace, RunKey, RunState, RunStatus, Verdict,
    Wait, idempotency_key,
};

use super::Backend;
use super::stage::{Shape, Stage, at, cron, id_of, seconds};
use crate::{Ask, BATCH_MAX, Commit, Retention, SHARDS, Scope, Shards, Store, Whose};

/// A start is written before anything is launched: state, attempt, fence, deadline.
pub async fn a_due_row_is_admitted_under_the_fence<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    stage.create(cron("one", "*/20 * * * * *"), at("10:00:05")).await;
    assert!(stage.due(at("10:00:19")).await.rows.is_empty(), "not before its instant");
    let run = stage.admit(at("10:00:20")).await[0];
    let row = stage.run(run).await;
    assert_eq!(row.run.state, RunState::Enqueued { attempt: 1, since: at("10:00:20") });
    assert_eq!((row.enqueued_at, row.node.as_deref()), (Some(at("10:00:20")), Some("one")));
    let state = stage.row("one").await;
    assert_eq!((state.state.counters.admitted, state.state.last_start), (1, Some(at("10:00:20"))));
    assert_eq!(state.launched_through, Some(at("10:00:20")));
}

/// The same row is admitted once, however often it is tried.
pub async fn a_row_is_admitted_once<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    stage.create(cron("one", "*/20 * * * * *"), at("10:00:05")).await;
    let verdicts = stage.judge(at("10:00:20")).await;
    assert_eq!(stage.carry_out(verdicts.clone(), at("10:00:20")).await, [Commit::Done]);
    assert_eq!(stage.carry_out(verdicts, at("10:00:20")).await, [Commit::Stale]);
    assert_eq!(stage.row("one").await.state.counters.admitted, 1);
}

/// Whoever judged a row before it was launched, failed and was set to be tried again is too late with any verdict: its
/// start would launch the first attempt twice, its skip would deny that there was one.
pub async fn a_verdict_over_an_earlier_attempt_changes_nothing<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let schedule = cron("one", "1 10 * * *").policy(|policy| policy.retry_after = Some(seconds(60)));
    stage.create(schedule, at("10:00:05")).await;
    let judged = stage.judge(at("10:01:00")).await;
    let run = stage.admit(at("10:01:00")).await.remove(0);
    stage.settle(run, Outcome::Exited { code: 1 }, at("10:01:01")).await;
    let retrying = stage.ledger("one").await;
    let waiting = punctual_plan::Waiting {
        wait: punctual_plan::Wait::Turn { behind: run },
        since: at("10:01:00"),
        deadline: at("11:00:00"),
    };
    let reason = punctual_plan::Reason::Guard { key: "disk".to_owned(), run };
    let verdicts = [
        Verdict::Start,
        Verdict::Wait(waiting),
        Verdict::Later(at("10:30:00")),
        Verdict::Skip(reason.clone()),
        Verdict::Miss(reason.clone()),
        Verdict::Fail(reason),
    ];
    for verdict in verdicts {
        let mut late = judged.clone();
        late[0].admission.verdict = verdict.clone();
        assert_eq!(stage.carry_out(late, at("10:01:02")).await, [Commit::Stale], "{verdict:?}");
        assert_eq!(stage.ledger("one").await, retrying, "{verdict:?}");
    }
    assert_eq!(stage.row("one").await.state.counters.admitted, 1);
    assert_eq!(stage.admit(at("10:02:01")).await, [run], "its second attempt is due when it was to be");
    stage.settle(run, Outcome::Succeeded, at("10:02:02")).await;
    assert_eq!(stage.ledger("one").await, "10:01:00 success");
}

/// A tick is not skipped for a run that was to start in the same batch and did not: it is judged again.
pub async fn a_tick_is_not_skipped_for_a_run_that_did_not_start<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let guarded = |name| cron(name, "*/20 * * * * *").policy(|policy| policy.guard = Some("disk".to_owned()));
    stage.create(guarded("one"), at("10:00:05")).await;
    stage.create(guarded("two"), at("10:00:05")).await;
    let judged = stage.judge(at("10:00:20")).await;
    let skipped = judged.iter().find(|one| one.admission.verdict.rests_on().is_some());
    let skipped =
        skipped.expect("one of them finds the guard taken by the other").row.launch.definition.name.clone();
    let started = if skipped == "one" { "two" } else { "one" };
    let edit = stage.edit(started, guarded(started), at("10:00:20")).await;
    stage.write(edit).await;
    assert_eq!(stage.carry_out(judged, at("10:00:20")).await, [Commit::Stale, Commit::Stale]);
    assert_eq!(stage.admit(at("10:00:20")).await.len(), 1);
    assert!(
        stage.ledger(&skipped).await.starts_with("10:00:20 enqueued"),
        "{}",
        stage.ledger(&skipped).await
    );
}

/// A tick that finds a run in flight is skipped, and the audit log says so.
pub async fn an_overlapping_tick_is_skipped_with_its_event<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    stage.create(cron("one", "*/20 * * * * *"), at("10:00:05")).await;
    let first = stage.admit(at("10:00:20")).await[0];
    stage.admit(at("10:00:40")).await;
    assert_eq!(
        stage.ledger("one").await,
        "10:00:20 enqueued | 10:00:40 skipped/overlap | 10:01:00 scheduled"
    );
    let skipped = stage.events("schedule.skipped").await;
    assert!(skipped.len() == 1 && skipped[0].contains(&first.to_string()), "{skipped:?}");
}

/// A row that was looked at too late is missed.
pub async fn a_row_looked_at_too_late_is_missed<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    stage.create(cron("one", "1 10 * * *"), at("10:00:05")).await;
    stage.admit(at("10:05:00")).await;
    assert_eq!(stage.ledger("one").await, "10:01:00 missed/outage");
    assert_eq!(stage.events("schedule.missed").await.len(), 1);
}

/// One of many late ticks fires at its later instant.
pub async fn a_late_tick_beyond_the_pace_fires_later<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let schedule = cron("one", "*/20 * * * * *").policy(|policy| {
        policy.catch_up = CatchUp::RunAll;
        policy.overlap = Overlap::Allow;
    });
    stage.create(schedule, at("10:00:05")).await;
    let pace = Pace { catch_up_per_tick_max: 2, ..Pace::default() };
    let verdicts = stage.judge_at(at("10:01:00"), pace).await;
    assert!(verdicts.iter().any(|verdict| matches!(verdict.admission.verdict, Verdict::Later(_))));
    stage.carry_out(verdicts, at("10:01:00")).await;
    assert_eq!(stage.ledger("one").await, "10:00:20 enqueued | 10:00:40 enqueued | 10:01:00 scheduled");
    assert!(stage.due(at("10:01:00")).await.rows.is_empty(), "it was put off");
    assert_eq!(stage.due(at("10:01:01")).await.rows.len(), 1);
    assert_eq!(stage.due(at("10:01:01")).await.rows[0].due.fire_at, at("10:01:01"));
}

/// A run that takes turns waits behind the one in flight and is woken by its end.
pub async fn a_queued_tick_waits_and_is_woken<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let schedule = cron("one", "*/20 * * * * *").policy(|policy| policy.overlap = Overlap::Queue);
    stage.create(schedule, at("10:00:05")).await;
    let first = stage.admit(at("10:00:20")).await[0];
    let second = stage.admit(at("10:00:40")).await[0];
    let RunState::Waiting(waiting) = stage.run(second).await.run.state else { panic!("it waits") };
    assert_eq!((waiting.wait, waiting.since), (Wait::Turn { behind: first }, at("10:00:40")));
    assert!(stage.due(at("10:00:41")).await.rows.is_empty(), "it is not looked at while it waits");
    stage.settle(first, Outcome::Succeeded, at("10:00:45")).await;
    assert_eq!(stage.admit(at("10:00:45")).await, [second]);
    assert_eq!(stage.status(second).await, "enqueued");
}

/// A wait ends at its deadline.
pub async fn a_wait_ends_at_its_deadline<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let schedule = cron("one", "*/20 * * * * *").policy(|policy| {
        policy.overlap = Overlap::Queue;
        policy.start_deadline = Some(seconds(30));
        policy.catch_up = CatchUp::RunAll;
    });
    stage.create(schedule, at("10:00:05")).await;
    stage.admit(at("10:00:20")).await;
    let second = stage.admit(at("10:00:40")).await[0];
    assert_eq!(stage.due(at("10:01:09")).await.rows.iter().filter(|row| row.due.run == second).count(), 0);
    stage.admit(at("10:01:11")).await;
    let status = stage.status(second).await;
    assert!(status.starts_with("skipped/"), "{status}");
}

/// What is looked at only after its start deadline is not started any more.
pub async fn nothing_starts_after_its_deadline<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let schedule = cron("one", "*/20 * * * * *").policy(|policy| {
        policy.start_deadline = Some(seconds(5));
        policy.catch_up = CatchUp::RunAll;
    });
    stage.create(schedule, at("10:00:05")).await;
    let late = stage.admit(at("10:00:27")).await[0];
    let status = stage.status(late).await;
    assert!(status.ends_with("/start_deadline"), "{status}");
}

/// A tick waits for the tick of the schedule it depends on, and starts when that succeeded.
pub async fn a_dependent_tick_waits_for_its_upstream<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    stage.create(cron("up", "*/20 * * * * *"), at("10:00:05")).await;
    let down = cron("down", "*/20 * * * * *")
        .policy(|policy| policy.depends_on = Some(Dependency::on(vec![id_of("up")])));
    stage.create(down, at("10:00:05")).await;
    stage.admit(at("10:00:20")).await;
    let waiting = stage.runs("down").await.remove(0);
    assert_eq!(waiting.run.state.status(), RunStatus::Waiting);
    let up = stage.runs("up").await[0].run.key;
    assert_eq!(stage.status(up).await, "enqueued");
    stage.settle(up, Outcome::Succeeded, at("10:00:21")).await;
    stage.admit(at("10:00:21")).await;
    assert_eq!(stage.status(waiting.run.key).await, "enqueued");
}

/// An upstream that failed ends the wait at once.
pub async fn a_failed_upstream_ends_the_wait<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    stage.create(cron("up", "*/20 * * * * *"), at("10:00:05")).await;
    let down = cron("down", "*/20 * * * * *")
        .policy(|policy| policy.depends_on = Some(Dependency::on(vec![id_of("up")])));
    stage.create(down, at("10:00:05")).await;
    stage.admit(at("10:00:20")).await;
    let up = stage.runs("up").await[0].run.key;
    stage.settle(up, Outcome::Exited { code: 1 }, at("10:00:21")).await;
    stage.admit(at("10:00:21")).await;
    let ledger = stage.ledger("down").await;
    assert!(ledger.starts_with("10:00:20 skipped/upstream_failed"), "{ledger}");
}

/// A schedule that is not there has no tick to wait for.
pub async fn an_absent_upstream_skips_the_tick<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let down = cron("down", "*/20 * * * * *")
        .policy(|policy| policy.depends_on = Some(Dependency::on(vec![id_of("nobody")])));
    stage.create(down, at("10:00:05")).await;
    stage.admit(at("10:00:20")).await;
    let ledger = stage.ledger("down").await;
    assert!(ledger.starts_with("10:00:20 skipped/upstream_absent"), "{ledger}");
}

/// The last run that `max_runs` allows takes what is armed beyond it with it.
pub async fn max_runs_disarms_what_lies_beyond<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let schedule = cron("one", "*/20 * * * * *").timing(|timing| timing.bounds.max_runs = Some(1));
    stage.create(schedule, at("10:00:05")).await;
    let run = stage.admit(at("10:00:20")).await[0];
    assert_eq!(stage.ledger("one").await, "10:00:20 enqueued");
    let row = stage.row("one").await;
    assert_eq!((row.spent_at, row.state.status.name()), (Some(at("10:00:20")), "active"));
    assert!(stage.plans(at("11:00:00")).await.is_empty());
    stage.settle(run, Outcome::Succeeded, at("10:00:25")).await;
    assert_eq!(stage.row("one").await.state.status.name(), "exhausted");
    assert_eq!(stage.events("schedule.left_active").await.len(), 1);
}

/// No org's herd delays another's.
pub async fn due_rows_are_taken_in_turns_by_org<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    for number in 0..10 {
        stage.create(cron(&format!("herd{number}"), "1 10 * * *"), at("10:00:05")).await;
    }
    let quiet = stage.other("quiet").await;
    stage.write_in(quiet, stage.creation(cron("small", "1 10 * * *"), at("10:00:05"))).await.expect("made");
    let ask = Ask { limit: 4, ..Ask::all(at("10:01:00")) };
    let batch = stage.store.due(ask).await.expect("the store answers");
    assert_eq!(batch.rows.len(), 4);
    let small = batch.rows.iter().position(|row| row.launch.definition.name == "small");
    assert!(small.is_some_and(|place| place < 2), "{small:?}");
    assert!(batch.next_look_at.is_some_and(|next| next <= at("10:01:00")), "the rest is due as well");
}

/// A row that is not there is stale and stops nobody.
pub async fn one_bad_row_never_fails_a_batch<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    stage.create(cron("a", "*/20 * * * * *"), at("10:00:05")).await;
    stage.create(cron("b", "*/20 * * * * *"), at("10:00:05")).await;
    let mut verdicts = stage.judge(at("10:00:20")).await;
    let mut bad = verdicts[0].clone();
    (bad.admission.run, bad.row.due.run, bad.row.launch.run) =
        (RunKey(999_999), RunKey(999_999), RunKey(999_999));
    verdicts.insert(1, bad);
    let commits = stage.carry_out(verdicts, at("10:00:20")).await;
    assert_eq!(commits, [Commit::Done, Commit::Stale, Commit::Done]);
}

/// A message is written with its admission, and a repeated attempt has an id of its own.
pub async fn a_message_is_written_with_its_admission<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let message = Action::Message { message: Object::new() };
    let schedule =
        cron("one", "1 10 * * *").action(message).policy(|policy| policy.retry_after = Some(seconds(5)));
    stage.create(schedule, at("10:00:05")).await;
    let run = stage.admit(at("10:01:00")).await[0];
    assert!(stage.store.outbox(Scope::Engine, 0, 10).await.expect("answers").is_empty(), "not sequenced yet");
    assert_eq!(stage.store.sequence_outbox().await.expect("answers"), 1);
    stage.settle(run, Outcome::Reported { error: "no".to_owned() }, at("10:01:01")).await;
    stage.admit(at("10:01:06")).await;
    stage.store.sequence_outbox().await.expect("answers");
    let rows = stage.store.outbox(stage.scope(), 0, 10).await.expect("answers");
    let key = idempotency_key(id_of("one"), at("10:01:00"));
    let ids: Vec<&str> = rows.iter().map(|row| row.message_id.as_str()).collect();
    assert_eq!(ids, [key.as_str(), format!("{key}:2").as_str()]);
    assert!(rows[0].position < rows[1].position && rows[0].run == run);
    assert_eq!(stage.store.acknowledge_outbox(stage.scope(), rows[0].position).await.expect("answers"), 1);
    assert_eq!(stage.store.outbox(stage.scope(), 0, 10).await.expect("answers").len(), 1);
    let kept = Retention { runs: seconds(3600), ..Retention::default() };
    stage.store.retain(kept, at("10:30:00")).await.expect("answers");
    assert_eq!(stage.store.outbox(stage.scope(), 0, 10).await.expect("answers").len(), 1);
    stage.store.retain(kept, at("18:00:00")).await.expect("answers");
    let left = stage.store.outbox(stage.scope(), 0, 10).await.expect("answers");
    assert!(left.is_empty(), "what nobody reads goes with its run");
}

/// A run in flight that nobody answers for is named as expired after its own time limit.
pub async fn an_unanswered_run_expires<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let schedule = cron("one", "1 10 * * *").policy(|policy| policy.run_timeout = seconds(60));
    stage.create(schedule, at("10:00:05")).await;
    let run = stage.admit(at("10:01:00")).await[0];
    assert!(stage.due(at("10:02:29")).await.expired.is_empty());
    let expired = stage.due(at("10:02:30")).await.expired;
    assert_eq!(expired.len(), 1);
    assert_eq!((expired[0].run, expired[0].attempt, expired[0].fence), (run, 1, stage.fence));
}

/// A person's forced run starts beside what is in flight and takes no lane.
pub async fn a_forced_run_starts_beside_the_other<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let key = stage.create(cron("one", "1 10 * * *"), at("10:00:05")).await;
    stage.admit(at("10:01:00")).await;
    let mut wish = stage.wish(key, "now", at("10:01:10"));
    if let crate::Write::Trigger { is_forced, .. } = &mut wish.write {
        *is_forced = true;
    }
    stage.write(wish).await;
    let verdicts = stage.judge(at("10:01:10")).await;
    assert!(verdicts[0].admission.claims.iter().all(|claim| !matches!(claim, Claim::Lane(_))));
    assert_eq!(stage.carry_out(verdicts, at("10:01:10")).await, [Commit::Done]);
    assert_eq!(stage.ledger("one").await, "10:01:00 enqueued | 10:01:10 enqueued");
}

/// What a request adds goes over what the schedule's runs carry: to a node, to a worker, and into the ledger.
pub async fn a_run_carries_what_its_request_adds<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let object = |text: &str| serde_json::from_str::<Object>(text).expect("JSON");
    let mut schedule = cron("one", "1 11 * * *");
    schedule.payload = object(r#"{"a": 1, "b": 1}"#);
    let key = stage.create(schedule, at("10:00:05")).await;
    let mut wish = stage.wish(key, "now", at("10:01:00"));
    if let crate::Write::Trigger { payload, .. } = &mut wish.write {
        *payload = Some(object(r#"{"b": 2, "c": "ü"}"#));
    }
    stage.write(wish).await;
    stage.trigger(key, "without", at("10:01:00")).await;
    for row in stage.due(at("10:01:00")).await.rows {
        let (carried, added) = match row.launch.nonce.as_str() {
            "now" => (r#"{"a": 1, "b": 2, "c": "ü"}"#, Some(r#"{"b": 2, "c": "ü"}"#)),
            _ => (r#"{"a": 1, "b": 1}"#, None),
        };
        assert_eq!(row.launch.definition.payload, object(carried));
        assert_eq!(stage.run(row.launch.run).await.payload, added.map(object));
    }
}

/// Due rows are those of the shards that were asked for, and when to look again is said.
pub async fn due_rows_keep_to_the_shards<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    for number in 0..20 {
        stage.create(cron(&format!("s{number}"), "1 10 * * *"), at("10:00:05")).await;
    }
    assert_eq!(stage.due(at("10:00:30")).await.next_look_at, Some(at("10:01:00")));
    let mut found = 0;
    for half in [0..SHARDS / 2, SHARDS / 2..SHARDS] {
        let whose = Whose::Own(Shards::Some(half.collect()));
        let ask = Ask { now: at("10:01:00"), whose, limit: BATCH_MAX };
        found += stage.store.due(ask).await.expect("the store answers").rows.len();
    }
    assert_eq!(found, 20);
}

/// What a launch needs comes with the row, in the version that the row belongs to.
pub async fn a_due_row_brings_what_its_launch_needs<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let key = stage.create(cron("one", "1 10 * * *"), at("10:00:05")).await;
    let run = stage.trigger(key, "mine", at("10:00:10.5")).await;
    let edit = stage.edit("one", cron("one", "2 10 * * *"), at("10:00:11")).await;
    stage.write(edit).await;
    let row = stage.due(at("10:00:12")).await.rows.remove(0);
    assert_eq!((row.launch.run, row.launch.attempt, row.launch.nonce.as_str()), (run, 1, "mine"));
    assert_eq!((row.launch.definition.version, row.launch.definition.spec.as_str()), (1, "1 10 * * *"));
    assert_eq!((row.launch.fire_at, row.launch.scheduled_for), (at("10:00:10.5"), at("10:00:10")));
}

/// A schedule with a late row and a tick in the past that no plan has decided is named, until it is planned.
pub async fn a_late_row_of_an_undecided_schedule_is_told<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let each = stage.create(cron("each", "*/20 * * * * *"), at("10:00:05")).await;
    stage.create(cron("rare", "1 10 * * *"), at("10:00:05")).await;
    stage.plan(at("10:01:05")).await;
    let planned = stage.due(at("10:01:30")).await;
    assert!(planned.rows.len() > 1 && planned.undecided.is_empty(), "late, and nothing else to decide");
    let behind = stage.due(at("10:05:30")).await;
    assert_eq!(behind.undecided.into_iter().collect::<Vec<_>>(), [each], "the other has ticks ahead only");
    stage.plan(at("10:05:30")).await;
    assert!(stage.due(at("10:05:30")).await.undecided.is_empty());
}
