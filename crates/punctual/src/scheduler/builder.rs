//! How a scheduler is to run: where its ledger is, by which clock and zone, how often it looks.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use punctual_engine::{Callbacks, Engine, JournalPlace, Program, Settings};
use punctual_plan::{Owner, Pace};
use punctual_store::{Scope, Store};
use tokio::sync::watch;

use super::clock::{TestClock, Wall};
use super::define::Terms;
use super::ledger::{Ledger, Own, TEST_IDLE};
use super::memory::MemoryLedger;
use super::set::{Accepting, Set};
use super::task::{Task, signed};
use super::{Error, Scheduler};
use crate::{Database, Failure, name, zone_name};

/// How long a stop waits for runs, unless it is said otherwise.
const DRAIN_FOR: Duration = Duration::from_secs(30);

/// How a scheduler is to run; every setting has a default.
///
/// ```
/// use std::time::Duration;
///
/// use punctual::scheduler::MemoryLedger;
/// use punctual::{Scheduler, Task};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), punctual::scheduler::Error> {
/// let task = Task::new("greet", "0 9 * * 1-5", Duration::from_secs(300), |_| async { Ok(()) });
/// let scheduler = Scheduler::builder()
///     .name("greeter")
///     .memory(&MemoryLedger::new())
///     .timezone("Europe/Paris")
///     .poll_interval(Duration::from_secs(30))
///     .initialize([task])
///     .await?;
/// scheduler.stop().await;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Builder {
    name: Option<String>,
    org_id: String,
    place: Place,
    clock: Wall,
    timezone: String,
    poll_interval: Duration,
    drain_for: Duration,
}

/// Where the ledger is.
#[derive(Clone, Debug)]
enum Place {
    /// In a file of the user's data folder that has the name of the set.
    DataFolder,
    Database(Database),
    Memory(MemoryLedger),
}

impl Builder {
    pub(super) fn new() -> Self {
        let tick = Duration::try_from(Pace::default().tick);
        Self {
            name: None,
            org_id: Owner::default().org_id,
            place: Place::DataFolder,
            clock: Wall::Host,
            timezone: "local".to_owned(),
            poll_interval: tick.expect("the default is a second"),
            drain_for: DRAIN_FOR,
        }
    }

    /// Names the set of tasks; without a name it has that of the program's file. Programs that share a database have
    /// different names, and none of them touches, plans or runs what belongs to another.
    ///
    /// ```
    /// let builder = punctual::Scheduler::builder().name("billing");
    /// # let _ = builder;
    /// ```
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Keeps the tasks for this org; identifiers are unique in it. Without one it is `default`.
    ///
    /// ```
    /// let builder = punctual::Scheduler::builder().org("acme");
    /// # let _ = builder;
    /// ```
    #[must_use]
    pub fn org(mut self, org_id: impl Into<String>) -> Self {
        self.org_id = org_id.into();
        self
    }

    /// Keeps the ledger in this database; without one it is a SQLite file with the name of the set, in the user's data
    /// folder.
    ///
    /// ```
    /// use punctual::{Database, Scheduler};
    ///
    /// let builder = Scheduler::builder().database(Database::choose(Some("jobs.db"))?);
    /// # let _ = builder;
    /// # Ok::<(), punctual::Failure>(())
    /// ```
    #[must_use]
    pub fn database(mut self, database: Database) -> Self {
        self.place = Place::Database(database);
        self
    }

    /// Keeps the ledger in memory.
    ///
    /// ```
    /// let ledger = punctual::scheduler::MemoryLedger::new();
    /// let builder = punctual::Scheduler::builder().memory(&ledger);
    /// # let _ = builder;
    /// ```
    #[must_use]
    pub fn memory(mut self, ledger: &MemoryLedger) -> Self {
        self.place = Place::Memory(ledger.clone());
        self
    }

