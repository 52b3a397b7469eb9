//! What runs at present: runs that ended under their programs, output on its way, runs that people cancel.

use jiff::Timestamp;
use punctual_plan::{Fence, OrgKey, Origin, Outcome, Reason, RunKey, RunStatus, ScheduleKey};
use rusqlite::params;

use super::audit::{About, record};
use super::connection::{Db, execute, first};
use super::decode::{column, named, status, tick};
use super::open::{End, Waker, close, exhaust, go_on, reach};
use super::settle::{Settling, end_as};
use super::{actor_of, org_of, sql};
use crate::stored::bounded_output;
use crate::{Attempt, Cancellation, Commit, Error, Scope, Shown};

/// Of attempts in hand, those that are over or somebody else's.
pub(super) fn ended(db: &Db, attempts: &[Attempt]) -> Result<Vec<RunKey>, Error> {
    let mut look = db.prepare(sql!("is_in_hand"))?;
    let mut over = Vec::new();
    for one in attempts {
        let row = params![one.run.0, one.attempt, one.fence.0];
        if first(&mut look, row, |row| column::<i64>(row, 0))?.is_none() {
            over.push(one.run);
        }
    }
    Ok(over)
}

/// Keeps what running attempts have printed.
pub(super) fn note_output(db: &Db, fence: Fence, shown: &[Shown]) -> Result<(), Error> {
    let mut note = db.prepare(sql!("note_output"))?;
    for one in shown {
        execute(&mut note, params![one.run.0, one.attempt, fence.0, bounded_output(&one.text)])?;
    }
    Ok(())
}

/// Ends runs because a person wants it.
pub(super) fn cancel_runs(db: &Db, scope: &Scope, wanted: &Cancellation) -> Result<Vec<Commit>, Error> {
    wanted.runs.iter().map(|run| cancel_run(db, scope, *run, wanted)).collect()
}

/// What a cancellation goes by.
struct Found {
    org: OrgKey,
    schedule: ScheduleKey,
    name: String,
    status: RunStatus,
    scheduled_for: Timestamp,
    origin: Origin,
}

fn cancel_run(db: &Db, scope: &Scope, run: RunKey, wanted: &Cancellation) -> Result<Commit, Error> {
    let found = db.first(sql!("cancellable"), params![run.0, org_of(scope)], |row| {
        Ok(Found {
            org: OrgKey(column(row, 0)?),
            schedule: ScheduleKey(column(row, 1)?),
            name: column(row, 2)?,
            status: status(row, 3)?,
            scheduled_for: tick(row, 4)?,
            origin: named(row, 5)?,
        })
    })?;
    let Some(found) = found else { return Ok(Commit::Stale) };
    let by = wanted.by.clone();
    if found.status.is_in_flight() {
        end_as(&mut Settling::new(db, wanted.now)?, run, Outcome::Cancelled { by })?;
    } else if found.scheduled_for <= wanted.now {
        let reason = Reason::Cancelled { by };
        let end = End { run, status: RunStatus::Cancelled, reason: &reason, at: wanted.now };
        if close(db, &end)? == Commit::Stale {
            return Ok(Commit::Stale);
        }
        let waker = Waker::new(db, wanted.now)?;
        waker.behind(found.org, run)?;
        // Only ticks are depended on, and only on them the next tick can hang.
        if found.origin == Origin::Tick {
            waker.upstream(found.org, &found.name)?;
            reach(db, found.schedule, found.scheduled_for)?;
            go_on(db, found.org, found.schedule, wanted.now)?;
        } else {
            exhaust(db, found.org, found.schedule, wanted.now)?;
        }
    } else {
        return Ok(Commit::Stale);
    }
    let about = About { actor: actor_of(scope), ..About::schedule(found.org, found.schedule, wanted.now) };
    record(db, about.of_run(run), "run.cancelled", &wanted.by)?;
    Ok(Commit::Done)
}
