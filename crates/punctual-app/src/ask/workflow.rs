//! Workflows are put, listed, looked at and removed.

use serde_json::{Value, json};

use super::{Call, Flag, Method, Question, in_path};
use crate::{App, Deployment, Failure, Removal, shape};

/// The versions of workflows.
#[derive(Clone, Debug, Default)]
pub struct Workflows {
    /// Of this one; of all, if none.
    pub id: Option<String>,
}

impl Question for Workflows {
    type Answer = shape::Workflows;

    fn call(&self) -> Call {
        Call::new(Method::Get, "/workflows").with("id", self.id.as_ref())
    }

    async fn answer(&self, app: &App) -> Result<shape::Workflows, Failure> {
        let rows = app.workflows(self.id.as_deref()).await?;
        Ok(shape::Workflows { workflows: rows.iter().map(shape::Workflow::from).collect() })
    }
}

/// A version of a workflow.
#[derive(Clone, Debug)]
pub struct Workflow {
    /// Which.
    pub id: String,
    /// Its version; the highest, if none.
    pub version: Option<u32>,
}

impl Question for Workflow {
    type Answer = shape::WorkflowAnswer;

    fn call(&self) -> Call {
        Call::new(Method::Get, path(&self.id)).with("version", self.version)
    }

    async fn answer(&self, app: &App) -> Result<shape::WorkflowAnswer, Failure> {
        let row = app.workflow(&self.id, self.version).await?;
        Ok(shape::WorkflowAnswer { workflow: shape::Workflow::whole(&row) })
    }
}

/// A version of a workflow that is put.
#[derive(Clone, Debug)]
pub struct PutWorkflow {
    /// Its DAG.
    pub dag: Value,
    /// The workflow; as the DAG says, if none.
    pub id: Option<String>,
    /// The version; as the DAG says, if none.
    pub version: Option<u32>,
    /// Whether nothing is written.
    pub dry_run: Flag,
    /// Whether what people want to see stands beside it.
    pub aside: Flag,
}

impl Question for PutWorkflow {
    type Answer = shape::WorkflowPut;

    fn call(&self) -> Call {
        let call =
            Call::new(Method::Post, "/workflows").when("dry_run", self.dry_run).when("aside", self.aside);
        let mut body = json!({"dag": self.dag});
        if let Some(id) = &self.id {
            body["id"] = json!(id);
        }
        if let Some(version) = self.version {
            body["version"] = json!(version);
        }
        Call { body: Some(body), ..call }
    }

    async fn answer(&self, app: &App) -> Result<shape::WorkflowPut, Failure> {
        let deployment = Deployment::read(&self.dag.to_string(), self.id.as_deref(), self.version)?;
        let deployed = app.propose_workflow(&deployment).await?;
        let would = shape::WorkflowPut::would(&deployment, &deployed);
        let answer = match self.dry_run {
            Flag::Yes => would,
            Flag::No => would.done(app.put_workflow(&deployment, &deployed).await?),
        };
        Ok(if self.aside == Flag::Yes { answer } else { answer.plain() })
    }
}

/// A workflow, or a version of it, that is removed.
#[derive(Clone, Debug)]
pub struct RemoveWorkflow {
    /// Which.
    pub id: String,
    /// Its version; all of it, if none.
    pub version: Option<u32>,
    /// Whether nothing is written.
    pub dry_run: Flag,
}

impl Question for RemoveWorkflow {
    type Answer = shape::WorkflowsRemoved;

    fn call(&self) -> Call {
        Call::new(Method::Delete, path(&self.id)).with("version", self.version).when("dry_run", self.dry_run)
    }

    async fn answer(&self, app: &App) -> Result<shape::WorkflowsRemoved, Failure> {
        let (rows, extent) = match self.version {
            Some(version) => (vec![app.workflow(&self.id, Some(version)).await?], Removal::Version),
            None => (app.workflows(Some(&self.id)).await?, Removal::Whole),
        };
        if self.dry_run == Flag::No {
            app.remove_workflows(&rows, extent).await?;
        }
        let removed = rows.iter().map(shape::Workflow::from).collect();
        Ok(shape::WorkflowsRemoved { removed, dry_run: (self.dry_run == Flag::Yes).then_some(true) })
    }
}

fn path(id: &str) -> String {
    format!("/workflows/{}", in_path(id))
}
