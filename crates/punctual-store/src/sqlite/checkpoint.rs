//! The thread that moves the write-ahead log into the database, off the path of the commits.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use rusqlite::Connection;

use super::{Access, connection};
use crate::Error;

/// How often the size of the log is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// From a share of the database's size on the log is moved, without disturbing anybody: a page that is written again
/// and again meanwhile is moved once. Never before the lower of these sizes, always from the upper one on.
const LOG_BYTES_SOFT: (u64, u64) = (4 << 20, 64 << 20);

/// That share, as a divisor.
const LOG_SHARE: u64 = 8;

/// From this size on the writer waits until the log is empty again.
const LOG_BYTES_HARD: u64 = 384 << 20;

/// From which sizes on the log is moved.
#[derive(Clone, Copy)]
struct Sizes {
    soft: u64,
    hard: u64,
}

impl Sizes {
    /// Those that fit a database as large as it is now.
    fn for_file(database: &Path) -> Self {
        let (least, most) = LOG_BYTES_SOFT;
        Self { soft: (size(database) / LOG_SHARE).clamp(least, most), hard: LOG_BYTES_HARD }
    }
}

fn size(file: &Path) -> u64 {
    std::fs::metadata(file).map_or(0, |meta| meta.len())
}

/// A handle on the thread; it ends when the handle is dropped.
pub(super) struct Checkpointer {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Checkpointer {
    /// Starts the thread on a connection of its own.
    pub(super) fn start(database: &Path) -> Result<Self, Error> {
        let connection = connection::writable(database, Access::Serve)?;
        let mut log = database.as_os_str().to_owned();
        log.push("-wal");
        let (database, log) = (database.to_owned(), PathBuf::from(log));
        let (stop, stopped) = channel();
        let thread = std::thread::spawn(move || {
            while let Err(RecvTimeoutError::Timeout) = stopped.recv_timeout(LOOK_EVERY) {
                checkpoint(&connection, &log, Sizes::for_file(&database));
            }
        });
        Ok(Self { stop: Some(stop), thread: Some(thread) })
    }
}

fn checkpoint(connection: &Connection, log: &Path, sizes: Sizes) {
    let how = match size(log) {
        bytes if bytes >= sizes.hard => "TRUNCATE",
        bytes if bytes >= sizes.soft => "PASSIVE",
        _ => return,
    };
    // A checkpoint that finds the file busy is repeated at the next look.
    let _ = connection.pragma(None, "wal_checkpoint", how, |_| Ok(()));
}

impl Drop for Checkpointer {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            // A panic of the thread has already been printed where it happened.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_beyond_its_bound_is_emptied() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger.db");
        let log = folder.path().join("ledger.db-wal");
        let writing = connection::writable(&path, Access::Serve).unwrap();
        let moving = connection::writable(&path, Access::Serve).unwrap();
        writing.execute_batch("CREATE TABLE t (x); INSERT INTO t VALUES (zeroblob(1000000))").unwrap();
        let bytes = || std::fs::metadata(&log).unwrap().len();
        assert!(bytes() > 1_000_000);
        checkpoint(&moving, &log, Sizes { soft: 10, hard: 100_000_000 });
        assert!(bytes() > 1_000_000, "moved, but not yet given back");
        checkpoint(&moving, &log, Sizes { soft: 10, hard: 1_000_000 });
        assert_eq!(bytes(), 0);
    }
}
