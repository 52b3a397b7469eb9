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
    /// Where the next page begins, if there are more entries.
    pub next: Option<String>,
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
    /// Where whoever wants more begins, if there is more.
    rest: Option<Place>,
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
            Some(cursor) if self.left == 0 => {
                let oldest = self.oldest;
                self.rest = Some(Place::Entry { oldest, cursor });
                // Of two lists that are both cut, only what is newer than both cuts is known to be whole.
                self.ranges.retain(|row| row.range.last >= oldest);
            }
            next => self.next = next.map(|after| Cut { after: Some(after), limit: PAGE }),
        }
        Ok(Some(page.rows))
    }

    /// The stretches beside the entries that were walked through, whether there is more of it before, and where.
    pub fn end(self) -> History {
        let next = self.rest.map(|place| place.to_string());
        History { ranges: self.ranges, is_more: next.is_some(), next, ..History::default() }
    }
}

impl App {
    /// Walks through the entries that are asked for.
    ///
    /// # Errors
    /// When a page before did not end where it is said, or the database fails.
    pub async fn walk(&self, asked: &RunsAsked) -> Result<Walk<'_>, Failure> {
        let after = asked.after.as_deref().map(Place::read).transpose()?;
        let mut filter = asked.filter(self.now().await?);
        let (mut entries, mut stretches) = (Cut::first(PAGE), Cut::first(asked.limit));
        let mut touching = filter.clone();
        match &after {
            None => {}
            Some(Place::Entry { oldest, cursor }) => {
                entries.after = Some(cursor.clone());
                touching.until = touching.until.into_iter().chain([*oldest]).min();
            }
            Some(Place::Stretch { first, cursor }) => {
                stretches.after = Some(cursor.clone());
                let before = first.saturating_sub(SignedDuration::from_nanos(1)).unwrap_or(Timestamp::MIN);
                filter.until = filter.until.into_iter().chain([before]).min();
            }
        }
        let ranges = self.store.ranges(self.scope(), touching, stretches).await?;
        let last = ranges.rows.last().map(|row| row.range.first);
        // What is older than the last of them waits for the page on which the next stretches are.
        let rest = last.zip(ranges.next).map(|(first, cursor)| Place::Stretch { first, cursor });
        if rest.is_some() {
            filter.since = filter.since.max(last);
        }
        let mut ranges = ranges.rows;
        if let Some(Place::Entry { oldest, .. }) = after {
            // The page before has shown the stretches that reach into its entries.
            ranges.retain(|row| row.range.last < oldest);
        }
        let (left, oldest, next) = (asked.limit, Timestamp::MAX, Some(entries));
        Ok(Walk { app: self, filter, left, next, ranges, rest, oldest })
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

/// Where a page of the ledger ended.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Place {
    /// After an entry.
    Entry {
        /// Its tick.
        oldest: Timestamp,
        /// That entry, as the store has it.
        cursor: String,
    },
    /// After a stretch: there were more of them than of entries.
    Stretch {
        /// Its first tick; all entries from there on were shown.
        first: Timestamp,
        /// That stretch, as the store has it.
        cursor: String,
    },
}

impl Place {
    fn read(text: &str) -> Result<Self, Failure> {
        let read = text.split_once('~').and_then(|(at, cursor)| {
            let at = at.parse().ok()?;
            Some(match cursor.strip_prefix('~') {
                None => Self::Entry { oldest: at, cursor: typed(cursor) },
                Some(cursor) => Self::Stretch { first: at, cursor: typed(cursor) },
            })
        });
        read.ok_or_else(|| {
            Failure::invalid(format!("`{text}` is not where a page ended"), "give `next` of the page before")
        })
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Entry { oldest, cursor } => write!(f, "{oldest}~{}", printable(cursor)),
            Self::Stretch { first, cursor } => write!(f, "{first}~~{}", printable(cursor)),
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_read_as_it_was_printed() {
        let at: Timestamp = "2026-11-15T10:00:00Z".parse().unwrap();
        let places = [
            Place::Entry { oldest: at, cursor: "17:4".to_owned() },
            Place::Stretch { first: at, cursor: "17 4%".to_owned() },
        ];
        for place in places {
            assert_eq!(Place::read(&place.to_string()).unwrap(), place);
        }
        assert!(Place::read("17:4").is_err());
    }
}
