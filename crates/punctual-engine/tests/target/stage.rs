//! A host with a store, and attempts to launch on it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use punctual_engine::{
    Callbacks, Cancel, Canceller, Finished, HostTargets, Launch, LiveOutput, OnEnd, OnStart, Targets, Vault,
};
use punctual_plan::{Action, Fence, OrgKey, Origin, Process, RunKey, Schedule, ScheduleId, ScheduleKey};
use punctual_store::{Launchable, Memory, Scope, Store};
use punctual_time::{Cron, Timing, Zone};
use tempfile::TempDir;
use tokio::sync::oneshot;

/// The trace that every launch belongs to.
pub(crate) const TRACE: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

/// A host.
pub(crate) struct Stage {
    pub(crate) folder: TempDir,
    pub(crate) store: Arc<Memory>,
    pub(crate) org: OrgKey,
    pub(crate) targets: Arc<HostTargets<Memory>>,
}

/// An attempt that was launched.
pub(crate) struct Launched {
    pub(crate) started: oneshot::Receiver<()>,
    pub(crate) canceller: Canceller,
    ended: tokio::task::JoinHandle<punctual_engine::Launched>,
}

impl Launched {
    pub(crate) async fn end(self) -> Finished {
        match self.ended.await.expect("a target does not panic") {
            punctual_engine::Launched::Ended(finished) => finished,
            other => panic!("{other:?}"),
        }
    }
}

impl Stage {
    pub(crate) async fn new() -> Self {
        Self::with(Callbacks::new()).await
    }

    pub(crate) async fn with(callbacks: Callbacks) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let store = Arc::new(Memory::new());
        let org = store.org(Scope::Engine, "default".to_owned()).await.expect("an org");
        let vault = Vault::new(folder.path().join("punctual.key"));
        let targets = Arc::new(HostTargets::new(Arc::clone(&store), vault).with(callbacks));
        Self { folder, store, org, targets }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn vault(&self) -> Vault {
        Vault::new(self.path("punctual.key"))
    }

    /// Launches an attempt of a schedule.
    pub(crate) fn launch(&self, schedule: Schedule) -> Launched {
        let (told, started) = oneshot::channel();
        let (canceller, cancel) = Cancel::pair();
        let launch = Launch {
            run: self.run_of(schedule).into(),
            fence: Fence(3),
            // A test that does not wait for the start has no ear for it.
            ended: OnEnd::default(),
            started: OnStart::new(move || {
                let _ = told.send(());
            }),
            cancel,
            output: LiveOutput::default(),
        };
        let targets = Arc::clone(&self.targets);
        Launched { started, canceller, ended: tokio::spawn(async move { targets.launch(launch).await }) }
    }

    pub(crate) fn run_of(&self, schedule: Schedule) -> Launchable {
        Launchable {
            run: RunKey(41),
            schedule: ScheduleKey(1),
            org: self.org,
            definition: Arc::new(schedule),
            origin: Origin::Manual,
            nonce: "request-7".to_owned(),
            scheduled_for: at("2026-03-01T10:00:00Z"),
            fire_at: at("2026-03-01T10:00:02Z"),
            attempt: 2,
            trace: TRACE.parse().ok(),
            token: None,
            answer_by: Timestamp::MAX,
        }
    }

    /// Runs a program to its end.
    pub(crate) async fn run(&self, program: Process) -> Finished {
        self.launch(schedule(Action::Process(program))).end().await
    }

    /// Runs a script to its end.
    pub(crate) async fn sh(&self, script: &str) -> Finished {
        self.run(shell(script)).await
    }
}

pub(crate) fn at(text: &str) -> Timestamp {
    text.parse().expect("an instant")
}

pub(crate) fn shell(script: &str) -> Process {
    Process::new(["sh", "-c", script])
}

pub(crate) fn schedule(action: Action) -> Schedule {
    let timing = Timing::new("0 3 * * *".parse::<Cron>().expect("a spec"), Zone::utc());
    let mut schedule = Schedule::new(ScheduleId(uuid::Uuid::from_u128(7)), "nightly", timing, action);
    schedule.version = 4;
    schedule.owner.user_id = Some("ada".to_owned());
    schedule.payload = serde_json::from_str(r#"{"size": 3}"#).expect("an object");
    schedule
}

/// The same with a time limit.
pub(crate) fn limited(action: Action, millis: i64) -> Schedule {
    let mut schedule = schedule(action);
    Arc::make_mut(&mut schedule.policy).run_timeout = SignedDuration::from_millis(millis);
    schedule
}

pub(crate) fn env(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

/// A named pipe: who opens it to read waits until somebody writes, and hears when all writers are gone.
pub(crate) fn fifo(path: &Path) {
    let made = std::process::Command::new("mkfifo").arg(path).status().expect("mkfifo");
    assert!(made.success());
}

/// Waits until a program writes into a named pipe and every holder of it is gone; gives back what was written.
pub(crate) async fn hear(path: &Path) -> String {
    let path = path.to_owned();
    tokio::task::spawn_blocking(move || std::fs::read_to_string(path))
        .await
        .expect("a reader")
        .expect("a pipe")
}
