//! Workflows: a DAG of the workflow store is handed to its executor, with what is known of its run.
//!
//! No DAG is executed or understood here: it is loaded as it was put, and sent on.

use std::sync::{Arc, Mutex, PoisonError};

use punctual_plan::{Executor, OrgKey, Origin, Outcome, Workflow};
use punctual_store::{DocumentKind, Scope, Store};
use serde_json::{Value, json};

use super::Context;
use crate::Finished;

/// How the key of a run begins that somebody asked the run launcher for: the rest is the key that they gave.
pub const STARTED_BY_KEY: &str = "start:";

/// The workflow store, and who executes what it holds.
#[derive(Debug)]
pub(super) struct Workflows<S> {
    store: Arc<S>,
    /// Who executes workflows that do not say who does.
    usual: Mutex<Option<Executor>>,
}

/// A workflow that is about to be executed.
pub(super) struct Order {
    pub(super) executor: Executor,
    /// The DAG, what its executor is told about it, and the run.
    pub(super) body: Value,
}

impl<S: Store> Workflows<S> {
    pub(super) fn new(store: Arc<S>) -> Self {
        Self { store, usual: Mutex::default() }
    }

    /// Somebody else executes workflows from now on that do not say who does.
    pub(super) fn execute_by(&self, executor: Option<Executor>) {
        *self.usual.lock().unwrap_or_else(PoisonError::into_inner) = executor;
    }

    fn usual(&self) -> Option<Executor> {
        self.usual.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What is handed over, and to whom.
    ///
    /// # Errors
    /// With the end of the attempt, when there is no such workflow or nobody to execute it.
    pub(super) async fn order(
        &self,
        workflow: &Workflow,
        org: OrgKey,
        context: &Context,
    ) -> Result<Order, Finished> {
        let found = self.store.document(Scope::org(org), DocumentKind::Workflow, workflow.document()).await;
        let Some(document) = found.map_err(|error| Finished::failed(error.to_string()))? else {
            let Workflow { workflow_id, version, .. } = workflow.clone();
            return Err(Finished::of(Outcome::NoWorkflow { workflow: workflow_id, version }));
        };
        let dag: Value = serde_json::from_str(&document.body)
            .map_err(|error| Finished::failed(format!("the DAG of `{}`: {error}", document.name)))?;
        let executor = workflow.executor.clone().or_else(|| self.usual()).ok_or_else(|| {
            Finished::failed(
                "nobody executes workflows here: set `workflow_executor`, or `executor` of the target",
            )
        })?;
        let body = json!({ "dag": dag, "meta": meta(context), "run": context.json() });
        Ok(Order { executor, body })
    }
}

/// What an executor is told beside the DAG. Whoever started the run by a key of their own finds that key again.
fn meta(context: &Context) -> Value {
    let given = context.nonce.strip_prefix(STARTED_BY_KEY).filter(|_| context.origin == Origin::Manual);
    json!({
        "source": "schedule",
        "user_id": context.schedule.owner.user_id,
        "scheduled_for": context.scheduled_for.to_string(),
        "idempotency_key": given.map_or_else(|| context.idempotency_key(), str::to_owned),
    })
}
