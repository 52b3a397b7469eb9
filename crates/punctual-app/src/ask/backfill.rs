//! Runs for ticks of the past are shown, or added.

use jiff::SignedDuration;
use serde_json::{Map, Value, json};

use super::{Call, Flag, Method, Question, Which};
use crate::{App, Backfill as Wish, BackfillPlan, Failure, duration, moment, shape, zone_of};

/// A wish for runs of the past.
#[derive(Clone, Debug)]
pub struct Past {
    /// Of which schedule.
    pub which: Which,
    /// Its ticks from here: `7 days ago`, a date, a local time of its zone, or RFC 3339.
    pub from: String,
    /// Up to here, included; up to now, if none.
    pub to: Option<String>,
    /// At most so many, the oldest.
    pub limit: u32,
    /// How long after each other they fire; all at once, if none.
    pub every: Option<String>,
    /// The request's own key.
    pub request_key: Option<String>,
}

impl Past {
    fn call(&self, dry_run: Flag, aside: Flag) -> Call {
        let mut body = Map::new();
        body.insert("from".to_owned(), json!(self.from));
        body.insert("limit".to_owned(), json!(self.limit));
        body.extend(self.to.as_ref().map(|to| ("to".to_owned(), json!(to))));
        body.extend(self.every.as_ref().map(|every| ("every".to_owned(), json!(every))));
        let call = self.which.call(Method::Post, "/backfill").when("dry_run", dry_run).when("aside", aside);
        Call { body: Some(Value::Object(body)), key: self.request_key.clone(), ..call }
    }

    async fn plan(&self, app: &App) -> Result<(BackfillPlan, Wish), Failure> {
        let row = self.which.living(app).await?;
        let (zone, now) = (zone_of(&row), app.now().await?);
        let from = moment(&self.from, &zone, now)?;
        let to = self.to.as_deref().map_or(Ok(now), |text| moment(text, &zone, now))?;
        if from > to {
            let message = format!("the stretch ends at {to} and begins only at {from}");
            return Err(Failure::invalid(message, "let `--to` be later than `--from`"));
        }
        let every = self.every.as_deref().map_or(Ok(SignedDuration::ZERO), duration)?;
        let key = self.request_key.clone().unwrap_or_else(|| uuid::Uuid::new_v4().to_string());
        let wish = Wish { stretch: from..=to, limit: self.limit, key, every };
        Ok((app.backfill_plan(row, &wish).await?, wish))
    }
}

/// Runs for ticks of the past that are only shown.
#[derive(Clone, Debug)]
pub struct ConsiderPast {
    /// Which.
    pub past: Past,
    /// Whether what people want to see stands beside it.
    pub aside: Flag,
}

impl Question for ConsiderPast {
    type Answer = shape::WouldBackfill;

    fn call(&self) -> Call {
        self.past.call(Flag::Yes, self.aside)
    }

    async fn answer(&self, app: &App) -> Result<shape::WouldBackfill, Failure> {
        let (plan, wish) = self.past.plan(app).await?;
        let would = shape::WouldBackfill::of(&plan, &wish);
        Ok(if self.aside == Flag::Yes { would } else { would.plain() })
    }
}

/// Runs for ticks of the past that are added.
#[derive(Clone, Debug)]
pub struct RunPast(pub Past);

impl Question for RunPast {
    type Answer = shape::Backfilled;

    fn call(&self) -> Call {
        self.0.call(Flag::No, Flag::No)
    }

    async fn answer(&self, app: &App) -> Result<shape::Backfilled, Failure> {
        let (plan, wish) = self.0.plan(app).await?;
        let runs = app.backfill(&plan, &wish).await?;
        Ok(shape::Backfilled::of(&plan, &wish, &runs))
    }
}
