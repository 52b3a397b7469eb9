//! What a change does to the rows that were planned before it.

use jiff::Timestamp;
use punctual_plan::{
    Anchors, Before, Change, Changed, Cursor, Event, Open, OpenKind, OrgKey, RunKey, RunStatus, Schedule,
    ScheduleKey, Status, change,
};
use punctual_time::Timing;
use rusqlite::{Row, params};

use super::audit::{About, record_event};
use super::connection::Db;
use super::decode::{column, instant, maybe_instant, maybe_tick, tick};
use super::open::{End, close, remove};
use super::plan::{Place, PlanWriter};
use super::{sql, uncounted};
use crate::stored::status_detail;
use crate::{Commit, Error};

/// Where a schedule stands.
pub(super) struct Stand {
    pub(super) org: OrgKey,
    pub(super) version: i64,
    pub(super) cursor: Cursor,
    pub(super) launched_through: Option<Timestamp>,
    pub(super) deleted_at: Option<Timestamp>,
    pub(super) is_active: bool,
    pub(super) shard: u16,
    spent_at: Option<Timestamp>,
    admitted: u64,
    anchors: Anchors,
}

impl Stand {
    /// Reads where a schedule stands, if there is such a schedule, with everything counted that has ended.
    pub(super) fn of(db: &Db, schedule: ScheduleKey) -> Result<Option<Self>, Error> {
        uncounted::count(db, schedule, i64::MAX)?;
        db.first(sql!("change_state"), [schedule.0], |row| {
            Ok(Self {
                org: OrgKey(column(row, 0)?),
                version: column(row, 1)?,
                cursor: Cursor { planned_through: instant(row, 2)?, decided_through: instant(row, 3)? },
                launched_through: maybe_tick(row, 4)?,
                deleted_at: maybe_instant(row, 5)?,
                spent_at: maybe_instant(row, 6)?,
                admitted: column(row, 7)?,
                anchors: Anchors { start: maybe_instant(row, 8)?, finish: maybe_instant(row, 9)? },
                is_active: column(row, 10)?,
                shard: column(row, 11)?,
            })
        })
    }

    /// Its ticks with what has become of them; none if it has had them all.
    fn timing(&self, definition: &Schedule) -> Option<Timing> {
        let mut timing = definition.when.timing().filter(|_| self.spent_at.is_none())?.clone();
        timing.runs = self.admitted;
        timing.last = self.anchors.last(timing.anchor);
        Some(timing)
    }
}

/// The rows of a schedule that are not in flight and have not ended, for a decision.
pub(super) fn open_rows(db: &Db, schedule: ScheduleKey) -> Result<Vec<Open>, Error> {
    db.rows(sql!("open_rows"), [schedule.0], |row: &Row<'_>| {
        let is_launched = column::<u32>(row, 2)? > 0;
        let kind = if is_launched { OpenKind::Retrying } else { OpenKind::Unlaunched };
        Ok(Open { run: RunKey(column(row, 0)?), scheduled_for: tick(row, 1)?, kind })
    })
}

/// Carries out what was decided over the open rows.
pub(super) fn write_changed(
    writer: &mut PlanWriter<'_>,
    at: Place,
    definition: &Schedule,
    changed: &Changed,
) -> Result<(), Error> {
    for run in &changed.removed {
        remove(writer.db, *run)?;
        writer.waker.behind(at.org, *run)?;
    }
    for (run, reason) in &changed.cancelled {
        let end = End { run: *run, status: RunStatus::Cancelled, reason, at: writer.now };
        if close(writer.db, &end)? == Commit::Done {
            writer.waker.behind(at.org, *run)?;
            writer.waker.upstream(at.org, &definition.name)?;
        }
    }
    writer.write(at, definition, &changed.plan)
}

/// A schedule leaves `active` because of what its runs came to, or because it cannot be read any more.
pub(super) fn disable(db: &Db, schedule: ScheduleKey, status: &Status, now: Timestamp) -> Result<(), Error> {
    // Only what is active leaves.
    let Some(stand) = Stand::of(db, schedule)?.filter(|stand| stand.is_active) else { return Ok(()) };
    let (definition, invalid) = db.readable(schedule, stand.version)?;
    let open = open_rows(db, schedule)?;
    // What cannot be read has no ticks that could be accounted for.
    let timing = stand.timing(&definition).filter(|_| invalid.is_none());
    let before = Before {
        timing: timing.as_ref(),
        cursor: stand.cursor,
        open: &open,
        slept: None,
        launched_through: stand.launched_through,
    };
    let changed = change(&before, &Change::Leave(status.clone()), now);
    let mut writer = PlanWriter::new(db, now)?;
    let place = Place { org: stand.org, schedule, version: stand.version, shard: stand.shard };
    write_changed(&mut writer, place, &definition, &changed)?;
    let cursor = changed.plan.cursor;
    let row =
        params![schedule.0, cursor.planned_through.as_microsecond(), cursor.decided_through.as_microsecond()];
    db.change(sql!("set_cursor"), row)?;
    let row = params![schedule.0, status.name(), status_detail(status), now.as_microsecond()];
    db.change(sql!("leave"), row)?;
    if let Some(reason) = status.reason(now) {
        record_event(db, About::schedule(stand.org, schedule, now), &Event::Left { reason })?;
    }
    Ok(())
}
