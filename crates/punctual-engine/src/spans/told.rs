//! Spans that are told: each is handed to a [`Sink`] when it has ended.

use std::sync::Arc;

use jiff::Timestamp;
use punctual_plan::{Outcome, Trace};

use super::{Beginning, Spans, Stretch, Subject};
use crate::Chance;

/// Takes spans, and never waits.
pub trait Sink: Send + Sync + 'static {
    /// A span has ended.
    fn take(&self, span: Span);
}

/// What a span is to the programs on its other side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpanKind {
    /// Something was made that others will do.
    Producer,
    /// Others were asked to do it, and heard.
    Client,
    /// Nobody else has to do with it.
    Internal,
}

/// A part of the life of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// What was done.
    pub name: &'static str,
    /// What it is to others.
    pub kind: SpanKind,
    /// The trace that it belongs to, and the place that it stands below; that is its own place, if it begins the trace.
    pub trace: Trace,
    /// Its own place.
    pub id: u64,
    /// When it began.
    pub from: Timestamp,
    /// When it ended.
    pub to: Timestamp,
    /// What is known of it.
    pub attributes: Vec<(&'static str, String)>,
    /// What went wrong, if something did.
    pub error: Option<String>,
}

impl Span {
    /// Whether it begins its trace.
    pub fn is_first(&self) -> bool {
        self.id == self.trace.parent()
    }
}

/// Who is told, and where the places of spans come from.
#[derive(Clone)]
pub(super) struct Told {
    sink: Arc<dyn Sink>,
    chance: Chance,
}

impl Spans {
    /// Spans that go to a sink.
    pub fn to(sink: Arc<dyn Sink>) -> Self {
        Self { told: Some(Told { sink, chance: Chance::of_host() }) }
    }

    /// A run was admitted.
    pub(crate) fn admitted(&self, subject: Subject<'_>, stretch: Stretch, beginning: Beginning) {
        let own = |trace: Trace| match beginning {
            Beginning::Here => Some(trace.parent()),
            Beginning::Elsewhere => None,
        };
        self.tell(subject, stretch, |trace| Part {
            name: "admit run",
            kind: SpanKind::Producer,
            id: own(trace),
            error: None,
        });
    }

    /// An attempt was launched and has ended, or somebody else has taken it who will report it.
    pub(crate) fn launched(&self, subject: Subject<'_>, stretch: Stretch, outcome: Option<&Outcome>) {
        let error =
            outcome.filter(|outcome| **outcome != Outcome::Succeeded).map(|outcome| format!("{outcome:?}"));
        self.tell(subject, stretch, |_| Part { name: "launch run", kind: SpanKind::Client, id: None, error });
    }

    /// The end of an attempt is in the ledger.
    pub(crate) fn settled(&self, subject: Subject<'_>, stretch: Stretch, status: &str) {
        let error = (status == "failed").then(|| status.to_owned());
        self.tell(subject, stretch, |_| Part {
            name: "settle run",
            kind: SpanKind::Internal,
            id: None,
            error,
        });
    }

    fn tell(&self, subject: Subject<'_>, stretch: Stretch, part: impl FnOnce(Trace) -> Part) {
        let Some(told) = &self.told else { return };
        // Whoever began the trace says whether it is kept.
        let Some(trace) = subject.trace.filter(|trace| trace.is_sampled()) else { return };
        let Part { name, kind, id, error } = part(trace);
        let id = id.unwrap_or_else(|| told.chance.trace().parent());
        let attributes = attributes(&subject);
        told.sink.take(Span { name, kind, trace, id, from: stretch.from, to: stretch.to, attributes, error });
    }
}

struct Part {
    name: &'static str,
    kind: SpanKind,
    id: Option<u64>,
    error: Option<String>,
}

fn attributes(subject: &Subject<'_>) -> Vec<(&'static str, String)> {
    let schedule = subject.schedule;
    vec![
        ("punctual.run.id", subject.run.to_string()),
        ("punctual.run.attempt", subject.attempt.to_string()),
        ("punctual.run.planned_at", subject.scheduled_for.to_string()),
        ("punctual.schedule.id", schedule.id.to_string()),
        ("punctual.schedule.name", schedule.name.clone()),
        ("punctual.org.id", schedule.owner.org_id.clone()),
        ("punctual.target", schedule.target.action.kind().to_owned()),
    ]
}
