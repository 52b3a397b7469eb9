//! `punctual backfill SCHEDULE --from A --to B`

use clap::Args;
use jiff::SignedDuration;
use punctual::{App, BACKFILL_MAX, Backfill as Wish, Failure, moment, zone_of};

use crate::output::{Output, backfill, note};

/// `punctual backfill SCHEDULE --from A --to B`
#[derive(Debug, Args)]
pub(crate) struct Backfill {
    /// The schedule, by name or id
    #[arg(value_name = "SCHEDULE")]
    schedule: String,
    /// Its ticks from here: `7 days ago`, a date, a local time of its zone, or RFC 3339
    #[arg(long, value_name = "TIME")]
    from: String,
    /// Its ticks up to here, included; up to now without it
    #[arg(long, value_name = "TIME")]
    to: Option<String>,
    /// At most this many ticks, the oldest
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=i64::from(BACKFILL_MAX)))]
    limit: u32,
    /// The request's own key: with the same one each tick is run once, however often it is asked for
    #[arg(long)]
    key: Option<String>,
    /// How long after each other the runs fire; all at once without it
    #[arg(long, value_name = "DURATION")]
    every: Option<String>,
    /// Add the runs; without it they are only shown
    #[arg(long)]
    yes: bool,
}

impl Backfill {
    pub(crate) async fn run(self, app: &App, output: &Output) -> Result<(), Failure> {
        let zone = zone_of(&app.find(&self.schedule).await?);
        let now = app.now().await?;
        let from = moment(&self.from, &zone, now)?;
        let to = self.to.as_deref().map_or(Ok(now), |text| moment(text, &zone, now))?;
        if from > to {
            let message = format!("the stretch ends at {to} and begins only at {from}");
            return Err(Failure::invalid(message, "let `--to` be later than `--from`"));
        }
        let every = self.every.as_deref().map_or(Ok(SignedDuration::ZERO), punctual::duration)?;
        let key = self.key.unwrap_or_else(|| uuid::Uuid::new_v4().to_string());
        let wish = Wish { stretch: from..=to, limit: self.limit, key, every };
        let plan = app.backfill_plan(&self.schedule, &wish).await?;
        if !self.yes {
            return backfill::planned(output, &plan, &wish);
        }
        let runs = app.backfill(&plan, &wish).await?;
        backfill::done(output, &plan, &wish, &runs)?;
        if !runs.is_empty() && !app.is_served().await? {
            note("nobody runs the schedules of this database yet; start `punctual serve`");
        }
        Ok(())
    }
}
