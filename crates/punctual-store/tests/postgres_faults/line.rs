//! The line breaks: in the middle of a commit, at a lock, at the start.

use std::time::Duration;

use jiff::ToSpan as _;
use punctual_store::{Ask, Commit, Error, Postgres, PostgresSettings, Store};

use crate::ground::{self, at, batch, connect, cron, ground as fresh, node};
use crate::proxy::{Cut, Proxy};
use crate::shift::{judged, succeeded};

/// The same URL through a proxy.
fn through(url: &str, proxy: &Proxy) -> String {
    let (user, rest) = url.split_once('@').expect("the ground of the test holds");
    let (_, path) = rest.split_once('/').expect("the ground of the test holds");
    format!("{user}@{}/{path}?sslmode=disable", proxy.address)
}

fn address(url: &str) -> String {
    let (_, rest) = url.split_once('@').expect("the ground of the test holds");
    rest.split_once('/').expect("the ground of the test holds").0.to_owned()
}

#[tokio::test]
async fn a_commit_whose_answer_is_lost_is_repeated_with_its_id_and_applied_once() {
    for cut in [Cut::Before, Cut::After] {
        let ground = fresh().await;
        let (org, now) = (ground.org("acme").await, at("2026-03-01T10:00:00Z"));
        ground.make(org, cron("one", "* * * * *"), now).await;
        let proxy = Proxy::start(address(&ground.url)).expect("the ground of the test holds");
        let store = Postgres::open(PostgresSettings::new(through(&ground.url, &proxy)))
            .await
            .expect("the ground of the test holds");
        let fence = store.join(node("cut")).await.expect("the ground of the test holds").fence;
        let later = now + 61.seconds();
        // An admission.
        let verdicts = judged(&store, later).await.expect("the ground of the test holds");
        let (id, run) = (batch(fence, later), verdicts[0].admission.run);
        proxy.arm(cut);
        let lost = store.admit(id, verdicts.clone()).await.expect_err("the line was cut");
        assert!(matches!(lost, Error::Unanswered { .. }) && lost.is_transient(), "{lost}");
        assert_eq!(lost.to_string(), "the database did not answer while admitting runs");
        assert_eq!(
            store.admit(id, verdicts.clone()).await.expect("the ground of the test holds"),
            [Commit::Done]
        );
        assert_eq!(
            store.admit(id, verdicts).await.expect("the ground of the test holds"),
            [Commit::Done],
            "the first answer again"
        );
        // An end.
        let (id, report) = (batch(fence, later), succeeded(run, fence, later));
        proxy.arm(cut);
        let lost = store.settle(id, vec![report.clone()]).await.expect_err("the line was cut");
        assert!(matches!(lost, Error::Unanswered { .. }), "{lost}");
        assert_eq!(
            store.settle(id, vec![report.clone()]).await.expect("the ground of the test holds")[0].commit,
            Commit::Done
        );
        assert_eq!(
            store.settle(id, vec![report]).await.expect("the ground of the test holds")[0].commit,
            Commit::Done
        );
        let client = connect(&ground.url).await;
        let counted = client
            .query_one("SELECT admitted, run_count, success_count FROM schedule_state", &[])
            .await
            .expect("the ground of the test holds");
        let counted: [i64; 3] = [0, 1, 2].map(|place| counted.get(place));
        assert_eq!(counted, [1, 1, 1], "each was applied once");
        assert_eq!(store.check().await.expect("the ground of the test holds"), []);
    }
}

#[tokio::test]
async fn the_rows_of_a_node_that_was_stopped_in_the_middle_of_a_write_are_free_again() {
    let ground = fresh().await;
    let (org, now) = (ground.org("acme").await, at("2026-03-01T10:00:00Z"));
    ground.make(org, cron("one", "* * * * *"), now).await;
    let proxy = Proxy::start(address(&ground.url)).expect("the ground of the test holds");
    let settings = PostgresSettings::new(through(&ground.url, &proxy));
    let stopped = std::sync::Arc::new(Postgres::open(settings).await.expect("the ground of the test holds"));
    let fence = stopped.join(node("stopped")).await.expect("the ground of the test holds").fence;
    let other = ground.store.join(node("other")).await.expect("the ground of the test holds").fence;
    let later = now + 61.seconds();
    let verdicts = judged(&stopped, later).await.expect("the ground of the test holds");
    proxy.arm(Cut::Stopped);
    let (id, asked, store) = (batch(fence, later), verdicts.clone(), std::sync::Arc::clone(&stopped));
    let hanging = tokio::spawn(async move { store.admit(id, asked).await });
    // It holds its rows as soon as the server waits for its next word.
    let client = connect(&ground.url).await;
    let waits = "SELECT count(*) FROM pg_stat_activity
        WHERE state = 'idle in transaction' AND datname = current_database() AND query LIKE '%batches%'";
    while client.query_one(waits, &[]).await.expect("the ground of the test holds").get::<_, i64>(0) == 0 {}
    // The other one waits for the rows less long than a call may: the server has taken them from the first.
    let admitted = ground.store.admit(batch(other, later), verdicts.clone()).await;
    assert_eq!(admitted.expect("the rows are free"), [Commit::Done]);
    let lost = hanging.await.expect("it does not panic").expect_err("its transaction was undone");
    assert!(lost.is_transient(), "{lost}");
    let again = stopped.admit(id, verdicts).await.expect("the line is a new one");
    assert_eq!(again, [Commit::Stale], "another one did it meanwhile");
}

