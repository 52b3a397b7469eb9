//! A real ledger in a temporary folder, with a second pair of eyes that reads and alters it by hand.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use jiff::{SignedDuration, Timestamp};
use punctual_plan::{
    Action, Changed, Cursor, Due, Fence, Outcome, Plan, Process, RunKey, Schedule, ScheduleId, ScheduleKey,
    Status, Subject, Window, admit, plan,
};
use punctual_store::{
    Access, AdmitCommit, Ask, AttemptToken, Batch, BatchId, Error, Node, PlanCommit, Report, ScheduleWrite,
    Scope, Sqlite, Store, Write, Written,
};
use punctual_time::{Cron, Timing, Zone};
use rusqlite::Connection;
use tempfile::TempDir;
use uuid::Uuid;

/// A time of one fixed day.
pub(crate) fn at(time: &str) -> Timestamp {
    format!("2026-01-01T{time}Z").parse().expect("a time of day")
}

/// The columns of a plan that says nothing.
pub(crate) fn unchanged(cursor: Cursor) -> Changed {
    let plan = Plan {
        entries: Vec::new(),
        ranges: Vec::new(),
        closed: Vec::new(),
        refired: Vec::new(),
        cursor,
        next_tick: None,
        plan_at: None,
        is_hanging: false,
    };
    Changed { removed: Vec::new(), cancelled: Vec::new(), plan }
}

pub(crate) struct Bench {
    pub(crate) store: Sqlite,
    folder: Option<TempDir>,
    eyes: Connection,
    count: AtomicU64,
}

impl Bench {
    pub(crate) fn new() -> Self {
        Self::with(Access::Visit)
    }

