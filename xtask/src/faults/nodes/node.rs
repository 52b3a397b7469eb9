//! One `punctual serve` among several on one database: started, killed, stopped and continued, asked to leave.

use std::io::{BufRead, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use crate::failure::Failure;

/// How long a node may take to answer a question about its metrics.
const ANSWER_MAX: Duration = Duration::from_secs(10);

/// What every node is started with.
#[derive(Clone)]
pub(super) struct Kit {
    pub(super) program: PathBuf,
    pub(super) folder: PathBuf,
    pub(super) database: String,
}

impl Kit {
    /// A command of the program on the database.
    pub(super) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(arguments)
            .env("DATABASE_URL", &self.database)
            .env("XDG_DATA_HOME", &self.folder)
            .env("PUNCTUAL_ALLOW_PRIVATE_TARGETS", "127.0.0.0/8")
            .env("PUNCTUAL_METRICS_ACCESS", "open")
            .env("PUNCTUAL_LISTEN", "127.0.0.1:0");
        command
    }

    /// Runs a command that must succeed and gives what it printed.
    pub(super) fn ask(&self, arguments: &[&str]) -> Result<String, Failure> {
        let name = format!("punctual {}", arguments.join(" "));
        let output = self.command(arguments).output().map_err(|error| failed(&name, &error.to_string()))?;
        match output.status.success() {
            true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
            false => Err(failed(&name, &String::from_utf8_lossy(&output.stderr))),
        }
    }
}

fn failed(what: &str, why: &str) -> Failure {
    Failure::new(format!("{what}: {}", why.trim()), "the logs of the nodes are in the folder that was named")
}

/// A wall clock that is wrong by so much.
pub(super) struct Wrong {
    /// The library that stands between the program and the clock.
    pub(super) library: PathBuf,
    /// By how many milliseconds it is ahead.
    pub(super) ahead_ms: u32,
}

/// A node that serves.
pub(super) struct Node {
    /// How the table calls it.
    pub(super) name: String,
    child: Child,
    address: String,
    /// Kept open: the program may say more.
    _greeting: BufReader<ChildStdout>,
}

impl Node {
    /// Starts one and waits until it says that it is ready.
    pub(super) fn start(kit: &Kit, name: &str, clock: Option<&Wrong>) -> Result<Self, Failure> {
        let wrong = |error: std::io::Error| failed(name, &error.to_string());
        let log = std::fs::File::create(log_of(&kit.folder, name)).map_err(wrong)?;
        let mut command = kit.command(&["serve", "--log-level", "warn"]);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(log);
        if let Some(clock) = clock {
            // Only the wall is wrong: what counts the time since the start is the machine's own.
            command
                .env("LD_PRELOAD", &clock.library)
                .env("FAKETIME", format!("+{}.{:03}", clock.ahead_ms / 1_000, clock.ahead_ms % 1_000))
                .env("FAKETIME_DONT_FAKE_MONOTONIC", "1");
        }
        let mut child = command.spawn().map_err(wrong)?;
        let stdout = child.stdout.take().ok_or_else(|| failed(name, "it has no output"))?;
        let mut greeting = BufReader::new(stdout);
        let mut said = String::new();
        for _ in 0..2 {
            greeting.read_line(&mut said).map_err(wrong)?;
        }
        let address = said.lines().next().and_then(|line| line.rsplit_once(" at http://"));
        let Some((_, address)) = address else {
            let log = std::fs::read_to_string(log_of(&kit.folder, name)).unwrap_or_default();
            return Err(failed(name, &format!("it did not get ready: {said}{log}")));
        };
        let address = address.trim().to_owned();
        Ok(Self { name: name.to_owned(), child, address, _greeting: greeting })
    }

    /// Its process id.
    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Ends it as a power cut does.
    pub(super) fn kill(mut self) -> Result<(), Failure> {
        let killed = self.child.kill().and_then(|()| self.child.wait());
        killed.map(|_| ()).map_err(|error| failed(&self.name, &error.to_string()))
    }

    /// Lets it stand still.
    pub(super) fn stop(&self) -> Result<(), Failure> {
        self.signal("-STOP")
    }

    /// Lets it go on.
    pub(super) fn go_on(&self) -> Result<(), Failure> {
        self.signal("-CONT")
    }

    /// Asks it to leave and waits until it has.
    pub(super) fn leave(mut self) -> Result<(), Failure> {
        self.signal("-TERM")?;
        let status = self.child.wait().map_err(|error| failed(&self.name, &error.to_string()))?;
        if status.success() { Ok(()) } else { Err(failed(&self.name, &format!("it left with {status}"))) }
    }

    fn signal(&self, signal: &str) -> Result<(), Failure> {
        let status = Command::new("kill").args([signal, &self.pid().to_string()]).status();
        match status {
            Ok(status) if status.success() => Ok(()),
            other => Err(failed(&self.name, &format!("`kill {signal}`: {other:?}"))),
        }
    }

    /// The sum of a metric over its labels.
    pub(super) fn metric(&self, name: &str) -> Result<u64, Failure> {
        let wrong = |error: std::io::Error| failed(&self.name, &format!("its metrics: {error}"));
        let mut line = TcpStream::connect(&self.address).map_err(wrong)?;
        line.set_read_timeout(Some(ANSWER_MAX)).map_err(wrong)?;
        let asked = format!("GET /metrics HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", self.address);
        line.write_all(asked.as_bytes()).map_err(wrong)?;
        let mut text = String::new();
        line.read_to_string(&mut text).map_err(wrong)?;
        match text.starts_with("HTTP/1.1 200") {
            true => Ok(sum_of(&text, name)),
            false => Err(failed(&self.name, text.lines().next().unwrap_or("no answer"))),
        }
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        // One that was stopped or failed to leave must not outlive us; one that is gone already cannot be killed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn log_of(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.log"))
}

fn sum_of(text: &str, name: &str) -> u64 {
    let value = |line: &str| {
        let rest = line.strip_prefix(name)?;
        let is_whole = rest.starts_with(['{', ' ']);
        is_whole.then(|| rest.rsplit(' ').next()?.parse::<u64>().ok()).flatten()
    };
    text.lines().filter_map(value).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_metric_is_summed_over_its_labels() {
        let text = "# HELP a_total x.\na_total{step=\"admit\"} 2\na_total{step=\"b c\"} 3\na_total_more 9\nb_total 4\n";
        assert_eq!((sum_of(text, "a_total"), sum_of(text, "b_total"), sum_of(text, "c_total")), (5, 4, 0));
    }
}
