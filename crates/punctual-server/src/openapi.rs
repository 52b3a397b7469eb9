//! The description of every path, made from the handlers themselves.

use axum::Json;
use axum::Router;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::openapi::{OpenApi, SecurityRequirement};
use utoipa::{Modify, OpenApi as _};
use utoipa_axum::router::OpenApiRouter;

use crate::api;
use crate::shared::Shared;

/// What is said of the whole.
#[derive(utoipa::OpenApi)]
#[openapi(
    info(
        title = "Punctual",
        description = "The scheduler that can account for every tick.",
        license(name = "MIT OR Apache-2.0", identifier = "MIT OR Apache-2.0")
    ),
    servers((url = "/api/v1")),
    modifiers(&Bearer),
    tags(
        (name = "schedules", description = "What is to run, and when"),
        (name = "runs", description = "What ran, what did not, and why"),
        (name = "queues", description = "Runs that workers take, and what executors report"),
        (name = "outbox", description = "Messages, in the order of their places"),
        (name = "workflows", description = "The registrar and the run launcher of a workflow system"),
        (name = "audit", description = "The proof that every tick is accounted for"),
        (name = "system", description = "The installation"),
        (name = "spec", description = "The language of time, without a database"),
    )
)]
struct Described;

struct Bearer;

impl Modify for Bearer {
    fn modify(&self, described: &mut OpenApi) {
        let scheme = SecurityScheme::Http(HttpBuilder::new().scheme(HttpAuthScheme::Bearer).build());
        described.components.get_or_insert_default().add_security_scheme("token", scheme);
        described.security = Some(vec![SecurityRequirement::new::<_, [&str; 0], &str>("token", [])]);
    }
}

/// The paths below `/api/v1`, and their description.
pub(crate) fn parts() -> (Router<Shared>, OpenApi) {
    OpenApiRouter::with_openapi(Described::openapi()).merge(api::router()).split_for_parts()
}

/// The description of every path.
pub fn description() -> OpenApi {
    parts().1
}

/// The description as the repository keeps it.
///
/// # Panics
/// Never: what it is made of has no keys that are not text.
pub fn json() -> String {
    description().to_pretty_json().expect("the description is plain data") + "\n"
}

/// `GET /api/v1/openapi.json`
pub(crate) async fn show() -> Json<OpenApi> {
    Json(description())
}
