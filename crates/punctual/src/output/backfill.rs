//! A backfill on the screen.

use punctual::Failure;
use punctual::shape::{Backfilled, Past, WouldBackfill};

use super::prose::hung;
use super::table::table;
use super::{Output, clock, zone};

/// Ticks that a person is shown; JSON has all.
const TICKS_SHOWN: usize = 200;

/// What a backfill would do.
pub(crate) fn planned(output: &Output, would: &WouldBackfill) -> Result<(), Failure> {
    output.write(&would.clone().plain(), || {
        let name = &would.schedule_name;
        if would.ticks.is_empty() {
            return format!("`{name}` has no tick in that stretch\n");
        }
        let zone = zone(would.timezone.as_deref());
        let or_none = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".to_owned());
        let cells = would.ticks.iter().take(TICKS_SHOWN).map(|tick: &Past| {
            vec![
                clock(tick.scheduled_for, &zone),
                or_none(&tick.status),
                or_none(&tick.run_id),
                tick.backfilled.as_ref().map_or_else(
                    || tick.reason_text.clone().unwrap_or_default(),
                    |run| format!("{run} was added for it before"),
                ),
            ]
        });
        let mut said = table(&["TICK", "LEDGER", "RUN ID", "REASON"], cells);
        let beyond = would.ticks.len().saturating_sub(TICKS_SHOWN);
        if beyond > 0 {
            said += &format!("… and {beyond} more; `--json` has all of them\n");
        }
        let more = if would.more { " (there are more; `--limit` takes them)" } else { "" };
        let new = would.ticks.iter().filter(|tick| tick.backfilled.is_none()).count();
        let adds = format!("\nwould add {new} runs of `{name}`{more}; `--yes` does it\n");
        let note = would.note.as_ref().map_or(String::new(), |note| format!("{note}\n"));
        said + &hung(&(adds + &note), 0)
    })
}

/// What a backfill did.
pub(crate) fn done(output: &Output, done: &Backfilled) -> Result<(), Failure> {
    output.write(done, || {
        let new = done.runs.iter().filter(|run| run.new).count();
        let (name, key) = (&done.schedule_name, &done.key);
        format!("added {new} runs of `{name}`; with `--key {key}` the same request adds none again\n")
    })
}
