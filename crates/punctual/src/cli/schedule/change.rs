//! `enable`, `disable`, `delete`, `rollback`: steps of one schedule, or of all with a tag.

use clap::Args;
use punctual::{App, Failure, Outlook, Step};
use punctual_store::ScheduleRow;

use super::toggle::Toggle;
use super::which::{Meant, Which, Whose};
use crate::output::Progress;
use crate::output::{Output, note, schedules};

/// What is done, in words.
#[derive(Clone, Copy)]
pub(super) struct Change {
    /// `updated`
    pub(super) verb: &'static str,
    /// `update`
    pub(super) would: &'static str,
    /// Whether it is only shown.
    pub(super) is_dry: bool,
}

/// Carries a step out, or shows what it would do.
pub(super) async fn carry_out(
    app: &App,
    output: &Output,
    (whose, change): (&Whose, Change),
    decide: impl AsyncFn(&ScheduleRow) -> Result<Option<Step>, Failure>,
) -> Result<(), Failure> {
    match whose.meant(app).await? {
        Meant::One(selector) if change.is_dry => {
            let row = app.living(selector).await?;
            let step = decide(&row).await?;
            let outlook = Outlook::of(&row, step.as_ref(), app.now().await?);
            schedules::outlook(output, change.would, &(row, step, outlook))
        }
        Meant::One(selector) => {
            let acted = app.act(selector, decide).await?;
            schedules::changed(output, change.verb, &acted)
        }
        Meant::Many(rows) if change.is_dry => {
            let now = app.now().await?;
            let mut shown = Vec::new();
            for row in rows {
                let step = decide(&row).await?;
                let outlook = Outlook::of(&row, step.as_ref(), now);
                shown.push((row, step, outlook));
            }
            schedules::outlooks(output, change.would, &shown)
        }
        Meant::Many(rows) => {
            let progress = Progress::new("schedules", rows.len());
            let acted = app.act_many(rows, decide, &|done| progress.at(done)).await?;
            progress.end();
            schedules::changed_many(output, change.verb, &acted)
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct Enable {
    #[command(flatten)]
    whose: Whose,
    /// Show the next ticks before and after, but write nothing
    #[arg(long)]
    dry_run: bool,
}

impl Enable {
    pub(super) async fn run(self, app: &App, output: &Output) -> Result<(), Failure> {
        let change = Change { verb: "enabled", would: "enable", is_dry: self.dry_run };
        let decide = async |row: &ScheduleRow| Toggle::Enabled.step(row);
        carry_out(app, output, (&self.whose, change), decide).await
    }
}

#[derive(Debug, Args)]
pub(crate) struct Disable {
    #[command(flatten)]
    whose: Whose,
    /// Why, for whoever wonders later
    #[arg(long, default_value = "")]
    note: String,
    /// Show the next ticks before and after, but write nothing
    #[arg(long)]
    dry_run: bool,
}

impl Disable {
    pub(super) async fn run(self, app: &App, output: &Output) -> Result<(), Failure> {
        let change = Change { verb: "disabled", would: "disable", is_dry: self.dry_run };
        let by = app.identity().actor().to_owned();
        let toggle = Toggle::Disabled { by, note: self.note.clone() };
        let decide = async |row: &ScheduleRow| toggle.step(row);
        carry_out(app, output, (&self.whose, change), decide).await
    }
}

#[derive(Debug, Args)]
pub(crate) struct Delete {
    #[command(flatten)]
    whose: Whose,
    /// Cancel the runs that are in flight as well
    #[arg(long)]
    cancel_running: bool,
    /// Show what would be deleted, but write nothing
    #[arg(long)]
    dry_run: bool,
}

impl Delete {
    pub(super) async fn run(self, app: &App, output: &Output) -> Result<(), Failure> {
        let change = Change { verb: "deleted", would: "delete", is_dry: self.dry_run };
        let meant = match self.whose.meant(app).await? {
            Meant::One(selector) => vec![app.living(selector).await?],
            Meant::Many(rows) => rows,
        };
        let decide = async |_: &ScheduleRow| Ok(Some(Step::Delete));
        carry_out(app, output, (&self.whose, change), decide).await?;
        if self.dry_run {
            return Ok(());
        }
        let mut left = 0;
        for row in meant {
            match self.cancel_running {
                true => drop(app.cancel_in_flight(&row).await?),
                false => left += app.in_flight(&row).await?.len(),
            }
        }
        if left > 0 {
            note(&format!("{left} runs are still in flight; `--cancel-running` ends them too"));
        }
        Ok(())
    }
}

#[derive(Debug, Args)]
pub(crate) struct Rollback {
    #[command(flatten)]
    which: Which,
    /// The version whose definition comes back, as a new version
    #[arg(long, value_name = "VERSION")]
    to: i64,
    /// Show the next ticks before and after, but write nothing
    #[arg(long)]
    dry_run: bool,
}

impl Rollback {
    pub(super) async fn run(self, app: &App, output: &Output) -> Result<(), Failure> {
        if self.dry_run {
            let row = app.living(self.which.selector()).await?;
            let step = app.way_back(&row, self.to).await?;
            let outlook = Outlook::of(&row, step.as_ref(), app.now().await?);
            return schedules::outlook(output, "roll back", &(row, step, outlook));
        }
        let acted = app.rollback(self.which.selector(), self.to).await?;
        schedules::changed(output, "rolled back", &acted)
    }
}
