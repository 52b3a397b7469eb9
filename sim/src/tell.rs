//! A story is told: its cluster is set up, everything in it is done at its time, and the oracle looks all along.

use std::collections::{BTreeMap, HashSet};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use jiff::Timestamp;
use jiff::tz::{TimeZone, TimeZoneDatabase};
use punctual_engine::{Clock, VirtualClock};
use punctual_store::{
    Access, AnyStore, Cut, INSTALLATION, Memory, RunFilter, ScheduleFilter, Scope, Sqlite, Store,
};
use punctual_time::edition::MOVING;
use tokio::time::Instant;

use crate::cluster::Cluster;
use crate::dice::Dice;
use crate::hub::{Faults, Hub, Parts, State};
use crate::oracle::{Books, Grain, Oracle};
use crate::people::People;
use crate::sketch::Sketch;
use crate::story::{Act, Keeping, Story, length};
use crate::target::work_on_queue;
use crate::totals::Totals;
use crate::wall::Wall;

/// Rows of one list that a look reads at most.
const ROWS_MAX: u32 = 1_000_000;

/// How often workers look at the queue, at least: what they take up is not to last longer than runs may.
const WORKERS_EVERY: Duration = Duration::from_secs(150);

/// What a story came to.
pub struct Told {
    /// What it went through.
    pub totals: Totals,
    /// What is wrong, sentence by sentence; empty if every promise held.
    pub broken: Vec<String>,
}

/// Tells a story from its first to its last word.
///
/// # Panics
/// When the system gives no runtime or no folder.
pub fn tell(story: &Story) -> Told {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a runtime without threads needs nothing from the system");
    let folder = tempfile::tempdir().expect("the system has a folder for temporary files");
    crate::panics::forget();
    let told = std::panic::catch_unwind(AssertUnwindSafe(|| {
        runtime.block_on(async {
            let mut teller = Teller::new(story, folder.path()).await;
            teller.tell().await;
            teller.end().await
        })
    }));
    // A story that cannot be told to its end is as wrong as one that breaks a promise.
    told.unwrap_or_else(|_| Told { totals: Totals::default(), broken: crate::panics::seen() })
}

/// What is to be done later because of what was done.
enum Later {
    Start(usize),
    Kill(usize),
    Release(usize),
    Join,
    Mend(usize),
    Steady,
    Hasten,
    Calm,
    Relieve,
    Enable(usize),
    Upgrade(usize),
}

struct Teller<'a> {
    story: &'a Story,
    hub: Arc<Hub>,
    cluster: Cluster,
    people: People,
    began: Instant,
    later: BTreeMap<(Duration, u64), Later>,
    put: u64,
    looked: Duration,
}

impl<'a> Teller<'a> {
    async fn new(story: &'a Story, folder: &std::path::Path) -> Self {
        let hub = set_up(story, folder).await;
        let cluster = Cluster::new(&hub, story.rhythm, story.seed, story.nodes);
        let people = People::new(&hub, story.rhythm);
        tokio::spawn(work_on_queue(Arc::clone(&hub), (length(story.rhythm.lease) / 2).min(WORKERS_EVERY)));
        Self {
            story,
            hub,
            cluster,
            people,
            began: Instant::now(),
            later: BTreeMap::new(),
            put: 0,
            looked: Duration::ZERO,
        }
    }

    async fn tell(&mut self) {
        for node in 0..self.story.nodes {
            self.cluster.start(node);
        }
        // Whoever joins gets its share only with its second heartbeat.
        self.disturb();
        for sketch in &self.story.sketches {
            self.people.create(sketch);
        }
        let story = self.story;
        for deed in &story.deeds {
            self.until(deed.at).await;
            if self.is_broken() {
                return;
            }
            if let Some(kind) = deed.act.kind() {
                self.hub.state().totals.count(kind);
            }
            self.carry_out(&deed.act).await;
        }
        self.until(story.lasts).await;
    }

    fn is_broken(&self) -> bool {
        !self.hub.state().oracle.broken().is_empty()
    }

