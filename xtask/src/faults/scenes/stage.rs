//! A stage: the program serves under load on one database, and is judged again and again.

use std::fmt;
use std::time::Duration;

use super::super::Database;
use super::super::load::Load;
use super::super::node::{Kit, Node};
use super::super::reader::Found;
use super::super::serve::now_us;
use crate::failure::Failure;

/// How long the program works before anything is done to it.
const BEFORE: Duration = Duration::from_secs(3);

/// How long it works in peace at the end.
const PEACE: Duration = Duration::from_secs(6);

/// How long all runs may take to end then.
const CLOSED_MAX: Duration = Duration::from_secs(90);

/// What was seen of a scene on one database.
pub(super) struct Seen {
    database: Database,
    done: String,
    audits: u64,
    found: Found,
    tried: String,
}

impl Seen {
    /// What was done and found.
    pub(super) fn new(database: Database, done: impl Into<String>, found: Found) -> Self {
        Self { database, done: done.into(), audits: 1, found, tried: String::new() }
    }

    /// The cells of its row in the table.
    pub(super) fn cells(&self) -> String {
        let Found { ticks, starts, repeated, count, .. } = &self.found;
        format!(
            "{} | {} | {} | {ticks} | {starts} | {repeated} | {count}",
            self.database, self.done, self.audits
        )
    }
}

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Found { ticks, lost, doubled, open, .. } = &self.found;
        writeln!(f, "{}: {}", self.database, self.done)?;
        writeln!(
            f,
            "   {ticks} ticks, {lost} lost, {doubled} doubled, {open} not closed: {}",
            self.found.ends()
        )?;
        write!(f, "   {} audits; {}", self.audits, self.tried)
    }
}

/// A load that is served.
pub(super) struct Stage {
    database: Database,
    pub(super) load: Load,
    /// Whoever serves, while somebody does.
    pub(super) node: Option<Node>,
    audits: u64,
    /// By how much the wall clock of the program is ahead, in seconds.
    pub(super) ahead_s: i64,
}

impl Stage {
    /// Makes the schedules, and lets the program serve for a while.
    pub(super) fn begin(kit: &Kit, database: Database) -> Result<Self, Failure> {
        let mut load = Load::new(kit)?;
        let node = Node::start(&load.kit, "serve")?;
        load.begin(database)?;
        let worker = load.kit.clone();
        load.employ(&worker)?;
        let mut stage = Self { database, load, node: Some(node), audits: 0, ahead_s: 0 };
        std::thread::sleep(BEFORE);
        stage.audit("at the beginning")?;
        Ok(stage)
    }

    /// Who serves now.
    pub(super) fn node(&mut self) -> Result<&mut Node, Failure> {
        self.node.as_mut().ok_or_else(|| Failure::new("nobody serves", "a fault of the scene"))
    }

    /// Whoever serves is killed, and another one is started with a kit.
    pub(super) fn replace(&mut self, kit: &Kit) -> Result<(), Failure> {
        self.node.take().map_or(Ok(()), Node::kill)?;
        self.node = Some(Node::start(kit, "serve")?);
        Ok(())
    }

    /// Has everything up to the cursors judged, and refuses a program that has ended by itself.
    pub(super) fn audit(&mut self, when: &str) -> Result<Found, Failure> {
        self.audits += 1;
        let log = self.load.kit.log("serve");
        if let Some(node) = &mut self.node
            && let Some(status) = node.ends_within(Duration::ZERO)?
        {
            let last: Vec<&str> = log.lines().rev().take(5).collect();
            let what = format!("the program ended with {status} {when}: {}", last.join("\n"));
            return Err(Failure::new(what, "nothing of this may end it"));
        }
        self.load.reader.judge(None)?.sound(when)
    }

    /// Lets the program work in peace, waits until everything is closed, and judges all of it; the reader is tried as well.
    pub(super) fn end(mut self, done: impl Into<String>) -> Result<Seen, Failure> {
        std::thread::sleep(PEACE);
        let now = i64::try_from(now_us() / 1_000_000).unwrap_or(i64::MAX);
        let through = now + self.ahead_s;
        let found = self.load.reader.judge_when_closed(through, CLOSED_MAX)?.sound("at the end")?;
        self.node.take().map_or(Ok(()), Node::leave)?;
        self.load.dismiss()?;
        let tried = self.load.reader.tried(None)?;
        Ok(Seen { database: self.database, done: done.into(), audits: self.audits + 1, found, tried })
    }
}
