//! Following the ledger: rows that are new or have changed, as they come.

use std::collections::HashMap;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use punctual_plan::{Origin, RunKey};
use punctual_store::{Cut, RunFilter, RunRow, Store};

use super::App;
use super::runs::{History, RunsAsked, is_same};
use crate::Failure;

/// The longest wait between two looks: a change is a hint that may be lost.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Rows of one page.
const PAGE: u32 = 500;

/// Pages of one look.
const PAGES_MAX: usize = 20;

/// A row that came to its end is looked at this much longer, for those that are written late.
const LOOK_BACK: SignedDuration = SignedDuration::from_secs(120);

/// Rows that are remembered; the oldest that have ended are forgotten.
const REMEMBERED_MAX: usize = 100_000;

/// Somebody who follows the ledger.
pub struct Follow<'a> {
    app: &'a App,
    asked: RunsAsked,
    known: HashMap<RunKey, RunRow>,
    /// Stretches that were told.
    told: Vec<(punctual_plan::ScheduleId, Timestamp)>,
    looked_at: Timestamp,
}

impl App {
    /// Follows a part of the ledger from what is known of it.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn follow(&self, asked: RunsAsked, known: &History) -> Result<Follow<'_>, Failure> {
        let looked_at = self.now().await?;
        let told = known.ranges.iter().map(|row| (row.schedule_id, row.range.first)).collect();
        let known = known.runs.iter().map(|row| (row.run.key, row.clone())).collect();
        let asked = RunsAsked { since: asked.since.or(Some(looked_at)), until: None, ..asked };
        Ok(Follow { app: self, asked, known, told, looked_at })
    }

    /// Waits until somebody changed the database, or for a moment.
    pub async fn changed(&self) {
        // A hint that never comes must not keep anybody waiting.
        let _ = tokio::time::timeout(LOOK_EVERY, self.store.changed()).await;
    }
}

impl Follow<'_> {
    /// Waits for rows that are new or have changed; gives them oldest first.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn next(&mut self) -> Result<History, Failure> {
        loop {
            self.app.changed().await;
            let mut news = self.look().await?;
            if !news.runs.is_empty() || !news.ranges.is_empty() {
                self.app.add_zones(&mut news).await?;
                return Ok(news);
            }
        }
    }

    async fn look(&mut self) -> Result<History, Failure> {
        let now = self.app.now().await?;
        let mut rows = self.newest(now).await?;
        let open: Vec<RunKey> = self
            .known
            .values()
            .filter(|row| !row.run.state.status().is_terminal())
            .map(super::runs::key_of)
            .collect();
        for key in
            open.into_iter().filter(|key| !rows.iter().any(|row| row.run.key == *key)).collect::<Vec<_>>()
        {
            // One that vanished was ahead of its instant, and its schedule has changed.
            rows.extend(self.app.store.run(self.app.scope.clone(), key).await?);
        }
        rows.retain(|row| self.known.get(&row.run.key).is_none_or(|known| !is_same(known, row)));
        rows.sort_by_key(|row| (row.run.scheduled_for, row.run.key));
        self.known.extend(rows.iter().map(|row| (row.run.key, row.clone())));
        self.looked_at = now;
        self.forget();
        let ranges = self.stretches(now).await?;
        Ok(History { runs: rows, ranges, ..History::default() })
    }

    /// The rows since the last look, and those of the past that were asked for.
    async fn newest(&self, now: Timestamp) -> Result<Vec<RunRow>, Failure> {
        let filter = RunFilter { since: None, status: None, ..self.asked.filter(now) };
        let back = self.looked_at.saturating_sub(LOOK_BACK).unwrap_or(Timestamp::MIN);
        let mut rows = Vec::new();
        let mut cut = Cut::first(PAGE);
        for _ in 0..PAGES_MAX {
            let page = self.app.store.runs(self.app.scope.clone(), filter.clone(), cut).await?;
            let is_enough = page.rows.last().is_none_or(|row| row.run.scheduled_for < back);
            rows.extend(page.rows);
            let Some(after) = page.next.filter(|_| !is_enough) else { break };
            cut = Cut { after: Some(after), limit: PAGE };
        }
        if self.asked.origin.is_none() {
            let filter = RunFilter { origin: Some(Origin::Backfill), ..filter };
            rows.extend(self.app.store.runs(self.app.scope.clone(), filter, Cut::first(PAGE)).await?.rows);
            rows.sort_by_key(|row| row.run.key);
            rows.dedup_by_key(|row| row.run.key);
        }
        let is_new = |row: &RunRow| self.known.contains_key(&row.run.key) || self.is_after_start(row);
        rows.retain(|row| {
            is_new(row) && self.asked.status.is_none_or(|status| row.run.state.status() == status)
        });
        Ok(rows)
    }

    /// Whether something happened to a row since it is followed.
    fn is_after_start(&self, row: &RunRow) -> bool {
        let since = self.asked.since.unwrap_or(Timestamp::MIN);
        let happened =
            [Some(row.run.scheduled_for), Some(row.run.fire_at), row.enqueued_at, row.completed_at];
        happened.into_iter().flatten().any(|at| at >= since)
    }

    async fn stretches(&mut self, now: Timestamp) -> Result<Vec<punctual_store::RangeRow>, Failure> {
        let filter = RunFilter { since: None, ..self.asked.filter(now) };
        let mut rows = self.app.store.ranges(self.app.scope.clone(), filter, Cut::first(PAGE)).await?.rows;
        let since = self.asked.since.unwrap_or(Timestamp::MIN);
        rows.retain(|row| {
            row.recorded_at >= since && !self.told.contains(&(row.schedule_id, row.range.first))
        });
        self.told.extend(rows.iter().map(|row| (row.schedule_id, row.range.first)));
        Ok(rows)
    }

    fn forget(&mut self) {
        if self.known.len() <= REMEMBERED_MAX {
            return;
        }
        let back = self.looked_at.saturating_sub(LOOK_BACK).unwrap_or(Timestamp::MIN);
        self.known.retain(|_, row| !row.run.state.status().is_terminal() || row.run.scheduled_for >= back);
    }
}
