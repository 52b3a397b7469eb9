//! Late rows: armed ticks whose instant has passed while their schedules are planned.

use std::collections::{HashMap, HashSet};
use std::ops::RangeInclusive;

use jiff::Timestamp;
use punctual_plan::{LateRow, RunKey, ScheduleKey};
use rusqlite::{Row, params};

use super::connection::{Db, first};
use super::decode::{column, instant, reason, tick};
use super::sheet::{self, Folded};
use super::sql;
use crate::Error;

/// So many due rows are read as soon as one schedule is asked for: it goes through rows that have ended as well.
const ROWS_PER_SCHEDULE: usize = 2;

/// A late row, or why it cannot be read.
type Found = Result<LateRow, Error>;

/// What may be late of the schedules that want planning.
pub(super) enum Late {
    /// Anything: each schedule is asked for.
    Any,
    Known {
        rows: HashMap<ScheduleKey, Vec<Found>>,
        /// Runs whose start is on a sheet: their rows still say that they are armed.
        folded: HashMap<ScheduleKey, Vec<RunKey>>,
    },
}

impl Late {
    /// Nearly always little is late that is not on a sheet: one look at what is due tells it for all schedules.
    pub(super) fn look(db: &Db, now: Timestamp, schedules: usize) -> Result<Self, Error> {
        let starts = sheet::all(db)?;
        let runs: HashSet<RunKey> = starts.iter().map(Folded::run).collect();
        let max = schedules.saturating_mul(ROWS_PER_SCHEDULE);
        let more = i64::try_from(runs.len().saturating_add(max)).unwrap_or(i64::MAX).saturating_add(1);
        let mut due = db
            .rows(sql!("due_keys"), params![now.as_microsecond(), more], |row| Ok(RunKey(column(row, 0)?)))?;
        due.retain(|run| !runs.contains(run));
        if due.len() > max {
            return Ok(Self::Any);
        }
        let mut rows: HashMap<ScheduleKey, Vec<Found>> = HashMap::new();
        let mut row = db.prepare(sql!("late_row"))?;
        for run in due {
            let found = first(&mut row, params![run.0, now.as_microsecond()], with_schedule)?;
            found.into_iter().for_each(|(schedule, late)| rows.entry(schedule).or_default().push(late));
        }
        let mut folded: HashMap<ScheduleKey, Vec<RunKey>> = HashMap::new();
        starts.iter().for_each(|start| folded.entry(start.schedule()).or_default().push(start.run()));
        Ok(Self::Known { rows, folded })
    }

    /// The late rows of a schedule; armed rows are none that are from before the range.
    pub(super) fn rows(
        &mut self,
        db: &Db,
        schedule: ScheduleKey,
        range: RangeInclusive<Timestamp>,
    ) -> Result<Vec<LateRow>, Error> {
        let (from, now) = (range.start().as_second(), range.end().as_microsecond());
        let Self::Known { rows, folded } = self else {
            return db.rows(sql!("late_rows"), params![schedule.0, now, from], late_row);
        };
        let mut late: Vec<LateRow> =
            rows.remove(&schedule).unwrap_or_default().into_iter().collect::<Result<_, _>>()?;
        for run in folded.remove(&schedule).unwrap_or_default() {
            late.extend(db.first(sql!("late_row"), params![run.0, now], late_row)?);
        }
        late.retain(|row| row.scheduled_for.as_second() >= from);
        late.sort_by_key(|row| row.scheduled_for);
        Ok(late)
    }
}

fn with_schedule(row: &Row<'_>) -> Result<(ScheduleKey, Found), Error> {
    Ok((ScheduleKey(column(row, 5)?), late_row(row)))
}

fn late_row(row: &Row<'_>) -> Result<LateRow, Error> {
    Ok(LateRow {
        run: RunKey(column(row, 0)?),
        scheduled_for: tick(row, 1)?,
        fire_at: instant(row, 2)?,
        verdict: reason(row, 3)?,
    })
}
