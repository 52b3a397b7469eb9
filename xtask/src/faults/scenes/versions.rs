//! An earlier program and today's on one database: one after the other, and on PostgreSQL at once.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::super::Database;
use super::super::node::{Kit, Node};
use super::super::serve::{self, on};
use super::stage::{Seen, Stage};
use crate::check::shown;
use crate::failure::Failure;
use crate::ground::postgres::Server;
use crate::line::Line;
use crate::repository;

/// The commit with which the engine, the library and the first doors were done.
const EARLIER: &str = "724610b";

/// How often they take turns, and how long each turn is.
const TURNS: usize = 6;
const TURN: Duration = Duration::from_secs(3);

/// How often one of two is killed and comes back while both serve.
const TOGETHER: usize = 4;

/// How long both serve between two kills: longer than a lease, so that what was left is taken up by the other version.
const BETWEEN: Duration = Duration::from_secs(5);

/// Plays it on both databases.
pub(super) fn play(program: &Path, folder: &Path) -> Result<Vec<Seen>, Failure> {
    let earlier = earlier()?;
    let mut seen = Vec::new();
    for database in [Database::Sqlite, Database::Postgres] {
        on(database, folder, |ground| {
            let place = folder.join(format!("{database}"));
            std::fs::create_dir(&place).map_err(|error| Failure::new(error.to_string(), "is there room?"))?;
            let file = || place.join("ledger.db").display().to_string();
            let address = ground.server.map_or_else(file, Server::url);
            let kit = Kit::new(earlier.clone(), &place, address);
            let mut stage = Stage::begin(&kit, database)?;
            let today = Kit { program: program.to_owned(), ..stage.load.kit.clone() };
            let before = Kit { program: earlier.clone(), ..today.clone() };
            for turn in 0..TURNS {
                let (kit, name) = if turn % 2 == 0 { (&today, "today's") } else { (&before, "the earlier") };
                stage.replace(kit)?;
                std::thread::sleep(TURN);
                stage.audit(&format!("after turn {} with {name} program", turn + 1))?;
            }
            let mut done = format!("{EARLIER} and today's in {} turns", TURNS + 1);
            if database == Database::Postgres {
                together(&mut stage, &today, &before)?;
                done.push_str(&format!(", then at once with {TOGETHER} kills"));
            }
            // Today's program has the last word.
            stage.replace(&today)?;
            seen.push(stage.end(done)?);
            Ok(())
        })?;
    }
    Ok(seen)
}

/// Both serve; now the one is killed and comes back, now the other.
fn together(stage: &mut Stage, today: &Kit, before: &Kit) -> Result<(), Failure> {
    stage.replace(today)?;
    let mut other = Node::start(before, "earlier")?;
    for kill in 0..TOGETHER {
        std::thread::sleep(BETWEEN);
        if kill % 2 == 0 {
            stage.replace(today)?;
        } else {
            other.kill()?;
            other = Node::start(before, "earlier")?;
        }
        std::thread::sleep(BETWEEN);
        stage.audit(&format!("after kill {} of two versions", kill + 1))?;
    }
    other.leave()
}

/// Builds the earlier program in a worktree of its own, which is removed then. It is built once for each target folder.
fn earlier() -> Result<PathBuf, Failure> {
    let root = repository::root()?;
    let target = repository::target_directory(&root)?;
    let program = target.join(format!("faults/punctual-{EARLIER}"));
    if program.is_file() {
        return Ok(program);
    }
    let tree = target.join("faults/earlier").display().to_string();
    let git = ["git", "-C", &root.display().to_string(), "worktree"].map(str::to_owned);
    let of = |words: [&str; 4]| Line::new(git.iter().cloned().chain(words.map(str::to_owned)));
    shown(&of(["add", "--detach", &tree, EARLIER]))?;
    let manifest = format!("{tree}/Cargo.toml");
    let build =
        ["cargo", "build", "--package", "punctual", "--bin", "punctual", "--manifest-path", &manifest];
    // In the same folder, so that the dependencies which both have are built once; then it is put aside.
    let folder = target.display().to_string();
    let built = shown(&Line::new(build).with("CARGO_TARGET_DIR", &folder))
        .and_then(|()| serve::put_aside(&format!("punctual-{EARLIER}")));
    shown(&of(["remove", "--force", "--force", &tree]))?;
    built
}
