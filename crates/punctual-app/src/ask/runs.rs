//! The ledger: its entries, one of them, and what is done about them.

use punctual_plan::{Origin, RunKey, RunStatus};
use punctual_time::Zone;
use serde_json::json;

pub use crate::app::CANCEL_MAX;

use super::{Call, Flag, Method, Question, Which, in_path};
use crate::{App, Failure, Retried, RunsAsked, moment, run_named, shape, zone_of};

/// A part of the ledger.
#[derive(Clone, Debug, Default)]
pub struct Runs {
    /// Of this schedule; of all, if none.
    pub which: Option<Which>,
    /// From here: `7 days ago`, a date, a local time of the schedule's zone, or RFC 3339.
    pub since: Option<String>,
    /// Up to here.
    pub until: Option<String>,
    /// In this state.
    pub status: Option<RunStatus>,
    /// Of this origin.
    pub origin: Option<Origin>,
    /// At most so many.
    pub limit: u32,
    /// Where a page before ended.
    pub after: Option<String>,
    /// Whether what tables need stands beside it.
    pub aside: Flag,
}

impl Runs {
    /// What is asked of the ledger, with its times read in the zone of the schedule.
    ///
    /// # Errors
    /// When there is no such schedule, or a time cannot be read.
    pub async fn asked(&self, app: &App) -> Result<RunsAsked, Failure> {
        let row = match &self.which {
            Some(which) => Some(which.row(app).await?),
            None => None,
        };
        let zone = row.as_ref().map_or_else(Zone::utc, zone_of);
        let now = app.now().await?;
        let read = |text: &Option<String>| text.as_deref().map(|text| moment(text, &zone, now)).transpose();
        Ok(RunsAsked {
            schedule: row.map(|row| row.definition.id),
            status: self.status,
            origin: self.origin,
            since: read(&self.since)?,
            until: read(&self.until)?,
            limit: self.limit,
            after: self.after.clone(),
            is_silent: false,
        })
    }
}

impl Question for Runs {
    type Answer = shape::Runs;

    fn call(&self) -> Call {
        let call = match &self.which {
            Some(which) => which.call(Method::Get, "/runs"),
            None => Call::new(Method::Get, "/runs"),
        };
        call.with("since", self.since.as_ref())
            .with("until", self.until.as_ref())
            .with("status", self.status.map(RunStatus::name))
            .with("origin", self.origin.map(Origin::name))
            .with("limit", Some(self.limit))
            .with("after", self.after.as_ref())
            .when("aside", self.aside)
    }

    async fn answer(&self, app: &App) -> Result<shape::Runs, Failure> {
        let history = app.history(&self.asked(app).await?).await?;
        let runs = shape::Runs { next: history.next.clone(), ..shape::Runs::from(&history) };
        Ok(if self.aside == Flag::Yes { runs } else { runs.plain() })
    }
}

/// Everything about a run.
#[derive(Clone, Debug)]
pub struct One {
    /// Its id, such as `run-12`.
    pub run: String,
    /// Whether what tables need stands beside it.
    pub aside: Flag,
}

impl Question for One {
    type Answer = shape::RunAnswer;

    fn call(&self) -> Call {
        Call::new(Method::Get, format!("/runs/{}", in_path(&self.run))).when("aside", self.aside)
    }

    async fn answer(&self, app: &App) -> Result<shape::RunAnswer, Failure> {
        let row = app.run(run_named(&self.run)?).await?;
        let shown = shape::RunAnswer::of(&row);
        if self.aside == Flag::No {
            return Ok(shown.plain());
        }
        let zone = app.zone_of_run(&row).await?;
        Ok(shape::RunAnswer { timezone: Some(zone.name().to_owned()), ..shown })
    }
}

/// Runs that are to end.
#[derive(Clone, Debug)]
pub struct Cancel {
    /// Their ids.
    pub runs: Vec<String>,
}

impl Question for Cancel {
    type Answer = shape::Cancelled;

    fn call(&self) -> Call {
        Call { body: Some(json!({"runs": self.runs})), ..Call::new(Method::Post, "/runs/cancel") }
    }

    async fn answer(&self, app: &App) -> Result<shape::Cancelled, Failure> {
        let runs: Vec<RunKey> = self.runs.iter().map(|text| run_named(text)).collect::<Result<_, _>>()?;
        if runs.len() > CANCEL_MAX {
            let message = format!("{} runs are more than one command cancels", runs.len());
            return Err(Failure::invalid(message, format!("cancel at most {CANCEL_MAX} at once")));
        }
        let cancelled = app.cancel(&runs).await?;
        Ok(shape::Cancelled { runs: cancelled.iter().map(shape::CancelledRun::from).collect() })
    }
}

/// A run that is wanted again.
#[derive(Clone, Debug)]
pub struct Retry {
    /// Its id.
    pub run: String,
    /// The request's own key.
    pub request_key: Option<String>,
}

impl Question for Retry {
    type Answer = shape::Retried;

    fn call(&self) -> Call {
        let call = Call::new(Method::Post, format!("/runs/{}/retry", in_path(&self.run)));
        Call { key: self.request_key.clone(), ..call }
    }

    async fn answer(&self, app: &App) -> Result<shape::Retried, Failure> {
        let of = run_named(&self.run)?;
        let key = self.request_key.clone().unwrap_or_else(|| uuid::Uuid::new_v4().to_string());
        let (run, new) = match app.retry(of, &key).await? {
            Retried::New(run) => (run, true),
            Retried::Hastened => (of, false),
        };
        Ok(shape::Retried { retried: of.to_string(), run_id: run.to_string(), new })
    }
}
