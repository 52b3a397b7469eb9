//! The pen: it adds lines to where the journal is kept, from many threads at once.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use jiff::Timestamp;
use punctual_plan::RunKey;
use punctual_store::Report;
use punctual_store::fail_point::{FailPoint, pass};
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use super::line::{push_end, push_launch};
use super::slate::{Block, Slate};
use super::{JournalPlace, LAUNCH_BYTES, MemoryJournal};
use crate::hand::Hand;

/// A file has room for at least so much more when it is begun.
const ROOM_MIN: usize = 1 << 18;

/// Writes into one journal; clones write into the same one.
#[derive(Clone, Debug)]
pub(super) struct Pen(Arc<RwLock<Paper>>);

/// What it is written on. Lines are added side by side; while it gets more room or is replaced nobody adds any.
#[derive(Debug)]
enum Paper {
    File {
        path: PathBuf,
        file: File,
        slate: Arc<Slate>,
        /// Held as long as the journal is open: two processes would tear it apart.
        _lock: File,
    },
    Memory(MemoryJournal),
    /// One on which there is never any room.
    #[cfg(test)]
    Full,
}

impl Pen {
    /// Takes a journal in hand, and reads what an earlier process left in it.
    pub(super) fn open(place: &JournalPlace) -> io::Result<(Self, String)> {
        let (text, paper) = match place {
            JournalPlace::File(path) => {
                let lock = lock(path)?;
                let mut options = OpenOptions::new();
                let mut file = options.read(true).write(true).create(true).truncate(false).open(path)?;
                let mut bytes = Vec::new();
                io::Read::read_to_end(&mut file, &mut bytes)?;
                // Room that was not used, and behind it nothing.
                let used = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
                let left = bytes.len() - used;
                bytes.truncate(used);
                // What there is costs nothing, on a full disk too.
                let slate = Slate::over(&mut file, used, if left > ROOM_MIN / 2 { left } else { ROOM_MIN })?;
                if bytes.last().is_some_and(|last| *last != b'\n') {
                    // What follows a part of a line begins one of its own.
                    slate.add(b"\n");
                }
                let (text, slate) = (String::from_utf8_lossy(&bytes).into_owned(), Arc::new(slate));
                (text, Paper::File { path: path.clone(), file, slate, _lock: lock })
            }
            JournalPlace::Memory(memory) => (memory.text(), Paper::Memory(memory.clone())),
        };
        Ok((Self(Arc::new(RwLock::new(paper))), text))
    }

    /// How long it is.
    pub(super) fn bytes(&self) -> usize {
        match &*self.0.read().unwrap_or_else(PoisonError::into_inner) {
            Paper::File { slate, .. } => slate.used(),
            Paper::Memory(memory) => memory.length(),
            #[cfg(test)]
            Paper::Full => 0,
        }
    }

    /// Adds whole lines, all of them or none; gives where, if that can be marked later on.
    pub(super) fn add(&self, lines: &str) -> io::Result<Mark> {
        match &*self.0.read().unwrap_or_else(PoisonError::into_inner) {
            Paper::File { slate, .. } => {
                if let Some(place) = slate.add(lines.as_bytes()) {
                    return Ok(Mark::at(slate, last_of(place, lines)));
                }
            }
            Paper::Memory(memory) => {
                memory.add(lines);
                return Ok(Mark::default());
            }
            #[cfg(test)]
            Paper::Full => return Err(io::ErrorKind::StorageFull.into()),
        }
        self.add_with_room(lines)
    }

    /// A part for one thread alone, if there is room.
    fn block(&self, bytes: usize) -> Option<Block> {
        match &*self.0.read().unwrap_or_else(PoisonError::into_inner) {
            Paper::File { slate, .. } => slate.block(bytes),
            _ => None,
        }
    }

    /// Makes the file twice as long, if nobody else has meanwhile, and adds to it.
    fn add_with_room(&self, lines: &str) -> io::Result<Mark> {
        let mut paper = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let Paper::File { file, slate, .. } = &mut *paper else { return Ok(Mark::default()) };
        loop {
            if let Some(place) = slate.add(lines.as_bytes()) {
                return Ok(Mark::at(slate, last_of(place, lines)));
            }
            let used = slate.used();
            *slate = Arc::new(Slate::over(file, used, used.max(lines.len()).max(ROOM_MIN))?);
        }
    }

