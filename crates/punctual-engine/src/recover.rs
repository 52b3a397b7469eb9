//! Recover: what an earlier process left in flight is settled from its journal, or launched.

use std::collections::HashSet;

use jiff::Timestamp;
use punctual_plan::rule::{Rule, holds};
use punctual_plan::{Action, Fence, RunKey};
use punctual_store::fail_point::{FailPoint, pass};
use punctual_store::{Attempt, BATCH_MAX, Error, HANDED_BACK, Launchable, Orphan, Report, Store};
use tracing::info;

use crate::batch::Sender;
use crate::journal::{Journal, Known};
use crate::membership::in_doubt;

/// Who recovers, and when.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Recovery<'a> {
    pub(crate) journal: &'a Journal,
    pub(crate) fence: Fence,
    pub(crate) now: Timestamp,
    /// Runs of which it is known that they were not launched, whatever the journal says of the lease they are held under.
    pub(crate) unlaunched: &'a HashSet<RunKey>,
}

/// Settles what the journal knows and gathers what was admitted and never launched.
pub(crate) async fn recover<S: Store>(
    store: &S,
    sender: &Sender,
    recovery: Recovery<'_>,
    launches: &mut Vec<Launchable>,
) -> Result<(), Error> {
    let Recovery { fence, now, .. } = recovery;
    loop {
        let left = store.take_over(fence, BATCH_MAX).await?;
        if left.is_empty() {
            return Ok(());
        }
        pass(FailPoint::RecoverTaken);
        let mut reports = Vec::new();
        for orphan in left.into_iter().filter(is_open) {
            match recovery.judge(&orphan) {
                Some(report) => reports.push(report),
                None => launches.push(orphan.launch),
            }
        }
        info!(settled = reports.len(), launched_now = launches.len(), "took up what was in flight");
        if !reports.is_empty() {
            sender.send(fence, now, |batch| store.settle(batch, reports.clone())).await?;
            pass(FailPoint::RecoverSettled);
        }
    }
}

/// Whether it is for a node to say what becomes of a run: what waits in a queue is its workers', and whoever has taken
/// a run answers for it by its token.
pub(crate) fn is_open(orphan: &Orphan) -> bool {
    !orphan.is_taken && !matches!(orphan.launch.definition.target.action, Action::Queue(_))
}

/// Hands back what is not this node's to launch: whoever can finds it as it was left.
pub(crate) async fn keep_own<S: Store>(
    store: &S,
    fence: Fence,
    launches: Vec<Launchable>,
    taken: impl Fn(&Action) -> bool,
) -> Result<Vec<Launchable>, Error> {
    let (own, others): (Vec<_>, Vec<_>) =
        launches.into_iter().partition(|run| taken(&run.definition.target.action));
    for some in others.chunks(BATCH_MAX) {
        store.hand_back(some.iter().map(|run| held(run, fence)).collect()).await?;
    }
    Ok(own)
}

/// An attempt that is held under a fence and was not launched.
pub(crate) fn held(run: &Launchable, fence: Fence) -> Attempt {
    Attempt { run: run.run, attempt: run.attempt, fence }
}

impl Recovery<'_> {
    /// What is known of a run that was left in flight; nothing if it was never launched.
    pub(crate) fn judge(&self, orphan: &Orphan) -> Option<Report> {
        let run = &orphan.launch;
        let doubt = in_doubt(run, self.fence, self.now);
        // Its node said that it was not launched, or this one found that out and lost its lease before it was.
        if orphan.held_by == HANDED_BACK || self.unlaunched.contains(&run.run) {
            return None;
        }
        // A message is in the outbox since its admission: it is in no doubt, and to launch it again does nothing twice.
        if matches!(run.definition.target.action, Action::Message { .. }) {
            return None;
        }
        match self.journal.known(run.run, run.attempt) {
            Some(Known::Launched) => holds(Rule::JournalIsHeard).then_some(doubt),
            Some(Known::Ended { outcome, at }) => Some(Report { outcome: outcome.clone(), at: *at, ..doubt }),
            // The journal speaks for its own node only: what another one admitted may have been launched.
            None => {
                let is_own = self.journal.is_of(orphan.held_by) || !holds(Rule::OthersAreInDoubt);
                (!is_own).then_some(doubt)
            }
        }
    }
}
