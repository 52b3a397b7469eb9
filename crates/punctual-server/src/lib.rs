//! The HTTP door: what programs in any language, dashboards and probes ask of a running Punctual.

use axum::Router;
use axum::routing::get;

/// Every path of the server; mount it where you like.
pub fn router() -> Router {
    Router::new().route("/livez", get(async || "ok\n"))
}
