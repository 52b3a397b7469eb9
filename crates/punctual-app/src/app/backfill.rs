//! Backfill: runs for ticks of the past, each of which refers to its tick and leaves its entry alone.

use std::ops::RangeInclusive;

use jiff::{SignedDuration, Timestamp};
use punctual_plan::{Origin, RunKey, RunStatus};
use punctual_store::{Cut, Error, RunFilter, ScheduleRow, ScheduleWrite, Store, Write, Written};

use super::App;
use crate::Failure;

/// Ticks of one backfill.
pub const BACKFILL_MAX: u32 = 10_000;

/// Writes of one transaction.
const BATCH: usize = 500;

/// A wish for runs of the past.
#[derive(Clone, Debug)]
pub struct Backfill {
    /// Ticks of this stretch, both ends included; never of the future.
    pub stretch: RangeInclusive<Timestamp>,
    /// At most so many, the oldest.
    pub limit: u32,
    /// The request's key: with the same one a tick is run once, however often it is asked for.
    pub key: String,
    /// How long after each other they fire.
    pub every: SignedDuration,
}

/// A tick of the past, and what the ledger has for it.
#[derive(Clone, Debug)]
pub struct PastTick {
    /// The tick.
    pub at: Timestamp,
    /// What became of it, and its row if it has one of its own.
    pub entry: Option<PastEntry>,
    /// The run that a backfill with this key has given it already.
    pub backfilled: Option<RunKey>,
}

/// What the ledger has for a tick.
#[derive(Clone, Debug)]
pub struct PastEntry {
    /// How it ended.
    pub status: RunStatus,
    /// Its row; none within a stretch.
    pub run: Option<RunKey>,
    /// Why it did not run.
    pub reason: Option<String>,
}

/// The ticks that a backfill is about.
#[derive(Clone, Debug)]
pub struct BackfillPlan {
    /// Whose.
    pub schedule: ScheduleRow,
    /// The ticks, oldest first.
    pub ticks: Vec<PastTick>,
    /// Whether there are more of them than the limit.
    pub is_more: bool,
}

impl App {
    /// The ticks of a stretch with what the ledger has for them; writes nothing.
    ///
    /// # Errors
    /// When the schedule has no ticks of its own, or was deleted.
    pub async fn backfill_plan(
        &self,
        schedule: ScheduleRow,
        wish: &Backfill,
    ) -> Result<BackfillPlan, Failure> {
        if schedule.deleted_at.is_some() {
            return Err(Error::NotFound { what: format!("`{}`", schedule.definition.name) }.into());
        }
        let now = self.now().await?;
        let mut timing = schedule.definition.when.timing().cloned().ok_or_else(|| {
            Failure::invalid(
                format!(
                    "`{}` follows another schedule and has no ticks of its own",
                    schedule.definition.name
                ),
                "backfill the schedule that it follows",
            )
        })?;
        timing.bounds.max_runs = None;
        let end = (*wish.stretch.end()).min(now);
        let from = *wish.stretch.start();
        let limit = wish.limit as usize;
        let mut ticks: Vec<Timestamp> = match from <= end {
            true => timing.ticks(from..=end).take(limit + 1).map(|tick| tick.at).collect(),
            false => Vec::new(),
        };
        let is_more = ticks.len() > limit;
        ticks.truncate(limit);
        let ticks = self.with_entries(&schedule, ticks, &wish.key).await?;
        Ok(BackfillPlan { schedule, ticks, is_more })
    }

    async fn with_entries(
        &self,
        schedule: &ScheduleRow,
        ticks: Vec<Timestamp>,
        key: &str,
    ) -> Result<Vec<PastTick>, Failure> {
        let (Some(first), Some(last)) = (ticks.first(), ticks.last()) else { return Ok(Vec::new()) };
        let filter = RunFilter {
            schedule: Some(schedule.definition.id),
            since: Some(*first),
            until: Some(*last),
            ..RunFilter::default()
        };
        let mut rows = Vec::new();
        let mut cut = Cut::first(BACKFILL_MAX);
        loop {
            let page = self.store.runs(self.scope.clone(), filter.clone(), cut).await?;
            rows.extend(page.rows);
            let Some(after) = page.next else { break };
            cut = Cut { after: Some(after), limit: BACKFILL_MAX };
        }
        let ranges = self.store.ranges(self.scope.clone(), filter, Cut::first(BACKFILL_MAX)).await?.rows;
        let tick = |at: Timestamp| {
            let mut here = rows.iter().filter(|row| row.run.scheduled_for == at);
            let row = here.clone().find(|row| row.run.origin == Origin::Tick).map(|row| PastEntry {
                status: row.run.state.status(),
                run: Some(row.run.key),
                reason: row.run.state.reason().map(ToString::to_string),
            });
            let range = ranges.iter().find(|row| row.range.first <= at && at <= row.range.last);
            let range = range.map(|row| PastEntry {
                status: row.range.end.status(),
                run: None,
                reason: Some(row.range.end.reason().to_string()),
            });
            let nonce = nonce(key, at);
            let backfilled = here.find(|row| row.run.origin == Origin::Backfill && row.run.nonce == nonce);
            PastTick { at, entry: row.or(range), backfilled: backfilled.map(|row| row.run.key) }
        };
        Ok(ticks.into_iter().map(tick).collect())
    }

    /// Adds the runs; gives back the run of each tick, new or of an earlier request with the same key.
    ///
    /// # Errors
    /// When the database fails; what was added before stays, and repeating it with the same key adds only the rest.
    pub async fn backfill(&self, plan: &BackfillPlan, wish: &Backfill) -> Result<Vec<RunKey>, Failure> {
        let mut runs = Vec::with_capacity(plan.ticks.len());
        let mut place = 0;
        for batch in plan.ticks.chunks(BATCH) {
            let now = self.now().await?;
            let write = |tick: &PastTick| {
                let fire_at = now.saturating_add(wish.every * place).unwrap_or(Timestamp::MAX);
                place += 1;
                ScheduleWrite {
                    write: Write::Trigger {
                        schedule: plan.schedule.key,
                        origin: Origin::Backfill,
                        nonce: nonce(&wish.key, tick.at),
                        scheduled_for: tick.at,
                        fire_at,
                        is_forced: false,
                        payload: None,
                        trace: self.trace,
                    },
                    kind: "schedule.backfilled",
                    note: format!("a run for the tick at {}", tick.at),
                    now,
                }
            };
            let writes: Vec<ScheduleWrite> = batch.iter().map(write).collect();
            for written in self.store.write_schedules(self.scope.clone(), writes).await? {
                match written? {
                    Written::Run(run) => runs.push(run),
                    _ => {
                        return Err(Failure::world(
                            "the schedule was changed meanwhile; repeat it with the same key",
                        ));
                    }
                }
            }
        }
        Ok(runs)
    }
}

/// What tells the runs of one request from each other.
fn nonce(key: &str, tick: Timestamp) -> String {
    format!("{key}:{}", tick.as_second())
}
