//! Metrics as OpenMetrics text: one list of names, helps and values.

use std::fmt::Write as _;

use super::family::BOUNDS;
use super::{Counter, Family, Gauge, Histogram, Metrics, Span};

/// A value with how it is read.
enum Value<'a> {
    Counter(&'a Counter),
    Gauge(&'a Gauge),
    Family(&'a [&'a str], &'a Family),
    Histogram(&'a Histogram),
    Span(&'a Span),
}

pub(super) fn text(metrics: &Metrics) -> String {
    let mut text = String::new();
    for (name, help, value) in decisions(metrics).into_iter().chain(node(metrics)) {
        write(&mut text, name, help, &value);
    }
    text.push_str("# EOF\n");
    text
}

type Line<'a> = (&'static str, &'static str, Value<'a>);

fn decisions(metrics: &Metrics) -> Vec<Line<'_>> {
    use Value::{Counter, Family, Gauge, Histogram};
    vec![
        ("schedules_due", "Rows that were due at the last look", Gauge(&metrics.schedules_due)),
        (
            "schedules_unplanned",
            "Schedules that should have been planned and are not; must be 0",
            Gauge(&metrics.schedules_unplanned),
        ),
        ("schedules_planned", "Plans that were committed", Counter(&metrics.schedules_planned)),
        ("ticks_planned", "Ledger rows that plans have written", Counter(&metrics.ticks_planned)),
        ("runs_emitted", "Runs that were admitted", Family(&["origin"], &metrics.runs_emitted)),
        (
            "runs_skipped_overlap",
            "Ticks skipped because a run was in flight",
            Counter(&metrics.runs_skipped_overlap),
        ),
        (
            "runs_skipped",
            "Rows that were skipped at their instant",
            Family(&["reason"], &metrics.runs_skipped),
        ),
        ("runs_missed", "Rows that were missed at their instant", Family(&["reason"], &metrics.runs_missed)),
        ("runs_waited", "Rows that had to wait", Family(&["wait"], &metrics.runs_waited)),
        (
            "runs_failed_launch",
            "Attempts that could not be launched",
            Family(&["kind"], &metrics.runs_failed_launch),
        ),
        ("runs_retried", "Attempts that are repeated", Counter(&metrics.runs_retried)),
        (
            "target_runs_ended",
            "Runs that ended, by target",
            Family(&["target", "status"], &metrics.runs_ended_by_target),
        ),
        ("org_runs_ended", "Runs that ended, by org", Family(&["org", "status"], &metrics.runs_ended_by_org)),
        (
            "schedule_lateness_seconds",
            "From the tick's own time to its admission",
            Histogram(&metrics.lateness),
        ),
        ("schedule_drift_seconds", "From the time a run may fire to its start", Histogram(&metrics.drift)),
    ]
}

fn node(metrics: &Metrics) -> Vec<Line<'_>> {
    use Value::{Counter, Family, Gauge, Span};
    vec![
        ("runs_in_flight", "Attempts that this node has in hand", Gauge(&metrics.runs_in_flight)),
        ("launches_waiting", "Admitted runs that wait for a place", Gauge(&metrics.launches_waiting)),
        (
            "launches_held",
            "Launches put off because the lease was not certain",
            Counter(&metrics.launches_held),
        ),
        ("fence_losses", "How often this node lost its lease", Counter(&metrics.fence_losses)),
        (
            "writes_refused",
            "Writes under a lease that was over, and reports of runs that were not this node's any more",
            Family(&["step"], &metrics.writes_refused),
        ),
        ("runs_taken_over", "Runs taken up from nodes that are gone", Counter(&metrics.runs_taken_over)),
        ("shards_held", "Virtual shards that are this node's own", Gauge(&metrics.shards_held)),
        (
            "clock_offset_seconds",
            "What the database's clock is ahead of this node's",
            Span(&metrics.clock_offset),
        ),
        ("clock_steps", "How often the clock was set", Family(&["direction"], &metrics.clock_steps)),
        ("suspends", "How often the machine was suspended", Counter(&metrics.suspends)),
        ("store_errors", "Calls of the database that failed", Family(&["step"], &metrics.store_errors)),
        ("runs_retained", "Rows that retention turned into digests", Counter(&metrics.runs_retained)),
        ("audit_unsealed", "Audit events that wait for their seal", Gauge(&metrics.audit_unsealed)),
        ("outbox_sequenced", "Messages given their place", Counter(&metrics.outbox_sequenced)),
    ]
}

