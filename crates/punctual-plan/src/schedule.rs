//! A schedule as data: what it is called, when it ticks, what it wants, where its runs go.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use punctual_time::{Anchor, Bounds, Dialect, Spec, Timing, Windows, Zone};

use crate::name::named;
use crate::{Action, BreakerRule, Object, Policy, ScheduleId, Target};

/// The stored definition of a schedule, one version of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// The public id.
    pub id: ScheduleId,
    /// Unique among the org's living schedules.
    pub name: String,
    /// Whose runs they are.
    pub owner: Owner,
    /// What it is for.
    pub description: Option<String>,
    /// Words to choose many schedules by.
    pub tags: Vec<String>,
    /// Raised by each change.
    pub version: i64,
    /// Its "when" as the person wrote it.
    pub spec: String,
    /// The dialect it was written in.
    pub dialect: Dialect,
    /// When it runs, made definite.
    pub when: When,
    /// What it wants to happen to its ticks.
    pub policy: Arc<Policy>,
    /// Where a run goes.
    pub target: Arc<Target>,
    /// What its runs carry.
    pub payload: Object,
}

impl Schedule {
    /// The first version of a schedule that only has ticks and something to do.
    ///
    /// ```
    /// use punctual_plan::{Action, Process, Schedule, ScheduleId};
    /// use punctual_time::{Cron, Timing, Zone};
    ///
    /// let timing = Timing::new("0 3 * * *".parse::<Cron>()?, Zone::utc());
    /// let id = ScheduleId(uuid::Uuid::nil());
    /// let schedule = Schedule::new(id, "backup", timing, Action::Process(Process::new(["backup"])));
    /// assert_eq!((schedule.spec.as_str(), schedule.version), ("0 3 * * *", 1));
    /// # Ok::<(), punctual_time::Error>(())
    /// ```
    pub fn new(id: ScheduleId, name: &str, timing: Timing, action: Action) -> Self {
        let dialect = match &timing.spec {
            Spec::Cron(cron) => cron.dialect(),
            _ => Dialect::default(),
        };
        Self {
            id,
            name: name.to_owned(),
            owner: Owner::default(),
            description: None,
            tags: Vec::new(),
            version: 1,
            spec: timing.spec.to_string(),
            dialect,
            when: When::Ticks(Box::new(timing)),
            policy: Arc::default(),
            target: Arc::new(Target { name: name.to_owned(), action, breaker: BreakerRule::default() }),
            payload: Object::new(),
        }
    }

    /// The name of the zone in which its local times and windows are read.
    pub fn timezone(&self) -> &str {
        match &self.when {
            When::Ticks(timing) => timing.zone.name(),
            When::Chain(chain) => chain.zone.name(),
        }
    }
}

/// The tenant and the person or agent that a schedule belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Owner {
    /// The tenant.
    pub org_id: String,
    /// The person or agent in it; none if the org itself.
    pub user_id: Option<String>,
}

impl Default for Owner {
    fn default() -> Self {
        Self { org_id: "default".to_owned(), user_id: None }
    }
}

/// When a schedule runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum When {
    /// At the ticks of a spec.
    Ticks(Box<Timing>),
    /// After runs of another schedule.
    Chain(Chain),
}

impl When {
    /// Whether each tick hangs on the run before it by this anchor.
    pub fn floats_on(&self, anchor: Anchor) -> bool {
        self.timing().is_some_and(|timing| timing.floats_on(anchor))
    }

    /// Whether each tick hangs on the run before it, by either anchor.
    pub fn is_floating(&self) -> bool {
        self.timing().is_some_and(Timing::is_floating)
    }

    /// The ticks, unless it hangs on another schedule.
    pub fn timing(&self) -> Option<&Timing> {
        match self {
            Self::Ticks(timing) => Some(timing),
            Self::Chain(_) => None,
        }
    }
}

/// A schedule that follows another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chain {
    /// Whose runs it follows.
    pub upstream: ScheduleId,
    /// After which ends of them.
    pub on: ChainOn,
    /// How long after.
    pub delay: SignedDuration,
    /// Where its windows are read.
    pub zone: Zone,
    /// From when, until when, how often.
    pub bounds: Bounds,
    /// When it may run at all.
    pub windows: Windows,
}

impl Chain {
    /// A chain without delay, bounds and windows.
    pub fn new(upstream: ScheduleId, on: ChainOn) -> Self {
        Self {
            upstream,
            on,
            delay: SignedDuration::ZERO,
            zone: Zone::utc(),
            bounds: Bounds::default(),
            windows: Windows::default(),
        }
    }

    /// Whether a run that fires at an instant is within the bounds.
    pub(crate) fn contains(&self, at: Timestamp) -> bool {
        self.bounds.start_at.is_none_or(|start| at >= start) && self.bounds.end_at.is_none_or(|end| at <= end)
    }
}

named! {
    /// After which ends of an upstream run a chained schedule runs.
    ChainOn {
        /// It ended well.
        Success = "success",
        /// It ended badly.
        Failure = "failure",
        /// It ended, however.
        Finish = "finish",
    }
}
