//! `punctual audit …`: planned against recorded, the audit log, and its seals.

use clap::{Args, Subcommand};
use jiff::Timestamp;
use punctual::{App, Failure, Kind, Listing, moment, run_named, zone_of};
use punctual_store::AuditFilter;
use punctual_time::Zone;

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
    pub(crate) async fn run(self, app: &App, output: &Output) -> Result<(), Failure> {
        match &self.command {
            Some(AuditCommand::Log(log)) => log.run(app, output).await,
            Some(AuditCommand::Verify) => verify(app, output).await,
            None => self.compare(app, output).await,
        }
    }

    async fn compare(&self, app: &App, output: &Output) -> Result<(), Failure> {
        let one = match &self.schedule {
            Some(schedule) => Some(app.find(schedule).await?),
            None => None,
        };
        let now = app.now().await?;
        let zone = one.as_ref().map_or_else(Zone::utc, zone_of);
        let to = self.to.as_ref().map_or(Ok(now), |text| moment(text, &zone, now))?;
        let from = match (&self.from, &one) {
            (Some(text), _) => moment(text, &zone, now)?,
            (None, Some(row)) => row.created_at.min(to),
            (None, None) => app.first_made().await?.unwrap_or(now).min(to),
        };
        if from > to {
            let message = format!("the audit ends at {to} and begins only at {from}");
            return Err(Failure::invalid(message, "let `--to` be later than `--from`"));
        }
        let mut audits = audit::Audits::begin(output, audit::Stretch { from, to })?;
        if let Some(row) = one {
            audits.add(app.audit(row, from..=to).await?)?;
            return refuse_holes(audits.end()?);
        }
        let mut pages = app.pages(&Listing::default());
        while let Some(rows) = pages.next().await? {
            for row in rows {
                audits.add(app.audit(row, from..=to).await?)?;
            }
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
    async fn run(&self, app: &App, output: &Output) -> Result<(), Failure> {
        let now = app.now().await?;
        let (schedule, zone) = match &self.schedule {
            Some(text) => {
                let row = app.find(text).await?;
                (Some(row.definition.id), zone_of(&row))
            }
            None => (None, Zone::utc()),
        };
        let read = |text: &Option<String>| -> Result<Option<Timestamp>, Failure> {
            text.as_deref().map(|text| moment(text, &zone, now)).transpose()
        };
        let filter = AuditFilter {
            schedule,
            run: self.run.as_deref().map(run_named).transpose()?,
            kind: self.kind.clone(),
            since: read(&self.since)?,
            until: read(&self.until)?,
        };
        audit::log(output, &app.audit_log(filter, self.limit).await?)
    }
}

async fn verify(app: &App, output: &Output) -> Result<(), Failure> {
    let chain = app.audit_verify().await?;
    audit::chain(output, &chain)?;
    match chain.broken {
        None => Ok(()),
        Some((seq, _)) => Err(Failure {
            kind: Kind::Fault,
            message: format!("the audit log was changed behind our back at event {seq}"),
            hint: Some("compare with a backup; the events before it are as they were written".to_owned()),
        }),
    }
}
