//! From the opening of a database to its first batch of plannable schedules.

use std::sync::Arc;
use std::time::Instant;

use punctual_store::{Access, Postgres, PostgresSettings, Sqlite};
use serde_json::json;

use crate::options::{Kind, Options};
use crate::ours::{self, Ours, POSTGRES_LANES};
use crate::report::{Sheet, both, median};
use crate::server::Server;
use crate::workload::Workload;
use crate::{Failure, file};

/// The longest it may take, in seconds.
const SECONDS_MAX: f64 = 0.8;

/// Callers that fill the database beforehand.
const CALLERS: usize = 4;

/// Every database and size that was asked for.
pub(crate) async fn measure(options: &Options) -> Result<Sheet, Failure> {
    let mut sheet = Sheet::new("open", &["database", "schedules", "first batch s", "limit"]);
    for kind in &options.databases {
        for size in &options.sizes {
            let workload = Workload::new(*size, 1);
            let seconds = match kind {
                Kind::Sqlite => sqlite(workload, options.repeats).await?,
                Kind::Postgres => postgres(workload, options.repeats).await?,
            };
            let middle = median(&seconds).map_or("-".to_owned(), |value| format!("{value:.3}"));
            let line = vec![kind.name().to_owned(), size.to_string(), middle, format!("≤ {SECONDS_MAX}")];
            let json = json!({
                "database": kind.name(),
                "schedules": size,
                "first_batch_s": both(&seconds),
                "limit_max": SECONDS_MAX,
            });
            sheet.add(line, json);
            sheet.show_last();
        }
    }
    Ok(sheet)
}

async fn sqlite(workload: Workload, repeats: u32) -> Result<Vec<f64>, Failure> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("open.db");
    let store = Arc::new(Sqlite::open(&path, Access::Serve)?);
    ours::create(&store, workload, CALLERS).await?;
    drop(store);
    file::checkpoint(&path)?;
    let mut seconds = Vec::new();
    for _ in 0..repeats {
        let start = Instant::now();
        let ours = Ours::join(Arc::new(Sqlite::open(&path, Access::Serve)?), 1).await?;
        full(ours.first_plannable(workload).await?, workload)?;
        seconds.push(start.elapsed().as_secs_f64());
    }
    Ok(seconds)
}

async fn postgres(workload: Workload, repeats: u32) -> Result<Vec<f64>, Failure> {
    let server = Server::find().await?;
    let database = server.create("opened").await?;
    let store = Arc::new(Postgres::open(PostgresSettings::new(&database.url)).await?);
    ours::create(&store, workload, CALLERS).await?;
    drop(store);
    database.connect().await?.batch_execute("VACUUM ANALYZE").await?;
    let mut seconds = Vec::new();
    for _ in 0..repeats {
        let start = Instant::now();
        let store = Arc::new(Postgres::open(PostgresSettings::new(&database.url)).await?);
        let ours = Ours::join(store, POSTGRES_LANES).await?;
        full(ours.first_plannable(workload).await?, workload)?;
        seconds.push(start.elapsed().as_secs_f64());
    }
    server.remove("opened").await?;
    Ok(seconds)
}

/// A batch counts only if it is as large as it can be.
fn full(ready: usize, workload: Workload) -> Result<(), Failure> {
    let wanted = punctual_store::BATCH_MAX.min(workload.schedules as usize);
    if ready == wanted { Ok(()) } else { Err(format!("{ready} of {wanted} schedules were plannable").into()) }
}
