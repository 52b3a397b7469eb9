//! A node with its ledger, and schedules that send requests.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use punctual_engine::{Clock, Engine, HostTargets, Label, Settings, Stopped, SystemClock, Vault};
use punctual_plan::{
    Action, Cursor, Delivery, RunStatus, Schedule, ScheduleId, Status, Subject, Webhook, Window, plan,
};
use punctual_store::{
    Access, Cut, DocumentKind, NewDocument, RunFilter, RunRow, ScheduleRow, ScheduleWrite, Scope, Selector,
    Sqlite, Store, Write,
};
use punctual_time::{Cron, Once, Spec, Timing, Zone};
use tempfile::TempDir;
use tokio::sync::watch;
use tokio::task::JoinHandle;

pub(crate) struct Stage {
    pub(crate) folder: TempDir,
    pub(crate) store: Arc<Sqlite>,
    /// Another process's view, which is told of every commit of the engine.
    pub(crate) eyes: Sqlite,
    /// Where requests may go beside public addresses.
    pub(crate) reach: &'static str,
    /// The proxy that they go through.
    pub(crate) proxy: Option<String>,
}

/// When a schedule fires.
pub(crate) enum Ask {
    /// Once, within two seconds.
    Once(Delivery),
    /// Every second.
    EverySecond,
}

/// An engine that runs.
pub(crate) struct Serving {
    stop: watch::Sender<bool>,
    engine: JoinHandle<Stopped>,
}

impl Serving {
    pub(crate) async fn stop(self) {
        self.stop.send(true).expect("the engine runs");
        assert_eq!(self.engine.await.expect("the engine does not panic").left_in_flight, 0);
    }
}

