//! `punctual schedule …`: one file per group of verbs; `flags` is the table of a schedule's fields.

mod change;
mod fields;
mod flags;
mod read;
mod toggle;
mod trigger;
mod which;
mod write;

use clap::Subcommand;
use punctual::Failure;

use super::door::Door;
use super::runs::{RunDetails, ScheduleRuns};
use super::spec::Ask;
use crate::output::Output;

pub(crate) use fields::TOLD;
pub(crate) use trigger::Request;

#[derive(Debug, Subcommand)]
#[allow(clippy::large_enum_variant, reason = "there is one of it in a process")]
pub(crate) enum Schedule {
    /// Make a schedule
    Create(write::Create),
    /// Show the schedules by name
    List(read::List),
    /// Show a schedule: when, where to, what it wants, what became of it
    Get(read::Get),
    /// Change some fields of a schedule; the others stay
    Update(write::Update),
    /// Let a schedule fire again; what it missed is judged by its catch-up policy
    Enable(change::Enable),
    /// Let a schedule not fire until it is enabled again
    Disable(change::Disable),
    /// Delete a schedule; its history stays and its name is free again
    Delete(change::Delete),
    /// Run a schedule now, enabled or not
    Trigger(trigger::Trigger),
    /// Show the next ticks of a schedule, with clock changes and what windows suppress
    Preview(read::Preview),
    /// Show the versions of a schedule: when, who, what changed
    History(read::Versions),
    /// Bring back the definition of an earlier version, as a new version
    Rollback(change::Rollback),
    /// Show the ledger of a schedule: what ran, what did not, and why
    Runs(ScheduleRuns),
    /// Show everything about a run: its times, attempts, reasons and output
    RunDetails(RunDetails),
    /// Check a cron expression and show its next five runs
    ValidateCron(Ask),
    /// Read plain English as a schedule
    Parse(read::Parse),
}

impl Schedule {
    /// Whether it is answered without a database.
    pub(crate) fn needs_none(&self) -> bool {
        matches!(self, Self::ValidateCron(_) | Self::Parse(_))
    }

    /// Answers what needs no database.
    pub(crate) fn answer(self, output: &Output) -> Result<(), Failure> {
        match self {
            Self::ValidateCron(ask) => super::spec::Spec::Validate(ask).run(output),
            Self::Parse(parse) => parse.run(output),
            _ => Ok(()),
        }
    }

    pub(crate) async fn run(self, door: &Door, output: &Output) -> Result<(), Failure> {
        match self {
            Self::Create(create) => create.run(door, output).await,
            Self::List(list) => list.run(door, output).await,
            Self::Get(get) => get.run(door, output).await,
            Self::Update(update) => update.run(door, output).await,
            Self::Enable(enable) => enable.run(door, output).await,
            Self::Disable(disable) => disable.run(door, output).await,
            Self::Delete(delete) => delete.run(door, output).await,
            Self::Trigger(trigger) => trigger.run(door, output).await,
            Self::Preview(preview) => preview.run(door, output).await,
            Self::History(versions) => versions.run(door, output).await,
            Self::Rollback(rollback) => rollback.run(door, output).await,
            Self::Runs(runs) => runs.run(door, output).await,
            Self::RunDetails(details) => details.run(door, output).await,
            Self::ValidateCron(_) | Self::Parse(_) => self.answer(output),
        }
    }
}
