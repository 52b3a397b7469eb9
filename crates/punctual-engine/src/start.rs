//! Start: the engine is put together, and what an earlier process left is taken up.

use std::collections::HashSet;
use std::sync::Arc;

use jiff::Timestamp;
use punctual_plan::{Action, RunKey};
use punctual_store::fail_point::{FailPoint, pass};
use punctual_store::{Error, Joined, Launchable, Store};
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinSet;
use tokio::time::Instant;
use tracing::warn;

use crate::admitter::Admitter;
use crate::batch::Sender;
use crate::brief::Brief;
use crate::crew::Crew;
use crate::duties::Duties;
use crate::flights::Flights;
use crate::journal::Journal;
use crate::lanes::Lanes;
use crate::launch::Targets;
use crate::launcher::{Launcher, Shared};
use crate::lease::{Lease, Moment};
use crate::membership::{self, Membership};
use crate::muster::Muster;
use crate::planner::Planner;
use crate::planning::Planning;
use crate::recover::{Recovery, keep_own, recover};
use crate::settler::Settler;
use crate::time::{Time, Watch};
use crate::zones::Zones;
use crate::{Clock, Engine, JournalPlace, Metrics, Pulse, Settings, Tuner};

/// How often a node joins before it gives up to start: each time it has gone on with what was left.
const JOINS_MAX: usize = 10;

impl<S: Store, C: Clock, T: Targets> Engine<S, C, T> {
    /// Takes over the ledger: raises the fence, settles or launches what was left in flight.
    ///
    /// # Errors
    /// When the journal cannot be opened or the database fails.
    pub async fn start(
        store: Arc<S>,
        clock: Arc<C>,
        targets: Arc<T>,
        settings: Settings,
    ) -> Result<Self, StartError> {
        let unusable = |source| StartError::Journal { place: settings.journal.clone(), source };
        let mut journal = Journal::open(&settings.journal).map_err(unusable)?;
        let time = Arc::new(Time::new(Arc::clone(&clock)));
        // The journal is this process's alone, so whoever wrote in it before is gone: nobody waits for those leases.
        for earlier in journal.fences() {
            store.leave(earlier).await?;
        }
        let sender = Sender::new(settings.chance.clone());
        let entry =
            Entry { store: &*store, time: &time, journal: &journal, sender: &sender, settings: &settings };
        let Entered { id, joined, lease, launches } = entry.enter(|action| targets.takes(action)).await?;
        let (fence, lease) = (joined.fence, Arc::new(lease));
        journal.begin(fence).map_err(unusable)?;
        let (journal, metrics) = (Arc::new(Brief::new(journal)), Arc::new(Metrics::default()));
        let mut engine =
            assemble(Parts { store, time, lease, journal, metrics, sender, settings, id }, targets, &joined);
        engine.launch(launches, fence);
        Ok(engine)
    }
}

/// How a node comes in.
struct Entry<'a, S, C> {
    store: &'a S,
    time: &'a Time<C>,
    journal: &'a Journal,
    sender: &'a Sender,
    settings: &'a Settings,
}

/// A node that is in.
struct Entered {
    id: String,
    joined: Joined,
    lease: Lease,
    /// What was left in flight and never launched.
    launches: Vec<Launchable>,
}

impl<S: Store, C: Clock> Entry<'_, S, C> {
    /// Joins and takes up what was left. If the lease ends before all is taken up, because there was much of it or the
    /// machine stood still, it joins again under a new fence and goes on.
    async fn enter(&self, taken: impl Fn(&Action) -> bool) -> Result<Entered, Error> {
        let (mut launches, mut unlaunched) = (Vec::new(), HashSet::new());
        for _ in 1..JOINS_MAX {
            match self.enter_once(&mut launches, &unlaunched).await {
                Err(Error::LeaseLost) => warn!("the lease ended before all was taken up, joining again"),
                entered => return self.keep(entered?, launches, taken).await,
            }
            unlaunched.extend(launches.drain(..).map(|run: Launchable| run.run));
        }
        let entered = self.enter_once(&mut launches, &unlaunched).await?;
        self.keep(entered, launches, taken).await
    }

    async fn enter_once(
        &self,
        launches: &mut Vec<Launchable>,
        unlaunched: &HashSet<RunKey>,
    ) -> Result<Entered, Error> {
        let asked = Moment::of(self.time.clock());
        let node = self.settings.node(self.time.clock().now());
        let (lasts, id) = (node.lease, node.id.clone());
        let joined = self.store.join(node).await?;
        pass(FailPoint::Joined);
        self.time.ask(self.store).await?;
        let (fence, now) = (joined.fence, self.time.now());
        let recovery = Recovery { journal: self.journal, fence, now, unlaunched };
        recover(self.store, self.sender, recovery, launches).await?;
        Ok(Entered { id, lease: Lease::new(fence, asked, lasts), joined, launches: Vec::new() })
    }

    async fn keep(
        &self,
        entered: Entered,
        launches: Vec<Launchable>,
        taken: impl Fn(&Action) -> bool,
    ) -> Result<Entered, Error> {
        let launches = keep_own(self.store, entered.joined.fence, launches, taken).await?;
        Ok(Entered { launches, ..entered })
    }
}

