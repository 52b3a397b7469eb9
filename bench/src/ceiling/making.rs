//! What making schedules costs at least: the rows that were made are made again, by one statement for each table and call, out of
//! the tables that have them. Nothing is checked, encoded or sent; each call is durable.

use std::path::Path;
use std::time::Instant;

use punctual_store::{Access, Sqlite};
use tokio_postgres::Client;

use crate::Failure;
use crate::file;

/// The statement in `sql/DATABASE/NAME.sql`.
macro_rules! sql {
    ($database:literal, $name:literal) => {
        include_str!(concat!("../../sql/", $database, "/", $name, ".sql"))
    };
}

/// Calls at most: one by one they take as long as many at once.
const CALLS_MAX: usize = 2_000;

/// Schedules per second, those of one file into another, with so many in a transaction.
pub(crate) fn sqlite(made: &Path, again: &Path, rows: usize) -> Result<f64, Failure> {
    drop(Sqlite::open(again, Access::Serve)?);
    let connection = file::open(again)?;
    connection.execute("ATTACH ?1 AS made", [made.display().to_string()])?;
    connection.execute(sql!("sqlite", "again_orgs"), [])?;
    let bounds =
        connection.query_row(sql!("sqlite", "made_bounds"), [], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let (calls, begun) = (Calls::new(bounds, rows), Instant::now());
    for call in &calls.0 {
        connection.execute_batch("BEGIN IMMEDIATE")?;
        for statement in [
            sql!("sqlite", "again_schedules"),
            sql!("sqlite", "again_versions"),
            sql!("sqlite", "again_state"),
            sql!("sqlite", "again_runs"),
            sql!("sqlite", "again_events"),
        ] {
            connection.prepare_cached(statement)?.execute([call.0, call.1])?;
        }
        connection.execute_batch("COMMIT")?;
    }
    Ok(calls.rate(begun))
}

/// The same on a server, into empty tables beside those that have them.
pub(crate) async fn postgres(client: &mut Client, rows: usize) -> Result<f64, Failure> {
    client.batch_execute(include_str!("../../sql/migrations/again_postgres.sql")).await?;
    let bounds = client.query_one(sql!("postgres", "made_bounds"), &[]).await?;
    let mut statements = Vec::new();
    for statement in [
        sql!("postgres", "again_schedules"),
        sql!("postgres", "again_versions"),
        sql!("postgres", "again_state"),
        sql!("postgres", "again_runs"),
        sql!("postgres", "again_events"),
    ] {
        statements.push(client.prepare(statement).await?);
    }
    let (calls, begun) = (Calls::new((bounds.get(0), bounds.get(1)), rows), Instant::now());
    for call in &calls.0 {
        let transaction = client.transaction().await?;
        for statement in &statements {
            transaction.execute(statement, &[&call.0, &call.1]).await?;
        }
        transaction.commit().await?;
    }
    Ok(calls.rate(begun))
}

/// The first and the last key of each call.
struct Calls(Vec<(i64, i64)>);

impl Calls {
    fn new((first, last): (i64, i64), rows: usize) -> Self {
        let calls = (first..=last).step_by(rows).take(CALLS_MAX);
        let width = i64::try_from(rows).unwrap_or(i64::MAX) - 1;
        Self(calls.map(|key| (key, last.min(key.saturating_add(width)))).collect())
    }

    /// Schedules per second since it began.
    fn rate(&self, begun: Instant) -> f64 {
        let schedules: i64 = self.0.iter().map(|(first, last)| last - first + 1).sum();
        schedules as f64 / begun.elapsed().as_secs_f64()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_cover_all_keys_once() {
        assert_eq!(Calls::new((1, 12), 5).0, [(1, 5), (6, 10), (11, 12)]);
        assert_eq!(Calls::new((3, 4), 1).0, [(3, 3), (4, 4)]);
    }
}
