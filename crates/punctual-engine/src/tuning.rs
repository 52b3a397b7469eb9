//! What can be changed about an engine while it runs: its pace, and how long rows are kept.

use std::sync::Arc;

use punctual_plan::Pace;
use punctual_store::Retention;
use tokio::sync::watch;

use crate::settings::bounded;

/// How an engine works, as far as that can change while it runs.
#[derive(Clone, Copy, Debug)]
pub struct Tuning {
    /// How long the loop sleeps at most, how far ahead ticks become ledger rows, and how fast late ones fire.
    pub pace: Pace,
    /// How long rows are kept.
    pub retention: Retention,
}

/// Changes how a running engine works; clones are for the same engine.
#[derive(Clone, Debug)]
pub struct Tuner(Arc<watch::Sender<Tuning>>);

impl Tuner {
    pub(crate) fn new(tuning: Tuning) -> Self {
        Self(Arc::new(watch::Sender::new(tuning)))
    }

    /// Lets the engine work so from its next look on, which is at once; within the bounds that hold at its start.
    pub fn set(&self, tuning: Tuning) {
        self.0.send_replace(Tuning { pace: bounded(tuning.pace), ..tuning });
    }

    pub(crate) fn heard(&self) -> watch::Receiver<Tuning> {
        self.0.subscribe()
    }
}
