//! Holding: what was mustered is carried out up to its commit before its instant, where the store can do that.
//!
//! A task of its own holds it, so that whatever the engine does meanwhile may wait for a row that is held: the commit
//! comes at the instant all the same. It is never broken off half-way, for what is committed has to be launched.

use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use punctual_plan::ScheduleKey;
use punctual_store::fail_point::{FailPoint, pass};
use punctual_store::{Batch, BatchId, Error, Store};
use tokio::sync::Notify;
use tokio::task::JoinSet;

use crate::admitter::{CalledUp, Caller, Mustered};
use crate::muster::LATE_MAX;
use crate::time::Time;
use crate::{Clock, Engine, Targets};

/// Fewer are admitted as quickly without it.
pub(crate) const HELD_MIN: usize = 200;

/// How long before its instant the smallest herd is held.
const BEFORE: SignedDuration = SignedDuration::from_millis(100);

/// How much longer for each of its runs: somewhat more than carrying it out takes.
const BEFORE_EACH: SignedDuration = SignedDuration::from_micros(30);

/// Whoever wants to change what is held waits no longer than this.
const BEFORE_MAX: SignedDuration = SignedDuration::from_millis(3_200);

/// From twice so many on a herd is held in two parts, over a connection each: a server has a core for each of them.
const PART_MIN: usize = 2_500;

/// In so many parts at most.
const PARTS_MAX: usize = 2;

/// How often the clock is looked at that says whether the instant has come.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// A hold, as the engine knows it.
pub(crate) struct Holding {
    pub(crate) at: Timestamp,
    /// The schedules of each part, in their order.
    pub(crate) schedules: Vec<Arc<Vec<ScheduleKey>>>,
    /// Told that they are not wanted any more.
    unwanted: Vec<Arc<Notify>>,
    /// A task for each part.
    tasks: JoinSet<Result<Option<CalledUp>, Error>>,
}

/// In how many parts so many runs are held.
pub(crate) fn parts_of(runs: usize) -> usize {
    (runs / PART_MIN).clamp(1, PARTS_MAX)
}

/// When so many runs that are due at an instant are held.
pub(crate) fn hold_from(at: Timestamp, runs: usize) -> Timestamp {
    let before = BEFORE + BEFORE_EACH * i32::try_from(runs).unwrap_or(i32::MAX);
    at - before.min(BEFORE_MAX)
}

/// What a hold is made of.
struct Kept<S, C> {
    store: Arc<S>,
    time: Arc<Time<C>>,
    caller: Caller,
    batch: Batch,
    unwanted: Arc<Notify>,
}

impl<S: Store, C: Clock> Kept<S, C> {
    /// Holds until the instant and commits; nothing, if it was not wanted any more, or its instant was slept through.
    async fn keep(self, mustered: Mustered) -> Result<Option<CalledUp>, Error> {
        let Self { store, time, caller, batch, unwanted } = self;
        store.hold(batch, mustered.ahead()).await?;
        pass(FailPoint::HeldBeforeInstant);
        while time.now() < batch.now {
            let left = Duration::try_from(batch.now.duration_since(time.now())).unwrap_or(Duration::ZERO);
            let is_unwanted = tokio::time::timeout(left.min(LOOK_EVERY), unwanted.notified()).await.is_ok();
            if is_unwanted {
                return undone(&*store, batch.id).await;
            }
        }
        if time.now().duration_since(batch.now) > LATE_MAX {
            return undone(&*store, batch.id).await;
        }
        caller.call(&*store, batch, mustered).await
    }
}

async fn undone<S: Store>(store: &S, batch: BatchId) -> Result<Option<CalledUp>, Error> {
    store.let_go(batch).await.map(|()| None)
}

impl<S: Store, C: Clock, T: Targets> Engine<S, C, T> {
    /// Begins to hold what is mustered.
    pub(crate) fn hold(&mut self, at: Timestamp, parts: Vec<Mustered>) {
        let schedules = parts.iter().map(Mustered::schedules).collect();
        let mut holding = Holding { at, schedules, unwanted: Vec::new(), tasks: JoinSet::new() };
        for part in parts {
            let (caller, unwanted) = (self.admitter.caller(), Arc::new(Notify::new()));
            let kept = Kept {
                store: Arc::clone(&self.store),
                time: Arc::clone(&self.time),
                batch: caller.batch(at),
                caller,
                unwanted: Arc::clone(&unwanted),
            };
            holding.unwanted.push(unwanted);
            holding.tasks.spawn(self.settings.task(kept.keep(part)));
        }
        self.holding = Some(holding);
    }

    /// The next part of what is held for an instant that has come, when it is committed or could not be.
    pub(crate) async fn held(&mut self, now: Timestamp) -> Option<Result<Option<CalledUp>, Error>> {
        let holding = self.holding.as_mut().filter(|holding| holding.at <= now)?;
        // What keeps it longer than this keeps nothing else; it is looked at again with each wake.
        let patience = Duration::try_from(LATE_MAX - now.duration_since(holding.at)).unwrap_or_default();
        let ended = tokio::time::timeout(patience, holding.end()).await.ok()?;
        if ended.is_none() {
            self.holding = None;
        }
        ended
    }

    /// Lets go of what is held: the clock was set, the lease is lost, or the engine stops. What is committed by now is
    /// launched.
    pub(crate) async fn let_go(&mut self) {
        let Some(mut holding) = self.holding.take() else { return };
        holding.unwanted.iter().for_each(|unwanted| unwanted.notify_one());
        let mut called = Vec::new();
        while let Some(ended) = holding.end().await {
            match ended {
                Ok(part) => called.extend(part),
                Err(problem) => self.complain(&problem, "admit"),
            }
        }
        self.launch_called(called).await;
    }
}

impl Holding {
    /// What became of the next part; none if there is none left.
    async fn end(&mut self) -> Option<Result<Option<CalledUp>, Error>> {
        // They are never aborted while somebody waits for them, and a panic in one is one of ours.
        self.tasks.join_next().await.map(|ended| ended.expect("it does not panic"))
    }
}