impl Stage {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("ledger.db");
        let store = Arc::new(Sqlite::open(&path, Access::Serve).expect("a new ledger"));
        let eyes = Sqlite::open(&path, Access::Visit).expect("a second handle");
        Self { eyes, store, folder, reach: "127.0.0.0/8", proxy: None }
    }

    fn vault(&self) -> Vault {
        Vault::new(self.folder.path().join("punctual.key"))
    }

    /// Keeps a secret.
    pub(crate) async fn put(&self, name: &str, value: &str) {
        let body = self.vault().seal(Label { org_id: "default", name }, value).expect("it is sealed");
        let (kind, now) = (DocumentKind::Secret, SystemClock.now());
        let new = NewDocument { kind, name: name.to_owned(), body, replaces: None, now };
        let org = self.store.org(Scope::Engine, "default".to_owned()).await.expect("an org");
        self.store.put_document(Scope::org(org), new).await.expect("it is kept");
    }

    /// A schedule that fires once, at once, and is tried again after a few milliseconds.
    pub(crate) async fn once(&self, name: &str, webhook: Webhook) {
        self.create(name, webhook, Ask::Once(Delivery::AtLeastOnce)).await;
    }

    /// A schedule that fires every second.
    pub(crate) async fn every_second(&self, name: &str, webhook: Webhook) {
        self.create(name, webhook, Ask::EverySecond).await;
    }

    pub(crate) async fn create(&self, name: &str, webhook: Webhook, ask: Ask) {
        let (spec, delivery): (Spec, Delivery) = match ask {
            Ask::Once(delivery) => {
                (Once::at(SystemClock.now() + SignedDuration::from_secs(1)).into(), delivery)
            }
            Ask::EverySecond => ("* * * * * *".parse::<Cron>().expect("a spec").into(), Delivery::default()),
        };
        let now = SystemClock.now();
        let id = ScheduleId::of_name("default", name);
        let mut definition =
            Schedule::new(id, name, Timing::new(spec, Zone::utc()), Action::Webhook(webhook));
        definition.payload = serde_json::from_str(r#"{"size": 3, "say": "a \"b\""}"#).expect("an object");
        let policy = Arc::make_mut(&mut definition.policy);
        policy.launch.delay = SignedDuration::from_millis(20);
        policy.delivery = delivery;
        let definition = Arc::new(definition);
        let subject = Subject::of(&definition, Cursor::starting(now)).expect("it has ticks");
        let plan = Some(plan(&subject, Window::at(now)));
        let write = Write::Create { definition, status: Status::Active, plan, declared_set: None };
        let write = ScheduleWrite { write, kind: "schedule.created", note: String::new(), now };
        let org = self.store.org(Scope::Engine, "default".to_owned()).await.expect("an org");
        let written = self.store.write_schedules(Scope::org(org), vec![write]).await.expect("a write");
        assert!(written.iter().all(Result::is_ok), "{written:?}");
    }

    pub(crate) async fn serve(&self) -> Serving {
        let settings = Settings::new(self.folder.path().join("launches"));
        let targets = HostTargets::new(Arc::clone(&self.store), self.vault());
        let proxy = self.proxy.as_ref().map(|proxy| proxy.parse().expect("a proxy"));
        targets.reach(self.reach.parse().expect("a reach"), proxy);
        let targets = Arc::new(targets);
        let engine = Engine::start(Arc::clone(&self.store), Arc::new(SystemClock), targets, settings).await;
        let (stop, stopped) = watch::channel(false);
        Serving { stop, engine: tokio::spawn(engine.expect("the engine starts").run(stopped)) }
    }

    /// The runs of a schedule up to now, oldest first.
    pub(crate) async fn runs(&self, name: &str) -> Vec<RunRow> {
        let schedule = Some(ScheduleId::of_name("default", name));
        let filter = RunFilter { schedule, until: Some(SystemClock.now()), ..RunFilter::default() };
        let mut runs =
            self.eyes.runs(Scope::Engine, filter, Cut::first(1_000)).await.expect("the ledger").rows;
        runs.reverse();
        runs
    }

    /// Waits until a schedule has as many runs that are over.
    pub(crate) async fn ended(&self, name: &str, count: usize) -> Vec<RunRow> {
        loop {
            let mut runs = self.runs(name).await;
            runs.retain(|run| run.run.state.status().is_terminal());
            if runs.len() >= count {
                return runs;
            }
            self.eyes.changed().await;
        }
    }

    /// Waits until the only run of a schedule has a state.
    pub(crate) async fn reached(&self, name: &str, status: RunStatus) -> RunRow {
        loop {
            if let Some(run) = self.runs(name).await.pop().filter(|run| run.run.state.status() == status) {
                return self.whole(&run).await;
            }
            self.eyes.changed().await;
        }
    }

    /// Serves until the only run of a schedule is over.
    pub(crate) async fn run(&self, name: &str, webhook: Webhook) -> RunRow {
        self.once(name, webhook).await;
        let serving = self.serve().await;
        let run = self.ended(name, 1).await.remove(0);
        serving.stop().await;
        self.whole(&run).await
    }

    /// A run with all its attempts.
    pub(crate) async fn whole(&self, run: &RunRow) -> RunRow {
        self.eyes.run(Scope::Engine, run.run.key).await.expect("the ledger").expect("a run")
    }

    pub(crate) async fn schedule(&self, name: &str) -> ScheduleRow {
        let id = Selector::Id(ScheduleId::of_name("default", name));
        self.eyes.schedule(Scope::Engine, id).await.expect("the ledger").expect("a schedule")
    }
}

/// How a run ended, and why.
pub(crate) fn end(run: &RunRow) -> String {
    let state = &run.run.state;
    let reason = state.reason().map(|reason| format!(" {}: {reason}", reason.code()));
    format!("{}{}", state.status(), reason.unwrap_or_default())
}

pub(crate) fn headers(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

/// A request that gives up soon.
pub(crate) fn hook(url: impl Into<String>) -> Webhook {
    Webhook { timeout: SignedDuration::from_secs(10), ..Webhook::new(url) }
}

/// The same with less patience.
pub(crate) fn hasty(url: impl Into<String>, millis: i64) -> Webhook {
    Webhook { timeout: SignedDuration::from_millis(millis), ..Webhook::new(url) }
}

/// When a run was launched and when it was over.
pub(crate) fn span(run: &RunRow) -> (Timestamp, Timestamp) {
    (run.started_at.expect("it started"), run.completed_at.expect("it is over"))
}
