//! What was done to schedules, and what would be.

use std::fmt;

use jiff::Timestamp;
use punctual_store::ScheduleRow;
use punctual_time::{Mark, Tick};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Definition, Drafted, Schedule};
use crate::declare::{self, Names};
use crate::{Acted, Created as Made, Difference, Edition, Outlook as Ahead, Step, differences, ticks};

/// Ticks that a dry run shows.
const TICKS: usize = 5;

/// A schedule that was made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Created {
    /// The schedule.
    pub schedule: Schedule,
    /// Whether this request made it, and not an earlier one with the same key.
    pub created: bool,
    /// What was read into the words that say when.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub assumed: Vec<String>,
}

impl Created {
    /// The shape of a schedule that was made.
    pub fn of(made: &Made, assumed: Vec<String>) -> Self {
        Self { schedule: Schedule::alone(&made.row), created: made.is_new, assumed }
    }
}

/// A schedule that would be made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct WouldCreate {
    /// True: nothing was written.
    pub dry_run: bool,
    /// What it would be.
    pub schedule: Definition,
    /// Its first tick that fires.
    pub next_run_at: Option<Timestamp>,
    /// Its first ticks that fire.
    pub next: Vec<Timestamp>,
    /// Whether it would fire; only beside tables.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// What was read into the words that say when.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub assumed: Vec<String>,
}

impl WouldCreate {
    /// The shape of a draft.
    pub fn of(drafted: &declare::Schedule, now: Timestamp) -> Self {
        let next = first_ticks(drafted, now);
        Self {
            dry_run: true,
            schedule: Definition::of(&drafted.definition, &Names::of([])),
            next_run_at: next.first().copied(),
            next,
            enabled: Some(drafted.enabled),
            assumed: drafted.assumed.clone(),
        }
    }
}

/// Schedules that would be made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct WouldCreateMany {
    /// True: nothing was written.
    pub dry_run: bool,
    /// What they would be, each with its first ticks.
    pub schedules: Vec<Drafted>,
}

impl WouldCreateMany {
    /// What programs get.
    pub fn plain(self) -> Self {
        let plain = |one| Drafted { enabled: None, ..one };
        Self { schedules: self.schedules.into_iter().map(plain).collect(), ..self }
    }
}

fn first_ticks(drafted: &declare::Schedule, now: Timestamp) -> Vec<Timestamp> {
    let all = ticks(&drafted.definition, now, TICKS * 100);
    all.into_iter().filter(|tick| tick.suppressed.is_none()).take(TICKS).map(|tick| tick.at).collect()
}

impl Drafted {
    /// The shape of one of some drafts.
    pub fn of(drafted: &declare::Schedule, now: Timestamp) -> Self {
        Self {
            definition: Definition::of(&drafted.definition, &Names::of([])),
            next: first_ticks(drafted, now),
            enabled: Some(drafted.enabled),
        }
    }
}

/// A schedule that was changed, or not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Changed {
    /// The schedule afterwards.
    pub schedule: Schedule,
    /// Whether there was anything to do.
    pub changed: bool,
    /// True if it was deleted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deleted: Option<bool>,
    /// Runs of a deleted schedule that go on; only beside tables.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_flight: Option<usize>,
    /// Of a schedule that is paused now: the runs that were admitted before and go on, by their ids.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub still_running: Option<Vec<String>>,
}

impl Changed {
    /// The shape of a change.
    pub fn of(acted: &Acted) -> Self {
        Self {
            schedule: Schedule::alone(&acted.row),
            changed: acted.is_changed,
            deleted: None,
            in_flight: None,
            still_running: None,
        }
    }
}

/// Schedules that were changed, or not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ChangedMany {
    /// The schedules afterwards.
    pub schedules: Vec<Schedule>,
    /// How many were changed.
    pub changed: usize,
    /// Runs of deleted schedules that go on; only beside tables.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_flight: Option<usize>,
    /// Of schedules that are paused now: the runs that were admitted before and go on, by their ids.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub still_running: Option<Vec<String>>,
}

impl ChangedMany {
    /// The shape of many changes.
    pub fn of(acted: &[Acted]) -> Self {
        Self {
            schedules: acted.iter().map(|one| Schedule::alone(&one.row)).collect(),
            changed: acted.iter().filter(|one| one.is_changed).count(),
            in_flight: None,
            still_running: None,
        }
    }
}

/// A field that is different.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FieldChange {
    /// Its public name.
    pub field: String,
    /// What it was; empty if nothing.
    pub before: String,
    /// What it is; empty if nothing.
    pub after: String,
}

impl From<&Difference> for FieldChange {
    fn from(one: &Difference) -> Self {
        Self { field: one.field.clone(), before: one.before.clone(), after: one.after.clone() }
    }
}

impl fmt::Display for FieldChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { field, before, after } = self.clone();
        Difference { field, before, after }.fmt(f)
    }
}

