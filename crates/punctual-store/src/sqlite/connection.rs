//! How a connection is opened: durable, and patient with the others.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

use super::Access;
use crate::Error;

/// How long a statement waits for another process's transaction before it gives up.
const BUSY_WAIT: Duration = Duration::from_secs(10);

/// Page cache of a connection, in KiB.
const CACHE_KIB: i64 = 64 * 1024;

/// Prepared statements kept per connection; more than there are `.sql` files.
const STATEMENTS_MAX: usize = 64;

/// A connection for the writer thread, or for anybody who writes.
pub(super) fn writable(path: &Path, access: Access) -> Result<Connection, Error> {
    let flags =
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = open(path, flags)?;
    set(&connection, "journal_mode", "wal")?;
    // Every commit is on disk before it is answered.
    set(&connection, "synchronous", "full")?;
    set(&connection, "foreign_keys", "on")?;
    if access == Access::Serve {
        // The checkpoint thread does it, off the path of the commits.
        set(&connection, "wal_autocheckpoint", 0)?;
    }
    Ok(connection)
}

/// A connection for reading.
pub(super) fn readable(path: &Path) -> Result<Connection, Error> {
    let connection = open(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    set(&connection, "query_only", "on")?;
    Ok(connection)
}

fn open(path: &Path, flags: OpenFlags) -> Result<Connection, Error> {
    let connection = Connection::open_with_flags(path, flags).map_err(|source| Error::open(path, source))?;
    connection.busy_timeout(BUSY_WAIT).map_err(|source| Error::open(path, source))?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS_MAX);
    set(&connection, "cache_size", -CACHE_KIB)?;
    Ok(connection)
}

fn set(connection: &Connection, name: &str, value: impl rusqlite::ToSql) -> Result<(), Error> {
    connection
        .pragma_update_and_check(None, name, value, |_| Ok(()))
        .or_else(|error| match error {
            // Most pragmas answer nothing when they are set.
            rusqlite::Error::QueryReturnedNoRows => Ok(()),
            other => Err(other),
        })
        .map_err(Error::doing("setting up the connection"))
}
