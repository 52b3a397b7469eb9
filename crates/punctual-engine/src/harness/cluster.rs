//! The cluster: nodes that can be started, stopped, crashed, paused and given wrong clocks.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use punctual_plan::{Cursor, OrgKey, Pace, RunStatus, Schedule, ScheduleKey, Status, Subject, Window, plan};
use punctual_store::{
    Cancellation, Commit, Cut, Error, Memory, RangeRow, Retention, RunFilter, RunRow, ScheduleWrite, Scope,
    Store, Write, Written,
};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::gate::Gate;
use super::ledger::{clock, line};
use super::scripted::{NodeTargets, Scripted};
use crate::{Chance, Clock, Engine, JournalPlace, MemoryJournal, Metrics, Settings, Stopped, VirtualClock};

/// Runs of one target that wait for a place: so few that a story can fill it.
const WAITING_MAX: usize = 10_000;

/// What a node is called in a story.
pub type NodeName = &'static str;

/// How many rows a look at the ledger reads at most.
const ROWS_MAX: u32 = 100_000;

/// An installation.
pub struct Cluster {
    /// The store, as whoever tells the story sees it.
    pub store: Memory,
    /// True time, and the database's clock.
    pub world: Arc<VirtualClock>,
    /// What runs do.
    pub targets: Arc<Scripted>,
    /// How far ahead is planned, and how fast late ticks fire; for nodes that start from now on.
    pub pace: Pace,
    /// How long a stop waits; for nodes that start from now on.
    pub drain_for: Duration,
    /// How long rows are kept; for nodes that start from now on.
    pub retention: Retention,
    /// The tz database that nodes have which start from now on; their own if none is said.
    pub tz_version: Option<&'static str>,
    /// The org of all schedules.
    pub org: OrgKey,
    chance: Chance,
    nodes: BTreeMap<NodeName, Member>,
}

/// A machine with a node on it. Its clock and its journal outlive the process.
struct Member {
    clock: Arc<VirtualClock>,
    journal: MemoryJournal,
    process: Option<Process>,
}

struct Process {
    gate: Gate,
    stop: watch::Sender<bool>,
    serving: JoinHandle<Stopped>,
    metrics: Arc<Metrics>,
}

impl Cluster {
    /// Tells a story that begins at `now`, from its first to its last word, in virtual time.
    ///
    /// # Panics
    /// When the story does.
    pub fn tell<T>(seed: u64, now: Timestamp, story: impl AsyncFnOnce(Self) -> T) -> T {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .expect("a runtime without threads needs nothing from the system");
        runtime.block_on(async { story(Self::new(seed, now).await).await })
    }

    async fn new(seed: u64, now: Timestamp) -> Self {
        let world = Arc::new(VirtualClock::at(now));
        let store = Memory::new();
        let clock = Arc::clone(&world);
        store.go_by(move || clock.now());
        let org = store.org(Scope::Engine, "default".to_owned()).await.expect("a new store has room");
        Self {
            targets: Arc::new(Scripted::new(Arc::clone(&world))),
            store,
            world,
            pace: Pace::default(),
            drain_for: Duration::from_secs(30),
            retention: Retention::default(),
            tz_version: None,
            org,
            chance: Chance::seeded(seed),
            nodes: BTreeMap::new(),
        }
    }

    /// Starts a node; one that was there before has its clock and journal.
    ///
    /// # Panics
    /// When it runs already, or the engine does not start.
    pub async fn start(&mut self, name: NodeName) {
        let now = self.world.now();
        let member = self.nodes.entry(name).or_insert_with(|| Member {
            clock: Arc::new(VirtualClock::at(now)),
            journal: MemoryJournal::default(),
            process: None,
        });
        assert!(member.process.is_none(), "{name} runs already");
        let gate = Gate::default();
        let settings = Settings {
            pace: self.pace,
            drain_for: self.drain_for,
            retention: self.retention,
            chance: self.chance.clone(),
            gate: gate.clone(),
            tz_version: self.tz_version.map(str::to_owned),
            waiting_max: WAITING_MAX,
            ..Settings::with_journal(JournalPlace::Memory(member.journal.clone()))
        };
        let targets = NodeTargets { node: name.to_owned(), scripted: Arc::clone(&self.targets) };
        let store = Arc::new(self.store.clone());
        let engine = Engine::start(store, Arc::clone(&member.clock), Arc::new(targets), settings).await;
        let engine = engine.expect("the engine starts");
        let metrics = engine.metrics();
        let (stop, stopped) = watch::channel(false);
        let serving = tokio::spawn(gate.behind(engine.run(stopped)));
        member.process = Some(Process { gate, stop, serving, metrics });
    }

    /// Asks a node to stop and waits until it has.
    ///
    /// # Panics
    /// When it does not run, or panicked.
    pub async fn stop(&mut self, name: NodeName) -> Stopped {
        let process = self.take(name);
        let _ = process.stop.send(true);
        process.serving.await.expect("the engine does not panic")
    }

    /// Ends a node as `kill -9` does: nothing of it goes on, what it has written stays.
    ///
    /// # Panics
    /// When it does not run.
    pub async fn crash(&mut self, name: NodeName) {
        let process = self.take(name);
        process.serving.abort();
        let _ = process.serving.await;
    }

