//! A schedule as data: what it is called, when it ticks, what it wants, where its runs go.

use jiff::SignedDuration;
use punctual_time::{Dialect, Timing};

use crate::name::named;
use crate::{Policy, ScheduleId};

/// The stored definition of a schedule, one version of it.
#[derive(Clone, Debug)]
pub struct Schedule {
    /// The public id.
    pub id: ScheduleId,
    /// Unique among the org's living schedules.
    pub name: String,
    /// Raised by each change.
    pub version: i64,
    /// Its "when" as the person wrote it.
    pub spec: String,
    /// The dialect it was written in.
    pub dialect: Dialect,
    /// When it runs, made definite.
    pub when: When,
    /// What it wants to happen to its ticks.
    pub policy: Policy,
    /// Where a run goes.
    pub target: Target,
}

impl Schedule {
    /// The name of the zone whose wall clock it follows; UTC if it follows another schedule instead.
    pub fn timezone(&self) -> &str {
        self.when.timing().map_or("UTC", |timing| timing.zone.name())
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

/// Where a run goes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Target {
    /// A program on this host, by its argument vector; never a shell string.
    Process {
        /// The program and its arguments; never empty.
        argv: Vec<String>,
    },
    /// An HTTP request.
    Webhook {
        /// Where to.
        url: String,
    },
    /// A queue from which workers take runs.
    Queue {
        /// Its name.
        queue: String,
    },
    /// A message event for a broker.
    Message {
        /// The template.
        template: String,
    },
    /// A workflow of the workflow store.
    Workflow {
        /// Its id.
        workflow_id: String,
        /// Its version.
        version: u32,
    },
    /// A closure in the embedding program.
    Callback {
        /// The task's identifier.
        task: String,
    },
}
