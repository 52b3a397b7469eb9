//! Isolation: whatever another org tries, it sees nothing, changes nothing, and is answered as if nothing were there.

use punctual_plan::{RunKey, RunStatus, ScheduleKey};

use super::Backend;
use super::copy::{dump, everything};
use super::stage::{Stage, at, cron, id_of};
use crate::{
    AuditFilter, Cut, DocumentKind, Error, Held, NewDocument, RunFilter, ScheduleFilter, ScheduleWrite,
    Scope, Selector, Store, UseKind, Worker, Write, Written,
};

/// Another org, and a number that nobody has.
async fn stranger<S: Store>(stage: &Stage<S>) -> Scope {
    let scope = stage.other("stranger").await;
    let Scope::Org { org, .. } = scope else { panic!("an org has a scope") };
    assert_ne!(org, stage.org);
    scope
}

/// Lists are empty for another org, whatever they are filtered by.
pub async fn lists_show_nothing_of_another_org<B: Backend>(backend: &B) {
    let stage = everything(backend).await;
    let (other, all) = (stranger(&stage).await, Cut::first(100));
    let with_deleted = ScheduleFilter { with_deleted: true, ..ScheduleFilter::default() };
    let of_tick = RunFilter { schedule: Some(id_of("tick")), ..RunFilter::default() };
    let event = AuditFilter { schedule: Some(id_of("tick")), ..AuditFilter::default() };
    let store = &stage.store;
    assert!(
        store.schedules(other.clone(), with_deleted, all.clone()).await.expect("answers").rows.is_empty()
    );
    for filter in [RunFilter::default(), of_tick] {
        let runs = store.runs(other.clone(), filter.clone(), all.clone()).await.expect("answers");
        let ranges = store.ranges(other.clone(), filter, all.clone()).await.expect("answers");
        assert!(runs.rows.is_empty() && ranges.rows.is_empty());
    }
    for filter in [AuditFilter::default(), event] {
        assert!(store.audit(other.clone(), filter, all.clone()).await.expect("answers").rows.is_empty());
    }
    for kind in DocumentKind::ALL {
        assert!(store.documents(other.clone(), kind, all.clone()).await.expect("answers").rows.is_empty());
    }
    assert!(store.tokens(other.clone()).await.expect("answers").is_empty());
    assert!(store.breakers(other.clone()).await.expect("answers").is_empty());
    assert!(store.transitions(other.clone(), "fails".to_owned(), 10).await.expect("answers").is_empty());
    assert!(store.outbox(other.clone(), 0, 100).await.expect("answers").is_empty());
    assert_eq!(store.living(other.clone()).await.expect("answers"), 0);
    assert_eq!(store.unplanned(other.clone(), at("12:06:00")).await.expect("answers"), 0);
    assert_eq!(store.verify_audit(other).await.expect("answers").checked, 0);
}

/// A thing of another org is not found by name, by id, by the beginning of its id or by its number.
pub async fn things_of_another_org_are_not_found<B: Backend>(backend: &B) {
    let stage = everything(backend).await;
    let other = stranger(&stage).await;
    let store = &stage.store;
    let prefix = id_of("tick").to_string()[..8].to_owned();
    for selector in
        [Selector::Name("tick".to_owned()), Selector::Id(id_of("tick")), Selector::IdPrefix(prefix)]
    {
        assert!(store.schedule(other.clone(), selector).await.expect("answers").is_none());
    }
    let run = stage.runs("tick").await[0].run.key;
    assert!(store.run(other.clone(), run).await.expect("answers").is_none());
    let key = stage.row("tick").await.key;
    assert!(store.open_rows(other.clone(), key).await.expect("answers").is_empty());
    assert!(store.versions(other.clone(), id_of("tick")).await.expect("answers").is_empty());
    let chained = store.users_of(other.clone(), UseKind::Chain, id_of("tick").to_string()).await;
    assert!(chained.expect("answers").is_empty());
    let document = store.document(other.clone(), DocumentKind::Secret, "a".to_owned()).await;
    assert_eq!(document.expect("answers"), None);
    assert!(store.org(other, "acme".to_owned()).await.is_err(), "its key is not told");
}

/// The same answer, but for the number that was asked for.
fn answer(result: &Result<Written, Error>, key: ScheduleKey) -> String {
    format!("{result:?}").replace(&key.0.to_string(), "N")
}

/// Every change of a schedule is refused as if it did not exist, and nothing is written.
pub async fn changes_are_answered_as_if_nothing_were_there<B: Backend>(backend: &B) {
    let stage = everything(backend).await;
    let other = stranger(&stage).await;
    let before = dump(&*stage.store).await;
    let key = stage.row("tick").await.key;
    let edit = stage.edit("tick", cron("tick", "1 1 * * *"), at("10:06:00")).await;
    let pause = stage.pause("tick", at("10:06:00")).await;
    let deletion = stage.deletion("tick", at("10:06:00")).await;
    let resumption = stage.resumption("paused", at("10:06:00")).await;
    let wish = stage.wish(key, "mine", at("10:06:00"));
    for write in [edit, pause, deletion, resumption, wish] {
        let absent = ScheduleKey(777_777);
        let asked = asked_of(&write).expect("each names a schedule");
        let answered = stage.write_in(other.clone(), write.clone()).await;
        let nobody = stage.write_in(other.clone(), instead(write, absent)).await;
        assert_eq!(answer(&answered, asked), answer(&nobody, absent));
        assert!(!matches!(answered, Ok(Written::Schedule(_) | Written::Run(_))), "{answered:?}");
    }
    assert_eq!(dump(&*stage.store).await, before);
}

