//! Breakers as they are shown, and closed by hand.

use jiff::Timestamp;
use punctual_plan::{Breaker, Event, OrgKey, RunKey};
use rusqlite::params;

use super::audit::{About, record_event};
use super::connection::Db;
use super::decode::{breaker, column, instant};
use super::{actor_of, org_of, sql};
use crate::{BreakerRow, Error, Scope, TransitionRow};

/// Breakers that are not plainly closed.
pub(super) fn list(db: &Db, scope: &Scope) -> Result<Vec<BreakerRow>, Error> {
    db.rows(sql!("list_breakers"), params![org_of(scope)], |row| {
        Ok(BreakerRow { target: column(row, 4)?, breaker: breaker(row, 0)?, changed_at: instant(row, 5)? })
    })
}

/// The moves of a target's breaker, newest first.
pub(super) fn transitions(
    db: &Db,
    scope: &Scope,
    target: &str,
    limit: u32,
) -> Result<Vec<TransitionRow>, Error> {
    db.rows(sql!("list_transitions"), params![org_of(scope), target, limit], |row| {
        Ok(TransitionRow {
            target: column(row, 0)?,
            at: instant(row, 1)?,
            from: column(row, 2)?,
            to: column(row, 3)?,
            run: column::<Option<i64>>(row, 4)?.map(RunKey),
        })
    })
}

/// Closes a target's breaker; whether it was not closed.
pub(super) fn reset(db: &Db, scope: &Scope, target: &str, now: Timestamp) -> Result<bool, Error> {
    let found = db.rows(sql!("breakers_of"), params![org_of(scope), target], |row| {
        Ok((OrgKey(column(row, 0)?), column::<String>(row, 1)?))
    })?;
    let mut is_moved = false;
    for (org, state) in found {
        db.change(sql!("remove_breaker"), params![org.0, target])?;
        let to = Breaker::default();
        if state == to.name() {
            continue;
        }
        is_moved = true;
        let row = params![org.0, target, now.as_microsecond(), state, to.name(), None::<i64>];
        db.change(sql!("insert_transition"), row)?;
        let about = About { org, at: now, actor: actor_of(scope), schedule: None, run: None };
        record_event(db, about, &Event::BreakerMoved { target: target.to_owned(), to })?;
    }
    Ok(is_moved)
}
