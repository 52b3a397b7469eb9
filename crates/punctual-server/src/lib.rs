//! The HTTP door: what programs in any language, dashboards and probes ask of a running Punctual.
//!
//! Start with [`Shared`], what all requests share, and [`router`], every path; `api` has a file for each subject, and
//! each handler hears a question of `punctual_app::ask` and sends its answer. [`Serving`] listens.
//!
//! Invariants: no request is answered without a token except the probes; nothing listens beyond loopback; a body, a
//! page and a wait have limits; a handler never decides.

#![allow(clippy::result_large_err, reason = "a problem is made once in a request, and sent")]

mod api;
mod auth;
mod hear;
mod listen;
mod openapi;
mod probe;
mod problem;
mod shared;
mod token;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware;
use tower_http::catch_panic::CatchPanicLayer;

pub use auth::Entry;
pub use listen::{Place, Serving, socket_beside};
pub use openapi::{description, json};
pub use problem::{Problem, Status, status_of};
pub use shared::{Metered, Settings, Shared};
pub use token::{Secret, token_file};

/// A request's body holds at most this many bytes: a schedule with a large payload fits well.
pub const BODY_BYTES_MAX: usize = 1024 * 1024;

/// Every path of the server, for those who come by one entry; mount it where you like.
pub fn router(shared: &Shared, entry: Entry) -> Router {
    let (api, _) = openapi::parts();
    let guarded = Router::new()
        .nest("/api/v1", api)
        .route("/api/v1/openapi.json", axum::routing::get(openapi::show))
        .route("/metrics", axum::routing::get(probe::metrics))
        .layer(middleware::from_fn_with_state(shared.clone(), auth::guard))
        .layer(axum::Extension(entry));
    Router::new()
        .merge(probe::router())
        .merge(guarded)
        .fallback(problem::no_path)
        .method_not_allowed_fallback(problem::no_method)
        .layer(DefaultBodyLimit::max(BODY_BYTES_MAX))
        .layer(middleware::from_fn_with_state(shared.clone(), shared::bounded))
        .layer(CatchPanicLayer::custom(problem::panicked))
        .with_state(shared.clone())
}
