//! One schedule for people: what differs from the usual, its next ticks, its last runs.

use jiff::tz::TimeZone;
use punctual::declare::{Names, export, length};
use punctual::{Failure, ticks};
use punctual_plan::{Chain, ScheduleId, When};
use punctual_time::describe;
use serde_json::{Value, json};

use super::prose::hung;
use super::schedule::{self, detail, status};
use super::schedules::{Whole, zone_of};
use super::table::table;
use super::{Output, clock};

/// Ticks that are shown.
const TICKS: usize = 5;

/// Keys that the head of the view says already.
const SAID: [&str; 10] =
    ["name", "description", "tags", "cron", "every", "at", "schedule", "on", "timezone", "anchor_at"];

/// Everything about a schedule.
pub(crate) fn one(output: &Output, whole: &Whole) -> Result<(), Failure> {
    let upcoming = ticks(&whole.row.definition, whole.now, TICKS);
    let next: Vec<_> =
        upcoming.iter().filter(|_| whole.row.state.status.is_active()).map(|tick| tick.at).collect();
    let names = Names::of(whole.names.iter().map(|(id, name)| (*id, name.as_str())));
    let mut json = schedule::row(&whole.row, &names);
    json["next"] = json!(next);
    output.write(&json!({"schedule": json}), || {
        let zone = zone_of(&whole.row.definition);
        let ticks: String = next.iter().map(|at| format!("  {}\n", clock(*at, &zone))).collect();
        let ticks =
            if ticks.is_empty() { "next ticks: none\n".to_owned() } else { format!("next ticks:\n{ticks}") };
        format!("{}{ticks}{}", head(whole), runs(whole, &zone))
    })
}

fn head(whole: &Whole) -> String {
    let (row, definition) = (&whole.row, &whole.row.definition);
    let mut lines = vec![("id", definition.id.to_string()), ("name", definition.name.clone())];
    lines.extend(definition.description.clone().map(|text| ("description", text)));
    if !definition.tags.is_empty() {
        lines.push(("tags", definition.tags.join(", ")));
    }
    lines.push(("when", when(whole)));
    lines.push(("timezone", definition.timezone().to_owned()));
    lines.push(("spec", definition.spec.clone()));
    let why = detail(row).map_or(String::new(), |detail| format!(": {detail}"));
    lines.push(("status", format!("{}{why}", status(row))));
    lines.push(("version", definition.version.to_string()));
    let counters = row.state.counters;
    lines.push((
        "runs",
        format!("{} ({} success, {} failed)", counters.runs, counters.successes, counters.failures),
    ));
    let names = |id: ScheduleId| called(whole, id);
    let keys = export(definition, &names);
    let other = keys.iter().filter(|(key, _)| !SAID.contains(&key.as_str()));
    let other: Vec<(String, String)> = other.map(|(key, value)| (key.clone(), plain(value))).collect();
    let width = lines.iter().map(|(key, _)| key.len()).chain(other.iter().map(|(key, _)| key.len())).max();
    let width = width.unwrap_or_default() + 2;
    let lines = lines.into_iter().map(|(key, value)| (key.to_owned(), value)).chain(other);
    lines.map(|(key, value)| hung(&format!("{key:<width$}{value}\n"), width)).collect()
}

fn called(whole: &Whole, id: ScheduleId) -> Option<String> {
    whole.names.iter().find(|(other, _)| *other == id).map(|(_, name)| name.clone())
}

fn when(whole: &Whole) -> String {
    match &whole.row.definition.when {
        When::Ticks(timing) => describe::timing(timing),
        When::Chain(Chain { upstream, on, delay, .. }) => {
            let name = called(whole, *upstream).unwrap_or_else(|| upstream.to_string());
            let later = if delay.is_zero() { String::new() } else { format!(", {} later", length(*delay)) };
            format!("After each {on} of `{name}`{later}")
        }
    }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn runs(whole: &Whole, zone: &TimeZone) -> String {
    if whole.runs.is_empty() {
        return "last runs: none\n".to_owned();
    }
    let cells = whole.runs.iter().map(|row| {
        let reason = row.run.state.reason().map_or(String::new(), ToString::to_string);
        let at = clock(row.run.scheduled_for, zone);
        vec![row.run.key.to_string(), at, row.run.state.status().to_string(), reason]
    });
    format!("last runs:\n{}", table(&["RUN ID", "SCHEDULED FOR", "STATUS", "REASON"], cells))
}
