//! What is done to all schedules with a tag.

use axum::Json;
use axum::response::{IntoResponse, Response};
use punctual_app::ask::{ActMany, OutlookMany, Question, Verb};
use punctual_app::shape;
use serde::Deserialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::schedules::DryRun;
use crate::auth::Caller;
use crate::hear::{Asked, Body};
use crate::problem::{Problem, Refused};
use crate::shared::Shared;

pub(super) fn router() -> OpenApiRouter<Shared> {
    OpenApiRouter::new().routes(routes!(bulk))
}

/// What is done to whom.
#[derive(Debug, Deserialize, ToSchema)]
struct BulkBody {
    /// All schedules with this tag.
    tag: String,
    /// What is done.
    #[serde(flatten)]
    action: BulkAction,
}

/// What is done to many schedules.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(tag = "action", rename_all = "snake_case")]
enum BulkAction {
    /// Some keys become different.
    Update {
        /// Those; `null` clears one.
        #[schema(value_type = Object)]
        keys: Map<String, Value>,
    },
    /// They fire again.
    Enable,
    /// They do not fire until they are enabled.
    Disable {
        /// Why.
        #[serde(default)]
        note: String,
    },
    /// They are deleted.
    Delete {
        /// Whether their runs in flight are ended.
        #[serde(default)]
        cancel_running: bool,
    },
    /// They get the definition of an earlier version.
    Rollback {
        /// Its number.
        to: i64,
    },
}

impl From<BulkAction> for Verb {
    fn from(action: BulkAction) -> Self {
        match action {
            BulkAction::Update { keys } => Self::Update(keys),
            BulkAction::Enable => Self::Enable,
            BulkAction::Disable { note } => Self::Disable { note },
            BulkAction::Delete { cancel_running } => Self::Delete { cancel_running: cancel_running.into() },
            BulkAction::Rollback { to } => Self::Rollback { to },
        }
    }
}

/// Do something to all schedules with a tag
#[utoipa::path(post, path = "/schedules/bulk", tag = "schedules", operation_id = "change_schedules", params(DryRun),
    request_body = BulkBody,
    responses((status = 200, description = "It is so now; with `dry_run`, what would be", body = shape::ChangedMany), Refused))]
async fn bulk(
    Caller(app): Caller,
    Asked(query): Asked<DryRun>,
    Body(body): Body<BulkBody>,
) -> Result<Response, Problem> {
    let (tag, verb) = (body.tag, body.action.into());
    if query.dry_run {
        return Ok(Json(OutlookMany { tag, verb }.answer(&app).await?).into_response());
    }
    Ok(Json(ActMany { tag, verb }.answer(&app).await?).into_response())
}
