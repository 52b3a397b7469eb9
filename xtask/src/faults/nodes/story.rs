//! What happens to the nodes, one thing after the other, and what is measured while it does.

use std::io::Write as _;
use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use super::super::node::{Kit, Node};
use super::watch::{Held, Lease, Shares};
use crate::failure::Failure;
use crate::ground::postgres::Server;

/// When the shards must be even after a node came or went.
const EVEN_AFTER: Duration = Duration::from_secs(5);

/// How long it is watched what a lost node leaves: longer than anything may take.
const WATCH: Duration = Duration::from_secs(10);

/// How long a node stands still: others have taken up everything of it by then.
const STOPPED: Duration = Duration::from_secs(8);

/// How wrong a clock is in the story of the wrong clock.
const AHEAD_MS: u32 = 200;

/// How far from that the database may see it, with the noise of a busy machine.
const AHEAD_NOISE_MS: f64 = 60.0;

/// A wall clock that is wrong by so much.
struct Wrong {
    /// The library that stands between the program and the clock.
    library: PathBuf,
    /// By how many milliseconds it is ahead.
    ahead_ms: u32,
}

/// One thing that happened, with what was measured.
#[derive(Default)]
pub(super) struct Scene {
    /// What happened.
    pub(super) event: &'static str,
    /// To whom.
    pub(super) node: String,
    /// What it left in flight, if it was lost.
    pub(super) left: Option<Left>,
    /// Writes under its lost lease that were refused after it went on.
    pub(super) refused: Option<u64>,
    /// The shards of the living nodes some seconds later.
    pub(super) shares: String,
    /// Whether they were even.
    pub(super) is_even: bool,
}

/// What a lost node left in flight.
#[derive(Clone, Copy)]
pub(super) struct Left {
    /// How many runs.
    pub(super) runs: usize,
    /// How long it took until all of them were taken up.
    pub(super) taken_up: Duration,
}

/// The nodes and what has happened to them.
pub(super) struct Story<'a> {
    kit: Kit,
    server: &'a Server,
    nodes: Vec<Node>,
    clock: Option<Wrong>,
    notes: std::fs::File,
    dice: u64,
    started: usize,
    pub(super) scenes: Vec<Scene>,
}

impl<'a> Story<'a> {
    /// Starts with so many nodes.
    pub(super) fn begin(kit: Kit, server: &'a Server, count: usize) -> Result<Self, Failure> {
        let notes = std::fs::File::create(notes_of(&kit)).map_err(|error| unwritable(&error))?;
        let (nodes, scenes) = (Vec::new(), Vec::new());
        let mut story = Self { kit, server, nodes, clock: None, notes, dice: 1, started: 0, scenes };
        for _ in 0..count {
            story.start(&story.kit.clone())?;
        }
        Ok(story)
    }

    /// Decides who is next by a seed, and has the clock of one node be wrong by means of a library.
    pub(super) fn with(mut self, seed: u64, library: PathBuf) -> Self {
        self.dice = seed | 1;
        self.clock = Some(Wrong { library, ahead_ms: AHEAD_MS });
        self
    }

    /// Everything that can happen, once each; as many nodes are there afterwards as were before.
    pub(super) fn round(&mut self) -> Result<(), Failure> {
        self.kill()?;
        self.join()?;
        self.stop_and_go_on()?;
        self.join_with_a_wrong_clock()?;
        self.leave()
    }

    /// Lets all nodes leave.
    pub(super) fn end(&mut self) -> Result<(), Failure> {
        self.nodes.drain(..).try_for_each(Node::leave)
    }

    /// Where the notes for the reader are.
    pub(super) fn notes(&self) -> PathBuf {
        notes_of(&self.kit)
    }

    fn start(&mut self, kit: &Kit) -> Result<String, Failure> {
        self.started += 1;
        let name = format!("node-{}", self.started);
        self.nodes.push(Node::start(kit, &name)?);
        Ok(name)
    }

    fn choose(&mut self) -> usize {
        self.dice ^= self.dice << 13;
        self.dice ^= self.dice >> 7;
        self.dice ^= self.dice << 17;
        usize::try_from(self.dice % self.nodes.len().max(1) as u64).unwrap_or_default()
    }

    /// Waits for a random part of a second, so that things happen at any moment between two ticks.
    fn pause(&mut self) {
        let _ = self.choose();
        std::thread::sleep(Duration::from_micros(self.dice % 1_000_000));
    }

    fn kill(&mut self) -> Result<(), Failure> {
        self.pause();
        let place = self.choose();
        let node = self.nodes.remove(place);
        let (name, lease) = (node.name.clone(), Lease::of(self.server, node.pid())?);
        let (at, since) = (now(), Instant::now());
        node.kill()?;
        let held = lease.held(self.server)?;
        self.note("kill", at, Some((&lease, &held)))?;
        let left = Some(Left { runs: held.len(), taken_up: lease.taken_up(self.server, since)? });
        let scene = Scene { event: "kill -9", node: name, left, ..Scene::default() };
        self.shares(since, scene)?;
        wait_until(since + WATCH);
        Ok(())
    }

    fn join(&mut self) -> Result<(), Failure> {
        self.pause();
        let name = self.start(&self.kit.clone())?;
        self.note("join", now(), None)?;
        self.shares(Instant::now(), Scene { event: "join", node: name, ..Scene::default() })
    }

