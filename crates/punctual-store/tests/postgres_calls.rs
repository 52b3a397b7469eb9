//! The control plane and the operator's calls on a real server: each is made at least once, as people would.

mod ground;

use std::sync::Arc;

use ground::{at, batch, create, cron, first_plan, ground, node};
use jiff::{SignedDuration, Timestamp, ToSpan as _};
use punctual_plan::{
    Action, Before, Change, Open, OrgKey, Origin, Outcome, Queue, RunKey, RunStatus, Schedule, Status, change,
};
use punctual_store::{
    Answer, Answered, AttemptToken, AuditFilter, Commit, Cut, DocumentKind, Error, Held, NewDocument,
    Postgres, PostgresSettings, Report, Retention, RunFilter, ScheduleFilter, ScheduleRow, ScheduleWrite,
    Scope, Selector, Store, Table, Token, UseKind, Worker, Write, Written,
};

const NOW: &str = "2026-03-01T10:00:00Z";

/// The write that changes a schedule as a person would.
async fn changing(store: &Postgres, org: OrgKey, (what, now): (&Change, Timestamp)) -> ScheduleWrite {
    let row = find(store, org, "one").await;
    let open: Vec<Open> =
        store.open_rows(Scope::org(org), row.key).await.expect("rows").iter().map(|row| row.open).collect();
    let timing = row.definition.when.timing();
    let before = Before {
        timing,
        cursor: row.state.cursor,
        open: &open,
        slept: None,
        launched_through: row.launched_through,
    };
    let changed = change(&before, what, now);
    let mut definition = None;
    let mut plan = None;
    if let Change::Edit { version } = what {
        let new = Schedule { version: *version, name: "uno".to_owned(), ..(*row.definition).clone() };
        plan = first_plan(&new, now);
        definition = Some(Arc::new(new));
    }
    let status = match what {
        Change::Leave(status) => Some(status.clone()),
        _ => None,
    };
    let write = Write::Change {
        schedule: row.key,
        version: row.definition.version,
        from: row.state.cursor,
        definition,
        status,
        is_deleted: *what == Change::Delete,
        changed,
        plan,
    };
    ScheduleWrite { write, kind: "schedule.changed", note: "changed".to_owned(), now }
}

async fn find(store: &Postgres, org: OrgKey, name: &str) -> ScheduleRow {
    let found = store.schedule(Scope::org(org), Selector::Name(name.to_owned())).await;
    found.expect("it can be read").expect("it is there")
}

#[tokio::test]
async fn schedules_are_changed_triggered_and_deleted() {
    let ground = ground().await;
    let store = &ground.store;
    let (org, now) = (ground.org("acme").await, at(NOW));
    let key = ground.make(org, cron("one", "* * * * *"), now).await;
    let write =
        async |write| store.write_schedules(Scope::org(org), vec![write]).await.unwrap().pop().unwrap();
    let trigger = |nonce: &str, now: Timestamp| ScheduleWrite {
        write: Write::Trigger {
            schedule: key,
            origin: Origin::Manual,
            nonce: nonce.to_owned(),
            scheduled_for: now,
            fire_at: now,
            is_forced: false,
            payload: None,
            trace: None,
        },
        kind: "run.requested",
        note: "now".to_owned(),
        now,
    };
    let first = write(trigger("a", now)).await.unwrap();
    assert_eq!(write(trigger("a", now + 5.seconds())).await.unwrap(), first);
    assert_ne!(write(trigger("b", now)).await.unwrap(), first);
    let paused = Status::PausedManual { by: "ada".to_owned(), note: "wait".to_owned() };
    let pause = changing(store, org, (&Change::Leave(paused.clone()), now + 10.seconds())).await;
    assert_eq!(write(pause.clone()).await.unwrap(), Written::Schedule(key));
    assert_eq!(write(pause).await.unwrap(), Written::Stale);
    let row = find(store, org, "one").await;
    assert_eq!((row.state.status, row.next_run_at), (paused, None));
    let edit = changing(store, org, (&Change::Edit { version: 2 }, now + 20.seconds())).await;
    assert_eq!(write(edit).await.unwrap(), Written::Schedule(key));
    assert!(store.schedule(Scope::org(org), Selector::Name("one".to_owned())).await.unwrap().is_none());
    let id = find(store, org, "uno").await.definition.id;
    assert_eq!(store.versions(Scope::org(org), id).await.unwrap().len(), 2);
    let renamed = create(cron("uno", "* * * * *"), now);
    assert!(matches!(write(renamed).await, Err(Error::NameTaken { .. })));
    let other = Scope::org(ground.org("globex").await);
    assert!(store.schedule(other.clone(), Selector::Id(id)).await.unwrap().is_none());
    let foreign = store.write_schedules(other, vec![trigger("c", now)]).await.unwrap().pop().unwrap();
    assert!(matches!(foreign, Err(Error::NotFound { .. })));
    assert_eq!(store.users_of(Scope::org(org), UseKind::Calendar, "x".to_owned()).await.unwrap(), []);
    let filter = ScheduleFilter { search: Some("UN".to_owned()), ..ScheduleFilter::default() };
    assert_eq!(store.schedules(Scope::org(org), filter, Cut::first(5)).await.unwrap().rows.len(), 1);
    let prefix = Selector::IdPrefix(id.to_string()[..20].to_owned());
    assert!(store.schedule(Scope::org(org), prefix).await.unwrap().is_some());
}

