//! `punctual runs`, `schedule runs`, `schedule run-details` and `logs`: the ledger, entry by entry.

use clap::Args;
use punctual::{App, Failure, History, RunsAsked, moment, run_named, zone_of};
use punctual_plan::{Origin, RunKey, RunStatus, UnknownName};
use punctual_store::{RunRow, Selector};
use punctual_time::Zone;

use crate::output::runs::Shown;
use crate::output::{Live, Output, run, runs};

/// A listing of runs is at most this long.
const RUNS_MAX: u32 = 100_000;

/// What part of the ledger.
#[derive(Debug, Args)]
pub(crate) struct Part {
    /// Ticks from here: `7 days ago`, `2h ago`, `yesterday`, a date, a local time of the schedule's zone, or RFC 3339
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Ticks up to here, included; up to now without it
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
    /// Only those in this state, such as `failed`
    #[arg(long, value_parser = status)]
    status: Option<RunStatus>,
    /// Only those of this origin: tick, manual, backfill or chained
    #[arg(long, value_parser = origin)]
    origin: Option<Origin>,
    /// Show at most this many, the newest
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=i64::from(RUNS_MAX)))]
    limit: u32,
    /// Go on with what is new or changes, until stopped; JSON lines when the output is not a terminal
    #[arg(long)]
    follow: bool,
}

/// `punctual runs [SCHEDULE]`
#[derive(Debug, Args)]
pub(crate) struct Runs {
    /// The schedule, by name or id; all of them without it
    #[arg(value_name = "SCHEDULE")]
    schedule: Option<String>,
    #[command(flatten)]
    part: Part,
}

/// `punctual schedule runs`
#[derive(Debug, Args)]
pub(crate) struct ScheduleRuns {
    #[command(flatten)]
    whose: Whose,
    #[command(flatten)]
    part: Part,
}

#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
struct Whose {
    /// Of the schedule with this name
    #[arg(long)]
    name: Option<String>,
    /// Of the schedule with this id, or these first letters of it
    #[arg(long)]
    id: Option<String>,
    /// Of all schedules
    #[arg(long)]
    all: bool,
}

/// `punctual schedule run-details --run-id RUN`
#[derive(Debug, Args)]
pub(crate) struct RunDetails {
    /// The run, such as `run-12`
    #[arg(long, value_name = "RUN")]
    run_id: String,
}

/// `punctual logs RUN`
#[derive(Debug, Args)]
pub(crate) struct Logs {
    /// The run, such as `run-12`
    #[arg(value_name = "RUN")]
    run: String,
    /// Go on with what it prints until it ends
    #[arg(long)]
    follow: bool,
}

fn status(text: &str) -> Result<RunStatus, String> {
    // What other schedulers call a run that is still to come.
    let text = if text.eq_ignore_ascii_case("pending") { "scheduled" } else { text };
    known(text, RunStatus::ALL.iter().map(|status| status.name()))
}

fn origin(text: &str) -> Result<Origin, String> {
    known(text, Origin::ALL.iter().map(|origin| origin.name()))
}

fn known<T: std::str::FromStr<Err = UnknownName>>(
    text: &str,
    names: impl Iterator<Item = &'static str>,
) -> Result<T, String> {
    text.to_lowercase().parse().map_err(|_| format!("it is one of {}", names.collect::<Vec<_>>().join(", ")))
}

impl Runs {
    pub(crate) async fn run(self, app: &App, output: &Output) -> Result<(), Failure> {
        match &self.schedule {
            Some(schedule) => {
                let row = app.find(schedule).await?;
                let asked = RunsAsked { schedule: Some(row.definition.id), ..RunsAsked::default() };
                self.part.show(app, output, Asked { asked, zone: zone_of(&row), shown: Shown::One }).await
            }
            None => self.part.show(app, output, Asked::all()).await,
        }
    }
}

impl ScheduleRuns {
    pub(crate) async fn run(self, app: &App, output: &Output) -> Result<(), Failure> {
        let Whose { name, id, all: _ } = self.whose;
        let selector = name.map(Selector::Name).or(id.map(|id| Selector::IdPrefix(id.to_lowercase())));
        let asked = match selector {
            Some(selector) => {
                let row = app.get(selector).await?;
                let asked = RunsAsked { schedule: Some(row.definition.id), ..RunsAsked::default() };
                Asked { asked, zone: zone_of(&row), shown: Shown::One }
            }
            None => Asked::all(),
        };
        self.part.show(app, output, asked).await
    }
}

