//! The launch journal: what was launched, written with a plain `write` before the launch.
//!
//! It survives `kill -9` of the process, which is when it is needed: an admitted run that it lacks was
//! never launched and is launched on restart; one that it has is settled with the end it noted, or is in
//! doubt and not started a second time. It does not survive a power cut; there the ledger alone decides.
//!
//! One line per event: `L RUN ATTEMPT` before a launch, `E RUN ATTEMPT AT OUTCOME` after its end.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use punctual_plan::{Outcome, RunKey};

/// A longer journal is rewritten with the runs that are still in flight.
const BYTES_MAX: u64 = 1 << 20;

/// What the journal knows of a run in flight.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Known {
    /// It was launched, or was about to be.
    Launched,
    /// It ended.
    Ended {
        /// How.
        outcome: Outcome,
        /// When.
        at: Timestamp,
    },
}

/// The journal of a serving process.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
    bytes: u64,
    open: HashMap<(RunKey, u32), Known>,
}

impl Journal {
    /// Opens the journal and reads what an earlier process left in it.
    ///
    /// # Errors
    /// When the file cannot be read or created.
    pub fn open(path: &Path) -> io::Result<Self> {
        let text = match std::fs::read(path) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(error),
        };
        let file = OpenOptions::new().append(true).create(true).open(path)?;
        Ok(Self { path: path.to_owned(), file, bytes: text.len() as u64, open: read(&text) })
    }

    /// What is known of an attempt.
    pub(crate) fn known(&self, run: RunKey, attempt: u32) -> Option<&Known> {
        self.open.get(&(run, attempt))
    }

    /// Notes that an attempt is about to be launched.
    pub(crate) fn launching(&mut self, run: RunKey, attempt: u32) -> io::Result<()> {
        self.append(&line((run, attempt), &Known::Launched))?;
        self.open.insert((run, attempt), Known::Launched);
        Ok(())
    }

    /// Notes how an attempt ended.
    pub(crate) fn ended(
        &mut self,
        run: RunKey,
        attempt: u32,
        (outcome, at): (Outcome, Timestamp),
    ) -> io::Result<()> {
        let known = Known::Ended { outcome, at };
        self.append(&line((run, attempt), &known))?;
        self.open.insert((run, attempt), known);
        Ok(())
    }

    /// Forgets attempts whose end is in the ledger.
    pub(crate) fn settled(&mut self, attempts: &[(RunKey, u32)]) -> io::Result<()> {
        for attempt in attempts {
            self.open.remove(attempt);
        }
        if self.bytes > BYTES_MAX { self.rewrite() } else { Ok(()) }
    }

    /// Forgets everything: the ledger has the end of all that was launched, or knows that it was not.
    pub(crate) fn clear(&mut self) -> io::Result<()> {
        self.open.clear();
        self.rewrite()
    }

    fn append(&mut self, line: &str) -> io::Result<()> {
        self.file.write_all(line.as_bytes())?;
        self.bytes += line.len() as u64;
        Ok(())
    }

    /// Replaces the file by one that holds only what is in flight; a crash leaves the one or the other.
    fn rewrite(&mut self) -> io::Result<()> {
        let text: String = self.open.iter().map(|(run, known)| line(*run, known)).collect();
        let fresh = self.path.with_extension("rewrite");
        std::fs::write(&fresh, &text)?;
        std::fs::rename(&fresh, &self.path)?;
        self.file = OpenOptions::new().append(true).open(&self.path)?;
        self.bytes = text.len() as u64;
        Ok(())
    }
}

fn line((run, attempt): (RunKey, u32), known: &Known) -> String {
    match known {
        Known::Launched => format!("L {} {attempt}\n", run.0),
        Known::Ended { outcome, at } => {
            format!("E {} {attempt} {} {}\n", run.0, at.as_microsecond(), outcome_text(outcome))
        }
    }
}

fn outcome_text(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Succeeded => "succeeded".to_owned(),
        Outcome::Exited { code } => format!("exited {code}"),
        Outcome::Signalled { signal } => format!("signalled {signal}"),
        Outcome::Reported { error } => format!("reported {}", one_line(error)),
        Outcome::TimedOut => "timed_out".to_owned(),
        Outcome::Lost => "lost".to_owned(),
        Outcome::LaunchFailed { error } => format!("launch_failed {}", one_line(error)),
        Outcome::Cancelled { by } => format!("cancelled {}", one_line(by)),
        Outcome::InDoubt => "in_doubt".to_owned(),
    }
}

fn one_line(text: &str) -> String {
    text.replace(['\n', '\r'], " ")
}

