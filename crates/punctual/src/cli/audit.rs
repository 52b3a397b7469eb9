//! `punctual audit …`: planned against recorded, the audit log, and its seals.

use clap::{Args, Subcommand};
use punctual::ask::Flag;
use punctual::{Failure, Kind, ask};

use super::door::Door;
use crate::output::{Output, audit};

/// Events of one answer.
const EVENTS_MAX: u32 = 100_000;

/// `punctual audit [SCHEDULE|--all] --from A --to B`
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct Audit {
    #[command(subcommand)]
    command: Option<AuditCommand>,
    /// The schedule, by name or id, living or deleted
    #[arg(value_name = "SCHEDULE", required_unless_present = "all")]
    schedule: Option<String>,
    /// Every living schedule
    #[arg(long, conflicts_with = "schedule")]
    all: bool,
    /// From here: `7 days ago`, a date, a local time of the schedule's zone, or RFC 3339; from its making without it
    #[arg(long, value_name = "TIME")]
    from: Option<String>,
    /// Up to here, included; up to now without it
    #[arg(long, value_name = "TIME")]
    to: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AuditCommand {
    /// Show what was done, by whom, and what the scheduler decided by itself; newest first
    Log(Log),
    /// Check that no sealed event was changed, and name those that are not sealed yet
    Verify,
}

/// `punctual audit log`
#[derive(Debug, Args)]
pub(crate) struct Log {
    /// Only of this schedule, by name or id
    #[arg(long)]
    schedule: Option<String>,
    /// Only of this run
    #[arg(long, value_name = "RUN")]
    run: Option<String>,
    /// Only those whose kind begins so, such as `schedule.missed`
    #[arg(long)]
    kind: Option<String>,
    /// From here
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Up to here, included
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
    /// Show at most this many, the newest
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=i64::from(EVENTS_MAX)))]
    limit: u32,
}

impl Audit {
    pub(crate) async fn run(self, door: &Door, output: &Output) -> Result<(), Failure> {
        match &self.command {
            Some(AuditCommand::Log(log)) => audit::log(output, &door.ask(&log.asked()).await?),
            Some(AuditCommand::Verify) => verify(door, output).await,
            None => self.compare(door, output).await,
        }
    }

    async fn compare(&self, door: &Door, output: &Output) -> Result<(), Failure> {
        let (schedule, from, to) = (self.schedule.clone(), self.from.clone(), self.to.clone());
        let mut found = door.audits(&ask::Audits { schedule, from, to, aside: Flag::Yes }).await?;
        let mut audits = audit::Audits::begin(output, found.stretch())?;
        while let Some(one) = found.next().await? {
            audits.add(one)?;
        }
        refuse_holes(audits.end()?)
    }
}

fn refuse_holes(holes: usize) -> Result<(), Failure> {
    if holes == 0 {
        return Ok(());
    }
    Err(Failure {
        kind: Kind::Fault,
        message: format!("{holes} {} in the ledger", if holes == 1 { "hole is" } else { "holes are" }),
        hint: Some("`punctual why SCHEDULE --at TIME` tells what is known of the instant, `punctual db check` what else is wrong".to_owned()),
    })
}

impl Log {
    fn asked(&self) -> ask::Log {
        ask::Log {
            schedule: self.schedule.clone(),
            run: self.run.clone(),
            kind: self.kind.clone(),
            since: self.since.clone(),
            until: self.until.clone(),
            limit: self.limit,
        }
    }
}

async fn verify(door: &Door, output: &Output) -> Result<(), Failure> {
    let chain = door.ask(&ask::Verify).await?;
    audit::chain(output, &chain)?;
    match chain.broken {
        None => Ok(()),
        Some(broken) => Err(Failure {
            kind: Kind::Fault,
            message: format!("the audit log was changed behind our back at event {}", broken.seq),
            hint: Some("compare with a backup; the events before it are as they were written".to_owned()),
        }),
    }
}
