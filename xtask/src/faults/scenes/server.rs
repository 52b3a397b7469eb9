//! PostgreSQL goes while the program serves: it falls over and comes back, or its standby takes its place.

use std::path::Path;
use std::time::{Duration, Instant};

use super::super::Database;
use super::super::node::Kit;
use super::super::reader::Reader;
use super::stage::{Seen, Stage};
use crate::failure::Failure;
use crate::ground::postgres::Server;

/// How often it falls over.
const FALLS: u32 = 6;

/// How long the program works between two falls.
const BETWEEN: Duration = Duration::from_secs(4);

/// For how long it is away, by turns: shorter than a lease, and longer.
const AWAY: [Duration; 2] = [Duration::from_millis(200), Duration::from_secs(4)];

/// The metric that counts calls of the database that failed.
const ERRORS: &str = "punctual_store_errors_total";

/// It falls over as in a power cut, and comes back.
pub(super) fn restarts(program: &Path, folder: &Path) -> Result<Vec<Seen>, Failure> {
    let server = Server::start()?;
    let kit = Kit::new(program.to_owned(), folder, server.url());
    let mut stage = Stage::begin(&kit, Database::Postgres)?;
    for fall in 0..FALLS {
        server.cut_power()?;
        std::thread::sleep(AWAY[fall as usize % AWAY.len()]);
        server.come_back()?;
        std::thread::sleep(BETWEEN);
        stage.audit(&format!("after fall {}", fall + 1))?;
    }
    let errors = noticed(&mut stage)?;
    Ok(vec![stage.end(format!("fell over {FALLS} times under load, {errors} calls failed"))?])
}

/// It is gone for good, and a synchronous standby is promoted.
pub(super) fn failover(program: &Path, folder: &Path) -> Result<Vec<Seen>, Failure> {
    let server = Server::start()?;
    let standby = server.standby()?;
    let kit = Kit::new(program.to_owned(), folder, server.url_with(&standby));
    let mut stage = Stage::begin(&kit, Database::Postgres)?;
    let begun = Instant::now();
    server.cut_power()?;
    standby.promote()?;
    let took = begun.elapsed();
    drop(server);
    // From here on only the standby can be asked; it has no standby of its own, and waits for none.
    stage.load.reader = Reader::new(folder, &standby.url())?.with_starts(&folder.join("starts"));
    std::thread::sleep(BETWEEN);
    stage.audit("after the standby was promoted")?;
    let errors = noticed(&mut stage)?;
    let done = format!("promoted {:.1} s after the fall, {errors} calls failed", took.as_secs_f64());
    Ok(vec![stage.end(done)?])
}

/// How many calls failed; if none did, nothing was tried.
fn noticed(stage: &mut Stage) -> Result<u64, Failure> {
    match stage.node()?.metric(ERRORS)? {
        0 => Err(Failure::new("no call of the database failed", "the fault has not reached the program")),
        errors => Ok(errors),
    }
}
