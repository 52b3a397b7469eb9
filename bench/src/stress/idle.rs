//! Idle: very many schedules that are far from due. What do they cost while nothing happens, beside a server that has none?

use std::path::Path;
use std::time::{Duration, Instant};

use punctual_store::{Access, Postgres, PostgresSettings, Sqlite};
use serde_json::json;

use super::Kind;
use super::program::{Home, Serving};
use crate::Failure;
use crate::engine::{cron, fill, seal};
use crate::report::Sheet;
use crate::server::Server;

/// A tick that is far away whenever this runs: the last second of a leap day.
const FAR: &str = "59 59 23 29 2 *";

/// How long it rests before it is looked at: caches fill, and the first second is not an idle one.
const REST: Duration = Duration::from_secs(5);

/// How long it is watched.
const WATCHED: Duration = Duration::from_secs(30);

const MIB: f64 = (1 << 20) as f64;

pub(super) const HEAD: &[&str] = &[
    "database",
    "schedules",
    "ready s",
    "limit",
    "to none",
    "memory MiB",
    "limit",
    "to none",
    "CPU %",
    "limit",
];

/// What a server comes to while nothing happens.
#[derive(Clone, Copy)]
struct Watched {
    kind: Kind,
    schedules: u32,
    ready_s: f64,
    memory_mib: f64,
    cpu: f64,
}

/// Serves no schedule and then so many, and watches the server.
pub(super) async fn measure(
    program: &Path,
    kind: Kind,
    schedules: u32,
    sheet: &mut Sheet,
) -> Result<(), Failure> {
    let none = serve(program, kind, 0).await?;
    tell(none, none, sheet);
    let some = serve(program, kind, schedules).await?;
    tell(some, none, sheet);
    Ok(())
}

async fn serve(program: &Path, kind: Kind, schedules: u32) -> Result<Watched, Failure> {
    let watch = |home: &Home| watch(home, kind, schedules);
    match kind {
        Kind::Sqlite => {
            let home = Home::sqlite(program)?;
            let store = Sqlite::open(&home.file(), Access::Serve)?;
            fill(&store, schedules, |_| cron(FAR)).await?;
            seal(&store).await?;
            drop(store);
            watch(&home)
        }
        Kind::Postgres => {
            let server = Server::find().await?;
            let database = server.create("idle").await?;
            let store = Postgres::open(PostgresSettings::new(&database.url)).await?;
            fill(&store, schedules, |_| cron(FAR)).await?;
            seal(&store).await?;
            drop(store);
            database.connect().await?.batch_execute("VACUUM ANALYZE").await?;
            let watched = watch(&Home::postgres(program, &database.url)?)?;
            server.remove("idle").await?;
            Ok(watched)
        }
    }
}

fn watch(home: &Home, kind: Kind, schedules: u32) -> Result<Watched, Failure> {
    let serving = home.serve(&[])?;
    std::thread::sleep(REST);
    let (cpu, memory_mib) = (share(&serving), serving.memory() as f64 / MIB);
    let watched = Watched { kind, schedules, ready_s: serving.ready_s, memory_mib, cpu };
    serving.stop()?;
    Ok(watched)
}

/// Shows what a server came to beside one without schedules.
fn tell(watched: Watched, none: Watched, sheet: &mut Sheet) {
    let Watched { kind, schedules, ready_s, memory_mib, cpu } = watched;
    let (ready_ratio, memory_ratio) = (ready_s / none.ready_s, memory_mib / none.memory_mib);
    let line = vec![
        kind.name().to_owned(),
        schedules.to_string(),
        format!("{ready_s:.2}"),
        "≤ 0.8".to_owned(),
        format!("{ready_ratio:.2}"),
        format!("{memory_mib:.0}"),
        "≤ 143".to_owned(),
        format!("{memory_ratio:.2}"),
        format!("{:.2}", cpu * 100.0),
        "≤ 1".to_owned(),
    ];
    let json = json!({
        "database": kind.name(), "schedules": schedules, "ready_s": ready_s, "ready_s_limit": 0.8,
        "ready_to_none": ready_ratio, "memory_mib": memory_mib, "memory_mb_limit": 150,
        "memory_to_none": memory_ratio, "cpu_percent": cpu * 100.0, "cpu_percent_limit": 1,
    });
    sheet.add(line, json);
    sheet.show_last();
}

/// How much of one core the server computes.
fn share(serving: &Serving) -> f64 {
    let (begun, before) = (Instant::now(), serving.computed_s());
    std::thread::sleep(WATCHED);
    (serving.computed_s() - before) / begun.elapsed().as_secs_f64()
}
