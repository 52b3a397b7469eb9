//! Brings the schema up to date: forward only, in one transaction, safe when two nodes start at once.

use punctual_plan::rule::{Rule, holds};
use sha2::{Digest, Sha256};

use super::connection::{Connections, Role, Tx, col};
use super::sql;
use crate::Error;
use crate::fail_point::{FailPoint, pass};

struct Migration {
    version: i64,
    name: &'static str,
    text: &'static str,
}

const MIGRATIONS: &[Migration] = &[
    Migration { version: 1, name: "ground", text: include_str!("../../migrations/postgres/0001_ground.sql") },
    Migration { version: 2, name: "trace", text: include_str!("../../migrations/postgres/0002_trace.sql") },
];

/// Indexes that are in another order than the migrations made them in. That is no part of the schema: an earlier program serves
/// the database as well.
const INDEXES: &str = include_str!("../../migrations/postgres/indexes.sql");

/// The roles, which belong to the server and not to the database.
const ROLES: &str = include_str!("../../migrations/postgres/roles.sql");

/// Whoever migrates holds this for the length of its transaction; any number that nobody else uses.
const LOCK: i64 = 0x7075_6e63_7475_616c;

/// Applies what is missing; gives the number of our tz database among those that were seen.
pub(super) async fn run(connections: &Connections) -> Result<i64, Error> {
    let tx = connections.begin(Role::Owner, "bringing the schema up to date").await?;
    let result = migrated(&tx).await;
    tx.finish(result).await
}

async fn migrated(tx: &Tx) -> Result<i64, Error> {
    // The one who waited finds the work done.
    tx.rows(sql!("lock_migrations"), &[&LOCK]).await?;
    tx.batch(sql!("create_migrations")).await?;
    let known = MIGRATIONS.last().map_or(0, |last| last.version);
    let found = applied(tx).await?;
    if found > known {
        return Err(Error::Newer { found, known });
    }
    tx.batch(ROLES).await?;
    for migration in MIGRATIONS.iter().filter(|migration| migration.version > found) {
        tx.batch(migration.text).await?;
        let name = migration.name;
        tx.run(sql!("insert_migration"), &[&migration.version, &name, &checksum(migration.text)]).await?;
        pass(FailPoint::MigrateStep);
    }
    let is_arranged = tx.row(sql!("is_arranged"), &[]).await?;
    if !is_arranged.map_or(Ok(false), |row| col(&row, 0))? {
        tx.batch(INDEXES).await?;
    }
    if !holds(Rule::KeysNameTheOrg) {
        tx.batch(sql!("keys_without_org")).await?;
    }
    tx.batch("SET LOCAL ROLE punctual_engine").await?;
    let tz = tx.row(sql!("insert_tz"), &[&punctual_time::tz_version()]).await?;
    let tz = match tz {
        Some(row) => Some(row),
        None => tx.row(sql!("find_tz"), &[&punctual_time::tz_version()]).await?,
    };
    let tz: i64 = col(&tz.ok_or_else(|| Error::corrupt("the tz database has no number"))?, 0)?;
    tx.run(sql!("insert_installation"), &[&tz]).await?;
    pass(FailPoint::MigrateBeforeCommit);
    Ok(tz)
}

/// The newest migration that was applied; checks that the known ones were applied as they are here.
async fn applied(tx: &Tx) -> Result<i64, Error> {
    let mut newest = 0;
    for row in tx.rows(sql!("migrations_applied"), &[]).await? {
        let (version, found): (i64, String) = (col(&row, 0)?, col(&row, 2)?);
        newest = version;
        let Some(known) = MIGRATIONS.iter().find(|migration| migration.version == version) else { continue };
        if checksum(known.text) != found {
            let what = format!("migration {version} `{}` was applied in another form", known.name);
            return Err(Error::corrupt(what));
        }
    }
    Ok(newest)
}

fn checksum(text: &str) -> String {
    Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The newest schema that this version knows.
pub(super) fn newest() -> i64 {
    MIGRATIONS.last().map_or(0, |last| last.version)
}
