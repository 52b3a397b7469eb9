//! What is done to one schedule: edited, enabled, disabled, paused, deleted, rolled back.

use axum::Json;
use axum::extract::{FromRequestParts, Path};
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use punctual_app::ask::{Act, Consider, Question, Verb, Which};
use punctual_app::{App, shape};
use serde::Deserialize;
use serde_json::{Map, Value};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::auth::Caller;
use crate::hear::{Asked, Body, ByWord, IfMatch, RequestKey, tagged, which};
use crate::problem::{Problem, Refused};
use crate::shared::Shared;

pub(super) fn router() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(update, delete))
        .routes(routes!(enable))
        .routes(routes!(disable))
        .routes(routes!(rollback))
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct ChangeQuery {
    /// What the path has is its name, or its id; either without it.
    #[param(inline)]
    by: Option<ByWord>,
    /// Show what would change, but write nothing.
    #[serde(default)]
    dry_run: bool,
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct DeleteQuery {
    /// What the path has is its name, or its id; either without it.
    #[param(inline)]
    by: Option<ByWord>,
    /// End its runs that are in flight as well.
    #[serde(default)]
    cancel_running: bool,
    /// Show what would change, but write nothing.
    #[serde(default)]
    dry_run: bool,
}

/// Who changes a schedule, in which version, and with which key.
struct Editor {
    app: App,
    version: Option<i64>,
    request_key: Option<String>,
}

impl<S: Send + Sync> FromRequestParts<S> for Editor {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let Caller(app) = Caller::from_request_parts(parts, state).await?;
        let IfMatch(version) = IfMatch::from_request_parts(parts, state).await?;
        let RequestKey(request_key) = RequestKey::from_request_parts(parts, state).await?;
        Ok(Self { app, version, request_key })
    }
}

/// What a change is asked with.
struct Asking {
    which: Which,
    is_dry: bool,
}

/// Carries a change out, or shows what it would do.
async fn carry_out(editor: Editor, asking: Asking, verb: Verb) -> Result<Response, Problem> {
    let Asking { which, is_dry } = asking;
    let Editor { app, version, request_key } = editor;
    if is_dry {
        return Ok(Json(Consider { which, verb }.answer(&app).await?).into_response());
    }
    let changed = Act { which, verb, version, request_key }.answer(&app).await?;
    Ok(tagged(changed.schedule.version, changed))
}

/// Change some keys of a schedule
///
/// The body has the keys that become different, as in a YAML file; `null` clears one. What a group such as `launch` does
/// not name stays. With `If-Match`, only that version is changed.
#[utoipa::path(patch, path = "/schedules/{schedule}", tag = "schedules", operation_id = "update_schedule",
    params(("schedule" = String, Path, description = "Its id, the first letters of it, or its name"), ChangeQuery,
        ("If-Match" = Option<String>, Header, description = "The `ETag` of the version that is to be changed"),
        ("Idempotency-Key" = Option<String>, Header, description = "A key of your own")),
    request_body(content = Object, description = "The keys that become different", example = json!({"cron": "0 4 * * *", "grace": null})),
    responses((status = 200, description = "It is so now; with `dry_run`, a `ScheduleOutlook`", body = shape::Changed), Refused))]
async fn update(
    editor: Editor,
    Path(schedule): Path<String>,
    Asked(query): Asked<ChangeQuery>,
    Body(keys): Body<Map<String, Value>>,
) -> Result<Response, Problem> {
    let which = which(schedule, query.by);
    carry_out(editor, Asking { which, is_dry: query.dry_run }, Verb::Update(keys)).await
}

/// Delete a schedule; its history stays and its name is free again
#[utoipa::path(delete, path = "/schedules/{schedule}", tag = "schedules", operation_id = "delete_schedule",
    params(("schedule" = String, Path, description = "Its id, the first letters of it, or its name"), DeleteQuery,
        ("If-Match" = Option<String>, Header, description = "The `ETag` of the version that is to be deleted"),
        ("Idempotency-Key" = Option<String>, Header, description = "A key of your own")),
    responses((status = 200, description = "It is deleted", body = shape::Changed), Refused))]
async fn delete(
    editor: Editor,
    Path(schedule): Path<String>,
    Asked(query): Asked<DeleteQuery>,
) -> Result<Response, Problem> {
    let which = which(schedule, query.by);
    let verb = Verb::Delete { cancel_running: query.cancel_running.into() };
    carry_out(editor, Asking { which, is_dry: query.dry_run }, verb).await
}

/// Let a schedule fire again; what it missed is judged by its catch-up policy
#[utoipa::path(post, path = "/schedules/{schedule}/enable", tag = "schedules", operation_id = "enable_schedule",
    params(("schedule" = String, Path, description = "Its id, the first letters of it, or its name"), ChangeQuery,
        ("If-Match" = Option<String>, Header, description = "The `ETag` of the version that is meant"),
        ("Idempotency-Key" = Option<String>, Header, description = "A key of your own")),
    responses((status = 200, description = "It is enabled", body = shape::Changed), Refused))]
async fn enable(
    editor: Editor,
    Path(schedule): Path<String>,
    Asked(query): Asked<ChangeQuery>,
) -> Result<Response, Problem> {
    let which = which(schedule, query.by);
    carry_out(editor, Asking { which, is_dry: query.dry_run }, Verb::Enable).await
}

/// Why a schedule is disabled.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
struct DisableBody {
    /// Why, for whoever wonders later.
    note: String,
}

/// Let a schedule not fire until it is enabled again
#[utoipa::path(post, path = "/schedules/{schedule}/disable", tag = "schedules", operation_id = "disable_schedule",
    params(("schedule" = String, Path, description = "Its id, the first letters of it, or its name"), ChangeQuery,
        ("If-Match" = Option<String>, Header, description = "The `ETag` of the version that is meant"),
        ("Idempotency-Key" = Option<String>, Header, description = "A key of your own")),
    request_body = DisableBody,
    responses((status = 200, description = "It is disabled", body = shape::Changed), Refused))]
async fn disable(
    editor: Editor,
    Path(schedule): Path<String>,
    Asked(query): Asked<ChangeQuery>,
    Body(body): Body<DisableBody>,
) -> Result<Response, Problem> {
    let (which, verb) = (which(schedule, query.by), Verb::Disable { note: body.note });
    carry_out(editor, Asking { which, is_dry: query.dry_run }, verb).await
}

/// The version that comes back.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct RollbackBody {
    /// Its number.
    to: i64,
}

/// Bring back the definition of an earlier version, as a new version
#[utoipa::path(post, path = "/schedules/{schedule}/rollback", tag = "schedules", operation_id = "rollback_schedule",
    params(("schedule" = String, Path, description = "Its id, the first letters of it, or its name"), ChangeQuery,
        ("If-Match" = Option<String>, Header, description = "The `ETag` of the version that is to be changed"),
        ("Idempotency-Key" = Option<String>, Header, description = "A key of your own")),
    request_body = RollbackBody,
    responses((status = 200, description = "It is so now", body = shape::Changed), Refused))]
async fn rollback(
    editor: Editor,
    Path(schedule): Path<String>,
    Asked(query): Asked<ChangeQuery>,
    Body(body): Body<RollbackBody>,
) -> Result<Response, Problem> {
    let (which, verb) = (which(schedule, query.by), Verb::Rollback { to: body.to });
    carry_out(editor, Asking { which, is_dry: query.dry_run }, verb).await
}
