//! A SQLite file set up for the ceiling: durable as ours, with a checkpoint thread as ours.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use rusqlite::Connection;

use crate::Failure;

/// Page cache of the ceiling's connection, in KiB: the best of the storage study.
const CACHE_KIB: i64 = 256 * 1024;

/// The checkpoint thread of the storage study; the store's own is the same for large databases.
const LOOK_EVERY: Duration = Duration::from_millis(500);
const LOG_BYTES_SOFT: u64 = 64 << 20;
const LOG_BYTES_HARD: u64 = 384 << 20;

/// Opens a file for writing.
pub(crate) fn open(path: &Path) -> Result<Connection, Failure> {
    let connection = Connection::open(path)?;
    connection.busy_timeout(Duration::from_secs(60))?;
    connection
        .execute_batch("PRAGMA journal_mode = wal; PRAGMA synchronous = full; PRAGMA temp_store = memory")?;
    connection.execute_batch("PRAGMA wal_autocheckpoint = 0")?;
    connection.pragma_update(None, "cache_size", -CACHE_KIB)?;
    connection.set_prepared_statement_cache_capacity(64);
    Ok(connection)
}

/// Moves the whole log into the database: what was left to do in the background is charged as well.
pub(crate) fn checkpoint(path: &Path) -> Result<(), Failure> {
    let connection = Connection::open(path)?;
    connection.busy_timeout(Duration::from_secs(60))?;
    Ok(connection.pragma(None, "wal_checkpoint", "TRUNCATE", |_| Ok(()))?)
}

/// A thread that moves the log while it grows; it ends when the handle is dropped.
pub(crate) struct Checkpointer {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Checkpointer {
    pub(crate) fn start(database: &Path) -> Result<Self, Failure> {
        let connection = open(database)?;
        let log = PathBuf::from(format!("{}-wal", database.display()));
        let (stop, stopped) = channel();
        let thread = std::thread::spawn(move || {
            while let Err(RecvTimeoutError::Timeout) = stopped.recv_timeout(LOOK_EVERY) {
                let how = match std::fs::metadata(&log).map_or(0, |meta| meta.len()) {
                    bytes if bytes >= LOG_BYTES_HARD => "TRUNCATE",
                    bytes if bytes >= LOG_BYTES_SOFT => "PASSIVE",
                    _ => continue,
                };
                // One that finds the file busy is repeated at the next look.
                let _ = connection.pragma(None, "wal_checkpoint", how, |_| Ok(()));
            }
        });
        Ok(Self { stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for Checkpointer {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
