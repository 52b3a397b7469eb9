//! Launches: who acts on the world, how often, and whether they may.

use jiff::Timestamp;
use punctual_plan::{Fence, Next, Outcome, RunKey};
use punctual_store::{AttemptToken, Launchable, Report, Settled};

use super::{Moment, Oracle};
use crate::sketch::Place;

impl Oracle {
    /// A node holds a lease until an instant of the database's clock.
    pub(crate) fn leased(&mut self, fence: Fence, until: Timestamp) {
        self.leases.insert(fence, until);
    }

    /// A node gave its lease up.
    pub(crate) fn left(&mut self, fence: Fence) {
        self.leases.remove(&fence);
    }

    fn is_leased(&self, moment: Moment, fence: Fence) -> bool {
        self.leases.get(&fence).is_some_and(|until| *until > moment.db)
    }

    /// A node wrote something that only a node with a lease may.
    pub(crate) fn wrote(&mut self, moment: Moment, fence: Fence, what: &str) {
        if !self.is_leased(moment, fence) {
            self.complain(moment, format!("5: {what} under fence {}, whose lease is over", fence.0));
        }
    }

    /// A node admitted a run. One that a later tick of the same batch has cancelled was never seen in flight, and counts.
    pub(crate) fn admitted(&mut self, run: RunKey, at: Timestamp) {
        let Some(seen) = self.runs.get_mut(&run).filter(|seen| seen.attempt == 0) else { return };
        seen.attempt = 1;
        let is_planned = seen.origin != punctual_plan::Origin::Manual;
        if let Some(known) = self.schedules.get_mut(&seen.schedule).filter(|_| is_planned) {
            known.admitted += 1;
            if known.present().max_runs == Some(known.admitted) {
                known.close(at);
            }
        }
    }

    /// A node admitted a run or took it over.
    pub(crate) fn held(&mut self, moment: Moment, run: RunKey, fence: Fence) {
        if let Some(of) = self.runs.get(&run).map(|seen| seen.schedule) {
            self.say(moment, of, format_args!("{run} is held under {}", fence.0));
        }
        if let Some(seen) = self.runs.get_mut(&run) {
            seen.holder = Some(fence);
        }
    }

    /// The world saw a launch.
    pub(crate) fn launched(&mut self, moment: Moment, launch: &Launchable, fence: Fence) {
        self.say(
            moment,
            launch.schedule,
            format_args!("{} attempt {} is launched under {}", launch.run, launch.attempt, fence.0),
        );
        let mut wrong = Vec::new();
        match self.runs.get_mut(&launch.run) {
            None => wrong.push("4: the ledger has no such run".to_owned()),
            Some(seen) => {
                if seen.attempt < launch.attempt {
                    wrong.push(format!("6: attempt {} was never admitted", launch.attempt));
                }
                if seen.tick != launch.scheduled_for.as_second() {
                    wrong.push(format!("4: it was launched for {}", launch.scheduled_for));
                }
                let is_message = self
                    .schedules
                    .get(&seen.schedule)
                    .and_then(|known| known.sketches.get(&seen.version))
                    .is_some_and(|sketch| sketch.place == Place::Outbox);
                if seen.launched >= launch.attempt && !is_message {
                    wrong.push(format!("4: attempt {} was launched before", launch.attempt));
                }
                seen.launched = seen.launched.max(launch.attempt);
            }
        }
        // A pause between the look at the lease and the launch is nobody's fault; a lease is longer than that.
        if !self.is_leased(moment, fence) && !self.is_stepped(moment) {
            wrong.push(format!("5: launched under fence {}, whose lease is over", fence.0));
        }
        for what in wrong {
            self.complain(moment, format!("{what} ({} attempt {})", launch.run, launch.attempt));
        }
    }

    /// A report was judged.
    pub(crate) fn settled(&mut self, moment: Moment, report: &Report, settled: &Settled) {
        let Some(settlement) = &settled.settlement else { return };
        let is_calm = self.is_calm(moment);
        let Some(seen) = self.runs.get(&report.run) else { return };
        let mut wrong = Vec::new();
        if let AttemptToken::Node(fence) = report.token
            && seen.holder.is_some_and(|holder| holder != fence)
        {
            wrong.push(format!("5: fence {} settled what fence {:?} holds", fence.0, seen.holder));
        }
        if matches!(report.outcome, Outcome::InDoubt | Outcome::Lost) {
            let sketch =
                self.schedules.get(&seen.schedule).and_then(|known| known.sketches.get(&seen.version));
            let once =
                sketch.is_some_and(|sketch| sketch.policy.delivery == punctual_plan::Delivery::AtMostOnce);
            if once && matches!(settlement.next, Next::Retry { .. }) {
                wrong.push(format!(
                    "4: nobody knows how it ended, at most once, and repeated: {:?}",
                    report.outcome
                ));
            }
            if is_calm && report.outcome == Outcome::InDoubt {
                wrong.push("L1: it is in doubt and nothing was wrong".to_owned());
            }
        }
        for what in wrong {
            self.complain(moment, format!("{what} ({} attempt {})", report.run, report.attempt));
        }
    }
}
