//! The ceiling of PostgreSQL: a few connections, each with schedules of its own, one statement per step and batch.

use std::collections::HashMap;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use tokio::sync::Barrier;
use tokio_postgres::{Client, Statement};

use crate::Failure;
use crate::herd::{Head, Herd, Planned, Row};
use crate::report::{Rate, Stopwatch};
use crate::server::{self, Database};
use crate::workload::Workload;

/// The statement in `sql/postgres/NAME.sql`.
macro_rules! sql {
    ($name:literal) => {
        include_str!(concat!("../../sql/postgres/", $name, ".sql"))
    };
}

/// Rows of one statement: nothing is gained beyond it, and two connections in turn keep both sides at work.
const BATCH: usize = 1_000;

/// Connections, each with its own schedules: the best of the storage study.
const CONNECTIONS: usize = 4;

/// How long a run may stay unanswered, as in ours.
const PATIENCE: SignedDuration = SignedDuration::from_secs(3_630);

/// Runs the workload on a database that holds its schedules.
pub(crate) async fn run(database: &Database, workload: Workload) -> Result<Rate, Failure> {
    let read = database.connect().await?;
    let parts = load(&read).await?;
    server::settle_down(&read).await?;
    let barrier = Arc::new(Barrier::new(CONNECTIONS + 1));
    let mut tasks = Vec::new();
    for (heads, armed) in parts {
        let herd = Herd::new(workload.period_s, heads, armed);
        let worker = Worker::new(database.connect().await?, herd).await?;
        tasks.push(tokio::spawn(worker.run(workload, Arc::clone(&barrier))));
    }
    barrier.wait().await;
    let start = Stopwatch::start();
    let mut runs = 0;
    for task in tasks {
        runs += task.await??;
    }
    Ok(start.stop(runs))
}

/// The schedules and the rows of their first windows, one part for each connection.
async fn load(client: &Client) -> Result<Vec<(Vec<Head>, Vec<Row>)>, Failure> {
    let mut parts = vec![(Vec::new(), Vec::new()); CONNECTIONS];
    let mut part_of = HashMap::new();
    for row in client.query(sql!("heads"), &[]).await? {
        let head = Head {
            schedule: row.get(0),
            org: row.get(1),
            shard: row.get(2),
            planned_through: row.get(3),
            next_tick: row.get(4),
        };
        let part = usize::try_from(head.shard)? % CONNECTIONS;
        part_of.insert(head.schedule, part);
        parts[part].0.push(head);
    }
    for row in client.query(sql!("armed"), &[]).await? {
        let row = Row { run: row.get(0), schedule: row.get(1), tick: row.get(2) };
        let part = part_of.get(&row.schedule).ok_or("a row without its schedule")?;
        parts[*part].1.push(row);
    }
    Ok(parts)
}

struct Worker {
    client: Client,
    plan: Statement,
    admit: Statement,
    settle: Statement,
    herd: Herd,
    in_flight: Vec<Row>,
}

impl Worker {
    async fn new(client: Client, herd: Herd) -> Result<Self, Failure> {
        let plan = client.prepare(sql!("plan")).await?;
        let admit = client.prepare(sql!("admit")).await?;
        let settle = client.prepare(sql!("settle")).await?;
        Ok(Self { client, plan, admit, settle, herd, in_flight: Vec::new() })
    }

    async fn run(mut self, workload: Workload, barrier: Arc<Barrier>) -> Result<u64, Failure> {
        let mut warm = Ok(0);
        for now in workload.warm_up() {
            warm = self.step(now).await;
            if warm.is_err() {
                break;
            }
        }
        barrier.wait().await;
        warm?;
        let mut runs = 0;
        for now in workload.measured() {
            runs += self.step(now).await?;
        }
        Ok(runs)
    }

    async fn step(&mut self, now: Timestamp) -> Result<u64, Failure> {
        for plans in self.herd.plans(now).chunks(BATCH) {
            self.plan(plans).await?;
        }
        let ended = std::mem::take(&mut self.in_flight);
        for rows in ended.chunks(BATCH) {
            let (runs, schedules) = (column(rows, |row| row.run), column(rows, |row| row.schedule));
            let done = self.client.execute(&self.settle, &[&runs, &schedules, &now.as_microsecond()]).await?;
            written(done, rows.len())?;
        }
        let due = self.herd.due(now);
        let deadline = (now + PATIENCE).as_microsecond();
        for rows in due.chunks(BATCH) {
            let (runs, schedules) = (column(rows, |row| row.run), column(rows, |row| row.schedule));
            let ticks = column(rows, |row| row.tick);
            let done = self
                .client
                .execute(&self.admit, &[&runs, &schedules, &ticks, &now.as_microsecond(), &deadline])
                .await?;
            written(done, rows.len())?;
        }
        self.in_flight = due;
        Ok(ended.len() as u64)
    }

    async fn plan(&mut self, plans: &[Planned]) -> Result<(), Failure> {
        let Some(first) = plans.first() else { return Ok(()) };
        let schedules = column(plans, |one| one.head.schedule);
        let orgs = column(plans, |one| one.head.org);
        let shards = column(plans, |one| one.head.shard);
        let was = column(plans, |one| one.head.planned_through);
        let ticks = column(plans, |one| one.head.next_tick);
        let next = column(plans, |one| one.next_tick);
        let (planned, decided) = (first.planned_through, first.decided_through);
        let rows = self
            .client
            .query(&self.plan, &[&schedules, &orgs, &shards, &was, &ticks, &next, &planned, &decided])
            .await?;
        written(rows.len() as u64, plans.len())?;
        for row in rows {
            self.herd.arm(Row { run: row.get(0), schedule: row.get(1), tick: row.get(2) });
        }
        Ok(())
    }
}

fn column<T>(rows: &[T], value: impl Fn(&T) -> i64) -> Vec<i64> {
    rows.iter().map(value).collect()
}

/// A figure counts only if every row of it was written.
fn written(done: u64, wanted: usize) -> Result<(), Failure> {
    if done == wanted as u64 { Ok(()) } else { Err(format!("{done} of {wanted} rows were written").into()) }
}
