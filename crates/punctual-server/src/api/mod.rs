//! The calls of the API, one file for each subject.

mod outbox;
mod queue;
mod registrar;
mod schedules;

use utoipa_axum::router::OpenApiRouter;

use crate::shared::Shared;

/// Every call below `/api/v1`.
pub(crate) fn router() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .merge(schedules::router())
        .merge(registrar::router())
        .merge(queue::router())
        .merge(outbox::router())
}
