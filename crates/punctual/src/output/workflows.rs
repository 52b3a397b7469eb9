//! Workflows on the screen.

use jiff::tz::TimeZone;
use punctual::Failure;
use punctual::shape::{Workflow, WorkflowAnswer, WorkflowPut, Workflows, WorkflowsRemoved};

use super::table::table;
use super::{Output, clock};

/// The versions of workflows.
pub(crate) fn list(output: &Output, found: &Workflows) -> Result<(), Failure> {
    output.write(found, || {
        if found.workflows.is_empty() {
            return "no workflows; put one with `punctual workflow put`\n".to_owned();
        }
        let lines = found.workflows.iter().map(|one| {
            let put = clock(one.updated_at, &TimeZone::UTC);
            vec![one.workflow_id.clone(), one.version.to_string(), put, one.schedules.join(", ")]
        });
        table(&["WORKFLOW", "VERSION", "PUT", "SCHEDULES"], lines)
    })
}

/// The DAG of a workflow; for programs with what is known about it.
pub(crate) fn show(output: &Output, found: &WorkflowAnswer) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(&found.workflow.dag);
    let text = text.map_err(|error| Failure::world(error.to_string()))?;
    output.write(found, || text + "\n")
}

/// What putting a workflow did, or would do.
pub(crate) fn put(output: &Output, put: &WorkflowPut) -> Result<(), Failure> {
    output.write(&put.clone().plain(), || match put.counts {
        None => would_put(put),
        Some(counts) => format!(
            "put {} version {}: the DAG {}; schedules: {} added, {} changed, {} removed, {} as before\n",
            put.workflow_id,
            put.version,
            put.dag,
            counts.added,
            counts.changed,
            counts.removed,
            counts.unchanged
        ),
    })
}

fn would_put(put: &WorkflowPut) -> String {
    let drift: String = put.drift.iter().flatten().map(|line| format!("  {line}\n")).collect();
    format!("would put {} version {}: the DAG {}\n{drift}", put.workflow_id, put.version, put.dag)
}

/// What was removed, or would be.
pub(crate) fn removed(output: &Output, gone: &WorkflowsRemoved) -> Result<(), Failure> {
    let verb = if gone.dry_run.is_some() { "would remove" } else { "removed" };
    output.write(gone, || {
        let line = |one: &Workflow| format!("{verb} {} version {}\n", one.workflow_id, one.version);
        gone.removed.iter().map(line).collect()
    })
}
