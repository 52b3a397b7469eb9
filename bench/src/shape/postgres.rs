//! The study's shape on PostgreSQL: one statement per batch, a few connections with schedules of their own.

use tokio_postgres::Client;

use super::{Fires, payload};
use crate::Failure;
use crate::report::{Rate, Stopwatch};
use crate::server::{self, Database};

/// Fires in one statement.
const BATCH: usize = 1_000;

/// Connections, each with its own schedules.
const CONNECTIONS: i64 = 4;

/// The statement in `sql/postgres/NAME.sql`.
macro_rules! sql {
    ($name:literal) => {
        include_str!(concat!("../../sql/postgres/", $name, ".sql"))
    };
}

/// Fires so often on a new database.
pub(crate) async fn run(database: &Database, schedules: u32, fires_max: u64) -> Result<Rate, Failure> {
    let client = database.connect().await?;
    client.batch_execute(include_str!("../../sql/migrations/shape_postgres.sql")).await?;
    client.execute(sql!("shape_seed"), &[&i64::from(schedules)]).await?;
    client.batch_execute("VACUUM ANALYZE").await?;
    let heads: Vec<(i64, i64)> =
        client.query(sql!("shape_heads"), &[]).await?.iter().map(|row| (row.get(0), row.get(1))).collect();
    server::settle_down(&client).await?;
    let mut workers = Vec::new();
    for part in 0..CONNECTIONS {
        let own = heads.iter().copied().filter(|(id, _)| id % CONNECTIONS == part);
        workers.push((database.connect().await?, Fires::new(own)));
    }
    let start = Stopwatch::start();
    let share = fires_max / CONNECTIONS.unsigned_abs();
    let tasks: Vec<_> =
        workers.into_iter().map(|(client, fires)| tokio::spawn(fire(client, fires, share))).collect();
    let mut count = 0;
    for task in tasks {
        count += task.await??;
    }
    Ok(start.stop(count))
}

async fn fire(client: Client, mut fires: Fires, fires_max: u64) -> Result<u64, Failure> {
    let statement = client.prepare(sql!("shape_fire")).await?;
    let text = payload();
    let mut count = 0;
    while count < fires_max {
        let batch = fires.batch(BATCH);
        let keys: Vec<Vec<u8>> = batch.iter().map(|fire| fire.key().to_vec()).collect();
        let ids: Vec<i64> = batch.iter().map(|fire| fire.id).collect();
        let planned: Vec<i64> = batch.iter().map(|fire| fire.planned).collect();
        let next: Vec<i64> = batch.iter().map(|fire| fire.next).collect();
        let updated = client.execute(&statement, &[&keys, &ids, &planned, &next, &text]).await?;
        // A schedule that fires twice in one batch is moved once.
        count += batch.len() as u64;
        if updated == 0 {
            return Err("the study's shape wrote nothing".into());
        }
    }
    Ok(count)
}