/// What a step would do to a schedule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Outlook {
    /// The schedule as it is.
    pub schedule: Schedule,
    /// Whether it would change.
    pub changed: bool,
    /// What would be different.
    pub changes: Vec<FieldChange>,
    /// The next ticks as it is.
    pub before: Vec<Timestamp>,
    /// The next ticks as it would be.
    pub after: Vec<Timestamp>,
    /// True: nothing was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dry_run: Option<bool>,
}

impl Outlook {
    /// The shape of what a step would do.
    pub fn of(row: &ScheduleRow, step: Option<&Step>, now: Timestamp) -> Self {
        let Ahead { before, after } = Ahead::of(row, step, now);
        let changes = match step {
            Some(Step::Replace { definition, .. }) => differences(&row.definition, definition),
            _ => Vec::new(),
        };
        Self {
            schedule: Schedule::alone(row),
            changed: step.is_some(),
            changes: changes.iter().map(FieldChange::from).collect(),
            before,
            after,
            dry_run: Some(true),
        }
    }
}

/// What a step would do to many.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Outlooks {
    /// True: nothing was written.
    pub dry_run: bool,
    /// One for each.
    pub schedules: Vec<Outlook>,
}

/// A run that was asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Triggered {
    /// True.
    pub triggered: bool,
    /// The request.
    pub request_id: String,
    /// The run that it became.
    pub run_id: String,
}

impl From<&crate::Triggered> for Triggered {
    fn from(one: &crate::Triggered) -> Self {
        Self { triggered: true, request_id: one.request_id.clone(), run_id: one.run.to_string() }
    }
}

/// Runs that were asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TriggeredMany {
    /// True.
    pub triggered: bool,
    /// One for each schedule.
    pub requests: Vec<TriggeredOne>,
}

/// A run of one of several schedules.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TriggeredOne {
    /// The schedule's name.
    pub name: String,
    /// The request.
    pub request_id: String,
    /// The run that it became.
    pub run_id: String,
}

/// Runs that would be asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct WouldTrigger {
    /// True: nothing was written.
    pub dry_run: bool,
    /// The names of the schedules.
    pub schedules: Vec<String>,
}

/// What became of an item for a queue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(untagged)]
pub enum Item {
    /// It was put there.
    Made(Requested),
    /// It was only checked.
    Would {
        /// True: nothing was written.
        dry_run: bool,
    },
}

/// An item that was put on a queue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Requested {
    /// The request.
    pub request_id: String,
    /// The run that it became.
    pub run_id: String,
}

impl From<&crate::Triggered> for Requested {
    fn from(one: &crate::Triggered) -> Self {
        Self { request_id: one.request_id.clone(), run_id: one.run.to_string() }
    }
}

/// The next ticks of a schedule with their marks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Preview {
    /// The schedule's name.
    pub name: String,
    /// The ticks.
    pub ticks: Vec<PreviewTick>,
    /// The zone of its local times; only beside tables.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timezone: Option<String>,
}

/// A tick to come.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PreviewTick {
    /// When.
    pub at: Timestamp,
    /// What a clock change does to it.
    pub dst: Option<String>,
    /// The window that suppresses it.
    pub suppressed: Option<String>,
}

impl Preview {
    /// The shape of ticks to come.
    pub fn of(row: &ScheduleRow, ticks: &[Tick]) -> Self {
        let tick = |tick: &Tick| PreviewTick {
            at: tick.at,
            dst: tick.mark.as_ref().map(mark),
            suppressed: tick.suppressed.as_ref().map(ToString::to_string),
        };
        Self {
            name: row.definition.name.clone(),
            ticks: ticks.iter().map(tick).collect(),
            timezone: Some(row.definition.timezone().to_owned()),
        }
    }
}

/// What a clock change does to a tick, in words.
pub fn mark(mark: &Mark) -> String {
    match mark {
        Mark::Shifted { from } => format!("moved from {from}, which the clock skips"),
        Mark::FirstPass => "the first of two".to_owned(),
        Mark::SecondPass => "the second of two".to_owned(),
    }
}

/// The versions of a schedule, newest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Versions {
    /// The versions.
    pub versions: Vec<Version>,
}

/// A version, and what it changed about the one before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Version {
    /// Its number, from 1.
    pub version: i64,
    /// Since when it counts.
    pub since: Timestamp,
    /// Who made it.
    pub by: Option<String>,
    /// When it fires, as it was written.
    pub spec: String,
    /// What is different; empty for the first.
    pub changes: Vec<FieldChange>,
}

impl From<&Edition> for Version {
    fn from(edition: &Edition) -> Self {
        let version = &edition.version;
        Self {
            version: version.version,
            since: version.since,
            by: version.by.clone(),
            spec: version.definition.spec.clone(),
            changes: edition.changes.iter().map(FieldChange::from).collect(),
        }
    }
}
