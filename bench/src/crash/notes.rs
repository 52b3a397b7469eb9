//! What the closure leaves behind: a line for each start, by one plain `write` to the end of a file, which outlives a killed
//! process to the byte.
//!
//! All lines are of one length, so that their number is known without reading them.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use punctual_engine::Context;

use crate::Failure;

/// Bytes of a line: the run, the attempt, the microsecond of the start.
const LINE: usize = 43;

/// The writer's side.
pub(super) struct Notes(File);

impl Notes {
    pub(super) fn open(path: &Path) -> Result<Self, Failure> {
        Ok(Self(OpenOptions::new().append(true).create(true).open(path)?))
    }

    pub(super) fn write(&self, context: &Context) -> std::io::Result<()> {
        let at = Timestamp::now().as_microsecond();
        let line = format!("{:>20} {:>3} {at:>17}\n", context.run_id.0, context.attempt);
        (&self.0).write_all(line.as_bytes())
    }
}

/// The reader's side.
pub(super) struct Reader(PathBuf);

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

    /// How many starts there are.
    pub(super) fn count(&self) -> usize {
        std::fs::metadata(&self.0).map_or(0, |meta| meta.len() as usize / LINE)
    }

    pub(super) fn starts(&self) -> Result<Vec<Start>, Failure> {
        // Nobody has made it before the first process opens it.
        let text = if self.0.exists() { std::fs::read_to_string(&self.0)? } else { String::new() };
        text.lines().map(|line| read(line).ok_or_else(|| format!("`{line}` is no start").into())).collect()
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
}
