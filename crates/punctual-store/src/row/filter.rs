//! Lists: what is wanted, and where the next page begins.

use jiff::Timestamp;
use punctual_plan::{Origin, RunKey, RunStatus, ScheduleId};

/// How a person names a schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selector {
    /// By its id.
    Id(ScheduleId),
    /// By the first letters of its id, if no other id starts so.
    IdPrefix(String),
    /// By its name.
    Name(String),
}

impl std::fmt::Display for Selector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Id(id) => write!(f, "with id `{id}`"),
            Self::IdPrefix(prefix) => write!(f, "with id `{prefix}`"),
            Self::Name(name) => write!(f, "`{name}`"),
        }
    }
}

/// Where a page begins and how long it is. The cursor is the last row of the page before, as the store gave it.
#[derive(Clone, Debug)]
pub struct Cut {
    /// What `Listed::next` said; the first page without it.
    pub after: Option<String>,
    /// At most this many rows.
    pub limit: u32,
}

impl Cut {
    /// The first rows.
    pub fn first(limit: u32) -> Self {
        Self { after: None, limit }
    }
}

/// A page of a list.
#[derive(Clone, Debug)]
pub struct Listed<T> {
    /// The rows.
    pub rows: Vec<T>,
    /// Where the next page begins, if there is one.
    pub next: Option<String>,
}

/// Which schedules; everything that is set must hold. Ordered by name.
#[derive(Clone, Debug, Default)]
pub struct ScheduleFilter {
    /// Whose name, description or spec holds this, in any case.
    pub search: Option<String>,
    /// Those with this tag.
    pub tag: Option<String>,
    /// Those in this status.
    pub status: Option<String>,
    /// Those of this user.
    pub user_id: Option<String>,
    /// Those declared in this set.
    pub declared_set: Option<String>,
    /// Deleted ones as well.
    pub with_deleted: bool,
}

/// Which runs; everything that is set must hold. Newest tick first.
#[derive(Clone, Debug, Default)]
pub struct RunFilter {
    /// Those of this schedule.
    pub schedule: Option<ScheduleId>,
    /// Those in this status.
    pub status: Option<RunStatus>,
    /// Those of this origin.
    pub origin: Option<Origin>,
    /// Ticks from here.
    pub since: Option<Timestamp>,
    /// Ticks up to here, inclusive.
    pub until: Option<Timestamp>,
}

/// Which events; everything that is set must hold. Newest first.
#[derive(Clone, Debug, Default)]
pub struct AuditFilter {
    /// Those of this schedule.
    pub schedule: Option<ScheduleId>,
    /// Those of this run.
    pub run: Option<RunKey>,
    /// Those whose kind begins so.
    pub kind: Option<String>,
    /// From here.
    pub since: Option<Timestamp>,
    /// Up to here, inclusive.
    pub until: Option<Timestamp>,
}
