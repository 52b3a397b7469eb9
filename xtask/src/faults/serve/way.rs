//! The ways in which a process ends, and which of them is next.

use std::fmt;

use super::super::dice::Dice;
use super::super::fail_point::FailPoint;
use super::tally::Tally;

/// Of so many kills one is at a random moment, and one after a stop.
const RANDOM_EVERY: usize = 4;
const STOPPED_EVERY: usize = 25;

/// How a process ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// By itself, when it passes a place for so many times.
    Point { point: FailPoint, times: u64 },
    /// At a random moment.
    Random,
    /// At a random moment after it was stopped for a while.
    Stopped,
}

impl Way {
    /// Each place once, and then places in turn, those first that were tried least, with other ways between them.
    pub(super) fn next(tally: &Tally, dice: &mut Dice) -> Self {
        let number = tally.lives() + 1;
        match tally.is_any_untried() {
            false if number.is_multiple_of(STOPPED_EVERY) => return Self::Stopped,
            false if number.is_multiple_of(RANDOM_EVERY) => return Self::Random,
            _ => {}
        }
        match tally.least_tried() {
            // Which of its passages it is, is left to chance; after a life in vain it is the first.
            Some((point, 0)) => Self::Point { point, times: 1 + dice.roll(often(point)) },
            Some((point, _)) => Self::Point { point, times: 1 },
            None => Self::Random,
        }
    }
}

/// How often a place is passed within a second or so.
fn often(point: FailPoint) -> u64 {
    match point {
        FailPoint::StoreBeforeCommit | FailPoint::StoreAfterCommit => 40,
        FailPoint::LaunchBeforeNote
        | FailPoint::LaunchAfterNote
        | FailPoint::LaunchStarted
        | FailPoint::LaunchEnded => 15,
        FailPoint::SettleBeforeCommit | FailPoint::SettleAfterCommit => 5,
        FailPoint::AdmitBeforeCommit | FailPoint::AdmitAfterCommit | FailPoint::MigrateStep => 2,
        _ => 1,
    }
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Point { point, times } => write!(f, "{}:{times}", point.name()),
            Self::Random => f.write_str("at random"),
            Self::Stopped => f.write_str("after a stop"),
        }
    }
}
