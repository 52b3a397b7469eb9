//! Messages on their way out, in the order of their commits.

use punctual_plan::{OrgKey, RunKey};
use rusqlite::params;

use super::connection::Db;
use super::decode::{column, instant};
use super::{org_of, sql};
use crate::{Error, OutboxRow, Scope};

/// Gives committed rows their place in the stream.
pub(super) fn sequence(db: &Db) -> Result<u64, Error> {
    db.change(sql!("sequence_outbox"), []).map(|count| count as u64)
}

/// Messages after a position, in order.
pub(super) fn list(db: &Db, scope: &Scope, after: i64, limit: usize) -> Result<Vec<OutboxRow>, Error> {
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    db.rows(sql!("list_outbox"), params![org_of(scope), after, limit], |row| {
        Ok(OutboxRow {
            position: column(row, 0)?,
            org: OrgKey(column(row, 1)?),
            run: RunKey(column(row, 2)?),
            message_id: column(row, 3)?,
            body: column(row, 4)?,
            at: instant(row, 5)?,
        })
    })
}

/// Forgets messages up to a position.
pub(super) fn acknowledge(db: &Db, scope: &Scope, through: i64) -> Result<u64, Error> {
    db.change(sql!("acknowledge_outbox"), params![org_of(scope), through]).map(|count| count as u64)
}
