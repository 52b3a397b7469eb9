//! Changes: one transaction with the rows they concern, guarded by the version and the cursor.

use punctual_plan::{CatchUp, Jitter, JitterMode, Outcome, RunStatus, ScheduleKey, Status};

use super::Backend;
use super::stage::{Shape, Stage, at, cron, every, id_of, seconds};
use crate::{
    Actor, AuditFilter, Commit, Cut, Error, RunFilter, ScheduleRow, Selector, Store, UseKind, Write, Written,
};

/// An edit takes back what is still to come and plans the new version in the same transaction.
pub async fn an_edit_replaces_what_is_still_to_come<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    stage.create(cron("one", "*/20 * * * * *"), at("10:00:05")).await;
    let edit = stage.edit("one", cron("one", "*/30 * * * * *"), at("10:00:10")).await;
    assert!(matches!(stage.write(edit).await, Written::Schedule(_)));
    assert_eq!(stage.ledger("one").await, "10:00:30 scheduled | 10:01:00 scheduled");
    let row = stage.row("one").await;
    assert_eq!((row.definition.version, row.updated_at), (2, at("10:00:10")));
}

/// What was due and not launched ends as superseded; what was launched goes on.
pub async fn an_edit_closes_what_is_due_and_leaves_what_runs<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    stage.create(cron("one", "*/20 * * * * *"), at("10:00:05")).await;
    let run = stage.admit(at("10:00:20")).await[0];
    let edit = stage.edit("one", cron("one", "0 0 1 1 *"), at("10:00:45")).await;
    stage.write(edit).await;
    assert_eq!(stage.ledger("one").await, "10:00:20 enqueued | 10:00:40 skipped/superseded");
    assert_eq!(stage.settle(run, Outcome::Succeeded, at("10:00:50")).await.commit, Commit::Done);
}

/// A pending retry survives an edit and ends with a pause.
pub async fn a_pause_cancels_pending_retries<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let retried = || cron("one", "1 10 * * *").policy(|policy| policy.retry_after = Some(seconds(60)));
    stage.create(retried(), at("10:00:05")).await;
    let run = stage.admit(at("10:01:00")).await[0];
    stage.settle(run, Outcome::Exited { code: 1 }, at("10:01:05")).await;
    let edit = stage.edit("one", retried(), at("10:01:10")).await;
    stage.write(edit).await;
    assert_eq!(stage.status(run).await, "retrying/exit_code");
    let pause = stage.pause("one", at("10:01:15")).await;
    stage.write(pause).await;
    assert_eq!(stage.status(run).await, "cancelled/paused");
}

/// A paused schedule fires nothing; when it is resumed the pause is accounted for.
pub async fn a_pause_is_accounted_for_when_it_ends<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    stage.create(cron("one", "*/20 * * * * *"), at("10:00:05")).await;
    let pause = stage.pause("one", at("10:00:25")).await;
    stage.write(pause).await;
    assert_eq!(stage.ledger("one").await, "10:00:20 skipped/paused");
    let row = stage.row("one").await;
    assert_eq!((row.state.status.name(), row.left_at), ("paused_manual", Some(at("10:00:25"))));
    assert!(stage.due(at("10:30:00")).await.rows.is_empty());
    let resumption = stage.resumption("one", at("10:01:10")).await;
    stage.write(resumption).await;
    let ledger = stage.ledger("one").await;
    assert!(
        ledger.starts_with("10:00:20 skipped/paused | 10:00:40 missed/paused | 10:01:00 missed/paused"),
        "{ledger}"
    );
    assert!(ledger.ends_with("10:02:00 scheduled"), "{ledger}");
    assert_eq!(stage.row("one").await.left_at, None);
}

