//! A database of its own and real nodes on it, whose logs are read as they write them.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};

use jiff::Timestamp;
use serde_json::Value;

use crate::database;
use crate::driver::Person;

/// An installation.
pub(crate) struct Cluster {
    pub(crate) person: Person,
    pub(crate) url: String,
}

impl Cluster {
    /// An empty database on the server that the environment names.
    pub(crate) fn new() -> Self {
        Self { person: Person::new(), url: database::empty("nodes") }
    }

    /// A command of the program on the database.
    pub(crate) fn command(&self, line: &[&str]) -> Command {
        let mut command = self.person.command(line);
        command.env("DATABASE_URL", &self.url).env("PUNCTUAL_METRICS_ACCESS", "open");
        command
    }

    /// What a command that must succeed says.
    pub(crate) fn json(&self, line: &[&str]) -> Value {
        let output = self.command(line).output().expect("the program starts");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "punctual {}: {said}", line.join(" "));
        serde_json::from_slice(&output.stdout).expect("JSON on a pipe")
    }

    /// Starts a node.
    pub(crate) fn start(&self, name: &'static str) -> Node {
        let mut command = self.command(&["serve", "--log-format", "json"]);
        let mut child =
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts");
        let log = BufReader::new(child.stderr.take().expect("a pipe"));
        let (sender, lines) = channel();
        // A log that nobody reads would block the node when its pipe is full.
        std::thread::spawn(move || log.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        let mut greeting = String::new();
        let mut stdout = BufReader::new(child.stdout.take().expect("a pipe"));
        stdout.read_line(&mut greeting).expect("a greeting");
        let address = greeting.trim().rsplit_once(" at http://").map(|(_, address)| address.to_owned());
        let address =
            address.unwrap_or_else(|| panic!("{name}: {greeting:?} {:?}", lines.iter().collect::<Vec<_>>()));
        Node { name, child, lines, address }
    }
}

/// A node that serves.
pub(crate) struct Node {
    name: &'static str,
    child: Child,
    lines: Receiver<String>,
    address: String,
}

impl Node {
    /// Waits for a line of its log that is as wanted, among those that nobody has waited for before.
    pub(crate) fn wait_for(&self, what: &str, is_wanted: impl Fn(&Value) -> bool) -> Value {
        for line in &self.lines {
            let line: Value = serde_json::from_str(&line).expect("the log is JSON");
            if is_wanted(&line["fields"]) {
                return line["fields"].clone();
            }
        }
        panic!("{} ended and never said: {what}", self.name)
    }

    /// Waits until it says a text.
    pub(crate) fn hears(&self, text: &str) {
        self.wait_for(text, |line| line["message"] == text);
    }

    /// Waits until it holds so many shards.
    pub(crate) fn holds(&self, shards: u64) {
        let what = format!("that it holds {shards} shards");
        self.wait_for(&what, |line| {
            line["message"] == "the share of this node has changed" && line["shards"] == shards
        });
    }

    /// Waits until it holds so many shards and has taken up what another one had in flight, whichever comes first.
    pub(crate) fn takes_over(&self, shards: u64) {
        let (mut holds, mut has_taken_up) = (false, false);
        while !(holds && has_taken_up) {
            let line = self.wait_for("that it has taken over", |line| line["message"].is_string());
            holds |= line["message"] == "the share of this node has changed" && line["shards"] == shards;
            has_taken_up |= line["message"] == "took up what was left in flight";
        }
    }

    /// Waits until it admits a tick of a kind of schedules that is not before an instant.
    pub(crate) fn fires(&self, kind: &str, since: Timestamp) {
        self.wait_for("that a run fires", |line| {
            let is_kind = line["schedule"].as_str().is_some_and(|name| name.starts_with(kind));
            let tick = line["tick"].as_str().and_then(|tick| tick.parse::<Timestamp>().ok());
            line["message"] == "fires" && is_kind && tick.is_some_and(|tick| tick >= since)
        });
    }

    /// Sends it a signal.
    pub(crate) fn signal(&self, signal: &str) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args([signal, &id]).status().expect("kill exists").success());
    }

    /// Ends it as a power cut does.
    pub(crate) fn kill(mut self) {
        self.child.kill().expect("a process that runs");
        self.child.wait().expect("a process that ended");
    }

    /// Asks it to leave and waits for a good end.
    pub(crate) fn leave(mut self) {
        self.signal("-TERM");
        let status = self.child.wait().expect("a process that ended");
        assert!(status.success(), "{}: {status}: {:?}", self.name, self.lines.iter().collect::<Vec<_>>());
    }

    /// The lines of its metrics that begin with a name.
    pub(crate) fn metrics(&self, name: &str) -> Vec<String> {
        let mut line = TcpStream::connect(&self.address).expect("it listens");
        let asked = format!("GET /metrics HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", self.address);
        line.write_all(asked.as_bytes()).expect("it listens");
        let mut text = String::new();
        line.read_to_string(&mut text).expect("it answers");
        text.lines().filter(|line| line.starts_with(name)).map(str::to_owned).collect()
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        // One that a failed test left behind; one that is gone already cannot be killed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
