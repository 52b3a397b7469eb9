//! Copies: a database that is read table by table and written into another is the same there.

use jiff::Timestamp;
use punctual_plan::{Action, Chain, ChainOn, Object, Outcome};

use super::Backend;
use super::stage::{Shape, Stage, at, cron, following, id_of, node, seconds};
use crate::{
    Answer, Cell, Cut, DocumentKind, NewDocument, RunFilter, ScheduleFilter, Scope, Store, Table, Token,
};

/// Rows that are read at once: few, so that every table takes several pages.
const PAGE: usize = 3;

/// A store in which a little of everything has happened.
pub async fn everything<B: Backend>(backend: &B) -> Stage<B::Store> {
    let stage = Stage::open(backend).await;
    let guarded = cron("tick", "*/20 * * * * *").policy(|policy| policy.guard = Some("disk".to_owned()));
    stage.create(guarded, at("10:00:05")).await;
    let fails = cron("fails", "*/20 * * * * *").policy(|policy| {
        policy.retry_after = Some(seconds(300));
        policy.lane = Some("tape".to_owned());
    });
    stage.create(fails, at("10:00:05")).await;
    let letter = cron("letter", "1 10 * * *").action(Action::Message { message: Object::new() });
    stage.create(letter, at("10:00:05")).await;
    stage.create(following("after", Chain::new(id_of("tick"), ChainOn::Success)), at("10:00:05")).await;
    stage.create(cron("paused", "*/20 * * * * *"), at("10:00:05")).await;
    stage.create(cron("slow", "* * * * * *"), at("10:00:05")).await;
    let pause = stage.pause("paused", at("10:00:25")).await;
    stage.write(pause).await;
    for now in ["10:00:20", "10:00:40", "10:01:00", "10:05:00"].map(at) {
        stage.plan(now).await;
        for run in stage.admit(now).await {
            end(&stage, run, now).await;
        }
    }
    papers(&stage).await;
    stage
}

/// Ends what was admitted, as its name says; what is late in the day stays in flight.
async fn end<S: Store>(stage: &Stage<S>, run: punctual_plan::RunKey, now: Timestamp) {
    let row = stage.run(run).await;
    if !row.run.state.status().is_in_flight() || now > at("10:04:00") {
        return;
    }
    let outcome = match row.schedule_name.as_str() {
        "fails" => Outcome::Exited { code: 1 },
        _ => Outcome::Succeeded,
    };
    let mut report = stage.report(run, outcome, now + seconds(1)).await;
    report.output = Some(format!("{run} was here"));
    stage.send(vec![report], now + seconds(1)).await;
}

/// Documents, tokens, answers, seals and positions.
async fn papers<S: Store>(stage: &Stage<S>) {
    for kind in [DocumentKind::Template, DocumentKind::Secret, DocumentKind::User] {
        let (name, body) = ("a".to_owned(), "{}".to_owned());
        let document = NewDocument { kind, name, body, replaces: None, now: at("10:06:00") };
        stage.store.put_document(stage.scope(), document).await.expect("answers");
    }
    let token = Token {
        id: "t".to_owned(),
        hash: "hash".to_owned(),
        user: None,
        scopes: "read".to_owned(),
        created_at: at("10:06:00"),
        expires_at: None,
        revoked_at: None,
    };
    stage.store.put_token(stage.scope(), token).await.expect("answers");
    let (key, question, answer) = ("k".to_owned(), "q".to_owned(), "a".to_owned());
    let answer = Answer { key, question, answer, now: at("10:06:00") };
    stage.store.answer_once(stage.scope(), answer).await.expect("answers");
    stage.store.seal_audit(1_000).await.expect("answers");
    stage.store.sequence_outbox().await.expect("answers");
}

/// Every row of a table, read page by page.
pub async fn rows_of<S: Store>(store: &S, table: Table) -> Vec<Vec<Cell>> {
    let mut rows: Vec<Vec<Cell>> = Vec::new();
    loop {
        let page = store.read_table(table, rows.last().cloned(), PAGE).await.expect("answers");
        let is_last = page.len() < PAGE;
        rows.extend(page);
        if is_last {
            return rows;
        }
    }
}

