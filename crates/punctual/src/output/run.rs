//! Everything about one run, on the screen.

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use punctual::Failure;
use punctual::shape::{RunAnswer, RunDetails};

use super::table::table;
use super::{Output, clock};

/// A duration in the unit that fits.
pub(super) fn short(time: SignedDuration) -> String {
    match time.as_millis().abs() {
        ms if ms < 1_000 => format!("{:.1}ms", time.as_secs_f64() * 1_000.0),
        ms if ms < 120_000 => format!("{:.1}s", time.as_secs_f64()),
        _ => format!("{:#}", SignedDuration::from_secs(time.as_secs())),
    }
}

/// Everything about a run.
pub(crate) fn details(output: &Output, answer: &RunAnswer) -> Result<(), Failure> {
    let zone = super::zone(answer.timezone.as_deref());
    output.write(&answer.clone().plain(), || text(&answer.run, &zone))
}

fn text(details: &RunDetails, zone: &TimeZone) -> String {
    let at = |at: Option<Timestamp>| at.map_or("-".to_owned(), |at| precise(at, zone));
    let or_none = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".to_owned());
    let run = &details.run;
    let fields = [
        ("run", run.id.clone()),
        ("schedule", format!("{} ({})", run.schedule_name, run.schedule_id)),
        ("origin", run.origin.clone()),
        ("scheduled for", clock(run.scheduled_for, zone)),
        ("fire at", precise(run.fire_at, zone)),
        ("status", run.status.clone()),
        ("reason", or_none(&run.because.clone().filter(|text| !text.is_empty()))),
        ("enqueued at", at(run.enqueued_at)),
        ("started at", at(run.started_at)),
        ("completed at", at(run.completed_at)),
        ("late", run.lateness().map_or("-".to_owned(), short)),
        ("duration", run.took().map_or("-".to_owned(), short)),
        ("idempotency key", run.idempotency_key.clone()),
        ("request id", or_none(&run.request_id)),
        ("executor's id", or_none(&run.run_id)),
        ("node", or_none(&run.node)),
        ("version", run.definition_version.to_string()),
        ("tz database", or_none(&run.tz_version)),
        ("traceparent", or_none(&run.traceparent)),
    ];
    let mut said: String = fields.iter().map(|(name, value)| format!("{name:<15} {value}\n")).collect();
    if !details.attempts.is_empty() {
        let cells = details.attempts.iter().map(|one| {
            let took = one.ended_at.map(|end| short(end.duration_since(one.started_at)));
            vec![
                one.number.to_string(),
                precise(one.started_at, zone),
                took.unwrap_or("-".to_owned()),
                one.reason_text.clone().unwrap_or_default(),
            ]
        });
        said += &format!("\n{}", table(&["ATTEMPT", "STARTED", "TOOK", "REASON"], cells));
    }
    if let Some(printed) = run.output.as_deref().filter(|text| !text.is_empty()) {
        said += &format!("\noutput of the last attempt\n{}", printed.trim_end_matches('\n'));
        said.push('\n');
    }
    said
}

/// An instant to the millisecond.
fn precise(at: Timestamp, zone: &TimeZone) -> String {
    at.to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M:%S%.3f %Z").to_string()
}
