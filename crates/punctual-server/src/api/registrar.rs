//! The calls of a workflow system, with its own names and bodies: registrar and run launcher.

use axum::Json;
use axum::http::StatusCode;
use punctual_app::{PauseSchedule, StartRun, UpsertSchedule, Upserted};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::auth::Caller;
use crate::hear::{Answer, Body};
use crate::problem::{Problem, Refused};
use crate::shared::Shared;

pub(super) fn router() -> OpenApiRouter<Shared> {
    OpenApiRouter::new().routes(routes!(upsert)).routes(routes!(pause)).routes(routes!(start))
}

/// Make or change the schedule of a workflow
///
/// `schedule_id` is the client's own; without it one is made. A pause is kept.
#[utoipa::path(post, path = "/schedules/upsert", tag = "workflows", operation_id = "upsert_schedule",
    request_body = UpsertSchedule,
    responses((status = 200, description = "Its id, and when it fires next", body = Upserted), Refused))]
async fn upsert(Caller(app): Caller, Body(body): Body<UpsertSchedule>) -> Answer<Upserted> {
    Ok(Json(app.upsert_schedule(&body).await?))
}

/// Pause or resume a schedule
#[utoipa::path(post, path = "/schedules/pause", tag = "workflows", operation_id = "pause_schedule",
    request_body = PauseSchedule,
    responses((status = 204, description = "It is as wanted"), Refused))]
async fn pause(Caller(app): Caller, Body(body): Body<PauseSchedule>) -> Result<StatusCode, Problem> {
    app.pause_schedule(&body).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Start a workflow
///
/// True if it is started, now or by an earlier call with the same key; false if there is no such version of it.
#[utoipa::path(post, path = "/run-launcher/start", tag = "workflows", operation_id = "start_run",
    request_body = StartRun,
    responses((status = 200, description = "Whether it is started", body = bool), Refused))]
async fn start(Caller(app): Caller, Body(body): Body<StartRun>) -> Answer<bool> {
    Ok(Json(app.start_run(&body).await?))
}
