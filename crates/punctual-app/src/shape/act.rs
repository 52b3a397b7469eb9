//! What was done about single runs.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Run;

/// Runs that were to be cancelled.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Cancelled {
    /// What became of each.
    pub runs: Vec<CancelledRun>,
}

/// A run that was to be cancelled.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct CancelledRun {
    /// Whether this was what ended it.
    pub cancelled: bool,
    /// The run as it is now.
    pub run: Run,
}

impl From<&crate::Cancelled> for CancelledRun {
    fn from(one: &crate::Cancelled) -> Self {
        Self { cancelled: one.is_done, run: Run::from(&one.run).plain() }
    }
}

/// A run that was wanted again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Retried {
    /// The run.
    pub retried: String,
    /// The run that comes of it: a new one, or itself.
    pub run_id: String,
    /// Whether that is a new one.
    pub new: bool,
}
