//! Flights: the attempts that this process has in hand, how each is told to end, and what it prints.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, MutexGuard};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use punctual_plan::rule::{Rule, holds};
use punctual_plan::{Fence, RunKey};
use punctual_store::{ANSWER_MARGIN_S, Attempt, Launchable};
use tokio::time::Instant;

use crate::brief::Brief;
use crate::keyed::ByKey;
use crate::launch::{Cancel, Canceller, Why};

/// An attempt in hand.
#[derive(Clone, Debug)]
pub(crate) struct Flight {
    pub(crate) attempt: u32,
    /// Which hand-over it is of: a run that was taken up again under a new lease may still be on its way from the last one.
    handed: usize,
    pub(crate) canceller: Canceller,
    /// Whether it was launched, and does not only wait for its place.
    pub(crate) is_launched: bool,
}

/// So many lines are kept that nobody uses.
const SPARE_MAX: usize = 16_384;

/// How often a rush is looked at.
const RUSH_LOOK: Duration = Duration::from_millis(2);

/// After so many looks without a start in between it is over; a busy machine has pauses as well.
const RUSH_PAUSE_MAX: u32 = 5;

/// What waits for the end of a rush waits no longer than this.
const RUSH_MAX: Duration = Duration::from_secs(1);

/// How long after its time is up a run is given up that nobody has answered for.
const ANSWER_MARGIN: SignedDuration = SignedDuration::from_secs(ANSWER_MARGIN_S);

/// Whether a run that is given up then may still be launched. One that waited for its place, or whose admission or take-over was
/// answered late, may be about to be given up by another node, which then launches its next attempt.
fn is_in_time(answer_by: Timestamp, now: Timestamp) -> bool {
    now < answer_by.saturating_sub(ANSWER_MARGIN / 2).unwrap_or(Timestamp::MIN) || !holds(Rule::LaunchInTime)
}

/// What tells one hand-over of a run from another: where it lies, for whoever compares holds it there.
fn identity(run: &Launchable) -> usize {
    if holds(Rule::FlightOfItsHandOver) { std::ptr::from_ref(run).addr() } else { 0 }
}

/// Everything in hand.
#[derive(Debug, Default)]
pub(crate) struct Flights {
    flights: Brief<InHand>,
    /// Lines that nobody uses: in a herd nothing has to be allocated and freed for them, by threads that wait for each other
    /// to do so.
    spare: Brief<Vec<Canceller>>,
    /// How many of them wait for their place.
    waiting: AtomicUsize,
    /// How many were ever launched.
    launches: AtomicU64,
    /// How many are about to be added.
    announced: AtomicUsize,
    /// How many will follow them as soon as they are committed.
    coming: AtomicUsize,
}

/// A run that was taken up again under a new fence is another flight.
#[derive(Debug, Default)]
struct InHand {
    by_attempt: ByKey<(RunKey, Fence), Flight>,
    /// The fences that any of them has, or had a while ago.
    fences: Vec<Fence>,
}

impl InHand {
    fn insert(&mut self, (run, fence): (RunKey, Fence), flight: Flight) -> Option<Flight> {
        if !self.fences.contains(&fence) {
            self.fences.push(fence);
        }
        self.by_attempt.insert((run, fence), flight)
    }

    /// Those under a fence, by their runs.
    fn under(&self, fence: Fence) -> Vec<(RunKey, &Flight)> {
        let own = self.by_attempt.iter().filter(|((_, held), _)| *held == fence);
        let mut own: Vec<_> = own.map(|((run, _), flight)| (*run, flight)).collect();
        own.sort_unstable_by_key(|(run, _)| *run);
        own
    }
}

impl Flights {
    /// Gets ready for so many.
    pub(crate) fn expect(&self, runs: usize) {
        let runs = runs.min(SPARE_MAX);
        let missing = runs.saturating_sub(self.spare.lock().len());
        self.spare.lock().extend((0..missing).map(|_| Cancel::pair().0));
        self.flights().by_attempt.reserve(runs);
    }