/// A schedule in maintenance is paused by name, and its ticks are missed for maintenance, with the note.
pub async fn maintenance_is_accounted_for_by_its_own_name<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    stage.create(cron("one", "*/20 * * * * *"), at("10:00:05")).await;
    let status = Status::Maintenance { by: "ada".to_owned(), note: "new disks".to_owned() };
    let pause = stage.leaving("one", status.clone(), at("10:00:25")).await;
    stage.write(pause).await;
    let row = stage.row("one").await;
    assert_eq!((row.state.status.name(), &row.state.status), ("paused_manual", &status));
    let resumption = stage.resumption("one", at("10:01:10")).await;
    stage.write(resumption).await;
    let ledger = stage.ledger("one").await;
    let ended = "10:00:20 skipped/maintenance | 10:00:40 missed/maintenance | 10:01:00 missed/maintenance";
    assert!(ledger.starts_with(ended), "{ledger}");
    let missed = stage.events("schedule.missed").await;
    assert!(missed.iter().any(|event| event.contains("new disks")), "{missed:?}");
}

/// A resumption under `run_once` runs once for the whole pause.
pub async fn a_resumption_catches_up_by_its_policy<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let schedule = cron("one", "*/20 * * * * *").policy(|policy| policy.catch_up = CatchUp::RunOnce);
    stage.create(schedule, at("10:00:05")).await;
    for write in [stage.pause("one", at("10:00:06")).await] {
        stage.write(write).await;
    }
    let resumption = stage.resumption("one", at("10:01:10")).await;
    stage.write(resumption).await;
    let due = stage.due(at("10:01:10")).await.rows;
    assert_eq!((due.len(), due[0].due.scheduled_for), (1, at("10:01:00")));
}

/// A deletion ends everything that was not launched, frees the name and keeps the history.
pub async fn a_deletion_frees_the_name_and_keeps_the_history<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let first = stage.create(cron("one", "*/20 * * * * *"), at("10:00:05")).await;
    stage.admit(at("10:00:20")).await;
    let deletion = stage.deletion("one", at("10:00:45")).await;
    stage.write(deletion).await;
    assert_eq!(stage.ledger("one").await, "10:00:20 enqueued | 10:00:40 skipped/deleted");
    assert!(stage.due(at("10:30:00")).await.rows.is_empty() && stage.plans(at("10:30:00")).await.is_empty());
    assert_eq!(stage.row("one").await.deleted_at, Some(at("10:00:45")));
    let mut again = cron("one", "1 10 * * *");
    again.id = id_of("another");
    let second = stage.create(again, at("10:00:50")).await;
    assert_ne!(first, second);
    assert_eq!(stage.row("one").await.key, second, "the living one has the name");
    let old = stage.store.schedule(stage.scope(), Selector::Id(id_of("one"))).await.expect("answers");
    assert_eq!(old.map(|row| row.key), Some(first));
}

/// A deleted schedule cannot be changed or triggered any more.
pub async fn a_deleted_schedule_cannot_be_changed<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let key = stage.create(cron("one", "*/20 * * * * *"), at("10:00:05")).await;
    let edit = stage.edit("one", cron("one", "*/30 * * * * *"), at("10:00:06")).await;
    let deletion = stage.deletion("one", at("10:00:07")).await;
    stage.write(deletion).await;
    let ledger = stage.ledger("one").await;
    let refused = stage.write_in(stage.scope(), edit).await;
    assert!(!matches!(refused, Ok(Written::Schedule(_))), "{refused:?}");
    let refused = stage.write_in(stage.scope(), stage.wish(key, "now", at("10:00:08"))).await;
    assert!(refused.is_err(), "{refused:?}");
    assert_eq!(stage.ledger("one").await, ledger);
}

/// A change counts only on the version that it was decided on.
pub async fn a_change_of_another_version_is_stale<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    stage.create(cron("one", "*/20 * * * * *"), at("10:00:05")).await;
    let first = stage.edit("one", cron("one", "*/30 * * * * *"), at("10:00:10")).await;
    let second = stage.edit("one", cron("one", "*/10 * * * * *"), at("10:00:10")).await;
    stage.write(first).await;
    let ledger = stage.ledger("one").await;
    assert_eq!(stage.write(second).await, Written::Stale);
    assert_eq!(stage.ledger("one").await, ledger);
    assert_eq!(stage.row("one").await.definition.spec, "*/30 * * * * *");
}

