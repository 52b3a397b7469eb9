//! What was done about single runs, on the screen.

use punctual::{Cancelled, Failure, Retried};
use punctual_plan::{RunKey, RunState};
use punctual_store::RunRow;
use serde_json::{Value, json};

use super::Output;
use super::run::RunJson;

fn line(row: &RunRow) -> String {
    format!("{} of `{}`, `{}`", row.run.key, row.schedule_name, row.run.state.status())
}

/// Runs that were to be cancelled.
pub(crate) fn cancelled(output: &Output, runs: &[Cancelled]) -> Result<(), Failure> {
    let one = |one: &Cancelled| -> Value { json!({"cancelled": one.is_done, "run": RunJson::new(&one.run)}) };
    output.write(&json!({"runs": runs.iter().map(one).collect::<Vec<_>>()}), || {
        let said = |one: &Cancelled| match one.is_done {
            true => format!("cancelled {} of `{}`\n", one.run.run.key, one.run.schedule_name),
            false => format!("left alone {}\n", line(&one.run)),
        };
        runs.iter().map(said).collect()
    })
}

/// Runs that would be cancelled.
pub(crate) fn would_cancel(output: &Output, runs: &[RunRow]) -> Result<(), Failure> {
    let json = json!({"dry_run": true, "runs": runs.iter().map(RunJson::new).collect::<Vec<_>>()});
    output.write(&json, || runs.iter().map(|row| format!("would cancel {}\n", line(row))).collect())
}

/// A run that was wanted again.
pub(crate) fn retried(output: &Output, of: RunKey, retried: Retried) -> Result<(), Failure> {
    let (run, is_new) = match retried {
        Retried::New(run) => (run, true),
        Retried::Hastened => (of, false),
    };
    let json = json!({"retried": of.to_string(), "run_id": run.to_string(), "new": is_new});
    output.write(&json, || match retried {
        Retried::New(run) => format!("{run} runs {of} again\n"),
        Retried::Hastened => format!("the next attempt of {of} comes now\n"),
    })
}

/// A run that would be run again.
pub(crate) fn would_retry(output: &Output, row: &RunRow) -> Result<(), Failure> {
    let is_pending = matches!(row.run.state, RunState::Retrying { .. });
    let json = json!({"dry_run": true, "new": !is_pending, "run": RunJson::new(row)});
    output.write(&json, || match is_pending {
        true => format!("would let the next attempt of {} come now\n", row.run.key),
        false => format!("would run {} again\n", line(row)),
    })
}
