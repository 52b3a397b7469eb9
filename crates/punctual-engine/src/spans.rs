//! Spans: what becomes of each run, for whoever follows traces. Without the feature `otel` nothing is told at all.
//!
//! A run is admitted, launched and settled: each is a span of the run's trace. The place in the trace that targets are
//! given is the span of the admission, unless somebody brought the trace with their request.

#[cfg(feature = "otel")]
mod told;

#[cfg(feature = "otel")]
pub use told::{Sink, Span, SpanKind};

use jiff::Timestamp;
#[cfg(not(feature = "otel"))]
use punctual_plan::Outcome;
use punctual_plan::{RunKey, Schedule, Trace};
use punctual_store::Launchable;

/// Where spans go; nowhere by itself.
#[derive(Clone, Default)]
pub struct Spans {
    #[cfg(feature = "otel")]
    told: Option<told::Told>,
}

impl std::fmt::Debug for Spans {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Spans")
    }
}

/// A run that a span is about.
#[derive(Clone, Copy)]
#[cfg_attr(not(feature = "otel"), allow(dead_code, reason = "nobody listens"))]
pub(crate) struct Subject<'a> {
    pub(crate) run: RunKey,
    pub(crate) attempt: u32,
    pub(crate) scheduled_for: Timestamp,
    pub(crate) schedule: &'a Schedule,
    pub(crate) trace: Option<Trace>,
}

impl<'a> From<&'a Launchable> for Subject<'a> {
    fn from(launch: &'a Launchable) -> Self {
        let Launchable { run, attempt, scheduled_for, definition, trace, .. } = launch;
        Self {
            run: *run,
            attempt: *attempt,
            scheduled_for: *scheduled_for,
            schedule: definition,
            trace: *trace,
        }
    }
}

/// A stretch of time.
#[derive(Clone, Copy)]
#[cfg_attr(not(feature = "otel"), allow(dead_code, reason = "nobody listens"))]
pub(crate) struct Stretch {
    pub(crate) from: Timestamp,
    pub(crate) to: Timestamp,
}

/// Where an admission stands in its trace.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Beginning {
    /// It begins the trace.
    Here,
    /// The trace was there: it was brought, or an earlier attempt began it.
    Elsewhere,
}

#[cfg(not(feature = "otel"))]
#[allow(clippy::unused_self, clippy::needless_pass_by_value, reason = "nobody listens")]
impl Spans {
    pub(crate) fn admitted(&self, _: Subject<'_>, _: Stretch, _: Beginning) {}

    pub(crate) fn launched(&self, _: Subject<'_>, _: Stretch, _: Option<&Outcome>) {}

    pub(crate) fn settled(&self, _: Subject<'_>, _: Stretch, _: &str) {}
}
