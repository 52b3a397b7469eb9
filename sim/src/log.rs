//! The log of a soak: one line of JSON for each story that was told, so that it can be interrupted and gone on with.
//!
//! A story counts only for the program that told it, known by the hash of its file: after any change it is told again.

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;
use std::time::Duration;

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::story::{KINDS, Keeping, Story};
use crate::tell::Told;
use crate::totals::Totals;

/// Digits of a program's hash that name it.
const BUILD_DIGITS: usize = 16;

/// What stories were told by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Build {
    /// The beginning of the hash of the program.
    pub program: String,
    /// The commit that it was made of, as whoever started it says.
    pub commit: String,
}

impl Build {
    /// The program that runs now.
    ///
    /// # Errors
    /// When its file cannot be read.
    pub fn present(commit: &str) -> io::Result<Self> {
        let hash = Sha256::digest(std::fs::read(std::env::current_exe()?)?);
        let mut program: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
        program.truncate(BUILD_DIGITS);
        Ok(Self { program, commit: commit.to_owned() })
    }
}

/// A log and what it has of the present build.
pub struct Log {
    file: File,
    build: Build,
    /// Stories that held every promise, by what decides them.
    done: BTreeSet<Key>,
    sum: Sum,
}

/// What decides a story.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    seed: u64,
    store: String,
    lasts_s: u64,
}

impl Key {
    fn of(story: &Story) -> Self {
        let store = match story.keeping {
            Keeping::Memory => "memory",
            Keeping::Shared => "shared",
            Keeping::Sqlite => "sqlite",
        };
        Self { seed: story.seed, store: store.to_owned(), lasts_s: story.lasts.as_secs() }
    }
}

/// What the stories of a log come to.
#[derive(Clone, Debug, Default)]
pub struct Sum {
    /// What they went through.
    pub totals: Totals,
    /// How long they took, each on one thread.
    pub took: Duration,
    /// The fewest nodes that one of them had.
    pub nodes_min: u64,
    /// The fewest schedules that one of them began with.
    pub schedules_min: u64,
}

impl Sum {
    fn add(&mut self, entry: &Entry) {
        let least = |known: u64, one: u64| if known == 0 { one } else { known.min(one) };
        self.totals.add(&entry.totals);
        self.took += entry.took;
        self.nodes_min = least(self.nodes_min, entry.nodes);
        self.schedules_min = least(self.schedules_min, entry.schedules);
    }
}

/// A line.
struct Entry {
    key: Key,
    build: Build,
    nodes: u64,
    schedules: u64,
    totals: Totals,
    took: Duration,
    broken: Vec<String>,
}

impl Log {
    /// Opens a log, or makes it, and reads what the present build has told.
    ///
    /// # Errors
    /// When the file cannot be read or written.
    pub fn open(path: &Path, build: Build) -> io::Result<Self> {
        let mut file = OpenOptions::new().create(true).append(true).open(path)?;
        let text = std::fs::read_to_string(path)?;
        // A line that was cut short has no end: its story is told again, and the next line begins anew.
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        if !text.is_empty() && !text.ends_with('\n') {
            file.write_all(b"\n")?;
        }
        let (mut done, mut sum) = (BTreeSet::new(), Sum::default());
        for (place, line) in whole.lines().enumerate() {
            // What was cut short once stands in the middle when others have followed.
            let Some(entry) = Entry::read(line) else {
                say_cut(path, place + 1);
                continue;
            };
            let is_own = entry.build.program == build.program && entry.broken.is_empty();
            if is_own && done.insert(entry.key.clone()) {
                sum.add(&entry);
            }
        }
        Ok(Self { file, build, done, sum })
    }

    /// Whether a story was told by this build and held every promise.
    pub fn has(&self, story: &Story) -> bool {
        self.done.contains(&Key::of(story))
    }

    /// What the stories of this build come to.
    pub fn sum(&self) -> &Sum {
        &self.sum
    }

    /// Writes down that a story was told.
    ///
    /// # Errors
    /// When the line cannot be written.
    pub fn add(&mut self, story: &Story, told: &Told, took: Duration) -> io::Result<()> {
        let entry = Entry {
            key: Key::of(story),
            build: self.build.clone(),
            nodes: story.nodes as u64,
            schedules: story.sketches.len() as u64,
            totals: told.totals.clone(),
            took,
            broken: told.broken.clone(),
        };
        // One write, so that two lines never mix.
        self.file.write_all(format!("{}\n", entry.line()).as_bytes())?;
        if entry.broken.is_empty() && self.done.insert(entry.key.clone()) {
            self.sum.add(&entry);
        }
        Ok(())
    }
}

