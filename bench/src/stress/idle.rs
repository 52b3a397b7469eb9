//! Idle: very many schedules that are far from due. What do they cost while nothing happens?

use std::path::Path;
use std::time::{Duration, Instant};

use punctual_store::{Access, BATCH_MAX, Postgres, PostgresSettings, Sqlite, Store};
use serde_json::json;

use super::Kind;
use super::program::{Home, Serving};
use crate::Failure;
use crate::engine::{cron, fill};
use crate::report::Sheet;
use crate::server::Server;

/// A tick that is far away whenever this runs: the last second of a leap day.
const FAR: &str = "59 59 23 29 2 *";

/// How long it rests before it is looked at: caches fill, and the first second is not an idle one.
const REST: Duration = Duration::from_secs(5);

/// How long it is watched.
const WATCHED: Duration = Duration::from_secs(30);

const MIB: f64 = (1 << 20) as f64;

pub(super) const HEAD: &[&str] =
    &["database", "schedules", "ready s", "limit", "memory MiB", "limit", "CPU %", "limit"];

/// Serves so many schedules and watches the server.
pub(super) async fn measure(
    program: &Path,
    kind: Kind,
    schedules: u32,
    sheet: &mut Sheet,
) -> Result<(), Failure> {
    match kind {
        Kind::Sqlite => {
            let home = Home::sqlite(program)?;
            let store = Sqlite::open(&home.file(), Access::Serve)?;
            fill(&store, schedules, |_| cron(FAR)).await?;
            seal(&store).await?;
            drop(store);
            watch(&home, schedules, sheet)
        }
        Kind::Postgres => {
            let server = Server::find().await?;
            let database = server.create("idle").await?;
            let store = Postgres::open(PostgresSettings::new(&database.url)).await?;
            fill(&store, schedules, |_| cron(FAR)).await?;
            seal(&store).await?;
            drop(store);
            database.connect().await?.batch_execute("VACUUM ANALYZE").await?;
            watch(&Home::postgres(program, &database.url)?, schedules, sheet)?;
            server.remove("idle").await
        }
    }
}

/// Seals the events of what was made: the server would, for minutes, and that is not what is looked at.
async fn seal<S: Store>(store: &S) -> Result<(), Failure> {
    while store.seal_audit(BATCH_MAX).await?.iter().any(|org| org.unsealed > 0) {}
    Ok(())
}

fn watch(home: &Home, schedules: u32, sheet: &mut Sheet) -> Result<(), Failure> {
    let serving = home.serve(&[])?;
    std::thread::sleep(REST);
    let (cpu, memory) = (share(&serving), serving.memory() as f64 / MIB);
    let line = vec![
        home.database().to_owned(),
        schedules.to_string(),
        format!("{:.2}", serving.ready_s),
        "≤ 0.8".to_owned(),
        format!("{memory:.0}"),
        "≤ 143".to_owned(),
        format!("{:.2}", cpu * 100.0),
        "≤ 1".to_owned(),
    ];
    let json = json!({
        "database": home.database(), "schedules": schedules, "ready_s": serving.ready_s, "ready_s_limit": 0.8,
        "memory_mib": memory, "memory_mb_limit": 150, "cpu_percent": cpu * 100.0, "cpu_percent_limit": 1,
    });
    sheet.add(line, json);
    sheet.show_last();
    serving.stop()
}

/// How much of one core the server computes.
fn share(serving: &Serving) -> f64 {
    let (begun, before) = (Instant::now(), serving.computed_s());
    std::thread::sleep(WATCHED);
    (serving.computed_s() - before) / begun.elapsed().as_secs_f64()
}