/// A change counts only at the cursor that it was decided on: a plan in between makes it stale.
pub async fn a_change_after_a_plan_is_stale<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    stage.create(cron("one", "*/20 * * * * *"), at("10:00:05")).await;
    let edit = stage.edit("one", cron("one", "*/30 * * * * *"), at("10:00:50")).await;
    assert_eq!(stage.plan(at("10:00:50")).await, [Commit::Done]);
    assert_eq!(stage.write(edit).await, Written::Stale);
    assert_eq!(stage.row("one").await.definition.version, 1);
}

/// Every write leaves an event that names who did it.
pub async fn the_audit_log_names_who_changed_what<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    stage.create(cron("one", "*/20 * * * * *"), at("10:00:05")).await;
    let filter = AuditFilter { schedule: Some(id_of("one")), ..AuditFilter::default() };
    let rows = stage.store.audit(stage.scope(), filter, Cut::first(10)).await.expect("answers").rows;
    assert_eq!(rows.len(), 1);
    assert_eq!((rows[0].kind.as_str(), rows[0].detail.as_str()), ("schedule.written", "a note"));
    assert_eq!((rows[0].actor.clone(), rows[0].at), (Actor::User("ada".to_owned()), at("10:00:05")));
}

/// Versions are kept, newest first, with who made them.
pub async fn versions_are_kept<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    stage.create(cron("one", "*/20 * * * * *"), at("10:00:05")).await;
    let edit = stage.edit("one", cron("one", "*/30 * * * * *"), at("10:00:10")).await;
    stage.write(edit).await;
    let versions = stage.store.versions(stage.scope(), id_of("one")).await.expect("answers");
    let said: Vec<(i64, &str)> =
        versions.iter().map(|row| (row.version, row.definition.spec.as_str())).collect();
    assert_eq!(said, [(2, "*/30 * * * * *"), (1, "*/20 * * * * *")]);
    assert_eq!((versions[0].since, versions[0].by.as_deref()), (at("10:00:10"), Some("ada")));
}

/// A version that is made after the clock was set back is valid after what was decided before: it owes no tick of that time.
pub async fn a_version_is_valid_after_what_was_decided<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    stage.create(cron("one", "*/20 * * * * *"), at("10:00:05")).await;
    stage.admit(at("10:00:20")).await;
    stage.admit(at("10:00:40")).await;
    assert_eq!(stage.plan(at("10:00:52")).await, [Commit::Done]);
    let edit = stage.edit("one", cron("one", "*/5 * * * * *"), at("10:00:10")).await;
    stage.write(edit).await;
    let versions = stage.store.versions(stage.scope(), id_of("one")).await.expect("answers");
    let since: Vec<_> = versions.iter().map(|row| row.since).collect();
    assert_eq!(since, [at("10:00:52"), at("10:00:05")]);
    let ledger = stage.ledger("one").await;
    let expected = "10:00:20 enqueued | 10:00:40 skipped/overlap | 10:00:55 scheduled";
    assert!(ledger.starts_with(expected), "{ledger}");
    assert_eq!(stage.store.check().await.expect("answers"), []);
}

