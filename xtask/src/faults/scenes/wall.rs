//! The wall clock is set by an hour while the program serves, back and forth; the clock that counts from the start is right.

use std::path::Path;
use std::time::Duration;

use super::super::Database;
use super::super::clock::Wall;
use super::super::node::Kit;
use super::super::serve::on;
use super::stage::{Seen, Stage};
use crate::failure::Failure;
use crate::ground::postgres::Server;

/// What the clock is set to, one after the other, in seconds ahead of the right time; the last one stays.
const HOURS: [i64; 6] = [-3_600, 0, 3_600, 0, 7_200, 3_600];

/// The last of them: the program works by it until the end.
const LAST: i64 = 7_200;

/// How long the program goes on by each.
const WHILE: Duration = Duration::from_secs(4);

/// The metric that counts clocks that were set.
const STEPS: &str = "punctual_clock_steps_total";

/// Plays it on both databases: on PostgreSQL the server's clock decides, and the program's is only wrong.
pub(super) fn play(program: &Path, folder: &Path) -> Result<Vec<Seen>, Failure> {
    let mut seen = Vec::new();
    for database in [Database::Sqlite, Database::Postgres] {
        on(database, folder, |ground| {
            let place = folder.join(format!("{database}"));
            std::fs::create_dir(&place).map_err(|error| Failure::new(error.to_string(), "is there room?"))?;
            let file = || place.join("ledger.db").display().to_string();
            let address = ground.server.map_or_else(file, Server::url);
            let wall = Wall::new(&place)?;
            let kit = wall.on(&Kit::new(program.to_owned(), &place, address));
            seen.push(set_and_reset(Stage::begin(&kit, database)?, &wall, database)?);
            Ok(())
        })?;
    }
    Ok(seen)
}

fn set_and_reset(mut stage: Stage, wall: &Wall, database: Database) -> Result<Seen, Failure> {
    for ahead_s in HOURS.into_iter().chain([LAST]) {
        wall.set(ahead_s as f64)?;
        std::thread::sleep(WHILE);
        stage.audit(&format!("with a clock that is {ahead_s} s ahead"))?;
    }
    let steps = stage.node()?.metric(STEPS)?;
    if steps < HOURS.len() as u64 {
        let what = format!("the clock was set {} times and that was noticed {steps} times", HOURS.len() + 1);
        return Err(Failure::new(what, "does the library reach the program?"));
    }
    // A server has the right time.
    stage.ahead_s = if database == Database::Sqlite { LAST } else { 0 };
    stage.end(format!("set by an hour or two, noticed {steps} times"))
}
