//! One process serves a file: a lock of the operating system that ends with the process.
//!
//! The lock is on a file beside the database, because closing any handle on the database itself would
//! drop the locks that SQLite holds on it.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use punctual_plan::rule::{Rule, holds};

use crate::Error;

/// A server that was killed while it started a program leaves the lock with the half-started one for an instant;
/// whoever holds it longer than this really serves.
const WAIT: Duration = Duration::from_millis(500);

/// How often the lock is tried meanwhile.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// Held while a process serves.
pub(super) struct ServeLock {
    _file: File,
}

impl ServeLock {
    /// Takes the lock, or says who has it.
    pub(super) fn take(database: &Path) -> Result<Self, Error> {
        let path = beside(database, "lock");
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(|source| Error::open(&path, source))?;
        match wait_for(&file) {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) if !holds(Rule::OneServes) => {}
            Err(TryLockError::WouldBlock) => return Err(in_use(database, &mut file)),
            Err(TryLockError::Error(source)) => return Err(Error::open(&path, source)),
        }
        write_pid(&mut file).map_err(|source| Error::open(&path, source))?;
        Ok(Self { _file: file })
    }
}

/// Whether a process serves the database now.
pub(super) fn is_held(database: &Path) -> bool {
    let file = OpenOptions::new().write(true).open(beside(database, "lock"));
    file.is_ok_and(|file| matches!(file.try_lock(), Err(TryLockError::WouldBlock)))
}

/// Takes the lock within [`WAIT`].
fn wait_for(file: &File) -> Result<(), TryLockError> {
    let begun = Instant::now();
    loop {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) if begun.elapsed() < WAIT => std::thread::sleep(LOOK_EVERY),
            decided => return decided,
        }
    }
}

/// The file beside the database with the given ending.
fn beside(database: &Path, ending: &str) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push(".");
    name.push(ending);
    name.into()
}

fn in_use(database: &Path, file: &mut File) -> Error {
    let mut text = String::new();
    let pid = file.read_to_string(&mut text).ok().and_then(|_| text.trim().parse().ok());
    Error::InUse { path: database.to_owned(), pid }
}

fn write_pid(file: &mut File) -> std::io::Result<()> {
    file.set_len(0)?;
    file.seek(SeekFrom::Start(0))?;
    writeln!(file, "{}", std::process::id())
}
