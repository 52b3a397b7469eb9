//! The workflow store: versions of DAGs, and the schedules that their triggers ask for.

use axum::Json;
use axum::extract::Path;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use punctual_app::ask::{PutWorkflow, Question, RemoveWorkflow, Workflow, Workflows};
use punctual_app::shape;
use serde::Deserialize;
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::auth::Caller;
use crate::hear::{Answer, Asked, Body};
use crate::problem::{Problem, Refused};
use crate::shared::Shared;

pub(super) fn router() -> OpenApiRouter<Shared> {
    OpenApiRouter::new().routes(routes!(list, put)).routes(routes!(get, remove))
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct ListQuery {
    /// Only the versions of this workflow.
    id: Option<String>,
}

/// The versions of the workflows, and the schedules that start them
#[utoipa::path(get, path = "/workflows", tag = "workflows", operation_id = "list_workflows", params(ListQuery),
    responses((status = 200, description = "The versions", body = shape::Workflows), Refused))]
async fn list(Caller(app): Caller, Asked(query): Asked<ListQuery>) -> Answer<shape::Workflows> {
    Ok(Json(Workflows { id: query.id }.answer(&app).await?))
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct PutQuery {
    /// Show what would become of its schedules, but write nothing.
    #[serde(default)]
    dry_run: bool,
    /// With what would be done in words, and what was done in numbers.
    #[serde(default)]
    aside: bool,
}

/// A version of a workflow.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct PutBody {
    /// Its DAG, which is kept as it is; its triggers of type `schedule_based` become schedules.
    #[schema(value_type = Object)]
    dag: Value,
    /// The workflow; without it, `workflow_id` or `id` of the DAG.
    id: Option<String>,
    /// The version; without it, `version` of the DAG.
    version: Option<u32>,
}

/// Keep a version of a workflow, and let its `schedule_based` triggers fire it
#[utoipa::path(post, path = "/workflows", tag = "workflows", operation_id = "put_workflow", params(PutQuery),
    request_body = PutBody,
    responses(
        (status = 201, description = "The version is new", body = shape::WorkflowPut),
        (status = 200, description = "It was there, or with `dry_run`: what would be done", body = shape::WorkflowPut),
        Refused))]
async fn put(
    Caller(app): Caller,
    Asked(query): Asked<PutQuery>,
    Body(body): Body<PutBody>,
) -> Result<Response, Problem> {
    let (dry_run, aside) = (query.dry_run.into(), query.aside.into());
    let asked = PutWorkflow { dag: body.dag, id: body.id, version: body.version, dry_run, aside };
    let put = asked.answer(&app).await?;
    let is_new = put.dag == "added" && !query.dry_run;
    Ok((if is_new { StatusCode::CREATED } else { StatusCode::OK }, Json(put)).into_response())
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct VersionQuery {
    /// The version; the highest without it.
    version: Option<u32>,
}

/// A version of a workflow, with its DAG
#[utoipa::path(get, path = "/workflows/{workflow}", tag = "workflows", operation_id = "get_workflow",
    params(("workflow" = String, Path, description = "Its id"), VersionQuery),
    responses((status = 200, description = "The version", body = shape::WorkflowAnswer), Refused))]
async fn get(
    Caller(app): Caller,
    Path(id): Path<String>,
    Asked(query): Asked<VersionQuery>,
) -> Answer<shape::WorkflowAnswer> {
    Ok(Json(Workflow { id, version: query.version }.answer(&app).await?))
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct RemoveQuery {
    /// The version, which no schedule may start; without it, all of them with the schedules of their triggers.
    version: Option<u32>,
    /// Show what would be removed, but write nothing.
    #[serde(default)]
    dry_run: bool,
}

/// Remove a version of a workflow, or a whole workflow
#[utoipa::path(delete, path = "/workflows/{workflow}", tag = "workflows", operation_id = "remove_workflow",
    params(("workflow" = String, Path, description = "Its id"), RemoveQuery),
    responses((status = 200, description = "What is gone", body = shape::WorkflowsRemoved), Refused))]
async fn remove(
    Caller(app): Caller,
    Path(id): Path<String>,
    Asked(query): Asked<RemoveQuery>,
) -> Answer<shape::WorkflowsRemoved> {
    let asked = RemoveWorkflow { id, version: query.version, dry_run: query.dry_run.into() };
    Ok(Json(asked.answer(&app).await?))
}
