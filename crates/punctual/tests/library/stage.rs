//! A program with tasks, in virtual time: its ledger outlives it, and what its tasks were called for is noted.

#![allow(dead_code, reason = "each test program uses what it needs")]

use std::sync::{Arc, Mutex};
use std::time::Duration;

use jiff::Timestamp;
use punctual::scheduler::{Builder, CallbackError, Error, MemoryLedger, RunRow, TestClock};
use punctual::{Database, Scheduler, Task};

/// An instant of the day on which everything happens, a Tuesday, or of the days after it (`+1 00:00:00`).
pub(crate) fn at(text: &str) -> Timestamp {
    let (days, time) = text.split_once(' ').unwrap_or(("0", text));
    let day = 3 + days.parse::<u32>().expect("a number of days");
    format!("2026-03-{day:02}T{time}Z").parse().expect("a time")
}

pub(crate) fn minutes(count: u64) -> Duration {
    Duration::from_secs(60 * count)
}

/// Where the ledger is.
enum Place {
    Memory(MemoryLedger),
    Database(Database),
}

/// A host on which a program starts and stops.
pub(crate) struct Stage {
    place: Place,
    pub(crate) clock: TestClock,
    calls: Arc<Mutex<Vec<String>>>,
    _folder: Option<tempfile::TempDir>,
}

impl Stage {
    pub(crate) fn memory(now: &str) -> Self {
        Self::new(Place::Memory(MemoryLedger::new()), now)
    }

    pub(crate) fn sqlite(now: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let database = Database::Sqlite { path: folder.path().join("tasks.db") };
        Self { _folder: Some(folder), ..Self::new(Place::Database(database), now) }
    }

    pub(crate) fn postgres(url: &str, now: &str) -> Self {
        Self::new(Place::Database(Database::Postgres { url: url.to_owned() }), now)
    }

    fn new(place: Place, now: &str) -> Self {
        Self { place, clock: TestClock::at(at(now)), calls: Arc::default(), _folder: None }
    }

    /// The program's settings.
    pub(crate) fn builder(&self) -> Builder {
        let builder = Scheduler::builder().name("shop").clock(&self.clock).timezone("UTC");
        match &self.place {
            Place::Memory(ledger) => builder.memory(ledger),
            Place::Database(database) => builder.database(database.clone()),
        }
    }

    pub(crate) async fn start(&self, tasks: impl IntoIterator<Item = Task>) -> Scheduler {
        self.builder().initialize(tasks).await.expect("it starts")
    }

    pub(crate) async fn refused(&self, tasks: impl IntoIterator<Item = Task>) -> Error {
        self.builder().initialize(tasks).await.expect_err("it is refused")
    }

    pub(crate) async fn until(&self, time: &str) {
        self.clock.until(at(time)).await;
    }

    /// A task that is noted when it is called, and ends as `ends` says for its n-th call.
    pub(crate) fn task(
        &self,
        name: &str,
        cron: &str,
        ends: impl Fn(usize) -> Result<(), CallbackError> + Send + Sync + 'static,
    ) -> Task {
        let (calls, known) = (Arc::clone(&self.calls), name.to_owned());
        Task::new(name, cron, minutes(10), move |context| {
            let (called, tick) = (context.triggered_at, context.scheduled_for);
            let mut calls = calls.lock().expect("nobody panics with it");
            let number = calls.iter().filter(|call| call.starts_with(&format!("{known} "))).count() + 1;
            let time = |at: Timestamp| at.strftime("%H:%M:%S").to_string();
            calls.push(format!("{known} at {} for {} #{}", time(called), time(tick), context.attempt));
            let ended = ends(number);
            async { ended }
        })
    }

    /// A task that always succeeds.
    pub(crate) fn good(&self, name: &str, cron: &str) -> Task {
        self.task(name, cron, |_| Ok(()))
    }

    /// What was called so far: `a at 10:00:00 for 10:00:00 #1`.
    pub(crate) fn calls(&self) -> Vec<String> {
        self.calls.lock().expect("nobody panics with it").clone()
    }
}

/// What the ledger says of a task, oldest first: `10:00:00 success`, `11:00:00 failed superseded`.
pub(crate) async fn ledger(scheduler: &Scheduler, task: &str) -> Vec<String> {
    let line = |row: &RunRow| {
        let time = row.run.scheduled_for.strftime("%H:%M:%S");
        let reason = row.run.state.reason().map(|reason| format!(" {}", reason.code())).unwrap_or_default();
        format!("{time} {}{reason}", row.run.state.status())
    };
    let mut lines: Vec<String> = scheduler.runs(task).await.expect("it is known").iter().map(line).collect();
    lines.reverse();
    lines
}
