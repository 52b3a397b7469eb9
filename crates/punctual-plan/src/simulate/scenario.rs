//! Scenario: the schedules, the stretch of time, and what happens in it.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};

use crate::{Action, OrgLimits, Outcome, Pace, Schedule, ScheduleId, Status};

/// Everything that a simulation depends on.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// The schedules, made at `from`.
    pub schedules: Vec<Member>,
    /// Where it begins.
    pub from: Timestamp,
    /// Where it ends, included.
    pub to: Timestamp,
    /// How far ahead is planned, and how fast late ticks fire.
    pub pace: Pace,
    /// What the org may use; no limit if none.
    pub limits: Option<OrgLimits>,
    /// When no node runs, in the order of time.
    pub outages: Vec<Outage>,
    /// What runs do.
    pub behaviour: Behaviour,
    /// What the runs of single schedules do, by name.
    pub behaviours: BTreeMap<String, Behaviour>,
    /// What people do, in the order of time.
    pub edits: Vec<Edit>,
}

impl Scenario {
    /// Schedules left alone in a world where every run ends well at once.
    pub fn new(from: Timestamp, to: Timestamp, schedules: Vec<Member>) -> Self {
        Self {
            schedules,
            from,
            to,
            pace: Pace::default(),
            limits: None,
            outages: Vec::new(),
            behaviour: Behaviour::default(),
            behaviours: BTreeMap::new(),
            edits: Vec::new(),
        }
    }

    /// What the runs of a schedule do.
    pub(super) fn behaviour_of(&self, name: &str) -> &Behaviour {
        self.behaviours.get(name).unwrap_or(&self.behaviour)
    }
}

/// A schedule of a scenario.
#[derive(Clone, Debug)]
pub struct Member {
    /// The definition.
    pub schedule: Schedule,
    /// What it starts as.
    pub status: Status,
    /// Whether the first-start rule applies: a tick whose minute contains the start fires at once.
    pub starts_at_once: bool,
}

impl Member {
    /// An active schedule whose first tick comes strictly after the start.
    pub fn new(schedule: Schedule) -> Self {
        Self { schedule, status: Status::Active, starts_at_once: false }
    }
}

/// A stretch without any node: it begins with the death of the one that ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outage {
    /// When the node dies.
    pub from: Timestamp,
    /// When another looks again.
    pub to: Timestamp,
}

/// What runs do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Behaviour {
    /// How long each attempt takes that is launched and heard of.
    pub run_time: SignedDuration,
    /// Which attempts fail.
    pub failing: Failing,
    /// How they fail.
    pub how: How,
}

impl Behaviour {
    /// How long the attempt of a number, from 1, takes until its end is known.
    pub fn takes(&self, number: u32, timeout: SignedDuration) -> SignedDuration {
        match self.how {
            How::Launch if self.failing.hits(number) => SignedDuration::ZERO,
            How::Lost if self.failing.hits(number) => timeout,
            _ => self.run_time.min(timeout),
        }
    }
}

/// Which attempts of a schedule fail.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Failing {
    /// None.
    #[default]
    Never,
    /// All.
    Always,
    /// Each whose number among the schedule's attempts is a multiple of this.
    Every(u32),
    /// The first so many.
    First(u32),
}

impl Failing {
    /// Whether the attempt of a number, from 1, fails.
    pub fn hits(self, number: u32) -> bool {
        match self {
            Self::Never => false,
            Self::Always => true,
            Self::Every(step) => step > 0 && number.is_multiple_of(step),
            Self::First(count) => number <= count,
        }
    }
}

/// How an attempt fails.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum How {
    /// The program ends with exit code 1; another target reports a failure.
    #[default]
    Exit,
    /// It cannot be launched, which takes no time.
    Launch,
    /// Nothing is ever heard of it, until the time that it may take is over.
    Lost,
}

impl How {
    pub(super) fn outcome(self, action: &Action) -> Outcome {
        match self {
            Self::Exit if !matches!(action, Action::Process(_)) => {
                Outcome::Reported { error: "it failed".to_owned() }
            }
            Self::Exit => Outcome::Exited { code: 1 },
            Self::Launch => Outcome::LaunchFailed { error: "the target cannot be reached".to_owned() },
            Self::Lost => Outcome::Lost,
        }
    }
}

/// Something that a person does.
#[derive(Clone, Debug)]
pub struct Edit {
    /// When.
    pub at: Timestamp,
    /// To which schedule.
    pub schedule: ScheduleId,
    /// What.
    pub act: Act,
}

/// A person's wish for a run.
#[derive(Clone, Debug)]
pub struct Request {
    /// Its own key.
    pub nonce: String,
    /// Whether it runs beside whatever is in flight.
    pub is_forced: bool,
}

/// What a person does to a schedule.
#[derive(Clone, Debug)]
pub enum Act {
    /// Gives it a new version.
    Replace(Box<Schedule>),
    /// Takes it out of `active`.
    Leave(Status),
    /// Makes it active again.
    Resume,
    /// Pauses it with the whole installation.
    Maintain {
        /// Why.
        note: String,
    },
    /// Changes something it shares with others; its definition is as given afterwards.
    Share {
        /// What changed.
        what: String,
        /// The definition with the change in it.
        schedule: Box<Schedule>,
    },
    /// Deletes it.
    Delete,
    /// Removes its owner.
    RemoveOwner,
    /// Asks for a run now.
    Trigger(Request),
    /// Cancels whatever is in flight.
    Cancel {
        /// Who.
        by: String,
    },
}
