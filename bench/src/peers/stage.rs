//! A peer at work: its database, its folder, its process.

use std::fs::OpenOptions;
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use jiff::Timestamp;

use crate::Failure;
use crate::server::Server;

use super::notes::Notes;
use super::options::{Options, Part};
use super::peer::{Grain, Kept, Peer};
use super::redis::Redis;

/// The name of a peer's database on the server.
const DATABASE: &str = "peer";

/// How long before the instant everything stands ready, beside what it takes to register.
const READY_S: i64 = 8;

/// The variables that tell where PostgreSQL's programs are, and who may run them: as `cargo xtask` sets them, as drivers read them.
const BIN: [&str; 2] = ["PUNCTUAL_TEST_POSTGRES_BIN", "PEER_BIN"];
const USER: [&str; 2] = ["PUNCTUAL_TEST_POSTGRES_USER", "PEER_USER"];

/// When its schedules are due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Due {
    At(Timestamp),
    EachSecond,
}

/// Everything that one story needs, gone afterwards.
pub(super) struct Stage {
    peer: &'static Peer,
    words: Vec<String>,
    folder: tempfile::TempDir,
    redis: Option<Redis>,
    server: Option<Server>,
    variables: Vec<(&'static str, String)>,
}

impl Stage {
    pub(super) async fn new(peer: &'static Peer, part: Part, options: &Options) -> Result<Self, Failure> {
        let folder = tempfile::tempdir()?;
        let (mut redis, mut server, mut url) = (None, None, String::new());
        match peer.kept {
            Kept::Redis => {
                let started = Redis::start(folder.path())?;
                url.clone_from(&started.url);
                redis = Some(started);
            }
            Kept::Postgres => {
                let found = Server::find().await?;
                url = found.create(DATABASE).await?.url;
                server = Some(found);
            }
            Kept::Memory | Kept::File | Kept::OwnPostgres => {}
        }
        let mut variables = vec![
            ("PEER_URL", url),
            ("PEER_STORY", part.name().to_owned()),
            ("PEER_FOLDER", folder.path().display().to_string()),
            ("PEER_NOTES", folder.path().join("notes").display().to_string()),
        ];
        for [from, to] in [BIN, USER] {
            variables.push((to, std::env::var(from).unwrap_or_default()));
        }
        Ok(Self { peer, words: peer.words(&options.folders), folder, redis, server, variables })
    }

    pub(super) fn notes(&self) -> Notes {
        Notes(self.folder.path().join("notes"))
    }

    /// The next instant for which so many can be registered in time.
    pub(super) fn instant(&self, count: u32) -> Result<Timestamp, Failure> {
        let ready_s = Timestamp::now().as_second() + i64::from(count / self.peer.registers) + READY_S;
        let at_s = match self.peer.grain {
            Grain::Second => ready_s,
            Grain::Minute => ready_s.div_euclid(60) * 60 + 60,
        };
        Ok(Timestamp::from_second(at_s)?)
    }

    fn command(&self, action: &str) -> Command {
        let mut command = Command::new(&self.words[0]);
        command.args(&self.words[1..]).arg(action).stdin(Stdio::null());
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Registers so many schedules.
    pub(super) fn setup(&mut self, count: u32, due: Due) -> Result<(), Failure> {
        let at = match due {
            Due::At(at) => at.as_second().to_string(),
            Due::EachSecond => "second".to_owned(),
        };
        self.variables.extend([("PEER_N", count.to_string()), ("PEER_AT", at)]);
        let output = self.command("setup").output().map_err(|error| format!("{}: {error}", self.words[0]))?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            return Err(format!("setup ended with {}: {}", output.status, said.trim()).into());
        }
        match due {
            Due::At(at) if Timestamp::now() >= at => Err("the schedules were not registered in time".into()),
            _ => Ok(()),
        }
    }

    /// Starts it and waits until it says that it is ready.
    pub(super) fn work(&self) -> Result<Worker, Failure> {
        let mut child = self.begin()?;
        let stdout = child.0.stdout.take().ok_or("no output")?;
        for line in BufReader::new(stdout).lines() {
            if line?.trim() == "ready" {
                return Ok(child);
            }
        }
        let said = std::fs::read_to_string(self.complaints()).unwrap_or_default();
        Err(format!("it ended before it was ready: {}", said.trim()).into())
    }

    /// Where its error output goes.
    fn complaints(&self) -> PathBuf {
        self.folder.path().join("stderr")
    }

    /// Starts it and waits for nothing.
    pub(super) fn begin(&self) -> Result<Worker, Failure> {
        let complaints = OpenOptions::new().append(true).create(true).open(self.complaints())?;
        Ok(Worker(self.command("work").stdout(Stdio::piped()).stderr(complaints).spawn()?))
    }

    /// What it complained of last.
    pub(super) fn complaint(&self) -> String {
        let files = [self.complaints(), self.folder.path().join("log")];
        let last = |file: PathBuf| Some(std::fs::read_to_string(file).ok()?.lines().last()?.to_owned());
        files.into_iter().filter_map(last).collect::<Vec<_>>().join("; ")
    }

    /// Ends what the peer has left behind: a server's helpers may outlive it.
    fn clear(&self) -> Result<(), Failure> {
        for entry in std::fs::read_dir("/proc")?.flatten() {
            // Whoever has ended meanwhile has no folder any more.
            let Ok(place) = std::fs::read_link(entry.path().join("cwd")) else { continue };
            if place.starts_with(self.folder.path()) {
                Command::new("kill").arg("-KILL").arg(entry.file_name()).status()?;
            }
        }
        Ok(())
    }

    pub(super) async fn remove(mut self) -> Result<(), Failure> {
        drop(self.redis.take());
        self.clear()?;
        match self.server {
            Some(server) => server.remove(DATABASE).await,
            None => Ok(()),
        }
    }
}

/// A process that fires; dropping it kills it.
pub(super) struct Worker(Child);

impl Worker {
    /// Whether it has ended by itself.
    pub(super) fn has_ended(&mut self) -> Result<bool, Failure> {
        Ok(self.0.try_wait()?.is_some())
    }

    /// Ends it as a power switch ends a program.
    pub(super) fn kill(mut self) -> Result<(), Failure> {
        self.0.kill()?;
        self.0.wait()?;
        Ok(())
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // One that has ended already needs no killing.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// How long it is until an instant; nothing if that has passed.
pub(super) fn until(at: Timestamp) -> Duration {
    Duration::try_from(at.duration_since(Timestamp::now())).unwrap_or_default()
}
