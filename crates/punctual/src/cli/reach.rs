//! Which commands a server is asked for, and why the others are not: a decision for each, which the compiler asks for.

use super::Command;
use super::maintenance::Maintenance;
use super::system::System;

/// Where a command is carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// Wherever the schedules are: a server is asked as well.
    Anywhere,
    /// On the host of the database alone, for this reason.
    Here(&'static str),
    /// Nowhere in particular: it needs no schedules.
    Alone,
}

const SERVES: &str = "it is itself a server, of a database";
const WORKS: &str = "it takes runs from the database itself; over HTTP, workers in any language lease them as \
                     `docs/guides/workers.md` shows";
const SECRETS: &str =
    "secrets are sealed with a key that never leaves the host, and their values never go over HTTP";
const DATABASE: &str = "it is about the files or the tables of the database";
const DECLARES: &str = "a declared set is compared with all that is stored, and may remove what it finds";
const EXPORTS: &str = "it reads all that is stored, what is shared among it, as one file";
const LOOKS: &str = "it looks at the disk, the clock and the files of the host";
const PAUSES_ALL: &str = "a token is good for one org, and this is about all of them";

impl Command {
    /// Where it is carried out. There is no case for the rest: whoever adds a command decides.
    pub(super) fn reach(&self) -> Reach {
        match self {
            Self::Serve(_) => Reach::Here(SERVES),
            Self::Worker(_) => Reach::Here(WORKS),
            Self::Secret(_) => Reach::Here(SECRETS),
            Self::Db(_) => Reach::Here(DATABASE),
            Self::Apply(_) => Reach::Here(DECLARES),
            Self::Export(_) => Reach::Here(EXPORTS),
            Self::Plan(plan) if plan.is_alone() => Reach::Alone,
            Self::Plan(_) => Reach::Here(DECLARES),
            Self::System(system) => system.reach(),
            Self::Why(why) if !why.asks_database() => Reach::Alone,
            Self::Schedule(command) if command.needs_none() => Reach::Alone,
            Self::Schedule(_)
            | Self::Request(_)
            | Self::Runs(_)
            | Self::Logs(_)
            | Self::Cancel(_)
            | Self::Retry(_)
            | Self::Audit(_)
            | Self::Backfill(_)
            | Self::Workflow(_)
            | Self::Why(_)
            | Self::Complete(_) => Reach::Anywhere,
            Self::Config(_)
            | Self::Spec(_)
            | Self::Simulate(_)
            | Self::Schema(_)
            | Self::Completions(_)
            | Self::Man(_) => Reach::Alone,
        }
    }
}

impl System {
    fn reach(&self) -> Reach {
        match self {
            Self::Breaker(_) | Self::Nodes => Reach::Anywhere,
            Self::Doctor(_) => Reach::Here(LOOKS),
            Self::Maintenance(maintenance) => maintenance.reach(),
        }
    }
}

impl Maintenance {
    fn reach(&self) -> Reach {
        if self.is_of_installation() { Reach::Here(PAUSES_ALL) } else { Reach::Anywhere }
    }
}
