//! `punctual why`: the whole chain behind one instant of a schedule.

use std::path::PathBuf;

use clap::Args;
use jiff::SignedDuration;
use jiff::civil::DateTime;
use punctual::{Failure, declare};
use punctual_plan::{Inquiry, local_instant, why};
use punctual_time::{Once, Zone};

use super::simulate::Options;
use crate::output::{Output, why as shown};

/// How long before and after the instant a trial goes that does not say.
const AROUND: SignedDuration = SignedDuration::from_hours(24);

/// `punctual why NAME --at TIME`
#[derive(Debug, Args)]
pub(crate) struct Why {
    /// The schedule's name
    #[arg(value_name = "NAME")]
    name: String,
    /// The instant: RFC 3339, or a local time in the schedule's zone
    #[arg(long, value_name = "TIME")]
    at: String,
    /// A YAML file, or a folder of them, that is tried in the world of the other options
    #[arg(long, value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    options: Options,
}

impl Why {
    pub(crate) fn run(&self, output: &Output) -> Result<(), Failure> {
        // The zone is needed to read the instant, and the instant to begin the trial before it.
        let mut trial = self.options.trial(&self.file)?;
        let zone = self.zone(&trial)?;
        let at = Once::parse(&self.at, &zone)?.instant();
        if self.options.from.is_none() {
            trial.from = at.saturating_sub(AROUND).unwrap_or(at);
        }
        if self.options.to.is_none() {
            trial.to = at.max(trial.from).saturating_add(AROUND).unwrap_or(at);
        }
        let tried = trial.run()?;
        let place = tried.declared.place(&self.name)?;
        let account = &tried.simulated.accounts[place];
        let mut inquiry = Inquiry::of_simulated(&tried.simulated, account, at);
        // A time that the clock skips is explained as it was written, not as the instant it is moved to.
        let written = self
            .at
            .trim()
            .parse::<DateTime>()
            .ok()
            .filter(|_| self.at.trim().parse::<jiff::Timestamp>().is_err());
        inquiry.local = written.filter(|local| local_instant(*local, &zone) == Some(at));
        shown::show(output, &why(&inquiry))
    }

    fn zone(&self, trial: &punctual::Trial) -> Result<Zone, Failure> {
        let declared = declare::read_over(&self.file, &declare::Ground::alone(trial.from), &trial.overlays)?;
        let name = declared.get(&self.name)?.definition.timezone().to_owned();
        Ok(Zone::get(&name)?)
    }
}
