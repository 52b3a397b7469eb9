//! Hammers a real store with small batches until somebody kills it, and notes what it asked and what was answered.
//!
//! `hammer DATABASE NOTES FROM [EARLIER]`: a URL of PostgreSQL or a path; the file for the notes; the second at which the
//! virtual clock goes on; the notes of the process before, whose unanswered batches are repeated under their ids. It
//! never ends by itself: `cargo xtask faults store` kills it and has the tables judged by a reader that shares no code
//! with it. Start with [`run`]; `worker` is what is hammered, `notes` what is left behind.

#![allow(clippy::print_stderr, reason = "a tool talks to the person at the terminal")]
#![allow(clippy::disallowed_methods, reason = "the notes carry the time, for the rate")]

mod clock;
mod fleet;
mod node;
mod notes;
mod repeat;
mod worker;

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use clock::Clock;
use node::Node;
use notes::Notes;
use punctual_store::{Access, AnyStore, Postgres, PostgresSettings, Sqlite};

/// Anything that goes wrong ends the process, which whoever started it notices.
type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Tasks on a file: so few that a commit holds hardly more than one of their calls, and so many that one is always under way.
const TASKS_SQLITE: u16 = 2;

/// Rows that each of them reads at once: a look takes longer than a commit.
const READ_SQLITE: usize = 32;

/// Batches of those rows that are under way side by side.
const AT_ONCE_SQLITE: usize = 1;

/// Tasks on a server, where every call is a commit of its own.
const TASKS_POSTGRES: u16 = 8;

/// Rows that each of them reads at once and writes by batches side by side.
const READ_POSTGRES: usize = 64;

/// Connections to a server: each commit waits for the disk for milliseconds, and those of several share the wait.
const CONNECTIONS: usize = 22;

const USAGE: &str = "hammer DATABASE NOTES FROM [EARLIER]";

#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("error: {failure}");
            ExitCode::FAILURE
        }
    }
}

async fn run(arguments: &[String]) -> Result<(), Failure> {
    let [database, notes, from, rest @ ..] = arguments else { return Err(USAGE.into()) };
    let (store, tasks) = open(database).await?;
    let clock = Clock::new(from.parse()?, tasks);
    let node = Arc::new(Node::join(store, Notes::open(Path::new(notes))?, clock).await?);
    let mut orphans = match rest.first() {
        Some(earlier) => repeat::unanswered(&node, Path::new(earlier)).await?,
        None => Vec::new(),
    };
    orphans.extend(node.take_over().await?);
    node.limit_orgs().await?;
    let mut workers = Vec::new();
    for number in 0..tasks {
        let part = orphans.iter().filter(|run| run.key.0 % i64::from(tasks) == i64::from(number));
        workers.push(tokio::spawn(worker::work(Arc::clone(&node), number, part.copied().collect())));
    }
    workers.push(tokio::spawn(worker::sweep(Arc::clone(&node))));
    for worker in workers {
        worker.await??;
    }
    Ok(())
}

async fn open(database: &str) -> Result<(AnyStore, u16), Failure> {
    if database.starts_with("postgres://") {
        // No call may fail here, however long the machine lets it stand still.
        let pause_timeout = std::time::Duration::from_secs(60);
        let settings =
            PostgresSettings { connections: CONNECTIONS, pause_timeout, ..PostgresSettings::new(database) };
        return Ok((AnyStore::Postgres(Postgres::open(settings).await?), TASKS_POSTGRES));
    }
    Ok((AnyStore::Sqlite(Sqlite::open(Path::new(database), Access::Serve)?), TASKS_SQLITE))
}
