//! `punctual simulate FILE`: a file of schedules, tried in a world that the command line describes.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use jiff::Timestamp;
use punctual::declare::Overlay;
use punctual::{Deed, Failure, Failures, RunTime, Trial, instant, outage};

use crate::output::{Output, simulate};

/// `punctual simulate FILE`
#[derive(Debug, Args)]
pub(crate) struct Simulate {
    #[command(flatten)]
    world: World,
    /// How the ledger is shown; without it a table on a terminal, and JSON elsewhere
    #[arg(long = "as", value_enum, value_name = "VIEW", conflicts_with = "json")]
    view: Option<View>,
}

/// How a ledger is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum View {
    /// One line for each run, and for each stretch of what is alike
    Table,
    /// One line for each schedule, time from left to right
    Timeline,
    /// Everything, for programs
    Json,
}

/// A file and the world it is tried in.
#[derive(Debug, Args)]
pub(crate) struct World {
    /// A YAML file, or a folder of them
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    options: Options,
}

/// The world that a file is tried in.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// When the schedules are applied and the scheduler starts, RFC 3339 or in UTC; now without it
    #[arg(long, value_name = "TIME")]
    pub(crate) from: Option<String>,
    /// When the trial ends; a day later without it
    #[arg(long, value_name = "TIME")]
    pub(crate) to: Option<String>,
    /// A stretch in which no scheduler runs, `A..B` or `A+2h`; what ran when it began is in doubt
    #[arg(long, value_name = "STRETCH")]
    outage: Vec<String>,
    /// How long runs take: `7m`, or `NAME=7m` for one schedule
    #[arg(long, value_name = "DURATION")]
    run_time: Vec<String>,
    /// Which attempts fail: `every:3`, `first:2`, `always`, with `:launch` or `:lost` for how; `NAME=…` for one schedule
    #[arg(long, value_name = "RULE")]
    fail: Vec<String>,
    /// A key laid over the schedules of the file: `catch_up=spread`, or `NAME:catch_up=spread`
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// What somebody does: `TIME NAME pause`, `resume`, `delete`, `trigger`, `force`, `cancel`, or `set KEY=VALUE`
    #[arg(long = "do", value_name = "DEED")]
    deed: Vec<String>,
}

impl Options {
    /// Whether nothing of the world is described.
    pub(crate) fn is_empty(&self) -> bool {
        let lists = [&self.outage, &self.run_time, &self.fail, &self.set, &self.deed];
        self.from.is_none() && self.to.is_none() && lists.iter().all(|list| list.is_empty())
    }

    /// The trial of a file in this world.
    pub(crate) fn trial(&self, file: &Path) -> Result<Trial, Failure> {
        let from = self.from.as_deref().map_or_else(|| Ok(Timestamp::now()), instant)?;
        let mut trial = Trial::new(file, from);
        if let Some(to) = &self.to {
            trial.to = instant(to)?;
        }
        trial.overlays = self.set.iter().map(|text| Overlay::parse(text)).collect::<Result<_, _>>()?;
        trial.outages = self.outage.iter().map(|text| outage(text)).collect::<Result<_, _>>()?;
        trial.run_times = self.run_time.iter().map(|text| RunTime::parse(text)).collect::<Result<_, _>>()?;
        trial.failures = self.fail.iter().map(|text| Failures::parse(text)).collect::<Result<_, _>>()?;
        trial.deeds = self.deed.iter().map(|text| Deed::parse(text)).collect::<Result<_, _>>()?;
        Ok(trial)
    }
}

impl Simulate {
    pub(crate) fn run(&self, output: &Output) -> Result<(), Failure> {
        let trial = self.world.options.trial(&self.world.file)?;
        let tried = trial.run()?;
        simulate::show(output, &trial, &tried, self.view)
    }
}
