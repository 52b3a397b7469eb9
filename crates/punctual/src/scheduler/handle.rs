//! A scheduler that runs: ask it what happened, and stop it.

use std::collections::HashMap;
use std::sync::Arc;

use jiff::Timestamp;
use punctual_engine::{Metrics, Stopped};
use punctual_plan::Why;
use punctual_store::{Cut, RunFilter, RunRow, ScheduleRow, Scope, Selector, Store};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::ledger::Ledger;
use super::{Builder, Error, Task};
use crate::{History, zone_of};

/// How many of the latest entries of a task are read.
const RUNS_MAX: u32 = 1_000;

/// A scheduler inside a program: the tasks that were declared at its start, run by their cron, with a durable ledger.
///
/// There is nothing to add, change or remove while it runs: the declared set is the schedule. Dropping it asks it to
/// stop without waiting for what runs.
///
/// ```
/// use std::time::Duration;
///
/// use punctual::{Scheduler, Task};
///
/// # async fn f() -> Result<(), Box<dyn std::error::Error>> {
/// let greet = Task::new("greet", "0 9 * * 1-5", Duration::from_secs(300), |_| async {
///     println!("good morning");
///     Ok(())
/// });
/// let scheduler = Scheduler::initialize([greet]).await?;
/// tokio::signal::ctrl_c().await?;
/// scheduler.stop().await;
/// # Ok(())
/// # }
/// ```
pub struct Scheduler {
    pub(super) ledger: Arc<Ledger>,
    pub(super) scope: Scope,
    pub(super) metrics: Arc<Metrics>,
    pub(super) stop: watch::Sender<bool>,
    pub(super) serving: JoinHandle<Stopped>,
}

