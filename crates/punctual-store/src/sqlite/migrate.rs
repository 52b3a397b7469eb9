//! Brings the schema up to date: forward only, in one transaction, safe when two processes start at once.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};
use sha2::{Digest, Sha256};

use super::connection::doing;
use super::{clock, sql};
use crate::Error;
use crate::fail_point::{FailPoint, pass};
use crate::stored::hex;

/// One step of the schema.
pub(super) struct Migration {
    pub(super) version: i64,
    pub(super) name: &'static str,
    pub(super) text: &'static str,
}

/// All of them, in order.
pub(super) const MIGRATIONS: &[Migration] = &[
    Migration { version: 1, name: "ground", text: include_str!("../../migrations/sqlite/0001_ground.sql") },
    Migration { version: 2, name: "trace", text: include_str!("../../migrations/sqlite/0002_trace.sql") },
    Migration { version: 3, name: "sheets", text: include_str!("../../migrations/sqlite/0003_sheets.sql") },
];

/// Indexes that are in another order than the migrations made them in, and what is shown of schedules; each with the question
/// whether it is so already. That is no part of the schema: an earlier program serves the file as well.
const ARRANGED: [(&str, &str); 2] = [
    (sql!("is_arranged"), include_str!("../../migrations/sqlite/indexes.sql")),
    (sql!("is_newest_view"), include_str!("../../migrations/sqlite/views.sql")),
];

/// Applies what is missing; an existing database is copied beside itself first.
pub(super) fn run(connection: &mut Connection, path: &Path, steps: &[Migration]) -> Result<(), Error> {
    let known = steps.last().map_or(0, |last| last.version);
    let found = applied(connection, steps)?;
    if found > known {
        return Err(Error::Newer { found, known });
    }
    if found == known {
        return Ok(());
    }
    if found > 0 {
        back_up(connection, path, found)?;
    }
    // The write lock is taken before the second look, so the one who waited finds the work done.
    let transaction = connection
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .map_err(doing("starting the migration"))?;
    transaction.execute_batch(sql!("create_migrations")).map_err(doing("creating the schema"))?;
    let found = applied(&transaction, steps)?;
    for migration in steps.iter().filter(|migration| migration.version > found) {
        apply(&transaction, migration)?;
        pass(FailPoint::MigrateStep);
    }
    arrange(&transaction)?;
    let tz = punctual_time::tz_version();
    transaction.execute(sql!("insert_tz"), [tz]).map_err(doing("creating the schema"))?;
    transaction.execute(sql!("insert_installation"), [tz]).map_err(doing("creating the schema"))?;
    pass(FailPoint::MigrateBeforeCommit);
    transaction.commit().map_err(doing("committing the migration"))
}

/// Puts indexes into their order and renews views, if that was not done; whoever serves the file does it once.
pub(super) fn arrange(connection: &Connection) -> Result<(), Error> {
    for (question, text) in ARRANGED {
        let is_arranged = connection.query_row(question, [], |row| row.get(0));
        // A schema of a test has none of them, and needs none.
        if is_arranged.optional().map_err(doing("reading the schema"))? == Some(false) {
            connection.execute_batch(text).map_err(doing("arranging the indexes"))?;
        }
    }
    Ok(())
}

/// The newest migration that was applied; checks that the known ones were applied as they are here.
pub(super) fn applied(connection: &Connection, steps: &[Migration]) -> Result<i64, Error> {
    let is_new = !connection.table_exists(None, "migrations").map_err(doing("reading the schema"))?;
    if is_new {
        return Ok(0);
    }
    let mut statement =
        connection.prepare(sql!("migrations_applied")).map_err(doing("reading the schema"))?;
    let rows = statement
        .query_map([], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(2)?)))
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(doing("reading the schema"))?;
    for (version, found) in &rows {
        let Some(known) = steps.iter().find(|migration| migration.version == *version) else { continue };
        if checksum(known.text) != *found {
            return Err(Error::corrupt(format!(
                "migration {version} `{}` was applied in another form",
                known.name
            )));
        }
    }
    Ok(rows.last().map_or(0, |(version, _)| *version))
}

