//! `punctual workflow …`

use std::path::PathBuf;

use clap::{Args, Subcommand};
use punctual::ask::{self, Flag};
use punctual::{Deployment, Failure};

use super::door::Door;
use crate::output::{Output, note, workflows};

#[derive(Debug, Subcommand)]
pub(crate) enum Workflow {
    /// Keep a version of a workflow, and let its `schedule_based` triggers fire it
    #[command(disable_version_flag = true)]
    Put(Put),
    /// Show the versions of the workflows, and the schedules that start them
    List(List),
    /// Print the DAG of a version of a workflow
    #[command(disable_version_flag = true)]
    Get(Get),
    /// Remove a version that no schedule starts, or a whole workflow with the schedules of its triggers
    #[command(disable_version_flag = true)]
    Rm(Rm),
}

#[derive(Debug, Args)]
pub(crate) struct Put {
    /// The DAG, as JSON
    file: PathBuf,
    /// The workflow; without it, `workflow_id` or `id` of the DAG
    #[arg(long)]
    id: Option<String>,
    /// The version; without it, `version` of the DAG
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    version: Option<u32>,
    /// Show what would become of its schedules, but write nothing
    #[arg(long)]
    dry_run: bool,
}

#[derive(Debug, Args)]
pub(crate) struct List {
    /// Only the versions of this workflow
    #[arg(long)]
    id: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Get {
    /// The workflow
    #[arg(long)]
    id: String,
    /// The version; without it, the highest
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    version: Option<u32>,
}

#[derive(Debug, Args)]
pub(crate) struct Rm {
    /// The workflow
    #[arg(long)]
    id: String,
    /// The version; without it, all of them
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    version: Option<u32>,
    /// Show what would be removed, but write nothing
    #[arg(long)]
    dry_run: bool,
}

impl Workflow {
    pub(crate) async fn run(self, door: &Door, output: &Output) -> Result<(), Failure> {
        match self {
            Self::Put(put) => put.run(door, output).await,
            Self::List(list) => workflows::list(output, &door.ask(&ask::Workflows { id: list.id }).await?),
            Self::Get(get) => {
                let asked = ask::Workflow { id: get.id, version: get.version };
                workflows::show(output, &door.ask(&asked).await?)
            }
            Self::Rm(rm) => {
                let asked =
                    ask::RemoveWorkflow { id: rm.id, version: rm.version, dry_run: rm.dry_run.into() };
                workflows::removed(output, &door.ask(&asked).await?)
            }
        }
    }
}

impl Put {
    async fn run(self, door: &Door, output: &Output) -> Result<(), Failure> {
        let text = std::fs::read_to_string(&self.file).map_err(|error| {
            let message = format!("cannot read `{}`: {error}", self.file.display());
            Failure::invalid(message, "give the path of a DAG as JSON")
        })?;
        // What cannot be meant is told before anybody is asked.
        let Deployment { dag, .. } = Deployment::read(&text, self.id.as_deref(), self.version)?;
        let asked = ask::PutWorkflow {
            dag,
            id: self.id,
            version: self.version,
            dry_run: self.dry_run.into(),
            aside: Flag::Yes,
        };
        workflows::put(output, &door.ask(&asked).await?)?;
        if !self.dry_run && !door.is_served().await? {
            note("nobody runs the schedules of this database yet; start `punctual serve`");
        }
        Ok(())
    }
}
