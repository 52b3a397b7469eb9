//! Plans go into the ledger: cursor, entries, ranges and audit events in one transaction.

use jiff::Timestamp;
use punctual_plan::{
    Cursor, Entry, EntryState, LateRow, OrgKey, Plan, Range, Reason, RunKey, RunStatus, ScheduleKey,
};
use rusqlite::{Connection, Row, params};

use super::audit::{self, Event};
use super::decode::{Spec, change, column, instant, rows, tick};
use super::sql;
use crate::instant::from_seconds;
use crate::{Commit, Error, PlanCommit, Plannable, PlannableBatch};

/// Schedules in one planning batch: small enough that what is due meanwhile does not wait for it.
const PLANNABLE_MAX: i64 = 500;

/// Schedules whose next unplanned tick is inside the horizon.
pub(super) fn plannable(
    db: &Connection,
    now: Timestamp,
    horizon: Timestamp,
) -> Result<PlannableBatch, Error> {
    let found = rows(db, sql!("plannable"), params![horizon.as_second(), PLANNABLE_MAX], |row| {
        Ok(read_plannable(row))
    })?;
    let mut batch = PlannableBatch::default();
    for one in found {
        match one {
            Ok(schedule) => batch.ready.push(with_late_rows(db, schedule, now)?),
            Err(error) => batch.unreadable.push(error),
        }
    }
    Ok(batch)
}

fn with_late_rows(db: &Connection, mut schedule: Plannable, now: Timestamp) -> Result<Plannable, Error> {
    schedule.late = rows(db, sql!("late_rows"), params![schedule.schedule.0, now.as_microsecond()], |row| {
        Ok(LateRow { run: RunKey(column(row, 0)?), scheduled_for: tick(row, 1)?, fire_at: instant(row, 2)? })
    })?;
    Ok(schedule)
}

fn read_plannable(row: &Row<'_>) -> Result<Plannable, Error> {
    let text = |index: usize| column::<String>(row, index);
    let (dialect, spec, timezone, id) = (text(2)?, text(3)?, text(4)?, text(5)?);
    let when = Spec { id: &id, dialect: &dialect, spec: &spec, timezone: &timezone }.parse()?;
    Ok(Plannable {
        schedule: ScheduleKey(column(row, 0)?),
        org: OrgKey(column(row, 1)?),
        version: column(row, 6)?,
        cron: when.cron,
        zone: when.zone,
        cursor: Cursor { planned_through: instant(row, 7)?, decided_through: instant(row, 8)? },
        late: Vec::new(),
    })
}

/// The nearest tick that no ledger row stands for yet.
pub(super) fn next_unplanned(db: &Connection) -> Result<Option<Timestamp>, Error> {
    let found = rows(db, sql!("next_tick"), [], |row| column::<Option<i64>>(row, 0))?;
    found.into_iter().flatten().next().map(from_seconds).transpose()
}

/// Writes each plan whole, or leaves it out because somebody else planned or changed the schedule first.
pub(super) fn commit(db: &Connection, plans: &[PlanCommit]) -> Result<Vec<Commit>, Error> {
    plans.iter().map(|one| commit_one(db, one)).collect()
}

fn commit_one(db: &Connection, one: &PlanCommit) -> Result<Commit, Error> {
    let plan = &one.plan;
    let moved = change(
        db,
        sql!("move_cursor"),
        params![
            one.schedule.0,
            one.version,
            plan.cursor.planned_through.as_microsecond(),
            plan.cursor.decided_through.as_microsecond(),
            plan.next_tick.map(Timestamp::as_second),
            one.from.planned_through.as_microsecond(),
        ],
    )?;
    if moved == 0 {
        return Ok(Commit::Stale);
    }
    Writing { db, org: one.org, schedule: one.schedule, version: one.version }.write(plan)?;
    Ok(Commit::Done)
}

/// The rows of one plan on their way into the tables.
pub(super) struct Writing<'a> {
    pub(super) db: &'a Connection,
    pub(super) org: OrgKey,
    pub(super) schedule: ScheduleKey,
    pub(super) version: i64,
}

impl Writing<'_> {
    /// Writes everything of a plan but its cursor.
    pub(super) fn write(&self, plan: &Plan) -> Result<(), Error> {
        let decided_at = plan.cursor.decided_through;
        for entry in &plan.entries {
            self.insert(entry, decided_at)?;
        }
        for range in &plan.ranges {
            self.insert_range(range, decided_at)?;
        }
        for (run, reason) in &plan.closed {
            let end = End { run: *run, status: RunStatus::Missed, reason, at: decided_at };
            if close(self.db, &end)? == Commit::Done {
                self.missed(format!("{run}: {reason}"), decided_at)?;
            }
        }
        Ok(())
    }

    fn insert(&self, entry: &Entry, decided_at: Timestamp) -> Result<(), Error> {
        let (status, reason) = match &entry.state {
            EntryState::Scheduled => (RunStatus::Scheduled, None),
            EntryState::Missed(reason) => (RunStatus::Missed, Some(reason)),
        };
        let inserted = change(
            self.db,
            sql!("insert_run"),
            params![
                entry.scheduled_for.as_second(),
                self.org.0,
                self.schedule.0,
                entry.fire_at.as_microsecond(),
                status.name(),
                reason.map(Reason::code),
                reason.map(Reason::detail),
                self.version,
                reason.map(|_| decided_at.as_microsecond()),
            ],
        )?;
        match reason {
            Some(reason) if inserted == 1 => {
                self.missed(format!("{}: {reason}", entry.scheduled_for), decided_at)
            }
            _ => Ok(()),
        }
    }

    fn insert_range(&self, range: &Range, decided_at: Timestamp) -> Result<(), Error> {
        change(
            self.db,
            sql!("insert_range"),
            params![
                self.org.0,
                self.schedule.0,
                range.first.as_second(),
                range.last.as_second(),
                i64::try_from(range.count).unwrap_or(i64::MAX),
                range.reason.code(),
                range.reason.detail(),
                self.version,
                decided_at.as_microsecond(),
            ],
        )?;
        let detail =
            format!("{} ticks from {} to {}: {}", range.count, range.first, range.last, range.reason);
        self.missed(detail, decided_at)
    }

    fn missed(&self, detail: String, at: Timestamp) -> Result<(), Error> {
        let event = Event { org: self.org, schedule: self.schedule, kind: "schedule.missed", detail, at };
        audit::record(self.db, &event)
    }
}

/// The end of an armed row that does not run.
pub(super) struct End<'a> {
    pub(super) run: RunKey,
    pub(super) status: RunStatus,
    pub(super) reason: &'a Reason,
    pub(super) at: Timestamp,
}

/// Ends an armed row, unless it is armed no more.
pub(super) fn close(db: &Connection, end: &End<'_>) -> Result<Commit, Error> {
    let row = params![
        end.run.0,
        end.status.name(),
        end.reason.code(),
        end.reason.detail(),
        end.at.as_microsecond()
    ];
    Ok(if change(db, sql!("close_run"), row)? == 1 { Commit::Done } else { Commit::Stale })
}
