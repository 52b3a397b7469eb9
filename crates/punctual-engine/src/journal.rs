//! The launch journal: what was launched, noted before the launch, and how it ended, noted right after.
//!
//! It survives `kill -9` of the process, which is when it is needed: an admitted run that it lacks was
//! never launched and is launched on restart; one that it has is settled with the end it noted, or is in
//! doubt and not started a second time. It does not survive a power cut; there the ledger alone decides.
//!
//! One line per event: `F FENCE` for each lease of the node, `L RUN ATTEMPT AT -` before a launch, whose stroke becomes a
//! cross where it ends well, `E RUN ATTEMPT AT OUTCOME` after its end, `T` before the node takes up what others left, `U` after it has
//! seen to that.

mod line;
mod outcome;
mod pen;
mod slate;

use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;
use punctual_plan::{Fence, Outcome, RunKey};
use punctual_store::Report;

use crate::keyed::ByKey;
use line::{push_end, push_line, read, read_fences};
use pen::Pen;
pub(crate) use pen::{Mark, Slip};
pub use slate::Slate;

/// A longer journal is rewritten with the runs that are still in flight, if it has doubled since it last was.
const BYTES_MAX: usize = 1 << 20;

/// For fewer launches than this there is room soon enough, and for more than that it grows as usual.
const EXPECTED_MIN: usize = 1_000;
const EXPECTED_MAX: usize = 100_000;

/// What the launch and the end of a run take, with something to spare.
const LAUNCH_BYTES: usize = 96;

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

/// Where a journal is kept.
#[derive(Clone, Debug)]
pub enum JournalPlace {
    /// In a file, which outlives the process.
    File(PathBuf),
    /// In a value that outlives the engine: what a file is to a process, this is to a simulated node.
    Memory(MemoryJournal),
}

/// A journal without a file; clones are the same one.
#[derive(Clone, Debug, Default)]
pub struct MemoryJournal(Arc<Mutex<String>>);

impl MemoryJournal {
    /// What is written in it.
    pub fn text(&self) -> String {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn length(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    fn add(&self, lines: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push_str(lines);
    }

    fn set(&self, text: String) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = text;
    }
}

/// The journal of a serving process.
#[derive(Debug)]
pub(crate) struct Journal {
    pen: Pen,
    /// Ends that could not be written.
    unwritten: String,
    /// How long it was when it was last rewritten.
    rewritten: usize,
    /// How often it was.
    rewrites: u64,
    open: ByKey<(RunKey, u32), Known>,
    /// How many of them have ended.
    unsettled: usize,
    /// The leases that it speaks for.
    fences: BTreeSet<Fence>,
    /// Of them, those under which runs of others may be held of which it knows nothing.
    mixed: BTreeSet<Fence>,
    /// What is to be forgotten when it is known what was taken up: a list of that may be older than these ends.
    forgettable: BTreeSet<(RunKey, u32)>,
}

impl Journal {
    /// Opens the journal and reads what an earlier process left in it.
    pub(crate) fn open(place: &JournalPlace) -> io::Result<Self> {
        let (pen, text) = Pen::open(place)?;
        let (fences, mixed) = read_fences(&text);
        let open = read(&text);
        let unsettled = open.values().filter(|known| matches!(known, Known::Ended { .. })).count();
        Ok(Self {
            pen,
            unwritten: String::new(),
            rewritten: 0,
            rewrites: 0,
            open,
            unsettled,
            fences,
            mixed,
            forgettable: BTreeSet::new(),
        })
    }

    /// What is known of an attempt.
    pub(crate) fn known(&self, run: RunKey, attempt: u32) -> Option<&Known> {
        self.open.get(&(run, attempt))
    }

    /// Whether attempts have ended whose end is not in the ledger yet.
    pub(crate) fn has_unsettled(&self) -> bool {
        self.unsettled > 0
    }

