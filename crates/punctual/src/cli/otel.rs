//! Traces of runs, sent to a collector by OTLP over HTTP, as the standard `OTEL_…` variables say.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use opentelemetry::trace::{SpanContext, SpanId, SpanKind, Status, TraceFlags, TraceId, TraceState};
use opentelemetry::{InstrumentationScope, KeyValue};
use opentelemetry_otlp::SpanExporter;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{BatchSpanProcessor, SpanData, SpanEvents, SpanLinks, SpanProcessor};
use punctual::Failure;
use punctual_engine::{Sink, Span, Spans};
use tracing::{info, warn};

/// The variables that name a collector; without one of them nothing is sent.
const ENDPOINTS: [&str; 2] = ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"];

/// How long a stop waits for the last spans to be sent.
const END_WITHIN: Duration = Duration::from_secs(5);

/// What sends spans; none where no collector is named.
pub(super) struct Otel(Option<Arc<Sender>>);

struct Sender {
    processor: BatchSpanProcessor,
    scope: InstrumentationScope,
}

impl Otel {
    /// Begins to send, if a collector is named.
    pub(super) fn start() -> Result<Self, Failure> {
        let named = ENDPOINTS.iter().find_map(|name| std::env::var(name).ok().filter(|url| !url.is_empty()));
        let Some(endpoint) = named else { return Ok(Self(None)) };
        let exporter = SpanExporter::builder().with_http().build().map_err(|error| {
            Failure::invalid(
                format!("traces cannot be sent to `{endpoint}`: {error}"),
                "set `OTEL_EXPORTER_OTLP_ENDPOINT` to the address of a collector, such as `http://127.0.0.1:4318`",
            )
        })?;
        let mut processor = BatchSpanProcessor::builder(exporter).build();
        let mut resource = Resource::builder();
        // The variables of the standard come before what we say.
        if std::env::var_os("OTEL_SERVICE_NAME").is_none() {
            resource = resource.with_service_name("punctual");
        }
        processor.set_resource(&resource.build());
        let scope = InstrumentationScope::builder("punctual").with_version(env!("CARGO_PKG_VERSION")).build();
        info!(endpoint, "traces are sent");
        Ok(Self(Some(Arc::new(Sender { processor, scope }))))
    }

    /// Where an engine tells its spans.
    pub(super) fn spans(&self) -> Spans {
        self.0.as_ref().map_or_else(Spans::default, |sender| Spans::to(Arc::clone(sender) as Arc<dyn Sink>))
    }

    /// Sends what is left.
    pub(super) fn end(self) {
        if let Some(sender) = self.0
            && let Err(problem) = sender.processor.shutdown_with_timeout(END_WITHIN)
        {
            warn!(%problem, "the last traces were not sent");
        }
    }
}

impl Sink for Sender {
    fn take(&self, span: Span) {
        let parent = if span.is_first() { SpanId::INVALID } else { SpanId::from(span.trace.parent()) };
        let attributes = span.attributes.into_iter().map(|(key, value)| KeyValue::new(key, value));
        self.processor.on_end(SpanData {
            span_context: SpanContext::new(
                TraceId::from(span.trace.id()),
                SpanId::from(span.id),
                TraceFlags::SAMPLED,
                false,
                TraceState::NONE,
            ),
            parent_span_id: parent,
            parent_span_is_remote: false,
            span_kind: kind(span.kind),
            name: span.name.into(),
            start_time: system_time(span.from),
            end_time: system_time(span.to),
            attributes: attributes.collect(),
            dropped_attributes_count: 0,
            events: SpanEvents::default(),
            links: SpanLinks::default(),
            status: span.error.map_or(Status::Unset, Status::error),
            instrumentation_scope: self.scope.clone(),
        });
    }
}

fn kind(kind: punctual_engine::SpanKind) -> SpanKind {
    match kind {
        punctual_engine::SpanKind::Producer => SpanKind::Producer,
        punctual_engine::SpanKind::Client => SpanKind::Client,
        punctual_engine::SpanKind::Internal => SpanKind::Internal,
    }
}

fn system_time(at: Timestamp) -> SystemTime {
    at.into()
}
