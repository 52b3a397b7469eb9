//! The plan of a file on the screen: what each schedule is, and what it does on its first day.

use jiff::Timestamp;
use punctual::Failure;
use punctual::declare::{DAY, Declared, Forecast, Names, Schedule};
use punctual::shape::{policies, target};
use punctual_plan::{Action, Policy, Target, When};
use punctual_time::{Mark, Tick, Zone};
use serde_json::{Value, json};

use super::table::{table, table_without};
use super::{Answer, Output, clock};

/// Ticks of a schedule in a table; JSON has more.
const ROWS_MAX: usize = 5;

/// Schedules of a table; JSON has all.
const SCHEDULES_MAX: usize = 200;

/// The schedules of a file, and what they would do within a day of an instant.
pub(crate) fn show(output: &Output, declared: &Declared, from: Timestamp) -> Result<(), Failure> {
    let names = declared.names();
    if !output.is_json() {
        return output.text(&text(declared, from));
    }
    let to = from.saturating_add(DAY).unwrap_or(Timestamp::MAX);
    let mut answer = Answer::begin()?;
    answer.value("from", &from)?;
    answer.value("to", &to)?;
    let entries = declared.schedules.iter().map(|one| entry(one, &one.forecast(from), &names));
    answer.list("plan", entries)?;
    answer.end()
}

pub(super) fn zone(schedule: &Schedule) -> &Zone {
    match &schedule.definition.when {
        When::Ticks(timing) => &timing.zone,
        When::Chain(chain) => &chain.zone,
    }
}

fn entry(schedule: &Schedule, forecast: &Forecast, names: &Names<'_>) -> Value {
    let definition = &schedule.definition;
    let zone = zone(schedule);
    let fires: Vec<Value> = forecast.fires.iter().map(|tick| tick_json(tick, zone)).collect();
    let suppressed: Vec<Value> = forecast.suppressed.iter().map(|tick| tick_json(tick, zone)).collect();
    let (kind, spec) = match (&definition.when, schedule.after_start) {
        (When::Ticks(timing), None) => (timing.spec.kind(), Some(timing.spec.to_string())),
        (When::Ticks(timing), Some(_)) => (timing.spec.kind(), None),
        (When::Chain(_), _) => ("chained", None),
    };
    json!({
        "name": definition.name,
        "description": definition.description,
        "tags": definition.tags,
        "enabled": schedule.enabled,
        "describe": schedule.describe(names),
        "assumed": schedule.assumed,
        "type": kind,
        "spec": spec,
        "timezone": zone.name(),
        "target": target(&definition.target),
        "policies": policies(&definition.policy, names),
        "payload": definition.payload,
        "fires": fires,
        "fires_more": forecast.fires_more,
        "suppressed": suppressed,
        "suppressed_more": forecast.suppressed_more,
    })
}

fn tick_json(tick: &Tick, zone: &Zone) -> Value {
    let local = tick.at.to_zoned(zone.to_jiff());
    let at = match zone.name() {
        "UTC" => tick.at.to_string(),
        _ => local.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string(),
    };
    let mut json = json!({"at": at});
    match tick.mark {
        Some(Mark::Shifted { from }) => json["dst"] = json!({"mark": "shifted", "from": from.to_string()}),
        Some(Mark::FirstPass) => json["dst"] = json!({"mark": "first_pass"}),
        Some(Mark::SecondPass) => json["dst"] = json!({"mark": "second_pass"}),
        None => {}
    }
    if let Some(window) = &tick.suppressed {
        json["window"] = json!({"code": window.code(), "text": window.to_string()});
    }
    json
}

fn text(declared: &Declared, from: Timestamp) -> String {
    let names = declared.names();
    let all = &declared.schedules;
    if all.is_empty() {
        return "no schedules are declared\n".to_owned();
    }
    let shown = &all[..all.len().min(SCHEDULES_MAX)];
    let about = shown.iter().map(|schedule| {
        let off = if schedule.enabled { "" } else { " (disabled)" };
        vec![
            format!("{}{off}", schedule.definition.name),
            schedule.describe(&names),
            zone(schedule).name().to_owned(),
            target_text(&schedule.definition.target),
            policies_text(&schedule.definition.policy, &names),
        ]
    });
    let mut said = table_without(&["ZONE"], &["NAME", "WHEN", "ZONE", "TARGET", "POLICIES"], about);
    if all.len() > shown.len() {
        said += &format!("… and {} more; `--json` has all of them\n", all.len() - shown.len());
    }
    let ticks: Vec<Vec<String>> =
        shown.iter().flat_map(|schedule| rows(schedule, &schedule.forecast(from))).collect();
    let day = clock(from, &jiff::tz::TimeZone::UTC);
    if ticks.is_empty() {
        return format!("{said}\nnothing fires within 24 hours of {day}\n");
    }
    format!("{said}\nwithin 24 hours of {day}\n{}", table(&["NAME", "TIME", "NOTE"], ticks))
}

