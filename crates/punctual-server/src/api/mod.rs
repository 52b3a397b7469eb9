//! The calls of the API, one file for each subject.

mod schedules;

use utoipa_axum::router::OpenApiRouter;

use crate::shared::Shared;

/// Every call below `/api/v1`.
pub(crate) fn router() -> OpenApiRouter<Shared> {
    OpenApiRouter::new().merge(schedules::router())
}