/// What a schedule is when it has just been made is known without reading it, unless nothing of it is left to come.
pub async fn a_new_schedule_is_known_without_being_read<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let now = at("10:00:05.000007");
    let paused = Status::PausedManual { by: "ada".to_owned(), note: "not yet".to_owned() };
    let unplanned = |status: &Status, name: &str| {
        let mut write = stage.creation(cron(name, "1 10 * * *"), now);
        if let Write::Create { status: starts_as, plan, declared_set, .. } = &mut write.write {
            (*starts_as, *plan, *declared_set) = (status.clone(), None, Some("files".to_owned()));
        }
        write
    };
    let writes = [
        stage.creation(cron("soon", "* * * * *"), now),
        stage.creation(cron("later", "0 3 * * *"), now),
        stage.creation(every("often", "5s"), now),
        unplanned(&paused, "paused"),
        unplanned(&Status::Active, "unplanned"),
    ];
    for write in writes {
        let Written::Schedule(key) = stage.write(write.clone()).await else { panic!("it was made") };
        let Write::Create { definition, .. } = &write.write else { panic!("it is made") };
        let known = ScheduleRow::made(key, &write).expect("it goes on");
        assert_eq!(format!("{known:?}"), format!("{:?}", stage.row(&definition.name).await));
    }
    let over =
        stage.creation(cron("over", "0 3 * * *").timing(|timing| timing.bounds.end_at = Some(now)), now);
    assert!(ScheduleRow::made(ScheduleKey(1), &over).is_none());
}

/// A name is taken by one living schedule of an org.
pub async fn a_name_is_taken_once<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    stage.create(cron("one", "1 10 * * *"), at("10:00:05")).await;
    stage.create(cron("two", "1 10 * * *"), at("10:00:05")).await;
    let mut same = cron("one", "1 10 * * *");
    same.id = id_of("three");
    let refused = stage.write_in(stage.scope(), stage.creation(same, at("10:00:06"))).await;
    assert!(matches!(refused, Err(Error::NameTaken { .. })), "{refused:?}");
    let rename = stage.edit("two", cron("one", "1 10 * * *"), at("10:00:07")).await;
    let refused = stage.write_in(stage.scope(), rename).await;
    assert!(matches!(refused, Err(Error::NameTaken { .. })), "{refused:?}");
    assert_eq!(stage.row("two").await.definition.version, 1);
}

/// One write that is refused does not stop the others of its batch.
pub async fn a_refused_write_does_not_stop_the_others<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    stage.create(cron("b", "1 10 * * *"), at("10:00:05")).await;
    let mut taken = cron("b", "1 10 * * *");
    taken.id = id_of("other");
    let schedules = [cron("a", "1 10 * * *"), taken, cron("c", "1 10 * * *")];
    let writes = schedules.into_iter().map(|one| stage.creation(one, at("10:00:06"))).collect();
    let answers = stage.store.write_schedules(stage.scope(), writes).await.expect("answers");
    let done: Vec<bool> = answers.iter().map(Result::is_ok).collect();
    assert_eq!(done, [true, false, true]);
    assert_eq!(stage.ledger("c").await, "10:01:00 scheduled");
}

/// Two of one batch with one name: the first has it.
pub async fn a_name_is_taken_once_within_a_batch<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let mut second = cron("one", "1 10 * * *");
    second.id = id_of("other");
    let writes = [cron("one", "1 10 * * *"), second].map(|one| stage.creation(one, at("10:00:06")));
    let answers = stage.store.write_schedules(stage.scope(), writes.to_vec()).await.expect("answers");
    assert!(answers[0].is_ok() && matches!(answers[1], Err(Error::NameTaken { .. })), "{answers:?}");
}

/// An org has as many schedules as its limits say.
pub async fn an_org_has_a_bounded_number_of_schedules<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    stage.limits(r#"{"schedules":2}"#).await;
    for name in ["a", "b"] {
        stage.create(cron(name, "1 10 * * *"), at("10:00:05")).await;
    }
    let refused =
        stage.write_in(stage.scope(), stage.creation(cron("c", "1 10 * * *"), at("10:00:06"))).await;
    assert!(refused.is_err(), "{refused:?}");
}

/// A request that is repeated gives the run that it was given before.
pub async fn a_repeated_request_gives_the_same_run<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let key = stage.create(cron("one", "1 12 * * *"), at("10:00:05")).await;
    let first = stage.trigger(key, "key-1", at("10:00:10")).await;
    assert_eq!(stage.trigger(key, "key-1", at("10:00:10")).await, first);
    assert_ne!(stage.trigger(key, "key-2", at("10:00:10")).await, first);
    let filter = RunFilter { origin: Some(punctual_plan::Origin::Manual), ..RunFilter::default() };
    let runs = stage.store.runs(stage.scope(), filter, Cut::first(10)).await.expect("answers").rows;
    assert_eq!(runs.len(), 2);
}

