//! One process of the program on a database: started, killed, stopped and continued, asked to leave.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use crate::failure::Failure;

/// How long a node may take to answer a question about its metrics.
const ANSWER_MAX: Duration = Duration::from_secs(10);

/// How long a node may take to leave after it was asked to.
const LEAVE_MAX: Duration = Duration::from_secs(60);

/// How often it is looked whether a process has ended.
const LOOK_EVERY: Duration = Duration::from_millis(3);

/// What every node is started with.
#[derive(Clone)]
pub(super) struct Kit {
    pub(super) program: PathBuf,
    pub(super) folder: PathBuf,
    /// The path of a file, or the URL of a server.
    pub(super) database: String,
    /// Variables beside the usual ones.
    pub(super) variables: Vec<(String, String)>,
}

impl Kit {
    /// A program in a folder, on a database.
    pub(super) fn new(program: PathBuf, folder: &Path, database: String) -> Self {
        Self { program, folder: folder.to_owned(), database, variables: Vec::new() }
    }

    /// The same with one more variable.
    pub(super) fn with(&self, name: &str, value: impl Into<String>) -> Self {
        let mut kit = self.clone();
        kit.variables.push((name.to_owned(), value.into()));
        kit
    }

    /// A command of the program on the database.
    pub(super) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(arguments)
            .env("DATABASE_URL", &self.database)
            .env("XDG_DATA_HOME", &self.folder)
            .env("PUNCTUAL_ALLOW_PRIVATE_TARGETS", "127.0.0.0/8")
            .env("PUNCTUAL_METRICS_ACCESS", "open")
            .env("PUNCTUAL_LISTEN", "127.0.0.1:0")
            .envs(self.variables.iter().map(|(name, value)| (name, value)));
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

    /// What a process of this name has said so far.
    pub(super) fn log(&self, name: &str) -> String {
        std::fs::read_to_string(self.log_file(name)).unwrap_or_default()
    }

    fn log_file(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.log"))
    }

    fn open_log(&self, name: &str) -> Result<File, Failure> {
        let opened = OpenOptions::new().create(true).append(true).open(self.log_file(name));
        opened.map_err(|error| failed(name, &error.to_string()))
    }
}

fn failed(what: &str, why: &str) -> Failure {
    Failure::new(format!("{what}: {}", why.trim()), "the logs of the nodes are in the folder that was named")
}

/// A process of the program.
pub(super) struct Node {
    /// How the table calls it.
    pub(super) name: String,
    child: Child,
    address: String,
    /// Kept open: the program may say more.
    greeting: BufReader<ChildStdout>,
}

impl Node {
    /// Starts a server and waits until it says that it is ready.
    pub(super) fn start(kit: &Kit, name: &str) -> Result<Self, Failure> {
        let mut node = Self::spawn(kit, name, &["serve", "--log-level", "warn"])?;
        match node.is_ready()? {
            true => Ok(node),
            false => Err(failed(name, &format!("it did not get ready: {}", kit.log(name)))),
        }
    }

    /// Starts a process and waits for nothing.
    pub(super) fn spawn(kit: &Kit, name: &str, arguments: &[&str]) -> Result<Self, Failure> {
        let wrong = |error: std::io::Error| failed(name, &error.to_string());
        let mut command = kit.command(arguments);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(kit.open_log(name)?);
        let mut child = command.spawn().map_err(wrong)?;
        let stdout = child.stdout.take().ok_or_else(|| failed(name, "it has no output"))?;
        Ok(Self { name: name.to_owned(), child, address: String::new(), greeting: BufReader::new(stdout) })
    }

    /// Waits until a server says that it is ready; false if it ends before.
    pub(super) fn is_ready(&mut self) -> Result<bool, Failure> {
        let mut said = String::new();
        for _ in 0..2 {
            let read = self.greeting.read_line(&mut said);
            read.map_err(|error| failed(&self.name, &error.to_string()))?;
        }
        let address = said.lines().next().and_then(|line| line.rsplit_once(" at http://"));
        let Some((_, address)) = address else { return Ok(false) };
        self.address = address.trim().to_owned();
        Ok(true)
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

    /// How it ended, if it does within this time.
    pub(super) fn ends_within(&mut self, limit: Duration) -> Result<Option<ExitStatus>, Failure> {
        let begun = Instant::now();
        loop {
            let status = self.child.try_wait().map_err(|error| failed(&self.name, &error.to_string()))?;
            if status.is_some() || begun.elapsed() > limit {
                return Ok(status);
            }
            std::thread::sleep(LOOK_EVERY);
        }
    }

    /// Whether it kills itself within this time; that it ends in another way is a failure.
    pub(super) fn kills_itself_within(&mut self, limit: Duration) -> Result<bool, Failure> {
        match self.ends_within(limit)? {
            Some(status) if status.signal() == Some(9) => Ok(true),
            Some(status) => Err(failed(&self.name, &format!("it ended by itself with {status}"))),
            None => Ok(false),
        }
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
        match self.ends_within(LEAVE_MAX)? {
            Some(status) if status.success() => Ok(()),
            Some(status) => Err(failed(&self.name, &format!("it left with {status}"))),
            None => Err(failed(&self.name, "it was asked to leave and did not")),
        }
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
