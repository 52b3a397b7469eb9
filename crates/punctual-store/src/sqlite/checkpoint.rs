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

/// From this size on the log is moved, without disturbing anybody.
const LOG_BYTES_SOFT: u64 = 4 << 20;

/// From this size on the writer waits until the log is empty again.
const LOG_BYTES_HARD: u64 = 256 << 20;

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
        let log = PathBuf::from(log);
        let (stop, stopped) = channel();
        let thread = std::thread::spawn(move || {
            while let Err(RecvTimeoutError::Timeout) = stopped.recv_timeout(LOOK_EVERY) {
                checkpoint(&connection, &log);
            }
        });
        Ok(Self { stop: Some(stop), thread: Some(thread) })
    }
}

fn checkpoint(connection: &Connection, log: &Path) {
    let how = match std::fs::metadata(log).map_or(0, |meta| meta.len()) {
        bytes if bytes >= LOG_BYTES_HARD => "TRUNCATE",
        bytes if bytes >= LOG_BYTES_SOFT => "PASSIVE",
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
