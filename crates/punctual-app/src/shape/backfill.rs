//! Runs for ticks of the past: those that would be added, and those that were.

use jiff::Timestamp;
use punctual_plan::{Overlap, RunKey};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{Backfill as Wish, BackfillPlan, PastTick};

/// A tick of the past, and what the ledger has for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = BackfillTick)]
pub struct Past {
    /// The tick.
    pub scheduled_for: Timestamp,
    /// What became of it.
    pub status: Option<String>,
    /// Its run, if it has one of its own.
    pub run_id: Option<String>,
    /// Why it did not run.
    pub reason_text: Option<String>,
    /// The run that a backfill with this key has given it already.
    pub backfilled: Option<String>,
}

impl From<&PastTick> for Past {
    fn from(tick: &PastTick) -> Self {
        let entry = tick.entry.as_ref();
        Self {
            scheduled_for: tick.at,
            status: entry.map(|entry| entry.status.name().to_owned()),
            run_id: entry.and_then(|entry| entry.run).map(|run| run.to_string()),
            reason_text: entry.and_then(|entry| entry.reason.clone()),
            backfilled: tick.backfilled.map(|run| run.to_string()),
        }
    }
}

/// What a backfill would do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct WouldBackfill {
    /// True: nothing was written.
    pub dry_run: bool,
    /// The schedule.
    pub schedule_id: String,
    /// Its name.
    pub schedule_name: String,
    /// The request's key: with the same one a tick is run once.
    pub key: String,
    /// The ticks, oldest first.
    pub ticks: Vec<Past>,
    /// Whether there are more of them than the limit.
    pub more: bool,
    /// The zone of the schedule; only beside tables.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timezone: Option<String>,
    /// What the schedule's overlap policy will make of them; only beside tables.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl WouldBackfill {
    /// The shape of a plan.
    pub fn of(plan: &BackfillPlan, wish: &Wish) -> Self {
        let definition = &plan.schedule.definition;
        Self {
            dry_run: true,
            schedule_id: definition.id.to_string(),
            schedule_name: definition.name.clone(),
            key: wish.key.clone(),
            ticks: plan.ticks.iter().map(Past::from).collect(),
            more: plan.is_more,
            timezone: Some(definition.timezone().to_owned()),
            note: overlap_note(plan, wish).map(str::to_owned),
        }
    }

    /// What programs get.
    pub fn plain(self) -> Self {
        Self { timezone: None, note: None, ..self }
    }
}

fn overlap_note(plan: &BackfillPlan, wish: &Wish) -> Option<&'static str> {
    let at_once = plan.ticks.len() > 1 && wish.every.is_zero();
    match plan.schedule.definition.policy.overlap {
        Overlap::Skip if at_once => Some(
            "`if_running: skip`: those that find another one running are skipped; `--every 5m` keeps them apart",
        ),
        Overlap::Cancel if at_once => {
            Some("`if_running: cancel`: each one cancels the one before it; `--every 5m` keeps them apart")
        }
        _ => None,
    }
}

/// What a backfill did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Backfilled {
    /// True.
    pub backfilled: bool,
    /// The schedule's name.
    pub schedule_name: String,
    /// The request's key: with the same one a tick is run once.
    pub key: String,
    /// The run of each tick.
    pub runs: Vec<BackfilledRun>,
}

/// A run for a tick of the past.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BackfilledRun {
    /// The tick.
    pub scheduled_for: Timestamp,
    /// The run.
    pub run_id: String,
    /// Whether this request added it.
    pub new: bool,
}

impl Backfilled {
    /// The shape of what was added.
    pub fn of(plan: &BackfillPlan, wish: &Wish, runs: &[RunKey]) -> Self {
        let run = |(tick, run): (&PastTick, &RunKey)| BackfilledRun {
            scheduled_for: tick.at,
            run_id: run.to_string(),
            new: tick.backfilled.is_none(),
        };
        Self {
            backfilled: true,
            schedule_name: plan.schedule.definition.name.clone(),
            key: wish.key.clone(),
            runs: plan.ticks.iter().zip(runs).map(run).collect(),
        }
    }
}
