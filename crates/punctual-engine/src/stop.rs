//! The end of an engine: nothing more is admitted, what runs may end, the rest is handed back.

use std::sync::Arc;
use std::time::Duration;

use punctual_store::{BATCH_MAX, Launchable, Store};
use tracing::{info, warn};

use crate::Clock;
use crate::engine::Engine;
use crate::launch::{Targets, Why};
use crate::membership::Beat;
use crate::recover::held;

/// How a stop went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stopped {
    /// Runs that had not ended; the next start finds them in doubt.
    pub left_in_flight: usize,
    /// Runs that were admitted and not launched; whoever takes them up launches them.
    pub handed_back: usize,
}

impl<S: Store, C: Clock, T: Targets> Engine<S, C, T> {
    /// Admits nothing more, lets what runs end, hands back what was not launched.
    pub(crate) async fn stop(mut self) -> Stopped {
        let unlaunched = self.launcher.close();
        self.give_back(&unlaunched).await;
        let in_flight = self.launcher.in_flight();
        if in_flight > 0 {
            info!(in_flight, "waiting for runs to end");
        }
        let left_in_flight = self.drain().await;
        // A run that had its place when the lanes were closed, and no certain lease, was put back meanwhile.
        let put_back = self.launcher.hand_back();
        self.give_back(&put_back).await;
        if left_in_flight > 0 {
            warn!(left_in_flight, "stopped before these runs ended; the next start settles them");
        }
        self.launcher.abandon();
        // It writes what it was told before, and ends.
        while self.settler.join_next().await.is_some() {}
        drop(self.messages);
        while self.duties.join_next().await.is_some() {}
        if let Err(problem) = self.store.leave(self.membership.lease.fence()).await {
            warn!(%problem, "cannot leave; the lease ends by itself");
        }
        Stopped { left_in_flight, handed_back: unlaunched.len() + put_back.len() }
    }

    /// Says in the ledger what was not launched, so that whoever takes it up need not doubt.
    async fn give_back(&mut self, unlaunched: &[Arc<Launchable>]) {
        let fence = self.membership.lease.fence();
        for some in unlaunched.chunks(BATCH_MAX) {
            let unlaunched = some.iter().map(|run| held(run, fence)).collect();
            if let Err(problem) = self.store.hand_back(unlaunched).await {
                self.complain(&problem, "hand_back");
            }
        }
    }

    /// Waits for what runs, and keeps the lease meanwhile; gives back how many are left.
    async fn drain(&mut self) -> usize {
        let until = tokio::time::Instant::now() + self.settings.drain_for;
        while self.launcher.in_flight() > 0 {
            let pause = tokio::time::Instant::now() + Duration::from_secs(1);
            let drained = tokio::time::timeout_at(pause.min(until), self.launcher.drain()).await;
            if drained.is_ok() || tokio::time::Instant::now() >= until {
                break;
            }
            if self.membership.beat(&*self.store, &self.time).await == Beat::Lost {
                self.flights.cancel_all(&Why::Fenced);
            }
        }
        self.launcher.in_flight()
    }
}