/// Reads whole lines; the last one may have been cut off by the crash and then says nothing.
fn read(text: &str) -> HashMap<(RunKey, u32), Known> {
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    whole.lines().filter_map(read_line).collect()
}

fn read_line(line: &str) -> Option<((RunKey, u32), Known)> {
    let mut words = line.splitn(4, ' ');
    let (kind, run, attempt) = (words.next()?, words.next()?, words.next()?);
    let attempt = (RunKey(run.parse().ok()?), attempt.parse().ok()?);
    if kind == "L" {
        return Some((attempt, Known::Launched));
    }
    let (at, outcome) = words.next()?.split_once(' ')?;
    let at = Timestamp::from_microsecond(at.parse().ok()?).ok()?;
    Some((attempt, Known::Ended { outcome: read_outcome(outcome)?, at }))
}

fn read_outcome(text: &str) -> Option<Outcome> {
    let (kind, value) = text.split_once(' ').unwrap_or((text, ""));
    Some(match kind {
        "succeeded" => Outcome::Succeeded,
        "exited" => Outcome::Exited { code: value.parse().ok()? },
        "signalled" => Outcome::Signalled { signal: value.parse().ok()? },
        "reported" => Outcome::Reported { error: value.to_owned() },
        "timed_out" => Outcome::TimedOut,
        "lost" => Outcome::Lost,
        "cancelled" => Outcome::Cancelled { by: value.to_owned() },
        "launch_failed" => Outcome::LaunchFailed { error: value.to_owned() },
        "in_doubt" => Outcome::InDoubt,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    #[test]
    fn a_reopened_journal_knows_what_was_launched_and_how_it_ended() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("launches");
        let mut journal = Journal::open(&path).unwrap();
        let outcomes = [
            Outcome::Succeeded,
            Outcome::Exited { code: 3 },
            Outcome::Signalled { signal: 9 },
            Outcome::TimedOut,
            Outcome::LaunchFailed { error: "no such\nfile".to_owned() },
        ];
        for (run, outcome) in (1..).map(RunKey).zip(outcomes) {
            journal.launching(run, 1).unwrap();
            journal.ended(run, 1, (outcome, at(7))).unwrap();
        }
        journal.launching(RunKey(9), 1).unwrap();
        drop(journal);

        let journal = Journal::open(&path).unwrap();
        let ended = |outcome| Some(Known::Ended { outcome, at: at(7) });
        assert_eq!(journal.known(RunKey(1), 1).cloned(), ended(Outcome::Succeeded));
        assert_eq!(journal.known(RunKey(2), 1).cloned(), ended(Outcome::Exited { code: 3 }));
        assert_eq!(journal.known(RunKey(3), 1).cloned(), ended(Outcome::Signalled { signal: 9 }));
        assert_eq!(journal.known(RunKey(4), 1).cloned(), ended(Outcome::TimedOut));
        let failed = Outcome::LaunchFailed { error: "no such file".to_owned() };
        assert_eq!(journal.known(RunKey(5), 1).cloned(), ended(failed));
        assert_eq!(journal.known(RunKey(9), 1), Some(&Known::Launched));
        assert_eq!(journal.known(RunKey(10), 1), None);
    }

    #[test]
    fn a_cleared_journal_knows_nothing_and_takes_new_launches() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("launches");
        let mut journal = Journal::open(&path).unwrap();
        journal.launching(RunKey(1), 1).unwrap();
        journal.clear().unwrap();
        journal.launching(RunKey(2), 1).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "L 2 1\n");
        assert_eq!(journal.known(RunKey(1), 1), None);
    }

    #[test]
    fn a_line_that_the_crash_cut_off_says_nothing() {
        assert_eq!(read("L 1 1\nL 2 1").keys().copied().collect::<Vec<_>>(), [(RunKey(1), 1)]);
    }

    #[test]
    fn a_long_journal_is_rewritten_with_what_is_in_flight() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("launches");
        let mut journal = Journal::open(&path).unwrap();
        journal.launching(RunKey(1), 1).unwrap();
        let noise = Outcome::LaunchFailed { error: "x".repeat(1_000) };
        for run in (2..1_200).map(RunKey) {
            journal.launching(run, 1).unwrap();
            journal.ended(run, 1, (noise.clone(), at(7))).unwrap();
            journal.settled(&[(run, 1)]).unwrap();
        }
        assert!(std::fs::metadata(&path).unwrap().len() < BYTES_MAX);
        drop(journal);
        let journal = Journal::open(&path).unwrap();
        assert_eq!(journal.known(RunKey(1), 1), Some(&Known::Launched));
    }
}
