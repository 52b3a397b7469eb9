//! `punctual workflow …`

use std::path::PathBuf;

use clap::{Args, Subcommand};
use punctual::{App, Deployment, Failure, Removal};

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
    pub(crate) async fn run(self, app: &App, output: &Output) -> Result<(), Failure> {
        match self {
            Self::Put(put) => put.run(app, output).await,
            Self::List(list) => workflows::list(output, &app.workflows(list.id.as_deref()).await?),
            Self::Get(get) => workflows::show(output, &app.workflow(&get.id, get.version).await?),
            Self::Rm(rm) => rm.run(app, output).await,
        }
    }
}

impl Put {
    async fn run(self, app: &App, output: &Output) -> Result<(), Failure> {
        let text = std::fs::read_to_string(&self.file).map_err(|error| {
            let message = format!("cannot read `{}`: {error}", self.file.display());
            Failure::invalid(message, "give the path of a DAG as JSON")
        })?;
        let deployment = Deployment::read(&text, self.id.as_deref(), self.version)?;
        let deployed = app.propose_workflow(&deployment).await?;
        if self.dry_run {
            return workflows::would_put(output, &deployment, &deployed);
        }
        let applied = app.put_workflow(&deployment, &deployed).await?;
        workflows::put(output, (&deployment, &deployed), applied)?;
        if !app.is_served().await? {
            note("nobody runs the schedules of this database yet; start `punctual serve`");
        }
        Ok(())
    }
}

impl Rm {
    async fn run(self, app: &App, output: &Output) -> Result<(), Failure> {
        let (rows, extent) = match self.version {
            Some(version) => (vec![app.workflow(&self.id, Some(version)).await?], Removal::Version),
            None => (app.workflows(Some(&self.id)).await?, Removal::Whole),
        };
        if !self.dry_run {
            app.remove_workflows(&rows, extent).await?;
        }
        let verb = if self.dry_run { "would remove" } else { "removed" };
        workflows::removed(output, verb, &rows)
    }
}