    /// Makes room for so many bytes more, with everything that can be done before they come.
    pub(super) fn make_room(&self, bytes: usize) -> io::Result<()> {
        let mut paper = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let Paper::File { file, slate, .. } = &mut *paper else { return Ok(()) };
        if slate.left() < bytes {
            let used = slate.used();
            *slate = Arc::new(Slate::over(file, used, bytes.max(ROOM_MIN))?);
        }
        slate.warm();
        Ok(())
    }

    /// Replaces everything; a crash leaves the one or the other.
    pub(super) fn replace(&self, text: &str) -> io::Result<()> {
        let mut paper = self.0.write().unwrap_or_else(PoisonError::into_inner);
        match &mut *paper {
            Paper::File { path, file, slate, .. } => {
                let fresh = path.with_extension("rewrite");
                let mut options = OpenOptions::new();
                let mut new = options.read(true).write(true).create(true).truncate(true).open(&fresh)?;
                new.write_all(text.as_bytes())?;
                let new_slate = Slate::over(&mut new, text.len(), ROOM_MIN)?;
                pass(FailPoint::JournalRewrite);
                std::fs::rename(&fresh, &*path)?;
                slate.leave();
                (*file, *slate) = (new, Arc::new(new_slate));
            }
            Paper::Memory(memory) => memory.set(text.to_owned()),
            #[cfg(test)]
            Paper::Full => return Err(io::ErrorKind::StorageFull.into()),
        }
        Ok(())
    }
}

/// The place of a launch's stroke in the journal: a cross there says that it ended well. That is the least that can be done about an
/// end, and is done before everything else; when the end was is said by a line of its own, or is the time of the launch.
#[derive(Clone, Debug, Default)]
pub(crate) struct Mark(Option<(Hand<Slate>, usize)>);

impl Mark {
    fn at(slate: &Arc<Slate>, place: usize) -> Self {
        Self(Some((Hand::of(slate), place)))
    }

    pub(crate) fn succeeded(&self) {
        if let Some((slate, place)) = &self.0 {
            slate.put(*place, b'+');
        }
    }
}

/// Where the last character before the end of what was added is: of a launch, its stroke.
fn last_of(place: usize, lines: &str) -> usize {
    (place + lines.len()).saturating_sub(2)
}

/// What one thread notes while it launches some runs: each launch right before it happens, each end right after it.
#[derive(Debug)]
pub(crate) struct Slip {
    pen: Pen,
    /// How often the journal had been rewritten when it was begun.
    rewrites: u64,
    line: String,
    /// Where it is written, as long as there is room.
    block: Option<Block>,
    /// Ends that could not be written.
    unwritten: String,
}

impl Slip {
    /// One for so many launches.
    pub(super) fn new(pen: Pen, rewrites: u64, launches: usize) -> Self {
        let block = if launches > 1 { pen.block(launches.saturating_mul(LAUNCH_BYTES)) } else { None };
        Self { pen, rewrites, line: String::new(), block, unwritten: String::new() }
    }

    /// One on which there is never any room.
    #[cfg(test)]
    pub(crate) fn full() -> Self {
        Self::new(Pen(Arc::new(RwLock::new(Paper::Full))), 0, 1)
    }

    /// Writes that an attempt is about to be launched. If it cannot be written it does not happen.
    pub(crate) fn launch(&mut self, attempt: (RunKey, u32), at: Timestamp) -> io::Result<Mark> {
        self.line.clear();
        push_launch(&mut self.line, attempt, Some(at));
        self.add()
    }

    fn add(&mut self) -> io::Result<Mark> {
        if let Some(block) = &mut self.block
            && let Some(place) = block.add(self.line.as_bytes())
        {
            return Ok(Mark(Some((block.slate().clone(), last_of(place, &self.line)))));
        }
        self.pen.add(&self.line)
    }

    /// Writes how an attempt ended.
    pub(crate) fn end(&mut self, report: &Report) {
        self.line.clear();
        push_end(&mut self.line, report);
        if self.add().is_err() {
            self.unwritten.push_str(&self.line);
        }
    }

    /// How often the journal had been rewritten when it was begun.
    pub(super) fn rewrites(&self) -> u64 {
        self.rewrites
    }

    /// Gives back what could not be written.
    pub(super) fn file(self) -> String {
        self.unwritten
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
