//! `punctual schedule …`

use clap::{Args, Subcommand};
use punctual::{App, Failure, Listing, Step};
use punctual_store::{ScheduleRow, Selector};
use punctual_time::Dialect;
use serde_json::{Value, json};

use super::runs::{RunDetails, ScheduleRuns};
use crate::output::{Output, note, schedules};

#[derive(Debug, Subcommand)]
pub(crate) enum Schedule {
    /// Make a schedule that runs a program
    Create(Create),
    /// Show the schedules by name
    List,
    /// Show the ledger of a schedule: what ran, what did not, and why
    Runs(ScheduleRuns),
    /// Show everything about a run: its times, attempts, reasons and output
    RunDetails(RunDetails),
    /// Delete a schedule; its history stays and its name is free again
    Delete(Delete),
}

/// The schedule that is meant.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct Which {
    /// By name
    #[arg(long)]
    name: Option<String>,
    /// By id, or the first letters of it
    #[arg(long)]
    id: Option<String>,
}

impl Which {
    fn selector(self) -> Selector {
        match (self.name, self.id) {
            (Some(name), _) => Selector::Name(name),
            (None, id) => Selector::IdPrefix(id.unwrap_or_default().to_lowercase()),
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct Create {
    /// The name, unique among your schedules
    #[arg(long)]
    name: String,
    /// When: a cron expression of five fields, or six with seconds first
    #[arg(long, value_name = "EXPR")]
    cron: String,
    /// How the expression is read: standard, posix or quartz
    #[arg(long, default_value_t)]
    dialect: Dialect,
    /// The time zone of the expression, by its IANA name, or `local` for this host's
    #[arg(long, default_value = "UTC", value_name = "ZONE")]
    timezone: String,
    /// Check everything and show the first ticks, but write nothing
    #[arg(long)]
    dry_run: bool,
    /// The program and its arguments, after `--`; run directly, never through a shell
    #[arg(last = true, required = true, value_name = "ARGV")]
    argv: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Delete {
    #[command(flatten)]
    which: Which,
    /// Show what would be deleted, but write nothing
    #[arg(long)]
    dry_run: bool,
}

impl Schedule {
    pub(crate) async fn run(self, app: &App, output: &Output) -> Result<(), Failure> {
        match self {
            Self::Create(create) => create.run(app, output).await,
            Self::List => schedules::list(output, &app.list(&Listing::default()).await?),
            Self::Runs(runs) => runs.run(app, output).await,
            Self::RunDetails(details) => details.run(app, output).await,
            Self::Delete(delete) => delete.run(app, output).await,
        }
    }
}

impl Create {
    async fn run(self, app: &App, output: &Output) -> Result<(), Failure> {
        let keys = json!({
            "name": self.name,
            "cron": self.cron,
            "dialect": self.dialect.to_string(),
            "timezone": self.timezone,
            "target": {"type": "process", "argv": self.argv},
        });
        let Value::Object(keys) = keys else { return Ok(()) };
        let drafted = app.draft(&keys, &|key| format!("--{}", key.replace('_', "-"))).await?;
        app.refuse_taken(&drafted.definition.name).await?;
        if self.dry_run {
            return schedules::preview(output, &drafted, app.now().await?);
        }
        schedules::created(output, &app.create(&drafted, None).await?.row)?;
        if !app.is_served().await? {
            note("nobody runs the schedules of this database yet; start `punctual serve`");
        }
        Ok(())
    }
}

impl Delete {
    async fn run(self, app: &App, output: &Output) -> Result<(), Failure> {
        let selector = self.which.selector();
        if self.dry_run {
            return schedules::would_delete(output, &app.living(selector).await?);
        }
        let acted = app.act(selector, async |_: &ScheduleRow| Ok(Some(Step::Delete))).await?;
        schedules::deleted(output, &acted.row)
    }
}