/// Whose runs are asked for.
struct Asked {
    asked: RunsAsked,
    /// In which local times are read.
    zone: Zone,
    shown: Shown,
}

impl Asked {
    fn all() -> Self {
        Self { asked: RunsAsked::default(), zone: Zone::utc(), shown: Shown::All }
    }
}

impl Part {
    async fn show(&self, app: &App, output: &Output, whose: Asked) -> Result<(), Failure> {
        let Asked { asked, zone, shown } = whose;
        let now = app.now().await?;
        let read = |text: &Option<String>| text.as_deref().map(|text| moment(text, &zone, now)).transpose();
        let asked = RunsAsked {
            status: self.status,
            origin: self.origin,
            since: read(&self.since)?,
            until: read(&self.until)?,
            limit: self.limit,
            is_silent: !self.follow,
            ..asked
        };
        if !self.follow && output.is_json() {
            return runs::walked(app.walk(&asked).await?).await;
        }
        let history = app.history(&asked).await?;
        if !self.follow {
            return runs::history(output, &history, shown);
        }
        follow(app, asked, &history, (output.live(), shown)).await
    }
}

/// Shows what is there, oldest first, and goes on with what comes until nobody reads any more.
async fn follow(app: &App, asked: RunsAsked, known: &History, show: (Live, Shown)) -> Result<(), Failure> {
    let (mut live, shown) = show;
    let mut first = known.clone();
    first.runs.reverse();
    first.ranges.reverse();
    let mut following = app.follow(asked, known).await?;
    let mut is_read = runs::news(&mut live, &first, shown)?;
    while is_read {
        is_read = runs::news(&mut live, &following.next().await?, shown)?;
    }
    Ok(())
}

impl RunDetails {
    pub(crate) async fn run(self, app: &App, output: &Output) -> Result<(), Failure> {
        let row = app.run(run_named(&self.run_id)?).await?;
        let zone = app.zone_of_run(&row).await?;
        run::details(output, &row, &zone.to_jiff())
    }
}

impl Logs {
    pub(crate) async fn run(self, app: &App, output: &Output) -> Result<(), Failure> {
        let key = run_named(&self.run)?;
        let mut live = output.live();
        let mut row = app.run(key).await?;
        let mut printed = Printed::default();
        loop {
            let is_read = printed.go_on(&mut live, &row)?;
            if !self.follow || !is_read || row.run.state.status().is_terminal() {
                return Ok(());
            }
            row = next(app, key, &row).await?;
        }
    }
}

/// The run once something has happened to it.
async fn next(app: &App, key: RunKey, known: &RunRow) -> Result<RunRow, Failure> {
    loop {
        app.changed().await;
        let row = app.run(key).await?;
        let is_more = row.output != known.output || row.run.state != known.run.state;
        if is_more {
            return Ok(row);
        }
    }
}

/// What of a run's output was printed.
#[derive(Default)]
struct Printed {
    attempt: u32,
    text: String,
}

impl Printed {
    /// Prints what came since; whether somebody still reads.
    fn go_on(&mut self, live: &mut Live, row: &RunRow) -> Result<bool, Failure> {
        let attempt = row.run.attempts.last().map_or(0, |attempt| attempt.number);
        if attempt != self.attempt {
            *self = Self { attempt, text: String::new() };
        }
        let text = row.output.as_deref().unwrap_or_default();
        // The middle of a long output is left out as it grows: what follows the part that was printed is still new.
        let new = text.strip_prefix(self.text.as_str()).unwrap_or_else(|| after_overlap(&self.text, text));
        let is_read = live.raw(new.as_bytes())?;
        self.text = text.to_owned();
        Ok(is_read)
    }
}

/// What of a text comes after the end of another one, which it may hold further up.
fn after_overlap<'a>(before: &str, text: &'a str) -> &'a str {
    const TAIL: usize = 256;
    let tail = &before[before.ceil_char_boundary(before.len().saturating_sub(TAIL))..];
    match text.rfind(tail) {
        Some(place) if !tail.is_empty() => &text[place + tail.len()..],
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_printed_is_not_printed_again_though_the_middle_is_left_out() {
        let tail = "x".repeat(300) + "end\n";
        let before = format!("begin\n{tail}");
        let after = format!("begin\n[…]\n{tail}more\n");
        assert_eq!(after_overlap(&before, &after), "more\n");
        assert_eq!(after_overlap("one\n", "something else\n"), "something else\n");
        assert_eq!(after_overlap("", "all of it"), "all of it");
    }
}
