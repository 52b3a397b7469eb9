//! Brings the schema up to date: forward only, in one transaction, safe when two processes start at once.

use rusqlite::{Connection, TransactionBehavior, params};
use sha2::{Digest, Sha256};

use super::sql;
use crate::Error;

struct Migration {
    version: i64,
    name: &'static str,
    text: &'static str,
}

const MIGRATIONS: &[Migration] = &[Migration {
    version: 1,
    name: "ground",
    text: include_str!("../../migrations/sqlite/0001_ground.sql"),
}];

/// Applies what is missing.
pub(super) fn run(connection: &mut Connection) -> Result<(), Error> {
    let known = MIGRATIONS.last().map_or(0, |last| last.version);
    if applied(connection)? == known {
        return Ok(());
    }
    // The write lock is taken before the second look, so the one who waited finds the work done.
    let transaction = connection
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .map_err(Error::doing("starting the migration"))?;
    transaction.execute_batch(sql!("create_migrations")).map_err(Error::doing("creating the schema"))?;
    let found = applied(&transaction)?;
    if found > known {
        return Err(Error::Newer { found, known });
    }
    for migration in MIGRATIONS.iter().filter(|migration| migration.version > found) {
        apply(&transaction, migration)?;
    }
    transaction
        .execute(sql!("insert_installation"), [punctual_time::tz_version()])
        .map_err(Error::doing("creating the schema"))?;
    transaction.commit().map_err(Error::doing("committing the migration"))
}

/// The newest migration that was applied; checks that the known ones were applied as they are here.
fn applied(connection: &Connection) -> Result<i64, Error> {
    let is_new = !connection.table_exists(None, "migrations").map_err(Error::doing("reading the schema"))?;
    if is_new {
        return Ok(0);
    }
    let mut statement =
        connection.prepare(sql!("migrations_applied")).map_err(Error::doing("reading the schema"))?;
    let rows = statement
        .query_map([], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(2)?)))
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(Error::doing("reading the schema"))?;
    for (version, found) in &rows {
        let Some(known) = MIGRATIONS.iter().find(|migration| migration.version == *version) else { continue };
        if checksum(known.text) != *found {
            return Err(Error::corrupt(format!(
                "migration {version} `{}` was applied in another form",
                known.name
            )));
        }
    }
    Ok(rows.last().map_or(0, |(version, _)| *version))
}

fn apply(transaction: &Connection, migration: &Migration) -> Result<(), Error> {
    transaction.execute_batch(migration.text).map_err(Error::doing("creating the schema"))?;
    let row = params![migration.version, migration.name, checksum(migration.text), applied_at()];
    transaction.execute(sql!("insert_migration"), row).map_err(Error::doing("creating the schema"))?;
    Ok(())
}

/// When a migration ran: for people who look, never for a decision.
fn applied_at() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
}

fn checksum(text: &str) -> String {
    Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}