    /// Lets time pass until so long after the beginning; does what was put off, and looks at everything now and then.
    async fn until(&mut self, at: Duration) {
        loop {
            let next = self.later.keys().next().map(|(at, _)| *at);
            let look = self.looked + self.story.rhythm.look_every;
            let next = next.into_iter().chain([look, at]).min().unwrap_or(at);
            tokio::time::sleep_until(self.began + next).await;
            if look <= next {
                self.looked = next;
                self.look().await;
                if self.is_broken() {
                    return;
                }
            }
            while let Some(place) = self.later.keys().next().copied().filter(|(due, _)| *due <= next) {
                if let Some(later) = self.later.remove(&place) {
                    self.come_to(later).await;
                }
            }
            if next >= at && self.later.keys().next().is_none_or(|(due, _)| *due > at) {
                return;
            }
        }
    }

    fn put_off(&mut self, by: Duration, later: Later) {
        self.put += 1;
        self.later.insert((self.began.elapsed() + by, self.put), later);
    }

    async fn look(&mut self) {
        for node in self.cluster.gone().await {
            self.put_off(Duration::from_secs(1), Later::Start(node));
        }
        let panics = crate::panics::seen();
        panics.into_iter().for_each(|what| self.hub.complain(what));
        self.hub.look_at_all();
        let books = self.books();
        let moment = self.hub.moment();
        self.hub.state().oracle.audit(moment, &books);
    }

    fn books(&self) -> Books {
        let filter = ScheduleFilter { with_deleted: true, ..ScheduleFilter::default() };
        let schedules =
            self.hub.at_once(self.hub.store.schedules(Scope::Engine, filter, Cut::first(ROWS_MAX)));
        let ranges = self.hub.at_once(self.hub.store.ranges(
            Scope::Engine,
            RunFilter::default(),
            Cut::first(ROWS_MAX),
        ));
        Books {
            schedules: schedules.map(|listed| listed.rows).unwrap_or_default(),
            ranges: ranges.map(|listed| listed.rows).unwrap_or_default(),
        }
    }

    fn upset(&self) {
        self.hub.state().oracle.upset();
    }

    fn settle_down(&self) {
        let moment = self.hub.moment();
        self.hub.state().oracle.settle_down(moment);
    }

    fn disturb(&self) {
        let moment = self.hub.moment();
        self.hub.state().oracle.disturb(moment);
    }

    async fn carry_out(&mut self, act: &Act) {
        match act {
            Act::Crash { .. } | Act::Stop { .. } | Act::Pause { .. } | Act::LoseJournal { .. } => {
                self.strike(act).await;
            }
            Act::StepNode { .. } | Act::StepAll { .. } | Act::Drift { .. } | Act::Suspend { .. } => {
                self.set_clocks(act);
            }
            Act::Away { .. }
            | Act::Cut { .. }
            | Act::Flaky { .. }
            | Act::Slow { .. }
            | Act::Trouble { .. } => {
                self.trouble(act);
            }
            Act::ZoneRules => {
                let pause = length(self.story.rhythm.lease);
                for (place, node) in (0..self.story.nodes).enumerate() {
                    self.put_off(pause * u32::try_from(place).unwrap_or(0), Later::Upgrade(node));
                }
            }
            other => self.wish(other),
        }
    }

    /// What is done to a node.
    async fn strike(&mut self, act: &Act) {
        match act {
            Act::Crash { node, down } | Act::LoseJournal { node, down } => {
                self.cluster.kill(*node).await;
                if matches!(act, Act::LoseJournal { .. }) {
                    self.cluster.lose_journal(*node);
                }
                self.upset();
                self.put_off(*down, Later::Start(*node));
                self.put_off(*down, Later::Calm);
            }
            Act::Stop { node, down } => {
                self.cluster.stop(*node);
                self.upset();
                let patience = length(self.story.rhythm.lease) * 2;
                self.put_off(patience, Later::Kill(*node));
                self.put_off(patience + *down, Later::Start(*node));
                self.put_off(patience + *down, Later::Calm);
            }
            Act::Pause { node, held } => {
                self.cluster.hold(*node);
                self.upset();
                self.put_off(*held, Later::Release(*node));
            }
            _ => {}
        }
    }

    fn set_clocks(&mut self, act: &Act) {
        let before = self.hub.now();
        match act {
            Act::StepNode { node, by } => self.cluster.step(*node, *by),
            Act::Drift { node, ppm } => self.cluster.drift(*node, *ppm),
            Act::StepAll { by } => self.cluster.step_all(*by),
            Act::Suspend { slept } => self.cluster.suspend(*slept),
            _ => {}
        }
        let moment = self.hub.moment();
        let mut state = self.hub.state();
        match act {
            Act::StepAll { .. } | Act::Suspend { .. } => state.oracle.step(moment, before),
            _ => state.oracle.disturb(moment),
        }
    }