#[tokio::test]
async fn a_row_that_is_held_too_long_is_a_passing_fault_that_says_which_limit() {
    let ground = fresh().await;
    let (org, now) = (ground.org("acme").await, at("2026-03-01T10:00:00Z"));
    ground.make(org, cron("one", "* * * * *"), now).await;
    let later = now + 61.seconds();
    let fence = ground.store.join(node("held")).await.expect("the ground of the test holds").fence;
    let (short, long) = (Duration::from_millis(50), Duration::from_secs(60));
    for (lock_timeout, statement_timeout, expected) in
        [(short, long, "lock timeout"), (long, short, "statement timeout")]
    {
        let settings =
            PostgresSettings { lock_timeout, statement_timeout, ..PostgresSettings::new(&ground.url) };
        let store = Postgres::open(settings).await.expect("the ground of the test holds");
        let verdicts = judged(&store, later).await.expect("the ground of the test holds");
        let holder = connect(&ground.url).await;
        holder
            .batch_execute("BEGIN; SELECT 1 FROM runs FOR UPDATE")
            .await
            .expect("the ground of the test holds");
        let refused = store.admit(batch(fence, later), verdicts).await.expect_err("the row is held");
        assert!(refused.is_transient() && refused.to_string().contains(expected), "{refused}");
        holder.batch_execute("ROLLBACK").await.expect("the ground of the test holds");
    }
    let verdicts = judged(&ground.store, later).await.expect("the ground of the test holds");
    assert_eq!(
        ground.store.admit(batch(fence, later), verdicts).await.expect("the ground of the test holds"),
        [Commit::Done]
    );
}

#[tokio::test]
async fn a_server_that_is_not_there_is_named_when_the_store_is_opened() {
    let free = tokio::net::TcpListener::bind(("127.0.0.1", 0))
        .await
        .expect("the ground of the test holds")
        .local_addr()
        .expect("the ground of the test holds");
    let url = format!("postgres://ada:secret@{free}/ledger");
    let refused = Postgres::open(PostgresSettings::new(url)).await.err().expect("nobody is there");
    let said = refused.to_string();
    assert!(said.starts_with(&format!("cannot reach `postgres://{free}/ledger` while ")), "{said}");
    assert!(said.contains("refused") && !said.contains("secret"), "{said}");
    assert!(
        refused.is_transient()
            && refused.hint().expect("the ground of the test holds").contains("the server runs"),
        "{refused}"
    );
}

/// Batches that take the same rows in opposite orders, from many sides at once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn batches_that_meet_hold_their_rows_in_one_order() {
    let url = ground::migrated().await;
    // On a busy machine any of them may stand still for a while.
    let pause_timeout = Duration::from_secs(60);
    let settings = PostgresSettings { connections: 12, pause_timeout, ..PostgresSettings::new(&url) };
    let ground =
        ground::Ground { store: Postgres::open(settings).await.expect("the ground of the test holds"), url };
    let (org, now) = (ground.org("acme").await, at("2026-03-01T10:00:00Z"));
    for name in ["a", "b", "c", "d"] {
        let mut policy = punctual_plan::Policy { lane: Some("shared".to_owned()), ..Default::default() };
        policy.overlap = punctual_plan::Overlap::Queue;
        ground.make(org, ground::with(cron(name, "* * * * *"), policy), now).await;
    }
    let store = std::sync::Arc::new(ground.store);
    let fence = store.join(node("meet")).await.expect("the ground of the test holds").fence;
    let mut sides = tokio::task::JoinSet::new();
    for side in 0..8_usize {
        let store = std::sync::Arc::clone(&store);
        sides.spawn(async move {
            for turn in 0..25_i64 {
                let later = now + 61.seconds() + turn.milliseconds();
                let mut verdicts = judged(&store, later).await.expect("the ground of the test holds");
                let by = side % verdicts.len().max(1);
                verdicts.rotate_left(by);
                let runs: Vec<_> = verdicts.iter().map(|commit| commit.admission.run).collect();
                store.admit(batch(fence, later), verdicts).await.expect("the ground of the test holds");
                let reports = runs.iter().map(|run| succeeded(*run, fence, later)).collect();
                store.settle(batch(fence, later), reports).await.expect("the ground of the test holds");
            }
        });
    }
    while let Some(side) = sides.join_next().await {
        side.expect("the ground of the test holds");
    }
    assert!(
        store.due(Ask::all(now + 61.seconds())).await.expect("the ground of the test holds").rows.is_empty(),
        "all have had their turn"
    );
    assert_eq!(store.check().await.expect("the ground of the test holds"), []);
    let client = connect(&ground.url).await;
    let asked = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()";
    assert_eq!(client.query_one(asked, &[]).await.expect("the ground of the test holds").get::<_, i64>(0), 0);
}
