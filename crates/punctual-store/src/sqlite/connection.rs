//! How a connection is opened: durable, and patient with the others; and how statements are run on it.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use punctual_plan::{Schedule, ScheduleKey};
use rusqlite::config::DbConfig;
use rusqlite::{CachedStatement, Connection, ErrorCode, OpenFlags, OptionalExtension, Params, Row};

use super::clock::Clock;
use super::decode::column;
use super::sheet::Sheets;
use super::stirred::Ended;
use super::{Access, sql};

use crate::cache::{Definitions, Known, Stamp};
use crate::definition::Definition;
use crate::stored::remains;
use crate::{DocumentKind, Error, Shared, room};

/// How long a statement waits for another process's transaction before it gives up.
const BUSY_WAIT: Duration = Duration::from_secs(10);

/// The pause before a set-up that found the file busy is repeated.
const BUSY_PAUSE: Duration = Duration::from_millis(5);

/// Page cache of a connection that writes, of a process that only visits, in KiB: room for the pages of one large batch.
const VISIT_WRITE_CACHE_KIB: i64 = 64 * 1024;

/// Page cache of a connection that reads, in KiB: each commit of another connection empties it anyway.
const READ_CACHE_KIB: i64 = 64 * 1024;

/// The same for a process that only visits: it walks through what it reads.
const VISIT_READ_CACHE_KIB: i64 = 8 * 1024;

/// Prepared statements kept per connection; more than there are `.sql` files.
const STATEMENTS_MAX: usize = 256;

/// Turns SQLite's error into ours, with what was being done.
pub(super) fn doing(what: &'static str) -> impl Fn(rusqlite::Error) -> Error {
    move |source| match source.sqlite_error_code() {
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
            Error::Damaged { what: format!("{source}, seen while {what}") }
        }
        code => Error::Database { doing: what, is_transient: is_transient(code), source: Arc::new(source) },
    }
}

/// Faults of the surroundings, which may end by themselves: then the same call succeeds.
fn is_transient(code: Option<ErrorCode>) -> bool {
    matches!(
        code,
        Some(
            ErrorCode::DatabaseBusy
                | ErrorCode::DatabaseLocked
                | ErrorCode::DiskFull
                | ErrorCode::SystemIoFailure
                | ErrorCode::ReadOnly
                | ErrorCode::CannotOpen
                | ErrorCode::OutOfMemory
                | ErrorCode::OperationInterrupted
                | ErrorCode::FileLockingProtocolFailed
        )
    )
}

/// A connection for the writer thread, or for anybody who writes.
pub(super) fn writable(path: &Path, access: Access) -> Result<Connection, Error> {
    let flags =
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let opened = open(path, flags).and_then(|connection| {
        // SQLite opens what may not be written for reading, and would say so only later.
        if connection.is_readonly(rusqlite::MAIN_DB).map_err(|source| Error::open(path, source))? {
            return Err(read_only(path, "it may only be read"));
        }
        set_up(&connection, access).map(|()| connection)
    });
    opened.map_err(|error| match error {
        Error::Database { source, .. } if is_read_only(source.as_ref()) => {
            read_only(path, "nothing may be written beside it")
        }
        other => other,
    })
}

fn set_up(connection: &Connection, access: Access) -> Result<(), Error> {
    let cache_kib = match access {
        Access::Serve => room::pages_kib(),
        Access::Visit => VISIT_WRITE_CACHE_KIB,
    };
    set(connection, "cache_size", -cache_kib)?;
    set(connection, "journal_mode", "wal")?;
    // Every commit is on disk before it is answered.
    set(connection, "synchronous", "full")?;
    set(connection, "foreign_keys", "on")?;
    if access == Access::Serve {
        // The checkpoint thread does it, off the path of the commits.
        set(connection, "wal_autocheckpoint", 0)?;
    }
    Ok(())
}

fn read_only(path: &Path, why: &str) -> Error {
    Error::open(path, std::io::Error::new(std::io::ErrorKind::PermissionDenied, why))
}

fn is_read_only(error: &(dyn std::error::Error + 'static)) -> bool {
    let code = error.downcast_ref::<rusqlite::Error>().and_then(rusqlite::Error::sqlite_error_code);
    matches!(code, Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen))
}