/// The first fires of a schedule, then its first suppressed ticks.
fn rows(schedule: &Schedule, forecast: &Forecast) -> Vec<Vec<String>> {
    let (name, zone) = (&schedule.definition.name, zone(schedule).to_jiff());
    let mut rows = Vec::new();
    let kinds = [
        (&forecast.fires, forecast.fires_more, "more fire"),
        (&forecast.suppressed, forecast.suppressed_more, "more are suppressed"),
    ];
    for (ticks, beyond, word) in kinds {
        for tick in ticks.iter().take(ROWS_MAX) {
            rows.push(vec![name.clone(), clock(tick.at, &zone), note(tick)]);
        }
        let more = ticks.len().saturating_sub(ROWS_MAX) + beyond;
        if more > 0 {
            rows.push(vec![name.clone(), "…".to_owned(), format!("{more} {word}")]);
        }
    }
    rows
}

fn note(tick: &Tick) -> String {
    let dst = tick.mark.map(|mark| match mark {
        Mark::Shifted { from } => format!("moved from {}, which the clock skips", from.strftime("%H:%M")),
        Mark::FirstPass => "first pass of a repeated hour".to_owned(),
        Mark::SecondPass => "second pass of a repeated hour".to_owned(),
    });
    let window = tick.suppressed.as_ref().map(|window| format!("suppressed: {window}"));
    [window, dst].into_iter().flatten().collect::<Vec<_>>().join("; ")
}

fn target_text(target: &Target) -> String {
    match &target.action {
        Action::Process(process) => format!("process {}", process.argv.join(" ")),
        Action::Webhook(webhook) => format!("webhook {}", webhook.url),
        Action::Queue(queue) => format!("queue {}", queue.queue),
        Action::Workflow(workflow) => {
            format!("workflow {} version {}", workflow.workflow_id, workflow.version)
        }
        other => format!("{} {}", other.kind(), target.name),
    }
}

fn policies_text(policy: &Policy, names: &Names<'_>) -> String {
    let shown = policies(policy, names);
    let said = shown.iter().filter(|(name, value)| {
        let usual: &[&str] = match name.as_str() {
            "max_catch_up" | "missed_audit_max" => &["100"],
            "grace" => &["\"1m\""],
            "run_timeout" | "depends_timeout" => &["\"1h\""],
            "max_consecutive_failures" => &["5"],
            "delivery" => &["\"at_least_once\""],
            "scope" => return value.is_object(),
            _ => &[],
        };
        !usual.contains(&value.to_string().as_str())
    });
    let words: Vec<String> = said.map(|(name, value)| format!("{name} {}", plain(value))).collect();
    words.join(", ")
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(plain).collect::<Vec<_>>().join(" "),
        Value::Object(object) => object.values().map(plain).collect::<Vec<_>>().join(" "),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use jiff::SignedDuration;
    use punctual::declare;
    use punctual::declare::length;

    use super::*;

    #[test]
    fn people_see_each_schedule_and_its_first_day() {
        let from: Timestamp = "2026-10-24T22:00:00Z".parse().unwrap();
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/examples/shop.yaml");
        let declared = declare::read(file.as_ref(), from).unwrap();
        let shown = text(&declared, from);
        assert_eq!(
            shown.split_once("\n\n").unwrap().1,
            "within 24 hours of 2026-10-24 22:00 UTC\n\
             NAME    TIME                   NOTE\n\
             backup  2026-10-25 02:30 CEST  first pass of a repeated hour\n"
        );
        let words: Vec<&str> = shown.lines().nth(1).unwrap().split_whitespace().collect();
        assert_eq!(
            words.join(" "),
            "backup Every day at 02:30, Europe/Berlin time Europe/Berlin process /usr/local/bin/backup --all \
             if_running skip, catch_up run_once, retry_after 10m"
        );
    }

    #[test]
    fn a_duration_is_shown_as_it_is_declared() {
        let cases = [
            (0, "0s"),
            (250, "250ms"),
            (90_000, "90s"),
            (300_000, "5m"),
            (7_200_000, "2h"),
            (172_800_000, "2d"),
        ];
        for (millis, text) in cases {
            assert_eq!(length(SignedDuration::from_millis(millis)), text);
        }
    }
}
