//! A server with a queue, and the workers of the guide in front of it.

use std::io::{BufRead, BufReader, Lines};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Stdio};

use serde_json::Value;

use crate::driver::{Person, Serving};

/// In what a worker is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tongue {
    Python,
    Shell,
}

impl Tongue {
    pub(crate) const BOTH: [Self; 2] = [Self::Python, Self::Shell];

    pub(crate) fn other(self) -> Self {
        match self {
            Self::Python => Self::Shell,
            Self::Shell => Self::Python,
        }
    }

    fn mark(self) -> &'static str {
        match self {
            Self::Python => "python",
            Self::Shell => "sh",
        }
    }

    fn program(self) -> &'static str {
        match self {
            Self::Python => "python3",
            Self::Shell => "sh",
        }
    }

    /// The worker, as it stands in the guide.
    fn text(self) -> String {
        let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guides/workers.md");
        let page = std::fs::read_to_string(page).expect("the guide is there");
        let begin = format!("```{}\n", self.mark());
        let (_, rest) = page.split_once(&begin).expect("the guide has a worker");
        rest.split_once("\n```").expect("it ends").0.to_owned() + "\n"
    }
}

/// How a worker is heard of.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Manner {
    /// It renews a lease of a second three times within it.
    Lively,
    /// It never does.
    Silent,
}

/// A server, and schedules whose runs wait for workers.
pub(crate) struct Shop {
    pub(crate) person: Person,
    serving: Serving,
    url: String,
    token: String,
}

impl Shop {
    pub(crate) fn open() -> Self {
        let person = Person::new();
        let serving = person.serve_in_home(&["--listen", "127.0.0.1:0"]);
        let url = serving.greeting[0].rsplit_once(" at ").expect("it says where it listens").1.to_owned();
        let file = format!("{}.token", person.database().display());
        let token = std::fs::read_to_string(file).expect("its token").trim().to_owned();
        Self { person, serving, url, token }
    }

    /// A schedule of the queue `work` that never ticks by itself.
    pub(crate) fn schedule(&self, name: &str, more: &[&str]) {
        let line = ["schedule", "create", "--name", name, "--cron", "@yearly", "--queue", "work"];
        self.person.json(&[&line, more].concat());
    }

    /// Asks for a run; gives back its id.
    pub(crate) fn trigger(&self, name: &str) -> String {
        let triggered = self.person.json(&["schedule", "trigger", "--name", name]);
        triggered["run_id"].as_str().expect("an id").to_owned()
    }

    /// A named pipe that keeps a command waiting until it is written to.
    pub(crate) fn gate(&self, name: &str) -> PathBuf {
        let path = self.person.home().join(name);
        assert!(Command::new("mkfifo").arg(&path).status().expect("mkfifo exists").success());
        path
    }

    pub(crate) fn run(&self, run: &str) -> Value {
        self.person.json(&["schedule", "run-details", "--run-id", run])["run"].clone()
    }

    /// Starts a worker of the guide with a command.
    pub(crate) fn worker(&self, tongue: Tongue, manner: Manner, argv: &[&str]) -> Worker {
        let file = self.person.home().join(format!("worker.{}", tongue.mark()));
        std::fs::write(&file, tongue.text()).expect("a file");
        let beat = match manner {
            Manner::Lively => "0.3",
            Manner::Silent => "3600",
        };
        let mut command = Command::new(tongue.program());
        command.arg(&file).arg("work").args(argv);
        command.env("PUNCTUAL_URL", &self.url).env("PUNCTUAL_TOKEN", &self.token);
        command.env("LEASE_SECONDS", "1").env("HEARTBEAT_SECONDS", beat);
        let mut child =
            command.stderr(Stdio::piped()).stdout(Stdio::null()).process_group(0).spawn().expect("it starts");
        let lines = BufReader::new(child.stderr.take().expect("a pipe")).lines();
        Worker { child, lines }
    }

    pub(crate) fn close(self) {
        self.serving.stop();
    }
}

/// A worker that runs.
pub(crate) struct Worker {
    child: Child,
    lines: Lines<BufReader<ChildStderr>>,
}

impl Worker {
    /// Waits until it says something that begins so.
    pub(crate) fn wait_for(&mut self, text: &str) -> String {
        loop {
            let line = self.lines.next().expect("it goes on").expect("a readable line");
            if line.starts_with(text) {
                return line;
            }
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // Its commands and its heart are in its group.
        let group = format!("-{}", self.child.id());
        let _ = Command::new("kill").args(["-KILL", "--", &group]).status();
        let _ = self.child.wait();
    }
}
