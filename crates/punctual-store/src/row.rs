//! What goes into the store and what comes out of it.

use jiff::Timestamp;
use punctual_plan::{
    Action, Cursor, Due, Lane, LateRow, OrgKey, Origin, Plan, Policy, Reason, RunKey, RunStatus, Schedule,
    ScheduleId, ScheduleKey, Settlement, Traffic, World,
};
use punctual_time::Timing;

use crate::Error;

/// Schedules that want planning.
#[derive(Clone, Debug, Default)]
pub struct PlannableBatch {
    /// Those that can be planned.
    pub ready: Vec<Plannable>,
    /// What was wrong with those that cannot be read any more; they never stop the others.
    pub unreadable: Vec<Error>,
}

/// A schedule whose next tick wants planning.
#[derive(Clone, Debug)]
pub struct Plannable {
    /// Which schedule.
    pub schedule: ScheduleKey,
    /// Whose it is.
    pub org: OrgKey,
    /// The version that was read.
    pub version: i64,
    /// Its public id.
    pub id: ScheduleId,
    /// When it ticks.
    pub timing: Timing,
    /// What it wants to happen to its ticks.
    pub policy: Policy,
    /// How far it is planned.
    pub cursor: Cursor,
    /// Its armed rows whose instant has passed.
    pub late: Vec<LateRow>,
}

/// A plan, and what it was made on.
#[derive(Clone, Debug)]
pub struct PlanCommit {
    /// Which schedule.
    pub schedule: ScheduleKey,
    /// Whose it is.
    pub org: OrgKey,
    /// The version that was read.
    pub version: i64,
    /// The cursor that was read.
    pub from: Cursor,
    /// What shall be written.
    pub plan: Plan,
}

/// Whether a guarded write took effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Commit {
    /// It is on disk.
    Done,
    /// Somebody else was first; nothing was written.
    Stale,
}

/// Rows that are due, and when to look again.
#[derive(Clone, Debug)]
pub struct DueBatch {
    /// The rows, oldest first.
    pub rows: Vec<DueRow>,
    /// What was wrong with those that cannot be read any more; they never stop the others.
    pub unreadable: Vec<Error>,
    /// When the next armed row beyond them is due.
    pub next_fire_at: Option<Timestamp>,
}

impl DueBatch {
    /// The world that the rows are decided in. Policies are not stored yet: every schedule has the defaults.
    pub fn world(&self, now: Timestamp) -> World {
        let mut world = World::free(now);
        for row in &self.rows {
            let in_flight = row.active_run.into_iter().collect();
            let lane = Lane::Schedule(row.due.schedule);
            world.lanes.insert(lane, Traffic { in_flight, ..Traffic::default() });
        }
        world
    }
}

/// A due row: what the decision needs and what the launch needs.
#[derive(Clone, Debug)]
pub struct DueRow {
    /// For the decision.
    pub due: Due,
    /// The schedule's run in flight, if there is one.
    pub active_run: Option<RunKey>,
    /// For the launch.
    pub launch: Launchable,
}

/// Everything a target needs to launch a run.
#[derive(Clone, Debug)]
pub struct Launchable {
    /// The run.
    pub run: RunKey,
    /// Its schedule inside the database.
    pub schedule: ScheduleKey,
    /// Its schedule's public id.
    pub schedule_id: ScheduleId,
    /// Its schedule's name.
    pub schedule_name: String,
    /// The tick.
    pub scheduled_for: Timestamp,
    /// When it was to be admitted.
    pub fire_at: Timestamp,
    /// Which attempt this is, from 1.
    pub attempt: u32,
    /// Where it goes.
    pub action: Action,
}

/// A run that was launched.
#[derive(Clone, Copy, Debug)]
pub struct Started {
    /// The run.
    pub run: RunKey,
    /// When.
    pub at: Timestamp,
}

/// A run that ended.
#[derive(Clone, Debug)]
pub struct Ended {
    /// How.
    pub settlement: Settlement,
    /// When it was launched, if it was.
    pub started_at: Option<Timestamp>,
    /// What it printed, within bounds.
    pub output: Option<String>,
}

/// A process that serves.
#[derive(Clone, Debug)]
pub struct Node {
    /// A random id per process start; never the host's name.
    pub id: String,
    /// Its process id.
    pub pid: u32,
    /// When it started.
    pub started_at: Timestamp,
}

/// A schedule to be written, with the first window of its ticks.
#[derive(Clone, Debug)]
pub struct NewSchedule {
    /// The definition.
    pub definition: Schedule,
    /// When it was made.
    pub created_at: Timestamp,
    /// Its first window.
    pub plan: Plan,
}

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

/// A schedule as it is shown.
#[derive(Clone, Debug)]
pub struct ScheduleRow {
    /// The definition.
    pub definition: Schedule,
    /// Whose it is.
    pub org_id: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// When it was deleted, if it was.
    pub deleted_at: Option<Timestamp>,
    /// When it runs next.
    pub next_run_at: Option<Timestamp>,
    /// When its last run ended.
    pub last_run_at: Option<Timestamp>,
    /// How its last run ended.
    pub last_run_status: Option<RunStatus>,
    /// How many runs ended.
    pub run_count: i64,
    /// How many of them ended well.
    pub success_count: i64,
    /// How many of them ended badly.
    pub failure_count: i64,
}

/// Which part of a ledger to show.
#[derive(Clone, Copy, Debug)]
pub struct Page {
    /// Ticks from here.
    pub since: Timestamp,
    /// Ticks up to here, inclusive.
    pub until: Timestamp,
    /// At most this many rows.
    pub limit: u32,
}

/// A ledger entry as it is shown.
#[derive(Clone, Debug)]
pub struct RunRow {
    /// Its own id.
    pub run: RunKey,
    /// Its schedule.
    pub schedule_id: ScheduleId,
    /// Its schedule's name.
    pub schedule_name: String,
    /// What brought it about.
    pub origin: Origin,
    /// The tick.
    pub scheduled_for: Timestamp,
    /// When it was to be admitted.
    pub fire_at: Timestamp,
    /// Where it is in its life.
    pub status: RunStatus,
    /// Why.
    pub reason: Option<Reason>,
    /// The definition's version it ran under.
    pub version: i64,
    /// The last attempt, from 1; 0 before the first.
    pub attempt: u32,
    /// When it was admitted.
    pub enqueued_at: Option<Timestamp>,
    /// When it was launched.
    pub started_at: Option<Timestamp>,
    /// When it ended.
    pub completed_at: Option<Timestamp>,
    /// What it printed.
    pub output: Option<String>,
    /// The node that ran it.
    pub node: Option<String>,
}

/// A stretch of equal non-fires as it is shown.
#[derive(Clone, Debug)]
pub struct RangeRow {
    /// Its schedule.
    pub schedule_id: ScheduleId,
    /// Its schedule's name.
    pub schedule_name: String,
    /// First tick.
    pub first: Timestamp,
    /// Last tick.
    pub last: Timestamp,
    /// How many ticks.
    pub count: i64,
    /// As what they ended.
    pub status: RunStatus,
    /// Why.
    pub reason: Reason,
}