    fn trouble(&mut self, act: &Act) {
        let (lasts, later) = {
            let mut state = self.hub.state();
            match act {
                Act::Away { gone } => {
                    state.faults.away += 1;
                    (*gone, Later::Join)
                }
                Act::Cut { node, gone } => {
                    state.faults.cut[*node] += 1;
                    (*gone, Later::Mend(*node))
                }
                Act::Flaky { lasts, percent } => {
                    state.faults.flaky.push(*percent);
                    (*lasts, Later::Steady)
                }
                Act::Slow { lasts, longest } => {
                    state.faults.slow.push(*longest);
                    (*lasts, Later::Hasten)
                }
                Act::Trouble { lasts } => {
                    state.faults.trouble += 1;
                    (*lasts, Later::Relieve)
                }
                _ => return,
            }
        };
        self.upset();
        self.put_off(lasts, later);
    }

    fn wish(&mut self, act: &Act) {
        match act {
            Act::Create(sketch) => self.people.create(sketch),
            Act::Edit(sketch) => self.people.edit(sketch),
            Act::PauseSchedule { schedule, held } => {
                self.people.pause(*schedule);
                self.put_off(*held, Later::Enable(*schedule));
            }
            Act::Enable { schedule } => self.people.enable(*schedule),
            Act::Delete { schedule } => self.people.delete(*schedule),
            Act::Trigger { schedule, wish } => self.people.trigger(*schedule, *wish),
            Act::Cancel { schedule } => self.people.cancel(*schedule),
            _ => {}
        }
    }

    async fn come_to(&mut self, later: Later) {
        match later {
            Later::Start(node) => {
                self.cluster.start(node);
                self.disturb();
            }
            Later::Kill(node) => {
                self.cluster.kill(node).await;
                self.disturb();
            }
            Later::Release(node) => {
                self.cluster.release(node);
                self.settle_down();
            }
            Later::Enable(schedule) => self.people.enable(schedule),
            Later::Upgrade(node) => self.upgrade(node).await,
            other => {
                {
                    let mut state = self.hub.state();
                    match other {
                        Later::Join => state.faults.away -= 1,
                        Later::Mend(node) => state.faults.cut[node] -= 1,
                        Later::Steady => drop(state.faults.flaky.pop()),
                        Later::Hasten => drop(state.faults.slow.pop()),
                        Later::Relieve => state.faults.trouble -= 1,
                        _ => {}
                    }
                }
                self.settle_down();
            }
        }
    }

    /// A node is replaced by one with a newer tz database.
    async fn upgrade(&mut self, node: usize) {
        self.cluster.edition = 1;
        self.cluster.kill(node).await;
        self.cluster.start(node);
        self.disturb();
    }

    /// Faults stop; everything has to come right.
    async fn end(mut self) -> Told {
        if !self.is_broken() {
            let rest = std::mem::take(&mut self.later);
            for (_, later) in rest {
                self.come_to(later).await;
            }
            self.hub.state().faults = Faults { cut: vec![0; self.story.nodes], ..Faults::default() };
            for node in 0..self.story.nodes {
                self.cluster.drift(node, 0);
                self.cluster.start(node);
            }
            self.disturb();
            let longest = self.story.sketches.iter().map(|sketch| sketch.policy.run_timeout).max();
            let quiet = self.story.rhythm.calm_after() * 2 + length(longest.unwrap_or_default()) * 2;
            self.until(self.began.elapsed() + quiet).await;
            self.look().await;
            self.last_look();
        }
        let simulated = self.began.elapsed();
        let mut totals = self.hub.state().totals.clone();
        for node in 0..self.story.nodes {
            self.cluster.kill(node).await;
        }
        let state = self.hub.state();
        (totals.stories, totals.simulated) = (1, simulated);
        (totals.ticks, totals.starts) = (state.oracle.ticks, state.oracle.starts);
        Told { totals, broken: state.oracle.broken().to_vec() }
    }

