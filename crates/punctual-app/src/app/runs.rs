//! Runs: the ledger as people ask for it, and what they do about single runs.

use std::collections::{HashMap, HashSet};

use jiff::{SignedDuration, Timestamp};
use punctual_plan::{Origin, RunKey, RunStatus, ScheduleId};
use punctual_store::{Cut, RangeRow, RunFilter, RunRow, Selector, Store};
use punctual_time::Zone;

use super::App;
use super::find::zone_of;
use crate::Failure;

/// Which part of the ledger is asked for.
#[derive(Clone, Debug, Default)]
pub struct RunsAsked {
    /// Of this schedule; of all, if none.
    pub schedule: Option<ScheduleId>,
    /// In this state.
    pub status: Option<RunStatus>,
    /// Of this origin.
    pub origin: Option<Origin>,
    /// Ticks from here.
    pub since: Option<Timestamp>,
    /// Ticks up to here, included; up to now, if none and no state is asked for that lies ahead.
    pub until: Option<Timestamp>,
    /// At most so many entries, the newest.
    pub limit: u32,
    /// Without what the runs printed.
    pub is_silent: bool,
}

impl RunsAsked {
    pub(super) fn filter(&self, now: Timestamp) -> RunFilter {
        let is_ahead = self.status == Some(RunStatus::Scheduled);
        RunFilter {
            schedule: self.schedule,
            status: self.status,
            origin: self.origin,
            since: self.since,
            until: self.until.or((!is_ahead).then_some(now)),
        }
    }
}

/// A part of the ledger.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// Its entries, newest first.
    pub runs: Vec<RunRow>,
    /// Its stretches, newest first: equal non-fires, and digests of what is past retention.
    pub ranges: Vec<RangeRow>,
    /// The zones of the schedules in it.
    pub zones: HashMap<ScheduleId, Zone>,
    /// Whether there is more of it before.
    pub is_more: bool,
}

/// Entries of one page.
const PAGE: u32 = 1_000;

/// A walk through a part of the ledger, newest first, for whoever need not hold all of it at once.
pub struct Walk<'a> {
    app: &'a App,
    filter: RunFilter,
    /// How many more entries are wanted.
    left: u32,
    /// Where the next page begins; nothing once the last one was given.
    next: Option<Cut>,
    ranges: Vec<RangeRow>,
    is_more: bool,
    oldest: Timestamp,
}

impl Walk<'_> {
    /// The next entries; nothing at the end.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn next(&mut self) -> Result<Option<Vec<RunRow>>, Failure> {
        let Some(cut) = self.next.take() else { return Ok(None) };
        let limit = self.left.min(PAGE);
        let page = self.app.store.runs(self.app.scope(), self.filter.clone(), Cut { limit, ..cut }).await?;
        self.left -= u32::try_from(page.rows.len()).unwrap_or(self.left);
        self.oldest = page.rows.last().map_or(self.oldest, |row| row.run.scheduled_for);
        match page.next {
            Some(_) if self.left == 0 => {
                self.is_more = true;
                // Of two lists that are both cut, only what is newer than both cuts is known to be whole.
                let oldest = self.oldest;
                self.ranges.retain(|row| row.range.last >= oldest);
            }
            next => self.next = next.map(|after| Cut { after: Some(after), limit: PAGE }),
        }
        Ok(Some(page.rows))
    }

    /// The stretches beside the entries that were walked through, and whether there is more of it before.
    pub fn end(self) -> History {
        History { ranges: self.ranges, is_more: self.is_more, ..History::default() }
    }
}

impl App {
    /// Walks through the entries that are asked for.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn walk(&self, asked: &RunsAsked) -> Result<Walk<'_>, Failure> {
        let mut filter = asked.filter(self.now().await?);
        let ranges = self.store.ranges(self.scope.clone(), filter.clone(), Cut::first(asked.limit)).await?;
        let is_more = ranges.next.is_some();
        if let Some(oldest) = ranges.rows.last().filter(|_| is_more) {
            filter.since = filter.since.max(Some(oldest.range.first));
        }
        let next = Some(Cut::first(PAGE));
        let (left, oldest) = (asked.limit, Timestamp::MAX);
        Ok(Walk { app: self, filter, left, next, ranges: ranges.rows, is_more, oldest })
    }

    /// The entries that are asked for.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn history(&self, asked: &RunsAsked) -> Result<History, Failure> {
        let mut walk = self.walk(asked).await?;
        let mut runs = Vec::new();
        while let Some(page) = walk.next().await? {
            runs.extend(page.into_iter().map(|mut row| {
                row.output = row.output.filter(|_| !asked.is_silent);
                row
            }));
        }
        let mut history = History { runs, ..walk.end() };
        self.add_zones(&mut history).await?;
        Ok(history)
    }

    /// Adds the zones of the schedules.
    pub(super) async fn add_zones(&self, history: &mut History) -> Result<(), Failure> {
        let of_runs = history.runs.iter().map(|row| row.schedule_id);
        let ids: HashSet<ScheduleId> =
            of_runs.chain(history.ranges.iter().map(|row| row.schedule_id)).collect();
        for id in ids {
            let row = self.store.schedule(self.scope.clone(), Selector::Id(id)).await?;
            history.zones.insert(id, row.as_ref().map_or_else(Zone::utc, zone_of));
        }
        Ok(())
    }

    /// The zone of a run's schedule.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn zone_of_run(&self, run: &RunRow) -> Result<Zone, Failure> {
        let row = self.store.schedule(self.scope.clone(), Selector::Id(run.schedule_id)).await?;
        Ok(row.as_ref().map_or_else(Zone::utc, zone_of))
    }
}

/// What a run is known by to whoever asked for it: the request's key, or what the executor calls it.
pub fn request_id(run: &RunRow) -> Option<&str> {
    let asked = matches!(run.run.origin, Origin::Manual | Origin::Backfill).then_some(run.run.nonce.as_str());
    asked.or(run.executor_run_id.as_deref())
}

/// How late a run was launched, if it was.
pub fn lateness(run: &RunRow) -> Option<SignedDuration> {
    run.started_at.map(|started_at| started_at.duration_since(run.run.fire_at))
}

/// Whether two rows of the same run say the same.
pub(super) fn is_same(one: &RunRow, other: &RunRow) -> bool {
    one.run.state == other.run.state
        && one.run.fire_at == other.run.fire_at
        && one.started_at == other.started_at
        && one.executor_run_id == other.executor_run_id
}

/// The key of a run, for those who follow it.
pub(super) fn key_of(row: &RunRow) -> RunKey {
    row.run.key
}