    pub(crate) fn with(access: Access) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let bench = Self::at(folder.path(), access);
        Self { folder: Some(folder), ..bench }
    }

    /// In a folder that somebody else removes.
    pub(crate) fn at(folder: &Path, access: Access) -> Self {
        let path = folder.join("ledger.db");
        let store = Sqlite::open(&path, access).expect("a new ledger");
        let eyes = Connection::open(path).expect("a second connection");
        Self { store, folder: None, eyes, count: AtomicU64::new(1) }
    }

    /// The same file, closed and opened again.
    pub(crate) fn reopened(self, access: Access) -> Self {
        let path = self.store.path().to_owned();
        let folder = self.closed();
        let store = Sqlite::open(&path, access).expect("the same ledger");
        let eyes = Connection::open(path).expect("a second connection");
        Self { store, folder: Some(folder), eyes, count: AtomicU64::new(1_000) }
    }

    /// Closes the file and keeps its folder.
    pub(crate) fn closed(self) -> TempDir {
        self.folder.expect("it has a folder of its own")
    }

    /// A number that no other call gave.
    fn number(&self) -> u64 {
        self.count.fetch_add(1, Ordering::Relaxed)
    }

    /// The head of a batch with an id of its own.
    pub(crate) fn batch(&self, fence: Fence, now: Timestamp) -> Batch {
        Batch { id: BatchId(Uuid::from_u128(u128::from(self.number()))), fence, now }
    }

    /// A schedule of the default org that runs a program.
    pub(crate) fn schedule(&self, name: &str, spec: &str) -> Schedule {
        let id = ScheduleId(Uuid::from_u128(u128::from(self.number()) << 64 | 7));
        let timing = Timing::new(spec.parse::<Cron>().expect("a valid spec"), Zone::utc());
        Schedule::new(id, name, timing, Action::Process(Process::new(["true"])))
    }

    pub(crate) async fn create(&self, name: &str, spec: &str, now: Timestamp) -> ScheduleKey {
        self.create_as(self.schedule(name, spec), now).await.expect("a schedule")
    }

    /// Creates a schedule with its first window.
    pub(crate) async fn create_as(&self, definition: Schedule, now: Timestamp) -> Result<ScheduleKey, Error> {
        let first = Subject::of(&definition, Cursor::starting(now)).map(|it| plan(&it, Window::at(now)));
        let write = Write::Create {
            definition: Arc::new(definition),
            status: Status::Active,
            plan: first,
            declared_set: None,
        };
        match self.write(write, now).await? {
            Written::Schedule(key) => Ok(key),
            other => panic!("{other:?}"),
        }
    }

    pub(crate) async fn write(&self, write: Write, now: Timestamp) -> Result<Written, Error> {
        let one = ScheduleWrite { write, kind: "schedule.tested", note: String::new(), now };
        let mut answers = self.store.write_schedules(Scope::Engine, vec![one]).await?;
        answers.remove(0)
    }

    pub(crate) async fn join(&self, id: &str) -> Fence {
        let node = Node {
            id: id.to_owned(),
            pid: 1,
            started_at: at("10:00:00"),
            lease: SignedDuration::from_hours(1),
            tz_version: punctual_time::tz_version().to_owned(),
            version: "test".to_owned(),
        };
        self.store.join(node).await.expect("a fence").fence
    }

    /// What a planner would commit at `now`.
    pub(crate) async fn plans(&self, now: Timestamp) -> Vec<PlanCommit> {
        let batch = self.store.plannable(Ask::all(now)).await.expect("the ledger can be read");
        assert!(batch.unreadable.is_empty(), "{:?}", batch.unreadable);
        let commit = |one: &punctual_store::Plannable| PlanCommit {
            schedule: one.schedule,
            org: one.org,
            definition: Arc::clone(&one.definition),
            from: one.cursor,
            plan: plan(&one.subject(None), Window::at(now)),
        };
        batch.ready.iter().map(commit).collect()
    }

    /// What an admitter would commit at `now`.
    pub(crate) async fn admissions(&self, now: Timestamp) -> Vec<AdmitCommit> {
        let mut batch = self.store.due(Ask::all(now)).await.expect("the ledger can be read");
        assert!(batch.unreadable.is_empty(), "{:?}", batch.unreadable);
        let due: Vec<Due> = batch.rows.iter().map(|row| row.due.clone()).collect();
        let verdicts = admit(&due, &mut batch.world);
        verdicts.into_iter().zip(batch.rows).map(|(admission, row)| AdmitCommit { admission, row }).collect()
    }

    pub(crate) fn report(&self, run: RunKey, fence: Fence, outcome: Outcome) -> Report {
        let (token, at) = (AttemptToken::Node(fence), at("10:00:21"));
        Report { run, attempt: 1, token, outcome, started_at: Some(at), at, output: None }
    }

    /// The ledger as one line, in the order of the ticks.
    pub(crate) fn ledger(&self) -> String {
        let mut statement = self
            .eyes
            .prepare("SELECT scheduled_for, status, reason FROM runs ORDER BY scheduled_for, key")
            .expect("the table of runs");
        let line = |row: &rusqlite::Row<'_>| {
            let tick = Timestamp::from_second(row.get(0)?).expect("a tick").strftime("%H:%M:%S").to_string();
            let (status, reason): (String, Option<String>) = (row.get(1)?, row.get(2)?);
            Ok(reason.map_or(format!("{tick} {status}"), |reason| format!("{tick} {status} {reason}")))
        };
        let lines: Result<Vec<String>, rusqlite::Error> =
            statement.query_map([], line).expect("the ledger").collect();
        lines.expect("readable rows").join(" | ")
    }

    pub(crate) fn cursor(&self) -> (i64, i64) {
        self.eyes
            .query_row("SELECT planned_through, next_tick FROM schedule_state", [], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })
            .expect("one schedule")
    }

    pub(crate) fn count(&self, query: &str) -> u32 {
        self.eyes.query_row(query, [], |row| row.get(0)).expect("a number")
    }

    pub(crate) fn text(&self, query: &str) -> String {
        self.eyes.query_row(query, [], |row| row.get(0)).expect("a text")
    }

    pub(crate) fn execute(&self, statement: &str) {
        self.try_execute(statement).expect("a statement by hand");
    }

    pub(crate) fn try_execute(&self, statement: &str) -> rusqlite::Result<()> {
        self.eyes.execute_batch(statement)
    }

    /// How SQLite would carry out a statement of the store.
    pub(crate) fn query_plan(&self, file: &str) -> String {
        let path = format!("{}/sql/sqlite/{file}.sql", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(path).expect("a statement of the store");
        let mut statement =
            self.eyes.prepare(&format!("EXPLAIN QUERY PLAN {text}")).expect("a valid statement");
        let count = statement.parameter_count();
        let details: Result<Vec<String>, rusqlite::Error> = statement
            .query_map(rusqlite::params_from_iter(vec![1; count]), |row| row.get(3))
            .expect("a plan")
            .collect();
        details.expect("readable rows").join("; ")
    }
}
