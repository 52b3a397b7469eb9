//! A story: everything that will be done to a cluster, decided by a seed before it begins.
//!
//! It is plain data, so that a failing one can be told again without some of its acts until only those are left that
//! matter.

use std::fmt;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use punctual_plan::Pace;
use punctual_store::Retention;
use punctual_time::edition::MOVING;

use crate::sketch::{Sketch, name_of};

/// Where a story's ledger is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keeping {
    /// In memory.
    Memory,
    /// In memory, as if other programs wrote into it: nodes plan beside their loop, as they do on a server.
    Shared,
    /// In a file of SQLite.
    Sqlite,
}

/// How fast a cluster lives.
#[derive(Clone, Copy, Debug)]
pub struct Rhythm {
    /// How long a node's lease lasts.
    pub lease: SignedDuration,
    /// How long a node does nothing at least when nothing is due: its duties, and what has failed.
    pub idle: Duration,
    /// How far ahead it plans, and how long its loop sleeps at most.
    pub pace: Pace,
    /// How long rows are kept.
    pub retention: Retention,
    /// How often the whole account is looked at.
    pub look_every: Duration,
}

impl Rhythm {
    /// As in production: hours of ticks by the second.
    pub fn close() -> Self {
        Self {
            lease: SignedDuration::from_secs(3),
            idle: Duration::from_millis(300),
            pace: Pace::default(),
            retention: kept(SignedDuration::from_mins(20)),
            look_every: Duration::from_secs(60),
        }
    }

    /// A hundred times slower: weeks of ticks by the minute.
    pub fn wide() -> Self {
        Self {
            lease: SignedDuration::from_secs(300),
            idle: Duration::from_secs(30),
            pace: Pace {
                tick: SignedDuration::from_secs(30),
                lookahead: SignedDuration::from_mins(30),
                ..Pace::default()
            },
            retention: kept(SignedDuration::from_hours(6)),
            look_every: Duration::from_secs(1_800),
        }
    }

    /// Three times slower still, in the proportions of production: as few looks as ticks by the minute and crashes by the
    /// half hour need, for years.
    pub fn far() -> Self {
        Self {
            lease: SignedDuration::from_secs(900),
            idle: Duration::from_secs(300),
            pace: Pace {
                tick: SignedDuration::from_secs(300),
                lookahead: SignedDuration::from_mins(60),
                ..Pace::default()
            },
            retention: kept(SignedDuration::from_hours(6)),
            look_every: Duration::from_secs(3_600),
        }
    }

    /// How long after the last fault everything is as if there had been none.
    pub(crate) fn calm_after(&self) -> Duration {
        length(self.lease) * 2 + length(self.pace.tick) + Duration::from_secs(5)
    }

    /// How early a tick may be admitted by the database's clock: what a node's own
    /// clock gains between two questions, and what it cannot tell from its own one.
    pub(crate) fn early_max(&self) -> SignedDuration {
        self.lease / 3 / 1_000 + SignedDuration::from_millis(50)
    }

    /// How late a tick may be admitted where nothing is wrong: somebody else may have made it known.
    pub(crate) fn late_max(&self) -> SignedDuration {
        self.pace.tick + SignedDuration::from_secs(1)
    }
}

fn kept(age: SignedDuration) -> Retention {
    Retention { runs: age, failures: age, audit: age, runs_per_schedule: 100_000, ..Retention::default() }
}

/// A length of time that is never negative.
pub(crate) fn length(duration: SignedDuration) -> Duration {
    Duration::try_from(duration).unwrap_or(Duration::ZERO)
}

/// A story.
#[derive(Clone, Debug)]
pub struct Story {
    /// What decided it.
    pub seed: u64,
    /// Where its ledger is kept.
    pub keeping: Keeping,
    /// How fast its cluster lives.
    pub rhythm: Rhythm,
    /// How many nodes there are.
    pub nodes: usize,
    /// When it begins.
    pub begins: Timestamp,
    /// How long faults go on; then everything has to come right.
    pub lasts: Duration,
    /// The schedules that there are from the beginning.
    pub sketches: Vec<Sketch>,
    /// What is done, in its order.
    pub deeds: Vec<Deed>,
    /// The schedule of which everything is printed, by its number.
    pub follow: Option<usize>,
}

/// Something that is done at some time.
#[derive(Clone, Debug)]
pub struct Deed {
    /// How long after the beginning.
    pub at: Duration,
    /// What.
    pub act: Act,
}

/// What is done to a cluster. Nodes and schedules are numbers.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "what a variant says is what its values are for")]
pub enum Act {
    /// A node is killed and comes back.
    Crash { node: usize, down: Duration },
    /// A node is asked to stop and comes back.
    Stop { node: usize, down: Duration },
    /// A node stands still for a while.
    Pause { node: usize, held: Duration },
    /// A node is killed and its disk is lost.
    LoseJournal { node: usize, down: Duration },
    /// The clock of a node is set.
    StepNode { node: usize, by: SignedDuration },
    /// Every clock is set.
    StepAll { by: SignedDuration },
    /// The clock of a node goes wrong.
    Drift { node: usize, ppm: i32 },
    /// Every machine sleeps.
    Suspend { slept: Duration },
    /// Nobody reaches the database.
    Away { gone: Duration },
    /// One node does not reach the database.
    Cut { node: usize, gone: Duration },
    /// Calls fail, or are done and go unanswered, so many of a hundred.
    Flaky { lasts: Duration, percent: u64 },
    /// Calls take up to so long.
    Slow { lasts: Duration, longest: Duration },
    /// Targets fail much more than usual.
    Trouble { lasts: Duration },
    /// A schedule is made.
    Create(Box<Sketch>),
    /// A schedule gets another definition.
    Edit(Box<Sketch>),
    /// A schedule is paused and, if still so, enabled after a while.
    PauseSchedule { schedule: usize, held: Duration },
    /// A schedule is enabled, whatever it left `active` for.
    Enable { schedule: usize },
    /// A schedule is deleted.
    Delete { schedule: usize },
    /// A run is asked for.
    Trigger { schedule: usize, wish: Wish },
    /// Whatever is in flight of a schedule is cancelled.
    Cancel { schedule: usize },
    /// New rules of the zones come: nodes are replaced one by one by such that have them.
    ZoneRules,
}

