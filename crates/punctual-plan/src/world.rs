//! The world that `admit` decides in: everything that was read beside the due rows, as data.

use std::collections::HashMap;
use std::sync::Arc;

use jiff::Timestamp;

use crate::name::named;
use crate::{Breaker, OrgKey, Pace, Policy, RunKey, RunStatus, ScheduleKey};

/// What was read beside the due rows. What is not in it is free: no run, no limit, a closed breaker.
#[derive(Clone, Debug)]
pub struct World {
    /// The present.
    pub now: Timestamp,
    /// How fast late ticks fire.
    pub pace: Pace,
    /// How each schedule stands.
    pub schedules: HashMap<ScheduleKey, Standing>,
    /// What goes on in each lane.
    pub lanes: HashMap<Lane, Traffic>,
    /// The run that holds each guard key.
    pub guards: HashMap<(OrgKey, String), RunKey>,
    /// The breaker of each target.
    pub breakers: HashMap<(OrgKey, String), Breaker>,
    /// How much each org has used.
    pub orgs: HashMap<OrgKey, OrgUse>,
    /// Targets that do not take all that is due, for too many runs wait there for their launch.
    pub rooms: HashMap<(OrgKey, String), Room>,
}

impl World {
    /// A world in which everything is free.
    pub fn free(now: Timestamp) -> Self {
        Self {
            now,
            pace: Pace::default(),
            schedules: HashMap::new(),
            lanes: HashMap::new(),
            guards: HashMap::new(),
            breakers: HashMap::new(),
            orgs: HashMap::new(),
            rooms: HashMap::new(),
        }
    }
}

/// What a target still takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// How many rows it takes.
    pub left: usize,
    /// When the next row that it does not take is looked at again.
    pub again_at: Timestamp,
}

/// How a schedule stands at the moment of the decision.
#[derive(Clone, Debug, Default)]
pub struct Standing {
    /// What it wants.
    pub policy: Arc<Policy>,
    /// Its runs whose next attempt is planned, in the order of their ticks.
    pub retrying: Vec<RunKey>,
    /// Where its runs go, as the breaker knows it.
    pub target: String,
    /// How many of its ticks may still be admitted, of how many; none if there is no such bound.
    pub runs_left: Option<RunsLeft>,
}

/// Where runs take turns: usually a schedule's own, or one that several schedules share.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Lane {
    /// Of one schedule.
    Schedule(ScheduleKey),
    /// Of all schedules of an org whose policy names it.
    Shared(OrgKey, String),
}

impl Lane {
    /// The lane that a schedule's runs take.
    pub fn of(schedule: ScheduleKey, org: OrgKey, policy: &Policy) -> Self {
        policy.lane.as_ref().map_or(Self::Schedule(schedule), |name| Self::Shared(org, name.clone()))
    }
}

/// What goes on in a lane.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Runs that are enqueued or running.
    pub in_flight: Vec<RunKey>,
    /// Runs that wait for their turn, in their order.
    pub waiting: Vec<RunKey>,
}

/// What `max_runs` leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunsLeft {
    /// Ticks that may still be admitted.
    pub left: u64,
    /// Ticks that may be admitted in all.
    pub max: u64,
}

/// A schedule that another depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upstream {
    /// Its name.
    pub schedule: String,
    /// Its latest tick at or before the due one, and where it is.
    pub latest: Option<(Timestamp, RunStatus)>,
}

named! {
    /// What happens to a run that finds its org's limit reached.
    #[derive(Default)]
    OverLimit {
        /// It waits for room.
        #[default]
        Wait = "wait",
        /// It is skipped.
        Skip = "skip",
    }
}

/// What an org may use; as much as it likes where nothing is set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OrgLimits {
    /// Runs that may start within a minute.
    pub per_minute_max: Option<u32>,
    /// Runs that may be in flight at once.
    pub in_flight_max: Option<u32>,
    /// What happens beyond.
    pub over: OverLimit,
}

impl OrgLimits {
    /// Whether there is a limit at all.
    pub fn is_limiting(&self) -> bool {
        self.per_minute_max.is_some() || self.in_flight_max.is_some()
    }
}

/// What an org may use and has used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OrgUse {
    /// What it may use.
    pub limits: OrgLimits,
    /// Runs that have started within the present minute.
    pub per_minute: u32,
    /// Runs that are in flight.
    pub in_flight: u32,
}
