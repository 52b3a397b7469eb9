//! `punctual backfill SCHEDULE --from A --to B`

use clap::Args;
use punctual::ask::{ConsiderPast, Flag, Past, RunPast, Which};
use punctual::{BACKFILL_MAX, Failure};

use super::door::Door;
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
    pub(crate) async fn run(self, door: &Door, output: &Output) -> Result<(), Failure> {
        let past = Past {
            which: Which::either(self.schedule),
            from: self.from,
            to: self.to,
            limit: self.limit,
            every: self.every,
            request_key: self.key,
        };
        if !self.yes {
            let would = door.ask(&ConsiderPast { past, aside: Flag::Yes }).await?;
            return backfill::planned(output, &would);
        }
        let done = door.ask(&RunPast(past)).await?;
        backfill::done(output, &done)?;
        if !done.runs.is_empty() && !door.is_served().await? {
            note("nobody runs the schedules of this database yet; start `punctual serve`");
        }
        Ok(())
    }
}
