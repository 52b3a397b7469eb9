//! What people do about single runs: end them, or run them again.

use jiff::Timestamp;
use punctual_plan::{Object, Origin, RunKey, RunState, RunStatus, ScheduleKey, Trace};
use punctual_store::{Cancellation, Commit, RunRow, ScheduleWrite, Selector, Store, Write, Written};

use super::App;
use super::find::no_run;
use crate::{Failure, Kind};

/// Runs that one command cancels.
pub const CANCEL_MAX: usize = 1_000;

/// What became of a run that somebody wanted to end.
#[derive(Clone, Debug)]
pub struct Cancelled {
    /// The run as it is now.
    pub run: RunRow,
    /// Whether this was what ended it.
    pub is_done: bool,
}

/// What became of a run that somebody wanted again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retried {
    /// A new run comes of it.
    New(RunKey),
    /// Its next attempt was planned, and comes now.
    Hastened,
}

impl App {
    /// Ends runs: what is in flight is stopped by whoever runs it, what waits does not start any more.
    ///
    /// # Errors
    /// When one of them does not exist, or the database fails.
    pub async fn cancel(&self, runs: &[RunKey]) -> Result<Vec<Cancelled>, Failure> {
        for run in runs {
            self.run(*run).await?;
        }
        let by = self.actor().to_owned();
        let cancellation = Cancellation { runs: runs.to_vec(), by, now: self.now().await? };
        let done = self.store.cancel_runs(self.scope.clone(), cancellation).await?;
        let mut cancelled = Vec::with_capacity(runs.len());
        for (run, commit) in runs.iter().zip(done) {
            cancelled.push(Cancelled { run: self.run(*run).await?, is_done: commit == Commit::Done });
        }
        Ok(cancelled)
    }

    /// Runs a run again: its next attempt now, if one is planned; else a new run of its schedule, asked for by a person,
    /// that refers to it. With the same key that happens once, however often it is asked for.
    ///
    /// # Errors
    /// When there is no such run, it has not ended, or its schedule is gone.
    pub async fn retry(&self, run: RunKey, key: &str) -> Result<Retried, Failure> {
        let row = self.run(run).await?;
        let now = self.now().await?;
        if matches!(row.run.state, RunState::Retrying { .. })
            && self.store.hasten(self.scope.clone(), run, now).await? == Commit::Done
        {
            return Ok(Retried::Hastened);
        }
        if let Some(refusal) = refusal(&row) {
            return Err(refusal);
        }
        let schedule = self.living(Selector::Id(row.schedule_id)).await?;
        let asked =
            Asked { schedule: schedule.key, run, key, payload: row.payload.clone(), trace: self.trace };
        match self.write(asked.write(now)).await? {
            Written::Run(new) => Ok(Retried::New(new)),
            _ => Err(no_run(run)),
        }
    }
}

/// Why a run cannot be run again.
fn refusal(row: &RunRow) -> Option<Failure> {
    let status = row.run.state.status();
    let hint = match status {
        _ if status.is_terminal() => return None,
        RunStatus::Scheduled => "it is still to come".to_owned(),
        _ => format!(
            "`punctual cancel {}` ends it; `punctual schedule trigger --force` runs beside it",
            row.run.key
        ),
    };
    Some(Failure {
        kind: Kind::Conflict,
        message: format!("{} has not ended: it is `{status}`", row.run.key),
        hint: Some(hint),
    })
}

/// A wish for a run again.
struct Asked<'a> {
    schedule: ScheduleKey,
    run: RunKey,
    key: &'a str,
    /// What the run before was given beside what its schedule says.
    payload: Option<Object>,
    /// The trace of whoever asks.
    trace: Option<Trace>,
}

impl Asked<'_> {
    fn write(&self, now: Timestamp) -> ScheduleWrite {
        let second = Timestamp::from_second(now.as_second()).unwrap_or(now);
        ScheduleWrite {
            write: Write::Trigger {
                schedule: self.schedule,
                origin: Origin::Manual,
                nonce: format!("retry:{}:{}", self.run, self.key),
                scheduled_for: second,
                fire_at: now,
                is_forced: false,
                payload: self.payload.clone(),
                trace: self.trace,
            },
            kind: "run.retried",
            note: format!("{} again", self.run),
            now,
        }
    }
}
