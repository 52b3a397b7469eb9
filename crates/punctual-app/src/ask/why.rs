//! Why a schedule did or did not run.

use super::{Call, Method, Question};
use crate::{App, Failure, run_named, shape};

/// What is to be explained.
#[derive(Clone, Debug)]
pub enum Why {
    /// A schedule at an instant.
    At {
        /// The schedule, by name or id.
        schedule: String,
        /// The instant: RFC 3339, or a local time of the schedule's zone.
        at: String,
    },
    /// A run.
    Run(String),
}

impl Question for Why {
    type Answer = shape::Why;

    fn call(&self) -> Call {
        let call = Call::new(Method::Get, "/why");
        match self {
            Self::At { schedule, at } => call.with("schedule", Some(schedule)).with("at", Some(at)),
            Self::Run(run) => call.with("run", Some(run)),
        }
    }

    async fn answer(&self, app: &App) -> Result<shape::Why, Failure> {
        let why = match self {
            Self::At { schedule, at } => app.why(schedule, at).await?,
            Self::Run(run) => app.why_run(run_named(run)?).await?,
        };
        Ok((&why).into())
    }
}