    /// So many will be added in a moment.
    pub(crate) fn announce(&self, runs: usize) {
        self.announced.store(runs, Ordering::Relaxed);
    }

    /// So many are to be committed at once, and follow then.
    pub(crate) fn await_commits(&self, runs: usize) {
        self.coming.store(runs, Ordering::Relaxed);
    }

    /// Adds runs that wait for their place.
    pub(crate) fn insert_all(&self, runs: &[Arc<Launchable>], fence: Fence) {
        // Made before anybody has to wait for it.
        let mut spare = {
            let mut spare = self.spare.lock();
            let from = spare.len().saturating_sub(runs.len());
            spare.split_off(from)
        };
        let new = |run: &Arc<Launchable>| {
            let canceller = spare.pop().unwrap_or_else(|| Cancel::pair().0);
            let (attempt, handed) = (run.attempt, identity(run));
            let flight = Flight { attempt, handed, canceller, is_launched: false };
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
            // What is about to be committed takes its time, and whatever is written meanwhile would be in its way.
            let is_coming = self.coming.load(Ordering::Relaxed) > 0;
            pause = if before == launches && !is_coming { pause + 1 } else { 0 };
        }
    }

    /// Whether some wait for their place, or will in a moment.
    fn is_crowded(&self) -> bool {
        [&self.announced, &self.coming, &self.waiting].iter().any(|some| some.load(Ordering::Relaxed) > 0)
    }

    /// The flights of runs that have their place now, of each that is still to be launched. One whose flight is gone, or is of
    /// another hand-over, was handed over under a fence that is not this node's any more.
    pub(crate) fn launch<'r>(
        &self,
        runs: impl Iterator<Item = &'r Launchable>,
        fence: Fence,
        now: Timestamp,
    ) -> Vec<Option<Flight>> {
        let mut flights = self.flights();
        let mut launch = |run: &Launchable| {
            let flight = flights.by_attempt.get_mut(&(run.run, fence))?;
            if flight.handed != identity(run) {
                return None;
            }
            let is_first = !std::mem::replace(&mut flight.is_launched, true);
            self.waiting.fetch_sub(usize::from(is_first), Ordering::Relaxed);
            self.launches.fetch_add(1, Ordering::Relaxed);
            let is_wanted = flight.canceller.cancel_of().why().is_none() && is_in_time(run.answer_by, now);
            is_wanted.then(|| flight.clone())
        };
        runs.map(&mut launch).collect()
    }

    /// Forgets launched runs.
    pub(crate) fn remove<'r>(&self, runs: impl Iterator<Item = &'r Launchable>, fence: Fence) {
        let mut flights = self.flights();
        let remove = |run: &Launchable| {
            let flight = flights.by_attempt.remove(&(run.run, fence))?;
            if flight.handed == identity(run) {
                return Some(flight);
            }
            // It is of another hand-over, and goes on.
            flights.by_attempt.insert((run.run, fence), flight);
            None
        };
        let mut gone: Vec<Flight> = runs.filter_map(remove).collect();
        drop(flights);
        let waited = gone.iter().filter(|flight| !flight.is_launched).count();
        self.waiting.fetch_sub(waited, Ordering::Relaxed);
        // The line of one that had nothing to say is as good as new.
        gone.retain_mut(|flight| flight.canceller.is_unused());
        let mut spare = self.spare.lock();
        let room = SPARE_MAX.saturating_sub(spare.len());
        spare.extend(gone.drain(..).take(room).map(|flight| flight.canceller));
    }

    /// Tells every attempt of a run to end.
    pub(crate) fn cancel(&self, run: RunKey, why: &Why) {
        let flights = self.flights();
        let own = flights.fences.iter().filter_map(|fence| flights.by_attempt.get(&(run, *fence)));
        own.for_each(|flight| flight.canceller.cancel(why.clone()));
    }

    /// Tells everything to end and forgets what was not launched.
    pub(crate) fn cancel_all(&self, why: &Why) {
        let mut flights = self.flights();
        flights.by_attempt.values().for_each(|flight| flight.canceller.cancel(why.clone()));
        flights.by_attempt.retain(|_, flight| flight.is_launched);
        let InHand { by_attempt, fences, .. } = &mut *flights;
        fences.retain(|fence| by_attempt.keys().any(|(_, held)| held == fence));
        self.waiting.store(0, Ordering::Relaxed);
    }

    /// The attempts under a fence.
    pub(crate) fn under(&self, fence: Fence) -> Vec<Attempt> {
        let attempt = |(run, flight): (RunKey, &Flight)| Attempt { run, attempt: flight.attempt, fence };
        self.flights().under(fence).into_iter().map(attempt).collect()
    }

    /// What attempts under a fence have printed since the last call.
    pub(crate) fn new_output(&self, fence: Fence) -> Vec<(RunKey, u32, String)> {
        let new = |(run, flight): (RunKey, &Flight)| {
            Some((run, flight.attempt, flight.canceller.output_of().take_new()?))
        };
        self.flights().under(fence).into_iter().filter_map(new).collect()
    }

    /// Whether anything is in hand.
    pub(crate) fn is_any(&self) -> bool {
        !self.flights().by_attempt.is_empty()
    }

    /// How many were launched and have not ended.
    pub(crate) fn launched_count(&self) -> usize {
        let all = self.flights().by_attempt.len();
        all - self.waiting.load(Ordering::Relaxed).min(all)
    }

    fn flights(&self) -> MutexGuard<'_, InHand> {
        self.flights.lock()
    }
}