/// A backfill is an entry of its own beside the tick's.
pub async fn a_backfill_stands_beside_the_tick<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let key = stage.create(cron("one", "1 10 * * *"), at("10:00:05")).await;
    stage.run_due(at("10:01:00")).await;
    let mut wish = stage.wish(key, "again", at("10:30:00"));
    if let Write::Trigger { origin, scheduled_for, .. } = &mut wish.write {
        (*origin, *scheduled_for) = (punctual_plan::Origin::Backfill, at("10:01:00"));
    }
    stage.write(wish).await;
    assert_eq!(stage.ledger("one").await, "10:01:00 success | 10:01:00 scheduled");
    let run = stage.admit(at("10:30:00")).await[0];
    assert_eq!(stage.run(run).await.run.origin, punctual_plan::Origin::Backfill);
    assert_eq!(stage.row("one").await.state.counters.admitted, 1, "it is no tick");
}

/// A backfill that is sent again is the same run.
pub async fn a_backfill_that_is_sent_again_is_one_run<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let key = stage.create(cron("one", "1 10 * * *"), at("10:00:05")).await;
    stage.run_due(at("10:01:00")).await;
    for now in [at("10:30:00"), at("10:31:00")] {
        let mut wish = stage.wish(key, "again", now);
        if let Write::Trigger { origin, scheduled_for, .. } = &mut wish.write {
            (*origin, *scheduled_for) = (punctual_plan::Origin::Backfill, at("10:01:00"));
        }
        stage.write(wish).await;
    }
    assert_eq!(stage.ledger("one").await, "10:01:00 success | 10:01:00 scheduled");
}

/// A request that is sent again, however much later, gets the run that it got first.
pub async fn a_request_that_is_sent_again_later_gets_its_first_run<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let key = stage.create(cron("one", "1 12 * * *"), at("10:00:05")).await;
    let first = stage.trigger(key, "the same", at("10:00:10")).await;
    let again = stage.write(stage.wish(key, "the same", at("10:30:00"))).await;
    assert_eq!(stage.runs("one").await.len(), 1, "{again:?}");
    assert_eq!(stage.admit(at("10:30:00")).await, [first]);
}

/// What a schedule refers to is known while it lives.
pub async fn what_is_used_is_known<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    stage.create(cron("up", "1 10 * * *"), at("10:00:05")).await;
    let down = cron("down", "1 10 * * *").policy(|policy| {
        policy.depends_on = Some(punctual_plan::Dependency::on(vec![id_of("up")]));
    });
    let key: ScheduleKey = stage.create(down, at("10:00:05")).await;
    let users = async || {
        stage
            .store
            .users_of(stage.scope(), UseKind::Dependency, id_of("up").to_string())
            .await
            .expect("answers")
    };
    assert_eq!(users().await, [key]);
    let edit = stage.edit("down", cron("down", "1 10 * * *"), at("10:00:10")).await;
    stage.write(edit).await;
    assert!(users().await.is_empty());
}

/// A manual run survives an edit and is ended by a deletion.
pub async fn a_manual_run_survives_an_edit<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let key = stage.create(cron("one", "1 12 * * *"), at("10:00:05")).await;
    let run = stage.trigger(key, "mine", at("10:00:10")).await;
    let edit = stage.edit("one", cron("one", "2 12 * * *"), at("10:00:11")).await;
    stage.write(edit).await;
    assert_eq!(stage.run(run).await.run.state.status(), RunStatus::Scheduled);
    let deletion = stage.deletion("one", at("10:00:12")).await;
    stage.write(deletion).await;
    assert_eq!(stage.status(run).await, "skipped/deleted");
}

