//! Schedules are listed, looked at and made.

use punctual_plan::{Chain, Schedule, ScheduleId, When};
use punctual_store::{Cut, RunFilter, ScheduleRow, Store};
use punctual_time::describe;
use serde_json::{Map, Value};

use super::{Call, Flag, Method, Question, Which};
use crate::declare::{Names, export, length};
use crate::{App, Failure, Listing, Request, shape, ticks};

/// Runs that stand beside a schedule.
const RUNS: u32 = 5;

/// Ticks that stand beside a schedule.
const TICKS: usize = 5;

/// The schedules by name.
#[derive(Clone, Debug, Default)]
pub struct List {
    /// Which of them.
    pub listing: Listing,
}

impl Question for List {
    type Answer = shape::Schedules;

    fn call(&self) -> Call {
        let Listing { search, tag, status, with_deleted, limit, after } = &self.listing;
        Call::new(Method::Get, "/schedules")
            .with("search", search.as_ref())
            .with("tag", tag.as_ref())
            .with("status", status.as_ref())
            .when("deleted", (*with_deleted).into())
            .with("limit", limit.as_ref())
            .with("after", after.as_ref())
    }

    async fn answer(&self, app: &App) -> Result<shape::Schedules, Failure> {
        let mut pages = app.pages(&self.listing);
        let mut schedules = Vec::new();
        while let Some(rows) = pages.next().await? {
            schedules.extend(shape::Schedule::all(&rows));
        }
        Ok(shape::Schedules { schedules, next: pages.rest() })
    }
}

/// One schedule, living or deleted.
#[derive(Clone, Debug)]
pub struct Get {
    /// Which.
    pub which: Which,
    /// Whether what people want to see stands beside it.
    pub aside: Flag,
}

impl Question for Get {
    type Answer = shape::Whole;

    fn call(&self) -> Call {
        self.which.call(Method::Get, "").when("aside", self.aside)
    }

    async fn answer(&self, app: &App) -> Result<shape::Whole, Failure> {
        let row = self.which.row(app).await?;
        let called = app.names_of(&row.definition).await?;
        let names = Names::of(called.iter().map(|(id, name)| (*id, name.as_str())));
        let now = app.now().await?;
        let upcoming = ticks(&row.definition, now, TICKS);
        let next = upcoming.iter().filter(|_| row.state.status.is_active()).map(|tick| tick.at).collect();
        let schedule = shape::WholeSchedule { schedule: shape::Schedule::of(&row, &names), next };
        let plain = shape::Whole { schedule, describe: None, keys: None, runs: None };
        if self.aside == Flag::No {
            return Ok(plain);
        }
        let filter =
            RunFilter { schedule: Some(row.definition.id), until: Some(now), ..RunFilter::default() };
        let runs = app.store().runs(app.scope(), filter, Cut::first(RUNS)).await?.rows;
        let name = |id: ScheduleId| names.get(id).map(str::to_owned);
        Ok(shape::Whole {
            describe: Some(in_english(&row, &name)),
            keys: Some(export(&row.definition, &name)),
            runs: Some(runs.iter().map(shape::Run::from).collect()),
            ..plain
        })
    }
}

fn in_english(row: &ScheduleRow, name: &dyn Fn(ScheduleId) -> Option<String>) -> String {
    let Schedule { when, .. } = row.definition.as_ref();
    match when {
        When::Ticks(timing) => describe::timing(timing),
        When::Chain(Chain { upstream, on, delay, .. }) => {
            let name = name(*upstream).unwrap_or_else(|| upstream.to_string());
            let later = if delay.is_zero() { String::new() } else { format!(", {} later", length(*delay)) };
            format!("After each {on} of `{name}`{later}")
        }
    }
}

/// A new schedule from its keys.
#[derive(Clone, Debug)]
pub struct Create {
    /// The keys, as a file has them.
    pub keys: Map<String, Value>,
    /// The request's own key.
    pub request_key: Option<String>,
}

impl Question for Create {
    type Answer = shape::Created;

    fn call(&self) -> Call {
        let call = Call::new(Method::Post, "/schedules");
        Call { body: Some(Value::Object(self.keys.clone())), key: self.request_key.clone(), ..call }
    }

    async fn answer(&self, app: &App) -> Result<shape::Created, Failure> {
        let told = app.door().told;
        // At once: a database in a server answers both in one round trip.
        let (drafted, paused) = tokio::try_join!(app.draft(&self.keys, &told), app.status_of_new())?;
        let question = Value::Object(self.keys.clone()).to_string();
        let request = self.request_key.clone().map(|key| Request { key, question });
        let created = app.create(&drafted, request.as_ref(), paused.as_ref()).await?;
        Ok(shape::Created::of(&created, drafted.assumed))
    }
}

/// A new schedule that is only checked.
#[derive(Clone, Debug)]
pub struct Draft {
    /// The keys, as a file has them.
    pub keys: Map<String, Value>,
}

impl Question for Draft {
    type Answer = shape::WouldCreate;

    fn call(&self) -> Call {
        let call = Call::new(Method::Post, "/schedules").when("dry_run", Flag::Yes);
        Call { body: Some(Value::Object(self.keys.clone())), ..call }
    }

    async fn answer(&self, app: &App) -> Result<shape::WouldCreate, Failure> {
        let drafted = app.draft(&self.keys, &app.door().told).await?;
        app.refuse_taken(&drafted.definition.name).await?;
        Ok(shape::WouldCreate::of(&drafted, app.now().await?))
    }
}
