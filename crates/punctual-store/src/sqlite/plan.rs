//! Plans go into the ledger: cursor, entries, ranges and audit events in one transaction.

use jiff::Timestamp;
use punctual_plan::{
    Cursor, Entry, EntryState, LateRow, NonFire, OrgKey, Plan, Policy, Range, Reason, RunKey, RunStatus,
    ScheduleKey,
};
use rusqlite::{Connection, Row, params};

use super::audit::{self, Event};
use super::decode::{Spec, change, column, instant, reason, rows, schedule_id, tick};
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
        Ok(LateRow {
            run: RunKey(column(row, 0)?),
            scheduled_for: tick(row, 1)?,
            fire_at: instant(row, 2)?,
            verdict: reason(row, 3)?,
        })
    })?;
    Ok(schedule)
}

fn read_plannable(row: &Row<'_>) -> Result<Plannable, Error> {
    let text = |index: usize| column::<String>(row, index);
    let (dialect, spec, timezone, id) = (text(2)?, text(3)?, text(4)?, text(5)?);
    let created_at = instant(row, 9)?;
    let parsed = Spec { id: &id, dialect: &dialect, spec: &spec, timezone: &timezone, created_at }.parse()?;
    Ok(Plannable {
        schedule: ScheduleKey(column(row, 0)?),
        org: OrgKey(column(row, 1)?),
        version: column(row, 6)?,
        id: schedule_id(&id)?,
        timing: parsed.timing,
        policy: Policy::default(),
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
        for one in &plan.closed {
            let (status, reason) = (one.end.status(), one.end.reason());
            let end = End { run: one.run, status, reason, at: decided_at };
            if close(self.db, &end)? == Commit::Done {
                self.ended(&one.end, &one.run, decided_at)?;
            }
        }
        for one in &plan.refired {
            change(self.db, sql!("refire_run"), params![one.run.0, one.fire_at.as_microsecond()])?;
        }
        Ok(())
    }

    fn insert(&self, entry: &Entry, decided_at: Timestamp) -> Result<(), Error> {
        let (status, reason) = match &entry.state {
            EntryState::Scheduled => (RunStatus::Scheduled, None),
            EntryState::Suppressed(reason) => (RunStatus::Scheduled, Some(reason)),
            EntryState::Ended(end) => (end.status(), Some(end.reason())),
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
                status.is_terminal().then(|| decided_at.as_microsecond()),
            ],
        )?;
        match &entry.state {
            EntryState::Ended(end) if inserted == 1 => self.ended(end, &entry.scheduled_for, decided_at),
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
                range.end.reason().code(),
                range.end.reason().detail(),
                self.version,
                decided_at.as_microsecond(),
                range.end.status().name(),
            ],
        )?;
        let ticks = format!("{} ticks from {} to {}", range.count, range.first, range.last);
        self.ended(&range.end, &ticks, decided_at)
    }

    fn ended(&self, end: &NonFire, what: &dyn std::fmt::Display, at: Timestamp) -> Result<(), Error> {
        let kind = format!("schedule.{}", end.status());
        let detail = format!("{what}: {}", end.reason());
        let event = Event { org: self.org, schedule: self.schedule, kind: &kind, detail, at };
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
