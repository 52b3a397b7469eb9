//! The ledger in one SQLite file: one writer thread with group commit, and reader threads.
//!
//! Start with [`Sqlite::open`]; each step of a tick's life has its file, and its statements are the
//! `.sql` files of the same verbs. `store` is the trait, call by call.

mod admit;
mod audit;
mod batch;
mod breakers;
mod breaks;
mod change;
mod check;
mod checkpoint;
mod clock;
mod connection;
mod create;
mod decode;
mod documents;
mod due;
mod hasten;
mod invalid;
mod job;
mod late;
mod live;
mod lock;
mod migrate;
mod node;
mod open;
mod outbox;
mod patience;
mod plan;
mod prepare;
mod queue;
mod reader;
mod retention;
mod runs;
mod schedules;
mod settle;
mod sheet;
mod stirred;
mod store;
mod uncounted;
mod whole;
mod world;
mod write;
mod writer;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicI64;

use jiff::Timestamp;

use crate::cache::Definitions;
use crate::orgs::Orgs;
use crate::{Cut, Error, Listed, Scope, Shards, Whose};
use checkpoint::Checkpointer;
use clock::Clock;
use connection::Db;
use lock::ServeLock;
use reader::Reader;
use sheet::Sheets;
use writer::Writer;

/// The statement in `sql/sqlite/NAME.sql`.
macro_rules! sql {
    ($name:literal) => {
        include_str!(concat!("../../sql/sqlite/", $name, ".sql"))
    };
}
pub(crate) use sql;

/// What a process wants of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Runs the schedules: one process at a time, enforced by a lock of the operating system.
    Serve,
    /// Reads and changes definitions, beside a process that serves or without one.
    Visit,
}

/// A ledger in one SQLite file.
pub struct Sqlite {
    path: PathBuf,
    // The order matters: threads end before the lock is given back.
    writer: Writer,
    /// For what the engine waits for.
    reader: Reader,
    /// For lists, which may take long.
    lister: Reader,
    /// Parsed definitions, shared by all threads.
    definitions: Arc<Definitions>,
    clock: Clock,
    /// The keys of orgs, which never change and are asked for by every door.
    orgs: Orgs,
    /// Up to which schedule retention has counted rows.
    counted_through: AtomicI64,
    _checkpointer: Option<Checkpointer>,
    _lock: Option<ServeLock>,
}

