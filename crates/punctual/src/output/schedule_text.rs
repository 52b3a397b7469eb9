//! One schedule for people: what differs from the usual, its next ticks, its last runs.

use jiff::tz::TimeZone;
use punctual::Failure;
use punctual::shape::Whole;
use serde_json::Value;

use super::prose::hung;
use super::schedules::zone_of;
use super::table::table;
use super::{Output, clock};

/// Keys that the head of the view says already.
const SAID: [&str; 10] =
    ["name", "description", "tags", "cron", "every", "at", "schedule", "on", "timezone", "anchor_at"];

/// Everything about a schedule.
pub(crate) fn one(output: &Output, whole: &Whole) -> Result<(), Failure> {
    output.write(&whole.clone().plain(), || {
        let zone = zone_of(&whole.schedule.schedule.definition);
        let ticks: String =
            whole.schedule.next.iter().map(|at| format!("  {}\n", clock(*at, &zone))).collect();
        let ticks =
            if ticks.is_empty() { "next ticks: none\n".to_owned() } else { format!("next ticks:\n{ticks}") };
        format!("{}{ticks}{}", head(whole), runs(whole, &zone))
    })
}

fn head(whole: &Whole) -> String {
    let schedule = &whole.schedule.schedule;
    let definition = &schedule.definition;
    let mut lines = vec![("id", definition.id.clone()), ("name", definition.name.clone())];
    lines.extend(definition.description.clone().map(|text| ("description", text)));
    if !definition.tags.is_empty() {
        lines.push(("tags", definition.tags.join(", ")));
    }
    lines.push(("when", whole.describe.clone().unwrap_or_default()));
    lines.push(("timezone", definition.timezone.clone()));
    lines.push(("spec", definition.spec.clone()));
    let why = schedule.status_detail.as_ref().map_or(String::new(), |detail| format!(": {detail}"));
    lines.push(("status", format!("{}{why}", schedule.status)));
    lines.push(("version", schedule.version.to_string()));
    let (runs, good, bad) = (schedule.run_count, schedule.success_count, schedule.failure_count);
    lines.push(("runs", format!("{runs} ({good} success, {bad} failed)")));
    let keys = whole.keys.iter().flatten();
    let other = keys.filter(|(key, _)| !SAID.contains(&key.as_str()));
    let other: Vec<(String, String)> = other.map(|(key, value)| (key.clone(), plain(value))).collect();
    let width = lines.iter().map(|(key, _)| key.len()).chain(other.iter().map(|(key, _)| key.len())).max();
    let width = width.unwrap_or_default() + 2;
    let lines = lines.into_iter().map(|(key, value)| (key.to_owned(), value)).chain(other);
    lines.map(|(key, value)| hung(&format!("{key:<width$}{value}\n"), width)).collect()
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn runs(whole: &Whole, zone: &TimeZone) -> String {
    let runs = whole.runs.as_deref().unwrap_or_default();
    if runs.is_empty() {
        return "last runs: none\n".to_owned();
    }
    let cells = runs.iter().map(|run| {
        let reason = run.reason_text.clone().unwrap_or_default();
        vec![run.id.clone(), clock(run.scheduled_for, zone), run.status.clone(), reason]
    });
    format!("last runs:\n{}", table(&["RUN ID", "SCHEDULED FOR", "STATUS", "REASON"], cells))
}
