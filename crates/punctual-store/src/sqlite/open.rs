//! Rows that are not in flight and have not ended: closed, removed, woken; and schedules of which nothing is left.

use jiff::Timestamp;
use punctual_plan::{Event, OrgKey, OrgLimit, Reason, RunKey, RunStatus, ScheduleKey, Status};
use rusqlite::params;

use super::audit::{About, record_event};
use super::connection::Db;
use super::decode::maybe_instant;
use super::{sql, uncounted};
use crate::stored::status_detail;
use crate::{Commit, Error};

/// How an open row ends.
pub(super) struct End<'a> {
    pub(super) run: RunKey,
    pub(super) status: RunStatus,
    pub(super) reason: &'a Reason,
    pub(super) at: Timestamp,
}

/// Ends an open row, unless it is open no more.
pub(super) fn close(db: &Db, end: &End<'_>) -> Result<Commit, Error> {
    let row = params![
        end.run.0,
        end.status.name(),
        end.reason.code(),
        end.reason.detail(),
        end.at.as_microsecond()
    ];
    Ok(done_by(db.change(sql!("close_run"), row)?))
}

/// Notes a tick that ended: a later version may come at an earlier instant, if the tick fired early or the clock was set
/// back since.
pub(super) fn reach(db: &Db, schedule: ScheduleKey, tick: Timestamp) -> Result<(), Error> {
    uncounted::count(db, schedule, tick.as_second())?;
    db.change(sql!("reach"), params![schedule.0, tick.as_second()]).map(|_| ())
}

/// The word for whether a guarded statement found its row.
pub(super) fn done_by(changed: usize) -> Commit {
    if changed > 0 { Commit::Done } else { Commit::Stale }
}

/// Takes a row of the future back.
pub(super) fn remove(db: &Db, run: RunKey) -> Result<(), Error> {
    db.change(sql!("remove_run"), [run.0]).map(|_| ())
}

/// Wakes rows that wait; knows whether there are any, so that most commits never ask again.
pub(super) struct Waker<'a> {
    db: &'a Db,
    pub(super) now: Timestamp,
    is_any: bool,
}

impl<'a> Waker<'a> {
    pub(super) fn new(db: &'a Db, now: Timestamp) -> Result<Self, Error> {
        let is_any = db.value::<bool>(sql!("is_any_waiting"), [])?.unwrap_or_default();
        Ok(Self { db, now, is_any })
    }

    /// Whether a row may be waiting.
    pub(super) fn is_any(&self) -> bool {
        self.is_any
    }

    /// A row has begun to wait.
    pub(super) fn expect(&mut self) {
        self.is_any = true;
    }

    /// Those that wait for their turn behind a run.
    pub(super) fn behind(&self, org: OrgKey, run: RunKey) -> Result<(), Error> {
        if self.is_any { self.wake(org, "turn", &run.0.to_string()) } else { Ok(()) }
    }

    /// Those that wait for a tick of a schedule.
    pub(super) fn upstream(&self, org: OrgKey, name: &str) -> Result<(), Error> {
        if self.is_any { self.wake(org, "upstream", name) } else { Ok(()) }
    }

    /// Those that wait for room among the runs in flight of an org.
    pub(super) fn room(&self, org: OrgKey) -> Result<(), Error> {
        if self.is_any { self.wake(org, "limit", OrgLimit::InFlight.name()) } else { Ok(()) }
    }

    fn wake(&self, org: OrgKey, kind: &str, wanted: &str) -> Result<(), Error> {
        let row = params![org.0, kind, wanted, self.now.as_microsecond()];
        self.db.change(sql!("wake"), row).map(|_| ())
    }
}

/// After something of a schedule ended: if its next tick hung on that, it is planned anew; if nothing is left of it,
/// it leaves `active`.
pub(super) fn go_on(db: &Db, org: OrgKey, schedule: ScheduleKey, now: Timestamp) -> Result<(), Error> {
    let hanging = db.value(sql!("hanging"), [schedule.0])?;
    if let Some(version) = hanging
        && floats(db, schedule, version)?
    {
        return db.change(sql!("float"), params![schedule.0, now.as_microsecond()]).map(|_| ());
    }
    exhaust(db, org, schedule, now)
}

/// A schedule of which nothing is left leaves `active`. Asked after it was planned to its end.
pub(super) fn exhaust(db: &Db, org: OrgKey, schedule: ScheduleKey, now: Timestamp) -> Result<(), Error> {
    match spent(db, schedule)? {
        Some(spent) => leave(db, schedule, About::schedule(org, schedule, now), &spent),
        None => Ok(()),
    }
}

/// A schedule without any row to come.
struct Spent {
    /// When it had all the runs it may have, if that is why.
    at: Option<Timestamp>,
}

fn spent(db: &Db, schedule: ScheduleKey) -> Result<Option<Spent>, Error> {
    db.first(sql!("spent"), [schedule.0], |row| Ok(Spent { at: maybe_instant(row, 0)? }))
}

fn floats(db: &Db, schedule: ScheduleKey, version: i64) -> Result<bool, Error> {
    match db.definition(schedule, version) {
        Ok(definition) => Ok(definition.when.is_floating()),
        // What cannot be read any more is not planned any more.
        Err(Error::Corrupt { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}

fn leave(db: &Db, schedule: ScheduleKey, about: About<'_>, spent: &Spent) -> Result<(), Error> {
    let at = spent.at.unwrap_or(about.at);
    let status = Status::Exhausted { at };
    let row = params![schedule.0, status.name(), status_detail(&status), at.as_microsecond()];
    db.change(sql!("leave"), row)?;
    let left = Event::Left { reason: Reason::Exhausted { at } };
    record_event(db, about, &left)
}
