//! Rows become due and are admitted: claims and verdicts in one transaction.

use jiff::Timestamp;
use punctual_plan::{Admission, Due, Fence, OrgKey, Reason, RunKey, RunStatus, ScheduleKey, Verdict};
use rusqlite::{Connection, Row, params};

use super::audit::{self, Event};
use super::decode::{change, column, instant, reason, rows, schedule_id, target, tick};
use super::plan::{End, close};
use super::{DEFAULT_ORG, sql};
use crate::instant::from_micros;
use crate::{BATCH_MAX, Commit, DueBatch, DueRow, Error, Launchable};

/// Rows whose instant has come, and when the next one is due.
pub(super) fn due(db: &Connection, now: Timestamp) -> Result<DueBatch, Error> {
    let limit = i64::try_from(BATCH_MAX).unwrap_or(i64::MAX);
    let found = rows(db, sql!("due"), params![now.as_microsecond(), limit], |row| Ok(read_due(row)))?;
    let next = rows(db, sql!("next_fire"), [now.as_microsecond()], |row| column::<Option<i64>>(row, 0))?;
    // Rows beyond a full batch are due as well: look again at once.
    let next_fire_at = if found.len() == BATCH_MAX { Some(now) } else { read_next(next)? };
    let mut batch = DueBatch { rows: Vec::with_capacity(found.len()), unreadable: Vec::new(), next_fire_at };
    for one in found {
        match one {
            Ok(row) => batch.rows.push(row),
            Err(error) => batch.unreadable.push(error),
        }
    }
    Ok(batch)
}

fn read_next(found: Vec<Option<i64>>) -> Result<Option<Timestamp>, Error> {
    found.into_iter().flatten().next().map(from_micros).transpose()
}

fn read_due(row: &Row<'_>) -> Result<DueRow, Error> {
    let (run, schedule) = (RunKey(column(row, 0)?), ScheduleKey(column(row, 1)?));
    let (scheduled_for, fire_at) = (tick(row, 2)?, instant(row, 3)?);
    Ok(DueRow {
        due: Due {
            run,
            schedule,
            org: OrgKey(column(row, 10)?),
            origin: column::<String>(row, 11)?.parse().map_err(|error| Error::corrupt(format!("{error}")))?,
            scheduled_for,
            fire_at,
            verdict: reason(row, 8)?,
            waiting: None,
            attempt: 1,
            upstream: Vec::new(),
            is_forced: false,
        },
        active_run: column::<Option<i64>>(row, 4)?.map(RunKey),
        launch: Launchable {
            run,
            schedule,
            schedule_id: schedule_id(&column::<String>(row, 5)?)?,
            schedule_name: column(row, 6)?,
            scheduled_for,
            fire_at,
            attempt: 1,
            action: target(&column::<String>(row, 7)?)?,
        },
    })
}

/// Carries out verdicts. A start whose claim is taken by another run in the meantime stays armed.
pub(super) fn admit(
    db: &Connection,
    fence: Fence,
    now: Timestamp,
    admissions: &[Admission],
) -> Result<Vec<Commit>, Error> {
    let at = At { db, fence, now };
    admissions.iter().map(|one| at.carry_out(one)).collect()
}

struct At<'a> {
    db: &'a Connection,
    fence: Fence,
    now: Timestamp,
}

impl At<'_> {
    fn carry_out(&self, one: &Admission) -> Result<Commit, Error> {
        match &one.verdict {
            Verdict::Start => self.start(one),
            Verdict::Later(at) => self.refire(one.run, *at),
            // No stored policy makes a run wait yet; one that did would stay armed and be asked again.
            Verdict::Wait(_) => Ok(Commit::Stale),
            Verdict::Skip(reason) => self.end(one, RunStatus::Skipped, reason),
            Verdict::Miss(reason) => self.end(one, RunStatus::Missed, reason),
            Verdict::Fail(reason) => self.end(one, RunStatus::Failed, reason),
        }
    }

    fn start(&self, one: &Admission) -> Result<Commit, Error> {
        let claimed = change(self.db, sql!("claim_schedule"), params![one.schedule.0, one.run.0])?;
        if claimed == 0 {
            return Ok(Commit::Stale);
        }
        let row = params![one.run.0, self.fence.0, self.now.as_microsecond()];
        if change(self.db, sql!("admit_run"), row)? == 1 {
            return Ok(Commit::Done);
        }
        // The row was retired meanwhile: the claim goes back.
        change(self.db, sql!("release_schedule"), params![one.schedule.0, one.run.0])?;
        Ok(Commit::Stale)
    }

    fn refire(&self, run: RunKey, at: Timestamp) -> Result<Commit, Error> {
        let moved = change(self.db, sql!("refire_run"), params![run.0, at.as_microsecond()])?;
        Ok(if moved == 1 { Commit::Done } else { Commit::Stale })
    }

    fn end(&self, one: &Admission, status: RunStatus, reason: &Reason) -> Result<Commit, Error> {
        let commit = close(self.db, &End { run: one.run, status, reason, at: self.now })?;
        if commit == Commit::Done {
            let kind = format!("schedule.{status}");
            let detail = format!("{}: {reason}", one.run);
            let event = Event { org: DEFAULT_ORG, schedule: one.schedule, kind: &kind, detail, at: self.now };
            audit::record(self.db, &event)?;
        }
        Ok(commit)
    }
}
