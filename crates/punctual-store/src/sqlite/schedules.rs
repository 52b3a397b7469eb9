//! Definitions, read: found, listed, with their versions and those who use something.

use jiff::Timestamp;
use punctual_plan::{
    Anchors, Counters, Cursor, Open, OpenKind, RunKey, RunState, ScheduleId, ScheduleKey, State,
};
use rusqlite::{Row, params};

use super::connection::Db;
use super::decode::{column, instant, is_null, maybe_instant, maybe_tick, named, schedule_id, text};
use super::runs::read_run;
use super::{listed, org_of, page_rows, sql};
use crate::stored::read_status;
use crate::{
    Cut, Error, Listed, NameRow, OpenRow, ScheduleFilter, ScheduleRow, Scope, Selector, UseKind, VersionRow,
};

/// How many living schedules there are.
pub(super) fn living(db: &Db, scope: &Scope) -> Result<u64, Error> {
    Ok(db.value(sql!("living"), params![org_of(scope)])?.unwrap_or_default())
}

/// One schedule by id or name.
pub(super) fn find(db: &Db, scope: &Scope, selector: &Selector) -> Result<Option<ScheduleRow>, Error> {
    let org = org_of(scope);
    let read = |row: &Row<'_>| read_schedule(db, row);
    let mut found = match selector {
        Selector::Id(id) => db.rows(sql!("find_by_id"), params![org, id.to_string()], read)?,
        Selector::IdPrefix(prefix) => db.rows(sql!("find_by_id"), params![org, prefix], read)?,
        Selector::Name(name) => db.rows(sql!("find_by_name"), params![org, name], read)?,
    };
    match selector {
        Selector::IdPrefix(prefix) if found.len() > 1 => Err(Error::Ambiguous { prefix: prefix.clone() }),
        _ if found.is_empty() => Ok(None),
        _ => Ok(Some(found.swap_remove(0))),
    }
}

/// The key of a schedule by its id, if the scope reaches it.
pub(super) fn key_of(db: &Db, scope: &Scope, id: ScheduleId) -> Result<Option<i64>, Error> {
    db.value(sql!("find_by_id"), params![org_of(scope), id.to_string()])
}

/// Schedules by name.
pub(super) fn list(
    db: &Db,
    scope: &Scope,
    filter: &ScheduleFilter,
    cut: &Cut,
) -> Result<Listed<ScheduleRow>, Error> {
    let (name, key) = after(cut)?;
    let query = params![
        org_of(scope),
        name,
        key,
        filter.search,
        filter.tag,
        filter.status,
        filter.user_id,
        filter.declared_set,
        filter.with_deleted,
        page_rows(cut),
    ];
    let read = |row: &Row<'_>| read_schedule(db, row);
    let rows = match scope {
        Scope::Org { .. } => db.rows(sql!("list_schedules"), query, read)?,
        Scope::Engine => db.rows(sql!("list_all_schedules"), query, read)?,
    };
    Ok(listed(rows, cut, |row| format!("{}\u{1f}{}", row.definition.name, row.key.0)))
}

/// What schedules are called.
pub(super) fn names(db: &Db, scope: &Scope, cut: &Cut) -> Result<Listed<NameRow>, Error> {
    let Some(org) = org_of(scope) else {
        let filter = ScheduleFilter { with_deleted: true, ..ScheduleFilter::default() };
        let listed = list(db, scope, &filter, cut)?;
        return Ok(Listed { rows: listed.rows.into_iter().map(NameRow::from).collect(), next: listed.next });
    };
    let (name, key) = after(cut)?;
    let rows = db.rows(sql!("list_names"), params![org, name, key, page_rows(cut)], |row| {
        Ok(NameRow {
            key: ScheduleKey(column(row, 0)?),
            id: schedule_id(row, 1)?,
            name: column(row, 2)?,
            declared_set: column(row, 3)?,
            is_deleted: column(row, 4)?,
        })
    })?;
    Ok(listed(rows, cut, |row| format!("{}\u{1f}{}", row.name, row.key.0)))
}