    fn leave(&mut self) -> Result<(), Failure> {
        self.pause();
        // The one with the wrong clock was the last to come; it stays for the next round.
        let place = self.choose() % (self.nodes.len() - 1).max(1);
        let node = self.nodes.remove(place);
        let name = node.name.clone();
        node.leave()?;
        self.note("leave", now(), None)?;
        self.shares(Instant::now(), Scene { event: "leave", node: name, ..Scene::default() })
    }

    fn stop_and_go_on(&mut self) -> Result<(), Failure> {
        self.pause();
        let place = self.choose();
        let node = &self.nodes[place];
        let (name, lease) = (node.name.clone(), Lease::of(self.server, node.pid())?);
        let before = node.metric(REFUSED)?;
        let (at, since) = (now(), Instant::now());
        node.stop()?;
        let held = lease.held(self.server)?;
        self.note("stop", at, Some((&lease, &held)))?;
        let left = Some(Left { runs: held.len(), taken_up: lease.taken_up(self.server, since)? });
        let scene = Scene { event: "SIGSTOP", node: name.clone(), left, ..Scene::default() };
        self.scene(since, scene, self.nodes.len() - 1)?;
        wait_until(since + STOPPED);
        let node = &self.nodes[place];
        node.go_on()?;
        let since = Instant::now();
        self.note("continue", now(), None)?;
        wait_until(since + EVEN_AFTER);
        let refused = Some(self.nodes[place].metric(REFUSED)? - before);
        self.shares(since, Scene { event: "SIGCONT", node: name, refused, ..Scene::default() })
    }

    fn join_with_a_wrong_clock(&mut self) -> Result<(), Failure> {
        let Some(clock) = &self.clock else { return Ok(()) };
        // Only the wall is wrong: what counts the time since the start is the machine's own.
        let kit = self
            .kit
            .with("LD_PRELOAD", clock.library.display().to_string())
            .with("FAKETIME", format!("+{}.{:03}", clock.ahead_ms / 1_000, clock.ahead_ms % 1_000))
            .with("FAKETIME_DONT_FAKE_MONOTONIC", "1");
        self.pause();
        let name = self.start(&kit)?;
        self.note("join", now(), None)?;
        let scene = Scene { event: "join, clock +200 ms", node: name, ..Scene::default() };
        self.shares(Instant::now(), scene)?;
        self.look_at_the_clock()
    }

    /// The database knows how wrong the clock of the last node is, and `system nodes` shows it.
    fn look_at_the_clock(&self) -> Result<(), Failure> {
        let said = self.kit.ask(&["system", "nodes"])?;
        let said: Value = serde_json::from_str(&said).unwrap_or_default();
        let pid = self.nodes.last().map(Node::pid);
        let nodes = said["nodes"].as_array().cloned().unwrap_or_default();
        let shown =
            nodes.iter().find(|node| node["pid"].as_u64() == pid.map(u64::from) && node["state"] == "alive");
        let offset = shown.and_then(|node| node["clock_offset_ms"].as_f64());
        let is_known = offset.is_some_and(|ms| (ms + f64::from(AHEAD_MS)).abs() < AHEAD_NOISE_MS);
        println!("       `system nodes` shows the wrong clock with {offset:?} ms");
        match is_known {
            true => Ok(()),
            false => Err(Failure::new(
                format!("the clock of a node is {AHEAD_MS} ms ahead and is shown with {offset:?} ms"),
                "is the machine too busy to measure that?",
            )),
        }
    }

    /// Notes how the shards lie some seconds after something.
    fn shares(&mut self, since: Instant, scene: Scene) -> Result<(), Failure> {
        self.scene(since, scene, self.nodes.len())
    }

    fn scene(&mut self, since: Instant, scene: Scene, count: usize) -> Result<(), Failure> {
        wait_until(since + EVEN_AFTER);
        let shares = Shares::now(self.server)?;
        let is_even = shares.is_even(count);
        println!("{:>6} {:<20} {:<8} shards {shares}", self.scenes.len() + 1, scene.event, scene.node);
        self.scenes.push(Scene { shares: shares.to_string(), is_even, ..scene });
        Ok(())
    }

    /// A line for the reader.
    fn note(&mut self, event: &str, at: f64, left: Option<(&Lease, &[Held])>) -> Result<(), Failure> {
        let (shards, held) = left.map(|(lease, held)| (&lease.shards[..], held)).unwrap_or_default();
        let note = json!({"event": event, "at": at, "shards": shards, "held": held});
        writeln!(self.notes, "{note}").map_err(|error| unwritable(&error))
    }
}

/// The metric that counts refused writes.
const REFUSED: &str = "punctual_writes_refused_total";

fn notes_of(kit: &Kit) -> PathBuf {
    kit.folder.join("notes.jsonl")
}

fn unwritable(error: &std::io::Error) -> Failure {
    Failure::new(format!("the notes cannot be written: {error}"), "is there room in the temporary folder?")
}

/// The present in seconds since 1970.
pub(super) fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64()
}

fn wait_until(until: Instant) {
    std::thread::sleep(until.saturating_duration_since(Instant::now()));
}
