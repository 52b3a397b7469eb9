//! The ledger of a schedule.

use jiff::SignedDuration;
use punctual_store::{Cut, RangeRow, RunFilter, RunRow, Selector, Store};

use super::App;
use crate::Failure;

/// The ledger of one schedule.
#[derive(Clone, Debug)]
pub struct History {
    /// Its entries, newest first.
    pub runs: Vec<RunRow>,
    /// Its missed stretches, newest first.
    pub ranges: Vec<RangeRow>,
}

impl App {
    /// The ledger of a schedule up to now, living or deleted.
    ///
    /// # Errors
    /// When there is no such schedule.
    pub async fn history(&self, selector: Selector, limit: u32) -> Result<History, Failure> {
        let schedule = self.get(selector).await?.definition.id;
        let filter =
            RunFilter { schedule: Some(schedule), until: Some(self.now().await?), ..RunFilter::default() };
        let runs = self.store.runs(self.scope(), filter.clone(), Cut::first(limit)).await?;
        let ranges = self.store.ranges(self.scope(), filter, Cut::first(limit)).await?;
        Ok(History { runs: runs.rows, ranges: ranges.rows })
    }
}

/// How late a run was launched, if it was.
pub fn lateness(run: &RunRow) -> Option<SignedDuration> {
    run.started_at.map(|started_at| started_at.duration_since(run.run.fire_at))
}
