//! The oracle: what the promises say must be so, kept up to date with everything that it sees.
//!
//! It learns what people did from the story, what the ledger says row by row as it is written, and what the world saw
//! from the targets. `row` follows each run through its states, `start` and `end` judge two of them, `account` counts
//! ticks, `launch` watches who acts on the world. It never asks the planner: ticks come from `wall`.

mod account;
mod end;
mod known;
mod launch;
mod row;
mod rules;
mod start;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use punctual_plan::{Fence, RunKey, ScheduleKey};

pub(crate) use account::Books;
pub(crate) use known::Standing;
use known::{Known, Seen, Walls};
pub(crate) use row::FORCED;

use crate::sketch::Sketch;
use crate::story::Rhythm;
use crate::wall::Wall;

/// Sentences that are kept about one story: the first ones tell most.
const BROKEN_MAX: usize = 20;

/// A moment by both clocks that matter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    /// What the database's clock shows.
    pub(crate) db: Timestamp,
    /// How long the story has been told; no clock is set by this.
    pub(crate) real: Duration,
}

/// How closely it sees what is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Grain {
    /// Each row after each commit.
    Fine,
    /// All rows now and then: what happened in between, and in which order, is not known.
    Coarse,
}

/// Everything that it knows.
pub(crate) struct Oracle {
    rhythm: Rhythm,
    grain: Grain,
    walls: Walls,
    /// Which rules of the zones are the newest that a node has brought, and since when.
    rules: usize,
    ruled_since: Duration,
    schedules: BTreeMap<ScheduleKey, Known>,
    runs: HashMap<RunKey, Seen>,
    leases: HashMap<Fence, Timestamp>,
    /// Faults that go on.
    faults_open: u32,
    /// Until when what they did may show.
    upset_until: Duration,
    /// Until when, by the database's clock, leases from before it was set back may last.
    leased_until: Timestamp,
    /// The farthest that a node can have believed the database's clock before it was set back.
    believed_max: Timestamp,
    /// Until when clocks that were set explain what a node believes.
    stepped_until: Duration,
    /// Upstream runs that ended, and who has to follow.
    to_follow: Vec<Following>,
    /// Runs that were skipped because all runs of their schedules have been, and are not judged yet.
    spent: Vec<Spent>,
    /// Rows of ticks that have come which are gone, and are not judged yet.
    gone: Vec<Gone>,
    broken: Vec<String>,
    /// The schedule of which everything is printed, by its number.
    pub(crate) follow: Option<usize>,
    /// Ticks that were held against the ledger.
    pub(crate) ticks: u64,
    /// Runs whose admission was judged.
    pub(crate) starts: u64,
}

/// Somebody who has to follow a run that ended.
struct Following {
    schedule: ScheduleKey,
    upstream: RunKey,
}

/// A run that was skipped because so many of its schedule have been.
struct Spent {
    schedule: ScheduleKey,
    run: RunKey,
    max: u64,
}

/// A row that went although its tick has come.
struct Gone {
    schedule: ScheduleKey,
    tick: i64,
    /// When it went.
    moment: Moment,
    /// What is wrong about that, unless its schedule had left `active` before its tick.
    what: String,
}

impl Oracle {
    /// An oracle that knows nothing but how fast the cluster lives.
    pub(crate) fn new(rhythm: Rhythm, grain: Grain) -> Self {
        Self {
            rhythm,
            grain,
            walls: Walls::default(),
            rules: 0,
            ruled_since: Duration::ZERO,
            schedules: BTreeMap::new(),
            runs: HashMap::new(),
            leases: HashMap::new(),
            faults_open: 0,
            upset_until: Duration::ZERO,
            leased_until: Timestamp::MIN,
            believed_max: Timestamp::MIN,
            stepped_until: Duration::ZERO,
            to_follow: Vec::new(),
            spent: Vec::new(),
            gone: Vec::new(),
            broken: Vec::new(),
            follow: None,
            ticks: 0,
            starts: 0,
        }
    }

