//! Rows become due: read fairly between orgs, each with what its verdict and its launch need.

use std::collections::{HashMap, HashSet};

use jiff::Timestamp;
use punctual_plan::{Due, Fence, OrgKey, Origin, Reason, RunKey, RunStatus, ScheduleKey, Trace, Waiting};
use rusqlite::{Row, params};

use super::connection::{Db, first};
use super::decode::{column, instant, is_null, named, reason, status, tick, trace, waiting};
use super::node::added;
use super::plan::cut_of;
use super::world::{Gathering, Known};
use super::{shard_list, sheet, sql};
use crate::stored::answer_by;
use crate::{Ask, DueBatch, DueRow, Error, Expired, Illegible, Launchable};

/// Due rows that are looked through for those of other orgs than the one that has most: so many times what is asked for,
/// and a good number in any case.
const FAIR_TIMES: i64 = 40;
const FAIR_ROWS_MIN: i64 = 1_000;

/// Rows whose instant has come, and when the next one is due.
pub(super) fn due(db: &Db, ask: &Ask) -> Result<DueBatch, Error> {
    judged_by(db, ask, fair_rows(db, ask)?)
}

/// The same while starts are on sheets, whose rows say nothing of it: they are left out. None if a verdict over another row
/// may depend on one of them.
pub(super) fn beside_sheets(db: &Db, ask: &Ask) -> Result<Option<DueBatch>, Error> {
    let folded = sheet::all(db)?;
    if folded.is_empty() {
        return due(db, ask).map(Some);
    }
    let (runs, schedules): (HashSet<RunKey>, HashSet<ScheduleKey>) =
        folded.iter().map(|start| (start.run(), start.schedule())).unzip();
    let (found, unreadable) = rows_in_turn(db, ask, &runs)?;
    let mut ties = HashMap::new();
    for row in &found {
        let is_tied = match ties.get(&row.org) {
            Some(known) => *known,
            None => db.value(sql!("is_any_tie"), [row.org.0])?.unwrap_or(true),
        };
        ties.insert(row.org, is_tied);
        if is_tied || schedules.contains(&row.schedule) {
            return Ok(None);
        }
    }
    judged_by(db, ask, (found, unreadable)).map(Some)
}

/// Rows with what their verdicts and launches need.
fn judged_by(db: &Db, ask: &Ask, (found, mut unreadable): Sorted) -> Result<DueBatch, Error> {
    let cut = cut_of(ask).as_microsecond();
    let shards = shard_list(&ask.whose);
    // Rows beyond a full batch are due as well: look again at once.
    let next_look_at = if found.len() + unreadable.len() >= ask.limit {
        Some(ask.now)
    } else {
        db.first(sql!("next_look"), params![cut, shards], |row| instant(row, 0))?
    };
    let mut gathering = Gathering::new(db, ask.now)?;
    let (mut ready, mut expired) = (Vec::with_capacity(found.len()), Vec::new());
    for row in found {
        if row.status.is_in_flight() {
            let fence = Fence(row.fence.unwrap_or_default());
            expired.push(Expired { run: row.run, attempt: row.attempt, fence });
            continue;
        }
        match judge_by(db, &mut gathering, &row, ask.now) {
            Ok(due) => ready.push(due),
            Err(error @ Error::Corrupt { .. }) => {
                unreadable.push(Illegible { run: row.run, schedule: row.schedule, error });
            }
            Err(error) => return Err(error),
        }
    }
    let undecided = undecided(db, &ready, ask.now)?;
    Ok(DueBatch { rows: ready, world: gathering.end()?, undecided, expired, unreadable, next_look_at })
}

/// The schedules of late rows that have ticks in the past which no plan has decided.
fn undecided(db: &Db, rows: &[DueRow], now: Timestamp) -> Result<HashSet<ScheduleKey>, Error> {
    let late: HashSet<ScheduleKey> =
        rows.iter().filter(|row| row.is_overtaken(now)).map(|row| row.due.schedule).collect();
    let mut found = HashSet::new();
    let mut undecided = db.prepare(sql!("is_undecided"))?;
    for schedule in late {
        if first(&mut undecided, params![schedule.0, now.as_second()], |_| Ok(()))?.is_some() {
            found.insert(schedule);
        }
    }
    Ok(found)
}

/// Rows, and what was wrong with those that cannot be read.
type Sorted = (Vec<Found>, Vec<Illegible>);

/// The oldest due rows; if there are more than asked for, those of all orgs in turn.
fn fair_rows(db: &Db, ask: &Ask) -> Result<Sorted, Error> {
    let (cut, limit, shards) = (cut_of(ask).as_microsecond(), ask.limit, shard_list(&ask.whose));
    let (first_shard, last_shard) = ask.whose.shard_bounds().into_inner();
    let wanted = i64::try_from(limit).unwrap_or(i64::MAX);
    let found = db.rows(sql!("due"), params![cut, shards, wanted, first_shard, last_shard], try_found)?;
    let is_one_org = found.is_empty() || db.value(sql!("is_one_org"), [])?.unwrap_or(true);
    if is_one_org {
        return Ok(sorted(found));
    }
    if found.len() < limit {
        let (found, unreadable) = sorted(found);
        return Ok((in_turn(found, |row| row.org), unreadable));
    }
    rows_in_turn(db, ask, &HashSet::new())
}

