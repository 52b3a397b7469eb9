//! The language of time: ticks, English and whether a spec is one, without a database.

use axum::Json;
use jiff::Timestamp;
use punctual_app::Failure;
use punctual_app::spec::{self, Refusal, Request, Sentence};
use serde_json::Value;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::auth::Caller;
use crate::hear::{Answer, Body};
use crate::problem::{Problem, Refused};
use crate::shared::Shared;

/// Ticks of one answer: they are computed, so more than a page of them would hold others up.
const TICKS_MAX: u32 = 1_000;

pub(super) fn router() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(next))
        .routes(routes!(validate))
        .routes(routes!(describe))
        .routes(routes!(parse))
}

fn answered(answer: Result<spec::Answer, Refusal>) -> Answer<Value> {
    Ok(Json(answer.map_err(Failure::from)?.json))
}

fn bounded(request: &Request) -> Result<(), Problem> {
    match request.count.filter(|count| *count > TICKS_MAX) {
        None => Ok(()),
        Some(count) => {
            let detail = format!("`count` cannot be {count}");
            Err(Problem::malformed(detail, format!("ask for at most {TICKS_MAX}")))
        }
    }
}

/// The next ticks of a spec
#[utoipa::path(post, path = "/spec/next", tag = "spec", operation_id = "next_ticks", request_body = Request,
    responses((status = 200, description = "`next`: the ticks", body = Object), Refused))]
async fn next(_: Caller, Body(request): Body<Request>) -> Answer<Value> {
    bounded(&request)?;
    answered(spec::next(&request, Timestamp::now()))
}

/// Whether a spec is one, with its next ticks and what it says in English
#[utoipa::path(post, path = "/spec/validate", tag = "spec", operation_id = "validate_spec", request_body = Request,
    responses((status = 200, description = "`valid`, `next` and `describe`", body = Object), Refused))]
async fn validate(_: Caller, Body(request): Body<Request>) -> Answer<Value> {
    bounded(&request)?;
    answered(spec::validate(&request, Timestamp::now()))
}

/// A spec in English
#[utoipa::path(post, path = "/spec/describe", tag = "spec", operation_id = "describe_spec", request_body = Request,
    responses((status = 200, description = "`describe`", body = Object), Refused))]
async fn describe(_: Caller, Body(request): Body<Request>) -> Answer<Value> {
    answered(spec::describe(&request, Timestamp::now()))
}

/// Plain English as a schedule
#[utoipa::path(post, path = "/spec/parse", tag = "spec", operation_id = "parse_sentence", request_body = Sentence,
    responses((status = 200, description = "The keys that say the same", body = Object), Refused))]
async fn parse(_: Caller, Body(sentence): Body<Sentence>) -> Answer<Value> {
    answered(spec::parse(&sentence, Timestamp::now()))
}
