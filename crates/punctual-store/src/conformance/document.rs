//! Shared things, tokens, and answers that are given once.

use punctual_plan::{Reason, Schedule, Status};
use punctual_time::{Calendar, Suppression};

use super::Backend;
use super::stage::{Shape, Stage, at, cron};
use crate::{
    Actor, Answer, Answered, Ask, AuditFilter, AuditRow, Cut, DocumentKind, Error, NewDocument, Store, Token,
};

fn document(name: &str, body: &str, replaces: Option<i64>) -> NewDocument {
    let (kind, now) = (DocumentKind::Template, at("10:00:00.5"));
    NewDocument { kind, name: name.to_owned(), body: body.to_owned(), replaces, now }
}

/// A thing is written in the version that it replaces, or not at all.
pub async fn a_document_replaces_its_own_version<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let put = async |document| stage.store.put_document(stage.scope(), document).await;
    assert_eq!(put(document("a", "{}", Some(0))).await.expect("it is new").version, 1);
    assert!(matches!(put(document("a", "{}", Some(0))).await, Err(Error::Conflict { .. })));
    assert_eq!(put(document("a", r#"{"x":1}"#, Some(1))).await.expect("it fits").version, 2);
    assert!(matches!(put(document("a", "{}", Some(1))).await, Err(Error::Conflict { .. })));
    let kept = put(document("a", r#"{"x":2}"#, None)).await.expect("whichever is there");
    let read = stage.store.document(stage.scope(), DocumentKind::Template, "a".to_owned()).await;
    assert_eq!(read.expect("answers"), Some(kept.clone()));
    assert_eq!((kept.version, kept.body.as_str(), kept.updated_at), (3, r#"{"x":2}"#, at("10:00:00.5")));
}

/// Kinds do not see each other, and names come in order.
pub async fn documents_are_listed_by_kind_and_name<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    for name in ["c", "a", "b"] {
        stage.store.put_document(stage.scope(), document(name, "{}", None)).await.expect("answers");
    }
    let list = async |kind, cut| stage.store.documents(stage.scope(), kind, cut).await.expect("answers");
    let first = list(DocumentKind::Template, Cut::first(2)).await;
    let names: Vec<&str> = first.rows.iter().map(|row| row.name.as_str()).collect();
    assert_eq!(names, ["a", "b"]);
    let rest = list(DocumentKind::Template, Cut { after: first.next, limit: 2 }).await;
    assert_eq!((rest.rows.len(), rest.next), (1, None));
    for kind in DocumentKind::ALL.into_iter().filter(|kind| *kind != DocumentKind::Template) {
        assert!(list(kind, Cut::first(10)).await.rows.is_empty(), "{kind:?}");
    }
}

/// Who wrote or removed a shared thing or a token is in the audit log, once for each time.
pub async fn what_is_done_to_documents_is_audited<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    for kind in DocumentKind::ALL {
        let document = NewDocument { kind, ..document("a", "{}", None) };
        stage.store.put_document(stage.scope(), document.clone()).await.expect("answers");
        let stale = NewDocument { replaces: Some(7), ..document };
        assert!(stage.store.put_document(stage.scope(), stale).await.is_err(), "{kind:?}");
        for _ in 0..2 {
            stage.store.remove_document(stage.scope(), kind, "a".to_owned()).await.expect("answers");
        }
        let filter = AuditFilter { kind: Some(format!("{}.", kind.table())), ..AuditFilter::default() };
        let events = stage.store.audit(stage.scope(), filter, Cut::first(10)).await.expect("answers").rows;
        let said = |row: &AuditRow| (row.kind.clone(), row.detail.clone(), row.actor.clone());
        let expected = ["removed", "put"]
            .map(|done| (format!("{}.{done}", kind.table()), "a".to_owned(), Actor::User("ada".to_owned())));
        assert_eq!(events.iter().map(said).collect::<Vec<_>>(), expected, "{kind:?}");
    }
}

/// A removed thing is gone, once.
pub async fn a_document_is_removed_once<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    stage.store.put_document(stage.scope(), document("a", "{}", None)).await.expect("answers");
    let remove = async || {
        stage
            .store
            .remove_document(stage.scope(), DocumentKind::Template, "a".to_owned())
            .await
            .expect("answers")
    };
    assert!(remove().await);
    assert!(!remove().await);
    let read = stage.store.document(stage.scope(), DocumentKind::Template, "a".to_owned()).await;
    assert_eq!(read.expect("answers"), None);
}

/// A schedule refers to a calendar by name: it means the calendar as it is, not as it was when the schedule was written
/// or last read. Without it the schedule cannot be read, and with a new one of that name it can be again.
pub async fn a_changed_calendar_counts_for_every_handle_at_once<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let beside = stage.beside(backend).await;
    let put = async |dates: &[&str], now: &str| {
        let calendar = calendar(dates);
        let (kind, body) = (DocumentKind::Calendar, crate::calendar_body(&calendar));
        let document = NewDocument { kind, now: at(now), ..document("free", &body, None) };
        stage.store.put_document(stage.scope(), document).await.expect("answers");
        calendar
    };
    let first = put(&["2026-01-02"], "10:00:00").await;
    let schedule = cron("one", "* * * * *").timing(|timing| timing.windows.calendars = vec![first.clone()]);
    stage.create(schedule, at("10:00:05")).await;
    let check = async |expected: &Calendar| {
        for node in [&stage, &beside] {
            let row = node.row("one").await;
            assert_eq!((calendars(&row.definition), &row.invalid), (vec![expected.clone()], &None));
            let plannable = node.store.plannable(Ask::all(at("10:30:00"))).await.expect("answers");
            let ready: Vec<_> = plannable.ready.iter().map(|one| calendars(&one.definition)).collect();
            assert_eq!(ready, [vec![expected.clone()]]);
        }
    };
    check(&first).await;
    check(&put(&["2026-01-03", "2026-01-04"], "10:01:00").await).await;
    let kind = DocumentKind::Calendar;
    assert!(beside.store.remove_document(stage.scope(), kind, "free".to_owned()).await.expect("answers"));
    for node in [&stage, &beside] {
        let plannable = node.store.plannable(Ask::all(at("10:30:00"))).await.expect("answers");
        assert_eq!((plannable.ready.len(), plannable.unreadable.len()), (0, 1));
        assert!(node.row("one").await.invalid.is_some());
    }
    check(&put(&["2026-01-05"], "10:02:00").await).await;
}

/// What is armed goes by the calendar as it is at its instant, also while its schedule is not decided again yet.
pub async fn a_changed_calendar_counts_for_what_is_armed<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let put = async |dates: &[&str], now: &str| {
        let free = calendar(dates);
        let (kind, body) = (DocumentKind::Calendar, crate::calendar_body(&free));
        let document = NewDocument { kind, now: at(now), ..document("free", &body, None) };
        stage.store.put_document(stage.scope(), document).await.expect("answers");
        free
    };
    let free = put(&["2026-01-02"], "10:00:00").await;
    let shared = |name: &str, free: &Calendar| {
        let free = free.clone();
        cron(name, "* * * * *").timing(|timing| timing.windows.calendars = vec![free])
    };
    stage.create(shared("fires", &free), at("10:00:05")).await;
    let said = async || {
        let due = stage.store.due(Ask::all(at("10:01:00"))).await.expect("answers");
        due.rows.iter().map(|row| row.due.verdict.clone()).collect::<Vec<_>>()
    };
    assert_eq!(said().await, [None]);
    let today = put(&["2026-01-01"], "10:00:10").await;
    let kept = Reason::from(Suppression::Calendar("free".to_owned()));
    assert_eq!(said().await, [Some(kept.clone())]);
    // And what was to be skipped fires, when the calendar lets it.
    stage.create(shared("skipped", &today), at("10:00:20")).await;
    assert_eq!(said().await, [Some(kept.clone()), Some(kept)]);
    put(&["2026-01-02"], "10:00:30").await;
    assert_eq!(said().await, [None, None]);
}

/// A schedule that refers to what is gone leaves `active` by itself, with what is wrong; the others go on, and a valid
/// edit brings it back.
pub async fn what_cannot_be_read_is_paused_and_nothing_else<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let free = calendar(&["2026-01-02"]);
    let (kind, body) = (DocumentKind::Calendar, crate::calendar_body(&free));
    let document = NewDocument { kind, ..document("free", &body, None) };
    stage.store.put_document(stage.scope(), document).await.expect("answers");
    let broken = cron("broken", "* * * * *").timing(|timing| timing.windows.calendars = vec![free]);
    let keys = vec![
        stage.create(broken, at("10:00:05")).await,
        stage.create(cron("whole", "* * * * *"), at("10:00:05")).await,
    ];
    let pause = async |now: &str| stage.store.pause_invalid(at(now), keys.clone()).await.expect("answers");
    assert_eq!(pause("10:00:10").await, 0, "both can be read");
    stage.store.remove_document(stage.scope(), kind, "free".to_owned()).await.expect("answers");
    assert_eq!(pause("10:00:20").await, 1);
    assert_eq!(pause("10:00:21").await, 0, "once");
    let row = stage.row("broken").await;
    let error = "there is no calendar `free` any more".to_owned();
    assert_eq!((row.state.status, row.left_at), (Status::PausedInvalid { error }, Some(at("10:00:20"))));
    assert_eq!(row.next_run_at, None);
    assert!(stage.row("whole").await.state.status.is_active());
    let plannable = stage.store.plannable(Ask::all(at("10:30:00"))).await.expect("answers");
    assert_eq!((plannable.ready.len(), plannable.unreadable.len()), (1, 0));
    let edit = stage.edit("broken", cron("broken", "* * * * *"), at("10:00:30")).await;
    stage.write(edit).await;
    assert!(stage.row("broken").await.state.status.is_active());
    assert_eq!(stage.row("broken").await.next_run_at, Some(at("10:01:00")));
}

