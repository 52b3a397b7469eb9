//! Runs: listed, looked at, cancelled, run again.

use axum::Json;
use axum::extract::Path;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use punctual_app::ask::{Cancel, One, Question, Retry, Runs, Which};
use punctual_app::{App, run_named, shape};
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::schedules::page;
use crate::auth::Caller;
use crate::hear::{Answer, Asked, Body, ByWord, RequestKey, which};
use crate::problem::{Problem, Refused};
use crate::shared::Shared;

/// Runs of one page, unless another number is asked for.
const PAGE: u32 = 20;

pub(super) fn router() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(list))
        .routes(routes!(of_schedule))
        .routes(routes!(get))
        .routes(routes!(output))
        .routes(routes!(cancel_many))
        .routes(routes!(cancel))
        .routes(routes!(retry))
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct RunsQuery {
    /// What the path has is the schedule's name, or its id; either without it. Only where the path has one.
    #[param(inline)]
    by: Option<ByWord>,
    /// Ticks from here: `7 days ago`, a date, a local time of the schedule's zone, or RFC 3339.
    since: Option<String>,
    /// Ticks up to here, included; up to now without it.
    until: Option<String>,
    /// Only those in this state, such as `failed`.
    status: Option<String>,
    /// Only those of this origin: `tick`, `manual`, `backfill` or `chained`.
    origin: Option<String>,
    /// At most so many, 1 to 1000; 20 without it.
    limit: Option<u32>,
    /// `next` of the page before.
    after: Option<String>,
    /// With the zones of the schedules, and what each run waits for.
    #[serde(default)]
    aside: bool,
}

async fn answer(app: &App, which: Option<Which>, query: RunsQuery) -> Answer<shape::Runs> {
    let asked = Runs {
        which,
        since: query.since,
        until: query.until,
        status: query.status.as_deref().map(|text| word(text, "status")).transpose()?,
        origin: query.origin.as_deref().map(|text| word(text, "origin")).transpose()?,
        limit: page(query.limit, PAGE)?,
        after: query.after,
        aside: query.aside.into(),
    };
    Ok(Json(asked.answer(app).await?))
}

fn word<T: std::str::FromStr>(text: &str, key: &str) -> Result<T, Problem> {
    text.parse().map_err(|_| {
        Problem::malformed(format!("`{key}` cannot be `{text}`"), "`docs/states.md` has every word")
    })
}

/// The ledger: what ran, what did not, and why; newest first
#[utoipa::path(get, path = "/runs", tag = "runs", operation_id = "list_runs", params(RunsQuery),
    responses((status = 200, description = "A page of the ledger", body = shape::Runs), Refused))]
async fn list(Caller(app): Caller, Asked(query): Asked<RunsQuery>) -> Answer<shape::Runs> {
    answer(&app, None, query).await
}

/// The ledger of a schedule, newest first
#[utoipa::path(get, path = "/schedules/{schedule}/runs", tag = "runs", operation_id = "list_runs_of_schedule",
    params(("schedule" = String, Path, description = "Its id, the first letters of it, or its name"), RunsQuery),
    responses((status = 200, description = "A page of its ledger", body = shape::Runs), Refused))]
async fn of_schedule(
    Caller(app): Caller,
    Path(schedule): Path<String>,
    Asked(query): Asked<RunsQuery>,
) -> Answer<shape::Runs> {
    let which = which(schedule, query.by);
    answer(&app, Some(which), query).await
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct RunQuery {
    /// With the zone of its schedule, and what it waits for.
    #[serde(default)]
    aside: bool,
}

/// Everything about a run: its times, attempts, reasons and output
#[utoipa::path(get, path = "/runs/{run}", tag = "runs", operation_id = "get_run",
    params(("run" = String, Path, description = "Its id, such as `run-12`"), RunQuery),
    responses((status = 200, description = "The run", body = shape::RunAnswer), Refused))]
async fn get(
    Caller(app): Caller,
    Path(run): Path<String>,
    Asked(query): Asked<RunQuery>,
) -> Answer<shape::RunAnswer> {
    Ok(Json(One { run, aside: query.aside.into() }.answer(&app).await?))
}

/// What the last attempt of a run has printed, as text
#[utoipa::path(get, path = "/runs/{run}/output", tag = "runs", operation_id = "get_run_output",
    params(("run" = String, Path, description = "Its id, such as `run-12`")),
    responses((status = 200, description = "Its output, at most 64 KiB of it", body = String, content_type = "text/plain"), Refused))]
async fn output(Caller(app): Caller, Path(run): Path<String>) -> Result<Response, Problem> {
    let row = app.run(run_named(&run)?).await?;
    Ok(([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], row.output.unwrap_or_default())
        .into_response())
}

/// Runs that are to end.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct CancelBody {
    /// Their ids, at most 1000.
    runs: Vec<String>,
}

/// End runs that are in flight or wait
#[utoipa::path(post, path = "/runs/cancel", tag = "runs", operation_id = "cancel_runs", request_body = CancelBody,
    responses((status = 200, description = "What became of each", body = shape::Cancelled), Refused))]
async fn cancel_many(Caller(app): Caller, Body(body): Body<CancelBody>) -> Answer<shape::Cancelled> {
    Ok(Json(Cancel { runs: body.runs }.answer(&app).await?))
}

/// End a run that is in flight or waits
#[utoipa::path(post, path = "/runs/{run}/cancel", tag = "runs", operation_id = "cancel_run",
    params(("run" = String, Path, description = "Its id, such as `run-12`")),
    responses((status = 200, description = "What became of it", body = shape::Cancelled), Refused))]
async fn cancel(Caller(app): Caller, Path(run): Path<String>) -> Answer<shape::Cancelled> {
    Ok(Json(Cancel { runs: vec![run] }.answer(&app).await?))
}

/// Run a run again: its next attempt now if one is planned, else a new run that refers to it
#[utoipa::path(post, path = "/runs/{run}/retry", tag = "runs", operation_id = "retry_run",
    params(("run" = String, Path, description = "Its id, such as `run-12`"),
        ("Idempotency-Key" = Option<String>, Header, description = "A key of your own: with the same one it is run again once")),
    responses((status = 202, description = "It comes", body = shape::Retried), Refused))]
async fn retry(
    Caller(app): Caller,
    Path(run): Path<String>,
    RequestKey(request_key): RequestKey,
) -> Result<Response, Problem> {
    Ok((StatusCode::ACCEPTED, Json(Retry { run, request_key }.answer(&app).await?)).into_response())
}
