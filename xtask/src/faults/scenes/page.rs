//! A page of the SQLite file is overwritten while nobody serves: the program says so and starts nothing, and goes on with the
//! backup as if the pages had never been hurt.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::super::Database;
use super::super::node::{Kit, Node};
use super::super::serve::SERVE;
use super::stage::{Seen, Stage};
use crate::failure::Failure;
use crate::line::Line;

/// What is damaged, one after the other: the first page of a table without which nothing can be started, or of the file.
const DAMAGED: [&str; 4] = ["runs", "schedule_versions", "schedule_state", "header"];

/// What the program calls it.
const NAMED: &str = "the database is damaged";

/// How long the program may take to come to the page.
const NAMED_MAX: Duration = Duration::from_secs(20);

/// How often its log is read meanwhile.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// How long it goes on then: it must not get over it.
const BEYOND: Duration = Duration::from_secs(2);

/// How long the program works after the backup is in place.
const AFTER: Duration = Duration::from_secs(3);

/// Whoever overwrites pages.
const SCRIPT: &str = include_str!("../damage.py");

/// Plays it.
pub(super) fn play(program: &Path, folder: &Path) -> Result<Vec<Seen>, Failure> {
    let file = folder.join("ledger.db");
    let kit = Kit::new(program.to_owned(), folder, file.display().to_string());
    let mut stage = Stage::begin(&kit, Database::Sqlite)?;
    for table in DAMAGED {
        stage.node.take().map_or(Ok(()), Node::leave)?;
        stage.load.dismiss()?;
        let kit = stage.load.kit.clone();
        let backup = folder.join(format!("before-{table}.db"));
        kit.ask(&["db", "backup", &backup.display().to_string()])?;
        damage(folder, &file, table)?;
        is_named_by_the_server(&kit, table)?;
        is_named_by_the_check(&kit, table)?;
        put_back(&backup, &file)?;
        stage.load.employ(&kit)?;
        stage.node = Some(Node::start(&kit, "serve")?);
        std::thread::sleep(AFTER);
        stage.audit(&format!("after `{table}` was damaged and the backup put in its place"))?;
    }
    let done = format!("pages of {} overwritten, each named; went on with the backup", DAMAGED.join(", "));
    Ok(vec![stage.end(done)?])
}

/// Overwrites a page.
fn damage(folder: &Path, file: &Path, table: &str) -> Result<(), Failure> {
    let script = folder.join("damage.py");
    std::fs::write(&script, SCRIPT).map_err(|error| Failure::new(error.to_string(), "is there room?"))?;
    Line::new(["python3", "-B", &script.display().to_string(), &file.display().to_string(), table]).run()
}

/// A server on it refuses, or goes on and says again and again what is wrong.
fn is_named_by_the_server(kit: &Kit, table: &str) -> Result<(), Failure> {
    let name = format!("damaged-{table}");
    let mut node = Node::spawn(kit, &name, &SERVE)?;
    let begun = Instant::now();
    while !kit.log(&name).contains(NAMED) {
        if begun.elapsed() > NAMED_MAX {
            return Err(silent("the server", table, &kit.log(&name)));
        }
        std::thread::sleep(LOOK_EVERY);
    }
    match node.ends_within(BEYOND)? {
        Some(status) if status.success() => Err(silent("the server", table, &kit.log(&name))),
        Some(_) => Ok(()),
        None => node.kill(),
    }
}

/// So does whoever looks at the ledger.
fn is_named_by_the_check(kit: &Kit, table: &str) -> Result<(), Failure> {
    match kit.ask(&["db", "check"]) {
        Err(failure) if failure.what.contains(NAMED) && failure.what.contains("hint: ") => Ok(()),
        other => Err(silent("`db check`", table, &format!("{other:?}"))),
    }
}

/// Puts a backup in the place of the file, as a person does.
fn put_back(backup: &Path, file: &Path) -> Result<(), Failure> {
    let wrong = |error: std::io::Error| Failure::new(error.to_string(), "is there room?");
    for beside in ["-wal", "-shm"] {
        let beside = PathBuf::from(format!("{}{beside}", file.display()));
        if beside.exists() {
            std::fs::remove_file(beside).map_err(wrong)?;
        }
    }
    std::fs::copy(backup, file).map(|_| ()).map_err(wrong)
}

fn silent(who: &str, table: &str, said: &str) -> Failure {
    let what =
        format!("a page of `{table}` is damaged, and {who} does not name it and say what to do: {said}");
    Failure::new(what, "the logs of the nodes are in the folder that was named")
}
