//! Workflows on the screen.

use jiff::tz::TimeZone;
use punctual::{Applied, Deployed, Deployment, Failure, WorkflowRow};
use serde_json::{Value, json};

use super::table::table;
use super::{Output, apply, clock};

fn row_json(row: &WorkflowRow) -> Value {
    json!({
        "workflow_id": row.workflow.workflow_id,
        "version": row.workflow.version,
        "updated_at": row.updated_at,
        "schedules": row.schedules,
    })
}

/// The versions of workflows.
pub(crate) fn list(output: &Output, rows: &[WorkflowRow]) -> Result<(), Failure> {
    let json = json!({"workflows": rows.iter().map(row_json).collect::<Vec<_>>()});
    output.write(&json, || {
        if rows.is_empty() {
            return "no workflows; put one with `punctual workflow put`\n".to_owned();
        }
        let lines = rows.iter().map(|row| {
            let (workflow, put) = (&row.workflow, clock(row.updated_at, &TimeZone::UTC));
            vec![workflow.workflow_id.clone(), workflow.version.to_string(), put, row.schedules.join(", ")]
        });
        table(&["WORKFLOW", "VERSION", "PUT", "SCHEDULES"], lines)
    })
}

/// The DAG of a workflow; for programs with what is known about it.
pub(crate) fn show(output: &Output, row: &WorkflowRow) -> Result<(), Failure> {
    let mut json = row_json(row);
    json["dag"] = row.dag.clone();
    let text = serde_json::to_string_pretty(&row.dag).map_err(|error| Failure::world(error.to_string()))?;
    output.write(&json!({"workflow": json}), || text + "\n")
}

fn put_json(deployment: &Deployment, deployed: &Deployed) -> Value {
    json!({
        "workflow_id": deployment.workflow.workflow_id,
        "version": deployment.workflow.version,
        "dag": deployed.kept.name(),
        "schedules": apply::proposal_json(&deployed.proposal),
    })
}

/// What putting a workflow would do.
pub(crate) fn would_put(
    output: &Output,
    deployment: &Deployment,
    deployed: &Deployed,
) -> Result<(), Failure> {
    let mut json = put_json(deployment, deployed);
    json["dry_run"] = json!(true);
    output.write(&json, || {
        let workflow = &deployment.workflow;
        let drift: String = deployed.proposal.drift().map(|line| format!("  {line}\n")).collect();
        let kept = deployed.kept.name();
        format!("would put {} version {}: the DAG {kept}\n{drift}", workflow.workflow_id, workflow.version)
    })
}

/// What putting a workflow did.
pub(crate) fn put(
    output: &Output,
    (deployment, deployed): (&Deployment, &Deployed),
    applied: Applied,
) -> Result<(), Failure> {
    output.write(&put_json(deployment, deployed), || {
        let workflow = &deployment.workflow;
        let Applied { added, changed, removed, unchanged, .. } = applied;
        format!(
            "put {} version {}: the DAG {}; schedules: {added} added, {changed} changed, {removed} removed, \
             {unchanged} as before\n",
            workflow.workflow_id,
            workflow.version,
            deployed.kept.name()
        )
    })
}

/// What was removed, or would be.
pub(crate) fn removed(output: &Output, verb: &str, rows: &[WorkflowRow]) -> Result<(), Failure> {
    let mut json = json!({"removed": rows.iter().map(row_json).collect::<Vec<_>>()});
    if verb != "removed" {
        json["dry_run"] = json!(true);
    }
    output.write(&json, || {
        let line = |row: &WorkflowRow| {
            format!("{verb} {} version {}\n", row.workflow.workflow_id, row.workflow.version)
        };
        rows.iter().map(line).collect()
    })
}
