//! The ground: a new database with schedules in it, and an engine that serves it in this process.

use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;
use punctual_engine::{Engine, HostTargets, Settings, Stopped, SystemClock, Vault};
use punctual_plan::{Action, Cursor, Pace, RunStatus, Schedule, ScheduleId, Status, Subject, Window, plan};
use punctual_store::{
    Access, AnyStore, BATCH_MAX, Cut, Postgres, PostgresSettings, RunFilter, ScheduleWrite, Scope, Sqlite,
    Store, Write,
};
use punctual_time::{Cron, Timing, Zone};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use uuid::Uuid;

use crate::Failure;
use crate::options::Kind;
use crate::server::Server;

use super::starts::{Starts, TASK};

/// A database that is gone afterwards.
pub(super) struct Ground {
    folder: tempfile::TempDir,
    server: Option<Server>,
    pub(super) store: Arc<AnyStore>,
}

/// The name of the database on a server.
const DATABASE: &str = "engine";

impl Ground {
    pub(super) async fn new(kind: Kind) -> Result<Self, Failure> {
        let folder = tempfile::tempdir()?;
        let (server, store) = match kind {
            Kind::Sqlite => (None, Self::file(folder.path())?),
            Kind::Postgres => {
                let server = Server::find().await?;
                let database = server.create(DATABASE).await?;
                let store = Postgres::open(PostgresSettings::new(&database.url)).await?;
                (Some(server), AnyStore::Postgres(store))
            }
        };
        Ok(Self { folder, server, store: Arc::new(store) })
    }

    fn file(folder: &Path) -> Result<AnyStore, Failure> {
        Ok(AnyStore::Sqlite(Sqlite::open(&folder.join("engine.db"), Access::Serve)?))
    }

    /// Starts an engine on it.
    pub(super) async fn serve(&self, starts: &Arc<Starts>, pace: Pace) -> Result<Serving, Failure> {
        let settings = Settings { pace, ..Settings::new(self.folder.path().join("launches")) };
        let vault = Vault::new(self.folder.path().join("key"));
        let targets = HostTargets::new(Arc::clone(&self.store), vault).with(starts.callbacks());
        let clock = Arc::new(SystemClock);
        let engine = Engine::start(Arc::clone(&self.store), clock, Arc::new(targets), settings)
            .await
            .map_err(|error| error.to_string())?;
        let (stop, stopped) = watch::channel(false);
        Ok(Serving { stop, serving: tokio::spawn(engine.run(stopped)) })
    }

    /// How many runs have succeeded, by the ledger.
    pub(super) async fn succeeded(&self) -> Result<usize, Failure> {
        let filter = RunFilter { status: Some(RunStatus::Success), ..RunFilter::default() };
        let (mut count, mut cut) = (0, Cut::first(50_000));
        loop {
            let page = self.store.runs(Scope::Engine, filter.clone(), cut.clone()).await?;
            count += page.rows.len();
            match page.next {
                Some(next) => cut.after = Some(next),
                None => return Ok(count),
            }
        }
    }

    pub(super) async fn remove(self) -> Result<(), Failure> {
        drop(self.store);
        match self.server {
            Some(server) => server.remove(DATABASE).await,
            None => Ok(()),
        }
    }
}

/// An engine at work.
pub(super) struct Serving {
    stop: watch::Sender<bool>,
    serving: JoinHandle<Stopped>,
}

impl Serving {
    pub(super) async fn stop(self) -> Result<(), Failure> {
        self.stop.send(true)?;
        self.serving.await?;
        Ok(())
    }
}

/// Makes so many schedules, planned at the usual pace; how each ticks is said by its number.
pub(crate) async fn fill<S: Store>(
    store: &S,
    count: u32,
    timing: impl Fn(u32) -> Result<Timing, Failure>,
) -> Result<(), Failure> {
    fill_at(store, count, Pace::default(), timing).await
}

/// The same at another pace.
pub(crate) async fn fill_at<S: Store>(
    store: &S,
    count: u32,
    pace: Pace,
    timing: impl Fn(u32) -> Result<Timing, Failure>,
) -> Result<(), Failure> {
    let mut writes = Vec::with_capacity(BATCH_MAX);
    for number in 0..count {
        writes.push(create(number, timing(number)?, Window { now: Timestamp::now(), pace }));
        if writes.len() == BATCH_MAX || number + 1 == count {
            let some = std::mem::take(&mut writes);
            let answers = store.write_schedules(Scope::Engine, some).await?;
            answers.into_iter().collect::<Result<Vec<_>, _>>()?;
        }
    }
    Ok(())
}

/// Seals the events of what was made: a server would, for minutes, and that is not what is measured.
pub(crate) async fn seal<S: Store>(store: &S) -> Result<(), Failure> {
    while store.seal_audit(BATCH_MAX).await?.iter().any(|org| org.unsealed > 0) {}
    Ok(())
}

fn create(number: u32, timing: Timing, window: Window) -> ScheduleWrite {
    let now = window.now;
    let mixed = u128::from(number).wrapping_add(7).wrapping_mul(0xbf58_476d_1ce4_e5b9_94d0_49bb_1331_11eb);
    let id = ScheduleId(Uuid::from_u128(mixed));
    let action = Action::Callback { task: TASK.to_owned() };
    let definition = Schedule::new(id, &format!("one-{number}"), timing, action);
    let first = Subject::of(&definition, Cursor::starting(now)).map(|it| plan(&it, window));
    let write = Write::Create {
        definition: Arc::new(definition),
        status: Status::Active,
        plan: first,
        declared_set: None,
    };
    ScheduleWrite { write, kind: "schedule.created", note: String::new(), now }
}

/// A cron in UTC.
pub(crate) fn cron(spec: &str) -> Result<Timing, Failure> {
    Ok(Timing::new(spec.parse::<Cron>()?, Zone::utc()))
}
