//! Targets: where a run goes. Each has one verb, `run`, and gives back how it ended.

pub(crate) mod output;
pub(crate) mod process;

use punctual_plan::Outcome;

/// The end of an attempt.
#[derive(Debug)]
pub(crate) struct Finished {
    /// How it ended.
    pub(crate) outcome: Outcome,
    /// What it printed, within bounds.
    pub(crate) output: Option<String>,
}

impl Finished {
    /// An attempt that never started.
    pub(crate) fn failed(error: String) -> Self {
        Self { outcome: Outcome::LaunchFailed { error }, output: None }
    }
}
