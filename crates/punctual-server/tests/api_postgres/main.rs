//! Goal: the HTTP door keeps the same promises over PostgreSQL. Method: the stories of `api`, each in a database of its
//! own on the server that `PUNCTUAL_TEST_POSTGRES` names.

#[path = "../api/calls.rs"]
mod calls;
#[path = "../api/ground.rs"]
#[allow(dead_code, reason = "each test program uses what it needs")]
mod ground;
#[path = "../api/waits.rs"]
#[allow(dead_code, reason = "each test program uses what it needs")]
mod waits;

use std::sync::atomic::{AtomicU32, Ordering};

use ground::Ground;
use punctual_app::Database;
use punctual_server::Settings;
use tokio_postgres::NoTls;

static NEXT: AtomicU32 = AtomicU32::new(1);

/// A server over an empty database.
async fn postgres() -> Ground {
    let url = std::env::var("PUNCTUAL_TEST_POSTGRES")
        .expect("a server: run this through `cargo xtask with-postgres -- cargo test …`, which starts one");
    let name = format!("api{}_{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    let (client, connection) = tokio_postgres::connect(&url, NoTls).await.expect("the server is there");
    tokio::spawn(connection);
    let made = client.batch_execute(&format!("CREATE DATABASE {name} TEMPLATE template0")).await;
    made.expect("it can be made");
    let (base, query) = url.split_once('?').map_or((url.as_str(), ""), |(base, query)| (base, query));
    let base = base.rsplit_once('/').map_or(base, |(base, _)| base);
    let url = format!("{base}/{name}{}{query}", if query.is_empty() { "" } else { "?" });
    Ground::over(Database::Postgres { url }, tempfile::tempdir().expect("a folder"), Settings::default())
        .await
}

macro_rules! stories {
    ($($module:ident::$name:ident,)+) => {
        $(#[tokio::test]
        async fn $name() {
            $module::$name(postgres().await).await;
        })+
    };
}

stories! {
    calls::a_schedule_lives_from_its_making_to_its_deletion,
    calls::a_pause_lists_what_was_admitted_before_it,
    calls::a_run_that_is_asked_for_is_in_the_ledger_and_can_be_ended,
    calls::pages_show_everything_once,
    calls::a_request_with_a_key_does_nothing_twice,
    calls::an_edit_of_another_version_is_refused,
    waits::a_run_belongs_to_the_trace_of_whoever_asks_for_it,
    waits::a_workflow_and_a_file_are_kept_over_http,
}
