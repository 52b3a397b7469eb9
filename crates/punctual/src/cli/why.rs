//! `punctual why`: the whole chain behind one instant of a schedule.

use std::path::{Path, PathBuf};

use clap::Args;
use jiff::SignedDuration;
use punctual::{Failure, Instant, Trial, ask, declare};
use punctual_plan::{Inquiry, why};
use punctual_time::Zone;

use super::door::Door;
use super::simulate::Options;
use crate::output::{Output, why as shown};

/// How long before and after the instant a trial goes that does not say.
const AROUND: SignedDuration = SignedDuration::from_hours(24);

/// `punctual why SCHEDULE --at TIME`
#[derive(Debug, Args)]
pub(crate) struct Why {
    /// The schedule, by name or id
    #[arg(value_name = "SCHEDULE", required_unless_present = "run", requires = "at")]
    schedule: Option<String>,
    /// The instant: RFC 3339, a local time in the schedule's zone, `now` or `2h ago`
    #[arg(long, value_name = "TIME", requires = "schedule")]
    at: Option<String>,
    /// A run of the ledger, such as `run-12`, instead of a schedule and an instant
    #[arg(long, value_name = "RUN", conflicts_with_all = ["schedule", "file"])]
    run: Option<String>,
    /// Ask no database, but a YAML file or a folder of them, tried in the world of the options below
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    #[command(flatten)]
    options: Options,
}

impl Why {
    /// Whether a database is asked.
    pub(crate) fn asks_database(&self) -> bool {
        self.file.is_none()
    }

    /// Whether it describes a world that nothing is tried in.
    pub(crate) fn has_idle_world(&self) -> bool {
        self.file.is_none() && !self.options.is_empty()
    }

    /// Asks a database.
    pub(crate) async fn ask(&self, door: &Door, output: &Output) -> Result<(), Failure> {
        let asked = match (self.run.clone(), self.schedule.clone(), self.at.clone()) {
            (Some(run), ..) => ask::Why::Run(run),
            (None, Some(schedule), Some(at)) => ask::Why::At { schedule, at },
            _ => return Err(Failure::invalid("no instant was given", "add `--at TIME`")),
        };
        shown::show(output, &door.ask(&asked).await?)
    }

    /// Asks a file.
    pub(crate) fn try_file(&self, output: &Output) -> Result<(), Failure> {
        let (Some(file), Some(name), Some(at)) = (&self.file, &self.schedule, &self.at) else {
            return Err(Failure::invalid("no instant was given", "add `--at TIME`"));
        };
        // The zone is needed to read the instant, and the instant to begin the trial before it.
        let mut trial = self.options.trial(file)?;
        let instant = Instant::parse(at, &zone(file, name, &trial)?)?;
        if self.options.from.is_none() {
            trial.from = instant.at.saturating_sub(AROUND).unwrap_or(instant.at);
        }
        if self.options.to.is_none() {
            trial.to = instant.at.max(trial.from).saturating_add(AROUND).unwrap_or(instant.at);
        }
        let tried = trial.run()?;
        let account = &tried.simulated.accounts[tried.declared.place(name)?];
        let mut inquiry = Inquiry::of_simulated(&tried.simulated, account, instant.at);
        inquiry.local = instant.local;
        shown::show(output, &(&why(&inquiry)).into())
    }
}

fn zone(file: &Path, name: &str, trial: &Trial) -> Result<Zone, Failure> {
    let declared = declare::read_over(file, &declare::Ground::alone(trial.from), &trial.overlays)?;
    let zone = declared.get(name)?.definition.timezone().to_owned();
    Ok(Zone::get(&zone)?)
}