    /// Whether it speaks for a lease: what was admitted under it and is not in here was never launched.
    pub(crate) fn is_of(&self, fence: Fence) -> bool {
        self.fences.contains(&fence) && !self.mixed.contains(&fence)
    }

    /// Notes that the present lease is about to hold runs of others: they may have been launched, though not from here.
    pub(crate) fn taking(&mut self) -> io::Result<()> {
        let Some(present) = self.fences.last().copied() else { return Ok(()) };
        if self.mixed.insert(present) { self.append("T\n") } else { Ok(()) }
    }

    /// Notes that whatever was taken up is settled, or known not to have been launched.
    pub(crate) fn took(&mut self) -> io::Result<()> {
        let Some(present) = self.fences.last().copied() else { return Ok(()) };
        if !self.mixed.remove(&present) {
            return Ok(());
        }
        for attempt in std::mem::take(&mut self.forgettable) {
            self.open.remove(&attempt);
        }
        self.append("U\n")
    }

    /// The leases that it speaks for.
    pub(crate) fn fences(&self) -> impl Iterator<Item = Fence> {
        self.fences.iter().copied()
    }

    /// Notes a lease before anything is admitted under it.
    pub(crate) fn joined(&mut self, fence: Fence) -> io::Result<()> {
        self.append(&format!("F {}\n", fence.0))?;
        self.fences.insert(fence);
        Ok(())
    }

    /// Makes room for so many launches, before they come. What cannot be done now is tried when they are noted.
    pub(crate) fn expect(&mut self, launches: usize) -> io::Result<()> {
        if launches < EXPECTED_MIN {
            return Ok(());
        }
        let launches = launches.min(EXPECTED_MAX);
        self.open.reserve(launches);
        self.pen.make_room(launches * LAUNCH_BYTES)
    }

    /// Notes that attempts are about to be launched. Each is written with what is given back, right before its launch.
    pub(crate) fn launching(&mut self, attempts: impl Iterator<Item = (RunKey, u32)>) -> Slip {
        let mut launches = 0;
        for attempt in attempts {
            self.forgettable.remove(&attempt);
            self.open.insert(attempt, Known::Launched);
            launches += 1;
        }
        Slip::new(self.pen.clone(), self.rewrites, launches)
    }

    /// Files what was noted of launches, and remembers how attempts ended of which it says so.
    pub(crate) fn filed<'a>(&mut self, slip: Slip, reports: impl Iterator<Item = &'a Report>) {
        // What it says of ends is gone if the journal was rewritten meanwhile, by what was known then.
        let is_gone = slip.rewrites() != self.rewrites;
        self.unwritten.push_str(&slip.file());
        for report in reports {
            if is_gone { self.ended(report) } else { self.remember(report) }
        }
    }

    /// Notes how an attempt ended.
    pub(crate) fn ended(&mut self, report: &Report) {
        push_end(&mut self.unwritten, report);
        // What cannot be written is tried again with the next line, and by the settler, who says so.
        let _ = self.flush();
        self.remember(report);
    }

    fn remember(&mut self, report: &Report) {
        let Report { run, attempt, outcome, at, .. } = report;
        let known = Known::Ended { outcome: outcome.clone(), at: *at };
        let before = self.open.insert((*run, *attempt), known);
        self.unsettled += usize::from(!matches!(before, Some(Known::Ended { .. })));
    }

