//! Totals: what a story, or many of them, went through.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use crate::story::KINDS;

/// Counts.
#[derive(Clone, Debug, Default)]
pub struct Totals {
    counts: BTreeMap<&'static str, u64>,
    /// Stories.
    pub stories: u64,
    /// Ticks that were held against the ledger.
    pub ticks: u64,
    /// Admissions that were judged.
    pub starts: u64,
    /// Launches that the world saw.
    pub launches: u64,
    /// Time that was simulated.
    pub simulated: Duration,
}

impl Totals {
    /// Counts something.
    pub fn count(&mut self, kind: &'static str) {
        self.count_many(kind, 1);
    }

    /// Counts something that happened so often.
    pub fn count_many(&mut self, kind: &'static str, times: u64) {
        *self.counts.entry(kind).or_default() += times;
    }

    /// How often something happened.
    pub fn of(&self, kind: &str) -> u64 {
        self.counts.get(kind).copied().unwrap_or_default()
    }

    /// Adds another story's.
    pub fn add(&mut self, other: &Self) {
        for (kind, count) in &other.counts {
            self.count_many(kind, *count);
        }
        self.stories += other.stories;
        self.ticks += other.ticks;
        self.starts += other.starts;
        self.launches += other.launches;
        self.simulated += other.simulated;
    }

    /// How much it is, in a line.
    pub fn brief(&self) -> String {
        let days = self.simulated.as_secs_f64() / 86_400.0;
        format!(
            "{} stories, {days:.1} days ({:.2} cluster-years), {} crashes ({:.1} a day), {} ticks checked ({:.2} a minute), {} admissions judged, {} launches seen",
            self.stories,
            days / 365.25,
            self.of("crash"),
            self.of("crash") as f64 / days,
            self.ticks,
            self.ticks as f64 / days / 1_440.0,
            self.starts,
            self.launches
        )
    }

    /// The kinds of faults that never happened.
    pub fn missing(&self) -> Vec<&'static str> {
        KINDS.iter().copied().filter(|kind| self.of(kind) == 0).collect()
    }
}

impl fmt::Display for Totals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.brief())?;
        for kind in KINDS {
            writeln!(f, "  {kind:<24} {:>12}", self.of(kind))?;
        }
        Ok(())
    }
}
