//! Uncounted: ticks that ended well and whose schedule's state does not say so yet.
//!
//! What ends together is scattered over all schedules, so each end costs a page of the log for counters alone. The row of the
//! run has everything that they are made of, and the next plan of its schedule, made with its neighbours, changes that page
//! anyway. A tick that succeeded and lies beyond those that its state knows as launched is one that is not counted: nothing
//! else has to be remembered, and a crash leaves nothing half done. Each schedule has one of them at most. Whatever writes the
//! counters of a state, or decides by what it knows as launched, counts first; who only reads them adds it (`schedule_rows`).

use jiff::{SignedDuration, Timestamp};
use punctual_plan::{Schedule, ScheduleKey};
use rusqlite::{CachedStatement, ToSql, params};

use super::connection::{Db, execute};
use super::decode::column;
use super::sql;
use crate::{Cell, Error};

/// Fewer ends than this are counted at once: their pages are soon written, and an earlier program finds them counted.
const ENDS_MIN: usize = 500;

/// A schedule that is not planned within this time counts at once.
const PLANNED_WITHIN: SignedDuration = SignedDuration::from_secs(120);

/// Counts what ended of a schedule, up to a tick; whether there was any.
pub(super) fn count(db: &Db, schedule: ScheduleKey, through: i64) -> Result<bool, Error> {
    Ok(db.change(sql!("count_ended"), params![schedule.0, through])? > 0)
}

/// A change of a state that finds nothing while an end is uncounted: there is hardly ever one, and asking for it in the same
/// statement costs least.
pub(super) struct Counted<'a> {
    db: &'a Db,
    change: CachedStatement<'a>,
}

impl<'a> Counted<'a> {
    /// Its last parameter is the tick up to which ends have to be counted, and its first the schedule.
    pub(super) fn new(db: &'a Db, statement: &str) -> Result<Self, Error> {
        Ok(Self { db, change: db.prepare(statement)? })
    }

    /// Changes a state once what ended up to a tick is counted; gives back whether it was found.
    pub(super) fn execute(
        &mut self,
        schedule: ScheduleKey,
        through: i64,
        row: &[&dyn ToSql],
    ) -> Result<bool, Error> {
        let is_changed = execute(&mut self.change, row)? > 0;
        if is_changed || !count(self.db, schedule, through)? {
            return Ok(is_changed);
        }
        Ok(execute(&mut self.change, row)? > 0)
    }
}

/// Counts what ended of the schedules of a page of states, for whoever reads them as they are.
pub(super) fn count_page(db: &Db, after: Option<&[Cell]>, limit: usize) -> Result<(), Error> {
    let after = match after.and_then(<[Cell]>::first) {
        Some(Cell::Integer(key)) => *key,
        _ => i64::MIN,
    };
    let page = params![after, i64::try_from(limit).unwrap_or(i64::MAX)];
    let schedules: Vec<i64> = db.rows(sql!("schedules_from"), page, |row| column(row, 0))?;
    schedules.into_iter().try_for_each(|key| count(db, ScheduleKey(key), i64::MAX).map(|_| ()))
}

/// Until when a schedule has to be planned for its ends to be counted with its plan; never if there are few of them.
pub(super) fn planned_by(ends: usize, now: Timestamp) -> i64 {
    match ends >= ENDS_MIN {
        true => now.saturating_add(PLANNED_WITHIN).unwrap_or(Timestamp::MAX).as_microsecond(),
        false => i64::MIN,
    }
}

/// Whether no decision over a schedule hangs on when its runs started, ended or how many there were.
pub(super) fn may_wait(definition: &Schedule) -> bool {
    let timing = definition.when.timing();
    timing.is_some_and(|timing| timing.bounds.max_runs.is_none()) && !definition.when.is_floating()
}
