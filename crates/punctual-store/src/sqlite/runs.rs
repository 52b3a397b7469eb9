//! The ledger, read: runs, stretches, counts.

use std::collections::BTreeMap;

use jiff::Timestamp;
use punctual_plan::{Attempt, NonFire, Origin, Range, Reason, Run, RunKey, RunState, RunStatus, ScheduleKey};
use rusqlite::{Row, params};

use super::connection::Db;
use super::decode::{
    column, instant, maybe_instant, named, reason, schedule_id, status, tick, trace, waiting,
};
use super::schedules::key_of;
use super::{bad_page, listed, org_of, page_rows, sql};
use crate::stored::read_payload;
use crate::{Cut, Error, Listed, RangeRow, RunFilter, RunRow, Scope};

/// Where a page of the ledger lies.
struct Page {
    schedule: Option<i64>,
    since: i64,
    until: i64,
    before: (i64, i64),
}

/// The bounds of a page; none if its schedule is not there.
fn page(db: &Db, scope: &Scope, filter: &RunFilter, cut: &Cut) -> Result<Option<Page>, Error> {
    let schedule = match filter.schedule {
        Some(id) => match key_of(db, scope, id)? {
            Some(key) => Some(key),
            None => return Ok(None),
        },
        None => None,
    };
    let before = match &cut.after {
        Some(after) => {
            let parsed = after.split_once(':').and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
            parsed.ok_or_else(|| bad_page(after))?
        }
        None => (i64::MAX, i64::MAX),
    };
    // A part of a second at the beginning belongs to the second after it.
    let ceil = |at: Timestamp| at.as_second() + i64::from(at.subsec_nanosecond() > 0);
    Ok(Some(Page {
        schedule,
        since: filter.since.map_or(i64::MIN, ceil),
        // Said twice, because only this bound of the two leads into the index: a page begins where the last one ended.
        until: filter.until.map_or(i64::MAX, Timestamp::as_second).min(before.0),
        before,
    }))
}

/// Ledger entries, newest tick first.
pub(super) fn list(db: &Db, scope: &Scope, filter: &RunFilter, cut: &Cut) -> Result<Listed<RunRow>, Error> {
    let Some(page) = page(db, scope, filter, cut)? else {
        return Ok(Listed { rows: Vec::new(), next: None });
    };
    let query = params![
        page.schedule,
        org_of(scope),
        page.since,
        page.until,
        page.before.0,
        page.before.1,
        filter.status.map(RunStatus::name),
        filter.origin.map(Origin::name),
        page_rows(cut),
    ];
    let rows = match page.schedule {
        Some(_) => db.rows(sql!("list_runs"), query, read_run)?,
        // Few rows have not ended, and they have an index of their own.
        None if filter.status.is_some_and(|status| !status.is_terminal()) => {
            db.rows(sql!("list_open_runs"), query, read_run)?
        }
        None => db.rows(sql!("list_org_runs"), query, read_run)?,
    };
    Ok(listed(rows, cut, |row| format!("{}:{}", row.run.scheduled_for.as_second(), row.run.key.0)))
}

/// One ledger entry with all its attempts.
pub(super) fn find(db: &Db, scope: &Scope, run: RunKey) -> Result<Option<RunRow>, Error> {
    let Some(mut row) = db.first(sql!("find_run"), params![run.0, org_of(scope)], read_run)? else {
        return Ok(None);
    };
    let kept = db.rows(sql!("list_attempts"), [run.0], |row| {
        let started_at = maybe_instant(row, 1)?.or(maybe_instant(row, 2)?).unwrap_or_default();
        let attempt = Attempt {
            number: column(row, 0)?,
            started_at,
            ended_at: maybe_instant(row, 2)?,
            reason: reason(row, 3)?,
        };
        Ok((attempt, column::<Option<String>>(row, 5)?))
    })?;
    row.output = row.output.or_else(|| kept.last().and_then(|(_, output)| output.clone()));
    let last = std::mem::take(&mut row.run.attempts);
    row.run.attempts = kept.into_iter().map(|(attempt, _)| attempt).collect();
    for attempt in last {
        if !row.run.attempts.iter().any(|kept| kept.number == attempt.number) {
            row.run.attempts.push(attempt);
        }
    }
    Ok(Some(row))
}