fn write(text: &mut String, name: &str, help: &str, value: &Value<'_>) {
    let name = format!("punctual_{name}");
    let kind = match value {
        Value::Counter(_) | Value::Family(..) => "counter",
        Value::Gauge(_) | Value::Span(_) => "gauge",
        Value::Histogram(_) => "histogram",
    };
    let mut line = |line: String| {
        text.push_str(&line);
        text.push('\n');
    };
    line(format!("# TYPE {name} {kind}"));
    line(format!("# HELP {name} {help}."));
    match value {
        Value::Counter(counter) => line(format!("{name}_total {}", counter.value())),
        Value::Gauge(gauge) => line(format!("{name} {}", gauge.value())),
        Value::Span(span) => line(format!("{name} {}", span.value())),
        Value::Family(names, family) => {
            for (labels, count) in family.series() {
                line(format!("{name}_total{{{}}} {count}", pairs(names, &labels)));
            }
        }
        Value::Histogram(histogram) => {
            let counts = histogram.cumulative();
            let bounds = BOUNDS.iter().map(ToString::to_string).chain(["+Inf".to_owned()]);
            for (bound, count) in bounds.zip(&counts) {
                line(format!("{name}_bucket{{le=\"{bound}\"}} {count}"));
            }
            line(format!("{name}_sum {}", histogram.sum()));
            line(format!("{name}_count {}", counts.last().copied().unwrap_or_default()));
        }
    }
}

fn pairs(names: &[&str], labels: &[String]) -> String {
    let mut text = String::new();
    for (name, label) in names.iter().zip(labels) {
        let label = label.replace('\\', r"\\").replace('"', "\\\"").replace('\n', "\\n");
        let comma = if text.is_empty() { "" } else { "," };
        let _ = write!(text, "{comma}{name}=\"{label}\"");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_written_as_openmetrics_has_it() {
        let metrics = Metrics::default();
        metrics.runs_skipped_overlap.add(3);
        metrics.runs_skipped.add(&["overlap"]);
        metrics.runs_ended_by_target.add(&["a \"b\"\\", "failed"]);
        metrics.lateness.observe(jiff::SignedDuration::from_millis(20));
        metrics.clock_offset.set(jiff::SignedDuration::from_millis(-200));
        let text = metrics.text();
        for line in [
            "# TYPE punctual_schedules_due gauge",
            "punctual_schedules_due 0",
            "punctual_runs_skipped_overlap_total 3",
            "punctual_runs_skipped_total{reason=\"overlap\"} 1",
            "punctual_target_runs_ended_total{target=\"a \\\"b\\\"\\\\\",status=\"failed\"} 1",
            "# TYPE punctual_clock_offset_seconds gauge",
            "punctual_clock_offset_seconds -0.2",
            "# TYPE punctual_schedule_lateness_seconds histogram",
            "punctual_schedule_lateness_seconds_bucket{le=\"0.01\"} 0",
            "punctual_schedule_lateness_seconds_bucket{le=\"0.025\"} 1",
            "punctual_schedule_lateness_seconds_bucket{le=\"+Inf\"} 1",
            "punctual_schedule_lateness_seconds_sum 0.02",
            "punctual_schedule_lateness_seconds_count 1",
        ] {
            assert!(text.lines().any(|known| known == line), "{line} is not in\n{text}");
        }
        assert!(text.ends_with("# EOF\n"));
    }
}
