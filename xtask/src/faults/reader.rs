//! Whoever judges the ledger: `ledger_reader.py`, which shares no code with the program, and what it says.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::line::Line;

/// How often it is asked again while runs are still open.
const AGAIN_AFTER: Duration = Duration::from_millis(500);

/// The files of which it is made.
const FILES: [(&str, &str); 3] = [
    ("ledger_reader.py", include_str!("ledger_reader.py")),
    ("tables.py", include_str!("tables.py")),
    ("ticks.py", include_str!("ticks.py")),
];

/// A reader of one database.
#[derive(Clone)]
pub(super) struct Reader {
    script: PathBuf,
    database: String,
    /// Where the starts are noted.
    starts: Option<PathBuf>,
    /// Where it is noted what happened to nodes.
    events: Option<PathBuf>,
}

impl Reader {
    /// One that is kept in a folder.
    pub(super) fn new(folder: &Path, database: &str) -> Result<Self, Failure> {
        for (name, text) in FILES {
            let file = folder.join(name);
            std::fs::write(&file, text).map_err(|error| {
                Failure::new(
                    format!("`{}`: {error}", file.display()),
                    "is there room in the temporary folder?",
                )
            })?;
        }
        let script = folder.join(FILES[0].0);
        Ok(Self { script, database: database.to_owned(), starts: None, events: None })
    }

    /// The same with the notes of all starts.
    pub(super) fn with_starts(self, starts: &Path) -> Self {
        Self { starts: Some(starts.to_owned()), ..self }
    }

    /// The same with the notes of what happened to nodes.
    pub(super) fn with_events(self, events: &Path) -> Self {
        Self { events: Some(events.to_owned()), ..self }
    }

    /// What it says of everything up to the cursors, or of everything that was due up to a second.
    pub(super) fn judge(&self, through: Option<i64>) -> Result<Found, Failure> {
        Found::read(&self.ask("judge", through)?)
    }

    /// The same when all runs have ended that were due by then, or when it takes longer than this.
    pub(super) fn judge_when_closed(&self, through: i64, limit: Duration) -> Result<Found, Failure> {
        let begun = Instant::now();
        loop {
            let found = self.judge(Some(through))?;
            if found.open == 0 || found.count > found.open || begun.elapsed() > limit {
                return Ok(found);
            }
            std::thread::sleep(AGAIN_AFTER);
        }
    }

    /// Lets it try itself on altered rows; it fails if one of them goes unnoticed.
    pub(super) fn tried(&self, through: Option<i64>) -> Result<String, Failure> {
        let said = self.ask("self-test", through)?;
        let value: Value = serde_json::from_str(&said).unwrap_or_default();
        match value["count"].as_u64() {
            Some(0) => Ok(format!("the reader notices each of {} altered rows", value["alterations"])),
            _ => Err(Failure::new(format!("the reader does not notice what is altered: {said}"), "mend it")),
        }
    }

    /// What it says; it ends badly where there are problems, which are in what it says.
    fn ask(&self, command: &str, through: Option<i64>) -> Result<String, Failure> {
        let question = json!({"through": through, "starts": self.starts, "events": self.events}).to_string();
        let script = self.script.display().to_string();
        let words = ["python3", "-B", &script, command, &self.database, &question];
        let output = Line::new(words).command().output();
        let hint = "is python3 there? `cargo xtask ground` installs it";
        let output = output.map_err(|error| Failure::new(format!("the reader: {error}"), hint))?;
        match output.stdout.is_empty() {
            true => Err(Failure::new(String::from_utf8_lossy(&output.stderr).into_owned(), hint)),
            false => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        }
    }
}

/// What it says.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Found {
    pub(super) problems: Vec<String>,
    pub(super) count: u64,
    pub(super) ticks: u64,
    pub(super) lost: u64,
    pub(super) doubled: u64,
    pub(super) open: u64,
    pub(super) starts: u64,
    /// Starts beyond the first of their run.
    pub(super) repeated: u64,
    pub(super) stale_counted: u64,
    pub(super) ends: BTreeMap<String, u64>,
    pub(super) lateness: BTreeMap<String, f64>,
    pub(super) events: Vec<Event>,
}

/// What it says of one note.
#[derive(Debug, Deserialize)]
pub(super) struct Event {
    pub(super) event: String,
    pub(super) late_ms: f64,
}

impl Found {
    /// Reads what it printed.
    pub(super) fn read(text: &str) -> Result<Self, Failure> {
        serde_json::from_str(text.trim()).map_err(|error| {
            Failure::new(format!("the reader said something strange: {error}: {text}"), "run it by hand")
        })
    }

    /// Whether every tick is accounted for.
    pub(super) fn is_sound(&self) -> bool {
        self.count == 0
    }

    /// Refuses what is not.
    pub(super) fn sound(self, when: &str) -> Result<Self, Failure> {
        if self.is_sound() {
            return Ok(self);
        }
        let what = format!("{} problems {when}:\n  {}", self.count, self.problems.join("\n  "));
        Err(Failure::new(what, "`ledger_reader.py judge` says it again"))
    }

    /// How the ticks ended, in words.
    pub(super) fn ends(&self) -> String {
        let ends = self.ends.iter().map(|(end, count)| format!("{count} {end}"));
        ends.collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_sound_is_refused_with_its_problems() {
        let said = r#"{"problems":["p-1-0: no entry for 7"],"count":1,"ticks":9,"lost":1,"doubled":0,"open":0,"starts":3,
            "repeated":0,"stale_counted":0,"ends":{"success":8},"lateness":{},"events":[]}"#;
        let refused = Found::read(said).expect("it is what the reader prints").sound("after kill 3");
        assert_eq!(
            refused.expect_err("there is a problem").what,
            "1 problems after kill 3:\n  p-1-0: no entry for 7"
        );
        assert!(Found::read("Traceback").is_err());
    }
}
