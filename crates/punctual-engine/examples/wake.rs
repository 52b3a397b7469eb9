//! How punctual is a schedule that another process has just added? Fifty of them, one to two seconds ahead.
//!
//! `cargo run --release -p punctual-engine --example wake` serves a new SQLite file; a second process of the same
//! program opens it and makes the schedules. What is printed is how long after its time each run was admitted, and how
//! long after it its program had started, as the ledger has it.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use punctual_engine::{Clock, Engine, HostTargets, Settings, SystemClock, Vault};
use punctual_plan::{Action, Cursor, Process, Schedule, ScheduleId, Status, Subject, Window, plan};
use punctual_store::{Access, Cut, RunFilter, RunRow, ScheduleWrite, Scope, Sqlite, Store, Write};
use punctual_time::{Once, Timing, Zone};

/// How many schedules are made.
const COUNT: u128 = 50;

/// How long between two of them: they shall not share their seconds by design.
const PAUSE: Duration = Duration::from_millis(130);

type Failed = Box<dyn std::error::Error>;

#[tokio::main]
async fn main() -> Result<(), Failed> {
    match std::env::args().nth(1) {
        Some(path) => create(Path::new(&path)).await,
        None => serve().await,
    }
}

/// The other process: it makes schedules and goes.
async fn create(path: &Path) -> Result<(), Failed> {
    let store = Sqlite::open(path, Access::Visit)?;
    let org = store.org(Scope::Engine, "default".to_owned()).await?;
    for number in 1..=COUNT {
        let now = SystemClock.now();
        // The next whole second that is at least one ahead.
        let at = Timestamp::from_second(now.as_second() + 2)?;
        let id = ScheduleId(uuid::Uuid::from_u128(number));
        let program = Action::Process(Process::new(["true"]));
        let timing = Timing::new(Once::at(at), Zone::utc());
        let definition = Arc::new(Schedule::new(id, &format!("once {number}"), timing, program));
        let plan = Subject::of(&definition, Cursor::starting(now)).map(|one| plan(&one, Window::at(now)));
        let write = Write::Create { definition, status: Status::Active, plan, declared_set: None };
        let write = ScheduleWrite { write, kind: "schedule.created", note: String::new(), now };
        store.write_schedules(Scope::org(org), vec![write]).await?.remove(0)?;
        tokio::time::sleep(PAUSE).await;
    }
    Ok(())
}

async fn serve() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("ledger.db");
    let store = Arc::new(Sqlite::open(&path, Access::Serve)?);
    let settings = Settings::new(folder.path().join("launches"));
    let vault = Vault::new(folder.path().join("punctual.key"));
    let targets = Arc::new(HostTargets::new(Arc::clone(&store), vault));
    let engine = Engine::start(Arc::clone(&store), Arc::new(SystemClock), targets, settings).await?;
    let (stop, stopped) = tokio::sync::watch::channel(false);
    let serving = tokio::spawn(engine.run(stopped));
    let mut other = Command::new(std::env::current_exe()?).arg(&path).stdin(Stdio::null()).spawn()?;
    tokio::task::spawn_blocking(move || other.wait()).await??;
    tokio::time::sleep(Duration::from_secs(3)).await;
    stop.send(true)?;
    serving.await?;
    let runs = store.runs(Scope::Engine, RunFilter::default(), Cut::first(1_000)).await?.rows;
    show("admitted", &runs, |run| run.enqueued_at);
    show("started", &runs, |run| run.started_at);
    Ok(())
}

#[allow(clippy::print_stdout, reason = "it is a measurement")]
fn show(what: &str, runs: &[RunRow], when: impl Fn(&RunRow) -> Option<Timestamp>) {
    let late = |run: &RunRow| Some(when(run)?.duration_since(run.run.fire_at));
    let mut late: Vec<SignedDuration> = runs.iter().filter_map(late).collect();
    late.sort_unstable();
    let ms = |place: usize| late.get(place).map_or(f64::NAN, |late| late.as_secs_f64() * 1e3);
    let (count, last) = (late.len(), late.len().saturating_sub(1));
    println!("{what}: {count} runs, {:.2} ms late in the median, {:.2} ms at worst", ms(count / 2), ms(last));
}
