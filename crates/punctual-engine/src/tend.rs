//! What a node does about its clocks and its lease before it looks at anything else.

use jiff::Timestamp;
use punctual_plan::Event;
use punctual_store::{Error, Store};
use tracing::{error, info, warn};

use crate::launch::{Targets, Why};
use crate::launcher::Doors;
use crate::membership::Beat;
use crate::time::Upset;
use crate::{Clock, Engine};

impl<S: Store, C: Clock, T: Targets> Engine<S, C, T> {
    /// Notices what has happened to the clocks: everything that was computed by them is computed anew.
    pub(crate) async fn look_at_clocks(&mut self) {
        let upsets = self.watch.look(self.time.clock());
        if upsets.is_empty() {
            return;
        }
        for upset in &upsets {
            match upset {
                Upset::Step(by) => {
                    let direction = if by.is_negative() { "backward" } else { "forward" };
                    self.metrics.clock_steps.add(&[direction]);
                    warn!(by_ms = by.as_millis() as i64, direction, "the clock was set");
                }
                Upset::Suspend(slept) => {
                    self.metrics.suspends.add(1);
                    warn!(slept_ms = slept.as_millis() as i64, "the machine was suspended");
                }
            }
        }
        self.reckon_anew().await;
        // Where the database has a clock of its own, nothing is admitted by one that has just been set.
        if let Err(problem) = self.time.ask(&*self.store).await {
            self.complain(&problem, "now");
        }
        self.note(upsets).await;
    }

    /// Forgets every instant that was computed by a clock which was set since.
    async fn reckon_anew(&mut self) {
        // What is held was held for an instant of the clock as it was.
        self.let_go().await;
        self.membership.upset();
        self.plan_at = Some(Timestamp::MIN);
        // The next heartbeat wants to know it anyway.
        (self.ask_ended_at, self.asked_ended_at) = (None, Timestamp::MIN);
    }

    /// Writes what happened to the clocks into the audit log of the installation.
    async fn note(&mut self, upsets: Vec<Upset>) {
        for upset in upsets {
            let node = self.id.clone();
            let event = match upset {
                Upset::Step(by) => Event::ClockStepped { node, by },
                Upset::Suspend(slept) => Event::Suspended { node, slept },
            };
            if let Err(problem) = self.store.note(self.time.now(), event).await {
                self.complain(&problem, "note");
            }
        }
    }

    /// Renews the lease; takes up what dead nodes left; begins anew if the lease was lost.
    pub(crate) async fn tend(&mut self) {
        match self.membership.beat(&*self.store, &self.time).await {
            Beat::None => return,
            Beat::Renewed => {}
            Beat::Moved => self.plan_at = Some(Timestamp::MIN),
            Beat::SetBack => self.reckon_anew().await,
            Beat::Lost => {
                if let Err(problem) = self.join_again().await {
                    return self.complain(&problem, "join");
                }
            }
        }
        self.launcher.resume();
        self.want_ended();
        let now = self.time.now();
        let launcher = &self.launcher;
        match self.membership.take_up(&*self.store, now, |action| launcher.takes(action)).await {
            Ok(launches) => self.launch(launches, self.membership.lease.fence()),
            Err(problem) => self.complain(&problem, "take_over"),
        }
    }

    /// Stops all work of the lease that was lost and takes another one.
    async fn join_again(&mut self) -> Result<(), Error> {
        self.let_go().await;
        self.metrics.fence_losses.add(1);
        self.flights.cancel_all(&Why::Fenced);
        self.launcher.hand_back();
        error!(
            stopped = self.launcher.in_flight(),
            "the lease was lost: what runs here does not count any more"
        );
        // Nothing is done under a new lease by a time that was heard under the old one.
        self.time.ask(&*self.store).await?;
        let node = self.settings.node(self.time.now());
        self.id.clone_from(&node.id);
        let fence = self.membership.join_again(&*self.store, &self.time, node).await?;
        info!(fence = fence.0, "this node has a new lease");
        let noted = self.membership.journal.lock().joined(fence);
        if let Err(problem) = noted {
            warn!(%problem, "the launch journal cannot be written");
        }
        self.plan_at = Some(Timestamp::MIN);
        Ok(())
    }
}
