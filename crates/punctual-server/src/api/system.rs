//! The installation: nodes and breakers.

use axum::Json;
use axum::extract::Path;
use punctual_app::ask::{Breaker, Breakers, Maintenances, Nodes, Pause, Question, Reset, Resume};
use punctual_app::shape;
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::schedules::page;
use crate::auth::Caller;
use crate::hear::{Answer, Asked, Body};
use crate::problem::Refused;
use crate::shared::Shared;

/// Moves of a breaker, unless another number is asked for.
const MOVES: u32 = 20;

pub(super) fn router() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(nodes))
        .routes(routes!(breakers))
        .routes(routes!(breaker))
        .routes(routes!(reset))
        .routes(routes!(maintenance, pause, resume))
}

/// What pauses the org for maintenance
#[utoipa::path(get, path = "/maintenance", tag = "system", operation_id = "get_maintenance",
    responses((status = 200, description = "Its own pause, and that of the installation", body = shape::Maintenances), Refused))]
async fn maintenance(Caller(app): Caller) -> Answer<shape::Maintenances> {
    Ok(Json(Maintenances.answer(&app).await?))
}

/// Why an org is paused.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct PauseBody {
    /// Why, for whoever wonders.
    note: String,
}

/// Pause every active schedule of the org; new ones start paused until it ends
#[utoipa::path(post, path = "/maintenance", tag = "system", operation_id = "begin_maintenance", request_body = PauseBody,
    responses((status = 200, description = "It is paused", body = shape::Paused), Refused))]
async fn pause(Caller(app): Caller, Body(body): Body<PauseBody>) -> Answer<shape::Paused> {
    Ok(Json(Pause { note: body.note }.answer(&app).await?))
}

/// End the maintenance of the org: enable exactly the schedules that it paused
#[utoipa::path(delete, path = "/maintenance", tag = "system", operation_id = "end_maintenance",
    responses((status = 200, description = "It is over", body = shape::Resumed), Refused))]
async fn resume(Caller(app): Caller) -> Answer<shape::Resumed> {
    Ok(Json(Resume.answer(&app).await?))
}

/// The nodes: leases, shards, versions, clocks
#[utoipa::path(get, path = "/nodes", tag = "system", operation_id = "list_nodes",
    responses((status = 200, description = "The nodes, newest first", body = shape::Nodes), Refused))]
async fn nodes(Caller(app): Caller) -> Answer<shape::Nodes> {
    Ok(Json(Nodes.answer(&app).await?))
}

/// The circuit breakers that are not plainly closed
#[utoipa::path(get, path = "/breakers", tag = "system", operation_id = "list_breakers",
    responses((status = 200, description = "The breakers", body = shape::Breakers), Refused))]
async fn breakers(Caller(app): Caller) -> Answer<shape::Breakers> {
    Ok(Json(Breakers.answer(&app).await?))
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct BreakerQuery {
    /// At most so many of its moves, 1 to 1000, the newest; 20 without it.
    limit: Option<u32>,
}

/// The circuit breaker of a target, with its moves
#[utoipa::path(get, path = "/breakers/{target}", tag = "system", operation_id = "get_breaker",
    params(("target" = String, Path, description = "The name of its schedule, unless a file named it"), BreakerQuery),
    responses((status = 200, description = "The breaker", body = shape::BreakerAnswer), Refused))]
async fn breaker(
    Caller(app): Caller,
    Path(target): Path<String>,
    Asked(query): Asked<BreakerQuery>,
) -> Answer<shape::BreakerAnswer> {
    Ok(Json(Breaker { target, limit: page(query.limit, MOVES)? }.answer(&app).await?))
}

/// Close the circuit breaker of a target by hand
#[utoipa::path(post, path = "/breakers/{target}/reset", tag = "system", operation_id = "reset_breaker",
    params(("target" = String, Path, description = "The name of its schedule, unless a file named it"), BreakerQuery),
    responses((status = 200, description = "It is closed", body = shape::BreakerReset), Refused))]
async fn reset(
    Caller(app): Caller,
    Path(target): Path<String>,
    Asked(query): Asked<BreakerQuery>,
) -> Answer<shape::BreakerReset> {
    Ok(Json(Reset { target, limit: page(query.limit, MOVES)? }.answer(&app).await?))
}
