//! The engine: start it, let it run, ask it to stop.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use punctual_plan::{Fence, LOOKAHEAD_MAX, Outcome, Pace};
use punctual_store::{AttemptToken, Error, Expired, Node, Report, Store, Whose};
use tokio::sync::{Notify, mpsc, watch};
use tracing::{error, info, warn};

use crate::admitter::Admitter;
use crate::batch::Sender;
use crate::launcher::Launcher;
use crate::membership::Membership;
use crate::planner::Planner;
use crate::recover::recover;
use crate::settler::Settler;
use crate::wake::{Signals, TICK, Wake, wait};
use crate::{Clock, Journal};

/// How long a node's lease lasts without a heartbeat: admitted runs of a dead node are taken up within five seconds.
const LEASE: SignedDuration = SignedDuration::from_secs(3);

/// How the engine works.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where the launch journal is.
    pub journal: PathBuf,
    /// How far ahead ticks become ledger rows, and how fast late ones fire.
    pub pace: Pace,
    /// How long a stop waits for runs in flight.
    pub drain_for: Duration,
}

impl Settings {
    /// The defaults, with the journal at `path`.
    pub fn new(journal: PathBuf) -> Self {
        Self { journal, pace: Pace::default(), drain_for: Duration::from_secs(30) }
    }
}

/// How a stop went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stopped {
    /// Runs that had not ended; the next start finds them in doubt.
    pub left_in_flight: usize,
}

/// One node's loop over a store.
pub struct Engine<S, C> {
    store: Arc<S>,
    clock: Arc<C>,
    settings: Settings,
    planner: Planner,
    admitter: Admitter,
    launcher: Launcher<C>,
    settler: tokio::task::JoinHandle<()>,
    settled: Arc<Notify>,
    fence: Fence,
    membership: Membership,
}

impl<S: Store, C: Clock> Engine<S, C> {
    /// Takes over the ledger: raises the fence, settles or launches what was left in flight.
    ///
    /// # Errors
    /// When the journal cannot be opened or the database fails.
    pub async fn start(store: Arc<S>, clock: Arc<C>, settings: Settings) -> Result<Self, StartError> {
        let unusable = |source| StartError::Journal { path: settings.journal.clone(), source };
        let mut journal = Journal::open(&settings.journal).map_err(unusable)?;
        let joined = store.join(this_node(clock.now())).await?;
        let fence = joined.fence;
        let launches = recover(&*store, &*clock, &journal, fence).await?;
        journal.clear().map_err(unusable)?;
        let journal = Arc::new(Mutex::new(journal));
        let (news, inbox) = mpsc::unbounded_channel();
        let settled = Arc::new(Notify::new());
        let settler = Settler {
            store: Arc::clone(&store),
            clock: Arc::clone(&clock),
            fence,
            journal: Arc::clone(&journal),
            settled: Arc::clone(&settled),
        };
        let mut launcher = Launcher::new(Arc::clone(&clock), fence, journal, news);
        launches.into_iter().for_each(|run| launcher.launch(run));
        let pace = Pace { lookahead: settings.pace.lookahead.min(LOOKAHEAD_MAX), ..settings.pace };
        Ok(Self {
            admitter: Admitter::new(fence, pace),
            planner: Planner::new(fence, pace),
            settler: tokio::spawn(settler.run(inbox)),
            settled,
            fence,
            membership: Membership::new(&joined),
            store,
            clock,
            settings,
            launcher,
        })
    }

