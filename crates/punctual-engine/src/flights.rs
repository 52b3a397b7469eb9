//! Flights: the attempts that this process has in hand, how each is told to end, and what it prints.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use punctual_plan::{Fence, RunKey};
use punctual_store::{Attempt, Launchable};
use tokio::time::Instant;

use crate::launch::{Cancel, Canceller, Why};

/// An attempt in hand.
#[derive(Clone, Debug)]
pub(crate) struct Flight {
    pub(crate) attempt: u32,
    pub(crate) canceller: Canceller,
    /// Whether it was launched, and does not only wait for its place.
    pub(crate) is_launched: bool,
}

/// How often a rush is looked at.
const RUSH_LOOK: Duration = Duration::from_millis(2);

/// After so many looks without a start in between it is over; a busy machine has pauses as well.
const RUSH_PAUSE_MAX: u32 = 5;

/// What waits for the end of a rush waits no longer than this.
const RUSH_MAX: Duration = Duration::from_secs(1);

/// Everything in hand. A run that was taken up again under a new fence is another flight.
#[derive(Debug, Default)]
pub(crate) struct Flights {
    flights: Mutex<BTreeMap<(RunKey, Fence), Flight>>,
    /// How many of them wait for their place.
    waiting: AtomicUsize,
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
    pub(crate) fn insert_all(&self, runs: &[Arc<Launchable>], fence: Fence) {
        // Made before anybody has to wait for it.
        let new = |run: &Arc<Launchable>| {
            let (canceller, _) = Cancel::pair();
            let flight = Flight { attempt: run.attempt, canceller, is_launched: false };
            ((run.run, fence), flight)
        };
        let new: Vec<_> = runs.iter().map(new).collect();
        let mut flights = self.flights();
        for (key, flight) in new {
            let before = flights.insert(key, flight);
            let is_another = before.is_none_or(|before| before.is_launched);
            self.waiting.fetch_add(usize::from(is_another), Ordering::Relaxed);
        }
    }

    /// Resolves when no more starts follow upon each other, or soon in any case: what is not a start can wait for them.
    pub(crate) async fn rush(&self) {
        let begun = Instant::now();
        let (mut launches, mut pause) = (self.launches.load(Ordering::Relaxed), 0);
        while self.is_crowded() && begun.elapsed() < RUSH_MAX && pause < RUSH_PAUSE_MAX {
            tokio::time::sleep(RUSH_LOOK).await;
            let before = std::mem::replace(&mut launches, self.launches.load(Ordering::Relaxed));
            pause = if before == launches { pause + 1 } else { 0 };
        }
    }

    /// Whether some wait for their place, or will in a moment.
    fn is_crowded(&self) -> bool {
        self.announced.load(Ordering::Relaxed) > 0 || self.waiting.load(Ordering::Relaxed) > 0
    }

    /// The flights of runs that have their place now, of each that is still in hand.
    pub(crate) fn launch(&self, runs: impl Iterator<Item = RunKey>, fence: Fence) -> Vec<Option<Flight>> {
        let mut flights = self.flights();
        let mut launch = |run: RunKey| {
            let flight = flights.get_mut(&(run, fence))?;
            let is_first = !std::mem::replace(&mut flight.is_launched, true);
            self.waiting.fetch_sub(usize::from(is_first), Ordering::Relaxed);
            self.launches.fetch_add(1, Ordering::Relaxed);
            Some(flight.clone())
        };
        runs.map(&mut launch).collect()
    }

    /// Forgets launched runs.
    pub(crate) fn remove(&self, runs: impl Iterator<Item = RunKey>, fence: Fence) {
        let mut flights = self.flights();
        for run in runs {
            let is_waiting = flights.remove(&(run, fence)).is_some_and(|flight| !flight.is_launched);
            self.waiting.fetch_sub(usize::from(is_waiting), Ordering::Relaxed);
        }
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
        self.waiting.store(0, Ordering::Relaxed);
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
        let new = |flight: &Flight| flight.canceller.output_of().take_new();
        own.filter_map(|((run, _), flight)| Some((*run, flight.attempt, new(flight)?))).collect()
    }

    /// Whether anything is in hand.
    pub(crate) fn is_any(&self) -> bool {
        !self.flights().is_empty()
    }

    /// How many were launched and have not ended.
    pub(crate) fn launched_count(&self) -> usize {
        let flights = self.flights();
        flights.len() - self.waiting.load(Ordering::Relaxed).min(flights.len())
    }

    fn flights(&self) -> MutexGuard<'_, BTreeMap<(RunKey, Fence), Flight>> {
        self.flights.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
