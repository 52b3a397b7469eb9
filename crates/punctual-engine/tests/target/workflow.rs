//! Workflows and messages: what an executor is handed, and how a run ends that has nobody to go to.

use std::sync::Arc;

use punctual_engine::HostTargets;
use punctual_plan::{Action, Executor, Object, Outcome, Workflow};
use punctual_store::{DocumentKind, NewDocument, Scope, Store};
use serde_json::{Value, json};

use super::stage::{Stage, at, schedule, shell};

async fn stage(executor: Option<Executor>) -> Stage {
    let mut stage = Stage::new().await;
    let targets = HostTargets::new(Arc::clone(&stage.store), stage.vault());
    targets.execute_by(executor);
    stage.targets = Arc::new(targets);
    let new = NewDocument {
        kind: DocumentKind::Workflow,
        name: "report@3".to_owned(),
        body: r#"{"nodes":[{"id":"b"},{"id":"a"}],"zeta":1,"alpha":2}"#.to_owned(),
        replaces: None,
        now: at("2026-03-01T09:00:00Z"),
    };
    stage.store.put_document(Scope::org(stage.org), new).await.expect("it is kept");
    stage
}

fn workflow(version: u32, executor: Option<Executor>) -> Action {
    Action::Workflow(Workflow { executor, ..Workflow::new("report", version) })
}

#[tokio::test]
async fn an_executor_gets_the_dag_and_what_it_is_told_of_it() {
    let usual = Executor::Process(shell("cat"));
    let stage = stage(Some(usual)).await;
    let finished = stage.launch(schedule(workflow(3, None))).end().await;
    assert_eq!(finished.outcome, Outcome::Succeeded);
    let body = finished.output.expect("it printed what it got");
    assert!(
        body.starts_with(r#"{"dag":{"nodes":[{"id":"b"},{"id":"a"}],"zeta":1,"alpha":2},"meta":{"#),
        "{body}"
    );
    let body: Value = serde_json::from_str(&body).expect("JSON");
    let key = body["run"]["idempotency_key"].clone();
    let meta = json!({
        "source": "schedule", "user_id": "ada", "scheduled_for": "2026-03-01T10:00:00Z", "idempotency_key": key,
    });
    assert_eq!(body["meta"], meta);
    assert_eq!(
        (&body["run"]["workflow_id"], &body["run"]["workflow_version"]),
        (&json!("report"), &json!(3))
    );
}

#[tokio::test]
async fn the_target_s_own_executor_counts_before_the_usual_one() {
    let stage = stage(Some(Executor::Process(shell("exit 9")))).await;
    let own = Executor::Process(shell("echo $PUNCTUAL_WORKFLOW_ID $PUNCTUAL_WORKFLOW_VERSION"));
    let finished = stage.launch(schedule(workflow(3, Some(own)))).end().await;
    assert_eq!((finished.outcome, finished.output.as_deref()), (Outcome::Succeeded, Some("report 3\n")));
}

#[tokio::test]
async fn a_dag_that_is_not_there_and_an_executor_that_is_not_named_end_the_attempt() {
    let stage = stage(None).await;
    let missing = stage.launch(schedule(workflow(4, None))).end().await;
    assert_eq!(missing.outcome, Outcome::NoWorkflow { workflow: "report".to_owned(), version: 4 });
    let nobody = stage.launch(schedule(workflow(3, None))).end().await;
    assert!(
        matches!(&nobody.outcome, Outcome::LaunchFailed { error } if error.contains("`workflow_executor`")),
        "{nobody:?}"
    );
}

#[tokio::test]
async fn a_message_is_done_when_it_is_launched_for_its_admission_wrote_it() {
    let stage = stage(None).await;
    let launched = stage.launch(schedule(Action::Message { message: Object::new() }));
    assert_eq!(launched.end().await.outcome, Outcome::Succeeded);
}
