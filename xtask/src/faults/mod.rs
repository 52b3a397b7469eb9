//! `cargo xtask faults`: real processes are killed, stopped and misled, and somebody who shares no code with the program
//! judges what is left.
//!
//! `serve` kills the program at every named place and at random; `scenes` does to it what databases, disks, lines and clocks
//! can do; `nodes` lets several of it share a database; `store` kills a process that hammers a database.

mod clock;
mod dice;
#[path = "../../../crates/punctual-store/src/fail_point/list.rs"]
#[allow(unreachable_pub, reason = "it is the list of the program")]
mod fail_point;
mod load;
mod node;
mod nodes;
mod notes;
mod proxy;
mod reader;
mod receiver;
mod scenes;
mod serve;
mod store;

use crate::failure::Failure;

/// What is bounded for `check`: kills of the program at each place, and kills under load of a store.
pub(crate) fn bounded() -> Result<String, Failure> {
    let points = serve::bounded()?;
    Ok(format!("{points}, {}", store::bounded()?))
}

/// Runs one of them; without a word the program's.
pub(crate) fn command(arguments: &[String]) -> Result<(), Failure> {
    match arguments.split_first().map(|(first, rest)| (first.as_str(), rest)) {
        Some(("serve", rest)) => serve::command(rest),
        Some(("store", rest)) => store::command(rest),
        Some(("nodes", rest)) => nodes::command(rest),
        Some(("scenes", rest)) => scenes::command(rest),
        _ => serve::command(arguments),
    }
}

/// Which database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Database {
    Sqlite,
    Postgres,
}

impl Database {
    /// Those that a word names.
    fn named(name: &str, usage: &str) -> Result<Vec<Self>, Failure> {
        match name {
            "sqlite" => Ok(vec![Self::Sqlite]),
            "postgres" => Ok(vec![Self::Postgres]),
            "both" => Ok(vec![Self::Sqlite, Self::Postgres]),
            _ => Err(Failure::new(format!("there is no database `{name}`"), usage)),
        }
    }
}

impl std::fmt::Display for Database {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Sqlite => "SQLite",
            Self::Postgres => "PostgreSQL",
        })
    }
}
