//! Schedules made in bulk, by one caller and by several at once, and one by one by many: how many a second are on disk?

use std::sync::Arc;

use punctual_store::{Access, BATCH_MAX, Postgres, PostgresSettings, Sqlite};
use serde_json::json;

use crate::Failure;
use crate::ceiling::making;
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

/// Schedules made per second, and the same rows by hand right after it.
#[derive(Clone, Copy)]
struct Rate {
    ours: f64,
    raw: f64,
}

/// Every database and size that was asked for.
pub(crate) async fn measure(options: &Options) -> Result<Sheet, Failure> {
    let head = &["database", "schedules", "callers", "a call", "made/s", "limit", "by hand/s", "ratio"];
    let mut sheet = Sheet::new("register", head);
    for kind in &options.databases {
        for size in &options.sizes {
            for way in WAYS {
                let size = way.most.min(*size);
                let mut rates = Vec::new();
                for _ in 0..options.repeats {
                    rates.push(once(*kind, Workload::new(size, 1), way.calls).await?);
                }
                let of = |rate: fn(&Rate) -> f64| rates.iter().map(rate).collect::<Vec<f64>>();
                let (made, raw) = (of(|rate| rate.ours), of(|rate| rate.raw));
                let ratio = median(&of(|rate| rate.ours / rate.raw)).unwrap_or(f64::NAN);
                let line = vec![
                    kind.name().to_owned(),
                    size.to_string(),
                    way.calls.callers.to_string(),
                    way.calls.rows.to_string(),
                    middle(&made),
                    format!("≥ {}", way.per_second_min),
                    middle(&raw),
                    format!("{ratio:.2}"),
                ];
                let json = json!({
                    "database": kind.name(), "schedules": size, "callers": way.calls.callers,
                    "rows_per_call": way.calls.rows, "made_per_s": both(&made), "limit_min": way.per_second_min,
                    "by_hand_per_s": both(&raw), "ratio": ratio,
                });
                sheet.add(line, json);
                sheet.show_last();
            }
        }
    }
    Ok(sheet)
}

/// Makes them in a new database, and then the same rows by hand in another.
async fn once(kind: Kind, workload: Workload, calls: Calls) -> Result<Rate, Failure> {
    let (spent, raw) = match kind {
        Kind::Sqlite => {
            let folder = tempfile::tempdir()?;
            let (made, again) = (folder.path().join("register.db"), folder.path().join("again.db"));
            let store = Arc::new(Sqlite::open(&made, Access::Serve)?);
            let spent = ours::create_by(&store, workload, calls).await?;
            drop(store);
            (spent, making::sqlite(&made, &again, calls.rows)?)
        }
        Kind::Postgres => {
            let server = Server::find().await?;
            let database = server.create("register").await?;
            let store = Arc::new(Postgres::open(PostgresSettings::new(&database.url)).await?);
            let spent = ours::create_by(&store, workload, calls).await?;
            drop(store);
            let raw = making::postgres(&mut database.connect().await?, calls.rows).await?;
            server.remove("register").await?;
            (spent, raw)
        }
    };
    Ok(Rate { ours: f64::from(workload.schedules) / spent.as_secs_f64(), raw })
}
