//! `enable`, `disable`, `delete`, `rollback`: steps of one schedule, or of all with a tag.

use std::sync::OnceLock;

use clap::Args;
use punctual::Failure;
use punctual::ask::{Act, ActMany, Consider, OutlookMany, Verb};

use super::which::{Meant, Which, Whose};
use crate::cli::door::Door;
use crate::output::Progress;
use crate::output::{Output, note, schedules};

/// What is done, in words.
#[derive(Clone, Copy)]
pub(super) struct Words {
    /// `updated`
    pub(super) verb: &'static str,
    /// `update`
    pub(super) would: &'static str,
    /// Whether it is only shown.
    pub(super) is_dry: bool,
}

/// Carries a step out, or shows what it would do.
pub(super) async fn carry_out(
    door: &Door,
    output: &Output,
    (meant, words): (Meant, Words),
    verb: Verb,
) -> Result<(), Failure> {
    let left = match meant {
        Meant::One(which) if words.is_dry => {
            let seen = door.ask(&Consider { which, verb }).await?;
            schedules::outlook(output, words.would, &seen)?;
            None
        }
        Meant::One(which) => {
            let changed = door.ask(&Act::new(which, verb)).await?;
            let left = changed.in_flight;
            schedules::changed(output, words.verb, changed)?;
            left
        }
        Meant::Many(tag) if words.is_dry => {
            let seen = door.ask(&OutlookMany { tag, verb }).await?;
            schedules::outlooks(output, words.would, &seen)?;
            None
        }
        Meant::Many(tag) => {
            let changed = many(door, &ActMany { tag, verb }).await?;
            let left = changed.in_flight;
            schedules::changed_many(output, words.verb, changed)?;
            left
        }
    };
    if let Some(left) = left.filter(|left| *left > 0) {
        note(&format!("{left} runs are still in flight; `--cancel-running` ends them too"));
    }
    Ok(())
}

/// Does something to many; who has the database open sees how far it is.
async fn many(door: &Door, asked: &ActMany) -> Result<punctual::shape::ChangedMany, Failure> {
    let Door::Open(app) = door else { return door.ask(asked).await };
    let progress: OnceLock<Progress> = OnceLock::new();
    let told = |done: usize, all: usize| progress.get_or_init(|| Progress::new("schedules", all)).at(done);
    let changed = asked.answer_telling(app, &told).await;
    if let Some(progress) = progress.get() {
        progress.end();
    }
    changed
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
    pub(super) async fn run(self, door: &Door, output: &Output) -> Result<(), Failure> {
        let words = Words { verb: "enabled", would: "enable", is_dry: self.dry_run };
        carry_out(door, output, (self.whose.meant(), words), Verb::Enable).await
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
    pub(super) async fn run(self, door: &Door, output: &Output) -> Result<(), Failure> {
        let words = Words { verb: "disabled", would: "disable", is_dry: self.dry_run };
        carry_out(door, output, (self.whose.meant(), words), Verb::Disable { note: self.note }).await
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
    pub(super) async fn run(self, door: &Door, output: &Output) -> Result<(), Failure> {
        let words = Words { verb: "deleted", would: "delete", is_dry: self.dry_run };
        let verb = Verb::Delete { cancel_running: self.cancel_running.into() };
        carry_out(door, output, (self.whose.meant(), words), verb).await
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
    pub(super) async fn run(self, door: &Door, output: &Output) -> Result<(), Failure> {
        let words = Words { verb: "rolled back", would: "roll back", is_dry: self.dry_run };
        let meant = Meant::One(self.which.which());
        carry_out(door, output, (meant, words), Verb::Rollback { to: self.to }).await
    }
}
