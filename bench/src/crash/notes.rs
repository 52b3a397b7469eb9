//! What the closure leaves behind: a line for each start, on a mapped file, which outlives a killed process to the byte.
//!
//! A line is a copy and no call into the system, so that a start is noted at one instant and not somewhere within a call: what
//! is killed on the way out of a call has done it and has not come back from it, and is in doubt for good. All lines are of
//! one length and in the order in which they were begun; one that a killed thread did not finish is passed over.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use punctual_engine::{Context, Slate};

use crate::Failure;

/// Bytes of a line: the run, the attempt, the microsecond of the start.
const LINE: usize = 43;

/// Lines that one process has room for.
const LINES_MAX: usize = 250_000;

/// The writer's side.
pub(super) struct Notes(Slate);

impl Notes {
    pub(super) fn open(path: &Path) -> Result<Self, Failure> {
        let mut file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        let before = lines(&std::fs::read(path)?);
        Ok(Self(Slate::over(&mut file, before * LINE, LINES_MAX * LINE)?))
    }

    pub(super) fn write(&self, context: &Context) -> io::Result<()> {
        let at = Timestamp::now().as_microsecond();
        let line = format!("{:>20} {:>3} {at:>17}\n", context.run_id.0, context.attempt);
        self.0.add(line.as_bytes()).map(|_| ()).ok_or(io::ErrorKind::StorageFull.into())
    }
}

/// The reader's side.
pub(super) struct Reader(PathBuf);

/// How many lines were begun at most: those up to the last that was finished.
fn lines(bytes: &[u8]) -> usize {
    bytes.chunks(LINE).rposition(is_finished).map_or(0, |last| last + 1)
}

/// Whether all of a line was written.
fn is_finished(line: &[u8]) -> bool {
    line.last() == Some(&b'\n')
}

/// A start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Start {
    pub(super) run: i64,
    pub(super) attempt: u32,
    /// In microseconds.
    pub(super) at: i64,
}

impl Reader {
    pub(super) fn of(path: PathBuf) -> Self {
        Self(path)
    }

    /// Whether there are so many starts, as far as a look at one line can tell.
    pub(super) fn has(&self, count: usize) -> bool {
        let mut line = [0; LINE];
        let place = count.saturating_sub(1) * LINE;
        // Nobody has made it before the first process opens it.
        let read = File::open(&self.0).and_then(|file| file.read_exact_at(&mut line, place as u64));
        read.is_ok() && is_finished(&line)
    }

    pub(super) fn starts(&self) -> Result<Vec<Start>, Failure> {
        let bytes = if self.0.exists() { std::fs::read(&self.0)? } else { Vec::new() };
        let finished = bytes.chunks(LINE).filter(|line| is_finished(line));
        finished.map(|line| read(std::str::from_utf8(line)?).ok_or_else(|| "no start".into())).collect()
    }
}

fn read(line: &str) -> Option<Start> {
    let mut words = line.split_whitespace();
    let run = words.next()?.parse().ok()?;
    let attempt = words.next()?.parse().ok()?;
    let at = words.next()?.parse().ok()?;
    Some(Start { run, attempt, at })
}

/// What is true of some starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    /// Runs that were started.
    pub(super) runs: usize,
    /// Of them, those of which one attempt was started more than once.
    pub(super) doubled: usize,
    /// Of them, those that were started again as another attempt.
    pub(super) repeated: usize,
}

/// Counts starts by run and attempt.
pub(super) fn tally(starts: &[Start]) -> Tally {
    let mut runs: BTreeMap<i64, BTreeMap<u32, usize>> = BTreeMap::new();
    for start in starts {
        *runs.entry(start.run).or_default().entry(start.attempt).or_default() += 1;
    }
    Tally {
        runs: runs.len(),
        doubled: runs.values().filter(|attempts| attempts.values().any(|times| *times > 1)).count(),
        repeated: runs.values().filter(|attempts| attempts.len() > 1).count(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_attempt_that_started_twice_is_told_from_another_attempt() {
        let start = |run, attempt| Start { run, attempt, at: 0 };
        let starts = [start(1, 1), start(2, 1), start(2, 2), start(3, 1), start(3, 1)];
        assert_eq!(tally(&starts), Tally { runs: 3, doubled: 1, repeated: 1 });
    }

    #[test]
    fn a_line_is_read_as_it_was_written() {
        let line = format!("{:>20} {:>3} {:>17}", 7, 2, 1_790_000_000_000_000_i64);
        assert_eq!(line.len() + 1, LINE);
        assert_eq!(read(&line), Some(Start { run: 7, attempt: 2, at: 1_790_000_000_000_000 }));
        assert_eq!(read("7"), None);
    }

    #[test]
    fn a_line_that_was_not_finished_is_passed_over() -> Result<(), Failure> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("notes");
        let line = |run: i64| format!("{run:>20} {:>3} {:>17}\n", 1, 5).into_bytes();
        let unfinished = [b"     ".to_vec(), vec![0; LINE - 5]].concat();
        std::fs::write(&path, [line(1), unfinished, line(2), vec![0; 3 * LINE]].concat())?;
        assert_eq!(lines(&std::fs::read(&path)?), 3);
        let reader = Reader::of(path.clone());
        assert_eq!(reader.starts()?.iter().map(|start| start.run).collect::<Vec<i64>>(), [1, 2]);
        assert!(reader.has(3) && !reader.has(4));
        assert_eq!(Notes::open(&path)?.0.used(), 3 * LINE);
        Ok(())
    }
}
