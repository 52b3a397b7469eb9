//! The cluster: nodes that are killed, held, given wrong clocks, and come back.

use std::sync::Arc;
use std::time::Duration;

use jiff::SignedDuration;
use punctual_engine::harness::Gate;
use punctual_engine::{Chance, Engine, JournalPlace, MemoryJournal, Settings, Stopped, VirtualClock};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::hub::Hub;
use crate::line::Line;
use crate::story::{Rhythm, length};
use crate::target::Reach;

/// The tz database of the next edition.
const NEWER: &str = "2099z";

/// A machine with a node on it. Its clock and its journal outlive the process.
struct Machine {
    clock: Arc<VirtualClock>,
    journal: MemoryJournal,
    process: Option<Process>,
    /// How many reasons there are why it stands still.
    held: u32,
}

struct Process {
    gate: Gate,
    stop: watch::Sender<bool>,
    serving: JoinHandle<Option<Stopped>>,
}

/// All machines.
pub(crate) struct Cluster {
    hub: Arc<Hub>,
    rhythm: Rhythm,
    chance: Chance,
    seed: u64,
    /// The edition of the tz database that processes have which start from now on.
    pub(crate) edition: usize,
    machines: Vec<Machine>,
}

impl Cluster {
    /// Machines on which nothing runs yet.
    pub(crate) fn new(hub: &Arc<Hub>, rhythm: Rhythm, seed: u64, nodes: usize) -> Self {
        let machine = |_| Machine {
            clock: Arc::new(VirtualClock::at(hub.now())),
            journal: MemoryJournal::default(),
            process: None,
            held: 0,
        };
        let machines = (0..nodes).map(machine).collect();
        Self { hub: Arc::clone(hub), rhythm, chance: Chance::seeded(seed), seed, edition: 0, machines }
    }

    /// Whether a node runs.
    pub(crate) fn is_up(&self, node: usize) -> bool {
        self.machines[node].process.is_some()
    }

    /// Starts a node, unless it runs.
    pub(crate) fn start(&mut self, node: usize) {
        if self.is_up(node) {
            return;
        }
        let look_every = length(self.rhythm.pace.tick);
        let line = Line { hub: Arc::clone(&self.hub), node, edition: self.edition, look_every };
        let machine = &mut self.machines[node];
        let gate = Gate::default();
        gate.read_zones_by(self.edition);
        if machine.held > 0 {
            gate.close();
        }
        let settings = Settings {
            pace: self.rhythm.pace,
            drain_for: length(self.rhythm.lease),
            retention: self.rhythm.retention,
            idle: self.rhythm.idle,
            chance: self.chance.clone(),
            gate: gate.clone(),
            lease: self.rhythm.lease,
            tz_version: (self.edition > 0).then(|| NEWER.to_owned()),
            ..Settings::with_journal(JournalPlace::Memory(machine.journal.clone()))
        };
        let (stop, stopped) = watch::channel(false);
        let serving = serve(line, Arc::clone(&machine.clock), settings, (self.seed, stopped));
        let serving = tokio::spawn(gate.behind(serving));
        machine.process = Some(Process { gate, stop, serving });
    }

    /// Kills a node, if it runs.
    pub(crate) async fn kill(&mut self, node: usize) {
        if self.is_up(node) {
            self.hub.state().totals.count("crash");
        }
        self.reap(node).await;
    }

    /// Ends a process for good.
    async fn reap(&mut self, node: usize) {
        let Some(process) = self.machines[node].process.take() else { return };
        process.serving.abort();
        if let Err(error) = process.serving.await
            && error.is_panic()
        {
            self.hub.complain(format!("node {node} panicked"));
        }
    }

    /// Asks a node to stop; it is gone at the latest after some time.
    pub(crate) fn stop(&mut self, node: usize) {
        if let Some(process) = &self.machines[node].process {
            // Whoever has ended already needs no word.
            let _ = process.stop.send(true);
        }
    }

    /// The disk of a machine is lost.
    pub(crate) fn lose_journal(&mut self, node: usize) {
        self.machines[node].journal = MemoryJournal::default();
    }

    /// Lets a node stand still; it goes on when every reason is gone.
    pub(crate) fn hold(&mut self, node: usize) {
        let machine = &mut self.machines[node];
        machine.held += 1;
        if let Some(process) = &machine.process {
            process.gate.close();
        }
    }

    /// One reason to stand still is gone.
    pub(crate) fn release(&mut self, node: usize) {
        let machine = &mut self.machines[node];
        machine.held = machine.held.saturating_sub(1);
        if let Some(process) = machine.process.as_ref().filter(|_| machine.held == 0) {
            process.gate.open();
        }
    }

    /// Sets the clock of a node.
    pub(crate) fn step(&self, node: usize, by: SignedDuration) {
        self.machines[node].clock.step(by);
    }

    /// Lets the clock of a node go wrong.
    pub(crate) fn drift(&self, node: usize, ppm: i32) {
        self.machines[node].clock.drift(ppm);
    }

    /// Sets every clock, the database's too.
    pub(crate) fn step_all(&self, by: SignedDuration) {
        self.hub.world.step(by);
        self.machines.iter().for_each(|machine| machine.clock.step(by));
    }

    /// Lets every machine have slept.
    pub(crate) fn suspend(&self, slept: Duration) {
        self.hub.world.suspend(slept);
        self.machines.iter().for_each(|machine| machine.clock.suspend(slept));
    }

    /// Notices nodes that ended by themselves; gives back which.
    pub(crate) async fn gone(&mut self) -> Vec<usize> {
        let ended = |machine: &Machine| machine.process.as_ref().is_some_and(|one| one.serving.is_finished());
        let gone: Vec<usize> = (0..self.machines.len()).filter(|node| ended(&self.machines[*node])).collect();
        for node in &gone {
            self.reap(*node).await;
        }
        gone
    }
}

/// A process: it tries to start until it can, and serves until it is asked to stop.
async fn serve(
    line: Line,
    clock: Arc<VirtualClock>,
    settings: Settings,
    (seed, stopped): (u64, watch::Receiver<bool>),
) -> Option<Stopped> {
    loop {
        if *stopped.borrow() {
            return None;
        }
        let targets = Arc::new(Reach { line: line.clone(), seed });
        let store = Arc::new(line.clone());
        match Engine::start(store, Arc::clone(&clock), targets, settings.clone()).await {
            Ok(engine) => return Some(engine.run(stopped).await),
            Err(_) => tokio::time::sleep(length(settings.lease / 3)).await,
        }
    }
}
