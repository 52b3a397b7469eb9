//! The audit log: what was done to a schedule or decided over its ticks, written with the deed itself.

use jiff::Timestamp;
use punctual_plan::{OrgKey, RunKey, ScheduleKey};
use rusqlite::{CachedStatement, Row, params};

use super::connection::{Db, execute};
use super::decode::{column, instant, is_null, schedule_id, text};
use super::schedules::key_of;
use super::{bad_page, listed, org_of, page_rows, sql};
use crate::stored::Sealing;
use crate::{Actor, AuditFilter, AuditRow, Chain, Cut, Error, Listed, Scope, SealedThrough};

/// Whom and when an event concerns.
#[derive(Clone, Copy)]
pub(super) struct About<'a> {
    pub(super) org: OrgKey,
    pub(super) at: Timestamp,
    pub(super) actor: Option<&'a str>,
    pub(super) schedule: Option<ScheduleKey>,
    pub(super) run: Option<RunKey>,
}

impl<'a> About<'a> {
    /// Something that the engine did to a schedule.
    pub(super) fn schedule(org: OrgKey, schedule: ScheduleKey, at: Timestamp) -> Self {
        Self { org, at, actor: None, schedule: Some(schedule), run: None }
    }

    /// The same, to one of its runs.
    pub(super) fn of_run(self, run: RunKey) -> Self {
        Self { run: Some(run), ..self }
    }
}

/// Appends an event.
pub(super) fn record(db: &Db, about: About<'_>, kind: &str, detail: &str) -> Result<(), Error> {
    append(&mut db.prepare(sql!("insert_audit"))?, about, kind, detail)
}

/// The same by a statement that is prepared already, for many of them.
pub(super) fn append(
    insert: &mut CachedStatement<'_>,
    about: About<'_>,
    kind: &str,
    detail: &str,
) -> Result<(), Error> {
    let row = params![
        about.org.0,
        about.at.as_microsecond(),
        about.actor,
        kind,
        about.schedule.map(|key| key.0),
        about.run.map(|key| key.0),
        detail
    ];
    execute(insert, row).map(|_| ())
}

/// Appends an event of the decisions.
pub(super) fn record_event(db: &Db, about: About<'_>, event: &punctual_plan::Event) -> Result<(), Error> {
    record(db, about, event.name(), &event.to_string())
}

/// Events, newest first.
pub(super) fn list(
    db: &Db,
    scope: &Scope,
    filter: &AuditFilter,
    cut: &Cut,
) -> Result<Listed<AuditRow>, Error> {
    let schedule = match filter.schedule {
        Some(id) => match key_of(db, scope, id)? {
            Some(key) => Some(key),
            None => return Ok(Listed { rows: Vec::new(), next: None }),
        },
        None => None,
    };
    let before = match &cut.after {
        Some(after) => after.parse().map_err(|_| bad_page(after))?,
        None => i64::MAX,
    };
    let query = params![
        org_of(scope),
        before,
        schedule,
        filter.run.map(|run| run.0),
        filter.kind,
        filter.since.map_or(i64::MIN, Timestamp::as_microsecond),
        filter.until.map_or(i64::MAX, Timestamp::as_microsecond),
        page_rows(cut),
    ];
    let rows = db.rows(sql!("list_audit"), query, read_event)?;
    Ok(listed(rows, cut, |row| row.seq.to_string()))
}

fn read_event(row: &Row<'_>) -> Result<AuditRow, Error> {
    let schedule = if is_null(row, 4) { None } else { Some(schedule_id(row, 4)?) };
    let sealed = match (column::<Option<i64>>(row, 7)?, column::<Option<String>>(row, 8)?) {
        (Some(position), Some(hash)) => Some((position, hash)),
        _ => None,
    };
    Ok(AuditRow {
        seq: column(row, 0)?,
        at: instant(row, 1)?,
        actor: column::<Option<String>>(row, 2)?.map_or(Actor::Engine, Actor::User),
        kind: column(row, 3)?,
        schedule,
        run: column::<Option<i64>>(row, 5)?.map(RunKey),
        detail: column(row, 6)?,
        sealed,
    })
}

/// How far the chain of an org is sealed.
struct Sealed {
    org: i64,
    position: i64,
    seq: i64,
    hash: String,
}

