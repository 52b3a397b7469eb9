//! Runs that are asked for, and what a schedule has before and behind it.

use axum::Json;
use axum::extract::Path;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use punctual_app::ask::{Item, Preview, Question, Trigger, Versions};
use punctual_app::shape;
use serde::Deserialize;
use serde_json::{Map, Value};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::schedules::DryRun;
use crate::auth::Caller;
use crate::hear::{Answer, Asked, Body, ByWord, Keyed, RequestKey, which};
use crate::problem::{Problem, Refused};
use crate::shared::Shared;

/// Ticks of a preview.
const TICKS_MAX: u32 = 10_000;

/// Ticks of a preview, unless another number is asked for.
const TICKS: u32 = 10;

pub(super) fn router() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(trigger))
        .routes(routes!(preview))
        .routes(routes!(history))
        .routes(routes!(request))
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct TriggerQuery {
    /// What the path has is its name, or its id; either without it.
    #[param(inline)]
    by: Option<ByWord>,
    /// Run beside whatever is in flight.
    #[serde(default)]
    force: bool,
}

/// What a run carries.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
struct TriggerBody {
    /// On top of what runs of the schedule do, key by key.
    #[schema(value_type = Option<Object>)]
    payload: Option<Map<String, Value>>,
}

/// Run a schedule now, enabled or not
#[utoipa::path(post, path = "/schedules/{schedule}/trigger", tag = "schedules", operation_id = "trigger_schedule",
    params(("schedule" = String, Path, description = "Its id, the first letters of it, or its name"), TriggerQuery,
        ("Idempotency-Key" = Option<String>, Header, description = "A key of your own: with the same one it runs once"),
        ("traceparent" = Option<String>, Header, description = "The trace that the run belongs to")),
    request_body(content = Option<TriggerBody>, description = "What this run carries; nothing more without it"),
    responses((status = 202, description = "The run is in the ledger", body = shape::Triggered), Refused))]
async fn trigger(
    Caller(app): Caller,
    Path(schedule): Path<String>,
    Asked(query): Asked<TriggerQuery>,
    keyed: Keyed<TriggerBody>,
) -> Result<Response, Problem> {
    let Keyed { request_key, body } = keyed;
    let (which, force, payload) = (which(schedule, query.by), query.force.into(), body.payload);
    let asked = Trigger { which, force, payload, request_key };
    Ok((StatusCode::ACCEPTED, Json(asked.answer(&app).await?)).into_response())
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct PreviewQuery {
    /// What the path has is its name, or its id; either without it.
    #[param(inline)]
    by: Option<ByWord>,
    /// How many ticks, 1 to 10000; 10 without it.
    count: Option<u32>,
    /// With the zone of its local times.
    #[serde(default)]
    aside: bool,
}

/// The next ticks of a schedule, with clock changes and what windows suppress
#[utoipa::path(get, path = "/schedules/{schedule}/preview", tag = "schedules", operation_id = "preview_schedule",
    params(("schedule" = String, Path, description = "Its id, the first letters of it, or its name"), PreviewQuery),
    responses((status = 200, description = "The ticks", body = shape::Preview), Refused))]
async fn preview(
    Caller(app): Caller,
    Path(schedule): Path<String>,
    Asked(query): Asked<PreviewQuery>,
) -> Answer<shape::Preview> {
    let count = query.count.unwrap_or(TICKS);
    if !(1..=TICKS_MAX).contains(&count) {
        let hint = format!("ask for 1 to {TICKS_MAX}");
        return Err(Problem::malformed(format!("`count` cannot be {count}"), hint));
    }
    let asked = Preview { which: which(schedule, query.by), count, aside: query.aside.into() };
    Ok(Json(asked.answer(&app).await?))
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct HistoryQuery {
    /// What the path has is its name, or its id; either without it.
    #[param(inline)]
    by: Option<ByWord>,
}

/// The versions of a schedule: when, who, what changed
#[utoipa::path(get, path = "/schedules/{schedule}/history", tag = "schedules", operation_id = "list_versions",
    params(("schedule" = String, Path, description = "Its id, the first letters of it, or its name"), HistoryQuery),
    responses((status = 200, description = "The versions, newest first", body = shape::Versions), Refused))]
async fn history(
    Caller(app): Caller,
    Path(schedule): Path<String>,
    Asked(query): Asked<HistoryQuery>,
) -> Answer<shape::Versions> {
    Ok(Json(Versions { which: which(schedule, query.by) }.answer(&app).await?))
}

/// Put one item on a queue, without a schedule
#[utoipa::path(post, path = "/requests", tag = "schedules", operation_id = "create_request",
    params(DryRun, ("Idempotency-Key" = Option<String>, Header, description = "A key of your own: with the same one it is made once")),
    request_body(content = Object, description = "The keys of a schedule without those that say when",
        example = json!({"target": {"type": "queue", "queue": "reviews", "prompt": "Look at the open pull requests"}})),
    responses(
        (status = 202, description = "It is in the queue", body = shape::Item),
        (status = 200, description = "With `dry_run`: it could be", body = shape::Item),
        Refused))]
async fn request(
    Caller(app): Caller,
    RequestKey(request_key): RequestKey,
    Asked(query): Asked<DryRun>,
    Body(keys): Body<Map<String, Value>>,
) -> Result<Response, Problem> {
    let status = if query.dry_run { StatusCode::OK } else { StatusCode::ACCEPTED };
    let item = Item { keys, request_key, dry_run: query.dry_run.into() };
    Ok((status, Json(item.answer(&app).await?)).into_response())
}