    /// Writes what was noted and could not be written.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        if self.unwritten.is_empty() { Ok(()) } else { self.append("") }
    }

    /// Forgets attempts whose end is in the ledger; later, while others' are taken up: one of them may be among those.
    pub(crate) fn settled(&mut self, attempts: &[(RunKey, u32)]) -> io::Result<()> {
        let is_later = self.fences.last().is_some_and(|present| self.mixed.contains(present));
        for attempt in attempts {
            // Each is counted once, whoever says it again.
            let is_new = match is_later {
                true => self.forgettable.insert(*attempt),
                false => !self.forgettable.remove(attempt),
            };
            let is_ended = matches!(self.open.get(attempt), Some(Known::Ended { .. }));
            self.unsettled -= usize::from(is_new && is_ended);
            if !is_later {
                self.open.remove(attempt);
            }
        }
        let is_long = self.pen.bytes() > BYTES_MAX.max(2 * self.rewritten);
        if is_long { self.rewrite() } else { Ok(()) }
    }

    /// Forgets everything but its present lease: what earlier ones left is settled or launched anew.
    pub(crate) fn begin(&mut self, fence: Fence) -> io::Result<()> {
        self.open.clear();
        self.unsettled = 0;
        self.fences = BTreeSet::from([fence]);
        self.mixed.clear();
        self.forgettable.clear();
        self.rewrite()
    }

    fn append(&mut self, line: &str) -> io::Result<()> {
        let before = self.unwritten.len();
        self.unwritten.push_str(line);
        let written = self.pen.add(&self.unwritten).map(|_| ());
        // If it cannot be written it did not happen; what goes before it is written with the next line.
        self.unwritten.truncate(if written.is_ok() { 0 } else { before });
        written
    }

    /// Replaces the text by one that holds only what is in flight; a crash leaves the one or the other.
    fn rewrite(&mut self) -> io::Result<()> {
        let mark = |fence: &Fence| if self.mixed.contains(fence) { "T\n" } else { "" };
        let mut text: String =
            self.fences.iter().map(|fence| format!("F {}\n{}", fence.0, mark(fence))).collect();
        self.open.iter().for_each(|(attempt, known)| push_line(&mut text, *attempt, known));
        self.pen.replace(&text)?;
        // It is all in there.
        self.unwritten.clear();
        (self.rewritten, self.rewrites) = (text.len(), self.rewrites + 1);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use punctual_store::AttemptToken;

    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn end(run: RunKey, outcome: Outcome) -> Report {
        let token = AttemptToken::Node(Fence(1));
        Report { run, attempt: 1, token, outcome, started_at: None, at: at(7), output: None }
    }

    fn launch(journal: &mut Journal, run: RunKey) {
        let mut slip = journal.launching([(run, 1)].into_iter());
        slip.launch((run, 1), at(5)).unwrap();
        journal.filed(slip, [].into_iter());
    }

    #[test]
    fn a_reopened_journal_knows_what_was_launched_and_how_it_ended() {
        let folder = tempfile::tempdir().unwrap();
        let place = JournalPlace::File(folder.path().join("launches"));
        let mut journal = Journal::open(&place).unwrap();
        let outcomes = [
            Outcome::Succeeded,
            Outcome::Exited { code: 3 },
            Outcome::Signalled { signal: 9 },
            Outcome::TimedOut,
            Outcome::LaunchFailed { error: "no such\nfile".to_owned() },
        ];
        for (run, outcome) in (1..).map(RunKey).zip(outcomes) {
            launch(&mut journal, run);
            journal.ended(&end(run, outcome));
        }
        launch(&mut journal, RunKey(9));
        drop(journal);

        let journal = Journal::open(&place).unwrap();
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
    fn a_stroke_says_that_a_launch_ended_well() {
        let folder = tempfile::tempdir().unwrap();
        let place = JournalPlace::File(folder.path().join("launches"));
        let mut journal = Journal::open(&place).unwrap();
        let mut slip = journal.launching([(RunKey(1), 1), (RunKey(2), 1)].into_iter());
        let marks = [1, 2].map(|run| slip.launch((RunKey(run), 1), at(5)).unwrap());
        marks[1].succeeded();
        drop((slip, journal));
        let journal = Journal::open(&place).unwrap();
        assert_eq!(journal.known(RunKey(1), 1), Some(&Known::Launched));
        let ended = Known::Ended { outcome: Outcome::Succeeded, at: at(5) };
        assert_eq!(journal.known(RunKey(2), 1), Some(&ended));
    }

    #[test]
    fn ends_that_were_noted_before_a_rewriting_are_noted_again() {
        let memory = MemoryJournal::default();
        let mut journal = Journal::open(&JournalPlace::Memory(memory.clone())).unwrap();
        let mut slip = journal.launching([(RunKey(1), 1)].into_iter());
        slip.launch((RunKey(1), 1), at(5)).unwrap();
        let ended = end(RunKey(1), Outcome::Succeeded);
        slip.end(&ended);
        journal.rewrite().unwrap();
        assert_eq!(memory.text(), "L 1 1\n");
        journal.filed(slip, [ended].iter());
        assert_eq!(memory.text(), "L 1 1\nE 1 1 7000000 succeeded\n");
    }

    #[test]
    fn a_journal_in_memory_outlives_who_wrote_it() {
        let memory = MemoryJournal::default();
        let place = JournalPlace::Memory(memory.clone());
        let mut journal = Journal::open(&place).unwrap();
        launch(&mut journal, RunKey(1));
        drop(journal);
        assert_eq!(Journal::open(&place).unwrap().known(RunKey(1), 1), Some(&Known::Launched));
        Journal::open(&place).unwrap().begin(Fence(4)).unwrap();
        assert_eq!(memory.text(), "F 4\n");
        assert!(Journal::open(&place).unwrap().is_of(Fence(4)));
    }

    #[test]
    fn a_lease_that_takes_up_what_others_left_is_not_spoken_for_before_that_is_seen_to() {
        let place = JournalPlace::Memory(MemoryJournal::default());
        let mut journal = Journal::open(&place).unwrap();
        journal.begin(Fence(4)).unwrap();
        journal.taking().unwrap();
        journal.taking().unwrap();
        assert!(!journal.is_of(Fence(4)) && !Journal::open(&place).unwrap().is_of(Fence(4)));
        journal.took().unwrap();
        assert!(journal.is_of(Fence(4)) && Journal::open(&place).unwrap().is_of(Fence(4)));
        journal.taking().unwrap();
        journal.joined(Fence(7)).unwrap();
        journal.rewrite().unwrap();
        let journal = Journal::open(&place).unwrap();
        assert!(!journal.is_of(Fence(4)) && journal.is_of(Fence(7)));
        assert_eq!(journal.fences().collect::<Vec<_>>(), [Fence(4), Fence(7)]);
    }

    #[test]
    fn nothing_is_forgotten_while_what_others_left_is_taken_up() {
        let mut journal = Journal::open(&JournalPlace::Memory(MemoryJournal::default())).unwrap();
        journal.begin(Fence(4)).unwrap();
        launch(&mut journal, RunKey(1));
        journal.joined(Fence(7)).unwrap();
        journal.taking().unwrap();
        journal.settled(&[(RunKey(1), 1)]).unwrap();
        assert_eq!(
            journal.known(RunKey(1), 1),
            Some(&Known::Launched),
            "it may be on the list of the left ones"
        );
        journal.took().unwrap();
        assert_eq!(journal.known(RunKey(1), 1), None);
    }

    #[test]
    fn a_journal_that_begins_anew_knows_only_its_lease() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("launches");
        let place = JournalPlace::File(path.clone());
        let mut journal = Journal::open(&place).unwrap();
        launch(&mut journal, RunKey(1));
        journal.begin(Fence(3)).unwrap();
        launch(&mut journal, RunKey(2));
        journal.joined(Fence(5)).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text.trim_end_matches('\0'), "F 3\nL 2 1 5000000 -\nF 5\n");
        assert!(Journal::open(&place).is_err(), "it is this one's as long as it is open");
        drop(journal);
        let read = Journal::open(&place).unwrap();
        assert_eq!([3, 4, 5].map(|fence| read.is_of(Fence(fence))), [true, false, true]);
        assert_eq!(read.known(RunKey(1), 1), None);
    }

    #[test]
    fn launches_and_ends_of_one_slip_are_written_as_they_come() {
        let memory = MemoryJournal::default();
        let mut journal = Journal::open(&JournalPlace::Memory(memory.clone())).unwrap();
        let mut slip = journal.launching([(RunKey(1), 1), (RunKey(2), 3)].into_iter());
        assert_eq!(memory.text(), "", "nothing is said of a launch before its time has come");
        slip.launch((RunKey(1), 1), at(5)).unwrap();
        assert_eq!(memory.text(), "L 1 1 5000000 -\n");
        let ended = end(RunKey(1), Outcome::Succeeded);
        slip.end(&ended);
        assert_eq!(memory.text(), "L 1 1 5000000 -\nE 1 1 7000000 succeeded\n");
        slip.launch((RunKey(2), 3), at(6)).unwrap();
        journal.filed(slip, [ended].iter());
        assert_eq!(memory.text(), "L 1 1 5000000 -\nE 1 1 7000000 succeeded\nL 2 3 6000000 -\n");
        assert!(journal.has_unsettled());
    }

    #[test]
    fn a_program_of_before_takes_what_ended_well_for_launched() {
        let check = |text: &str, ended_at: Option<Timestamp>| {
            let ended = |at| Known::Ended { outcome: Outcome::Succeeded, at };
            let known = read(text).get(&(RunKey(1), 1)).cloned();
            assert_eq!(known, Some(ended_at.map_or(Known::Launched, ended)), "{text:?}");
        };
        // It looks for the first three words of a line, and knows of no `S`.
        for launch in ["L 1 1\n", "L 1 1 5000000\n", "L 1 1 5000000 -\n"] {
            check(launch, None);
        }
        for end in ["L 1 1 5000000 +\n", "S 1 1 5000000\n"] {
            check(end, Some(at(5)));
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("launches");
        let mut journal = Journal::open(&JournalPlace::File(path.clone())).unwrap();
        let mut slip = journal.launching([(RunKey(1), 1), (RunKey(2), 3)].into_iter());
        slip.launch((RunKey(1), 1), at(5)).unwrap().succeeded();
        let mut other = journal.launching([(RunKey(3), 1), (RunKey(4), 1)].into_iter());
        other.launch((RunKey(3), 1), at(6)).unwrap();
        let text = std::fs::read_to_string(path).unwrap();
        assert!(text.starts_with("L 1 1 5000000 +\n") && text.contains("\nL 3 1 6000000 -\n"), "{text:?}");
    }

    #[test]
    fn a_line_that_the_crash_cut_off_says_nothing() {
        let check = |text: &str| {
            assert_eq!(read(text).keys().copied().collect::<Vec<_>>(), [(RunKey(1), 1)], "{text:?}");
        };
        check("L 1 1\nL 2 1");
        check("L 1 1\nL 2\0\0\n");
        check("L 2\0\0L 1 1\n");
        check("L\0\0 1\nL 1 1\n");
        check("\0\0\0\0 1\nL 1 1\nE 1 1 70\0");
    }

    #[test]
    fn a_long_journal_is_rewritten_with_what_is_in_flight() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("launches");
        let place = JournalPlace::File(path.clone());
        let mut journal = Journal::open(&place).unwrap();
        launch(&mut journal, RunKey(1));
        let noise = Outcome::LaunchFailed { error: "x".repeat(1_000) };
        for run in (2..1_200).map(RunKey) {
            launch(&mut journal, run);
            journal.ended(&end(run, noise.clone()));
            journal.settled(&[(run, 1)]).unwrap();
        }
        assert!(std::fs::metadata(&path).unwrap().len() < 2 * BYTES_MAX as u64);
        drop(journal);
        let journal = Journal::open(&place).unwrap();
        assert_eq!(journal.known(RunKey(1), 1), Some(&Known::Launched));
    }
}
