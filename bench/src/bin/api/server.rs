//! The program that is measured, on a new database in a folder of its own.

use std::io::{BufRead, BufReader};
use std::path::Path;
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
    /// Starts it on a file of its own, or on a database that is elsewhere.
    pub(crate) fn start(program: &str, url: Option<&str>) -> Result<Self, Failure> {
        let folder = tempfile::tempdir()?;
        let file = folder.path().join("punctual.db").display().to_string();
        let mut child = Command::new(program)
            .args(["--json", "serve", "--listen", "127.0.0.1:0", "--log-level", "warn", "--database"])
            .arg(url.unwrap_or(&file))
            .env("XDG_DATA_HOME", folder.path())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut greeting = String::new();
        let stdout = child.stdout.take().ok_or("no output")?;
        BufReader::new(stdout).read_line(&mut greeting)?;
        let greeting: serde_json::Value = serde_json::from_str(&greeting)?;
        let url = greeting["url"].as_str().ok_or("it does not listen")?;
        let address = url.trim_start_matches("http://").to_owned();
        let token = token(folder.path())?.ok_or("it has left no token")?;
        Ok(Self { child, address, token, _folder: folder })
    }

    pub(crate) fn stop(mut self) {
        // It has nothing to keep.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The token that it left, wherever in the folder that is.
fn token(folder: &Path) -> Result<Option<String>, Failure> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            if let Some(found) = token(&path)? {
                return Ok(Some(found));
            }
        } else if path.extension().is_some_and(|extension| extension == "token") {
            return Ok(Some(std::fs::read_to_string(path)?.trim().to_owned()));
        }
    }
    Ok(None)
}