impl Scheduler {
    /// Starts with these tasks in the default place, under the name of the program: see [`Builder::initialize`].
    ///
    /// # Errors
    /// As [`Builder::initialize`].
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use punctual::{Scheduler, Task};
    /// # async fn f() -> Result<(), punctual::scheduler::Error> {
    /// let task = Task::new("greet", "0 9 * * *", Duration::from_secs(300), |_| async { Ok(()) });
    /// let scheduler = Scheduler::initialize([task]).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn initialize(tasks: impl IntoIterator<Item = Task>) -> Result<Self, Error> {
        Self::builder().initialize(tasks).await
    }

    /// Starts with these tasks and accepts what has changed: see [`Builder::migrate`].
    ///
    /// # Errors
    /// As [`Builder::migrate`].
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use punctual::{Scheduler, Task};
    /// # async fn f() -> Result<(), punctual::scheduler::Error> {
    /// let task = Task::new("greet", "0 10 * * *", Duration::from_secs(300), |_| async { Ok(()) });
    /// let scheduler = Scheduler::migrate([task]).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn migrate(tasks: impl IntoIterator<Item = Task>) -> Result<Self, Error> {
        Self::builder().migrate(tasks).await
    }

    /// Says how it is to run, before it starts.
    ///
    /// ```
    /// let builder = punctual::Scheduler::builder().name("billing").timezone("Europe/Paris");
    /// # let _ = builder;
    /// ```
    pub fn builder() -> Builder {
        Builder::new()
    }

    /// Starts nothing more, waits for what runs, and says what was left. A closure that was left goes on by itself; until
    /// it ends, no other scheduler of this process can use the same file.
    ///
    /// # Panics
    /// When the engine did.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use punctual::{Scheduler, Task, scheduler::MemoryLedger};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), punctual::scheduler::Error> {
    /// # let task = Task::new("greet", "0 9 * * *", Duration::from_secs(300), |_| async { Ok(()) });
    /// let scheduler = Scheduler::builder().memory(&MemoryLedger::new()).timezone("UTC").initialize([task]).await?;
    /// assert_eq!(scheduler.stop().await.left_in_flight, 0);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn stop(self) -> Stopped {
        // Without a receiver it has stopped already.
        let _ = self.stop.send(true);
        match self.serving.await {
            Ok(stopped) => stopped,
            Err(gone) => std::panic::resume_unwind(gone.into_panic()),
        }
    }

    /// The latest entries of a task in the ledger up to now, newest first: what ran, and what did not and why.
    ///
    /// # Errors
    /// When there is no such task, or the database fails.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use punctual::{Scheduler, Task, scheduler::{MemoryLedger, RunStatus, TestClock}};
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let clock = TestClock::at("2026-03-01T09:00:00Z".parse()?);
    /// # let task = Task::new("greet", "0 10 * * *", Duration::from_secs(300), |_| async { Ok(()) });
    /// # let ledger = MemoryLedger::new();
    /// # let scheduler = Scheduler::builder().memory(&ledger).clock(&clock).timezone("UTC").initialize([task]).await?;
    /// clock.advance(Duration::from_secs(3_600)).await;
    /// let runs = scheduler.runs("greet").await?;
    /// assert_eq!(runs[0].run.scheduled_for.to_string(), "2026-03-01T10:00:00Z");
    /// assert_eq!(runs[0].run.state.status(), RunStatus::Success);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn runs(&self, task: &str) -> Result<Vec<RunRow>, Error> {
        Ok(self.history(task).await?.runs)
    }

    /// The latest entries of a task, together with the long stretches that are kept as one entry.
    ///
    /// # Errors
    /// When there is no such task, or the database fails.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use punctual::{Scheduler, Task, scheduler::MemoryLedger};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), punctual::scheduler::Error> {
    /// # let task = Task::new("greet", "0 9 * * *", Duration::from_secs(300), |_| async { Ok(()) });
    /// # let scheduler = Scheduler::builder().memory(&MemoryLedger::new()).timezone("UTC").initialize([task]).await?;
    /// assert!(scheduler.history("greet").await?.ranges.is_empty());
    /// assert!(scheduler.history("nobody").await.is_err());
    /// # Ok(())
    /// # }
    /// ```
    pub async fn history(&self, task: &str) -> Result<History, Error> {
        let row = self.find(task).await?;
        let schedule = row.definition.id;
        let until = Some(self.ledger.now().await?);
        let filter = RunFilter { schedule: Some(schedule), until, ..RunFilter::default() };
        let runs = self.ledger.runs(self.scope.clone(), filter.clone(), Cut::first(RUNS_MAX)).await?;
        let ranges = self.ledger.ranges(self.scope.clone(), filter, Cut::first(RUNS_MAX)).await?;
        let is_more = runs.next.is_some() || ranges.next.is_some();
        let zones = HashMap::from([(schedule, zone_of(&row))]);
        Ok(History { runs: runs.rows, ranges: ranges.rows, zones, is_more, next: None })
    }

    /// Explains why a task did or did not run at an instant, or what will become of it then: spec, version, zone, windows,
    /// catch-up, overlap, attempts and clock, link by link. It is what `punctual why` says, and prints the same way.
    ///
    /// # Errors
    /// When there is no such task, or the database fails.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use punctual::{Scheduler, Task, scheduler::{MemoryLedger, TestClock}};
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let clock = TestClock::at("2026-03-01T09:00:00Z".parse()?);
    /// # let task = Task::new("greet", "0 10 * * *", Duration::from_secs(300), |_| async { Ok(()) });
    /// # let ledger = MemoryLedger::new();
    /// # let scheduler = Scheduler::builder().memory(&ledger).clock(&clock).timezone("UTC").initialize([task]).await?;
    /// clock.advance(Duration::from_secs(3 * 3_600)).await;
    /// let why = scheduler.why("greet", "2026-03-01T10:00:00Z".parse()?).await?;
    /// assert!(why.to_string().contains("it ran on time and ended well"), "{why}");
    /// let why = scheduler.why("greet", "2026-03-01T11:00:00Z".parse()?).await?;
    /// assert!(why.to_string().contains("hour 11 is not in `10`"), "{why}");
    /// # Ok(())
    /// # }
    /// ```
    pub async fn why(&self, task: &str, at: Timestamp) -> Result<Why, Error> {
        self.ledger.why(self.scope.clone(), self.find(task).await?, at).await
    }

    async fn find(&self, task: &str) -> Result<ScheduleRow, Error> {
        let selector = Selector::Name(task.to_owned());
        let found = self.ledger.schedule(self.scope.clone(), selector).await?;
        let missing = || punctual_store::Error::NotFound { what: format!("`{task}`") };
        Ok(found.ok_or_else(missing)?)
    }

    /// What it has counted since its start; it goes on counting after this call.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use punctual::{Scheduler, Task, scheduler::MemoryLedger};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), punctual::scheduler::Error> {
    /// # let task = Task::new("greet", "0 9 * * *", Duration::from_secs(300), |_| async { Ok(()) });
    /// # let scheduler = Scheduler::builder().memory(&MemoryLedger::new()).timezone("UTC").initialize([task]).await?;
    /// assert!(scheduler.metrics().text().contains("punctual_runs_in_flight 0"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn metrics(&self) -> Arc<Metrics> {
        Arc::clone(&self.metrics)
    }
}

impl std::fmt::Debug for Scheduler {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Scheduler").field("scope", &self.scope).finish_non_exhaustive()
    }
}
