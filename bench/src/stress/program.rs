//! The program in a home of its own: what it says, how long it takes, how much memory it has at most.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::Failure;
use crate::report::{Sheet, computed_s};

/// The columns of what was asked.
pub(super) const HEAD: &[&str] = &["asked", "database", "seconds", "peak MiB", "MiB said", "outcome"];

/// The pause between two looks at the memory of a process; its peak only ever grows, so the last look counts.
const LOOK_EVERY: Duration = Duration::from_millis(2);

/// How long a server may take until it serves.
const READY_MAX: Duration = Duration::from_secs(300);

const MIB: f64 = (1 << 20) as f64;

/// A home with its own database.
pub(super) struct Home {
    program: PathBuf,
    folder: TempDir,
    /// Where PostgreSQL is, if it is not a file in the home.
    url: Option<String>,
}

/// An answer, and what it cost.
pub(super) struct Asked {
    pub(super) said: Vec<u8>,
    /// Why it failed, if it did.
    pub(super) complaint: String,
    pub(super) seconds: f64,
    /// Bytes of memory at most.
    pub(super) peak: u64,
}

impl Asked {
    /// What a service came to that says nothing.
    pub(super) fn silent(seconds: f64, peak: u64) -> Self {
        Self { said: Vec::new(), complaint: String::new(), seconds, peak }
    }

    /// Refuses what has failed.
    pub(super) fn well(&self) -> Result<&Self, Failure> {
        if self.complaint.is_empty() { Ok(self) } else { Err(self.complaint.clone().into()) }
    }

    pub(super) fn json(&self) -> Result<Value, Failure> {
        self.well()?;
        Ok(serde_json::from_slice(&self.said)?)
    }

    /// How often a text is in it.
    pub(super) fn count(&self, text: &str) -> usize {
        String::from_utf8_lossy(&self.said).matches(text).count()
    }
}

impl Home {
    /// With a database in a file.
    pub(super) fn sqlite(program: &Path) -> Result<Self, Failure> {
        Ok(Self { program: program.to_owned(), folder: tempfile::tempdir()?, url: None })
    }

    /// With a database on a server.
    pub(super) fn postgres(program: &Path, url: &str) -> Result<Self, Failure> {
        Ok(Self { url: Some(url.to_owned()), ..Self::sqlite(program)? })
    }

    pub(super) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The file of a database that is one.
    pub(super) fn file(&self) -> PathBuf {
        self.folder().join("data/punctual/punctual.db")
    }

    pub(super) fn database(&self) -> &'static str {
        if self.url.is_some() { "postgres" } else { "sqlite" }
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(words).env_remove("DATABASE_URL").current_dir(self.folder());
        command.env("XDG_DATA_HOME", self.folder().join("data"));
        command.env("XDG_CONFIG_HOME", self.folder().join("config"));
        command.envs(self.url.iter().map(|url| ("DATABASE_URL", url)));
        command
    }

    /// Asks something that must be answered with success.
    pub(super) fn ask(&self, words: &[&str]) -> Result<Asked, Failure> {
        let asked = self.attempt(words)?;
        match asked.complaint.is_empty() {
            true => Ok(asked),
            false => Err(format!("punctual {}: {}", words.join(" "), asked.complaint).into()),
        }
    }

    /// Asks something that may be answered with no.
    fn attempt(&self, words: &[&str]) -> Result<Asked, Failure> {
        let begun = Instant::now();
        let mut child = self.command(words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        let said = read_all(child.stdout.take());
        let complained = read_all(child.stderr.take());
        let mut peak = 0;
        let status = loop {
            peak = memory(child.id(), "VmHWM").unwrap_or(peak);
            if let Some(status) = child.try_wait()? {
                break status;
            }
            std::thread::sleep(LOOK_EVERY);
        };
        let seconds = begun.elapsed().as_secs_f64();
        let (said, complained) = (joined(said)?, joined(complained)?);
        let complaint = match status.success() {
            true => String::new(),
            false => format!("{status}: {}", String::from_utf8_lossy(&complained)),
        };
        Ok(Asked { said, complaint, seconds, peak })
    }

    /// Asks, and adds what it cost; `judge` says what came of it, be it a refusal, or why it is wrong.
    pub(super) fn note(
        &self,
        words: &[&str],
        sheet: &mut Sheet,
        judge: impl FnOnce(&Asked) -> Result<String, Failure>,
    ) -> Result<(), Failure> {
        let asked = self.attempt(words)?;
        let outcome = judge(&asked).map_err(|why| format!("punctual {}: {why}", words.join(" ")))?;
        let line = Line { asked: words.join(" "), database: self.database(), outcome };
        line.add(sheet, &asked);
        Ok(())
    }

    /// Serves until the handle is dropped.
    pub(super) fn serve(&self, words: &[&str]) -> Result<Serving, Failure> {
        let begun = Instant::now();
        let mut command = self.command(&[&["serve", "--log-level", "error"], words].concat());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn()?;
        let stdout = child.stdout.take().ok_or("no output")?;
        let mut serving = Serving { child, ready_s: 0.0 };
        for line in BufReader::new(stdout).lines() {
            if line?.starts_with("ready in ") {
                serving.ready_s = begun.elapsed().as_secs_f64();
                return Ok(serving);
            }
            if begun.elapsed() > READY_MAX {
                break;
            }
        }
        Err("the server did not get ready".into())
    }
}

