//! Reads that are shared: nobody gets an answer that is older than their question, another org's, or another's failure.

mod ground;

use std::sync::Arc;

use ground::{Ground, at, connect, create, cron, ground};
use punctual_plan::OrgKey;
use punctual_store::{Document, DocumentKind, Error, NewDocument, Postgres, Scope, Selector, Shelf, Store};
use tokio::task::JoinHandle;

const NOW: &str = "2026-03-01T10:00:00Z";

/// Callers at once, each of which asks so often.
const CALLERS: usize = 12;
const ROUNDS: usize = 20;

/// Documents of a page.
const LIMIT: u32 = 100;

async fn put(store: &Postgres, org: OrgKey, (name, body): (String, String)) {
    let kind = DocumentKind::Template;
    let document = NewDocument { kind, name, body, replaces: None, now: at(NOW) };
    store.put_document(Scope::org(org), document).await.expect("it can be written");
}

async fn shelf(store: &Postgres, org: OrgKey, kind: DocumentKind) -> Result<Vec<Document>, Error> {
    let found = store.documents_of(vec![Shelf { scope: Scope::org(org), kind }], LIMIT).await;
    found.map(|mut found| found.pop().expect("a list for each that is wanted"))
}

/// Two orgs that others ask for at the same time.
async fn two_orgs() -> (Ground, [OrgKey; 2]) {
    let ground = ground().await;
    let orgs = [ground.org("acme").await, ground.org("globex").await];
    (ground, orgs)
}

async fn all<T>(tasks: Vec<JoinHandle<T>>) -> Vec<T> {
    let mut done = Vec::with_capacity(tasks.len());
    for task in tasks {
        done.push(task.await.expect("no panic"));
    }
    done
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn whoever_has_written_reads_it_however_many_read_at_the_same_time() {
    let (ground, [org, _]) = two_orgs().await;
    let store = Arc::new(ground.store);
    let write_and_read = |caller: usize| {
        let store = Arc::clone(&store);
        tokio::spawn(async move {
            for round in 0..ROUNDS {
                let (name, body) = (format!("t{caller}"), format!("\"{round}\""));
                put(&store, org, (name.clone(), body.clone())).await;
                let found = shelf(&store, org, DocumentKind::Template).await.expect("it can be read");
                let own = found.iter().find(|one| one.name == name).map(|one| one.body.as_str());
                assert_eq!(own, Some(body.as_str()), "caller {caller}, round {round}");

                let schedule = cron(&format!("s{caller}-{round}"), "0 3 * * *");
                let by_id = Selector::Id(schedule.id);
                let before = store.schedule(Scope::org(org), by_id.clone()).await.expect("it can be read");
                assert!(before.is_none());
                let written = store.write_schedules(Scope::org(org), vec![create(schedule, at(NOW))]).await;
                assert!(written.expect("it can be written")[0].is_ok());
                let after = store.schedule(Scope::org(org), by_id).await.expect("it can be read");
                let name = after.map(|row| row.definition.name.clone());
                assert_eq!(name, Some(format!("s{caller}-{round}")));
            }
        })
    };
    all((0..CALLERS).map(write_and_read).collect()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn readers_of_different_orgs_never_share() {
    let (ground, orgs) = two_orgs().await;
    let schedule = cron("one", "0 3 * * *");
    let id = schedule.id;
    put(&ground.store, orgs[0], ("t".to_owned(), "\"acme\"".to_owned())).await;
    put(&ground.store, orgs[1], ("t".to_owned(), "\"globex\"".to_owned())).await;
    let key = ground.make(orgs[0], schedule, at(NOW)).await;
    let store = Arc::new(ground.store);
    let read = |caller: usize| {
        let (store, number) = (Arc::clone(&store), caller % 2);
        tokio::spawn(async move {
            for _ in 0..ROUNDS {
                let (org, body) = (orgs[number], ["\"acme\"", "\"globex\""][number]);
                let (found, row) = tokio::join!(
                    shelf(&store, org, DocumentKind::Template),
                    store.schedule(Scope::org(org), Selector::Id(id)),
                );
                let bodies: Vec<String> =
                    found.expect("it can be read").into_iter().map(|one| one.body).collect();
                assert_eq!(bodies, [body]);
                let row = row.expect("it can be read").map(|row| row.key);
                assert_eq!(row, (number == 0).then_some(key));
            }
        })
    };
    all((0..CALLERS).map(read).collect()).await;
    // One question about both orgs has an answer for each.
    let both = orgs.map(|org| Shelf { scope: Scope::org(org), kind: DocumentKind::Template }).to_vec();
    let found = store.documents_of(both, LIMIT).await.expect("it can be read");
    let bodies: Vec<&str> = found.iter().flatten().map(|one| one.body.as_str()).collect();
    assert_eq!(bodies, ["\"acme\"", "\"globex\""]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn who_goes_away_leaves_nobody_without_an_answer() {
    let (ground, [org, _]) = two_orgs().await;
    put(&ground.store, org, ("t".to_owned(), "{}".to_owned())).await;
    let store = Arc::new(ground.store);
    for _ in 0..ROUNDS {
        let ask = |_| {
            let store = Arc::clone(&store);
            tokio::spawn(async move { shelf(&store, org, DocumentKind::Template).await })
        };
        let mut tasks: Vec<_> = (0..CALLERS).map(ask).collect();
        tokio::task::yield_now().await;
        tasks.drain(..CALLERS / 2).for_each(|task| task.abort());
        for found in all(tasks).await {
            assert_eq!(found.expect("it can be read").len(), 1);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn what_cannot_be_read_fails_only_those_who_ask_for_it() {
    let (ground, [org, _]) = two_orgs().await;
    put(&ground.store, org, ("t".to_owned(), "{}".to_owned())).await;
    let broken = format!("UPDATE templates SET updated_at = {}", i64::MAX);
    let client = connect(&ground.url).await;
    assert_eq!(client.execute(&broken, &[]).await.expect("it can be broken"), 1);
    let store = Arc::new(ground.store);
    let ask = |caller: usize| {
        let store = Arc::clone(&store);
        let kind = [DocumentKind::Template, DocumentKind::Calendar][caller % 2];
        tokio::spawn(async move { shelf(&store, org, kind).await })
    };
    for _ in 0..ROUNDS {
        for (caller, found) in all((0..CALLERS).map(ask).collect()).await.into_iter().enumerate() {
            assert_eq!(found.is_ok(), caller % 2 == 1, "{found:?}");
        }
    }
}
