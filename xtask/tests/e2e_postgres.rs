//! The private PostgreSQL of `cargo xtask with-postgres` serves its command and leaves nothing behind, even when
//! xtask is killed. Method: the real program, a real server; the end is seen by end-of-file, never by waiting a while.

use std::io::{BufRead as _, BufReader, Read as _};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};

/// A `with-postgres` whose command has printed where its server is, and now waits for its input to end.
struct Session {
    xtask: Child,
    output: BufReader<ChildStdout>,
    address: String,
}

impl Session {
    fn start() -> Self {
        let mut xtask = Command::new(env!("CARGO_BIN_EXE_xtask"))
            .args(["with-postgres", "--", "sh", "-c", "echo $PUNCTUAL_TEST_POSTGRES; cat"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("xtask was built by cargo");
        let mut output = BufReader::new(xtask.stdout.take().expect("it is piped"));
        let mut url = String::new();
        output.read_line(&mut url).expect("the command prints one line");
        let address = url.split(['@', '/']).find(|part| part.starts_with("127.0.0.1:"));
        let address = address.unwrap_or_else(|| panic!("`{url}` names no server")).to_owned();
        Self { xtask, output, address }
    }

    fn folder(&self) -> PathBuf {
        let port = self.address.trim_start_matches("127.0.0.1:");
        std::env::temp_dir().join(format!("punctual-postgres-{}-{port}", self.xtask.id()))
    }

    fn is_up(&self) -> bool {
        TcpStream::connect(&self.address).is_ok()
    }

    /// Lets the command end, and waits until nobody holds the output any more: command, xtask and keeper are gone.
    fn end(&mut self) {
        drop(self.xtask.stdin.take());
        self.output.read_to_string(&mut String::new()).expect("the output ends");
        self.xtask.wait().expect("it is our child");
    }
}

#[test]
fn the_server_lives_as_long_as_its_command() {
    let mut session = Session::start();
    assert!(session.is_up());
    assert!(session.folder().is_dir());
    session.end();
    assert!(!session.is_up());
    assert!(!session.folder().exists());
}

#[test]
fn killing_xtask_stops_the_server_and_removes_its_folder() {
    let mut session = Session::start();
    let folder = session.folder();
    assert!(folder.is_dir());
    session.xtask.kill().expect("it is our child");
    session.end();
    assert!(!session.is_up());
    assert!(!folder.exists());
}

#[test]
fn the_result_of_the_command_is_the_result_of_xtask() {
    let check = |words: &[&str], expected: i32| {
        let status = Command::new(env!("CARGO_BIN_EXE_xtask")).arg("with-postgres").args(words).status();
        assert_eq!(status.expect("xtask was built by cargo").code(), Some(expected), "{words:?}");
    };
    check(&["--", "true"], 0);
    check(&["--", "false"], 1);
    check(&[], 1);
}