/// What was asked of whom, and what came of it.
pub(super) struct Line {
    pub(super) asked: String,
    pub(super) database: &'static str,
    pub(super) outcome: String,
}

impl Line {
    /// Adds it to a sheet.
    pub(super) fn add(self, sheet: &mut Sheet, cost: &Asked) {
        let said = cost.said.len() as f64 / MIB;
        let peak = cost.peak as f64 / MIB;
        let cells = vec![
            self.asked.clone(),
            self.database.to_owned(),
            format!("{:.2}", cost.seconds),
            format!("{peak:.0}"),
            format!("{said:.1}"),
            self.outcome.clone(),
        ];
        let json = json!({
            "asked": self.asked, "database": self.database, "seconds": cost.seconds, "peak_mib": peak,
            "said_mib": said, "outcome": self.outcome,
        });
        sheet.add(cells, json);
        sheet.show_last();
    }
}

/// A server that runs.
pub(super) struct Serving {
    child: Child,
    /// From its start until it served.
    pub(super) ready_s: f64,
}

impl Serving {
    /// Bytes of memory that it has now.
    pub(super) fn memory(&self) -> u64 {
        memory(self.child.id(), "VmRSS").unwrap_or_default()
    }

    /// Bytes of memory that it had at most.
    pub(super) fn peak(&self) -> u64 {
        memory(self.child.id(), "VmHWM").unwrap_or_default()
    }

    /// Seconds that it has computed.
    pub(super) fn computed_s(&self) -> f64 {
        computed_s(&self.child.id().to_string())
    }

    /// Ends it in good order.
    pub(super) fn stop(mut self) -> Result<(), Failure> {
        Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status()?;
        let status = self.child.wait()?;
        if status.success() { Ok(()) } else { Err(format!("the server ended with {status}").into()) }
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        // One that has ended already needs no killing.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A figure of the memory of a process, in bytes; nothing once it has ended.
fn memory(process: u32, figure: &str) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(figure)?.strip_prefix(':'))?;
    let kib: u64 = line.trim().trim_end_matches(" kB").parse().ok()?;
    Some(kib * 1024)
}

type Reading = JoinHandle<std::io::Result<Vec<u8>>>;

/// Reads a pipe to its end, beside everything else.
fn read_all(pipe: Option<impl Read + Send + 'static>) -> Reading {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            pipe.read_to_end(&mut bytes)?;
        }
        Ok(bytes)
    })
}

fn joined(reading: Reading) -> Result<Vec<u8>, Failure> {
    Ok(reading.join().map_err(|_| "a pipe could not be read")??)
}