/// What the steps of an engine share.
struct Parts<S, C> {
    store: Arc<S>,
    time: Arc<Time<C>>,
    lease: Arc<Lease>,
    journal: Arc<Brief<Journal>>,
    metrics: Arc<Metrics>,
    sender: Sender,
    settings: Settings,
    /// The node's id.
    id: String,
}

/// What the duties share with the loop.
struct Together<'a> {
    tuner: &'a Tuner,
    pulse: &'a Arc<Pulse>,
    flights: &'a Arc<Flights>,
}

impl<S: Store, C: Clock> Parts<S, C> {
    fn duties(&self, together: &Together<'_>, zones: Zones) -> Duties<S, C> {
        let Together { tuner, pulse, flights } = together;
        Duties {
            zones,
            store: Arc::clone(&self.store),
            time: Arc::clone(&self.time),
            flights: Arc::clone(flights),
            tuning: tuner.heard(),
            idle: self.settings.idle,
            metrics: Arc::clone(&self.metrics),
            pulse: Arc::clone(pulse),
        }
    }

    fn settler(&self, settled: &Arc<Notify>, flights: &Arc<Flights>) -> Settler<S, C> {
        Settler {
            store: Arc::clone(&self.store),
            time: Arc::clone(&self.time),
            lease: Arc::clone(&self.lease),
            sender: self.sender.clone(),
            journal: Arc::clone(&self.journal),
            flights: Arc::clone(flights),
            metrics: Arc::clone(&self.metrics),
            settled: Arc::clone(settled),
            spans: self.settings.spans.clone(),
            idle: self.settings.idle,
        }
    }

    fn node(&self) -> membership::Shared {
        membership::Shared {
            lease: Arc::clone(&self.lease),
            sender: self.sender.clone(),
            metrics: Arc::clone(&self.metrics),
            journal: Arc::clone(&self.journal),
            lasts: self.settings.lease(),
        }
    }
}

fn assemble<S: Store, C: Clock, T: Targets>(
    parts: Parts<S, C>,
    targets: Arc<T>,
    joined: &Joined,
) -> Engine<S, C, T> {
    let (tuner, pulse) = (Tuner::new(parts.settings.tuning()), Arc::new(Pulse::default()));
    let (settled, flights) = (Arc::new(Notify::new()), Arc::new(Flights::default()));
    let zones = Zones::new(parts.settings.tz_version(), &parts.lease, joined);
    let duties = Together { tuner: &tuner, pulse: &pulse, flights: &flights };
    let (duties, pace) = (parts.duties(&duties, zones), parts.settings.tuning().pace);
    let (settler, node) = (parts.settler(&settled, &flights), parts.node());
    let Parts { store, time, lease, journal, metrics, sender, settings, id } = parts;
    let ((news, inbox), (messages, wanted)) = (mpsc::unbounded_channel(), mpsc::channel(1));
    let lanes = Brief::new(Lanes::new(settings.waiting_max));
    let shared = Shared {
        time: Arc::clone(&time),
        targets,
        lease,
        journal,
        flights: Arc::clone(&flights),
        metrics: Arc::clone(&metrics),
        lanes,
        crew: Crew::default(),
        news,
        settings: settings.clone(),
    };
    Engine {
        watch: Watch::new(time.clock()),
        planner: Planner::new(&node, pace),
        planning: Planning::new(Planner::new(&node, pace)),
        admitter: Admitter::new(&node, pace, settings.spans.clone()),
        membership: Membership::new(joined, node),
        muster: Muster::default(),
        holding: None,
        launcher: Launcher::new(shared),
        settler: only(settings.task(settler.run(inbox))),
        duties: only(settings.task(duties.run(wanted))),
        pace,
        tuning: tuner.heard(),
        tuner,
        plan_at: Some(Timestamp::MIN),
        ask_ended_at: None,
        asked_ended_at: Timestamp::MIN,
        changes_from: Instant::now(),
        store,
        time,
        id,
        settings,
        flights,
        settled,
        messages,
        metrics,
        pulse,
        sender,
    }
}

/// A task that ends with the engine, however that ends.
fn only(task: impl Future<Output = ()> + Send + 'static) -> JoinSet<()> {
    let mut tasks = JoinSet::new();
    tasks.spawn(task);
    tasks
}

/// Why an engine did not start.
#[derive(Debug)]
pub enum StartError {
    /// The launch journal cannot be opened.
    Journal {
        /// Where it is.
        place: JournalPlace,
        /// What the system said.
        source: std::io::Error,
    },
    /// The database failed.
    Store(Error),
}

impl From<Error> for StartError {
    fn from(error: Error) -> Self {
        Self::Store(error)
    }
}

impl std::fmt::Display for StartError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Journal { place: JournalPlace::File(path), source } => {
                write!(f, "cannot open the launch journal `{}`: {source}", path.display())
            }
            Self::Journal { source, .. } => write!(f, "cannot open the launch journal: {source}"),
            Self::Store(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for StartError {}
