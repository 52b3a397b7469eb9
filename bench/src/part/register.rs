//! Schedules made in bulk: how many a second are on disk, by one caller and by several at once.

use std::sync::Arc;

use punctual_store::{Access, Postgres, PostgresSettings, Sqlite};
use serde_json::json;

use crate::Failure;
use crate::options::{Kind, Options};
use crate::ours;
use crate::report::{Sheet, both, middle};
use crate::server::Server;
use crate::workload::Workload;

/// What the store must reach.
const PER_SECOND_MIN: u32 = 50_000;

/// How many calls are under way at once.
const CALLERS: &[usize] = &[1, 4];

/// Every database and size that was asked for.
pub(crate) async fn measure(options: &Options) -> Result<Sheet, Failure> {
    let mut sheet = Sheet::new("register", &["database", "schedules", "callers", "made/s", "limit"]);
    for kind in &options.databases {
        for size in &options.sizes {
            for callers in CALLERS {
                let mut rates = Vec::new();
                for _ in 0..options.repeats {
                    rates.push(once(*kind, Workload::new(*size, 1), *callers).await?);
                }
                let line = vec![
                    kind.name().to_owned(),
                    size.to_string(),
                    callers.to_string(),
                    middle(&rates),
                    format!("≥ {PER_SECOND_MIN}"),
                ];
                let json = json!({
                    "database": kind.name(),
                    "schedules": size,
                    "callers": callers,
                    "made_per_s": both(&rates),
                    "limit_min": PER_SECOND_MIN,
                });
                sheet.add(line, json);
                sheet.show_last();
            }
        }
    }
    Ok(sheet)
}

/// Schedules made per second in a new database.
async fn once(kind: Kind, workload: Workload, callers: usize) -> Result<f64, Failure> {
    let spent = match kind {
        Kind::Sqlite => {
            let folder = tempfile::tempdir()?;
            let store = Arc::new(Sqlite::open(&folder.path().join("register.db"), Access::Serve)?);
            ours::create(&store, workload, callers).await?
        }
        Kind::Postgres => {
            let server = Server::find().await?;
            let database = server.create("register").await?;
            let store = Arc::new(Postgres::open(PostgresSettings::new(&database.url)).await?);
            let spent = ours::create(&store, workload, callers).await?;
            drop(store);
            server.remove("register").await?;
            spent
        }
    };
    Ok(f64::from(workload.schedules) / spent.as_secs_f64())
}