#[allow(clippy::print_stderr, reason = "whoever goes on with a log wants to know that it was cut")]
fn say_cut(path: &Path, line: usize) {
    eprintln!("line {line} of `{}` was cut short; its story is told again", path.display());
}

impl Entry {
    fn line(&self) -> Value {
        let totals = &self.totals;
        let counts: Map<String, Value> =
            KINDS.iter().map(|kind| ((*kind).to_owned(), json!(totals.of(kind)))).collect();
        json!({
            "seed": self.key.seed,
            "store": self.key.store,
            "lasts_s": self.key.lasts_s,
            "nodes": self.nodes,
            "schedules": self.schedules,
            "simulated_s": totals.simulated.as_secs_f64(),
            "ticks": totals.ticks,
            "starts": totals.starts,
            "launches": totals.launches,
            "faults": counts,
            "seconds": self.took.as_secs_f64(),
            "build": self.build.program,
            "commit": self.build.commit,
            "broken": self.broken,
        })
    }

    fn read(line: &str) -> Option<Self> {
        let line: Value = serde_json::from_str(line).ok()?;
        let text = |name: &str| line.get(name)?.as_str().map(ToOwned::to_owned);
        let count = |name: &str| line.get(name)?.as_u64();
        let length = |name: &str| Duration::try_from_secs_f64(line.get(name)?.as_f64()?).ok();
        let mut totals = Totals::default();
        (totals.stories, totals.ticks, totals.starts) = (1, count("ticks")?, count("starts")?);
        (totals.launches, totals.simulated) = (count("launches")?, length("simulated_s")?);
        let faults = line.get("faults")?;
        for kind in KINDS {
            totals.count_many(kind, faults.get(kind)?.as_u64()?);
        }
        let broken = line.get("broken")?.as_array()?;
        Some(Self {
            key: Key { seed: count("seed")?, store: text("store")?, lasts_s: count("lasts_s")? },
            build: Build { program: text("build")?, commit: text("commit")? },
            nodes: count("nodes")?,
            schedules: count("schedules")?,
            totals,
            took: length("seconds")?,
            broken: broken.iter().filter_map(|what| what.as_str().map(ToOwned::to_owned)).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Measure, story};

    fn build(program: &str) -> Build {
        Build { program: program.to_owned(), commit: "abc".to_owned() }
    }

    fn told(broken: &[&str]) -> Told {
        let mut totals = Totals::default();
        (totals.stories, totals.ticks, totals.simulated) = (1, 7, Duration::from_millis(86_400_500));
        totals.count_many("crash", 3);
        Told { totals, broken: broken.iter().map(|what| (*what).to_owned()).collect() }
    }

    #[test]
    fn a_log_goes_on_where_it_was_cut() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("soak.jsonl");
        let one = |seed| story(seed, Keeping::Memory, Measure::Days(1));
        let second = Duration::from_secs(1);
        {
            let mut log = Log::open(&path, build("one")).expect("a log");
            log.add(&one(1), &told(&[]), second).expect("a line");
            log.add(&one(2), &told(&["1: no"]), second).expect("a line");
            log.file.write_all(b"{\"seed\":3,").expect("half a line");
        }
        let mut log = Log::open(&path, build("one")).expect("a log");
        assert!(log.has(&one(1)) && !log.has(&one(2)) && !log.has(&one(3)));
        assert!(!log.has(&story(1, Keeping::Memory, Measure::Days(2))), "another story of the same seed");
        log.add(&one(3), &told(&[]), second).expect("a line");
        let log = Log::open(&path, build("one")).expect("a log");
        let sum = log.sum();
        assert!(log.has(&one(3)));
        assert_eq!((sum.totals.stories, sum.totals.ticks, sum.totals.of("crash")), (2, 14, 6));
        assert_eq!(sum.totals.simulated, Duration::from_millis(172_801_000));
        assert_eq!(sum.took, second * 2);
        let other = Log::open(&path, build("two")).expect("a log");
        assert!(!other.has(&one(1)), "another program has told nothing yet");
    }
}
