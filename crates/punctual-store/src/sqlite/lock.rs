//! One process serves a file: a lock of the operating system that ends with the process.
//!
//! The lock is on a file beside the database, because closing any handle on the database itself would
//! drop the locks that SQLite holds on it.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::Error;

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
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(in_use(database, &mut file)),
            Err(TryLockError::Error(source)) => return Err(Error::open(&path, source)),
        }
        write_pid(&mut file).map_err(|source| Error::open(&path, source))?;
        Ok(Self { _file: file })
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
