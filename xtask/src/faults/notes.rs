//! What the reader found after each kill, and all of it together.

use std::fmt;

use serde::Deserialize;

use crate::failure::Failure;

/// What the reader says of one kill.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Found {
    /// The first of the problems.
    pub(super) problems: Vec<String>,
    /// How many there are.
    pub(super) count: u64,
    /// Calls that were answered, and those that were not.
    pub(super) acks: u64,
    unanswered: u64,
    /// Of the unanswered ones, those that the database had committed.
    committed: u64,
    /// Batches of an earlier process that were sent again.
    repeated: u64,
    /// Calls that failed, in their words.
    pub(super) fails: Vec<String>,
    /// From the first note to the last.
    busy_us: u64,
    /// Transactions, where the store can tell.
    commits: u64,
    /// Where the virtual clock stood.
    pub(super) last_now: i64,
    /// Rows of the ledger.
    runs: u64,
}

impl Found {
    /// Reads what the reader printed.
    pub(super) fn read(text: &str) -> Result<Self, Failure> {
        serde_json::from_str(text.trim()).map_err(|error| {
            Failure::new(format!("the reader said something strange: {error}: {text}"), "run it by hand")
        })
    }
}

/// A series of kills on one database.
#[derive(Debug, Default)]
pub(super) struct Series {
    kills: u64,
    between: u64,
    calls: u64,
    unanswered: u64,
    committed: u64,
    repeated: u64,
    busy_us: u64,
    commits: u64,
    runs: u64,
}

impl Series {
    /// Counts one kill.
    pub(super) fn add(&mut self, found: &Found) {
        self.kills += 1;
        self.between += u64::from(found.unanswered > 0);
        self.calls += found.acks;
        self.unanswered += found.unanswered;
        self.committed += found.committed;
        self.repeated += found.repeated;
        self.busy_us += found.busy_us;
        self.commits += found.commits;
        self.runs = found.runs;
    }

    /// Kills that landed between a submit and its acknowledgement.
    pub(super) fn between(&self) -> u64 {
        self.between
    }
}

impl fmt::Display for Series {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = (self.busy_us as f64 / 1e6).max(f64::MIN_POSITIVE);
        writeln!(
            f,
            "{:>10} kills, {} of them between a submit and its acknowledgement",
            self.kills, self.between
        )?;
        writeln!(
            f,
            "{:>10} calls acknowledged in {seconds:.1} s: {:.0} a second",
            self.calls,
            self.calls as f64 / seconds
        )?;
        match self.commits {
            0 => writeln!(f, "{:>10} each in a transaction of its own", "")?,
            commits => writeln!(
                f,
                "{commits:>10} transactions that held them (group commit): {:.0} a second",
                commits as f64 / seconds
            )?,
        }
        writeln!(
            f,
            "{:>10} calls never acknowledged, {} of them committed, {} batches sent again under their ids",
            self.unanswered, self.committed, self.repeated
        )?;
        write!(f, "{:>10} rows in the ledger at the end", self.runs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kill_counts_as_between_only_if_something_was_not_answered() {
        let said = r#"{"problems":[],"count":0,"acks":10,"unanswered":UN,"committed":0,"repeated":0,"fails":[],
            "busy_us":5000000,"commits":0,"last_now":7,"runs":3}"#;
        let mut series = Series::default();
        for unanswered in ["0", "2"] {
            series.add(&Found::read(&said.replace("UN", unanswered)).expect("it is what the reader prints"));
        }
        assert_eq!(series.between(), 1);
        let told = series.to_string();
        assert!(
            told.contains("2 kills, 1 of them")
                && told.contains("20 calls acknowledged in 10.0 s: 2 a second"),
            "{told}"
        );
        assert!(Found::read("Traceback").is_err());
    }
}
