//! The calls of the API, one file for each subject.

mod audit;
mod backfill;
mod bulk;
mod change;
mod files;
mod outbox;
mod queue;
mod registrar;
mod runs;
mod schedules;
mod spec;
mod system;
mod trigger;
mod workflows;

use utoipa_axum::router::OpenApiRouter;

use crate::shared::Shared;

/// Every call below `/api/v1`.
pub(crate) fn router() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .merge(schedules::router())
        .merge(registrar::router())
        .merge(queue::router())
        .merge(outbox::router())
        .merge(change::router())
        .merge(bulk::router())
        .merge(trigger::router())
        .merge(backfill::router())
        .merge(files::router())
        .merge(workflows::router())
        .merge(runs::router())
        .merge(audit::router())
        .merge(system::router())
        .merge(spec::router())
}
