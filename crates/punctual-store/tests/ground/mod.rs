//! A database of its own for each test, on the server that the test command brings.
//!
//! `cargo xtask with-postgres -- cargo test -p punctual-store` starts one; without it these tests fail and say so.

#![allow(dead_code, reason = "each test program uses what it needs")]
#![allow(clippy::print_stderr, reason = "who runs the tests wants to know")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use jiff::{SignedDuration, Timestamp};
use punctual_plan::{
    Action, Cursor, Fence, OrgKey, Plan, Policy, Process, Schedule, ScheduleId, ScheduleKey, Status, Subject,
    Window, admit, plan,
};
use punctual_store::{
    AdmitCommit, Alive, Ask, Batch, BatchId, Node, Postgres, PostgresSettings, ScheduleWrite, Scope, Store,
    Write, Written,
};
use punctual_time::{Cron, Timing, Zone};
use tokio::sync::OnceCell;
use tokio_postgres::{Client, NoTls};
use uuid::Uuid;

static NEXT: AtomicU32 = AtomicU32::new(1);

/// A database that nobody else uses.
pub(crate) struct Ground {
    pub(crate) url: String,
    pub(crate) store: Postgres,
}

/// Where the server is.
pub(crate) fn server() -> String {
    std::env::var("PUNCTUAL_TEST_POSTGRES")
        .expect("a server: run this through `cargo xtask with-postgres -- cargo test …`, which starts one")
}

/// Connects as whoever the server belongs to.
pub(crate) async fn connect(url: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.expect("the server is there");
    tokio::spawn(connection);
    client
}

/// Makes an empty database and gives its URL.
pub(crate) async fn database() -> String {
    copy_of("template0").await
}

/// A database of which every test gets a copy: migrations take longer than most tests do.
static MIGRATED: OnceCell<String> = OnceCell::const_new();

/// Makes a database with the schema in it and gives its URL.
pub(crate) async fn migrated() -> String {
    let template = MIGRATED.get_or_init(|| async {
        let url = database().await;
        drop(Postgres::open(PostgresSettings::new(&url)).await.expect("the schema can be made"));
        let name = format!("migrated{}", std::process::id());
        let client = connect(&server()).await;
        // What has connections is neither renamed nor copied; the store's own are closed behind its back.
        let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1";
        client.query(end, &[&name_in(&url)]).await.expect("they can be ended");
        let rename = format!("ALTER DATABASE {} RENAME TO {name}", name_in(&url));
        client.batch_execute(&rename).await.expect("nobody is in it");
        name
    });
    copy_of(template.await).await
}

/// The database that a URL names.
fn name_in(url: &str) -> &str {
    let base = url.split_once('?').map_or(url, |(base, _)| base);
    base.rsplit_once('/').map_or(base, |(_, name)| name)
}

async fn copy_of(template: &str) -> String {
    let url = server();
    let name = format!("t{}_{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    let make = format!("CREATE DATABASE {name} TEMPLATE {template}");
    connect(&url).await.batch_execute(&make).await.expect("it can be made");
    let (base, query) = url.split_once('?').map_or((url.as_str(), ""), |(base, query)| (base, query));
    let base = base.rsplit_once('/').map_or(base, |(base, _)| base);
    format!("{base}/{name}{}{query}", if query.is_empty() { "" } else { "?" })
}

/// A migrated database.
pub(crate) async fn ground() -> Ground {
    let url = migrated().await;
    let store = Postgres::open(PostgresSettings::new(&url)).await.expect("the schema is there");
    Ground { url, store }
}

pub(crate) fn at(text: &str) -> Timestamp {
    text.parse().expect("an instant")
}

/// A schedule that ticks by a cron line.
pub(crate) fn cron(name: &str, line: &str) -> Schedule {
    let mut timing = Timing::new(line.parse::<Cron>().expect("a cron line"), Zone::utc());
    timing.created_at = at("2026-01-01T00:00:00Z");
    let action = Action::Process(Process::new(["true"]));
    Schedule::new(ScheduleId(id()), name, timing, action)
}

/// Without the crate's own source of chance: a number that no other in this run has.
pub(crate) fn id() -> Uuid {
    let number = u128::from(NEXT.fetch_add(1, Ordering::Relaxed)) << 64;
    Uuid::from_u128(number | u128::from(std::process::id()) << 32 | 7)
}

pub(crate) fn with(mut schedule: Schedule, policy: Policy) -> Schedule {
    schedule.policy = Arc::new(policy);
    schedule
}

pub(crate) fn first_plan(schedule: &Schedule, now: Timestamp) -> Option<Plan> {
    let subject = Subject::of(schedule, Cursor::starting(now))?;
    Some(plan(&subject, Window::at(now)))
}

pub(crate) fn create(schedule: Schedule, now: Timestamp) -> ScheduleWrite {
    let plan = first_plan(&schedule, now);
    let (definition, status) = (Arc::new(schedule), Status::Active);
    let write = Write::Create { definition, status, plan, declared_set: None };
    ScheduleWrite { write, kind: "schedule.created", note: "made".to_owned(), now }
}

pub(crate) fn batch(fence: Fence, now: Timestamp) -> Batch {
    Batch { id: BatchId(id()), fence, now }
}

/// A sign of life of a node whose clock agrees with the server's.
pub(crate) fn alive(fence: Fence) -> Alive {
    Alive { fence, ahead: SignedDuration::ZERO }
}

/// A node whose lease outlasts any test: on a busy machine a few seconds are soon over.
pub(crate) fn node(name: &str) -> Node {
    Node {
        id: name.to_owned(),
        pid: std::process::id(),
        started_at: at("2026-01-01T00:00:00Z"),
        lease: SignedDuration::from_secs(3_600),
        tz_version: punctual_time::tz_version().to_owned(),
        version: "test".to_owned(),
    }
}

impl Ground {
    pub(crate) async fn org(&self, id: &str) -> OrgKey {
        self.store.org(Scope::Engine, id.to_owned()).await.expect("an org can be made")
    }

    pub(crate) async fn make(&self, org: OrgKey, schedule: Schedule, now: Timestamp) -> ScheduleKey {
        let written = self.store.write_schedules(Scope::org(org), vec![create(schedule, now)]).await;
        match written.expect("it can be written").pop() {
            Some(Ok(Written::Schedule(key))) => key,
            other => panic!("{other:?}"),
        }
    }

    /// Judges everything that is due.
    pub(crate) async fn judged(&self, now: Timestamp) -> Vec<AdmitCommit> {
        let mut due = self.store.due(Ask::all(now)).await.expect("it can be read");
        let rows: Vec<_> = due.rows.iter().map(|row| row.due.clone()).collect();
        let admissions = admit(&rows, &mut due.world);
        let commit = |(admission, row)| AdmitCommit { admission, row };
        admissions.into_iter().zip(due.rows).map(commit).collect()
    }
}
