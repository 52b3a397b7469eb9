//! Probes and metrics: whether the process lives, whether it is ready, and what it has counted.

use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use axum::routing::get;
use punctual_store::Store;

use crate::shared::Shared;

/// A database that has not answered by then does not.
const ANSWER_WITHIN: Duration = Duration::from_secs(2);

/// The probes, which need no token.
pub(crate) fn router() -> Router<Shared> {
    Router::new()
        .route("/livez", get(async || "ok\n"))
        .route("/healthz", get(healthz))
        .route("/readyz", get(readyz))
}

/// Whether the database answers.
async fn healthz(State(shared): State<Shared>) -> impl IntoResponse {
    told(unreachable(&shared).await)
}

/// Whether the node does its work: the database answers, its lease is certain, and it has planned.
async fn readyz(State(shared): State<Shared>) -> impl IntoResponse {
    let unready = shared.pulse().unready();
    told(match unready {
        Some(why) => Some(why),
        None => unreachable(&shared).await,
    })
}

async fn unreachable(shared: &Shared) -> Option<&'static str> {
    match tokio::time::timeout(ANSWER_WITHIN, shared.store().now()).await {
        Ok(Ok(_)) => None,
        Ok(Err(_)) => Some("the database fails"),
        Err(_) => Some("the database does not answer"),
    }
}

fn told(unready: Option<&'static str>) -> (StatusCode, String) {
    match unready {
        None => (StatusCode::OK, "ok\n".to_owned()),
        Some(why) => (StatusCode::SERVICE_UNAVAILABLE, format!("{why}\n")),
    }
}

/// What the node has counted, as OpenMetrics.
pub(crate) async fn metrics(State(shared): State<Shared>) -> impl IntoResponse {
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    ([(header::CONTENT_TYPE, kind)], shared.metrics().text())
}
