//! Drives the real program in a folder of its own, as a person at a terminal would.

use std::io::{BufRead, BufReader, Lines};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// Which program to drive: the one that is named, else the one that cargo built for the tests.
fn program() -> PathBuf {
    std::env::var_os("PUNCTUAL_TEST_BINARY")
        .map_or_else(|| env!("CARGO_BIN_EXE_punctual").into(), PathBuf::from)
}

/// A person with a home of their own.
pub(crate) struct Person {
    home: TempDir,
}

impl Person {
    pub(crate) fn new() -> Self {
        Self { home: tempfile::tempdir().expect("a temporary folder") }
    }

    pub(crate) fn home(&self) -> &Path {
        self.home.path()
    }

    /// The file that the program uses without being told.
    pub(crate) fn database(&self) -> PathBuf {
        self.home().join("data/punctual/punctual.db")
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(program());
        command
            .args(arguments)
            .env_remove("DATABASE_URL")
            .env("PUNCTUAL_LISTEN", "127.0.0.1:0")
            .env("XDG_DATA_HOME", self.home().join("data"));
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("the program starts")
    }

    /// Runs a command that must succeed and reads its JSON.
    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        let output = self.run(arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "punctual {}: {said}", arguments.join(" "));
        serde_json::from_slice(&output.stdout).expect("JSON on a pipe")
    }

    /// Starts `serve` and waits until it says that it is ready.
    pub(crate) fn serve(&self) -> Serving {
        self.serve_with(&[])
    }

    /// Starts `serve` with more variables in its environment.
    pub(crate) fn serve_with(&self, variables: &[(&str, String)]) -> Serving {
        let mut command = self.command(&["serve", "--log-format", "json"]);
        command.envs(variables.iter().cloned());
        Serving::start(command)
    }

    /// Starts `serve` with more arguments, in the person's home.
    pub(crate) fn serve_in_home(&self, arguments: &[&str]) -> Serving {
        let mut command = self.command(&[&["serve", "--log-format", "json"], arguments].concat());
        command.current_dir(self.home());
        Serving::start(command)
    }
}

/// A `serve` that runs.
pub(crate) struct Serving {
    child: Child,
    log: Lines<BufReader<ChildStderr>>,
    pub(crate) greeting: Vec<String>,
}

impl Serving {
    /// Starts it and waits until it says that it is ready.
    fn start(mut command: Command) -> Self {
        let mut child =
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts");
        let stdout = child.stdout.take().expect("a pipe");
        let log = BufReader::new(child.stderr.take().expect("a pipe")).lines();
        let greeting: Vec<String> = BufReader::new(stdout).lines().take(2).map_while(Result::ok).collect();
        if !greeting.iter().any(|line| line.starts_with("ready in ")) {
            let said: Vec<String> = log.map_while(Result::ok).collect();
            panic!("the server did not get ready: {greeting:?} {said:?}");
        }
        Self { child, log, greeting }
    }

    /// Where it listens.
    #[allow(dead_code, reason = "each test program uses what it needs")]
    pub(crate) fn url(&self) -> String {
        let line = self.greeting.first().expect("a greeting");
        line.rsplit_once(" at ").map(|(_, url)| url.to_owned()).expect("an address")
    }

    /// Its process id.
    pub(crate) fn id(&self) -> String {
        self.child.id().to_string()
    }

    /// Waits for a line of the log that holds `text`.
    pub(crate) fn wait_for(&mut self, text: &str) -> Value {
        loop {
            let line = self.log.next().expect("the log goes on").expect("a readable log");
            if line.contains(text) {
                return serde_json::from_str(&line).expect("the log is JSON");
            }
        }
    }

    /// Sends SIGKILL: nothing of the program runs after this.
    pub(crate) fn kill(mut self) {
        self.child.kill().expect("a process that runs");
        self.child.wait().expect("a process that ended");
    }

    /// Sends SIGTERM and waits for a good end.
    pub(crate) fn stop(mut self) {
        let id = self.id();
        let sent = Command::new("kill").args(["-TERM", &id]).status().expect("kill exists");
        assert!(sent.success());
        // The log is read to its end, so that the program is never blocked on it.
        let left: Vec<String> = self.log.by_ref().map_while(Result::ok).collect();
        let status = self.child.wait().expect("a process that ended");
        assert!(status.success(), "{status}: {left:?}");
    }
}
