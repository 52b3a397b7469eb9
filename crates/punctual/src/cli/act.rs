//! `punctual cancel RUN…` and `punctual retry RUN`

use clap::Args;
use punctual::ask::{CANCEL_MAX, Flag, One};
use punctual::{Failure, Kind, ask};

use super::door::Door;
use crate::output::{Output, act, note};

/// `punctual cancel RUN…`
#[derive(Debug, Args)]
pub(crate) struct Cancel {
    /// The runs, such as `run-12`
    #[arg(value_name = "RUN", required = true)]
    runs: Vec<String>,
    /// Show what would be cancelled, but write nothing
    #[arg(long)]
    dry_run: bool,
}

/// `punctual retry RUN`
#[derive(Debug, Args)]
pub(crate) struct Retry {
    /// The run, such as `run-12`
    #[arg(value_name = "RUN")]
    run: String,
    /// The request's own key: with the same one it is run again once, however often it is asked for
    #[arg(long)]
    key: Option<String>,
    /// Show what would be run again, but write nothing
    #[arg(long)]
    dry_run: bool,
}

impl Cancel {
    pub(crate) async fn run(self, door: &Door, output: &Output) -> Result<(), Failure> {
        if self.runs.len() > CANCEL_MAX {
            let message = format!("{} runs are more than one command cancels", self.runs.len());
            return Err(Failure::invalid(message, format!("cancel at most {CANCEL_MAX} at once")));
        }
        if self.dry_run {
            let mut runs = Vec::with_capacity(self.runs.len());
            for run in self.runs {
                runs.push(door.ask(&One { run, aside: Flag::No }).await?.run.run);
            }
            return act::would_cancel(output, &runs);
        }
        let cancelled = door.ask(&ask::Cancel { runs: self.runs }).await?;
        act::cancelled(output, &cancelled)?;
        match cancelled.runs.iter().filter(|one| !one.cancelled).count() {
            0 => Ok(()),
            over => Err(Failure {
                kind: Kind::Conflict,
                message: format!("{over} of {} could not be cancelled", cancelled.runs.len()),
                hint: Some(
                    "a run is cancelled while it is in flight or waits, not before and not after".to_owned(),
                ),
            }),
        }
    }
}

impl Retry {
    pub(crate) async fn run(self, door: &Door, output: &Output) -> Result<(), Failure> {
        if self.dry_run {
            let one = One { run: self.run, aside: Flag::No };
            return act::would_retry(output, &door.ask(&one).await?.run.run);
        }
        let retried = door.ask(&ask::Retry { run: self.run, request_key: self.key }).await?;
        act::retried(output, &retried)?;
        if !door.is_served().await? {
            note("nobody runs the schedules of this database yet; start `punctual serve`");
        }
        Ok(())
    }
}
