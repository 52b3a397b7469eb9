//! Workflows: their versions, what putting one does, and what is removed.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::proposal::proposal;
use crate::{Applied, Deployed, Deployment, WorkflowRow};

/// A version of a workflow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Workflow {
    /// The workflow.
    pub workflow_id: String,
    /// Its version.
    pub version: u32,
    /// When it was put.
    pub updated_at: Timestamp,
    /// The living schedules that start it, by name.
    pub schedules: Vec<String>,
    /// Its DAG, as it was put; not in lists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub dag: Option<Value>,
}

impl Workflow {
    /// The shape of a version with its DAG.
    pub fn whole(row: &WorkflowRow) -> Self {
        Self { dag: Some(row.dag.clone()), ..row.into() }
    }
}

impl From<&WorkflowRow> for Workflow {
    fn from(row: &WorkflowRow) -> Self {
        Self {
            workflow_id: row.workflow.workflow_id.clone(),
            version: row.workflow.version,
            updated_at: row.updated_at,
            schedules: row.schedules.clone(),
            dag: None,
        }
    }
}

/// The versions of workflows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Workflows {
    /// By id and version.
    pub workflows: Vec<Workflow>,
}

/// One version of a workflow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct WorkflowAnswer {
    /// The version.
    pub workflow: Workflow,
}

/// What putting a workflow did, or would do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct WorkflowPut {
    /// The workflow.
    pub workflow_id: String,
    /// Its version.
    pub version: u32,
    /// What became of the DAG: `added`, `replaced` or `unchanged`.
    pub dag: String,
    /// What became of the schedules of its triggers.
    #[schema(value_type = Object)]
    pub schedules: Value,
    /// True if nothing was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dry_run: Option<bool>,
    /// What would be done, a line each; only beside tables.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drift: Option<Vec<String>>,
    /// How many schedules were done what to; only beside tables.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counts: Option<PutCounts>,
}

/// How many schedules were done what to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PutCounts {
    /// Those that are new.
    pub added: usize,
    /// Those with a new version.
    pub changed: usize,
    /// Those that are gone.
    pub removed: usize,
    /// Those that are as they were.
    pub unchanged: usize,
}

impl From<Applied> for PutCounts {
    fn from(applied: Applied) -> Self {
        let Applied { added, changed, removed, unchanged, .. } = applied;
        Self { added, changed, removed, unchanged }
    }
}

impl WorkflowPut {
    /// The shape of what putting a workflow would do.
    pub fn would(deployment: &Deployment, deployed: &Deployed) -> Self {
        Self {
            workflow_id: deployment.workflow.workflow_id.clone(),
            version: deployment.workflow.version,
            dag: deployed.kept.name().to_owned(),
            schedules: proposal(&deployed.proposal),
            dry_run: Some(true),
            drift: Some(deployed.proposal.drift().collect()),
            counts: None,
        }
    }

    /// The shape of what it did.
    pub fn done(self, applied: Applied) -> Self {
        Self { dry_run: None, drift: None, counts: Some(applied.into()), ..self }
    }

    /// What programs get.
    pub fn plain(self) -> Self {
        Self { drift: None, counts: None, ..self }
    }
}

/// What was removed, or would be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct WorkflowsRemoved {
    /// The versions.
    pub removed: Vec<Workflow>,
    /// True if nothing was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dry_run: Option<bool>,
}
