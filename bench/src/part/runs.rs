//! Runs per second, planned, admitted and settled, beside the raw ceiling of the same rows.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use punctual_store::{Access, Postgres, PostgresSettings, Sqlite, Store};

use crate::options::{Kind, Options};
use crate::ours::{self, Done, Ours, POSTGRES_LANES};
use crate::report::{Figures, Sheet};
use crate::server::{self, Server};
use crate::workload::Workload;
use crate::{Failure, ceiling, file, shape};

/// Every database and size that was asked for.
pub(crate) async fn measure(options: &Options) -> Result<Sheet, Failure> {
    let mut sheet = Sheet::new("runs", Figures::HEAD);
    for kind in &options.databases {
        for size in &options.sizes {
            let figures = one(*kind, Workload::new(*size, i64::from(options.runs)), options).await?;
            sheet.add(figures.cells(), figures.json());
            sheet.show_last();
        }
    }
    Ok(sheet)
}

/// One database and size, ceiling and ours by turns.
async fn one(kind: Kind, workload: Workload, options: &Options) -> Result<Figures, Failure> {
    match kind {
        Kind::Sqlite => measure_sqlite(workload, options).await,
        Kind::Postgres => measure_postgres(workload, options).await,
    }
}

async fn measure_sqlite(workload: Workload, options: &Options) -> Result<Figures, Failure> {
    let mut figures = Figures { database: "sqlite", schedules: workload.schedules, ..Figures::default() };
    let folder = tempfile::tempdir()?;
    let (prepared, copy) = (folder.path().join("prepared.db"), folder.path().join("copy.db"));
    let store = Arc::new(Sqlite::open(&prepared, Access::Serve)?);
    let spent = ours::create(&store, workload, 1).await?;
    figures.creates.push(f64::from(workload.schedules) / spent.as_secs_f64());
    drop(store);
    file::checkpoint(&prepared)?;
    for repeat in 0..options.repeats {
        let shape = folder.path().join(format!("shape-{repeat}.db"));
        let rate = shape::sqlite::run(&shape, workload.schedules, u64::from(options.runs))?;
        std::fs::remove_file(shape)?;
        figures.shape.push(rate.per_second());
        fresh(&prepared, &copy)?;
        let rate = ceiling::sqlite::run(&copy, workload)?;
        figures.ceiling.push(rate.per_second());
        figures.ceiling_cpu_us.push(rate.computed_us());
        fresh(&prepared, &copy)?;
        let opened = Instant::now();
        let ours = Ours::join(Arc::new(Sqlite::open(&copy, Access::Serve)?), 1).await?;
        let done = measure_ours(&ours, workload, opened, &mut figures).await?;
        drop(ours);
        file::checkpoint(&copy)?;
        keep(&mut figures, &done);
    }
    Ok(figures)
}

async fn measure_postgres(workload: Workload, options: &Options) -> Result<Figures, Failure> {
    let mut figures = Figures { database: "postgres", schedules: workload.schedules, ..Figures::default() };
    let server = Server::find().await?;
    let prepared = server.create("prepared").await?;
    let store = Arc::new(Postgres::open(PostgresSettings::new(&prepared.url)).await?);
    let spent = ours::create(&store, workload, 1).await?;
    figures.creates.push(f64::from(workload.schedules) / spent.as_secs_f64());
    drop(store);
    prepared.connect().await?.batch_execute("VACUUM ANALYZE").await?;
    for _ in 0..options.repeats {
        let shape = server.create("shape").await?;
        let rate = shape::postgres::run(&shape, workload.schedules, u64::from(options.runs)).await?;
        figures.shape.push(rate.per_second());
        server.remove("shape").await?;
        let copy = server.copy("prepared", "copy").await?;
        figures.ceiling.push(ceiling::postgres::run(&copy, workload).await?.per_second());
        let copy = server.copy("prepared", "copy").await?;
        server::settle_down(&copy.connect().await?).await?;
        let opened = Instant::now();
        let store = Arc::new(Postgres::open(PostgresSettings::new(&copy.url)).await?);
        let ours = Ours::join(store, POSTGRES_LANES).await?;
        let done = measure_ours(&ours, workload, opened, &mut figures).await?;
        keep(&mut figures, &done);
        drop(ours);
        server.remove("copy").await?;
    }
    Ok(figures)
}

/// A store that was just opened: its first batch, then the workload.
async fn measure_ours<S: Store>(
    ours: &Ours<S>,
    workload: Workload,
    opened: Instant,
    figures: &mut Figures,
) -> Result<Done, Failure> {
    ours.first_plannable(workload).await?;
    figures.first_ms.push(opened.elapsed().as_secs_f64() * 1e3);
    ours.run(workload).await
}

/// Notes what ours came to, with what was still to be done after its last step.
fn keep(figures: &mut Figures, done: &Done) {
    let rate = done.watch.stop(done.runs);
    figures.ours.push(rate.per_second());
    figures.ours_cpu_us.push(rate.computed_us());
    let per_run = |seconds: &f64| seconds * 1e6 / done.runs as f64;
    figures.parts_us = done.parts.iter().map(|(part, seconds)| (*part, per_run(seconds))).collect();
}

/// A fresh copy of a database that nobody has open, all of it on disk.
fn fresh(from: &Path, to: &Path) -> Result<(), Failure> {
    for suffix in ["-wal", "-shm", ".lock"] {
        // Usually there is none.
        let _ = std::fs::remove_file(format!("{}{suffix}", to.display()));
    }
    std::fs::copy(from, to)?;
    Ok(std::fs::File::open(to)?.sync_all()?)
}