#[tokio::test]
async fn documents_tokens_and_answers_are_kept() {
    let ground = ground().await;
    let store = &ground.store;
    let (scope, now) = (Scope::org(ground.org("acme").await), at(NOW));
    for kind in DocumentKind::ALL {
        let new = |replaces| NewDocument { kind, name: "n".to_owned(), body: "{}".to_owned(), replaces, now };
        assert_eq!(store.put_document(scope.clone(), new(Some(0))).await.unwrap().version, 1);
        assert!(matches!(store.put_document(scope.clone(), new(Some(0))).await, Err(Error::Conflict { .. })));
        assert_eq!(store.put_document(scope.clone(), new(Some(1))).await.unwrap().version, 2);
        assert_eq!(store.put_document(scope.clone(), new(None)).await.unwrap().version, 3);
        assert_eq!(store.documents(scope.clone(), kind, Cut::first(1)).await.unwrap().rows.len(), 1);
        assert!(store.remove_document(scope.clone(), kind, "n".to_owned()).await.unwrap());
        assert!(store.document(scope.clone(), kind, "n".to_owned()).await.unwrap().is_none());
    }
    let token = Token {
        id: "t1".to_owned(),
        hash: "h".to_owned(),
        user: None,
        scopes: "read".to_owned(),
        created_at: now,
        expires_at: None,
        revoked_at: None,
    };
    store.put_token(scope.clone(), token.clone()).await.unwrap();
    assert_eq!(store.token("h".to_owned()).await.unwrap().unwrap().1, token);
    assert_eq!(store.tokens(scope.clone()).await.unwrap(), [token]);
    let answer = |question: &str| Answer {
        key: "k".to_owned(),
        question: question.to_owned(),
        answer: "42".to_owned(),
        now,
    };
    assert_eq!(store.answer_once(scope.clone(), answer("q")).await.unwrap(), Answered::Kept);
    assert_eq!(
        store.answer_once(scope.clone(), answer("q")).await.unwrap(),
        Answered::Before("42".to_owned())
    );
    assert_eq!(store.answer_once(scope, answer("p")).await.unwrap(), Answered::Differs);
}

