//! The ledger, read.

use punctual_plan::{RunKey, ScheduleId, ScheduleKey};
use rusqlite::{Connection, Row};

use super::decode::{column, instant, maybe_instant, reason, rows, schedule_id, status, tick};
use super::schedules::key_of;
use super::{DEFAULT_ORG, sql};
use crate::{Error, Page, RangeRow, RunRow, Selector};

/// The entries of a schedule, newest tick first.
pub(super) fn runs(db: &Connection, id: ScheduleId, page: Page) -> Result<Vec<RunRow>, Error> {
    let schedule = known(db, id)?;
    rows(db, sql!("list_runs"), within(schedule, page), read_run)
}

/// The missed stretches of a schedule, newest first.
pub(super) fn ranges(db: &Connection, id: ScheduleId, page: Page) -> Result<Vec<RangeRow>, Error> {
    let schedule = known(db, id)?;
    rows(db, sql!("list_ranges"), within(schedule, page), read_range)
}

fn known(db: &Connection, id: ScheduleId) -> Result<ScheduleKey, Error> {
    let selector = Selector::Id(id);
    key_of(db, &selector)?.ok_or_else(|| Error::NotFound { what: selector.to_string() })
}

fn within(schedule: ScheduleKey, page: Page) -> (i64, i64, i64, i64, u32) {
    (DEFAULT_ORG.0, schedule.0, page.since.as_second(), page.until.as_second(), page.limit)
}

fn read_run(row: &Row<'_>) -> Result<RunRow, Error> {
    Ok(RunRow {
        run: RunKey(column(row, 0)?),
        schedule_id: schedule_id(&column::<String>(row, 1)?)?,
        schedule_name: column(row, 2)?,
        origin: column::<String>(row, 3)?.parse().map_err(|error| Error::corrupt(format!("{error}")))?,
        scheduled_for: tick(row, 4)?,
        fire_at: instant(row, 5)?,
        status: status(row, 6)?,
        reason: reason(row, 7)?,
        version: column(row, 9)?,
        attempt: column(row, 10)?,
        enqueued_at: maybe_instant(row, 11)?,
        started_at: maybe_instant(row, 12)?,
        completed_at: maybe_instant(row, 13)?,
        output: column(row, 14)?,
        node: column(row, 15)?,
    })
}

fn read_range(row: &Row<'_>) -> Result<RangeRow, Error> {
    Ok(RangeRow {
        schedule_id: schedule_id(&column::<String>(row, 0)?)?,
        schedule_name: column(row, 1)?,
        first: tick(row, 2)?,
        last: tick(row, 3)?,
        count: column(row, 4)?,
        status: status(row, 5)?,
        reason: reason(row, 6)?.ok_or_else(|| Error::corrupt("a range without a reason"))?,
    })
}
