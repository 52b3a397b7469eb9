//! The peers: how each is started, what it needs, how much it bears.

use std::path::{Path, PathBuf};

/// How fine its crons are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Grain {
    Second,
    Minute,
}

/// Where it keeps its schedules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kept {
    /// Nowhere: a process that ends forgets them.
    Memory,
    /// In a file.
    File,
    /// In the PostgreSQL that was started for us.
    Postgres,
    /// In a PostgreSQL of its own, of which it is a part.
    OwnPostgres,
    Redis,
}

impl Kept {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::File => "sqlite",
            Self::Postgres | Self::OwnPostgres => "postgres",
            Self::Redis => "redis",
        }
    }
}

/// What it is started with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Runtime {
    Node,
    /// Python with the packages of a list.
    Python(&'static str),
    /// Python as it is.
    PlainPython(&'static str),
    Rust,
}

/// One of them.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Peer {
    pub(super) name: &'static str,
    pub(super) version: &'static str,
    pub(super) runtime: Runtime,
    pub(super) kept: Kept,
    pub(super) grain: Grain,
    /// Schedules of the herd that it is asked to bear.
    pub(super) herd: u32,
    /// Schedules that tick each second; 0 where it has no seconds.
    pub(super) steady: u32,
    /// Schedules of the herd in which it is killed.
    pub(super) crash: u32,
    /// Schedules that it registers in a second, for the lead that it needs.
    pub(super) registers: u32,
    /// Seconds that it is watched after a restart.
    pub(super) watched: u32,
}

/// All of them. Sizes are what each can bear in a minute or two.
#[rustfmt::skip]
pub(super) const PEERS: &[Peer] = &[
    Peer { name: "pg-boss", version: "12.35.0", runtime: Runtime::Node, kept: Kept::Postgres, grain: Grain::Minute, herd: 1_000, steady: 0, crash: 1_000, registers: 300, watched: 60 },
    Peer { name: "graphile-worker", version: "0.18.0", runtime: Runtime::Node, kept: Kept::Postgres, grain: Grain::Minute, herd: 10_000, steady: 0, crash: 1_000, registers: 2_000, watched: 30 },
    Peer { name: "bullmq", version: "6.7.0", runtime: Runtime::Node, kept: Kept::Redis, grain: Grain::Second, herd: 10_000, steady: 1_000, crash: 1_000, registers: 800, watched: 100 },
    Peer { name: "aps3", version: "3.11.3", runtime: Runtime::Python("aps3"), kept: Kept::File, grain: Grain::Second, herd: 1_000, steady: 100, crash: 1_000, registers: 80, watched: 20 },
    Peer { name: "aps4", version: "4.0.0a6", runtime: Runtime::Python("aps4"), kept: Kept::File, grain: Grain::Second, herd: 1_000, steady: 20, crash: 300, registers: 30, watched: 45 },
    Peer { name: "apalis-cron", version: "1.0.0", runtime: Runtime::Rust, kept: Kept::Memory, grain: Grain::Second, herd: 10_000, steady: 10_000, crash: 10_000, registers: 10_000, watched: 8 },
    Peer { name: "tokio-cron-scheduler", version: "0.15.1", runtime: Runtime::Rust, kept: Kept::Memory, grain: Grain::Second, herd: 10_000, steady: 1_000, crash: 10_000, registers: 1_000, watched: 8 },
    Peer { name: "pg_cron", version: "Debian's", runtime: Runtime::PlainPython("pg_cron"), kept: Kept::OwnPostgres, grain: Grain::Minute, herd: 1_000, steady: 0, crash: 1_000, registers: 200, watched: 30 },
];

/// Where what was installed is, and where the drivers are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Folders {
    pub(super) installed: PathBuf,
    pub(super) drivers: PathBuf,
}

impl Peer {
    /// The words that start it, but for what it is to do.
    pub(super) fn words(&self, folders: &Folders) -> Vec<String> {
        let text = |path: PathBuf| path.display().to_string();
        let script = |name: &str| text(folders.drivers.join(format!("python/{name}.py")));
        let installed = |path: &str| text(folders.installed.join(path));
        let mut words = match self.runtime {
            Runtime::Node => vec![installed("node/node_modules/node/bin/node"), installed("node/driver.mjs")],
            Runtime::Python(name) => vec![installed(&format!("{name}/bin/python")), script(name)],
            Runtime::PlainPython(name) => vec!["python3".to_owned(), script(name)],
            Runtime::Rust => vec![installed("rust/release/punctual-peers")],
        };
        words.push(self.name.to_owned());
        words
    }

    /// Why it could not be installed, if whoever tried has left a word.
    pub(super) fn absent(&self, installed: &Path) -> Option<String> {
        let text = std::fs::read_to_string(installed.join(format!("{}.absent", self.name))).ok()?;
        Some(text.trim().to_owned())
    }
}
