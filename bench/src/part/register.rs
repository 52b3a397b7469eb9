//! Schedules made in bulk, by one caller and by several at once, and one by one by many: how many a second are on disk?

use std::sync::Arc;

use punctual_store::{Access, BATCH_MAX, Postgres, PostgresSettings, Sqlite};
use serde_json::json;

use crate::Failure;
use crate::options::{Kind, Options};
use crate::ours::{self, Calls};
use crate::report::{Sheet, both, median, middle};
use crate::server::Server;
use crate::workload::Workload;

/// How they are made, and what is wanted of it.
struct Way {
    calls: Calls,
    per_second_min: u32,
    /// Schedules at most: one by one they take as long as many at once.
    most: u32,
}

const WAYS: &[Way] = &[
    Way { calls: Calls { callers: 1, rows: BATCH_MAX }, per_second_min: 50_000, most: u32::MAX },
    Way { calls: Calls { callers: 4, rows: BATCH_MAX }, per_second_min: 50_000, most: u32::MAX },
    Way { calls: Calls { callers: 16, rows: 1 }, per_second_min: 3_000, most: 20_000 },
];

/// Every database and size that was asked for.
pub(crate) async fn measure(options: &Options) -> Result<Sheet, Failure> {
    let head = &["database", "schedules", "callers", "a call", "made/s", "limit", "ratio"];
    let mut sheet = Sheet::new("register", head);
    for kind in &options.databases {
        for size in &options.sizes {
            for way in WAYS {
                let size = way.most.min(*size);
                let mut rates = Vec::new();
                for _ in 0..options.repeats {
                    rates.push(once(*kind, Workload::new(size, 1), way.calls).await?);
                }
                let ratio = median(&rates).unwrap_or(f64::NAN) / f64::from(way.per_second_min);
                let line = vec![
                    kind.name().to_owned(),
                    size.to_string(),
                    way.calls.callers.to_string(),
                    way.calls.rows.to_string(),
                    middle(&rates),
                    format!("≥ {}", way.per_second_min),
                    format!("{ratio:.2}"),
                ];
                let json = json!({
                    "database": kind.name(), "schedules": size, "callers": way.calls.callers,
                    "rows_per_call": way.calls.rows, "made_per_s": both(&rates), "limit_min": way.per_second_min,
                    "ratio": ratio,
                });
                sheet.add(line, json);
                sheet.show_last();
            }
        }
    }
    Ok(sheet)
}

/// Schedules made per second in a new database.
async fn once(kind: Kind, workload: Workload, calls: Calls) -> Result<f64, Failure> {
    let spent = match kind {
        Kind::Sqlite => {
            let folder = tempfile::tempdir()?;
            let store = Arc::new(Sqlite::open(&folder.path().join("register.db"), Access::Serve)?);
            ours::create_by(&store, workload, calls).await?
        }
        Kind::Postgres => {
            let server = Server::find().await?;
            let database = server.create("register").await?;
            let store = Arc::new(Postgres::open(PostgresSettings::new(&database.url)).await?);
            let spent = ours::create_by(&store, workload, calls).await?;
            drop(store);
            server.remove("register").await?;
            spent
        }
    };
    Ok(f64::from(workload.schedules) / spent.as_secs_f64())
}
