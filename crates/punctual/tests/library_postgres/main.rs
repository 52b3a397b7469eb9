//! Goal: the library keeps the same promises on PostgreSQL. Method: some of its stories, in virtual time, each in a
//! database of its own on the server that `PUNCTUAL_TEST_POSTGRES` names.

#[path = "../library/explain.rs"]
mod explain;
#[path = "../library/outage.rs"]
mod outage;
#[path = "../library/retry.rs"]
mod retry;
#[path = "../library/share.rs"]
mod share;
#[path = "../library/stage.rs"]
mod stage;
#[path = "../library/start.rs"]
mod start;

use std::sync::atomic::{AtomicU32, Ordering};

use tokio_postgres::NoTls;

static NEXT: AtomicU32 = AtomicU32::new(1);

/// Makes an empty database, in real time, and gives its URL.
fn database() -> String {
    let url = std::env::var("PUNCTUAL_TEST_POSTGRES")
        .expect("a server: run this through `cargo xtask with-postgres -- cargo test …`, which starts one");
    let name = format!("l{}_{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    let (server, make) = (url.clone(), format!("CREATE DATABASE {name} TEMPLATE template0"));
    let make = async move {
        let (client, connection) =
            tokio_postgres::connect(&server, NoTls).await.expect("the server is there");
        tokio::spawn(connection);
        client.batch_execute(&make).await.expect("it can be made");
    };
    let on_another_thread = move || tokio::runtime::Runtime::new().expect("a runtime").block_on(make);
    std::thread::spawn(on_another_thread).join().expect("it can be made");
    let (base, query) = url.split_once('?').map_or((url.as_str(), ""), |(base, query)| (base, query));
    let base = base.rsplit_once('/').map_or(base, |(base, _)| base);
    format!("{base}/{name}{}{query}", if query.is_empty() { "" } else { "?" })
}

macro_rules! stories {
    ($($begin:literal $module:ident::$name:ident,)+) => {
        $(#[tokio::test(start_paused = true)]
        async fn $name() {
            $module::$name(stage::Stage::postgres(&database(), $begin)).await;
        })+
    };
}

stories! {
    "15:30:20" start::the_first_start_fires_only_what_matches_its_minute_or_second,
    "09:30:00" start::a_restart_goes_on_from_the_last_known_state,
    "09:30:00" start::drift_is_refused_with_every_difference,
    "09:30:00" start::a_migration_accepts_a_new_set_and_keeps_the_history,
    "09:30:00" retry::a_failed_run_is_repeated_after_its_fixed_delay_until_it_succeeds,
    "09:30:00" retry::the_next_tick_runs_if_it_is_earlier_than_the_retry,
    "09:30:00" outage::twelve_hours_without_a_scheduler_are_one_run,
    "09:30:00" explain::every_instant_of_a_task_is_explained,
    "09:30:00" share::programs_in_turn_leave_each_others_tasks_alone,
}