    /// What the database itself finds, and the chain of the audit log.
    fn last_look(&mut self) {
        let moment = self.hub.moment();
        self.hub.state().oracle.converged(moment);
        match self.hub.at_once(self.hub.store.check()) {
            Ok(mut findings) => {
                // It knows the newest rules only, and the oracle has counted those ticks by all of them.
                let spared =
                    if self.hub.state().oracle.rules() > 0 { self.story.moving() } else { Vec::new() };
                findings.retain(|one| one.table != "runs" || !spared.contains(&one.row));
                findings.iter().take(3).for_each(|one| self.hub.complain(format!("check: {one:?}")));
            }
            Err(problem) => self.hub.complain(format!("check: {problem}")),
        }
        let installation = self.hub.at_once(self.hub.store.org(Scope::Engine, INSTALLATION.to_owned()));
        for org in [Ok(self.hub.org), installation].into_iter().flatten() {
            match self.hub.at_once(self.hub.store.verify_audit(Scope::org(org))) {
                Ok(chain) if chain.broken.is_none() => {}
                other => self.hub.complain(format!("15: the audit log does not hold: {other:?}")),
            }
        }
    }
}

/// A database with nothing in it, and an oracle that has seen nothing yet.
pub(crate) async fn set_up(story: &Story, folder: &std::path::Path) -> Arc<Hub> {
    let world = Arc::new(VirtualClock::at(story.begins));
    let shown = Arc::new(AtomicI64::new(story.begins.as_microsecond()));
    let store = Arc::new(open(story.keeping, folder, (&world, &shown)));
    let org = store.org(Scope::Engine, "default".to_owned()).await.expect("a new store has room");
    let mut oracle = Oracle::new(story.rhythm, grain(story.keeping));
    teach(&mut oracle, story);
    oracle.follow = story.follow;
    let faults = Faults { cut: vec![0; story.nodes], ..Faults::default() };
    let (dice, totals) = (Dice::new(story.seed ^ 0xCA11), Totals::default());
    let state = State { dice, faults, oracle, totals, batches: HashSet::new() };
    let hub = Arc::new(Hub::new(Parts { store, world, shown, org, state }));
    // The first look gives nothing and lets rows be noted from then on.
    hub.look();
    hub
}

fn open(
    keeping: Keeping,
    folder: &std::path::Path,
    clocks: (&Arc<VirtualClock>, &Arc<AtomicI64>),
) -> AnyStore {
    let (world, shown) = (Arc::clone(clocks.0), Arc::clone(clocks.1));
    match keeping {
        Keeping::Memory | Keeping::Shared => {
            let memory = Memory::new();
            if keeping == Keeping::Shared {
                memory.stop_counting();
            }
            memory.go_by(move || world.now());
            AnyStore::Memory(memory)
        }
        Keeping::Sqlite => {
            let sqlite =
                Sqlite::open(&folder.join("sim.db"), Access::Serve).expect("a new file can be opened");
            let now =
                move || Timestamp::from_microsecond(shown.load(Ordering::SeqCst)).unwrap_or(Timestamp::MAX);
            sqlite.go_by(now);
            AnyStore::Sqlite(sqlite)
        }
    }
}

/// How closely the oracle sees what is written.
fn grain(keeping: Keeping) -> Grain {
    match keeping {
        Keeping::Memory | Keeping::Shared => Grain::Fine,
        Keeping::Sqlite => Grain::Coarse,
    }
}

/// Every zone that the story names.
fn teach(oracle: &mut Oracle, story: &Story) {
    let made = story.deeds.iter().filter_map(|deed| match &deed.act {
        Act::Create(sketch) | Act::Edit(sketch) => Some(&**sketch),
        _ => None,
    });
    let mut zones: Vec<&'static str> =
        story.sketches.iter().chain(made).map(|sketch: &Sketch| sketch.zone).collect();
    zones.sort_unstable();
    zones.dedup();
    let end = story.begins.saturating_add(story.lasts * 2).unwrap_or(Timestamp::MAX);
    for zone in zones {
        let moving = MOVING.iter().find(|moving| moving.name == zone);
        let editions = match moving {
            Some(moving) => moving.rules.map(|rules| TimeZone::posix(rules).ok()).to_vec(),
            None => vec![TimeZoneDatabase::bundled().get(zone).ok()],
        };
        for (rules, clock) in editions.into_iter().enumerate() {
            let clock = clock.expect("the story names zones that there are");
            oracle.know_zone((zone, rules), Wall::new(&clock, story.begins, end));
        }
    }
}
