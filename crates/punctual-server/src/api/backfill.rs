//! Runs for ticks of the past.

use axum::Json;
use axum::extract::Path;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use punctual_app::ask::{ConsiderPast, Past, Question, RunPast};
use punctual_app::{BACKFILL_MAX, shape};
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::auth::Caller;
use crate::hear::{Asked, ByWord, Keyed, which};
use crate::problem::{Problem, Refused};
use crate::shared::Shared;

/// Ticks of a backfill, unless another number is asked for.
const TICKS: u32 = 100;

pub(super) fn router() -> OpenApiRouter<Shared> {
    OpenApiRouter::new().routes(routes!(backfill))
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct BackfillQuery {
    /// What the path has is its name, or its id; either without it.
    #[param(inline)]
    by: Option<ByWord>,
    /// Show the ticks and what the ledger has for them, but add nothing.
    #[serde(default)]
    dry_run: bool,
    /// With the zone of the schedule, and what its overlap policy will make of the runs.
    #[serde(default)]
    aside: bool,
}

/// A stretch of the past.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct BackfillBody {
    /// Ticks from here: `7 days ago`, a date, a local time of the schedule's zone, or RFC 3339.
    from: String,
    /// Up to here, included; up to now without it.
    to: Option<String>,
    /// At most so many, the oldest, 1 to 10000; 100 without it.
    limit: Option<u32>,
    /// How long after each other the runs fire, such as `5m`; all at once without it.
    every: Option<String>,
}

/// Run ticks of the past
///
/// Each run refers to its tick and leaves the ledger's entry for it alone. With an `Idempotency-Key`, each tick is run once.
#[utoipa::path(post, path = "/schedules/{schedule}/backfill", tag = "schedules", operation_id = "backfill_schedule",
    params(("schedule" = String, Path, description = "Its id, the first letters of it, or its name"), BackfillQuery,
        ("Idempotency-Key" = Option<String>, Header, description = "A key of your own: with the same one each tick is run once"),
        ("traceparent" = Option<String>, Header, description = "The trace that the runs belong to")),
    request_body = BackfillBody,
    responses(
        (status = 202, description = "The runs are in the ledger", body = shape::Backfilled),
        (status = 200, description = "With `dry_run`: the ticks", body = shape::WouldBackfill),
        Refused))]
async fn backfill(
    Caller(app): Caller,
    Path(schedule): Path<String>,
    Asked(query): Asked<BackfillQuery>,
    keyed: Keyed<BackfillBody>,
) -> Result<Response, Problem> {
    let Keyed { request_key, body } = keyed;
    let limit = body.limit.unwrap_or(TICKS);
    if !(1..=BACKFILL_MAX).contains(&limit) {
        let hint = format!("ask for 1 to {BACKFILL_MAX}");
        return Err(Problem::malformed(format!("`limit` cannot be {limit}"), hint));
    }
    let which = which(schedule, query.by);
    let past = Past { which, from: body.from, to: body.to, limit, every: body.every, request_key };
    if query.dry_run {
        let asked = ConsiderPast { past, aside: query.aside.into() };
        return Ok(Json(asked.answer(&app).await?).into_response());
    }
    Ok((StatusCode::ACCEPTED, Json(RunPast(past).answer(&app).await?)).into_response())
}
