//! The load under which the program is killed: schedules of every second with every kind of target and policy.
//!
//! The name of a schedule says when it ticks and what must be true of it, so that the reader needs nothing else:
//! `KIND-PERIOD-PHASE-NUMBER[-WORD…]`, see `ledger_reader.py`.

use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::Database;
use super::node::{Kit, Node};
use super::reader::Reader;
use super::receiver::{ATTEMPT_HEADER, DUE_HEADER, KEY_HEADER, REFUSE_HEADER, Receiver};
use crate::failure::Failure;

/// How long a web request takes.
const WORK: Duration = Duration::from_millis(150);

/// Runs of a schedule that are kept: few, so that retention has something to do all the time.
const KEPT: &str = "40";

/// How far ahead ticks are planned: so little that each process that lives for a moment has something to plan.
const LOOKAHEAD_MS: &str = "3000";

/// Targets that fail are left alone for a moment, and then probed: the load does not wait for them.
const BREAKER: &str = "circuit_breaker: {threshold: 4, reset_after: 2s}";

/// The queue and its worker.
const QUEUE: &str = "jobs";

/// Schedules that fire at one instant: as many as are judged ahead and committed together.
const HERD_SQLITE: u32 = 72;
const HERD_POSTGRES: u32 = 210;

/// What each schedule of the load is, after its name: its target in capitals, and its policies.
const KINDS: [&str; 19] = [
    "p-1-0-00: NOTE",
    "p-1-0-01: NOTE, catch_up: run_all",
    "p-2-1-02: NOTE, catch_up: run_once",
    "p-1-0-03-allow: SHORT, if_running: allow",
    "p-1-0-04: SHORT, if_running: queue",
    "p-1-0-05: LONG, if_running: cancel",
    "p-1-0-06: LONG",
    "p-1-0-07-once: NOTE, delivery: at_most_once",
    "p-3-1-08: AGAIN, retry_after: 1s",
    "p-2-0-09-lane: SHORT, lane: lane",
    "p-2-1-10-lane: SHORT, lane: lane",
    "p-2-0-11-guard: SHORT, guard: guard",
    "w-1-0-12: WEB",
    "w-1-0-13-once: WEB, delivery: at_most_once",
    "w-3-2-14: REFUSED",
    "m-1-0-15: MESSAGE",
    "m-1-0-16-allow: MESSAGE, if_running: allow",
    "q-2-1-17-allow: QUEUE, if_running: allow",
    "q-2-0-18: QUEUE",
];

/// What the schedules of a second org are, which has limits.
const LIMITED: [&str; 3] = ["p-1-0-50: SHORT", "p-1-0-51: SHORT", "m-1-0-52: MESSAGE"];

/// A ground on which the program works under load.
pub(super) struct Load {
    pub(super) kit: Kit,
    pub(super) receiver: Receiver,
    pub(super) reader: Reader,
    starts: PathBuf,
    worker: Option<Node>,
}

impl Load {
    /// Prepares it in the folder of a kit; [`Load::begin`] makes the schedules.
    pub(super) fn new(kit: &Kit) -> Result<Self, Failure> {
        let wrong = |error: std::io::Error| Failure::new(format!("the notes: {error}"), "is there room?");
        let starts = kit.folder.join("starts");
        let notes = OpenOptions::new().create(true).append(true).open(&starts).map_err(wrong)?;
        Ok(Self {
            reader: Reader::new(&kit.folder, &kit.database)?.with_starts(&starts),
            kit: kit
                .with("PUNCTUAL_KEEP_RUNS_PER_SCHEDULE", KEPT)
                .with("PUNCTUAL_LOOKAHEAD_MS", LOOKAHEAD_MS),
            receiver: Receiver::start(WORK, Some(notes))?,
            starts,
            worker: None,
        })
    }

    /// Makes the schedules, for which the database must be there.
    pub(super) fn begin(&self, database: Database) -> Result<(), Failure> {
        let words = Words { starts: &self.starts, port: self.receiver.port };
        let herd = match database {
            // They last so long that their starts are put into their rows before their ends are written.
            Database::Sqlite => herd("p-10-7", "SHORT", HERD_SQLITE),
            Database::Postgres => herd("m-10-7", "MESSAGE", HERD_POSTGRES),
        };
        let all = KINDS.iter().map(|kind| (*kind).to_owned()).chain(herd);
        self.apply(&self.kit, "load.yaml", &words.schedules(all))?;
        let limits = "settings: {limits: {runs_in_flight: 2}}\n";
        let limited = LIMITED.iter().map(|kind| (*kind).to_owned());
        let text = format!("{limits}{}", words.schedules(limited));
        self.apply(&self.kit.with("PUNCTUAL_ORG_ID", "limited"), "limited.yaml", &text)
    }

    /// Makes schedules of which each notes its starts: the name of each with when it ticks, as a file says it.
    pub(super) fn make(&self, schedules: impl Iterator<Item = (String, String)>) -> Result<(), Failure> {
        let target = Words { starts: &self.starts, port: 0 }.target("NOTE");
        let line =
            |(name, when): (String, String)| format!("  - {{name: {name}, {when}, target: {target}}}\n");
        let lines: String = schedules.map(line).collect();
        self.apply(&self.kit, "schedules.yaml", &format!("schedules:\n{lines}"))
    }

