//! A ledger copied from SQLite into PostgreSQL and from there into SQLite again, each read back row by row.

use std::sync::Arc;
use std::time::Instant;

use punctual_store::{Access, Postgres, PostgresSettings, Sqlite, Store, copy_into, first_difference};
use serde_json::json;

use crate::Failure;
use crate::options::Options;
use crate::ours::{self, Ours};
use crate::report::Sheet;
use crate::server::Server;
use crate::workload::Workload;

/// Schedules of the ledger that is copied.
const SCHEDULES: u32 = 100_000;

/// Callers that fill the database beforehand.
const CALLERS: usize = 4;

/// What one copy came to.
struct Copied {
    rows: u64,
    copy_s: f64,
    verify_s: f64,
}

/// There and back again; the last is compared with the first as well.
pub(crate) async fn measure(options: &Options) -> Result<Sheet, Failure> {
    let head = &["way", "rows", "copy s", "rows/s", "verify s", "rows differing"];
    let mut sheet = Sheet::new("copy", head);
    let folder = tempfile::tempdir()?;
    let first = Arc::new(Sqlite::open(&folder.path().join("first.db"), Access::Serve)?);
    let workload = Workload::new(SCHEDULES, i64::from(options.ledger));
    ours::create(&first, workload, CALLERS).await?;
    Ours::join(Arc::clone(&first), 1).await?.run(workload).await?;
    let server = Server::find().await?;
    let database = server.create("copied").await?;
    let second = Postgres::open(PostgresSettings::new(&database.url)).await?;
    add(&mut sheet, "sqlite to postgres", &copy(first.as_ref(), &second).await?);
    let third = Sqlite::open(&folder.path().join("third.db"), Access::Serve)?;
    add(&mut sheet, "postgres to sqlite", &copy(&second, &third).await?);
    same(first.as_ref(), &third).await?;
    drop(second);
    server.remove("copied").await?;
    Ok(sheet)
}

fn add(sheet: &mut Sheet, way: &str, copied: &Copied) {
    let Copied { rows, copy_s, verify_s } = copied;
    let per_second = *rows as f64 / copy_s;
    let line = vec![
        way.to_owned(),
        rows.to_string(),
        format!("{copy_s:.1}"),
        format!("{per_second:.0}"),
        format!("{verify_s:.1}"),
        "0".to_owned(),
    ];
    let json = json!({
        "way": way,
        "rows": rows,
        "copy_s": copy_s,
        "rows_per_s": per_second,
        "verify_s": verify_s,
        "rows_differing": 0,
    });
    sheet.add(line, json);
    sheet.show_last();
}

async fn copy(from: &impl Store, to: &impl Store) -> Result<Copied, Failure> {
    let start = Instant::now();
    let mut rows = 0;
    copy_into(from, to, |more| rows += more as u64).await?;
    let copy_s = start.elapsed().as_secs_f64();
    let start = Instant::now();
    same(from, to).await?;
    Ok(Copied { rows, copy_s, verify_s: start.elapsed().as_secs_f64() })
}

/// A copy that differs gives no figure.
async fn same(one: &impl Store, other: &impl Store) -> Result<(), Failure> {
    match first_difference(one, other).await? {
        None => Ok(()),
        Some(table) => Err(format!("the table `{}` does not read back as it was", table.name()).into()),
    }
}