/// Copies the database to a file beside it, named by the schema it has; a copy that exists is of the same moment or
/// of a migration that failed, and stays.
fn back_up(connection: &Connection, path: &Path, schema: i64) -> Result<(), Error> {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".schema-{schema}.backup"));
    let copy = PathBuf::from(name);
    if copy.exists() {
        return Ok(());
    }
    let mut unfinished = copy.as_os_str().to_owned();
    unfinished.push(format!(".{}", std::process::id()));
    copy_into(connection, Path::new(&unfinished))?;
    std::fs::rename(&unfinished, &copy).map_err(|source| Error::open(copy, source))
}

/// Writes the whole database into a new file, as of one moment, on disk when it returns.
pub(super) fn copy_into(connection: &Connection, path: &Path) -> Result<(), Error> {
    let name = path.to_str().ok_or_else(|| {
        let source = std::io::Error::new(std::io::ErrorKind::InvalidInput, "its name is no text");
        Error::open(path, source)
    })?;
    connection.execute(sql!("copy_whole"), [name]).map_err(doing("copying the database"))?;
    std::fs::File::open(path).and_then(|file| file.sync_all()).map_err(|source| Error::open(path, source))
}

fn apply(transaction: &Connection, migration: &Migration) -> Result<(), Error> {
    transaction.execute_batch(migration.text).map_err(doing("creating the schema"))?;
    let applied_at = clock::host().as_microsecond();
    let row = params![migration.version, migration.name, checksum(migration.text), applied_at];
    transaction.execute(sql!("insert_migration"), row).map_err(doing("creating the schema"))?;
    Ok(())
}

fn checksum(text: &str) -> String {
    hex(&Sha256::digest(text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::{Access, connection::writable};

    const SECOND: Migration = Migration { version: 2, name: "more", text: "CREATE TABLE more (x) STRICT" };

    fn ground() -> Migration {
        let Migration { version, name, text } = MIGRATIONS[0];
        Migration { version, name, text }
    }

    #[test]
    fn an_existing_database_is_copied_before_it_is_migrated() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger.db");
        let copy = folder.path().join("ledger.db.schema-1.backup");
        let mut connection = writable(&path, Access::Visit).unwrap();
        run(&mut connection, &path, &[ground()]).unwrap();
        assert!(!copy.exists(), "a new database needs no copy");
        let steps = [ground(), Migration { text: "CREATE TABLE more (x INTEGER) STRICT", ..SECOND }];
        run(&mut connection, &path, &steps).unwrap();
        assert!(connection.table_exists(None, "more").unwrap());
        let before = Connection::open(copy).unwrap();
        assert!(!before.table_exists(None, "more").unwrap() && before.table_exists(None, "runs").unwrap());
    }

    #[test]
    fn a_migration_that_fails_leaves_everything_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger.db");
        let mut connection = writable(&path, Access::Visit).unwrap();
        run(&mut connection, &path, &[ground()]).unwrap();
        // A STRICT table wants types: the statement is refused.
        run(&mut connection, &path, &[ground(), SECOND]).expect_err("it cannot be applied");
        assert_eq!(applied(&connection, &[ground()]).unwrap(), 1);
        run(&mut connection, &path, &[ground()]).expect("the schema before is served");
    }

    #[test]
    fn a_migration_that_was_altered_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger.db");
        let mut connection = writable(&path, Access::Visit).unwrap();
        run(&mut connection, &path, &[ground()]).unwrap();
        let altered = [Migration { text: "CREATE TABLE other (x INTEGER)", ..ground() }];
        let refused = run(&mut connection, &path, &altered).expect_err("it differs");
        assert!(refused.to_string().contains("in another form"), "{refused}");
    }

    #[test]
    fn processes_that_start_at_once_migrate_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger.db");
        let start = || {
            let mut connection = writable(&path, Access::Visit)?;
            run(&mut connection, &path, MIGRATIONS)
        };
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(start)).collect();
            for thread in threads {
                thread.join().unwrap().expect("one of them migrates, the others wait");
            }
        });
    }
}
