//! A real ledger in a temporary folder, with a second pair of eyes that reads and alters it by hand.

use jiff::Timestamp;
use punctual_plan::{
    Action, Admission, Cursor, Due, LOOKAHEAD, Process, Schedule, ScheduleId, Subject, Window, admit, plan,
};
use punctual_store::{Access, Error, NewSchedule, Node, PlanCommit, Sqlite, Store};
use punctual_time::{Cron, Timing, Zone};
use rusqlite::Connection;
use tempfile::TempDir;
use uuid::Uuid;

/// A time of one fixed day.
pub(crate) fn at(time: &str) -> Timestamp {
    format!("2026-01-01T{time}Z").parse().expect("a time of day")
}

pub(crate) struct Bench {
    pub(crate) store: Sqlite,
    eyes: Connection,
    _folder: TempDir,
}

impl Bench {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("ledger.db");
        let store = Sqlite::open(&path, Access::Visit).expect("a new ledger");
        Self { store, eyes: Connection::open(path).expect("a second connection"), _folder: folder }
    }

    pub(crate) async fn create(&self, name: &str, spec: &str, now: Timestamp) -> ScheduleId {
        self.try_create(name, spec, now).await.expect("a schedule")
    }

    pub(crate) async fn try_create(
        &self,
        name: &str,
        spec: &str,
        now: Timestamp,
    ) -> Result<ScheduleId, Error> {
        let count = self.count("SELECT count(*) FROM schedules");
        let id = ScheduleId(Uuid::from_u128(u128::from(count) << 96 | hash(name)));
        let timing = Timing::new(spec.parse::<Cron>().expect("a valid spec"), Zone::utc());
        let definition = Schedule::new(id, name, timing, Action::Process(Process::new(["true"])));
        let cursor = Cursor::starting(now);
        let subject = Subject::of(&definition, cursor).expect("it has ticks");
        let plan = plan(&subject, Window::at(now));
        self.store.create(NewSchedule { definition, created_at: now, plan }).await.map(|()| id)
    }

    /// What a planner would commit at `now`.
    pub(crate) async fn plans(&self, now: Timestamp) -> Vec<PlanCommit> {
        let batch = self.store.plannable(now, now + LOOKAHEAD / 2).await.expect("the ledger can be read");
        let commit = |one: &punctual_store::Plannable| {
            let subject = Subject {
                id: one.id,
                timing: &one.timing,
                policy: &one.policy,
                cursor: one.cursor,
                late: &one.late,
                outstanding: 0,
                slept: None,
            };
            let plan = plan(&subject, Window::at(now));
            PlanCommit { schedule: one.schedule, org: one.org, version: one.version, from: one.cursor, plan }
        };
        batch.ready.iter().map(commit).collect()
    }

    /// What an admitter would commit at `now`.
    pub(crate) async fn admissions(&self, now: Timestamp) -> Vec<Admission> {
        let batch = self.store.due(now).await.expect("the ledger can be read");
        let due: Vec<Due> = batch.rows.iter().map(|row| row.due.clone()).collect();
        admit(&due, &mut batch.world(now))
    }

    pub(crate) fn node(&self, id: &str) -> Node {
        Node { id: id.to_owned(), pid: 1, started_at: at("10:00:00") }
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

/// Different names get different ids, also when they are made at once.
fn hash(name: &str) -> u128 {
    name.bytes().fold(7, |hash, byte| hash * 31 + u128::from(byte)) % (1 << 60)
}