    /// Teaches it the clock of a zone by some rules.
    pub(crate) fn know_zone(&mut self, (zone, rules): (&'static str, usize), wall: Wall) {
        self.walls.learn(zone, rules, wall);
    }

    /// What is wrong so far.
    pub(crate) fn broken(&self) -> &[String] {
        &self.broken
    }

    /// Notes that something is wrong.
    pub(crate) fn complain(&mut self, moment: Moment, what: impl std::fmt::Display) {
        if self.broken.len() < BROKEN_MAX {
            let seconds = moment.real.as_secs_f64();
            self.broken.push(format!("{} (after {seconds:.3} s): {what}", moment.db));
        }
    }

    /// Prints what is seen of a schedule that is followed.
    #[allow(clippy::print_stdout, reason = "whoever follows a schedule wants to see it")]
    fn say(&self, moment: Moment, of: ScheduleKey, what: impl std::fmt::Display) {
        let is_followed =
            |number: usize| self.schedules.get(&of).is_some_and(|known| known.present().number == number);
        if self.follow.is_some_and(is_followed) {
            println!("{} ({:.3} s): {what}", moment.db, moment.real.as_secs_f64());
        }
    }

    // ---- Faults.

    /// A fault begins to go on.
    pub(crate) fn upset(&mut self) {
        self.faults_open += 1;
    }

    /// A fault that went on ends.
    pub(crate) fn settle_down(&mut self, moment: Moment) {
        self.faults_open = self.faults_open.saturating_sub(1);
        self.disturb(moment);
    }

    /// Something happened that takes no time.
    pub(crate) fn disturb(&mut self, moment: Moment) {
        self.upset_until = self.upset_until.max(moment.real + self.rhythm.calm_after());
    }

    /// The clock that decides was set, and showed this before.
    pub(crate) fn step(&mut self, moment: Moment, before: Timestamp) {
        self.disturb(moment);
        // Leases that had been given last until the clock has come as far again, whether their nodes live or not.
        let until = before.saturating_add(self.rhythm.calm_after()).unwrap_or(Timestamp::MAX);
        self.leased_until = self.leased_until.max(until);
        // A node that was cut off meanwhile does not know before it reaches the database again.
        let unaware = self.rhythm.calm_after() * 4;
        self.stepped_until = moment.real + unaware;
        self.believed_max = self.believed_max.max(before.saturating_add(unaware).unwrap_or(Timestamp::MAX));
    }

    /// Whether nothing is wrong, and has not been for so long that nothing of it may show any more.
    fn is_calm(&self, moment: Moment) -> bool {
        self.faults_open == 0 && moment.real >= self.upset_until && moment.db >= self.leased_until
    }

    /// Whether the database's clock was set so recently that a node may not know yet.
    fn is_stepped(&self, moment: Moment) -> bool {
        moment.real < self.stepped_until
    }

    // ---- What people did.

    /// A schedule was made.
    pub(crate) fn created(&mut self, key: ScheduleKey, sketch: Arc<Sketch>, made: Timestamp) {
        self.schedules.insert(key, Known::new(sketch, made, self.rules));
    }

    /// A schedule got another version at an instant that both agree on.
    pub(crate) fn edited(&mut self, key: ScheduleKey, sketch: Arc<Sketch>, at: Timestamp) {
        self.say(Moment { db: at, real: Duration::ZERO }, key, crate::story::brief(&sketch));
        if let Some(known) = self.schedules.get_mut(&key) {
            known.edit(sketch, at, self.rules);
        }
    }

    /// A schedule left `active`, came back or was deleted at an instant that both agree on.
    pub(crate) fn stands(&mut self, key: ScheduleKey, standing: Standing, at: Timestamp) {
        self.say(Moment { db: at, real: Duration::ZERO }, key, format_args!("it is {standing:?}"));
        if let Some(known) = self.schedules.get_mut(&key) {
            known.stand(standing, at);
        }
    }

    /// A change decided a schedule through an instant.
    pub(crate) fn decided(&mut self, key: ScheduleKey, through: Timestamp) {
        if let Some(known) = self.schedules.get_mut(&key) {
            known.decided_through = known.decided_through.max(through);
        }
    }

    /// The runs that it knows of.
    pub(crate) fn known_runs(&self) -> Vec<RunKey> {
        let mut keys: Vec<RunKey> = self.runs.keys().copied().collect();
        keys.sort_unstable();
        keys
    }

    /// The runs that were in flight when it last looked.
    pub(crate) fn in_flight(&self) -> Vec<RunKey> {
        self.schedules.values().flat_map(|known| known.in_flight.keys().copied()).collect()
    }

    /// The sketch of a schedule in a version.
    pub(crate) fn sketch(&self, key: ScheduleKey, version: i64) -> Option<Arc<Sketch>> {
        self.schedules.get(&key)?.sketches.get(&version).cloned()
    }
}
