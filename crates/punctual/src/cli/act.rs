//! `punctual cancel RUN…` and `punctual retry RUN`

use clap::Args;
use punctual::{App, CANCEL_MAX, Failure, Kind, run_named};
use punctual_plan::RunKey;

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
    pub(crate) async fn run(self, app: &App, output: &Output) -> Result<(), Failure> {
        let runs: Vec<RunKey> = self.runs.iter().map(|text| run_named(text)).collect::<Result<_, _>>()?;
        if runs.len() > CANCEL_MAX {
            let message = format!("{} runs are more than one command cancels", runs.len());
            return Err(Failure::invalid(message, format!("cancel at most {CANCEL_MAX} at once")));
        }
        if self.dry_run {
            let mut rows = Vec::with_capacity(runs.len());
            for run in runs {
                rows.push(app.run(run).await?);
            }
            return act::would_cancel(output, &rows);
        }
        let cancelled = app.cancel(&runs).await?;
        act::cancelled(output, &cancelled)?;
        match cancelled.iter().filter(|one| !one.is_done).count() {
            0 => Ok(()),
            over => Err(Failure {
                kind: Kind::Conflict,
                message: format!("{over} of {} could not be cancelled", cancelled.len()),
                hint: Some(
                    "a run is cancelled while it is in flight or waits, not before and not after".to_owned(),
                ),
            }),
        }
    }
}

impl Retry {
    pub(crate) async fn run(self, app: &App, output: &Output) -> Result<(), Failure> {
        let run = run_named(&self.run)?;
        if self.dry_run {
            return act::would_retry(output, &app.run(run).await?);
        }
        let key = self.key.unwrap_or_else(|| uuid::Uuid::new_v4().to_string());
        act::retried(output, run, app.retry(run, &key).await?)?;
        if !app.is_served().await? {
            note("nobody runs the schedules of this database yet; start `punctual serve`");
        }
        Ok(())
    }
}
