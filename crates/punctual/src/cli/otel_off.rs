//! Traces of runs are sent by programs that were built with the feature `otel`; this one was not.

use punctual::Failure;
use punctual_engine::Spans;
use tracing::warn;

/// What would send spans.
pub(super) struct Otel;

impl Otel {
    /// Says so, if somebody expects traces.
    pub(super) fn start() -> Result<Self, Failure> {
        let names = ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"];
        if let Some(name) = names.into_iter().find(|name| std::env::var_os(name).is_some()) {
            warn!(variable = name, "traces are not sent: this program was built without the feature `otel`");
        }
        Ok(Self)
    }

    /// Nowhere.
    pub(super) fn spans(&self) -> Spans {
        Spans::default()
    }

    /// There is nothing left.
    pub(super) fn end(self) {}
}
