//! The server goes while a node works: restarted in both ways, and replaced by its standby.

use jiff::ToSpan as _;
use punctual_store::{Postgres, PostgresSettings};

use crate::server::{Server, Stop};
use crate::shift::Shift;

/// Minutes of work before the server goes and after it is back.
const MINUTES: usize = 15;

/// Works for some minutes, through whatever `event` does to the server meanwhile, and for some more.
async fn work_through(shift: &mut Shift, event: impl FnOnce() + Send + 'static) {
    for _ in 0..MINUTES {
        shift.minute().await;
    }
    let event = tokio::task::spawn_blocking(event);
    while !event.is_finished() {
        shift.minute().await;
    }
    event.await.expect("the ground of the test holds");
    for _ in 0..MINUTES {
        shift.minute().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_restart_of_the_server_loses_nothing_that_was_acknowledged() {
    let server = std::sync::Arc::new(Server::start());
    let store =
        Postgres::open(PostgresSettings::new(server.url())).await.expect("the ground of the test holds");
    let mut shift = Shift::begin(store).await;
    for how in [Stop::Fast, Stop::Immediate] {
        let restarted = std::sync::Arc::clone(&server);
        let before = shift.faults.len();
        work_through(&mut shift, move || restarted.restart(how)).await;
        assert!(shift.faults.len() > before, "{how:?} was noticed");
    }
    shift.judge().await;
}

#[tokio::test]
async fn a_node_whose_lease_ran_out_goes_on_under_a_new_one() {
    let ground = crate::ground::ground().await;
    let client = crate::ground::connect(&ground.url).await;
    let mut shift = Shift::begin(ground.store).await;
    let expire = async || client.execute("UPDATE nodes SET lease_until = 0", &[]).await.expect("it is there");
    for minute in 0..12 {
        shift.now += 1.minute();
        let before = shift.joins;
        // Before each step in turn; an end needs no lease, as long as nobody has taken the run over.
        for step in 0..3 {
            if step == minute % 3 {
                expire().await;
            }
            match step {
                0 => shift.plan().await,
                1 => drop(shift.admit().await),
                _ => {
                    let in_flight = shift.in_flight().await;
                    shift.settle(in_flight).await;
                }
            }
        }
        assert!(shift.joins > before || minute % 3 == 2, "minute {minute}");
    }
    assert_eq!((shift.acknowledged.len(), &shift.faults[..]), (12, &[][..]));
    shift.judge().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_promoted_standby_has_everything_that_was_acknowledged() {
    let server = Server::start();
    let standby = std::sync::Arc::new(server.standby().await);
    let store = Postgres::open(PostgresSettings::new(server.url_with(&standby)))
        .await
        .expect("the ground of the test holds");
    let mut shift = Shift::begin(store).await;
    let promoted = std::sync::Arc::clone(&standby);
    work_through(&mut shift, move || {
        server.stop(Stop::Immediate);
        promoted.promote();
        drop(server);
    })
    .await;
    // The one before is gone: every minute since then was worked on the standby, whether or not a call failed meanwhile.
    shift.judge().await;
    let there = crate::ground::connect(&standby.url()).await;
    let counted = there
        .query_one("SELECT success_count FROM schedule_state", &[])
        .await
        .expect("the ground of the test holds");
    assert_eq!(counted.get::<_, i64>(0), shift.acknowledged.len() as i64);
}
