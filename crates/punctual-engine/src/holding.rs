//! Holding: what was mustered is carried out up to its commit before its instant, where the store can do that.
//!
//! A task of its own holds it, so that whatever the engine does meanwhile may wait for a row that is held: the commit
//! comes at the instant all the same. It is never broken off half-way, for what is committed has to be launched.

use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
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

/// How much longer for each of its runs: about twice what carrying it out takes.
const BEFORE_EACH: SignedDuration = SignedDuration::from_micros(20);

/// Whoever wants to change what is held waits no longer than this.
const BEFORE_MAX: SignedDuration = SignedDuration::from_millis(1_500);

/// How often the clock is looked at that says whether the instant has come.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// A hold, as the engine knows it.
pub(crate) struct Holding {
    pub(crate) at: Timestamp,
    /// Told that it is not wanted any more.
    unwanted: Arc<Notify>,
    task: JoinSet<Result<Option<CalledUp>, Error>>,
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
    pub(crate) fn hold(&mut self, at: Timestamp, mustered: Mustered) {
        let (caller, unwanted) = (self.admitter.caller(), Arc::new(Notify::new()));
        let kept = Kept {
            store: Arc::clone(&self.store),
            time: Arc::clone(&self.time),
            batch: caller.batch(at),
            caller,
            unwanted: Arc::clone(&unwanted),
        };
        let mut task = JoinSet::new();
        task.spawn(self.settings.task(kept.keep(mustered)));
        self.holding = Some(Holding { at, unwanted, task });
    }

    /// What is held for an instant that has come, when it is committed.
    pub(crate) async fn held(&mut self, now: Timestamp) -> Result<Option<CalledUp>, Error> {
        let Some(holding) = self.holding.as_mut().filter(|holding| holding.at <= now) else {
            return Ok(None);
        };
        // What keeps it longer than this keeps nothing else; it is looked at again with each wake.
        let patience = Duration::try_from(LATE_MAX - now.duration_since(holding.at)).unwrap_or_default();
        match tokio::time::timeout(patience, holding.end()).await {
            Ok(ended) => {
                self.holding = None;
                ended
            }
            Err(_) => Ok(None),
        }
    }

    /// Lets go of what is held: the clock was set, the lease is lost, or the engine stops. What is committed by now is
    /// launched.
    pub(crate) async fn let_go(&mut self) {
        let Some(mut holding) = self.holding.take() else { return };
        holding.unwanted.notify_one();
        match holding.end().await {
            Ok(Some(called)) => self.launch_called(called).await,
            Ok(None) => {}
            Err(problem) => self.complain(&problem, "admit"),
        }
    }
}

impl Holding {
    async fn end(&mut self) -> Result<Option<CalledUp>, Error> {
        // It is never aborted while somebody waits for it, and a panic in it is one of ours.
        let ended = self.task.join_next().await.expect("it is one task");
        ended.expect("it does not panic")
    }
}
