//! A node takes over: it gets the next fence and everything that was left in flight.

use punctual_plan::{Fence, RunKey, ScheduleKey};
use rusqlite::{Connection, Row, params};

use super::decode::{change, column, instant, rows, schedule_id, target, tick};
use super::sql;
use crate::{Error, Launchable, Node};

/// Raises the fence, so that nobody who served before can change a run any more.
pub(super) fn take_over(db: &Connection, node: &Node) -> Result<(Fence, Vec<Launchable>), Error> {
    let fence: i64 = db
        .prepare_cached(sql!("raise_fence"))
        .and_then(|mut statement| statement.query_row([], |row| row.get(0)))
        .map_err(Error::doing("taking over"))?;
    let row = params![fence, node.id, node.pid, node.started_at.as_microsecond()];
    change(db, sql!("insert_node"), row)?;
    change(db, sql!("take_over"), [fence])?;
    Ok((Fence(fence), rows(db, sql!("in_flight"), [fence], read_launchable)?))
}

fn read_launchable(row: &Row<'_>) -> Result<Launchable, Error> {
    Ok(Launchable {
        run: RunKey(column(row, 0)?),
        schedule: ScheduleKey(column(row, 1)?),
        scheduled_for: tick(row, 2)?,
        fire_at: instant(row, 3)?,
        attempt: column(row, 4)?,
        schedule_id: schedule_id(&column::<String>(row, 5)?)?,
        schedule_name: column(row, 6)?,
        action: target(&column::<String>(row, 7)?)?,
    })
}
