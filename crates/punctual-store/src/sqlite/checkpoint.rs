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
/// and again meanwhile is moved once. Never before the lower of these sizes, always from the upper one on, which is so little
/// that commits do not wait for long behind what is moved.
const LOG_BYTES_SOFT: (u64, u64) = (4 << 20, 48 << 20);

/// That share, as a divisor.
const LOG_SHARE: u64 = 4;

/// From this size on the log begins anew: the writer waits for what is left of it.
const LOG_BYTES_HARD: u64 = 768 << 20;

/// How often what is left is moved beforehand, while others write: what they write meanwhile is less each time, and the
/// writer waits only for the last of it.
const PASSES_MAX: u32 = 4;

/// As little as this is worth waiting for.
const LEFT_BYTES_MAX: u64 = 16 << 20;

/// A file of which the log fills only this share, as a divisor, at so many looks is given back. Until then it is written
/// over from its beginning, which costs much less than to let it grow again.
const IDLE_SHARE: u64 = 4;
const IDLE_LOOKS: u32 = 20;

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

/// How far the log reaches, and how much of it is not in the database yet, in bytes.
#[derive(Clone, Copy, Default)]
struct Log {
    whole: u64,
    left: u64,
}

/// A handle on the thread; it ends when the handle is dropped.
pub(super) struct Checkpointer {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Checkpointer {
    /// Starts the thread on a connection of its own.
    pub(super) fn start(database: &Path) -> Result<Self, Error> {
        let mut mover = Mover::open(database)?;
        let (stop, stopped) = channel();
        let thread = std::thread::spawn(move || {
            while let Err(RecvTimeoutError::Timeout) = stopped.recv_timeout(LOOK_EVERY) {
                mover.look(Sizes::for_file(&mover.database));
            }
        });
        Ok(Self { stop: Some(stop), thread: Some(thread) })
    }
}

/// What moves the log.
struct Mover {
    connection: Connection,
    database: PathBuf,
    log: PathBuf,
    page_bytes: u64,
    /// Looks since the log filled its file.
    idle: u32,
}

impl Mover {
    fn open(database: &Path) -> Result<Self, Error> {
        let connection = connection::writable(database, Access::Serve)?;
        let page_bytes: u64 = connection
            .pragma_query_value(None, "page_size", |row| row.get(0))
            .map_err(connection::doing("setting up the connection"))?;
        let mut log = database.as_os_str().to_owned();
        log.push("-wal");
        Ok(Self { connection, database: database.to_owned(), log: PathBuf::from(log), page_bytes, idle: 0 })
    }

    /// Moves what is to be moved. What finds the file busy is repeated at the next look.
    fn look(&mut self, sizes: Sizes) {
        let mut log = self.checkpoint("NOOP");
        let file = size(&self.log);
        let is_idle = file >= sizes.soft && log.whole < file / IDLE_SHARE;
        self.idle = if is_idle { self.idle + 1 } else { 0 };
        if log.whole >= sizes.hard {
            for _ in 0..PASSES_MAX {
                if log.left <= LEFT_BYTES_MAX {
                    break;
                }
                log = self.checkpoint("PASSIVE");
            }
            self.checkpoint("RESTART");
        } else if log.left >= sizes.soft {
            self.checkpoint("PASSIVE");
        } else if self.idle >= IDLE_LOOKS {
            self.checkpoint("PASSIVE");
            self.checkpoint("TRUNCATE");
        }
    }

    /// Runs a checkpoint, or only asks; tells how the log stood at its end.
    fn checkpoint(&self, how: &str) -> Log {
        let mut log = Log::default();
        let read = self.connection.pragma(None, "wal_checkpoint", how, |row| {
            let (whole, moved): (i64, i64) = (row.get(1)?, row.get(2)?);
            let bytes = |pages: i64| u64::try_from(pages).unwrap_or_default() * self.page_bytes;
            log = Log { whole: bytes(whole), left: bytes(whole - moved) };
            Ok(())
        });
        // It is asked again at the next look.
        read.map(|()| log).unwrap_or_default()
    }
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
    fn a_log_beyond_its_bound_begins_anew_and_is_given_back_when_it_is_idle() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger.db");
        let log = folder.path().join("ledger.db-wal");
        let writing = connection::writable(&path, Access::Serve).unwrap();
        let mut mover = Mover::open(&path).unwrap();
        let fill = || writing.execute_batch("INSERT INTO t VALUES (zeroblob(1000000))").unwrap();
        writing.execute_batch("CREATE TABLE t (x)").unwrap();
        fill();
        let (small, large) = (Sizes { soft: 10, hard: 1_000_000 }, Sizes { soft: 10, hard: 100_000_000 });
        assert!(mover.checkpoint("NOOP").left > 1_000_000);
        mover.look(large);
        assert_eq!(mover.checkpoint("NOOP").left, 0, "moved");
        mover.look(small);
        fill();
        let begun_anew = mover.checkpoint("NOOP").whole;
        assert!((1_000_000..1_200_000).contains(&begun_anew), "{begun_anew}: not behind what was there");
        assert!(size(&log) < 1_300_000, "it was written over");
        mover.look(large);
        writing.execute_batch("INSERT INTO t VALUES (1)").unwrap();
        for _ in 0..IDLE_LOOKS {
            assert!(size(&log) > 1_000_000, "it is not given back too soon");
            mover.look(Sizes { soft: 500_000, ..large });
        }
        assert_eq!(size(&log), 0, "nobody needs it, and it is given back");
    }
}