impl Sqlite {
    /// Opens the file, creating it and its folder if they are missing, and brings its schema up to date.
    ///
    /// # Errors
    /// When another process serves the file, when it cannot be opened, or when a newer version wrote it.
    pub fn open(path: &Path, access: Access) -> Result<Self, Error> {
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            create_private(folder).map_err(|source| Error::open(folder, source))?;
        }
        let lock = match access {
            Access::Serve => Some(ServeLock::take(path)?),
            Access::Visit => None,
        };
        let mut connection = connection::writable(path, access)?;
        migrate::run(&mut connection, path, migrate::MIGRATIONS)?;
        let (definitions, clock) = (Arc::new(Definitions::for_access(access)), Clock::default());
        let with = |connection| Db::new(connection, &definitions, &clock);
        let sheets = Arc::<Sheets>::default();
        let db = with(connection).with_sheets(&sheets);
        sheet::unfold_left(&db)?;
        let checkpointer = match access {
            Access::Serve => {
                migrate::arrange(&db.connection)?;
                db.change(sql!("leave_all"), [db.now().as_microsecond()])?;
                Some(Checkpointer::start(path)?)
            }
            Access::Visit => None,
        };
        let readable = || Ok::<Db, Error>(with(connection::readable(path, access)?).with_sheets(&sheets));
        // Who visits asks one thing after the other.
        let second = if access == Access::Serve { Some(readable()?) } else { None };
        let reader = Reader::start(&sheets, [readable()?].into_iter().chain(second));
        let lister = Reader::start(&sheets, [readable()?]);
        Ok(Self {
            path: path.to_owned(),
            writer: Writer::start(db, sheet::unfold_all),
            reader,
            lister,
            definitions: Arc::clone(&definitions),
            clock: clock.clone(),
            orgs: Orgs::default(),
            counted_through: AtomicI64::new(0),
            _checkpointer: checkpointer,
            _lock: lock,
        })
    }

    /// Lets it go by another clock than the host's, as a simulation does.
    pub fn go_by(&self, clock: impl Fn() -> Timestamp + Send + Sync + 'static) {
        self.clock.go_by(clock);
    }

    /// Says that the process is so many times slower than usual, as one whose instructions are counted is: what waits for a
    /// moment before it is written waits for as many.
    pub fn slow_down(&self, times: u32) {
        self.reader.sheets().slow_down(times);
    }

    /// Whether a process runs the schedules of this file now.
    pub fn is_served(&self) -> bool {
        lock::is_held(&self.path)
    }

    /// How many transactions this process has committed so far: a commit holds whatever has gathered before it.
    pub fn commits(&self) -> u64 {
        self.writer.commits()
    }

    /// Where the file is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Copies the whole database, as of one moment, into a new file.
    ///
    /// # Errors
    /// When the file exists already or cannot be written.
    pub async fn backup(&self, to: &Path) -> Result<(), Error> {
        let to = to.to_owned();
        let connection = connection::writable(&self.path, Access::Serve)?;
        // A connection of its own: a copy takes long, and nobody shall wait for it.
        reader::elsewhere(move || migrate::copy_into(&connection, &to)).await
    }

    /// Gives the space of removed rows back to the disk; others wait meanwhile.
    ///
    /// # Errors
    /// When the disk has no room for a second copy, or somebody else holds the file for too long.
    pub async fn vacuum(&self) -> Result<(), Error> {
        let connection = connection::writable(&self.path, Access::Visit)?;
        let vacuum = move || {
            connection.execute_batch("VACUUM").map_err(connection::doing("vacuuming"))?;
            let truncate = connection.pragma(None, "wal_checkpoint", "TRUNCATE", |_| Ok(()));
            truncate.map_err(connection::doing("vacuuming"))
        };
        reader::elsewhere(vacuum).await
    }
}

/// Creates a folder that only its owner can look into: argument vectors and output are nobody else's.
fn create_private(folder: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(folder)
}

/// The shards that are asked for as a list of JSON; none for all.
fn shard_list(whose: &Whose) -> Option<String> {
    match whose {
        Whose::Own(Shards::All) | Whose::Late(_) => None,
        Whose::Own(Shards::Some(shards)) => Some(serde_json::Value::from(shards.clone()).to_string()),
    }
}

/// The org that a scope is confined to; none for the engine, which sees all.
fn org_of(scope: &Scope) -> Option<i64> {
    match scope {
        Scope::Engine => None,
        Scope::Org { org, .. } => Some(org.0),
    }
}

/// Who does something, for the audit log.
fn actor_of(scope: &Scope) -> Option<&str> {
    match scope {
        Scope::Engine => None,
        Scope::Org { user, .. } => user.as_deref(),
    }
}

/// How many rows are read for a page: one more than it has, which tells whether there is another.
fn page_rows(cut: &Cut) -> i64 {
    i64::from(cut.limit) + 1
}

/// A page of the rows that were read, and where the next one begins: after its last row.
fn listed<T>(mut rows: Vec<T>, cut: &Cut, place: impl Fn(&T) -> String) -> Listed<T> {
    let limit = usize::try_from(cut.limit).unwrap_or(usize::MAX);
    let is_more = rows.len() > limit;
    rows.truncate(limit);
    let next = rows.last().filter(|_| is_more).map(place);
    Listed { rows, next }
}

/// A place that no list gave.
fn bad_page(after: &str) -> Error {
    Error::Conflict { what: format!("the page after `{after}`") }
}

/// A token that nobody can guess, from the database's own source of randomness, which the system seeds.
fn random_token(db: &Db) -> Result<String, Error> {
    db.value(sql!("random_token"), [])?.ok_or_else(|| Error::corrupt("no random number"))
}
