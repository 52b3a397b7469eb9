//! `list`, `get`, `preview`, `history`, `validate-cron`, `parse`.

use clap::Args;
use punctual::ask::Flag;
use punctual::{Failure, Listing, ask};
use punctual_time::{Zone, human};
use serde_json::json;

use super::which::Which;
use crate::cli::door::Door;
use crate::output::{Output, note, schedule_text, schedules};

/// Names of statuses, for `--status`.
const STATUSES: [&str; 7] =
    ["active", "enabled", "paused_manual", "disabled", "paused_invalid", "auto_disabled", "exhausted"];

/// A status by the word that the table has for it.
fn status(word: String) -> String {
    match word.as_str() {
        "enabled" => "active".to_owned(),
        "disabled" => "paused_manual".to_owned(),
        _ => word,
    }
}

#[derive(Debug, Args)]
pub(crate) struct List {
    /// Only those with this tag
    #[arg(long)]
    tag: Option<String>,
    /// Only those in this status
    #[arg(long, value_parser = STATUSES)]
    status: Option<String>,
    /// Only those whose name, description or spec holds this
    #[arg(long, value_name = "TEXT")]
    search: Option<String>,
    /// Deleted ones as well
    #[arg(long)]
    all: bool,
    /// At most this many; the answer says where the next ones begin
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    limit: Option<u32>,
    /// Begin where a page before ended
    #[arg(long, value_name = "CURSOR")]
    after: Option<String>,
}

impl List {
    pub(super) async fn run(self, door: &Door, output: &Output) -> Result<(), Failure> {
        let listing = Listing {
            search: self.search,
            tag: self.tag,
            status: self.status.map(status),
            with_deleted: self.all,
            limit: self.limit,
            after: self.after,
        };
        schedules::list(output, door.list(ask::List { listing })).await
    }
}

#[derive(Debug, Args)]
pub(crate) struct Get {
    #[command(flatten)]
    which: Which,
}

impl Get {
    pub(super) async fn run(self, door: &Door, output: &Output) -> Result<(), Failure> {
        let asked = ask::Get { which: self.which.which(), aside: Flag::Yes };
        schedule_text::one(output, &door.ask(&asked).await?)
    }
}

#[derive(Debug, Args)]
pub(crate) struct Preview {
    #[command(flatten)]
    which: Which,
    /// How many ticks
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    count: u32,
}

impl Preview {
    pub(super) async fn run(self, door: &Door, output: &Output) -> Result<(), Failure> {
        let asked = ask::Preview { which: self.which.which(), count: self.count, aside: Flag::Yes };
        schedules::preview(output, &door.ask(&asked).await?)
    }
}

#[derive(Debug, Args)]
pub(crate) struct Versions {
    #[command(flatten)]
    which: Which,
}

impl Versions {
    pub(super) async fn run(self, door: &Door, output: &Output) -> Result<(), Failure> {
        let asked = ask::Versions { which: self.which.which() };
        schedules::versions(output, &door.ask(&asked).await?)
    }
}

#[derive(Debug, Args)]
pub(crate) struct Parse {
    /// The sentence, such as "every weekday at 9am EST"
    text: String,
    /// The time zone of times that name none
    #[arg(long, default_value = "UTC", value_name = "ZONE")]
    timezone: String,
}

impl Parse {
    pub(crate) fn run(&self, output: &Output) -> Result<(), Failure> {
        let zone = Zone::get(&punctual::zone_name(&self.timezone)?)?;
        let context = human::Context { now: jiff::Timestamp::now(), zone };
        let parsed = human::parse(&self.text, &context)?;
        let spec = [&parsed.cron, &parsed.every, &parsed.at].into_iter().flatten().next();
        let spec = spec.cloned().unwrap_or_default();
        let timezone = parsed.timezone.as_deref().unwrap_or(context.zone.name());
        let json = json!({
            "spec": spec, "cron": parsed.cron, "every": parsed.every, "at": parsed.at, "timezone": timezone,
            "start_at": parsed.start_at, "end_at": parsed.end_at, "only_between": parsed.only_between,
            "not_on": parsed.not_on, "assumed": parsed.assumed,
        });
        parsed.assumed.iter().for_each(|assumed| note(assumed));
        let limits = [
            ("start_at", parsed.start_at.clone()),
            ("end_at", parsed.end_at.clone()),
            ("only_between", parsed.only_between.clone()),
            ("not_on", (!parsed.not_on.is_empty()).then(|| parsed.not_on.join(", "))),
        ];
        output.write(&json, || {
            let said = limits.into_iter().filter_map(|(key, value)| Some(format!("{key}: {}\n", value?)));
            format!("{spec} ({timezone})\n{}", said.collect::<String>())
        })
    }
}
