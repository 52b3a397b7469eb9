//! Metrics: counted where a decision is carried out, shown as OpenMetrics text.
//!
//! Per-target and per-org series have a bounded number of labels: what comes later is counted under `other`.

mod family;
mod show;

use punctual_plan::{Next, Reason, RunStatus, Schedule, Verdict, Wait};
use punctual_store::{Commit, Settled};

pub(crate) use family::{Counter, Family, Gauge, Histogram, Span};

/// What a node has done and how late it was.
#[derive(Debug, Default)]
pub struct Metrics {
    pub(crate) schedules_due: Gauge,
    pub(crate) schedules_unplanned: Gauge,
    pub(crate) runs_emitted: Family,
    pub(crate) runs_skipped_overlap: Counter,
    pub(crate) runs_skipped: Family,
    pub(crate) runs_missed: Family,
    pub(crate) runs_waited: Family,
    pub(crate) runs_failed_launch: Family,
    pub(crate) runs_retried: Counter,
    pub(crate) runs_ended_by_target: Family,
    pub(crate) runs_ended_by_org: Family,
    pub(crate) runs_in_flight: Gauge,
    pub(crate) launches_waiting: Gauge,
    pub(crate) launches_held: Counter,
    pub(crate) lateness: Histogram,
    pub(crate) drift: Histogram,
    pub(crate) schedules_planned: Counter,
    pub(crate) ticks_planned: Counter,
    pub(crate) fence_losses: Counter,
    pub(crate) writes_refused: Family,
    pub(crate) runs_taken_over: Counter,
    pub(crate) shards_held: Gauge,
    pub(crate) clock_offset: Span,
    pub(crate) clock_steps: Family,
    pub(crate) suspends: Counter,
    pub(crate) store_errors: Family,
    pub(crate) runs_retained: Counter,
    pub(crate) audit_unsealed: Gauge,
    pub(crate) outbox_sequenced: Counter,
}

impl Metrics {
    /// Everything as OpenMetrics text.
    ///
    /// ```
    /// let text = punctual_engine::Metrics::default().text();
    /// assert!(text.contains("punctual_schedules_unplanned 0\n"));
    /// assert!(text.ends_with("# EOF\n"));
    /// ```
    pub fn text(&self) -> String {
        show::text(self)
    }

    /// A committed verdict over a due row.
    pub(crate) fn admitted(&self, verdict: &Verdict) {
        match verdict {
            Verdict::Start | Verdict::Later(_) => {}
            Verdict::Wait(waiting) => self.runs_waited.add(&[kind_of(&waiting.wait)]),
            Verdict::Skip(reason) => {
                if is_overlap(reason) {
                    self.runs_skipped_overlap.add(1);
                }
                self.runs_skipped.add(&[reason.code()]);
            }
            Verdict::Miss(reason) => self.runs_missed.add(&[reason.code()]),
            Verdict::Fail(_) => {}
        }
    }

    /// A committed or refused settlement.
    pub(crate) fn settled(&self, definition: &Schedule, end: &Settled) {
        let Some(settlement) = end.settlement.as_ref().filter(|_| end.commit == Commit::Done) else {
            return self.writes_refused.add(&["settle"]);
        };
        let kind = definition.target.action.kind();
        let reason = match &settlement.next {
            Next::End { reason, status, .. } => {
                self.ended(definition, *status);
                reason.as_ref()
            }
            Next::Retry { reason, .. } => {
                self.runs_retried.add(1);
                Some(reason)
            }
        };
        if matches!(reason, Some(Reason::LaunchFailed { .. })) {
            self.runs_failed_launch.add(&[kind]);
        }
    }

    fn ended(&self, definition: &Schedule, status: RunStatus) {
        self.runs_ended_by_target.add(&[&definition.target.name, status.name()]);
        self.runs_ended_by_org.add(&[&definition.owner.org_id, status.name()]);
    }
}

fn kind_of(wait: &Wait) -> &'static str {
    match wait {
        Wait::Turn { .. } => "turn",
        Wait::Upstream { .. } => "upstream",
        Wait::Limit { .. } => "limit",
        Wait::Room { .. } => "room",
    }
}

fn is_overlap(reason: &Reason) -> bool {
    matches!(reason, Reason::Overlap { .. })
}