/// Due rows of all orgs in turn, as far as they are looked through, without some.
fn rows_in_turn(db: &Db, ask: &Ask, but: &HashSet<RunKey>) -> Result<Sorted, Error> {
    let (cut, shards) = (cut_of(ask).as_microsecond(), shard_list(&ask.whose));
    let (first_shard, last_shard) = ask.whose.shard_bounds().into_inner();
    let count = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
    // Where there is nobody to be fair to, the oldest are enough: else each look would go through the whole backlog.
    let fair = match db.value(sql!("is_one_org"), [])?.unwrap_or(true) {
        true => count(ask.limit),
        false => count(ask.limit).saturating_mul(FAIR_TIMES).max(FAIR_ROWS_MIN),
    };
    let looked_through = fair + count(but.len());
    let bounds = params![cut, shards, looked_through, first_shard, last_shard];
    let mut heads =
        db.rows(sql!("due_heads"), bounds, |row| Ok((RunKey(column(row, 0)?), OrgKey(column(row, 1)?))))?;
    heads.retain(|(run, _)| !but.contains(run));
    let mut one = db.prepare(sql!("due_row"))?;
    let chosen = in_turn(heads, |(_, org)| *org).into_iter().take(ask.limit);
    let found: Result<Vec<_>, Error> =
        chosen.filter_map(|(run, _)| first(&mut one, [run.0], try_found).transpose()).collect();
    let (found, unreadable) = sorted(found?);
    Ok((in_turn(found, |row| row.org), unreadable))
}

fn try_found(row: &Row<'_>) -> Result<Result<Found, Illegible>, Error> {
    let (run, schedule) = (RunKey(column(row, 0)?), ScheduleKey(column(row, 1)?));
    Ok(read_found(row).map_err(|error| Illegible { run, schedule, error }))
}

fn sorted(rows: Vec<Result<Found, Illegible>>) -> Sorted {
    let (mut found, mut unreadable) = (Vec::with_capacity(rows.len()), Vec::new());
    for row in rows {
        match row {
            Ok(row) => found.push(row),
            Err(bad) => unreadable.push(bad),
        }
    }
    // Of rows that are due together the one that was written first comes first; an index in that order would cost more.
    found.sort_unstable_by_key(|row| (row.look_at, row.run));
    (found, unreadable)
}

/// Puts rows into the order of their places within their orgs.
fn in_turn<T>(rows: Vec<T>, org_of: impl Fn(&T) -> OrgKey) -> Vec<T> {
    let mut places: HashMap<OrgKey, usize> = HashMap::new();
    let mut ranked: Vec<(usize, T)> = Vec::with_capacity(rows.len());
    for row in rows {
        let place = places.entry(org_of(&row)).or_default();
        ranked.push((*place, row));
        *place += 1;
    }
    // The sort is stable: within a round the oldest comes first.
    ranked.sort_by_key(|(place, _)| *place);
    ranked.into_iter().map(|(_, row)| row).collect()
}

/// The columns of `due`.
struct Found {
    run: RunKey,
    schedule: ScheduleKey,
    org: OrgKey,
    status: RunStatus,
    origin: Origin,
    nonce: String,
    scheduled_for: Timestamp,
    fire_at: Timestamp,
    attempt: u32,
    version: i64,
    is_forced: bool,
    /// What was known ahead, or why the last attempt failed; an error if it cannot be read.
    reason: Result<Option<Reason>, Error>,
    waiting: Result<Option<Waiting>, Error>,
    fence: Option<i64>,
    version_now: i64,
    admitted: u64,
    look_at: i64,
    trace: Option<Trace>,
}

fn read_found(row: &Row<'_>) -> Result<Found, Error> {
    Ok(Found {
        run: RunKey(column(row, 0)?),
        schedule: ScheduleKey(column(row, 1)?),
        org: OrgKey(column(row, 2)?),
        status: status(row, 3)?,
        origin: named(row, 4)?,
        nonce: column(row, 5)?,
        scheduled_for: tick(row, 6)?,
        fire_at: instant(row, 7)?,
        attempt: column(row, 8)?,
        version: column(row, 9)?,
        is_forced: column(row, 10)?,
        reason: if is_null(row, 11) { Ok(None) } else { reason(row, 11) },
        waiting: waiting(row, 13),
        fence: column(row, 17)?,
        version_now: column(row, 18)?,
        admitted: column(row, 19)?,
        look_at: column(row, 20)?,
        trace: trace(row, 21)?,
    })
}

/// A due row with what its verdict depends on.
fn judge_by(db: &Db, gathering: &mut Gathering<'_>, row: &Found, now: Timestamp) -> Result<DueRow, Error> {
    let definition = db.definition(row.schedule, row.version)?;
    let present = if row.version_now == row.version {
        None
    } else {
        // The present version judges; one that cannot be read leaves that to the row's own.
        db.definition(row.schedule, row.version_now).ok()
    };
    let standing = present.as_ref().unwrap_or(&definition);
    let known = Known { schedule: row.schedule, org: row.org, definition: standing, admitted: row.admitted };
    gathering.add(&known)?;
    let verdict = if row.status == RunStatus::Scheduled { row.reason.clone()? } else { None };
    let waiting = if row.status == RunStatus::Waiting { row.waiting.clone()? } else { None };
    let attempt = row.attempt + 1;
    let due = Due {
        run: row.run,
        schedule: row.schedule,
        org: row.org,
        origin: row.origin,
        scheduled_for: row.scheduled_for,
        fire_at: row.fire_at.min(now),
        verdict,
        waiting,
        attempt,
        upstream: gathering.upstream(row.org, standing, row.scheduled_for)?,
        is_forced: row.is_forced,
    };
    let (due, answer_by) = (due.under(&definition), answer_by(&definition, now));
    let launch = Launchable {
        run: row.run,
        schedule: row.schedule,
        org: row.org,
        definition,
        origin: row.origin,
        nonce: row.nonce.clone(),
        scheduled_for: row.scheduled_for,
        fire_at: row.fire_at,
        attempt,
        trace: row.trace,
        token: None,
        answer_by,
    };
    Ok(DueRow { due, launch: added(db, launch)? })
}