/// Copies a store into an empty one, changing rows on the way.
pub async fn copy_with<S: Store, T: Store>(from: &S, to: &T, alter: impl Fn(Table, &mut Vec<Vec<Cell>>)) {
    for table in Table::ALL {
        let mut rows = rows_of(from, *table).await;
        alter(*table, &mut rows);
        to.write_table(*table, rows).await.expect("the table is written");
    }
}

/// Everything that a store holds, as text.
pub async fn dump<S: Store>(store: &S) -> String {
    let mut text = String::new();
    for table in Table::ALL {
        for row in rows_of(store, *table).await {
            text.push_str(&format!("{} {row:?}\n", table.name()));
        }
    }
    text
}

/// What was copied is the same, table by table.
pub async fn a_copy_has_the_same_rows<B: Backend>(backend: &B) {
    let from = everything(backend).await;
    let to = backend.open().await;
    copy_with(&*from.store, &to, |_, _| {}).await;
    let (one, other) = (dump(&*from.store).await, dump(&to).await);
    assert!(one.lines().count() > 30, "{one}");
    assert_eq!(one, other);
}

/// A table is read in the order of its key, each row once, however it is cut.
pub async fn a_table_is_read_in_pages<B: Backend>(backend: &B) {
    let from = everything(backend).await;
    for table in Table::ALL {
        let whole = from.store.read_table(*table, None, 100_000).await.expect("answers");
        assert_eq!(rows_of(&*from.store, *table).await, whole, "{}", table.name());
        let keys: Vec<Vec<Cell>> = whole.iter().map(|row| row[..table.key_columns()].to_vec()).collect();
        if let [first, .., last] = keys.as_slice() {
            assert_ne!(first, last);
            let rest = from.store.read_table(*table, Some(first.clone()), 100_000).await.expect("answers");
            assert_eq!(rest.len() + 1, whole.len(), "{}: the key alone is enough", table.name());
        }
    }
}

/// A copy reads alike in every list.
pub async fn a_copy_reads_alike<B: Backend>(backend: &B) {
    let from = everything(backend).await;
    let to = backend.open().await;
    copy_with(&*from.store, &to, |_, _| {}).await;
    let scope = Scope::org(from.org);
    assert_eq!(reads(&*from.store, &scope).await, reads(&to, &scope).await);
}

async fn reads<S: Store>(store: &S, scope: &Scope) -> String {
    let all = Cut::first(1_000);
    let schedules = store.schedules(scope.clone(), ScheduleFilter::default(), all.clone()).await;
    let runs = store.runs(scope.clone(), RunFilter::default(), all.clone()).await.expect("answers");
    let ranges = store.ranges(scope.clone(), RunFilter::default(), all.clone()).await;
    let audit = store.audit(scope.clone(), crate::AuditFilter::default(), all).await;
    let runs: Vec<_> = runs.rows.into_iter().map(|row| (row.run, row.completed_at, row.output)).collect();
    let chain = store.verify_audit(scope.clone()).await;
    let counts = (store.living(scope.clone()).await, store.unplanned(scope.clone(), at("10:06:00")).await);
    let schedules = schedules.expect("answers").rows;
    let schedules: Vec<_> =
        schedules.iter().map(|row| (row.key, &row.definition, &row.state, row.next_run_at)).collect();
    format!("{schedules:#?} {runs:#?} {ranges:#?} {audit:#?} {chain:?} {counts:?}")
}

/// The copy goes on where the original stood: runs end, ticks are planned, numbers rise.
pub async fn a_copy_goes_on<B: Backend>(backend: &B) {
    let from = everything(backend).await;
    let to = backend.open().await;
    copy_with(&*from.store, &to, |_, _| {}).await;
    let newest =
        from.store.runs(from.scope(), RunFilter::default(), Cut::first(1_000)).await.expect("answers");
    let newest = newest.rows.iter().map(|row| row.run.key).max();
    let joined = to.join(node("new", seconds(3_600))).await.expect("it joins");
    let inherited = to.take_over(joined.fence, 100).await.expect("answers");
    assert!(!inherited.is_empty(), "the runs in flight of the original have no living node");
    let stage = Stage::on(to, "newer").await;
    stage.plan(at("10:06:00")).await;
    let key = stage.row("letter").await.key;
    assert!(Some(stage.trigger(key, "more", at("10:06:01")).await) > newest, "no number is given twice");
    let findings = stage.store.check().await.expect("answers");
    assert!(findings.is_empty(), "{findings:?}");
}