    /// Lives by this clock instead of the host's: see [`TestClock`].
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let clock = punctual::scheduler::TestClock::at("2026-03-01T09:00:00Z".parse()?);
    /// let builder = punctual::Scheduler::builder().clock(&clock);
    /// # let _ = builder;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn clock(mut self, clock: &TestClock) -> Self {
        self.clock = Wall::Test(clock.clone());
        self
    }

    /// Reads local times in this zone; without one it is the host's.
    ///
    /// ```
    /// let builder = punctual::Scheduler::builder().timezone("Europe/Paris");
    /// # let _ = builder;
    /// ```
    #[must_use]
    pub fn timezone(mut self, name: impl Into<String>) -> Self {
        self.timezone = name.into();
        self
    }

    /// Looks at least this often, a second by default; a task that would run more often is refused. Between two looks
    /// it wakes at the millisecond at which something is due.
    ///
    /// ```
    /// let builder = punctual::Scheduler::builder().poll_interval(std::time::Duration::from_secs(600));
    /// # let _ = builder;
    /// ```
    #[must_use]
    pub fn poll_interval(mut self, interval: Duration) -> Self {
        self.poll_interval = interval;
        self
    }

    /// Lets [`Scheduler::stop`] wait this long for what runs, 30 seconds by default.
    ///
    /// ```
    /// let builder = punctual::Scheduler::builder().drain_for(std::time::Duration::from_secs(5));
    /// # let _ = builder;
    /// ```
    #[must_use]
    pub fn drain_for(mut self, limit: Duration) -> Self {
        self.drain_for = limit;
        self
    }

    /// Starts with these tasks, which are exactly the stored ones, or the first.
    ///
    /// # Errors
    /// When a task cannot be meant, when the stored set is another one (with everything that differs), or when the
    /// database fails.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use punctual::{Scheduler, Task, scheduler::MemoryLedger};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), punctual::scheduler::Error> {
    /// # let ledger = MemoryLedger::new();
    /// let task = Task::new("greet", "0 9 * * *", Duration::from_secs(300), |_| async { Ok(()) });
    /// let scheduler = Scheduler::builder().memory(&ledger).timezone("UTC").initialize([task]).await?;
    /// # scheduler.stop().await;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn initialize(self, tasks: impl IntoIterator<Item = Task>) -> Result<Scheduler, Error> {
        self.start(tasks.into_iter().collect(), Accepting::FirstStart).await
    }

    /// Starts with these tasks and stores them as the new set: what has not changed goes on as it was, what has changed
    /// gets a new version, what is gone is deleted, and all of them keep their history.
    ///
    /// # Errors
    /// When a task cannot be meant, when another set has its identifier, or when the database fails.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use punctual::{Scheduler, Task, scheduler::MemoryLedger};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), punctual::scheduler::Error> {
    /// # let ledger = MemoryLedger::new();
    /// let task = Task::new("greet", "0 10 * * *", Duration::from_secs(300), |_| async { Ok(()) });
    /// let scheduler = Scheduler::builder().memory(&ledger).timezone("UTC").migrate([task]).await?;
    /// # scheduler.stop().await;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn migrate(self, tasks: impl IntoIterator<Item = Task>) -> Result<Scheduler, Error> {
        self.start(tasks.into_iter().collect(), Accepting::Everything).await
    }

    async fn start(self, tasks: Vec<Task>, accepting: Accepting) -> Result<Scheduler, Error> {
        let set = self.set_name()?;
        if let Some(problem) = name::org_problem(&self.org_id) {
            return Err(Failure::invalid(problem, name::ORG_HINT).into());
        }
        let terms = Terms {
            set,
            org_id: self.org_id.clone(),
            timezone: local_zone(&self.timezone)?,
            poll_interval: self.poll_interval,
            now: Timestamp::UNIX_EPOCH,
        };
        let pace = Pace { tick: signed(self.poll_interval), ..Pace::default() };
        let ledger = Arc::new(self.open(&terms.set).await?);
        let org = ledger.org(Scope::Engine, self.org_id.clone()).await?;
        let scope = Scope::org(org);
        let mut set = Set { ledger: &ledger, scope: scope.clone(), terms, pace };
        set.declare(&tasks, accepting).await?;
        let terms = set.terms;
        let add = |callbacks, task: &Task| task.add_to(callbacks, terms.callback(task));
        let callbacks = tasks.iter().fold(Callbacks::new(), add);
        ledger.claim(Own { org, tasks: callbacks.names().map(str::to_owned).collect() });
        let idle = if let Wall::Test(_) = self.clock { TEST_IDLE } else { Duration::ZERO };
        let journal = self.journal(&terms.set)?;
        let settings = Settings { pace, idle, drain_for: self.drain_for, ..Settings::with_journal(journal) };
        let clock = Arc::new(self.clock);
        let program = Arc::new(Program::new(callbacks, Arc::clone(&clock)));
        let engine = Engine::start(Arc::clone(&ledger), clock, program, settings).await?;
        let metrics = engine.metrics();
        let (stop, stopped) = watch::channel(false);
        let serving = tokio::spawn(engine.run(stopped));
        Ok(Scheduler { ledger, scope, metrics, stop, serving })
    }

    /// The name of the set: letters, digits and `-`, `_`, `.` only, for it is part of file names.
    fn set_name(&self) -> Result<String, Error> {
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
        match &self.name {
            Some(name) if !name.is_empty() && name.chars().all(is_plain) => Ok(name.clone()),
            Some(name) => Err(Failure::invalid(
                format!("`{name}` cannot be the name of a set"),
                "use letters, digits, `-`, `_` and `.`",
            )
            .into()),
            None => {
                let path = std::env::current_exe().map_err(|error| {
                    Failure::world(format!("the system does not say how this program is called: {error}"))
                })?;
                let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                Ok(stem.chars().map(|letter| if is_plain(letter) { letter } else { '-' }).collect())
            }
        }
    }

    fn database_of(&self, set: &str) -> Result<Option<Database>, Error> {
        Ok(match &self.place {
            Place::Memory(_) => None,
            Place::Database(database) => Some(database.clone()),
            Place::DataFolder => match Database::choose(None)? {
                Database::Sqlite { path } => {
                    Some(Database::Sqlite { path: path.with_file_name(format!("{set}.db")) })
                }
                other => Some(other),
            },
        })
    }

    async fn open(&self, set: &str) -> Result<Ledger, Error> {
        if let Place::Memory(memory) = &self.place {
            let opened = memory.open(self.clock.clone()).await?;
            return opened.ok_or_else(|| {
                let kind = crate::Kind::InUse;
                let message = "another scheduler runs on this ledger in memory".to_owned();
                Failure { kind, message, hint: Some("stop it first".to_owned()) }.into()
            });
        }
        let database = self.database_of(set)?.unwrap_or(Database::choose(None)?);
        Ledger::open(&database, self.clock.clone()).await
    }

    /// Where launches are noted. A database of several nodes has no use for a file: what a node leaves there is in
    /// doubt for the others, and it never comes back as the same one.
    fn journal(&self, set: &str) -> Result<JournalPlace, Error> {
        match (&self.place, self.database_of(set)?) {
            (Place::Memory(memory), _) => Ok(memory.journal()),
            (_, Some(Database::Sqlite { path })) => {
                let mut file = path.into_os_string();
                // Programs that use the file in turn must not take each other's launches for theirs.
                file.push(format!(".{set}.launches"));
                Ok(JournalPlace::File(PathBuf::from(file)))
            }
            _ => Ok(JournalPlace::Memory(punctual_engine::MemoryJournal::default())),
        }
    }
}

/// The IANA name of a zone. A host that says nothing at all about its zone lives in UTC, as its `date` does.
fn local_zone(name: &str) -> Result<String, Failure> {
    let is_silent = || std::env::var_os("TZ").is_none() && !std::path::Path::new("/etc/localtime").exists();
    if name.eq_ignore_ascii_case("local") && is_silent() {
        return Ok("UTC".to_owned());
    }
    zone_name(name)
}
