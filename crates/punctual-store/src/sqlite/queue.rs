//! The queue: enqueued runs are leased to workers, each under a token of its own.

use jiff::Timestamp;
use punctual_plan::Fence;
use rusqlite::params;

use super::connection::{Db, execute};
use super::node::read_launchable;
use super::open::done_by;
use super::{org_of, random_token, sql};
use crate::{Begun, Commit, Entrusted, Error, Held, Leased, Scope, Worker};

/// Leases enqueued runs of a queue.
pub(super) fn lease(db: &Db, scope: &Scope, worker: &Worker) -> Result<Vec<Leased>, Error> {
    let limit = i64::try_from(worker.limit).unwrap_or(i64::MAX);
    let query = params![org_of(scope), worker.queue, limit];
    let found = db.rows(sql!("leasable"), query, |row| read_launchable(db, row))?;
    let mut take = db.prepare(sql!("lease_run"))?;
    let mut leased = Vec::with_capacity(found.len());
    for launch in found {
        let (token, until) = (random_token(db)?, worker.until.max(worker.now));
        let row =
            params![launch.run.0, token, worker.now.as_microsecond(), until.as_microsecond(), worker.name];
        if execute(&mut take, row)? == 1 {
            leased.push(Leased { launch, token, until });
        }
    }
    Ok(leased)
}

/// Holds a leased run longer.
pub(super) fn extend(db: &Db, scope: &Scope, held: &Held) -> Result<Commit, Error> {
    let until: Timestamp = held.until;
    let row = params![held.run.0, held.token, until.as_microsecond(), org_of(scope)];
    Ok(done_by(db.change(sql!("extend_lease"), row)?))
}

/// Gives an attempt its token.
pub(super) fn entrust(db: &Db, fence: Fence, one: &Entrusted) -> Result<Commit, Error> {
    Ok(done_by(db.change(sql!("entrust_run"), params![one.run.0, one.attempt, fence.0, one.token])?))
}

/// Notes that an executor has taken a run.
pub(super) fn begin(db: &Db, scope: &Scope, begun: &Begun) -> Result<Commit, Error> {
    let at = begun.at.as_microsecond();
    let row = params![begun.run.0, begun.token, at, begun.executor_run_id, org_of(scope)];
    Ok(done_by(db.change(sql!("begin_run"), row)?))
}