    fn apply(&self, kit: &Kit, name: &str, text: &str) -> Result<(), Failure> {
        let file = kit.folder.join(name);
        let written = std::fs::write(&file, text);
        written.map_err(|error| Failure::new(format!("`{}`: {error}", file.display()), "is there room?"))?;
        kit.ask(&["apply", &file.display().to_string()]).map(|_| ())
    }

    /// A worker of the queue, which goes on whatever becomes of the servers; another one if it has gone.
    pub(super) fn employ(&mut self, kit: &Kit) -> Result<&mut Node, Failure> {
        let worker = match self.worker.take() {
            Some(worker) => worker,
            None => {
                let note = self.note();
                let words = ["worker", "--queue", QUEUE, "--log-level", "warn", "--", "sh", "-c", &note];
                Node::spawn(kit, "worker", &words)?
            }
        };
        Ok(self.worker.insert(worker))
    }

    /// Ends the worker as a power cut does.
    pub(super) fn dismiss(&mut self) -> Result<(), Failure> {
        self.worker.take().map_or(Ok(()), Node::kill)
    }

    fn note(&self) -> String {
        Words { starts: &self.starts, port: 0 }.note()
    }
}

fn herd(name: &str, target: &str, count: u32) -> Vec<String> {
    (0..count).map(|number| format!("{name}-{:03}: {target}", number + 100)).collect()
}

/// What the words in capitals stand for.
struct Words<'a> {
    starts: &'a Path,
    port: u16,
}

impl Words<'_> {
    /// What a program does first: one line with its key and its attempt.
    fn note(&self) -> String {
        format!("echo $PUNCTUAL_IDEMPOTENCY_KEY $PUNCTUAL_ATTEMPT >> {}", self.starts.display())
    }

    fn schedules(&self, all: impl Iterator<Item = String>) -> String {
        let mut text = "schedules:\n".to_owned();
        for one in all {
            let (name, rest) = one.split_once(": ").unwrap_or((&one, "NOTE"));
            let (target, policies) = rest
                .split_once(", ")
                .map_or((rest, String::new()), |(target, more)| (target, format!(", {more}")));
            let cron = cron(name);
            let target = self.target(target);
            let _ = writeln!(
                text,
                "  - {{name: {name}, {cron}, max_consecutive_failures: 0, target: {target}{policies}}}"
            );
        }
        text
    }

    fn target(&self, word: &str) -> String {
        let program = |then: &str| {
            let text = serde_json::Value::String(format!("{}{then}", self.note()));
            format!("{{type: process, argv: [sh, -c, {text}], {BREAKER}}}")
        };
        let web = |more: &str| {
            let key = format!("{KEY_HEADER}: \"{{{{ idempotency_key }}}}\"");
            let attempt = format!("{ATTEMPT_HEADER}: \"{{{{ attempt }}}}\"");
            let due = format!("{DUE_HEADER}: \"{{{{ scheduled_for }}}}\"");
            let url = format!("http://127.0.0.1:{}/", self.port);
            format!(
                "{{type: webhook, url: \"{url}\", headers: {{{key}, {attempt}, {due}{more}}}, {BREAKER}}}"
            )
        };
        match word {
            "SHORT" => program("; sleep 0.3"),
            "LONG" => program("; sleep 1.4"),
            "AGAIN" => program("; [ $PUNCTUAL_ATTEMPT -gt 1 ]"),
            "WEB" => web(""),
            "REFUSED" => web(&format!(", {REFUSE_HEADER}: first")),
            "MESSAGE" => "{type: message, message: {text: tick}}".to_owned(),
            "QUEUE" => format!("{{type: queue, queue: {QUEUE}}}"),
            _ => program(""),
        }
    }
}

/// When a schedule of this name ticks.
fn cron(name: &str) -> String {
    let mut words = name.split('-').skip(1);
    match (words.next().unwrap_or("1"), words.next().unwrap_or("0")) {
        ("1", _) => "cron: \"* * * * * *\"".to_owned(),
        (period, phase) => format!("cron: \"{phase}-59/{period} * * * * *\""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedules_are_written_by_their_names() {
        let words = Words { starts: Path::new("starts"), port: 7 };
        let text = words.schedules(["p-3-1-08: AGAIN, retry_after: 1s".to_owned()].into_iter());
        assert_eq!(
            text,
            "schedules:\n  - {name: p-3-1-08, cron: \"1-59/3 * * * * *\", max_consecutive_failures: 0, target: \
             {type: process, argv: [sh, -c, \"echo $PUNCTUAL_IDEMPOTENCY_KEY $PUNCTUAL_ATTEMPT >> starts; \
             [ $PUNCTUAL_ATTEMPT -gt 1 ]\"], circuit_breaker: {threshold: 4, reset_after: 2s}}, retry_after: 1s}\n"
        );
        assert_eq!(cron("m-1-0-15"), "cron: \"* * * * * *\"");
        assert_eq!(herd("p-10-7", "NOTE", 2), ["p-10-7-100: NOTE", "p-10-7-101: NOTE"]);
    }
}