fn calendar(dates: &[&str]) -> Calendar {
    Calendar::new("free", dates.iter().map(|date| date.parse().expect("the suite's dates are valid")))
}

fn calendars(definition: &Schedule) -> Vec<Calendar> {
    definition.when.timing().map(|timing| timing.windows.calendars.clone()).unwrap_or_default()
}

/// Whose a token is, is known by its hash alone.
pub async fn a_token_is_known_by_its_hash<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let token = Token {
        id: "t1".to_owned(),
        hash: "0123".to_owned(),
        user: Some("ada".to_owned()),
        scopes: "read write".to_owned(),
        created_at: at("10:00:00"),
        expires_at: Some(at("12:00:00")),
        revoked_at: None,
    };
    stage.store.put_token(stage.scope(), token.clone()).await.expect("answers");
    let found = stage.store.token("0123".to_owned()).await.expect("answers");
    assert_eq!(found, Some((stage.org, token.clone())));
    assert_eq!(stage.store.token("4567".to_owned()).await.expect("answers"), None);
    let revoked = Token { revoked_at: Some(at("11:00:00")), ..token };
    stage.store.put_token(stage.scope(), revoked.clone()).await.expect("answers");
    assert_eq!(stage.store.tokens(stage.scope()).await.expect("answers"), [revoked]);
}