fn asked_of(write: &ScheduleWrite) -> Option<ScheduleKey> {
    match &write.write {
        Write::Change { schedule, .. } | Write::Trigger { schedule, .. } => Some(*schedule),
        Write::Create { .. } => None,
    }
}

/// The same write for another schedule.
fn instead(mut write: ScheduleWrite, key: ScheduleKey) -> ScheduleWrite {
    if let Write::Change { schedule, .. } | Write::Trigger { schedule, .. } = &mut write.write {
        *schedule = key;
    }
    write
}

/// Documents, tokens, breakers, messages and leases of another org cannot be touched.
pub async fn other_things_cannot_be_touched<B: Backend>(backend: &B) {
    let stage = everything(backend).await;
    let other = stranger(&stage).await;
    let before = dump(&*stage.store).await;
    let store = &stage.store;
    let (kind, name, body) = (DocumentKind::Template, "a".to_owned(), "{}".to_owned());
    let replaced = NewDocument { kind, name, body, replaces: Some(1), now: at("10:06:00") };
    let refused = store.put_document(other.clone(), replaced).await;
    assert!(matches!(refused, Err(Error::Conflict { .. })), "as if it were not there: {refused:?}");
    assert!(
        !store.remove_document(other.clone(), DocumentKind::Template, "a".to_owned()).await.expect("answers")
    );
    assert!(!store.reset_breaker(other.clone(), "fails".to_owned(), at("10:06:00")).await.expect("answers"));
    assert_eq!(store.acknowledge_outbox(other.clone(), i64::MAX).await.expect("answers"), 0);
    let worker = Worker {
        queue: "work".to_owned(),
        name: "w".to_owned(),
        limit: 10,
        until: at("10:07:00"),
        now: at("10:06:00"),
    };
    assert!(store.lease(other.clone(), worker).await.expect("answers").is_empty());
    let run = stage.runs("tick").await[0].run.key;
    for run in [run, RunKey(777_777)] {
        let held = Held { run, token: "t".to_owned(), until: at("10:07:00") };
        let stale = store.extend_lease(other.clone(), held).await.expect("answers");
        assert_eq!(stale, crate::Commit::Stale);
    }
    assert_eq!(dump(&**store).await, before);
}

/// Names, ids and request keys are each org's own.
pub async fn names_are_each_orgs_own<B: Backend>(backend: &B) {
    let stage = everything(backend).await;
    let other = stranger(&stage).await;
    let made =
        stage.write_in(other.clone(), stage.creation(cron("tick", "1 10 * * *"), at("10:06:00"))).await;
    assert!(matches!(made, Ok(Written::Schedule(_))), "{made:?}");
    let (key, question, answer) = ("k".to_owned(), "other".to_owned(), "other".to_owned());
    let kept = crate::Answer { key, question, answer, now: at("10:06:00") };
    assert_eq!(stage.store.answer_once(other.clone(), kept).await.expect("answers"), crate::Answered::Kept);
    let (kind, name, body) = (DocumentKind::Template, "a".to_owned(), "{}".to_owned());
    let new = NewDocument { kind, name, body, replaces: Some(0), now: at("10:06:00") };
    assert_eq!(stage.store.put_document(other.clone(), new).await.expect("it is new there").version, 1);
    let row = stage.store.schedule(other, Selector::Name("tick".to_owned())).await.expect("answers");
    assert_ne!(row.map(|row| row.key), Some(stage.row("tick").await.key));
}

/// Guards, lanes, breakers and chains do not reach into another org.
pub async fn claims_do_not_reach_into_another_org<B: Backend>(backend: &B) {
    use super::stage::Shape;
    let stage = Stage::open(backend).await;
    let other = stranger(&stage).await;
    let guarded = |name: &str| {
        cron(name, "1 10 * * *").policy(|policy| {
            policy.guard = Some("disk".to_owned());
            policy.lane = Some("tape".to_owned());
        })
    };
    stage.create(guarded("one"), at("10:00:05")).await;
    stage.write_in(other, stage.creation(guarded("one"), at("10:00:05"))).await.expect("made");
    let verdicts = stage.judge(at("10:01:00")).await;
    assert_eq!(verdicts.len(), 2);
    let commits = stage.carry_out(verdicts, at("10:01:00")).await;
    assert_eq!(commits, [crate::Commit::Done, crate::Commit::Done]);
    let filter = RunFilter { status: Some(RunStatus::Enqueued), ..RunFilter::default() };
    let enqueued = stage.store.runs(Scope::Engine, filter, Cut::first(10)).await.expect("answers").rows;
    assert_eq!(enqueued.len(), 2);
}
