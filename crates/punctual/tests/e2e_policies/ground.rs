//! A database of its own, and the program on it.

use std::process::{Command, Output};

use serde_json::Value;

use crate::database;
use crate::driver::{Person, Serving};

/// How far the servers look ahead: further than the outage is long, so that some of what they planned outlives it.
const LOOKAHEAD_MS: u32 = 20_000;

/// A person and the database that they use.
pub(crate) struct Ground {
    person: Person,
    url: String,
}

impl Ground {
    pub(crate) fn sqlite() -> Self {
        let person = Person::new();
        let url = format!("sqlite:{}", person.home().join("ledger.db").display());
        Self { person, url }
    }

    /// An empty database on the server that the environment names.
    pub(crate) fn postgres() -> Self {
        Self { person: Person::new(), url: database::empty("policies") }
    }

    /// Where the programs of the schedules work.
    pub(crate) fn folder(&self) -> String {
        self.person.home().display().to_string()
    }

    fn command(&self, org: &str, line: &[&str]) -> Command {
        let mut command = self.person.command(line);
        command.env("DATABASE_URL", &self.url).env("PUNCTUAL_ORG_ID", org);
        command
    }

    /// What a command that must succeed says.
    pub(crate) fn json(&self, org: &str, line: &[&str]) -> Value {
        let Output { status, stdout, stderr } = self.command(org, line).output().expect("the program starts");
        let said = String::from_utf8_lossy(&stderr);
        assert!(
            status.success(),
            "punctual {} ({org}): {said}{}",
            line.join(" "),
            String::from_utf8_lossy(&stdout)
        );
        serde_json::from_slice(&stdout).expect("JSON on a pipe")
    }

    /// Brings a file into an org.
    pub(crate) fn apply(&self, org: &str, text: &str) {
        let path = self.person.home().join(format!("{org}.yaml"));
        std::fs::write(&path, text).expect("a file");
        self.json(org, &["apply", &path.display().to_string()]);
    }

    pub(crate) fn serve(&self) -> Serving {
        self.person.serve_with(&[
            ("DATABASE_URL", self.url.clone()),
            ("PUNCTUAL_LOOKAHEAD_MS", LOOKAHEAD_MS.to_string()),
            // Rows are kept by their tick; the nights that are run again are long past.
            ("PUNCTUAL_KEEP_RUNS", "3650d".to_owned()),
        ])
    }
}
