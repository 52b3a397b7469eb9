//! Recover: what an earlier process left in flight is settled from its journal, or launched.

use punctual_plan::{Fence, Outcome};
use punctual_store::{AttemptToken, BATCH_MAX, Error, Launchable, Report, Store};
use tracing::info;

use crate::batch::Sender;
use crate::journal::Known;
use crate::{Clock, Journal};

/// Settles what the journal knows and gives back what was admitted and never launched.
pub(crate) async fn recover<S: Store, C: Clock>(
    store: &S,
    clock: &C,
    journal: &Journal,
    fence: Fence,
) -> Result<Vec<Launchable>, Error> {
    let mut launches = Vec::new();
    loop {
        let left = store.take_over(fence, BATCH_MAX).await?;
        if left.is_empty() {
            return Ok(launches);
        }
        let mut reports = Vec::new();
        for run in left {
            match judge(journal, &run, fence, clock) {
                Some(report) => reports.push(report),
                None => launches.push(run),
            }
        }
        info!(settled = reports.len(), launched_now = launches.len(), "took up what was in flight");
        Sender::new(fence).send(clock.now(), |batch| store.settle(batch, reports.clone())).await?;
    }
}

/// What is known of a run that was left in flight; nothing if it was never launched.
fn judge<C: Clock>(journal: &Journal, run: &Launchable, fence: Fence, clock: &C) -> Option<Report> {
    let (outcome, at) = match journal.known(run.run, run.attempt)? {
        Known::Launched => (Outcome::InDoubt, clock.now()),
        Known::Ended { outcome, at } => (outcome.clone(), *at),
    };
    Some(Report {
        run: run.run,
        attempt: run.attempt,
        token: AttemptToken::Node(fence),
        outcome,
        started_at: None,
        at,
        output: None,
    })
}