#[tokio::test]
async fn a_worker_takes_a_run_fails_it_and_everything_can_be_copied() {
    let ground = ground().await;
    let store = &ground.store;
    let (org, now) = (ground.org("acme").await, at(NOW));
    let mut schedule = cron("queued", "* * * * *");
    let queue = Queue {
        queue: "q".to_owned(),
        worker_type: None,
        prompt: None,
        repo_url: None,
        branch: "main".to_owned(),
        context: Default::default(),
        config: Default::default(),
    };
    let mut target = (*schedule.target).clone();
    target.action = Action::Queue(queue);
    target.breaker.threshold = 1;
    schedule.target = Arc::new(target);
    ground.make(org, schedule, now).await;
    let fence = store.join(node("a")).await.unwrap().fence;
    let later = now + 61.seconds();
    let commits = ground.judged(later).await;
    assert_eq!(store.admit(batch(fence, later), commits).await.unwrap(), [Commit::Done]);
    let worker = Worker {
        queue: "q".to_owned(),
        name: "w".to_owned(),
        limit: 5,
        until: later + 1.minute(),
        now: later,
    };
    let leased = store.lease(Scope::org(org), worker.clone()).await.unwrap();
    assert_eq!(leased.len(), 1);
    assert!(store.lease(Scope::org(org), worker).await.unwrap().is_empty());
    let (run, token) = (leased[0].launch.run, leased[0].token.clone());
    let held = |token: &str| Held { run, token: token.to_owned(), until: later + 2.minutes() };
    assert_eq!(store.extend_lease(Scope::org(org), held(&token)).await.unwrap(), Commit::Done);
    assert_eq!(store.extend_lease(Scope::org(org), held("other")).await.unwrap(), Commit::Stale);
    let report = Report {
        run,
        attempt: 1,
        token: AttemptToken::Holder(token),
        outcome: Outcome::Reported { error: "no".to_owned() },
        started_at: Some(later),
        at: later,
        output: Some("out".to_owned()),
    };
    assert_eq!(store.settle(batch(fence, later), vec![report]).await.unwrap()[0].commit, Commit::Done);
    let breakers = store.breakers(Scope::org(org)).await.unwrap();
    assert_eq!(breakers.len(), 1);
    let target = breakers[0].target.clone();
    assert_eq!(store.transitions(Scope::org(org), target.clone(), 5).await.unwrap().len(), 1);
    assert!(store.reset_breaker(Scope::org(org), target, later).await.unwrap());
    store.seal_audit(100).await.unwrap();
    copied(&ground, run).await;
    retained(&ground, org, later).await;
}

/// Every table, into an empty database.
async fn copied(ground: &ground::Ground, run: RunKey) {
    let other = ground::ground().await;
    for table in Table::ALL {
        let rows = ground.store.read_table(*table, None, 1_000).await.expect("it works");
        if let Some(last) = rows.last() {
            assert!(
                ground.store.read_table(*table, Some(last.clone()), 10).await.expect("it works").is_empty(),
                "{table:?}"
            );
        }
        other.store.write_table(*table, rows.clone()).await.expect("it works");
        assert_eq!(other.store.read_table(*table, None, 1_000).await.expect("it works"), rows, "{table:?}");
    }
    assert!(other.store.run(Scope::Engine, run).await.expect("it works").is_some());
    assert_eq!(other.store.check().await.expect("it works"), []);
    assert!(other.store.status().await.expect("it works").bytes > 0);
    let again = Postgres::open(PostgresSettings::new(&other.url)).await.expect("it works");
    assert_eq!(again.status().await.expect("it works").schema, 2);
}

/// Old rows leave a digest, old events their seals.
async fn retained(ground: &ground::Ground, org: OrgKey, now: Timestamp) {
    let store = &ground.store;
    let all = SignedDuration::from_secs(-3_600);
    let retention = Retention { runs: all, runs_per_schedule: 1, failures: all, audit: all, limit: 100 };
    let done = store.retain(retention, now + 1.minute()).await.expect("it works");
    assert!(done.runs > 0 && done.events > 0, "{done:?}");
    let ranges = store.ranges(Scope::org(org), RunFilter::default(), Cut::first(10)).await.expect("it works");
    assert_eq!(ranges.rows[0].counts, [(RunStatus::Failed, 1)]);
    assert_eq!(store.verify_audit(Scope::org(org)).await.expect("it works").broken, None);
    let events =
        store.audit(Scope::org(org), AuditFilter::default(), Cut::first(10)).await.expect("it works");
    assert!(events.rows.is_empty());
    assert_eq!(store.living(Scope::org(org)).await.expect("it works"), 1);
    assert_eq!(store.sequence_outbox().await.expect("it works"), 0);
    assert!(store.outbox(Scope::Engine, 0, 10).await.expect("it works").is_empty());
    assert_eq!(store.acknowledge_outbox(Scope::Engine, 10).await.expect("it works"), 0);
    assert_eq!(store.nodes().await.expect("it works").len(), 1);
}
