//! What a series of kills came to, as a table.

use std::fmt;

use super::super::Database;
use super::super::fail_point::{FailPoint, Place};
use super::super::reader::Found;
use super::way::Way;
use crate::failure::Failure;

/// One place.
struct Row {
    point: FailPoint,
    kills: usize,
    /// Lives in which it was not passed, since the last kill at it and in all.
    in_vain: usize,
    in_vain_all: usize,
}

/// Kills by where and how they came.
pub(super) struct Tally {
    database: Database,
    rows: Vec<Row>,
    random: usize,
    stopped: usize,
    lives: usize,
    found: Found,
    tried: String,
}

impl Tally {
    /// Nothing was killed on this database yet.
    pub(super) fn new(database: Database) -> Self {
        let is_here = |point: &FailPoint| match point.place() {
            Place::ServeSqlite => database == Database::Sqlite,
            Place::ServePostgres => database == Database::Postgres,
            Place::Serve | Place::Migrate | Place::Worker => true,
        };
        let points = FailPoint::ALL.iter().copied().filter(is_here);
        let row = |point| Row { point, kills: 0, in_vain: 0, in_vain_all: 0 };
        Self {
            database,
            rows: points.map(row).collect(),
            random: 0,
            stopped: 0,
            lives: 0,
            found: Found::default(),
            tried: String::new(),
        }
    }

    /// Counts a life that ended in a way.
    pub(super) fn add(&mut self, way: Way, found: &Found) {
        self.lives += 1;
        self.found.ticks = found.ticks;
        match way {
            Way::Point { point, .. } => {
                for row in self.rows.iter_mut().filter(|row| row.point == point) {
                    (row.kills, row.in_vain) = (row.kills + 1, 0);
                }
            }
            Way::Random => self.random += 1,
            Way::Stopped => self.stopped += 1,
        }
    }

    /// Counts a life that did not come to its place, and was ended then.
    pub(super) fn add_in_vain(&mut self, point: FailPoint) {
        self.lives += 1;
        for row in self.rows.iter_mut().filter(|row| row.point == point) {
            (row.in_vain, row.in_vain_all) = (row.in_vain + 1, row.in_vain_all + 1);
        }
    }

    /// How often a process was killed, where it was to be.
    pub(super) fn kills(&self) -> usize {
        self.rows.iter().map(|row| row.kills).sum::<usize>() + self.random + self.stopped
    }

    /// How many processes lived.
    pub(super) fn lives(&self) -> usize {
        self.lives
    }

    /// Whether there is a place at which nothing was killed: it has three tries.
    pub(super) fn is_any_untried(&self) -> bool {
        self.rows.iter().any(|row| row.kills == 0 && row.in_vain < 3)
    }

    /// The place whose turn it is, with the lives in vain since the last kill at it.
    pub(super) fn least_tried(&self) -> Option<(FailPoint, usize)> {
        let turn = |row: &&Row| (row.kills + row.in_vain_all, row.kills);
        self.rows.iter().min_by_key(turn).map(|row| (row.point, row.in_vain))
    }

    /// All of it.
    pub(super) fn end(self, found: Found, tried: String) -> Self {
        Self { found, tried, ..self }
    }

    /// In one line.
    pub(super) fn summary(&self) -> String {
        format!(
            "the program killed {} times at {} places on {}",
            self.kills(),
            self.rows.len(),
            self.database
        )
    }

    /// Refuses a series in which a place was never come to.
    pub(super) fn judged(&self) -> Result<(), Failure> {
        let unseen: Vec<&str> =
            self.rows.iter().filter(|row| row.kills == 0).map(|row| row.point.name()).collect();
        match unseen.is_empty() {
            true => Ok(()),
            false => Err(Failure::new(
                format!("nothing was killed at {}", unseen.join(", ")),
                "is the machine very busy? else the load does not lead there any more",
            )),
        }
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "| {} killed | kills | came not there in time |\n| --- | ---: | ---: |", self.database)?;
        for row in &self.rows {
            writeln!(f, "| `{}` | {} | {} |", row.point.name(), row.kills, row.in_vain_all)?;
        }
        writeln!(f, "| at a random moment | {} | |", self.random)?;
        writeln!(f, "| after SIGSTOP and SIGCONT | {} | |", self.stopped)?;
        let Found { ticks, lost, doubled, open, starts, repeated, count, .. } = &self.found;
        writeln!(f, "\n{:>10} kills", self.kills())?;
        writeln!(f, "{ticks:>10} ticks, {lost} lost, {doubled} doubled, {open} not closed")?;
        writeln!(f, "{starts:>10} starts, {repeated} of them another attempt, none the same one again")?;
        writeln!(f, "{:>10} {}", "", self.found.ends())?;
        writeln!(f, "{count:>10} problems")?;
        write!(f, "{:>10} {}", "", self.tried)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_place_has_its_turn_and_one_that_was_never_come_to_is_told() {
        let mut tally = Tally::new(Database::Sqlite);
        let all = tally.rows.len();
        assert!(!tally.rows.iter().any(|row| row.point == FailPoint::HeldBeforeInstant));
        for _ in 0..all - 1 {
            let (point, _) = tally.least_tried().expect("there are places");
            tally.add(Way::Point { point, times: 1 }, &Found::default());
        }
        let (last, in_vain) = tally.least_tried().expect("there are places");
        assert_eq!((tally.kills(), in_vain, tally.is_any_untried()), (all - 1, 0, true));
        for _ in 0..3 {
            tally.add_in_vain(last);
        }
        assert!(!tally.is_any_untried());
        let refused = tally.judged().expect_err("one is missing");
        assert_eq!(refused.what, format!("nothing was killed at {}", last.name()));
        tally.add(Way::Point { point: last, times: 1 }, &Found::default());
        tally.add(Way::Random, &Found::default());
        assert!(tally.judged().is_ok() && tally.kills() == all + 1);
    }
}
