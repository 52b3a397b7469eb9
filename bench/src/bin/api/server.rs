//! The program that is measured, on a new database in a folder of its own.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use crate::Failure;

/// A running program.
pub(crate) struct Server {
    child: Child,
    pub(crate) address: String,
    pub(crate) token: String,
    _folder: tempfile::TempDir,
}

impl Server {
    pub(crate) fn start(program: &str) -> Result<Self, Failure> {
        let folder = tempfile::tempdir()?;
        let file = folder.path().join("punctual.db");
        let mut child = Command::new(program)
            .args(["--json", "serve", "--listen", "127.0.0.1:0", "--log-level", "warn", "--database"])
            .arg(&file)
            .stdout(Stdio::piped())
            .spawn()?;
        let mut greeting = String::new();
        let stdout = child.stdout.take().ok_or("no output")?;
        BufReader::new(stdout).read_line(&mut greeting)?;
        let greeting: serde_json::Value = serde_json::from_str(&greeting)?;
        let url = greeting["url"].as_str().ok_or("it does not listen")?;
        let address = url.trim_start_matches("http://").to_owned();
        let token = std::fs::read_to_string(folder.path().join("punctual.db.token"))?.trim().to_owned();
        Ok(Self { child, address, token, _folder: folder })
    }

    pub(crate) fn stop(mut self) {
        // It has nothing to keep.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
