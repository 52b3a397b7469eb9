//! Flights: the attempts that this process has in hand, how each is told to end, and what it prints.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use punctual_plan::{Fence, RunKey};
use punctual_store::{Attempt, Launchable};
use tokio::time::Instant;

use crate::launch::{Cancel, Canceller, LiveOutput, Why};

/// An attempt in hand.
#[derive(Clone, Debug)]
pub(crate) struct Flight {
    pub(crate) attempt: u32,
    pub(crate) canceller: Canceller,
    pub(crate) output: LiveOutput,
    /// Whether it was launched, and does not only wait for its place.
    pub(crate) is_launched: bool,
}

/// How often a rush is looked at.
const RUSH_LOOK: Duration = Duration::from_millis(2);

/// What waits for the end of a rush waits no longer than this.
const RUSH_MAX: Duration = Duration::from_millis(250);

/// Everything in hand. A run that was taken up again under a new fence is another flight.
#[derive(Debug, Default)]
pub(crate) struct Flights {
    flights: Mutex<BTreeMap<(RunKey, Fence), Flight>>,
    /// How many were ever launched.
    launches: AtomicU64,
    /// How many are about to be added.
    announced: AtomicUsize,
}

impl Flights {
    /// So many will be added in a moment.
    pub(crate) fn announce(&self, runs: usize) {
        self.announced.store(runs, Ordering::Relaxed);
    }

    /// Adds runs that wait for their place.
    pub(crate) fn insert_all(&self, runs: &[Launchable], fence: Fence) {
        let mut flights = self.flights();
        for run in runs {
            let (canceller, _) = Cancel::pair();
            let output = LiveOutput::default();
            let flight = Flight { attempt: run.attempt, canceller, output, is_launched: false };
            flights.insert((run.run, fence), flight);
        }
    }

    /// Resolves when no more starts follow upon each other, or soon in any case: what is not a start can wait for them.
    pub(crate) async fn rush(&self) {
        let begun = Instant::now();
        let mut launches = self.launches.load(Ordering::Relaxed);
        while self.is_crowded() && begun.elapsed() < RUSH_MAX {
            tokio::time::sleep(RUSH_LOOK).await;
            let before = std::mem::replace(&mut launches, self.launches.load(Ordering::Relaxed));
            if before == launches {
                return;
            }
        }
    }

    /// Whether some wait for their place, or will in a moment.
    fn is_crowded(&self) -> bool {
        self.announced.load(Ordering::Relaxed) > 0
            || self.flights().values().any(|flight| !flight.is_launched)
    }

    /// The flight of a run that has its place now, if it is still in hand.
    pub(crate) fn launch(&self, run: RunKey, fence: Fence) -> Option<Flight> {
        let mut flights = self.flights();
        let flight = flights.get_mut(&(run, fence))?;
        flight.is_launched = true;
        self.launches.fetch_add(1, Ordering::Relaxed);
        Some(flight.clone())
    }

    pub(crate) fn remove(&self, run: RunKey, fence: Fence) {
        self.flights().remove(&(run, fence));
    }

    /// Tells every attempt of a run to end.
    pub(crate) fn cancel(&self, run: RunKey, why: &Why) {
        let flights = self.flights();
        for flight in flights.range((run, Fence(i64::MIN))..=(run, Fence(i64::MAX))).map(|(_, flight)| flight)
        {
            flight.canceller.cancel(why.clone());
        }
    }

    /// Tells everything to end and forgets what was not launched.
    pub(crate) fn cancel_all(&self, why: &Why) {
        let mut flights = self.flights();
        flights.values().for_each(|flight| flight.canceller.cancel(why.clone()));
        flights.retain(|_, flight| flight.is_launched);
    }

    /// The attempts under a fence.
    pub(crate) fn under(&self, fence: Fence) -> Vec<Attempt> {
        let flights = self.flights();
        let own = flights.iter().filter(|((_, held), _)| *held == fence);
        own.map(|((run, fence), flight)| Attempt { run: *run, attempt: flight.attempt, fence: *fence })
            .collect()
    }

    /// What attempts under a fence have printed since the last call.
    pub(crate) fn new_output(&self, fence: Fence) -> Vec<(RunKey, u32, String)> {
        let flights = self.flights();
        let own = flights.iter().filter(|((_, held), _)| *held == fence);
        own.filter_map(|((run, _), flight)| Some((*run, flight.attempt, flight.output.take_new()?))).collect()
    }

    /// Whether anything is in hand.
    pub(crate) fn is_any(&self) -> bool {
        !self.flights().is_empty()
    }

    /// How many were launched and have not ended.
    pub(crate) fn launched_count(&self) -> usize {
        self.flights().values().filter(|flight| flight.is_launched).count()
    }

    fn flights(&self) -> MutexGuard<'_, BTreeMap<(RunKey, Fence), Flight>> {
        self.flights.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
