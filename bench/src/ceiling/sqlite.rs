//! The ceiling of SQLite: one connection, prepared statements, one durable transaction per batch.

use std::path::Path;

use jiff::{SignedDuration, Timestamp};
use rusqlite::{Connection, params};

use crate::Failure;
use crate::file::{self, Checkpointer};
use crate::herd::{BATCH, Head, Herd, Planned, Row, SECOND_US};
use crate::report::{Rate, Stopwatch};
use crate::workload::Workload;

/// The statement in `sql/sqlite/NAME.sql`.
macro_rules! sql {
    ($name:literal) => {
        include_str!(concat!("../../sql/sqlite/", $name, ".sql"))
    };
}

/// How long a run may stay unanswered, as in ours.
const PATIENCE: SignedDuration = SignedDuration::from_secs(3_630);

/// Runs the workload on a file that holds its schedules.
pub(crate) fn run(path: &Path, workload: Workload) -> Result<Rate, Failure> {
    let checkpointer = Checkpointer::start(path)?;
    let connection = file::open(path)?;
    let mut ceiling =
        Ceiling { herd: load(&connection, workload.period_s)?, connection, in_flight: Vec::new() };
    for now in workload.warm_up() {
        ceiling.step(now)?;
    }
    let start = Stopwatch::start();
    let mut runs = 0;
    for now in workload.measured() {
        runs += ceiling.step(now)?;
    }
    drop(checkpointer);
    file::checkpoint(path)?;
    Ok(start.stop(runs))
}

fn load(connection: &Connection, period_s: i64) -> Result<Herd, Failure> {
    let mut statement = connection.prepare(sql!("heads"))?;
    let head = |row: &rusqlite::Row<'_>| {
        Ok(Head {
            schedule: row.get(0)?,
            org: row.get(1)?,
            shard: row.get(2)?,
            planned_through: row.get(3)?,
            next_tick: row.get(4)?,
        })
    };
    let heads = statement.query_map([], head)?.collect::<Result<_, _>>()?;
    let mut statement = connection.prepare(sql!("armed"))?;
    let row =
        |row: &rusqlite::Row<'_>| Ok(Row { run: row.get(0)?, schedule: row.get(1)?, tick: row.get(2)? });
    let armed = statement.query_map([], row)?.collect::<Result<_, _>>()?;
    Ok(Herd::new(period_s, heads, armed))
}

struct Ceiling {
    connection: Connection,
    herd: Herd,
    in_flight: Vec<Row>,
}

impl Ceiling {
    fn step(&mut self, now: Timestamp) -> Result<u64, Failure> {
        for plans in self.herd.plans(now).chunks(BATCH) {
            for row in in_transaction(&self.connection, |connection| plan(connection, plans))? {
                self.herd.arm(row);
            }
        }
        let ended = std::mem::take(&mut self.in_flight);
        for rows in ended.chunks(BATCH) {
            in_transaction(&self.connection, |connection| settle(connection, rows, now.as_microsecond()))?;
        }
        let due = self.herd.due(now);
        for rows in due.chunks(BATCH) {
            in_transaction(&self.connection, |connection| admit(connection, rows, now))?;
        }
        self.in_flight = due;
        Ok(ended.len() as u64)
    }
}

fn in_transaction<T>(
    connection: &Connection,
    work: impl FnOnce(&Connection) -> Result<T, Failure>,
) -> Result<T, Failure> {
    connection.execute_batch("BEGIN IMMEDIATE")?;
    let result = work(connection)?;
    connection.execute_batch("COMMIT")?;
    Ok(result)
}

/// A figure counts only if every row of it was written.
fn written(changed: usize) -> Result<(), Failure> {
    if changed == 1 { Ok(()) } else { Err("the ceiling did not write a row".into()) }
}

fn plan(connection: &Connection, plans: &[Planned]) -> Result<Vec<Row>, Failure> {
    let mut insert = connection.prepare_cached(sql!("plan_run"))?;
    let mut rows = Vec::with_capacity(plans.len());
    for Planned { head, .. } in plans {
        let tick = head.next_tick;
        written(insert.execute(params![tick, head.org, head.schedule, head.shard, tick * SECOND_US])?)?;
        rows.push(Row { run: connection.last_insert_rowid(), schedule: head.schedule, tick });
    }
    let mut update = connection.prepare_cached(sql!("plan_state"))?;
    for one in plans {
        let row = params![
            one.head.schedule,
            one.head.planned_through,
            one.planned_through,
            one.decided_through,
            one.next_tick,
            one.plan_at
        ];
        written(update.execute(row)?)?;
    }
    Ok(rows)
}

fn admit(connection: &Connection, rows: &[Row], now: Timestamp) -> Result<(), Failure> {
    let (at, deadline) = (now.as_microsecond(), (now + PATIENCE).as_microsecond());
    let mut update = connection.prepare_cached(sql!("admit_run"))?;
    for row in rows {
        written(update.execute(params![row.run, at, deadline])?)?;
    }
    let mut update = connection.prepare_cached(sql!("admit_state"))?;
    for row in rows {
        written(update.execute(params![row.schedule, row.run, at, row.tick * SECOND_US])?)?;
    }
    Ok(())
}

fn settle(connection: &Connection, rows: &[Row], at: i64) -> Result<(), Failure> {
    let mut update = connection.prepare_cached(sql!("settle_run"))?;
    for row in rows {
        written(update.execute(params![row.run, at])?)?;
    }
    let mut update = connection.prepare_cached(sql!("settle_state"))?;
    for row in rows {
        written(update.execute(params![row.schedule, row.run, at])?)?;
    }
    Ok(())
}