/// The same request is answered alike; another one under its key is refused.
pub async fn a_request_is_answered_once<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let ask = async |question: &str, answer: &str| {
        let (key, question, answer) = ("k".to_owned(), question.to_owned(), answer.to_owned());
        let answer = Answer { key, question, answer, now: at("10:00:00") };
        stage.store.answer_once(stage.scope(), answer).await.expect("answers")
    };
    assert_eq!(ask("q", "first").await, Answered::Kept);
    assert_eq!(ask("q", "second").await, Answered::Before("first".to_owned()));
    assert_eq!(ask("another", "third").await, Answered::Differs);
}

/// Limits that are written in the middle count from then on.
pub async fn limits_count_from_when_they_are_written<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    for name in ["a", "b"] {
        stage.create(super::stage::cron(name, "1 10 * * *"), at("10:00:05")).await;
    }
    stage.create(super::stage::cron("first", "*/20 * * * * *"), at("10:00:05")).await;
    stage.admit(at("10:00:20")).await;
    stage.limits(r#"{"runs_in_flight":2,"over":"wait"}"#).await;
    stage.admit(at("10:01:00")).await;
    let waiting = async |name: &str| stage.ledger(name).await.contains("10:01:00 waiting");
    let (a, b) = (waiting("a").await, waiting("b").await);
    assert!(a != b || (a && b), "one place is left at most");
}
