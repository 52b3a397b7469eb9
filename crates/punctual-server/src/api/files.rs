//! Files of schedules: all that they declare is made at once, or only checked.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use punctual_app::ask::{CreateFiles, DraftFiles, Files, Question};
use punctual_app::declare::Text;
use punctual_app::shape;
use serde::Deserialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::schedules::DryRun;
use crate::auth::Caller;
use crate::hear::{Asked, Body};
use crate::problem::{Problem, Refused};
use crate::shared::Shared;

/// Files of one request.
const FILES_MAX: usize = 1_000;

pub(super) fn router() -> OpenApiRouter<Shared> {
    OpenApiRouter::new().routes(routes!(create))
}

/// Files of schedules.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct FilesBody {
    /// The files, at most 1000, each as YAML.
    files: Vec<Text>,
    /// Only the schedule of this name; all without it.
    name: Option<String>,
}

/// Make the schedules of files, and what they share
#[utoipa::path(post, path = "/schedules/file", tag = "schedules", operation_id = "create_schedules_of_file",
    params(DryRun), request_body = FilesBody,
    responses(
        (status = 201, description = "They were made", body = shape::Schedules),
        (status = 200, description = "With `dry_run`: what would be made", body = shape::WouldCreateMany),
        Refused))]
async fn create(
    Caller(app): Caller,
    Asked(query): Asked<DryRun>,
    Body(body): Body<FilesBody>,
) -> Result<Response, Problem> {
    if !(1..=FILES_MAX).contains(&body.files.len()) {
        let message = format!("`files` cannot be {}", body.files.len());
        return Err(Problem::malformed(message, format!("send 1 to {FILES_MAX} of them")));
    }
    let files = Files { texts: body.files, name: body.name };
    if query.dry_run {
        return Ok(Json(DraftFiles(files).answer(&app).await?).into_response());
    }
    Ok((StatusCode::CREATED, Json(CreateFiles(files).answer(&app).await?)).into_response())
}
