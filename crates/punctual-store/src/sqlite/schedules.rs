//! Definitions: created with their first window, listed, found, deleted with what they leave behind.

use jiff::Timestamp;
use punctual_plan::{
    Before, Change, Cursor, Open, OpenKind, RunKey, ScheduleId, ScheduleKey, change as decide,
};
use rusqlite::{Connection, Row, params};

use super::audit::{self, Event};
use super::decode::{
    DefinitionColumns, change, column, encode_target, instant, maybe_instant, maybe_tick, rows, tick,
};
use super::plan::Writing;
use super::{DEFAULT_ORG, sql};
use crate::{Error, NewSchedule, ScheduleRow, Selector};

/// A list shows at most this many schedules.
const LIST_MAX: i64 = 1_000_000;

/// Writes a schedule, its cursor and the rows of its first window.
pub(super) fn create(db: &Connection, new: &NewSchedule) -> Result<(), Error> {
    let definition = &new.definition;
    let at = new.created_at.as_microsecond();
    let row = params![
        DEFAULT_ORG.0,
        definition.id.to_string(),
        definition.name,
        definition.dialect.to_string(),
        definition.spec,
        definition.timezone(),
        encode_target(&definition.target.action)?,
        at,
    ];
    change(db, sql!("insert_schedule"), row).map_err(|error| name_taken(error, &definition.name))?;
    let schedule = ScheduleKey(db.last_insert_rowid());
    let cursor = new.plan.cursor;
    let row = params![
        schedule.0,
        cursor.planned_through.as_microsecond(),
        cursor.decided_through.as_microsecond(),
        new.plan.next_tick.map(Timestamp::as_second),
    ];
    change(db, sql!("insert_state"), row)?;
    Writing { db, org: DEFAULT_ORG, schedule, version: 1 }.write(&new.plan)?;
    let detail = definition.name.clone();
    audit::record(
        db,
        &Event { org: DEFAULT_ORG, schedule, kind: "schedule.created", detail, at: new.created_at },
    )
}

/// Turns the index's refusal into the sentence a person needs.
fn name_taken(error: Error, name: &str) -> Error {
    match &error {
        Error::Database { source, .. }
            if source.sqlite_error_code() == Some(rusqlite::ErrorCode::ConstraintViolation)
                && source.to_string().contains("schedules.name") =>
        {
            Error::NameTaken { name: name.to_owned() }
        }
        _ => error,
    }
}

/// Deletes a schedule; rows in the future vanish, those at or before now end as skipped.
pub(super) fn delete(db: &Connection, id: ScheduleId, now: Timestamp) -> Result<(), Error> {
    let selector = Selector::Id(id);
    let missing = || Error::NotFound { what: selector.to_string() };
    let schedule = key_of(db, &selector)?.ok_or_else(missing)?;
    // One that cannot be read any more can still be deleted; which ticks it lacks, nobody can tell.
    let definition = match find(db, &selector) {
        Ok(row) => row.map(|row| row.definition),
        Err(Error::Corrupt { .. }) => None,
        Err(error) => return Err(error),
    };
    if change(db, sql!("retire_schedule"), params![schedule.0, now.as_microsecond()])? == 0 {
        return Err(missing());
    }
    let open = rows(db, sql!("armed_rows"), [schedule.0], |row| {
        let kind = OpenKind::Unlaunched;
        Ok(Open { run: RunKey(column(row, 0)?), scheduled_for: tick(row, 1)?, kind })
    })?;
    let cursor = cursor_of(db, schedule)?.ok_or_else(missing)?;
    let timing = definition.as_ref().and_then(|definition| definition.when.timing());
    let before = Before { timing, cursor, open: &open, slept: None, launched_through: None };
    let changed = decide(&before, &Change::Delete, now);
    for run in &changed.removed {
        change(db, sql!("remove_run"), [run.0])?;
    }
    let cursor = changed.plan.cursor;
    let version = definition.as_ref().map_or(1, |definition| definition.version);
    let state =
        params![schedule.0, cursor.planned_through.as_microsecond(), cursor.decided_through.as_microsecond()];
    change(db, sql!("retire_state"), state)?;
    Writing { db, org: DEFAULT_ORG, schedule, version }.write(&changed.plan)?;
    let detail = id.to_string();
    audit::record(db, &Event { org: DEFAULT_ORG, schedule, kind: "schedule.deleted", detail, at: now })
}

fn cursor_of(db: &Connection, schedule: ScheduleKey) -> Result<Option<Cursor>, Error> {
    let found = rows(db, sql!("cursor"), [schedule.0], |row| {
        Ok(Cursor { planned_through: instant(row, 0)?, decided_through: instant(row, 1)? })
    })?;
    Ok(found.into_iter().next())
}

/// The living schedules by name.
pub(super) fn list(db: &Connection) -> Result<Vec<ScheduleRow>, Error> {
    rows(db, sql!("list_schedules"), params![DEFAULT_ORG.0, LIST_MAX], read_schedule)
}

/// One schedule by id or name.
pub(super) fn find(db: &Connection, selector: &Selector) -> Result<Option<ScheduleRow>, Error> {
    one_of(select(db, selector, read_schedule)?, selector)
}

/// The number of a schedule inside the database.
pub(super) fn key_of(db: &Connection, selector: &Selector) -> Result<Option<ScheduleKey>, Error> {
    one_of(select(db, selector, |row| Ok(ScheduleKey(column(row, 0)?)))?, selector)
}

fn select<T>(
    db: &Connection,
    selector: &Selector,
    read: impl Fn(&Row<'_>) -> Result<T, Error>,
) -> Result<Vec<T>, Error> {
    match selector {
        Selector::Id(id) => rows(db, sql!("find_by_id"), params![DEFAULT_ORG.0, id.to_string()], read),
        Selector::IdPrefix(prefix) => rows(db, sql!("find_by_id"), params![DEFAULT_ORG.0, prefix], read),
        Selector::Name(name) => rows(db, sql!("find_by_name"), params![DEFAULT_ORG.0, name], read),
    }
}

/// The best match; of an abbreviated id there must be only one.
fn one_of<T>(found: Vec<T>, selector: &Selector) -> Result<Option<T>, Error> {
    match selector {
        Selector::IdPrefix(prefix) if found.len() > 1 => Err(Error::Ambiguous { prefix: prefix.clone() }),
        _ => Ok(found.into_iter().next()),
    }
}

fn read_schedule(row: &Row<'_>) -> Result<ScheduleRow, Error> {
    let last_run_status: Option<String> = column(row, 16)?;
    Ok(ScheduleRow {
        definition: DefinitionColumns { id: 1, name: 3, dialect: 4 }.read(row)?,
        org_id: column(row, 2)?,
        created_at: instant(row, 9)?,
        updated_at: instant(row, 10)?,
        deleted_at: maybe_instant(row, 11)?,
        run_count: column(row, 12)?,
        success_count: column(row, 13)?,
        failure_count: column(row, 14)?,
        last_run_at: maybe_instant(row, 15)?,
        last_run_status: last_run_status
            .map(|name| name.parse())
            .transpose()
            .map_err(|error: punctual_plan::UnknownName| Error::corrupt(error.to_string()))?,
        next_run_at: maybe_tick(row, 17)?,
    })
}
