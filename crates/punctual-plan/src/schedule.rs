//! A schedule as data: what it is called, when it ticks, where its runs go.

use punctual_time::{Cron, Dialect, Zone};

use crate::ScheduleId;

/// The stored definition of a schedule, one version of it.
#[derive(Clone, Debug)]
pub struct Definition {
    /// The public id.
    pub id: ScheduleId,
    /// Unique among the org's living schedules.
    pub name: String,
    /// The spec as the person wrote it.
    pub spec: String,
    /// The dialect the spec was written in.
    pub dialect: Dialect,
    /// The spec, parsed.
    pub cron: Cron,
    /// Where its wall clock hangs.
    pub zone: Zone,
    /// Where a run goes.
    pub target: Target,
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
}
