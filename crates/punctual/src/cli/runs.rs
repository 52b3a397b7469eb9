//! `punctual runs`, `schedule runs`, `schedule run-details` and `logs`: the ledger, entry by entry.

use clap::Args;
use punctual::ask::{Flag, One, Which};
use punctual::shape::Run;
use punctual::{App, Failure, ask};
use punctual_plan::{Origin, RunStatus, UnknownName};

use super::door::Door;
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
    /// Of all schedules, as also without a schedule
    #[arg(long, conflicts_with = "schedule")]
    all: bool,
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
    pub(crate) async fn run(self, door: &Door, output: &Output) -> Result<(), Failure> {
        let one = self.schedule.filter(|_| !self.all);
        self.part.show(door, output, one.map(Which::either)).await
    }
}

impl ScheduleRuns {
    pub(crate) async fn run(self, door: &Door, output: &Output) -> Result<(), Failure> {
        let Whose { name, id, all: _ } = self.whose;
        self.part.show(door, output, name.map(Which::name).or(id.map(Which::id))).await
    }
}

impl Part {
    async fn show(self, door: &Door, output: &Output, which: Option<Which>) -> Result<(), Failure> {
        let shown = if which.is_some() { Shown::One } else { Shown::All };
        let asked = ask::Runs {
            which,
            since: self.since,
            until: self.until,
            status: self.status,
            origin: self.origin,
            limit: self.limit,
            after: None,
            aside: Flag::Yes,
        };
        if self.follow {
            return match door {
                Door::Open(app) => follow(app, &asked, (output.live(), shown)).await,
                _ => follow_elsewhere(door, asked, (output.live(), shown)).await,
            };
        }
        match output.is_json() {
            true => runs::walked(door.walk(asked).await?).await,
            false => runs::history(output, &door.runs(asked).await?, shown),
        }
    }
}

/// Shows what is there, oldest first, and goes on with what comes until nobody reads any more.
async fn follow(app: &App, asked: &ask::Runs, show: (Live, Shown)) -> Result<(), Failure> {
    let (mut live, shown) = show;
    let asked = asked.asked(app).await?;
    let known = app.history(&asked).await?;
    let mut first = known.clone();
    first.runs.reverse();
    first.ranges.reverse();
    let mut following = app.follow(asked, &known).await?;
    let mut is_read = runs::news(&mut live, &(&first).into(), shown)?;
    while is_read {
        is_read = runs::news(&mut live, &(&following.next().await?).into(), shown)?;
    }
    Ok(())
}

/// The same of a server.
async fn follow_elsewhere(door: &Door, asked: ask::Runs, show: (Live, Shown)) -> Result<(), Failure> {
    let (mut live, shown) = show;
    let mut following = door.follow(asked).await?;
    let mut is_read = runs::news(&mut live, &following.first, shown)?;
    while is_read {
        is_read = runs::news(&mut live, &following.next().await?, shown)?;
    }
    Ok(())
}

impl RunDetails {
    pub(crate) async fn run(self, door: &Door, output: &Output) -> Result<(), Failure> {
        run::details(output, &door.ask(&One { run: self.run_id, aside: Flag::Yes }).await?)
    }
}

impl Logs {
    pub(crate) async fn run(self, door: &Door, output: &Output) -> Result<(), Failure> {
        let asked = One { run: self.run, aside: Flag::No };
        let mut live = output.live();
        let mut printed = Printed::default();
        loop {
            let run = door.ask(&asked).await?.run.run;
            let is_read = printed.go_on(&mut live, &run)?;
            if !self.follow || !is_read || run.is_over() {
                return Ok(());
            }
            door.changed().await;
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
    fn go_on(&mut self, live: &mut Live, run: &Run) -> Result<bool, Failure> {
        let attempt = run.attempt;
        if attempt != self.attempt {
            *self = Self { attempt, text: String::new() };
        }
        let text = run.output.as_deref().unwrap_or_default();
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
