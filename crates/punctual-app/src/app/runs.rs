//! Runs: the ledger as people ask for it, and what they do about single runs.

use std::collections::{HashMap, HashSet};
use std::fmt;

use jiff::{SignedDuration, Timestamp};
use punctual_plan::{Origin, RunKey, RunStatus, ScheduleId};
use punctual_store::{Cut, RangeRow, RunFilter, RunRow, Selector, Store};
use punctual_time::Zone;

use super::App;
use super::find::zone_of;
use super::list::{printable, typed};
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
    /// Where a page before ended.
    pub after: Option<String>,
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
    /// Where the next page begins, if there are more entries.
    pub next: Option<String>,
}

impl App {
    /// The entries that are asked for.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn history(&self, asked: &RunsAsked) -> Result<History, Failure> {
        let filter = asked.filter(self.now().await?);
        let after = asked.after.as_deref().map(Page::read).transpose()?;
        let cut = Cut { after: after.as_ref().map(|page| page.cursor.clone()), limit: asked.limit };
        let runs = self.store.runs(self.scope.clone(), filter.clone(), cut).await?;
        let ranges = self.store.ranges(self.scope.clone(), filter, Cut::first(asked.limit)).await?;
        let oldest = runs.rows.last().map_or(Timestamp::MIN, |row| row.run.scheduled_for);
        let mut history = History {
            is_more: runs.next.is_some() || ranges.next.is_some(),
            next: runs.next.clone().map(|cursor| Page { oldest, cursor }.to_string()),
            runs: runs.rows,
            ranges: ranges.rows,
            zones: HashMap::new(),
        };
        // The page before has shown the stretches that reach into its entries.
        if let Some(page) = after {
            history.ranges.retain(|row| row.range.last < page.oldest);
        }
        // Of two lists that are both cut, only what is newer than both cuts is known to be whole.
        if runs.next.is_some() {
            let oldest = history.runs.last().map_or(Timestamp::MIN, |row| row.run.scheduled_for);
            history.ranges.retain(|row| row.range.last >= oldest);
        }
        if ranges.next.is_some() {
            let oldest = history.ranges.last().map_or(Timestamp::MIN, |row| row.range.first);
            history.runs.retain(|row| row.run.scheduled_for >= oldest);
        }
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

/// Where a page of the ledger ended.
struct Page {
    /// The tick of its last entry.
    oldest: Timestamp,
    /// That entry, as the store has it.
    cursor: String,
}

impl Page {
    fn read(text: &str) -> Result<Self, Failure> {
        let read = text
            .split_once('~')
            .and_then(|(oldest, cursor)| Some(Self { oldest: oldest.parse().ok()?, cursor: typed(cursor) }));
        read.ok_or_else(|| {
            Failure::invalid(format!("`{text}` is not where a page ended"), "give `next` of the page before")
        })
    }
}

impl fmt::Display for Page {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}~{}", self.oldest, printable(&self.cursor))
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