/// Reads a row of the ledger, with its last attempt.
pub(super) fn read_run(row: &Row<'_>) -> Result<RunRow, Error> {
    let state = read_state(row)?;
    let (enqueued_at, started_at, completed_at) =
        (maybe_instant(row, 15)?, maybe_instant(row, 16)?, maybe_instant(row, 17)?);
    let number: u32 = column(row, 10)?;
    let is_over = !state.status().is_in_flight();
    let last = Attempt {
        number,
        started_at: started_at.or(enqueued_at).unwrap_or_default(),
        ended_at: completed_at.filter(|_| is_over),
        reason: state.reason().filter(|_| is_over).cloned(),
    };
    let run = Run {
        key: RunKey(column(row, 0)?),
        schedule: ScheduleKey(column(row, 1)?),
        version: column(row, 2)?,
        origin: named(row, 3)?,
        nonce: column(row, 4)?,
        scheduled_for: tick(row, 5)?,
        fire_at: instant(row, 6)?,
        waited: waiting(row, 11)?,
        attempts: (number > 0).then_some(last).into_iter().collect(),
        state,
    };
    Ok(RunRow {
        run,
        schedule_id: schedule_id(row, 20)?,
        schedule_name: column(row, 21)?,
        enqueued_at,
        started_at,
        completed_at,
        output: column(row, 24)?,
        node: column(row, 22)?,
        tz_version: column(row, 23)?,
        executor_run_id: column(row, 18)?,
        payload: read_payload(column(row, 25)?)?,
        trace: trace(row, 26)?,
    })
}

fn read_state(row: &Row<'_>) -> Result<RunState, Error> {
    let status = status(row, 7)?;
    let lacks = |what: &str| Error::corrupt(format!("a {status} run without {what}"));
    let since = |index: usize| maybe_instant(row, index)?.ok_or_else(|| lacks("its instant"));
    let why = || reason(row, 8)?.ok_or_else(|| lacks("its reason"));
    let attempt: u32 = column(row, 10)?;
    Ok(match status {
        RunStatus::Scheduled => RunState::Scheduled { verdict: reason(row, 8)? },
        RunStatus::Waiting => RunState::Waiting(waiting(row, 11)?.ok_or_else(|| lacks("what it waits for"))?),
        RunStatus::Enqueued => RunState::Enqueued { attempt, since: since(15)? },
        RunStatus::Running => {
            RunState::Running { attempt, since: maybe_instant(row, 16)?.map_or_else(|| since(15), Ok)? }
        }
        RunStatus::Retrying => RunState::Retrying { attempt: attempt + 1, at: since(19)?, reason: why()? },
        RunStatus::Success => RunState::Success { at: since(17)? },
        RunStatus::Failed => RunState::Failed { reason: why()?, at: since(17)? },
        RunStatus::Cancelled => RunState::Cancelled { reason: why()?, at: since(17)? },
        RunStatus::Skipped => RunState::Skipped { reason: why()?, at: since(17)? },
        RunStatus::Missed => RunState::Missed { reason: why()?, at: since(17)? },
    })
}

/// Stretches, newest first.
pub(super) fn ranges(
    db: &Db,
    scope: &Scope,
    filter: &RunFilter,
    cut: &Cut,
) -> Result<Listed<RangeRow>, Error> {
    let nothing = Listed { rows: Vec::new(), next: None };
    if filter.origin.is_some_and(|origin| origin != Origin::Tick) {
        return Ok(nothing);
    }
    let Some(page) = page(db, scope, filter, cut)? else { return Ok(nothing) };
    let query = params![
        page.schedule,
        org_of(scope),
        page.since,
        page.until,
        page.before.0,
        page.before.1,
        filter.status.map(RunStatus::name),
        page_rows(cut),
    ];
    let found = db.rows(sql!("list_ranges"), query, |row| Ok((read_range(row)?, column::<i64>(row, 11)?)))?;
    let page = listed(found, cut, |(row, key)| format!("{}:{key}", row.range.first.as_second()));
    Ok(Listed { rows: page.rows.into_iter().map(|(row, _)| row).collect(), next: page.next })
}

fn read_range(row: &Row<'_>) -> Result<RangeRow, Error> {
    let why: Reason = reason(row, 6)?.ok_or_else(|| Error::corrupt("a range without a reason"))?;
    let end = match status(row, 5)? {
        RunStatus::Missed => NonFire::Missed(why),
        RunStatus::Skipped => NonFire::Skipped(why),
        other => return Err(Error::corrupt(format!("a range that is {other}"))),
    };
    let counts: Option<String> = column(row, 8)?;
    Ok(RangeRow {
        schedule_id: schedule_id(row, 0)?,
        schedule_name: column(row, 1)?,
        range: Range { first: tick(row, 2)?, last: tick(row, 3)?, count: column(row, 4)?, end },
        counts: counts.as_deref().map(read_counts).transpose()?.unwrap_or_default(),
        version: column(row, 9)?,
        recorded_at: instant(row, 10)?,
    })
}

/// Reads how many of each state a digest stands for.
pub(super) fn read_counts(text: &str) -> Result<Vec<(RunStatus, u64)>, Error> {
    let counts: BTreeMap<String, u64> =
        serde_json::from_str(text).map_err(|error| Error::corrupt(format!("a digest: {error}")))?;
    let read = |(name, count): (String, u64)| {
        Ok((
            name.parse().map_err(|error: punctual_plan::UnknownName| Error::corrupt(error.to_string()))?,
            count,
        ))
    };
    counts.into_iter().map(read).collect()
}