    /// Runs until `stop` turns true; then waits for what is in flight.
    pub async fn run(mut self, mut stop: watch::Receiver<bool>) -> Stopped {
        let mut plan_at = Some(Timestamp::MIN);
        loop {
            let now = self.clock.now();
            self.membership.tend(&*self.store, now).await;
            if plan_at.is_some_and(|plan_at| plan_at <= now) && self.membership.may_plan() {
                plan_at = self.plan(now).await;
            }
            let own = self.membership.own();
            let next_look_at = self.admit(own).await;
            if let Some(late) = self.membership.sweep(now) {
                self.admit(late).await;
            }
            let next = plan_at.into_iter().chain(next_look_at).chain([self.membership.next()]).min();
            match wait(&*self.store, &*self.clock, Signals { stop: &mut stop, settled: &self.settled }, next)
                .await
            {
                Wake::Look => {}
                // Another process, or the end of a run, may have brought ticks nearer than the known ones.
                Wake::Changed => plan_at = Some(Timestamp::MIN),
                Wake::Stop => break,
            }
        }
        self.stop().await
    }

    /// Plans what comes near; a database that fails is asked again.
    async fn plan(&mut self, now: Timestamp) -> Option<Timestamp> {
        match self.planner.pass(&*self.store, self.membership.own(), now).await {
            Ok(plan_at) => plan_at,
            Err(problem) => Some(self.again_after(&problem, "cannot plan")),
        }
    }

    /// Admits and launches what is due; gives back when the next row is.
    async fn admit(&mut self, whose: Whose) -> Option<Timestamp> {
        // Asked anew: planning may have taken a while.
        let now = self.clock.now();
        match self.admitter.pass(&*self.store, whose, now).await {
            Ok(admitted) => {
                admitted.cancelled.iter().for_each(|run| self.launcher.cancel(*run));
                admitted.launches.into_iter().for_each(|run| self.launcher.launch(run));
                self.give_up(&admitted.expired).await;
                admitted.next_look_at
            }
            Err(problem) => Some(self.again_after(&problem, "cannot admit")),
        }
    }

    /// Ends runs in flight that nobody has answered for in time.
    async fn give_up(&self, expired: &[Expired]) {
        if expired.is_empty() {
            return;
        }
        let at = self.clock.now();
        let lost = |one: &Expired| Report {
            run: one.run,
            attempt: one.attempt,
            token: AttemptToken::Node(one.fence),
            outcome: Outcome::Lost,
            started_at: None,
            at,
            output: None,
        };
        let reports: Vec<Report> = expired.iter().map(lost).collect();
        let sender = Sender::new(self.fence);
        match sender.send(at, |batch| self.store.settle(batch, reports.clone())).await {
            Ok(_) => warn!(runs = expired.len(), "nobody answered for these runs in time"),
            Err(problem) => error!(%problem, "cannot give up runs, trying again"),
        }
        expired.iter().for_each(|one| self.launcher.cancel(one.run));
    }

    fn again_after(&self, problem: &Error, what: &'static str) -> Timestamp {
        error!(%problem, "{what}, trying again");
        self.clock.now().saturating_add(TICK).unwrap_or(Timestamp::MAX)
    }

    async fn stop(mut self) -> Stopped {
        let in_flight = self.launcher.in_flight();
        if in_flight > 0 {
            info!(in_flight, "waiting for runs to end");
        }
        let drained = tokio::time::timeout(self.settings.drain_for, self.launcher.drain()).await;
        let left_in_flight = self.launcher.in_flight();
        if drained.is_err() {
            warn!(left_in_flight, "stopped before these runs ended; the next start settles them");
        }
        self.launcher.abandon();
        if left_in_flight == 0 {
            // The last sender of reports is gone: the settler writes what it has and ends.
            let _ = self.settler.await;
        }
        Stopped { left_in_flight }
    }
}

/// This process as a node.
fn this_node(started_at: Timestamp) -> Node {
    Node {
        id: uuid::Uuid::new_v4().to_string(),
        pid: std::process::id(),
        started_at,
        lease: LEASE,
        tz_version: punctual_time::tz_version().to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
    }
}

/// Why an engine did not start.
#[derive(Debug)]
pub enum StartError {
    /// The launch journal cannot be opened.
    Journal {
        /// Where it is.
        path: PathBuf,
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
            Self::Journal { path, source } => {
                write!(f, "cannot open the launch journal `{}`: {source}", path.display())
            }
            Self::Store(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for StartError {}
