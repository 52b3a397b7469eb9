//! Outcome: the ledger as it stands at the end, with the audit log beside it.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;

use crate::{Breaker, Event, NonFire, Range, Run, Schedule, ScheduleKey, State};

/// What a simulation came to.
#[derive(Clone, Debug)]
pub struct Simulated {
    /// The schedules with their ledgers, in the order of the scenario.
    pub accounts: Vec<Account>,
    /// The audit log, in the order of time.
    pub log: Vec<Logged>,
    /// Where the breakers of failing targets stand.
    pub breakers: BTreeMap<String, Breaker>,
    /// How far it got: the end of the scenario, unless it had too many runs for one simulation.
    pub through: Timestamp,
    /// How often something was planned.
    pub plans: u64,
}

/// A schedule and what became of its ticks.
#[derive(Clone, Debug)]
pub struct Account {
    /// Its number in the ledger.
    pub key: ScheduleKey,
    /// Each version, the last one being valid.
    pub versions: Vec<Version>,
    /// What it has come to.
    pub state: State,
    /// Since when it is not active.
    pub left_at: Option<Timestamp>,
    /// Whether and when it was deleted.
    pub deleted_at: Option<Timestamp>,
    /// Its runs, by instant.
    pub runs: Vec<Run>,
    /// Stretches of equal non-fires, by instant.
    pub ranges: Vec<RangeRecord>,
    /// The earliest armed or computed tick.
    pub next_run_at: Option<Timestamp>,
}

impl Account {
    /// The valid definition.
    pub fn schedule(&self) -> &Schedule {
        &self.versions.last().expect("a schedule has a version").schedule
    }

    /// The definition that was valid at an instant.
    pub fn version_at(&self, at: Timestamp) -> &Version {
        let valid = self.versions.iter().rev().find(|version| version.since <= at);
        valid.unwrap_or(&self.versions[0])
    }
}

/// A version of a schedule.
#[derive(Clone, Debug)]
pub struct Version {
    /// From when on it is valid.
    pub since: Timestamp,
    /// When it had all its ticks: none after it is accounted for.
    pub exhausted_at: Option<Timestamp>,
    /// The definition.
    pub schedule: Arc<Schedule>,
}

/// A stretch of the ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RangeRecord {
    /// What it stands for.
    pub range: Range,
    /// The version it belongs to.
    pub version: i64,
    /// When it was written.
    pub recorded_at: Timestamp,
}

impl RangeRecord {
    /// Why none of its ticks ran.
    pub fn end(&self) -> &NonFire {
        &self.range.end
    }
}

/// A line of the audit log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Logged {
    /// When.
    pub at: Timestamp,
    /// Whose.
    pub schedule: ScheduleKey,
    /// What.
    pub event: Event,
}
