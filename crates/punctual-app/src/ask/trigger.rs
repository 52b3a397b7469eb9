//! Runs that a person asks for, and what a schedule has before and behind it.

use serde_json::{Map, Value, json};

use super::{Call, Flag, Method, Question, Which};
use crate::{App, Failure, Wanted, shape, ticks};

/// A run of a schedule, now.
#[derive(Clone, Debug)]
pub struct Trigger {
    /// Which.
    pub which: Which,
    /// Whether it runs beside whatever is in flight.
    pub force: Flag,
    /// What the run carries on top of what those of its schedule do.
    pub payload: Option<Map<String, Value>>,
    /// The request's own key.
    pub request_key: Option<String>,
}

impl Question for Trigger {
    type Answer = shape::Triggered;

    fn call(&self) -> Call {
        let call = self.which.call(Method::Post, "/trigger").when("force", self.force);
        let body = self.payload.as_ref().map(|payload| json!({"payload": payload}));
        Call { key: self.request_key.clone(), body, ..call }
    }

    async fn answer(&self, app: &App) -> Result<shape::Triggered, Failure> {
        let row = self.which.living(app).await?;
        let wanted = Wanted {
            request_key: self.request_key.clone(),
            is_forced: self.force == Flag::Yes,
            payload: self.payload.clone(),
        };
        Ok((&app.trigger(&row, &wanted).await?).into())
    }
}

/// An item for a queue, without a schedule.
#[derive(Clone, Debug)]
pub struct Item {
    /// The keys of its target and what it gets.
    pub keys: Map<String, Value>,
    /// The request's own key.
    pub request_key: Option<String>,
    /// Whether it is only checked.
    pub dry_run: Flag,
}

impl Question for Item {
    type Answer = shape::Item;

    fn call(&self) -> Call {
        let call = Call::new(Method::Post, "/requests").when("dry_run", self.dry_run);
        Call { body: Some(Value::Object(self.keys.clone())), key: self.request_key.clone(), ..call }
    }

    async fn answer(&self, app: &App) -> Result<shape::Item, Failure> {
        let told = &app.door().told;
        refuse_elsewhere(&self.keys, told)?;
        if self.dry_run == Flag::Yes {
            app.check_request(self.keys.clone(), told).await?;
            return Ok(shape::Item::Would { dry_run: true });
        }
        let wanted = Wanted { request_key: self.request_key.clone(), is_forced: true, payload: None };
        let made = app.request(self.keys.clone(), &wanted, told).await?;
        Ok(shape::Item::Made((&made).into()))
    }
}

/// Refuses an item that goes elsewhere, or later.
fn refuse_elsewhere(keys: &Map<String, Value>, told: &fn(&str) -> String) -> Result<(), Failure> {
    if keys.get("target").is_none_or(|target| target["type"] != "queue") {
        return Err(Failure::invalid(
            "a request goes to a queue",
            format!(
                "give `{}`, or `{}` for the queue of the same name",
                told("target.queue"),
                told("target.worker_type")
            ),
        ));
    }
    let ways = ["cron", "schedule", "every", "at", "after", "on"];
    match ways.into_iter().find(|way| keys.contains_key(*way)) {
        None => Ok(()),
        Some(way) => Err(Failure::invalid(
            format!("`{}` has no meaning here: a request is made at once", told(way)),
            "use `punctual schedule create` for what comes later",
        )),
    }
}

/// The next ticks of a schedule.
#[derive(Clone, Debug)]
pub struct Preview {
    /// Which.
    pub which: Which,
    /// How many.
    pub count: u32,
    /// Whether its zone stands beside it.
    pub aside: Flag,
}

impl Question for Preview {
    type Answer = shape::Preview;

    fn call(&self) -> Call {
        self.which.call(Method::Get, "/preview").with("count", Some(self.count)).when("aside", self.aside)
    }

    async fn answer(&self, app: &App) -> Result<shape::Preview, Failure> {
        let row = self.which.living(app).await?;
        let upcoming = ticks(&row.definition, app.now().await?, self.count as usize);
        let shown = shape::Preview::of(&row, &upcoming);
        Ok(if self.aside == Flag::Yes { shown } else { shape::Preview { timezone: None, ..shown } })
    }
}

/// The versions of a schedule.
#[derive(Clone, Debug)]
pub struct Versions {
    /// Which.
    pub which: Which,
}

impl Question for Versions {
    type Answer = shape::Versions;

    fn call(&self) -> Call {
        self.which.call(Method::Get, "/history")
    }

    async fn answer(&self, app: &App) -> Result<shape::Versions, Failure> {
        let editions =
            app.editions(punctual_store::Selector::Id(self.which.row(app).await?.definition.id)).await?;
        Ok(shape::Versions { versions: editions.iter().map(shape::Version::from).collect() })
    }
}
