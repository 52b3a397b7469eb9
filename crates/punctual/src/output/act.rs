//! What was done about single runs, on the screen.

use punctual::Failure;
use punctual::shape::{Cancelled, CancelledRun, Retried, Run};
use serde_json::json;

use super::Output;

fn line(run: &Run) -> String {
    format!("{} of `{}`, `{}`", run.id, run.schedule_name, run.status)
}

/// Runs that were to be cancelled.
pub(crate) fn cancelled(output: &Output, cancelled: &Cancelled) -> Result<(), Failure> {
    output.write(cancelled, || {
        let said = |one: &CancelledRun| match one.cancelled {
            true => format!("cancelled {} of `{}`\n", one.run.id, one.run.schedule_name),
            false => format!("left alone {}\n", line(&one.run)),
        };
        cancelled.runs.iter().map(said).collect()
    })
}

/// Runs that would be cancelled.
pub(crate) fn would_cancel(output: &Output, runs: &[Run]) -> Result<(), Failure> {
    output.write(&json!({"dry_run": true, "runs": runs}), || {
        runs.iter().map(|run| format!("would cancel {}\n", line(run))).collect()
    })
}

/// A run that was wanted again.
pub(crate) fn retried(output: &Output, retried: &Retried) -> Result<(), Failure> {
    output.write(retried, || match retried.new {
        true => format!("{} runs {} again\n", retried.run_id, retried.retried),
        false => format!("the next attempt of {} comes now\n", retried.retried),
    })
}

/// A run that would be run again.
pub(crate) fn would_retry(output: &Output, run: &Run) -> Result<(), Failure> {
    let is_pending = run.status == "retrying";
    output.write(&json!({"dry_run": true, "new": !is_pending, "run": run}), || match is_pending {
        true => format!("would let the next attempt of {} come now\n", run.id),
        false => format!("would run {} again\n", line(run)),
    })
}
