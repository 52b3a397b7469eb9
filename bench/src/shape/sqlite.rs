//! The study's shape on SQLite: all inserts, then all updates, one durable transaction per batch.

use std::path::Path;

use rusqlite::params;

use super::{Fires, payload};
use crate::Failure;
use crate::file::{self, Checkpointer};
use crate::report::{Rate, Stopwatch};

/// Fires in one transaction.
const BATCH: usize = 5_000;

/// The statement in `sql/sqlite/NAME.sql`.
macro_rules! sql {
    ($name:literal) => {
        include_str!(concat!("../../sql/sqlite/", $name, ".sql"))
    };
}

/// Fires so often on a new file; the log's last part is charged as well.
pub(crate) fn run(path: &Path, schedules: u32, fires_max: u64) -> Result<Rate, Failure> {
    let connection = file::open(path)?;
    connection.execute_batch(include_str!("../../sql/migrations/shape_sqlite.sql"))?;
    connection.execute(sql!("shape_seed"), [schedules])?;
    let heads: Vec<(i64, i64)> = connection
        .prepare(sql!("shape_heads"))?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<Result<_, _>>()?;
    let mut fires = Fires::new(heads.into_iter());
    file::checkpoint(path)?;
    let checkpointer = Checkpointer::start(path)?;
    let (start, text) = (Stopwatch::start(), payload());
    let mut count = 0;
    while count < fires_max {
        let batch = fires.batch(BATCH);
        connection.execute_batch("BEGIN IMMEDIATE")?;
        let mut insert = connection.prepare_cached(sql!("shape_insert"))?;
        let mut changed = 0;
        for fire in &batch {
            changed += insert.execute(params![fire.key(), fire.id, fire.planned, text])?;
        }
        let mut update = connection.prepare_cached(sql!("shape_update"))?;
        for fire in &batch {
            changed += update.execute(params![fire.id, fire.next, fire.planned])?;
        }
        connection.execute_batch("COMMIT")?;
        if changed != 2 * batch.len() {
            return Err("the study's shape did not write every row".into());
        }
        count += batch.len() as u64;
    }
    drop(checkpointer);
    file::checkpoint(path)?;
    Ok(start.stop(count))
}