/// The open rows of a schedule are those that are not in flight and have not ended.
pub async fn open_rows_are_those_that_may_still_start<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let key = stage.create(cron("one", "*/20 * * * * *"), at("10:00:05")).await;
    stage.admit(at("10:00:20")).await;
    let open = stage.store.open_rows(stage.scope(), key).await.expect("answers");
    let ticks: Vec<_> = open.iter().map(|row| row.open.scheduled_for).collect();
    assert_eq!(ticks, [at("10:00:40"), at("10:01:00")]);
}

/// A tick that was skipped before the clock was set back has its entry: no other version has that time again.
pub async fn a_tick_that_was_skipped_before_the_clock_was_set_back_is_not_planned_again<B: Backend>(
    backend: &B,
) {
    let stage = Stage::open(backend).await;
    stage.create(cron("one", "*/20 * * * * *"), at("10:00:05")).await;
    stage.admit(at("10:00:20")).await;
    stage.admit(at("10:00:40")).await;
    let edit = stage.edit("one", cron("one", "*/5 * * * * *"), at("10:00:10")).await;
    stage.write(edit).await;
    let ledger = stage.ledger("one").await;
    let expected = "10:00:20 enqueued | 10:00:40 skipped/overlap | 10:00:45 scheduled";
    assert!(ledger.starts_with(expected), "{ledger}");
}

/// A tick that fired early and was not run belongs to the version that fired it, as one that was.
pub async fn a_tick_that_was_skipped_early_is_not_planned_again<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let jitter = Jitter { max: seconds(8), mode: JitterMode::Around };
    let mut early = None;
    // Which ticks fire early is in the id of their schedule.
    for name in ["one", "two", "three", "four", "five", "six"] {
        let schedule = cron(name, "*/20 * * * * *").policy(|policy| policy.jitter = jitter);
        let key = stage.create(schedule, at("10:00:05")).await;
        let rows = stage.runs(name).await;
        let found = rows.into_iter().map(|row| row.run).find(|run| run.fire_at < run.scheduled_for);
        early = early.or(found.map(|run| (name, key, run)));
    }
    let (name, key, run) = early.expect("one of them fires early");
    stage.trigger(key, "now", run.fire_at - seconds(1)).await;
    stage.admit(run.fire_at - seconds(1)).await;
    stage.admit(run.fire_at).await;
    assert_eq!(stage.status(run.key).await, "skipped/overlap");
    assert_eq!(stage.row(name).await.launched_through, Some(run.scheduled_for));
    let edit = stage.edit(name, cron(name, "*/20 * * * * *"), run.fire_at).await;
    stage.write(edit).await;
    let rows = stage.runs(name).await;
    let of_the_tick = rows.iter().filter(|row| row.run.scheduled_for == run.scheduled_for);
    assert_eq!(of_the_tick.count(), 1, "the next version begins after it");
    assert!(stage.plans(run.fire_at).await.is_empty());
    assert!(stage.row(name).await.state.cursor.planned_through >= run.scheduled_for);
}

/// From its last run on a schedule has no more ticks: none is missed in its account, neither while that run goes on nor when
/// something is changed, however much later.
pub async fn a_change_after_the_last_run_accounts_for_nothing<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let once = || cron("one", "*/20 * * * * *").timing(|timing| timing.bounds.max_runs = Some(1));
    stage.create(once(), at("10:00:05")).await;
    let last = stage.admit(at("10:00:20")).await[0];
    assert_eq!(stage.store.check().await.expect("it is checked"), []);
    stage.settle(last, Outcome::Succeeded, at("10:00:25")).await;
    let edit = stage.edit("one", once(), at("10:30:00")).await;
    assert!(matches!(stage.write(edit).await, Written::Schedule(_)));
    assert_eq!(stage.stretches("one").await, [""; 0]);
    assert_eq!(stage.ledger("one").await, "10:00:20 success");
    assert_eq!(stage.store.check().await.expect("it is checked"), []);
}
