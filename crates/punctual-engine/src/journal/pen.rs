//! The pen: it writes lines to where the journal is kept, from many threads, each with a plain `write` of its own.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use super::{JournalPlace, Known, MemoryJournal, push_line};
use punctual_plan::RunKey;
use punctual_store::Report;
use punctual_store::fail_point::{FailPoint, pass};

/// Writes into one journal; clones write into the same one.
#[derive(Clone, Debug)]
pub(super) struct Pen(Arc<Ink>);

#[derive(Debug)]
struct Ink {
    /// Lines are added side by side; while all of it is replaced nobody adds any.
    paper: RwLock<Paper>,
    bytes: AtomicU64,
    /// A write has failed, and may have left a part of a line.
    is_torn: AtomicBool,
}

/// What it is written on.
#[derive(Debug)]
enum Paper {
    File {
        path: PathBuf,
        file: File,
        /// Held as long as the journal is open: two processes would tear it apart.
        _lock: File,
    },
    Memory(MemoryJournal),
}

impl Pen {
    /// Takes a journal in hand, and reads what an earlier process left in it.
    pub(super) fn open(place: &JournalPlace) -> io::Result<(Self, String)> {
        let (text, paper) = match place {
            JournalPlace::File(path) => {
                let lock = lock(path)?;
                let text = match std::fs::read(path) {
                    Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
                    Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
                    Err(error) => return Err(error),
                };
                let file = OpenOptions::new().append(true).create(true).open(path)?;
                (text, Paper::File { path: path.clone(), file, _lock: lock })
            }
            JournalPlace::Memory(memory) => (memory.text(), Paper::Memory(memory.clone())),
        };
        let (bytes, is_torn) = (AtomicU64::new(text.len() as u64), AtomicBool::new(false));
        Ok((Self(Arc::new(Ink { paper: RwLock::new(paper), bytes, is_torn })), text))
    }

    /// How long it is.
    pub(super) fn bytes(&self) -> u64 {
        self.0.bytes.load(Ordering::Relaxed)
    }

    /// Adds whole lines.
    pub(super) fn add(&self, lines: &str) -> io::Result<()> {
        let Ink { paper, bytes, is_torn } = &*self.0;
        let paper = paper.read().unwrap_or_else(PoisonError::into_inner);
        // What follows a part of a line begins one of its own.
        let torn = is_torn.swap(false, Ordering::Relaxed).then(|| format!("\n{lines}"));
        let lines = torn.as_deref().unwrap_or(lines);
        let written = match &*paper {
            Paper::File { file, .. } => (&*file).write_all(lines.as_bytes()),
            Paper::Memory(memory) => {
                memory.add(lines);
                Ok(())
            }
        };
        bytes.fetch_add(lines.len() as u64, Ordering::Relaxed);
        if written.is_err() {
            is_torn.store(true, Ordering::Relaxed);
        }
        written
    }

    /// Replaces everything; a crash leaves the one or the other.
    pub(super) fn replace(&self, text: &str) -> io::Result<()> {
        let mut paper = self.0.paper.write().unwrap_or_else(PoisonError::into_inner);
        match &mut *paper {
            Paper::File { path, file, .. } => {
                let fresh = path.with_extension("rewrite");
                std::fs::write(&fresh, text)?;
                pass(FailPoint::JournalRewrite);
                std::fs::rename(&fresh, &*path)?;
                *file = OpenOptions::new().append(true).open(&*path)?;
            }
            Paper::Memory(memory) => memory.set(text.to_owned()),
        }
        self.0.bytes.store(text.len() as u64, Ordering::Relaxed);
        Ok(())
    }
}

/// What one thread notes while it launches some runs: each launch right before it happens, with the ends since the last.
#[derive(Debug)]
pub(crate) struct Slip {
    pen: Pen,
    /// Ends that are not written yet.
    ends: String,
}

impl Slip {
    pub(super) fn new(pen: Pen, ends: String) -> Self {
        Self { pen, ends }
    }

    /// One on a disk on which there is never any room.
    #[cfg(test)]
    pub(crate) fn full() -> Self {
        let open = || OpenOptions::new().append(true).open("/dev/full").unwrap();
        let paper = Paper::File { path: "/dev/full".into(), file: open(), _lock: open() };
        let (bytes, is_torn) = (AtomicU64::new(0), AtomicBool::new(false));
        Self::new(Pen(Arc::new(Ink { paper: RwLock::new(paper), bytes, is_torn })), String::new())
    }

    /// Writes that an attempt is about to be launched.
    pub(crate) fn launch(&mut self, attempt: (RunKey, u32)) -> io::Result<()> {
        let ends = self.ends.len();
        push_line(&mut self.ends, attempt, &Known::Launched);
        let written = self.pen.add(&self.ends);
        // If it cannot be written it does not happen; the ends before it are written with the next one.
        self.ends.truncate(if written.is_ok() { 0 } else { ends });
        written
    }

    /// Notes an end, to be written with the next launch or when the slip is filed.
    pub(crate) fn end(&mut self, report: &Report) {
        let Report { run, attempt, outcome, at, .. } = report;
        push_line(&mut self.ends, (*run, *attempt), &Known::Ended { outcome: outcome.clone(), at: *at });
    }

    /// Writes what is left to be written; gives back what cannot be.
    pub(super) fn file(self) -> String {
        let is_written = self.ends.is_empty() || self.pen.add(&self.ends).is_ok();
        if is_written { String::new() } else { self.ends }
    }
}

/// Takes the lock beside a journal; it ends with the process, however that ends.
fn lock(path: &Path) -> io::Result<File> {
    let mut name = path.as_os_str().to_owned();
    name.push(".lock");
    let lock = OpenOptions::new().create(true).truncate(false).write(true).open(name)?;
    match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(lock),
        Err(Errno::WOULDBLOCK) => Err(io::Error::other("another process serves with it")),
        Err(error) => Err(error.into()),
    }
}
