//! Flights: the attempts that this process has in hand, how each is told to end, and what it prints.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use punctual_plan::{Fence, RunKey};
use punctual_store::Attempt;

use crate::launch::{Canceller, LiveOutput, Why};

/// An attempt in hand.
#[derive(Clone, Debug)]
pub(crate) struct Flight {
    pub(crate) attempt: u32,
    pub(crate) canceller: Canceller,
    pub(crate) output: LiveOutput,
    /// Whether it was launched, and does not only wait for its place.
    pub(crate) is_launched: bool,
}

/// Everything in hand. A run that was taken up again under a new fence is another flight.
#[derive(Debug, Default)]
pub(crate) struct Flights(Mutex<BTreeMap<(RunKey, Fence), Flight>>);

impl Flights {
    pub(crate) fn insert(&self, run: RunKey, fence: Fence, flight: Flight) {
        self.flights().insert((run, fence), flight);
    }

    pub(crate) fn get(&self, run: RunKey, fence: Fence) -> Option<Flight> {
        self.flights().get(&(run, fence)).cloned()
    }

    pub(crate) fn launched(&self, run: RunKey, fence: Fence) {
        if let Some(flight) = self.flights().get_mut(&(run, fence)) {
            flight.is_launched = true;
        }
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
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