/// A connection for reading.
pub(super) fn readable(path: &Path, access: Access) -> Result<Connection, Error> {
    let connection = open(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    let cache_kib = match access {
        Access::Serve => READ_CACHE_KIB,
        Access::Visit => VISIT_READ_CACHE_KIB,
    };
    set(&connection, "cache_size", -cache_kib)?;
    set(&connection, "query_only", "on")?;
    Ok(connection)
}

fn open(path: &Path, flags: OpenFlags) -> Result<Connection, Error> {
    let connection = Connection::open_with_flags(path, flags).map_err(|source| Error::open(path, source))?;
    connection.busy_timeout(BUSY_WAIT).map_err(|source| Error::open(path, source))?;
    // A plan is made once for a statement, not again for each value that is bound to it.
    connection
        .set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)
        .map_err(|source| Error::open(path, source))?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS_MAX);
    set(&connection, "temp_store", "memory")?;
    Ok(connection)
}

/// Sets a pragma. Turning a new file's log on does not wait for another process that does the same, so we do.
fn set(connection: &Connection, name: &str, value: impl rusqlite::ToSql) -> Result<(), Error> {
    let begun = Instant::now();
    loop {
        let is_late = begun.elapsed() > BUSY_WAIT;
        match connection.pragma_update_and_check(None, name, &value, |_| Ok(())) {
            // Most pragmas answer nothing when they are set.
            Ok(()) | Err(rusqlite::Error::QueryReturnedNoRows) => return Ok(()),
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) && !is_late => {
                std::thread::sleep(BUSY_PAUSE);
            }
            Err(error) => return Err(doing("setting up the connection")(error)),
        }
    }
}

/// A connection at work, with the definitions that were read before.
pub(super) struct Db {
    pub(super) connection: Connection,
    pub(super) definitions: Arc<Definitions>,
    clock: Clock,
    /// What marks the shared things of orgs, while nothing that is read can change.
    stamps: RefCell<Option<HashMap<i64, Stamp>>>,
    /// Starts that are committed and not in their rows yet.
    pub(super) sheets: Arc<Sheets>,
    /// What the present work has said that it ended.
    ended: RefCell<Option<Ended>>,
}

impl Db {
    pub(super) fn new(connection: Connection, definitions: &Arc<Definitions>, clock: &Clock) -> Self {
        let (definitions, clock) = (Arc::clone(definitions), clock.clone());
        Self {
            connection,
            definitions,
            clock,
            stamps: RefCell::default(),
            sheets: Arc::default(),
            ended: RefCell::default(),
        }
    }

    /// Says that what is being written ends runs of these schedules and does nothing else that a verdict depends on.
    pub(super) fn has_ended(&self, mut schedules: Vec<ScheduleKey>) {
        schedules.sort_unstable();
        self.ended.replace(Some(schedules.into()));
    }

    /// Takes what was said.
    pub(super) fn take_ended(&self) -> Option<Ended> {
        self.ended.take()
    }

    /// The present.
    pub(super) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// The same, sharing what is known of sheets.
    pub(super) fn with_sheets(self, sheets: &Arc<Sheets>) -> Self {
        Self { sheets: Arc::clone(sheets), ..self }
    }

    /// Does what happens in one read transaction: what is shared is looked at once, not for every definition.
    pub(super) fn of_one_moment<T>(&self, work: impl FnOnce() -> T) -> T {
        self.stamps.replace(Some(HashMap::new()));
        let result = work();
        self.stamps.replace(None);
        result
    }