#[cfg(test)]
mod tests {
    use punctual_plan::{Action, OrgKey, Origin, Schedule, ScheduleId, ScheduleKey};
    use punctual_time::{Cron, Timing, Zone};

    use super::*;

    fn run() -> Arc<Launchable> {
        let timing = Timing::new("* * * * *".parse::<Cron>().unwrap(), Zone::utc());
        let action = Action::Callback { task: "one".to_owned() };
        let definition = Schedule::new(ScheduleId(uuid::Uuid::from_u128(1)), "one", timing, action);
        Arc::new(Launchable {
            run: RunKey(1),
            schedule: ScheduleKey(1),
            org: OrgKey(1),
            definition: Arc::new(definition),
            origin: Origin::Tick,
            nonce: String::new(),
            scheduled_for: Timestamp::UNIX_EPOCH,
            fire_at: Timestamp::UNIX_EPOCH,
            attempt: 1,
            trace: None,
            token: None,
            answer_by: "2026-04-03T12:30:30Z".parse().unwrap(),
        })
    }

    #[test]
    fn what_others_are_about_to_give_up_is_not_launched_any_more() {
        let answer_by = run().answer_by;
        let left = |seconds: i64| is_in_time(answer_by, answer_by - SignedDuration::from_secs(seconds));
        assert_eq!([40, 16, 15, 0, -300].map(left), [true, true, false, false, false]);
    }

    #[test]
    fn what_was_handed_over_under_a_lost_lease_is_not_launched_with_what_was_taken_up_again() {
        let (flights, before, again) = (Flights::default(), run(), run());
        let launch = |run: &Arc<Launchable>| {
            flights.launch(std::iter::once(&**run), Fence(2), Timestamp::UNIX_EPOCH)[0].is_some()
        };
        flights.insert_all(std::slice::from_ref(&before), Fence(1));
        flights.cancel_all(&Why::Fenced);
        assert!(!launch(&before), "its lease is lost");
        flights.insert_all(std::slice::from_ref(&again), Fence(2));
        assert!(!launch(&before), "it is another hand-over");
        flights.remove(std::iter::once(&*before), Fence(2));
        assert!(launch(&again), "nobody else's end concerns it");
        flights.remove(std::iter::once(&*again), Fence(2));
        assert!(!flights.is_any());
    }
}
