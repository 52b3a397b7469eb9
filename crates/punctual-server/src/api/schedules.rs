//! Schedules: listed, looked at, made.

use axum::Json;
use axum::extract::Path;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use punctual_app::ask::{Create, Draft, Get, List, Question};
use punctual_app::{Failure, Kind, Listing, RegisteredSchedule, shape};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::auth::Caller;
use crate::hear::{Answer, Asked, Body, ByWord, RequestKey, tagged, which};
use crate::problem::{Problem, Refused};
use crate::shared::Shared;

/// Schedules of one page.
pub(super) const PAGE_MAX: u32 = 1_000;

/// Schedules of one page, unless another number is asked for.
const PAGE: u32 = 100;

pub(super) fn router() -> OpenApiRouter<Shared> {
    OpenApiRouter::new().routes(routes!(list, create)).routes(routes!(get))
}

/// A number of rows that one page has.
///
/// # Errors
/// When it is none, or more than a page has.
pub(super) fn page(asked: Option<u32>, usual: u32) -> Result<u32, Problem> {
    match asked.unwrap_or(usual) {
        limit @ 1..=PAGE_MAX => Ok(limit),
        other => Err(Problem::malformed(
            format!("`limit` cannot be {other}"),
            format!("ask for 1 to {PAGE_MAX}, and go on with `after`"),
        )),
    }
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct ListQuery {
    /// Only those whose name, description or spec holds this.
    search: Option<String>,
    /// Only those with this tag.
    tag: Option<String>,
    /// Only those in this status.
    status: Option<String>,
    /// Deleted ones as well.
    #[serde(default)]
    deleted: bool,
    /// At most so many, 1 to 1000; 100 without it.
    limit: Option<u32>,
    /// `next` of the page before.
    after: Option<String>,
}

/// The schedules by name
#[utoipa::path(get, path = "/schedules", tag = "schedules", operation_id = "list_schedules", params(ListQuery),
    responses((status = 200, description = "A page of schedules", body = shape::Schedules), Refused))]
async fn list(Caller(app): Caller, Asked(query): Asked<ListQuery>) -> Answer<shape::Schedules> {
    let listing = Listing {
        search: query.search,
        tag: query.tag,
        status: query.status,
        with_deleted: query.deleted,
        limit: Some(page(query.limit, PAGE)?),
        after: query.after,
    };
    Ok(Json(List { listing }.answer(&app).await?))
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct DryRun {
    /// Check everything and show what would be, but write nothing.
    #[serde(default)]
    pub(super) dry_run: bool,
}

/// Make a schedule
///
/// The body has the keys of a schedule in a YAML file. With an `Idempotency-Key`, the same request makes nothing twice.
#[utoipa::path(post, path = "/schedules", tag = "schedules", operation_id = "create_schedule",
    params(DryRun, ("Idempotency-Key" = Option<String>, Header, description = "A key of your own")),
    request_body(content = Object, description = "The keys of a schedule, such as `name`, `cron` and `target`",
        example = json!({"name": "nightly", "cron": "0 3 * * *", "target": {"type": "queue", "queue": "builds"}})),
    responses(
        (status = 201, description = "It was made", body = shape::Created),
        (status = 200, description = "An earlier request with this key made it; or, with `dry_run`, what would be made", body = shape::WouldCreate),
        Refused))]
async fn create(
    Caller(app): Caller,
    RequestKey(request_key): RequestKey,
    Asked(query): Asked<DryRun>,
    Body(keys): Body<Map<String, Value>>,
) -> Result<Response, Problem> {
    if query.dry_run {
        let drafted = Draft { keys }.answer(&app).await?;
        return Ok(Json(shape::WouldCreate { enabled: None, ..drafted }).into_response());
    }
    let created = Create { keys, request_key }.answer(&app).await?;
    let status = if created.created { StatusCode::CREATED } else { StatusCode::OK };
    let place = format!("/api/v1/schedules/{}", created.schedule.definition.id);
    let version = created.schedule.version;
    Ok((status, [(header::LOCATION, place)], tagged(version, created)).into_response())
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct GetQuery {
    /// What the path has is its name, or its id; either without it.
    #[param(inline)]
    by: Option<ByWord>,
    /// With its keys, its last runs, and when it fires in English.
    #[serde(default)]
    aside: bool,
}

/// A schedule, and how a workflow system knows it if it starts a workflow.
#[derive(Debug, Serialize, ToSchema)]
struct Found {
    #[serde(flatten)]
    whole: shape::Whole,
    #[serde(flatten)]
    registered: Option<RegisteredSchedule>,
}

/// A schedule by id or name, with its next five ticks
#[utoipa::path(get, path = "/schedules/{schedule}", tag = "schedules", operation_id = "get_schedule",
    params(("schedule" = String, Path, description = "Its id, the first letters of it, or its name"), GetQuery),
    responses((status = 200, description = "The schedule; `ETag` is its version", body = Found), Refused))]
async fn get(
    Caller(app): Caller,
    Path(schedule): Path<String>,
    Asked(query): Asked<GetQuery>,
) -> Result<Response, Problem> {
    let called = schedule.clone();
    let asked = Get { which: which(schedule, query.by), aside: query.aside.into() };
    let whole = asked.answer(&app).await?;
    // Its history is there for whoever wants to see what stands beside it; for all others it is gone.
    if whole.schedule.schedule.deleted_at.is_some() && !query.aside {
        let message = format!("the schedule `{called}` was deleted");
        return Err(Failure { kind: Kind::NotFound, message, hint: None }.into());
    }
    let is_workflow = whole.schedule.schedule.definition.workflow.is_some();
    let registered = match is_workflow && !query.aside {
        true => app.registered_as(&called).await?,
        false => None,
    };
    Ok(tagged(whole.schedule.schedule.version, Found { whole, registered }))
}