    /// A statement that is run many times.
    pub(super) fn prepare(&self, statement: &str) -> Result<CachedStatement<'_>, Error> {
        self.connection.prepare_cached(statement).map_err(doing("preparing a statement"))
    }

    /// Runs a query and reads every row.
    pub(super) fn rows<T>(
        &self,
        statement: &str,
        params: impl Params,
        read: impl FnMut(&Row<'_>) -> Result<T, Error>,
    ) -> Result<Vec<T>, Error> {
        rows(&mut self.prepare(statement)?, params, read)
    }

    /// Runs a query of which the first row counts.
    pub(super) fn first<T>(
        &self,
        statement: &str,
        params: impl Params,
        read: impl FnMut(&Row<'_>) -> Result<T, Error>,
    ) -> Result<Option<T>, Error> {
        first(&mut self.prepare(statement)?, params, read)
    }

    /// Runs a query that gives one value, if any.
    pub(super) fn value<T: rusqlite::types::FromSql>(
        &self,
        statement: &str,
        params: impl Params,
    ) -> Result<Option<T>, Error> {
        self.prepare(statement)?.query_row(params, |row| row.get(0)).optional().map_err(doing("reading"))
    }

    /// Runs a statement that changes rows; gives back how many.
    pub(super) fn change(&self, statement: &str, params: impl Params) -> Result<usize, Error> {
        self.prepare(statement)?.execute(params).map_err(doing("writing"))
    }

    /// The number that the database gave to the row that was just inserted.
    pub(super) fn inserted(&self) -> i64 {
        self.connection.last_insert_rowid()
    }

    /// The definition of a version; parsed once.
    pub(super) fn definition(&self, schedule: ScheduleKey, version: i64) -> Result<Arc<Schedule>, Error> {
        if let Some(known) = self.definitions.find(schedule, version)
            && self.holds(&known)?
        {
            return Ok(known.definition);
        }
        let found = self.first(sql!("definition"), (schedule.0, version), |row| {
            Ok((column::<i64>(row, 0)?, column::<String>(row, 1)?))
        })?;
        let missing = || Error::corrupt(format!("version {version} of schedule {} is gone", schedule.0));
        let (org, text) = found.ok_or_else(missing)?;
        let known = self.parse(org, &text)?;
        self.definitions.keep(schedule, known.clone());
        Ok(known.definition)
    }

    /// Whether what a definition refers to by name is still what it was when it was read.
    fn holds(&self, known: &Known) -> Result<bool, Error> {
        known.shared.as_ref().map_or(Ok(true), |stamp| Ok(self.stamp(stamp.org)? == *stamp))
    }

    fn stamp(&self, org: i64) -> Result<Stamp, Error> {
        if let Some(known) = self.stamps.borrow().as_ref().and_then(|stamps| stamps.get(&org)) {
            return Ok(known.clone());
        }
        let text: String = self.value(sql!("shared_stamp"), [org])?.unwrap_or_default();
        let stamp = self.definitions.stamp(org, &text);
        if let Some(stamps) = self.stamps.borrow_mut().as_mut() {
            stamps.insert(org, stamp.clone());
        }
        Ok(stamp)
    }

    /// The definition of a version, or what can still be read of it and why the rest cannot.
    pub(super) fn readable(
        &self,
        schedule: ScheduleKey,
        version: i64,
    ) -> Result<(Arc<Schedule>, Option<String>), Error> {
        match self.definition(schedule, version) {
            Ok(definition) => Ok((definition, None)),
            Err(Error::Corrupt { what }) => {
                let text: Option<String> =
                    self.first(sql!("definition"), (schedule.0, version), |row| column(row, 1))?;
                Ok((Arc::new(remains(text.as_deref().unwrap_or_default(), version)), Some(what)))
            }
            Err(error) => Err(error),
        }
    }

    /// Reads a definition with what its org shares, if it needs that.
    fn parse(&self, org: i64, text: &str) -> Result<Known, Error> {
        let unreadable = |error: crate::Unreadable| Error::corrupt(error.to_string());
        let written = Definition::parse(text).map_err(unreadable)?;
        if !written.is_sharing() {
            let definition = Arc::new(written.read(&Shared::default()).map_err(unreadable)?);
            return Ok(Known { definition, shared: None });
        }
        // Asked first: what is written in between makes it another one, and the definition is read again.
        let stamp = self.stamp(org)?;
        let shared = match self.definitions.shared(&stamp) {
            Some(shared) => shared,
            None => self.definitions.share(&stamp, self.shared(org)?),
        };
        let definition = Arc::new(written.read(&shared).map_err(unreadable)?);
        Ok(Known { definition, shared: Some(stamp) })
    }

    /// The calendars and quiet hours of an org.
    fn shared(&self, org: i64) -> Result<Shared, Error> {
        let mut shared = Shared::default();
        for kind in [DocumentKind::Calendar, DocumentKind::QuietHours] {
            for document in super::documents::all(self, org, kind)? {
                // One that cannot be read is missed by those who need it, and only by them.
                let _ = shared.add(&document);
            }
        }
        Ok(shared)
    }
}

/// Runs a prepared query and reads every row.
pub(super) fn rows<T>(
    statement: &mut CachedStatement<'_>,
    params: impl Params,
    mut read: impl FnMut(&Row<'_>) -> Result<T, Error>,
) -> Result<Vec<T>, Error> {
    let mut rows = statement.query(params).map_err(doing("reading"))?;
    let mut found = Vec::new();
    while let Some(row) = rows.next().map_err(doing("reading"))? {
        found.push(read(row)?);
    }
    Ok(found)
}

/// Runs a prepared query of which the first row counts.
pub(super) fn first<T>(
    statement: &mut CachedStatement<'_>,
    params: impl Params,
    mut read: impl FnMut(&Row<'_>) -> Result<T, Error>,
) -> Result<Option<T>, Error> {
    let mut rows = statement.query(params).map_err(doing("reading"))?;
    rows.next().map_err(doing("reading"))?.map(&mut read).transpose()
}

/// Runs a prepared statement that changes rows; gives back how many.
pub(super) fn execute(statement: &mut CachedStatement<'_>, params: impl Params) -> Result<usize, Error> {
    statement.execute(params).map_err(doing("writing"))
}
