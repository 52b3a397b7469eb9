//! Recover: what an earlier process left in flight is settled from its journal, or launched.

use punctual_plan::{Delivery, Fence, InFlight, Launch, Outcome, Policy, RunKey, Situation, settle};
use punctual_store::{Ended, Error, Launchable, Store};
use tracing::info;

use crate::journal::Known;
use crate::{Clock, Journal};

/// Settles what the journal knows and gives back what was admitted and never launched.
pub(crate) async fn recover<S: Store, C: Clock>(
    store: &S,
    clock: &C,
    journal: &Journal,
    left: Left,
) -> Result<Vec<Launchable>, Error> {
    let mut launches = Vec::new();
    let policy = once();
    let mut ended = Vec::new();
    for run in left.runs {
        let in_flight = InFlight { run: run.run, schedule: run.schedule };
        let settlement = match journal.known(run.run) {
            None => {
                launches.push(run);
                continue;
            }
            Some(Known::Launched) => {
                settle(in_flight, Outcome::InDoubt, &Situation::first(&policy, clock.now()))
            }
            Some(Known::Ended { outcome, at }) => {
                settle(in_flight, outcome.clone(), &Situation::first(&policy, *at))
            }
        };
        ended.push(Ended { settlement, started_at: None, output: None });
    }
    let settled: Vec<RunKey> = ended.iter().map(|one| one.settlement.in_flight.run).collect();
    if !(settled.is_empty() && launches.is_empty()) {
        info!(settled = settled.len(), launched_now = launches.len(), "took up what was in flight");
    }
    store.settle(left.fence, ended).await?;
    Ok(launches)
}

/// The policy that every run is settled by while attempts are not stored: none is repeated.
pub(crate) fn once() -> Policy {
    let launch = Launch { attempts_max: 1, ..Launch::default() };
    Policy { launch, delivery: Delivery::AtMostOnce, ..Policy::default() }
}

/// What an earlier process left in flight, and the fence that now holds it.
pub(crate) struct Left {
    pub(crate) fence: Fence,
    pub(crate) runs: Vec<Launchable>,
}
