//! A backfill on the screen.

use punctual::{Backfill, BackfillPlan, Failure, PastTick};
use punctual_plan::{Overlap, RunKey};
use serde_json::{Value, json};

use super::prose::hung;
use super::table::table;
use super::{Output, clock};

/// Ticks that a person is shown; JSON has all.
const TICKS_SHOWN: usize = 200;

fn tick_json(tick: &PastTick) -> Value {
    let entry = tick.entry.as_ref();
    json!({
        "scheduled_for": tick.at,
        "status": entry.map(|entry| entry.status.name()),
        "run_id": entry.and_then(|entry| entry.run).map(|run| run.to_string()),
        "reason_text": entry.and_then(|entry| entry.reason.as_deref()),
        "backfilled": tick.backfilled.map(|run| run.to_string()),
    })
}

/// What a backfill would do.
pub(crate) fn planned(output: &Output, plan: &BackfillPlan, wish: &Backfill) -> Result<(), Failure> {
    let definition = &plan.schedule.definition;
    let json = json!({
        "dry_run": true,
        "schedule_id": definition.id.to_string(),
        "schedule_name": definition.name,
        "key": wish.key,
        "ticks": plan.ticks.iter().map(tick_json).collect::<Vec<_>>(),
        "more": plan.is_more,
    });
    output.write(&json, || {
        if plan.ticks.is_empty() {
            return format!("`{}` has no tick in that stretch\n", definition.name);
        }
        let zone = punctual::zone_of(&plan.schedule).to_jiff();
        let cells = plan.ticks.iter().take(TICKS_SHOWN).map(|tick| {
            let entry = tick.entry.as_ref();
            vec![
                clock(tick.at, &zone),
                entry.map_or("-".to_owned(), |entry| entry.status.to_string()),
                entry.and_then(|entry| entry.run).map_or("-".to_owned(), |run| run.to_string()),
                tick.backfilled.map_or_else(
                    || entry.and_then(|entry| entry.reason.clone()).unwrap_or_default(),
                    |run| format!("{run} was added for it before"),
                ),
            ]
        });
        let mut said = table(&["TICK", "LEDGER", "RUN ID", "REASON"], cells);
        let beyond = plan.ticks.len().saturating_sub(TICKS_SHOWN);
        if beyond > 0 {
            said += &format!("… and {beyond} more; `--json` has all of them\n");
        }
        let more = if plan.is_more { " (there are more; `--limit` takes them)" } else { "" };
        let new = plan.ticks.iter().filter(|tick| tick.backfilled.is_none()).count();
        let would = format!("\nwould add {new} runs of `{}`{more}; `--yes` does it\n", definition.name);
        said + &hung(&(would + overlap_note(plan, wish)), 0)
    })
}

fn overlap_note(plan: &BackfillPlan, wish: &Backfill) -> &'static str {
    let at_once = plan.ticks.len() > 1 && wish.every.is_zero();
    match plan.schedule.definition.policy.overlap {
        Overlap::Skip if at_once => {
            "`if_running: skip`: those that find another one running are skipped; `--every 5m` keeps them apart\n"
        }
        Overlap::Cancel if at_once => {
            "`if_running: cancel`: each one cancels the one before it; `--every 5m` keeps them apart\n"
        }
        _ => "",
    }
}

/// What a backfill did.
pub(crate) fn done(
    output: &Output,
    plan: &BackfillPlan,
    wish: &Backfill,
    runs: &[RunKey],
) -> Result<(), Failure> {
    let pair = |(tick, run): (&PastTick, &RunKey)| json!({"scheduled_for": tick.at, "run_id": run.to_string(), "new": tick.backfilled.is_none()});
    let json = json!({
        "backfilled": true,
        "schedule_name": plan.schedule.definition.name,
        "key": wish.key,
        "runs": plan.ticks.iter().zip(runs).map(pair).collect::<Vec<_>>(),
    });
    output.write(&json, || {
        let new = plan.ticks.iter().filter(|tick| tick.backfilled.is_none()).count();
        let name = &plan.schedule.definition.name;
        format!("added {new} runs of `{name}`; with `--key {}` the same request adds none again\n", wish.key)
    })
}