    /// Lets a node stand still, as a stopped process does.
    pub fn pause(&self, name: NodeName) {
        self.process(name).gate.close();
    }

    /// Lets a node go on.
    pub fn resume(&self, name: NodeName) {
        self.process(name).gate.open();
    }

    /// A node's own clock.
    ///
    /// # Panics
    /// When there was never such a node.
    pub fn clock(&self, name: NodeName) -> &Arc<VirtualClock> {
        &self.nodes.get(name).expect("a node that was started").clock
    }

    /// Sets every clock, the database's too: there is one machine.
    pub fn step(&self, by: SignedDuration) {
        self.world.step(by);
        self.nodes.values().for_each(|node| node.clock.step(by));
    }

    /// Suspends the machine with everything on it.
    pub fn suspend(&self, duration: Duration) {
        self.world.suspend(duration);
        self.nodes.values().for_each(|node| node.clock.suspend(duration));
    }

    /// What a node has counted, as text.
    pub fn metrics(&self, name: NodeName) -> String {
        self.process(name).metrics.text()
    }

    /// What the world's clock shows.
    pub fn now(&self) -> Timestamp {
        self.world.now()
    }

    /// Lets time pass until the world's clock shows `at`.
    pub async fn until(&self, at: Timestamp) {
        while let Ok(left) = Duration::try_from(at.duration_since(self.world.now()))
            && left > Duration::ZERO
        {
            tokio::time::sleep(left).await;
        }
        // What became due at this very instant is done as well.
        tokio::time::sleep(Duration::from_millis(5)).await;
    }

    /// Lets time pass.
    pub async fn pass(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }

    /// Makes a schedule, as another process does.
    ///
    /// # Panics
    /// When the store refuses it.
    pub async fn create(&self, schedule: Schedule) -> ScheduleKey {
        let now = self.world.now();
        let subject = Subject::of(&schedule, Cursor::starting(now));
        let plan = subject.map(|subject| plan(&subject, Window { now, pace: self.pace }));
        let definition = Arc::new(schedule);
        let write = Write::Create { definition, status: Status::Active, plan, declared_set: None };
        let written =
            self.write(ScheduleWrite { write, kind: "schedule.created", note: String::new(), now }).await;
        match written {
            Ok(Written::Schedule(key)) => key,
            other => panic!("the schedule is not written: {other:?}"),
        }
    }

    /// Writes a change to a schedule.
    ///
    /// # Errors
    /// When it is refused.
    pub async fn write(&self, write: ScheduleWrite) -> Result<Written, Error> {
        self.store.write_schedules(Scope::org(self.org), vec![write]).await?.remove(0)
    }

    /// Cancels every run in flight, as a person does.
    ///
    /// # Panics
    /// When the store fails.
    pub async fn cancel_all(&self, by: &str) -> Vec<Commit> {
        let in_flight = |row: &RunRow| row.run.state.status().is_in_flight();
        let runs = self.runs().await.iter().filter(|row| in_flight(row)).map(|row| row.run.key).collect();
        let cancellation = Cancellation { runs, by: by.to_owned(), now: self.world.now() };
        self.store.cancel_runs(Scope::org(self.org), cancellation).await.expect("the store answers")
    }

    /// The whole ledger, oldest tick first.
    ///
    /// # Panics
    /// When the store fails.
    pub async fn runs(&self) -> Vec<RunRow> {
        let listed = self.store.runs(Scope::Engine, RunFilter::default(), Cut::first(ROWS_MAX)).await;
        let mut rows = listed.expect("the store answers").rows;
        rows.sort_by_key(|row| (row.run.scheduled_for, row.run.key));
        rows
    }

    /// The stretches, oldest first.
    ///
    /// # Panics
    /// When the store fails.
    pub async fn ranges(&self) -> Vec<RangeRow> {
        let listed = self.store.ranges(Scope::Engine, RunFilter::default(), Cut::first(ROWS_MAX)).await;
        let mut rows = listed.expect("the store answers").rows;
        rows.sort_by_key(|row| row.range.first);
        rows
    }

    /// The ledger up to now as lines: `10:00:00 success`, and stretches as `10:00:00..10:05:00 6 missed outage`.
    pub async fn ledger(&self) -> Vec<String> {
        let now = self.world.now();
        let runs = self.runs().await;
        let is_past =
            |row: &&RunRow| row.run.scheduled_for <= now || row.run.state.status() != RunStatus::Scheduled;
        let runs = runs.iter().filter(is_past).map(|row| line(&row.run));
        let ranges = self.ranges().await;
        let stretch = |row: &RangeRow| {
            let (range, end) = (&row.range, &row.range.end);
            let (first, last) = (clock(range.first), clock(range.last));
            format!("{first}..{last} {} {} {}", range.count, end.status(), end.reason().code())
        };
        runs.chain(ranges.iter().map(stretch)).collect()
    }

    fn process(&self, name: NodeName) -> &Process {
        self.nodes.get(name).and_then(|node| node.process.as_ref()).expect("a node that runs")
    }

    fn take(&mut self, name: NodeName) -> Process {
        self.nodes.get_mut(name).and_then(|node| node.process.take()).expect("a node that runs")
    }
}