impl Story {
    /// The schedules that are sometime in a zone whose rules change, as the database names them.
    pub(crate) fn moving(&self) -> Vec<String> {
        let made = self.deeds.iter().filter_map(|deed| match &deed.act {
            Act::Create(sketch) | Act::Edit(sketch) => Some(&**sketch),
            _ => None,
        });
        let is_moving = |sketch: &&Sketch| MOVING.iter().any(|moving| moving.name == sketch.zone);
        let moving = self.sketches.iter().chain(made).filter(is_moving);
        moving.map(|sketch| format!("of `{}`", name_of(sketch.number))).collect()
    }
}

/// How a run is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    /// In its turn.
    Plain,
    /// Beside whatever is in flight.
    Forced,
    /// In its turn, and the request is sent twice.
    Twice,
}

/// Every kind of fault and disturbance that is counted; none may be missing over many seeds.
pub const KINDS: &[&str] = &[
    "crash",
    "stop",
    "pause",
    "journal lost",
    "clock of a node set",
    "all clocks set",
    "clock drift",
    "suspend",
    "database away",
    "node cut off",
    "commit failed",
    "commit unanswered",
    "call delayed",
    "read failed",
    "target failed",
    "target refused",
    "target hung",
    "target answered late",
    "target answered twice",
    "worker lost",
    "schedule created",
    "schedule edited",
    "schedule paused",
    "schedule enabled",
    "schedule deleted",
    "run triggered",
    "run forced",
    "trigger repeated",
    "runs cancelled",
    "zone rules changed",
    "schedule moved by new rules",
];

impl Act {
    /// What it is counted as; some are counted by what they cause.
    pub(crate) fn kind(&self) -> Option<&'static str> {
        Some(match self {
            Self::Stop { .. } => "stop",
            Self::Pause { .. } => "pause",
            Self::LoseJournal { .. } => "journal lost",
            Self::StepNode { .. } => "clock of a node set",
            Self::StepAll { .. } => "all clocks set",
            Self::Drift { .. } => "clock drift",
            Self::Suspend { .. } => "suspend",
            Self::Away { .. } => "database away",
            Self::Cut { .. } => "node cut off",
            Self::Crash { .. } | Self::Flaky { .. } | Self::Slow { .. } | Self::Trouble { .. } => {
                return None;
            }
            Self::Create(_) => "schedule created",
            Self::Edit(_) => "schedule edited",
            Self::PauseSchedule { .. } => "schedule paused",
            Self::Enable { .. } => "schedule enabled",
            Self::Delete { .. } => "schedule deleted",
            Self::Trigger { wish: Wish::Plain, .. } => "run triggered",
            Self::Trigger { wish: Wish::Forced, .. } => "run forced",
            Self::Trigger { wish: Wish::Twice, .. } => "trigger repeated",
            Self::Cancel { .. } => "runs cancelled",
            Self::ZoneRules => "zone rules changed",
        })
    }
}

impl fmt::Display for Deed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.at.as_secs();
        let (days, hours, minutes) = (seconds / 86_400, seconds / 3_600 % 24, seconds / 60 % 60);
        write!(f, "day {days} {hours:02}:{minutes:02}:{:02}.{:03}  ", seconds % 60, self.at.subsec_millis())?;
        match &self.act {
            Act::Create(sketch) => write!(f, "create {}", brief(sketch)),
            Act::Edit(sketch) => write!(f, "edit into {}", brief(sketch)),
            act => write!(f, "{act:?}"),
        }
    }
}

/// A sketch in a line.
pub fn brief(sketch: &Sketch) -> String {
    let policy = &sketch.policy;
    let mut said = format!(
        "s{:02} {:?} in {}, overlap {}, catch up {}, grace {} s",
        sketch.number,
        sketch.beat,
        sketch.zone,
        policy.overlap,
        policy.catch_up,
        policy.grace.as_secs()
    );
    let marks = [
        policy.guard.as_ref().map(|guard| format!("guard {guard}")),
        policy.lane.as_ref().map(|lane| format!("lane {lane}")),
        policy.start_deadline.map(|limit| format!("start deadline {} s", limit.as_secs())),
        policy.retry_after.map(|after| format!("retry after {} s", after.as_secs())),
        policy.depends_on.as_ref().map(|_| "depends on another".to_owned()),
        sketch.max_runs.map(|max| format!("at most {max} runs")),
        sketch.only_between.map(|(from, to)| format!("only between {from} and {to} s of the day")),
        (sketch.not_on != 0).then(|| format!("not on {:07b}", sketch.not_on)),
        (policy.jitter.max > SignedDuration::ZERO).then(|| format!("jitter {:?}", policy.jitter)),
        Some(format!("{:?} {}", sketch.place, policy.delivery)),
    ];
    for mark in marks.into_iter().flatten() {
        said += ", ";
        said += &mark;
    }
    said
}
