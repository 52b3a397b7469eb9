//! Runs are launched and end: guarded by the fence of the node that holds them.

use jiff::Timestamp;
use punctual_plan::{Fence, Next, Reason};
use rusqlite::{Connection, params};

use super::decode::change;
use super::sql;
use crate::{Commit, Ended, Error, Started};

/// Notes that runs were launched; one that has ended meanwhile keeps its end.
pub(super) fn mark_running(db: &Connection, fence: Fence, started: &[Started]) -> Result<(), Error> {
    for one in started {
        change(db, sql!("mark_running"), params![one.run.0, fence.0, one.at.as_microsecond()])?;
    }
    Ok(())
}

/// Ends runs, frees their schedules and counts them.
pub(super) fn settle(db: &Connection, fence: Fence, ended: &[Ended]) -> Result<Vec<Commit>, Error> {
    ended.iter().map(|one| settle_one(db, fence, one)).collect()
}

fn settle_one(db: &Connection, fence: Fence, one: &Ended) -> Result<Commit, Error> {
    let end = &one.settlement;
    let Next::End { status, reason, at } = &end.next else {
        return Err(Error::corrupt(format!(
            "{} is to be repeated, which cannot be stored yet",
            end.in_flight.run
        )));
    };
    let completed_at = at.as_microsecond();
    let settled = change(
        db,
        sql!("settle_run"),
        params![
            end.in_flight.run.0,
            fence.0,
            status.name(),
            reason.as_ref().map(Reason::code),
            reason.as_ref().map(Reason::detail),
            one.started_at.map(Timestamp::as_microsecond),
            completed_at,
            one.output,
        ],
    )?;
    if settled == 0 {
        return Ok(Commit::Stale);
    }
    let row = params![end.in_flight.schedule.0, end.in_flight.run.0, status.name(), completed_at];
    change(db, sql!("count_run"), row)?;
    Ok(Commit::Done)
}