/// The name and key after which a page begins.
fn after(cut: &Cut) -> Result<(String, i64), Error> {
    let Some(after) = &cut.after else { return Ok((String::new(), 0)) };
    let parsed =
        after.rsplit_once('\u{1f}').and_then(|(name, key)| Some((name.to_owned(), key.parse().ok()?)));
    parsed.ok_or_else(|| super::bad_page(after))
}

fn read_schedule(db: &Db, row: &Row<'_>) -> Result<ScheduleRow, Error> {
    let key = ScheduleKey(column(row, 0)?);
    let (definition, invalid) = db.readable(key, column(row, 5)?)?;
    let (armed, next) = (maybe_tick(row, 26)?, maybe_tick(row, 12)?);
    let last_success = match (maybe_instant(row, 22)?, column::<Option<i64>>(row, 23)?) {
        (Some(at), Some(run)) => Some((at, RunKey(run))),
        _ => None,
    };
    Ok(ScheduleRow {
        key,
        definition,
        invalid,
        state: read_state(row)?,
        left_at: maybe_instant(row, 8)?,
        spent_at: maybe_instant(row, 9)?,
        ticks_launched: column(row, 27)?,
        launched_through: maybe_tick(row, 13)?,
        created_at: instant(row, 1)?,
        updated_at: instant(row, 2)?,
        deleted_at: maybe_instant(row, 3)?,
        declared_set: column(row, 4)?,
        next_run_at: armed.or(next),
        next_tick: next,
        last_success,
    })
}

fn read_state(row: &Row<'_>) -> Result<State, Error> {
    let last_finish: Option<Timestamp> = maybe_instant(row, 20)?;
    let last_finish = match last_finish {
        Some(at) if !is_null(row, 21) => Some((at, named(row, 21)?)),
        _ => None,
    };
    Ok(State {
        status: read_status(text(row, 6)?, text(row, 7)?)?,
        cursor: Cursor { planned_through: instant(row, 10)?, decided_through: instant(row, 11)? },
        counters: Counters {
            runs: column(row, 15)?,
            successes: column(row, 16)?,
            failures: column(row, 17)?,
            consecutive_failures: column(row, 18)?,
            admitted: column(row, 14)?,
        },
        last_start: maybe_instant(row, 19)?,
        last_finish,
        anchors: Anchors { start: maybe_instant(row, 24)?, finish: maybe_instant(row, 25)? },
    })
}

/// Rows of a schedule that are not in flight and have not ended.
pub(super) fn open_rows(db: &Db, scope: &Scope, schedule: ScheduleKey) -> Result<Vec<OpenRow>, Error> {
    let found = db.rows(sql!("open_run_rows"), params![schedule.0, org_of(scope)], read_run)?;
    let open = found.into_iter().map(|row| {
        let run = row.run;
        let is_launched = matches!(run.state, RunState::Retrying { .. }) || !run.attempts.is_empty();
        let kind = if is_launched { OpenKind::Retrying } else { OpenKind::Unlaunched };
        OpenRow { open: Open { run: run.key, scheduled_for: run.scheduled_for, kind }, run }
    });
    Ok(open.collect())
}

/// The versions of a schedule, newest first; one that cannot be read is shown as far as it can.
pub(super) fn versions(db: &Db, scope: &Scope, id: ScheduleId) -> Result<Vec<VersionRow>, Error> {
    db.rows(sql!("list_versions"), params![org_of(scope), id.to_string()], |row| {
        let version = column(row, 1)?;
        let (definition, _) = db.readable(ScheduleKey(column(row, 0)?), version)?;
        Ok(VersionRow { schedule: id, version, since: instant(row, 2)?, by: column(row, 3)?, definition })
    })
}

/// Schedules that use something by name.
pub(super) fn users_of(db: &Db, scope: &Scope, kind: UseKind, name: &str) -> Result<Vec<ScheduleKey>, Error> {
    let query = params![org_of(scope), kind.name(), name];
    db.rows(sql!("users_of"), query, |row| Ok(ScheduleKey(column(row, 0)?)))
}