fn last_seals(db: &Db, org: Option<i64>) -> Result<Vec<Sealed>, Error> {
    db.rows(sql!("last_seals"), params![org], |row| {
        Ok(Sealed {
            org: column(row, 0)?,
            position: column(row, 1)?,
            seq: column(row, 2)?,
            hash: column(row, 3)?,
        })
    })
}

/// Seals events into their org's chain, in the order of their numbers.
pub(super) fn seal(db: &Db, limit: usize) -> Result<Vec<SealedThrough>, Error> {
    let mut left = limit;
    let mut through = Vec::new();
    let mut insert = db.prepare(sql!("insert_seal"))?;
    for mut sealed in last_seals(db, None)? {
        let wanted = i64::try_from(left).unwrap_or(i64::MAX);
        let (org, from) = (sealed.org, sealed.seq);
        let hashes = db.rows(sql!("unsealed"), params![org, from, wanted], |row| {
            sealed.hash = sealing(row, 0, sealed.org)?.hash(&sealed.hash);
            sealed.position += 1;
            sealed.seq = column(row, 0)?;
            Ok((sealed.position, sealed.seq, sealed.hash.clone()))
        })?;
        left -= hashes.len().min(left);
        for (position, seq, hash) in hashes {
            execute(&mut insert, params![sealed.org, position, seq, hash])?;
        }
        let unsealed = db.value(sql!("more_unsealed"), params![sealed.org, sealed.seq])?.unwrap_or_default();
        through.push(SealedThrough { org: OrgKey(sealed.org), position: sealed.position, unsealed });
    }
    Ok(through)
}

/// Reads an event as it is sealed: number, org, instant, actor, kind, schedule, run, detail.
fn sealing<'a>(row: &'a Row<'_>, from: usize, org: i64) -> Result<Sealing<'a>, Error> {
    Ok(Sealing {
        seq: column(row, from)?,
        org,
        at: column(row, from + 2)?,
        actor: if is_null(row, from + 3) { None } else { Some(text(row, from + 3)?) },
        kind: text(row, from + 4)?,
        schedule: column(row, from + 5)?,
        run: column(row, from + 6)?,
        detail: text(row, from + 7)?,
    })
}

/// Seals that are checked in one step.
const VERIFY_STEP: i64 = 5_000;

/// Checks the chain of the scope's org, or of all, against its events.
pub(super) fn verify(db: &Db, scope: &Scope) -> Result<Chain, Error> {
    let mut chain = Chain { checked: 0, unsealed: 0, broken: None };
    for sealed in last_seals(db, org_of(scope))? {
        chain.unsealed +=
            db.value::<u64>(sql!("count_unsealed"), params![sealed.org, sealed.seq])?.unwrap_or_default();
        let broken = verify_org(db, &sealed, &mut chain.checked)?;
        chain.broken = chain.broken.or(broken);
    }
    Ok(chain)
}

fn verify_org(db: &Db, sealed: &Sealed, checked: &mut u64) -> Result<Option<(i64, String)>, Error> {
    let is_among = params![sealed.org, sealed.seq];
    if let Some(seq) = db.value::<Option<i64>>(sql!("unsealed_between"), is_among)?.flatten() {
        return Ok(Some((seq, "it has no seal among events that have one".to_owned())));
    }
    // What retention removed is gone from the beginning; its seals stay and are taken as they are.
    let first: i64 =
        db.value::<Option<i64>>(sql!("first_event"), [sealed.org])?.flatten().unwrap_or(i64::MAX);
    let (mut position, mut before) = (0, String::new());
    loop {
        let found = db.rows(sql!("sealed_events"), params![sealed.org, position, VERIFY_STEP], |row| {
            let (seq, hash): (i64, String) = (column(row, 1)?, column(row, 2)?);
            let broken = if !is_null(row, 3) {
                *checked += 1;
                let event = sealing(row, 1, sealed.org)?;
                (event.hash(&before) != hash).then(|| "it does not fit its seal".to_owned())
            } else {
                (seq >= first).then(|| "it is gone".to_owned())
            };
            before = hash;
            Ok((column::<i64>(row, 0)?, seq, broken))
        })?;
        let Some(last) = found.last() else { return Ok(None) };
        let mut expected = position;
        for (place, seq, broken) in &found {
            expected += 1;
            if *place != expected {
                return Ok(Some((*seq, format!("its chain lacks the seal {expected}"))));
            }
            if let Some(what) = broken {
                return Ok(Some((*seq, what.clone())));
            }
        }
        position = last.0;
    }
}
