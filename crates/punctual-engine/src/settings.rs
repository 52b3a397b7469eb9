//! Settings: how an engine works.

use std::future::Future;
use std::path::PathBuf;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use punctual_plan::{LOOKAHEAD_MAX, Pace};
use punctual_store::{Node, Retention};

use crate::membership::LEASE;
use crate::{Chance, JournalPlace, Spans, Tuning};

/// The shortest `tick`: a loop that looks more often than this only costs.
const TICK_MIN: SignedDuration = SignedDuration::from_millis(10);

/// Runs of one target that wait for a place, unless the settings say otherwise: a herd of closures, each over in no time.
const WAITING_MAX: usize = 100_000;

/// How an engine works.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where the launch journal is.
    pub journal: JournalPlace,
    /// How long the loop sleeps at most, how far ahead ticks become ledger rows, and how fast late ones fire.
    pub pace: Pace,
    /// How long a stop waits for runs in flight.
    pub drain_for: Duration,
    /// How long rows are kept.
    pub retention: Retention,
    /// How long it sleeps at least when nothing is known to be due, or the database did not answer. It is zero but for a store that nobody else writes
    /// into and a clock that wakes the engine when it is set.
    pub idle: Duration,
    /// Runs of one target that wait here for a place. What a slow target does not take beyond them waits in the ledger.
    pub waiting_max: usize,
    /// Where ids come from.
    pub chance: Chance,
    /// Who is told what becomes of each run, as spans of its trace; nobody by itself.
    pub spans: Spans,
    /// What lets the node stand still, as a stopped process does.
    #[cfg(feature = "harness")]
    pub gate: crate::harness::Gate,
    /// How long its lease lasts; sweeps are as much rarer as it is longer, so that years can be simulated.
    #[cfg(feature = "harness")]
    pub lease: jiff::SignedDuration,
    /// The tz database that the node says it has, instead of its own.
    #[cfg(feature = "harness")]
    pub tz_version: Option<String>,
}

impl Settings {
    /// The defaults, with the journal in a file.
    pub fn new(journal: PathBuf) -> Self {
        Self::with_journal(JournalPlace::File(journal))
    }

    /// The defaults, with the journal wherever it is.
    pub fn with_journal(journal: JournalPlace) -> Self {
        Self {
            journal,
            pace: Pace::default(),
            drain_for: Duration::from_secs(30),
            retention: Retention::default(),
            idle: Duration::ZERO,
            waiting_max: WAITING_MAX,
            chance: Chance::of_host(),
            spans: Spans::default(),
            #[cfg(feature = "harness")]
            gate: crate::harness::Gate::default(),
            #[cfg(feature = "harness")]
            lease: LEASE,
            #[cfg(feature = "harness")]
            tz_version: None,
        }
    }

    /// How long the node's lease lasts without a heartbeat.
    #[cfg(feature = "harness")]
    pub(crate) fn lease(&self) -> SignedDuration {
        self.lease
    }

    /// How long the node's lease lasts without a heartbeat.
    #[cfg(not(feature = "harness"))]
    #[allow(clippy::unused_self, reason = "a simulation has a lease of its own")]
    pub(crate) fn lease(&self) -> SignedDuration {
        LEASE
    }

    /// A task of the node: in a simulation it stands still with the node.
    #[cfg(feature = "harness")]
    pub(crate) fn task<F: Future + Send>(&self, task: F) -> impl Future<Output = F::Output> + Send + use<F> {
        self.gate.behind(task)
    }

    /// A task of the node.
    #[cfg(not(feature = "harness"))]
    pub(crate) fn task<F: Future + Send>(&self, task: F) -> F {
        task
    }

    /// What can change while the engine runs, as it is at its start.
    pub(crate) fn tuning(&self) -> Tuning {
        Tuning { pace: bounded(self.pace), retention: self.retention }
    }

    /// This process as a node.
    pub(crate) fn node(&self, started_at: Timestamp) -> Node {
        Node {
            id: self.chance.id().to_string(),
            pid: std::process::id(),
            started_at,
            lease: self.lease(),
            tz_version: self.tz_version(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }

    #[cfg(feature = "harness")]
    pub(crate) fn tz_version(&self) -> String {
        self.tz_version.clone().unwrap_or_else(|| punctual_time::tz_version().to_owned())
    }

    #[cfg(not(feature = "harness"))]
    #[allow(clippy::unused_self, reason = "a simulated node says another one")]
    pub(crate) fn tz_version(&self) -> String {
        punctual_time::tz_version().to_owned()
    }
}

/// A pace within its bounds.
pub(crate) fn bounded(pace: Pace) -> Pace {
    Pace {
        tick: pace.tick.max(TICK_MIN),
        lookahead: pace.lookahead.min(LOOKAHEAD_MAX),
        catch_up_per_tick_max: pace.catch_up_per_tick_max.max(1),
    }
}
