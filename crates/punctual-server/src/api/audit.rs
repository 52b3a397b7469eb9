//! Why, the proof that every tick is accounted for, and the audit log.

use axum::Json;
use punctual_app::ask::{Audits, Log, Question, Verify, Why};
use punctual_app::shape;
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::auth::Caller;
use crate::hear::{Answer, Asked};
use crate::problem::{Problem, Refused};
use crate::shared::Shared;

/// Events of one answer, unless another number is asked for.
const EVENTS: u32 = 50;

/// Events of one answer: a whole log that a person looks through.
const EVENTS_MAX: u32 = 100_000;

pub(super) fn router() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(why))
        .routes(routes!(compare))
        .routes(routes!(log))
        .routes(routes!(verify))
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct WhyQuery {
    /// The schedule, by name or id; with `at`.
    schedule: Option<String>,
    /// The instant: RFC 3339, or a local time of the schedule's zone.
    at: Option<String>,
    /// A run instead, such as `run-12`.
    run: Option<String>,
}

/// Why a schedule did or did not run at an instant, link by link
#[utoipa::path(get, path = "/why", tag = "runs", operation_id = "explain", params(WhyQuery),
    responses((status = 200, description = "The whole chain", body = shape::Why), Refused))]
async fn why(Caller(app): Caller, Asked(query): Asked<WhyQuery>) -> Answer<shape::Why> {
    let asked = match (query.run, query.schedule, query.at) {
        (Some(run), None, None) => Why::Run(run),
        (None, Some(schedule), Some(at)) => Why::At { schedule, at },
        _ => {
            return Err(Problem::malformed(
                "it is not said what is to be explained",
                "give `schedule` and `at`, or `run` alone",
            ));
        }
    };
    Ok(Json(asked.answer(&app).await?))
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct AuditQuery {
    /// The schedule, by name or id, living or deleted; every living one without it.
    schedule: Option<String>,
    /// From here: `7 days ago`, a date, a local time, or RFC 3339; from its making without it.
    from: Option<String>,
    /// Up to here, included; up to now without it.
    to: Option<String>,
    /// With the zones of the schedules.
    #[serde(default)]
    aside: bool,
}

/// Prove that every planned tick is recorded, or list the holes
#[utoipa::path(get, path = "/audit", tag = "audit", operation_id = "audit", params(AuditQuery),
    responses((status = 200, description = "Planned against recorded", body = shape::Audits), Refused))]
async fn compare(Caller(app): Caller, Asked(query): Asked<AuditQuery>) -> Answer<shape::Audits> {
    let AuditQuery { schedule, from, to, aside } = query;
    Ok(Json(Audits { schedule, from, to, aside: aside.into() }.answer(&app).await?))
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct LogQuery {
    /// Only of this schedule, by name or id.
    schedule: Option<String>,
    /// Only of this run.
    run: Option<String>,
    /// Only those whose kind begins so, such as `schedule.missed`.
    kind: Option<String>,
    /// From here.
    since: Option<String>,
    /// Up to here, included.
    until: Option<String>,
    /// At most so many, 1 to 100000, the newest; 50 without it.
    limit: Option<u32>,
}

/// What was done, by whom, and what the scheduler decided by itself; newest first
#[utoipa::path(get, path = "/audit/log", tag = "audit", operation_id = "list_events", params(LogQuery),
    responses((status = 200, description = "The events", body = shape::AuditLog), Refused))]
async fn log(Caller(app): Caller, Asked(query): Asked<LogQuery>) -> Answer<shape::AuditLog> {
    let limit = query.limit.unwrap_or(EVENTS);
    if !(1..=EVENTS_MAX).contains(&limit) {
        let hint = format!("ask for 1 to {EVENTS_MAX}");
        return Err(Problem::malformed(format!("`limit` cannot be {limit}"), hint));
    }
    let LogQuery { schedule, run, kind, since, until, .. } = query;
    Ok(Json(Log { schedule, run, kind, since, until, limit }.answer(&app).await?))
}

/// Check that no sealed event was changed, and name those that are not sealed yet
#[utoipa::path(get, path = "/audit/verify", tag = "audit", operation_id = "verify_events",
    responses((status = 200, description = "What the check found", body = shape::Chain), Refused))]
async fn verify(Caller(app): Caller) -> Answer<shape::Chain> {
    Ok(Json(Verify.answer(&app).await?))
}
