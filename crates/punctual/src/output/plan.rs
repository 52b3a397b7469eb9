//! The plan of a file on the screen: what each schedule is, and what it does on its first day.

use jiff::{SignedDuration, Timestamp};
use punctual::Failure;
use punctual::declare::{Action, DAY, Declared, Forecast, Policies, Schedule, Scope, Target, When};
use punctual_time::{Mark, Tick, Zone};
use serde_json::{Map, Value, json};

use super::table::table;
use super::{Output, clock};

/// Ticks of a schedule in a table; JSON has more.
const ROWS_MAX: usize = 5;

/// The schedules of a file, and what they would do within a day of an instant.
pub(crate) fn show(output: &Output, declared: &Declared, from: Timestamp) -> Result<(), Failure> {
    let schedules: Vec<(&Schedule, Forecast)> =
        declared.schedules.iter().map(|schedule| (schedule, schedule.forecast(from))).collect();
    let to = from.saturating_add(DAY).unwrap_or(Timestamp::MAX);
    let plan: Vec<Value> = schedules.iter().map(|(schedule, forecast)| entry(schedule, forecast)).collect();
    output.write(&json!({"from": from, "to": to, "plan": plan}), || text(&schedules, from))
}

fn zone(schedule: &Schedule) -> &Zone {
    match &schedule.when {
        When::Timed(timing) | When::AfterStart { timing, .. } => &timing.zone,
        When::Chained(chained) => &chained.zone,
    }
}

fn entry(schedule: &Schedule, forecast: &Forecast) -> Value {
    let zone = zone(schedule);
    let fires: Vec<Value> = forecast.fires.iter().map(|tick| tick_json(tick, zone)).collect();
    let suppressed: Vec<Value> = forecast.suppressed.iter().map(|tick| tick_json(tick, zone)).collect();
    let (kind, spec) = match &schedule.when {
        When::Timed(timing) => (timing.spec.kind(), Some(timing.spec.to_string())),
        When::AfterStart { .. } => ("one_shot", None),
        When::Chained(_) => ("chained", None),
    };
    json!({
        "name": schedule.name,
        "description": schedule.description,
        "tags": schedule.tags,
        "enabled": schedule.enabled,
        "describe": schedule.describe(),
        "assumed": schedule.assumed,
        "type": kind,
        "spec": spec,
        "timezone": zone.name(),
        "target": target_json(&schedule.target),
        "policies": policies(&schedule.policies),
        "payload": schedule.payload,
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

fn target_json(target: &Target) -> Value {
    let mut json = json!({"name": target.name, "type": target.action.name()});
    match &target.action {
        Action::Process { argv, cwd, .. } => {
            json["argv"] = json!(argv);
            json["cwd"] = json!(cwd);
        }
        Action::Webhook { url, method, .. } => {
            json["url"] = json!(url);
            json["method"] = json!(method.name());
        }
        Action::Queue { queue, worker_type, .. } => {
            json["queue"] = json!(queue);
            json["worker_type"] = json!(worker_type);
        }
        Action::Message { message } => json["message"] = json!(message),
        Action::Workflow { workflow_id, version } => {
            json["workflow_id"] = json!(workflow_id);
            json["version"] = json!(version);
        }
    }
    let breaker = &target.circuit_breaker;
    json["circuit_breaker"] =
        json!({"threshold": breaker.threshold, "reset_after": length(breaker.reset_after)});
    json
}

/// The policies by the names under which they are declared; what is absent is left out.
fn policies(policies: &Policies) -> Map<String, Value> {
    let scope = match &policies.scope {
        Scope::Schedule => json!("schedule"),
        Scope::Command { plugin, command } => json!({"plugin": plugin, "command": command}),
    };
    let jitter = policies.jitter.map(|jitter| json!({"max": length(jitter.max), "mode": jitter.mode.name()}));
    let depends_on = (!policies.depends_on.is_empty()).then(|| json!(policies.depends_on));
    let duration = |value: Option<SignedDuration>| value.map(|value| json!(length(value)));
    let all = [
        ("if_running", Some(json!(policies.if_running.name()))),
        ("scope", Some(scope)),
        ("catch_up", Some(json!(policies.catch_up.name()))),
        ("max_catch_up", Some(json!(policies.max_catch_up))),
        ("missed_audit_max", Some(json!(policies.missed_audit_max))),
        ("grace", duration(Some(policies.grace))),
        ("start_deadline", duration(policies.start_deadline)),
        ("jitter", jitter),
        ("retry_after", duration(policies.retry_after)),
        ("run_timeout", duration(Some(policies.run_timeout))),
        ("max_consecutive_failures", Some(json!(policies.max_consecutive_failures))),
        ("delivery", Some(json!(policies.delivery.name()))),
        ("guard", policies.guard.as_ref().map(|guard| json!(guard))),
        ("depends_on", depends_on),
        ("depends_timeout", duration(policies.depends_timeout)),
    ];
    all.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

/// A duration as it is declared: `90s`, `5m`, `2h`, `250ms`.
fn length(duration: SignedDuration) -> String {
    let (seconds, millis) = (duration.as_secs(), duration.subsec_millis());
    match (seconds, millis) {
        (_, 1..) => format!("{}ms", duration.as_millis()),
        (0, _) => "0s".to_owned(),
        _ if seconds % 86_400 == 0 => format!("{}d", seconds / 86_400),
        _ if seconds % 3600 == 0 => format!("{}h", seconds / 3600),
        _ if seconds % 60 == 0 => format!("{}m", seconds / 60),
        _ => format!("{seconds}s"),
    }
}

fn text(schedules: &[(&Schedule, Forecast)], from: Timestamp) -> String {
    if schedules.is_empty() {
        return "no schedules are declared\n".to_owned();
    }
    let about = schedules.iter().map(|(schedule, _)| {
        let off = if schedule.enabled { "" } else { " (disabled)" };
        vec![
            format!("{}{off}", schedule.name),
            schedule.describe(),
            zone(schedule).name().to_owned(),
            target_text(&schedule.target),
            policies_text(&schedule.policies),
        ]
    });
    let about = table(&["NAME", "WHEN", "ZONE", "TARGET", "POLICIES"], about);
    let ticks: Vec<Vec<String>> =
        schedules.iter().flat_map(|(schedule, forecast)| rows(schedule, forecast)).collect();
    let day = clock(from, &jiff::tz::TimeZone::UTC);
    if ticks.is_empty() {
        return format!("{about}\nnothing fires within 24 hours of {day}\n");
    }
    format!("{about}\nwithin 24 hours of {day}\n{}", table(&["NAME", "TIME", "NOTE"], ticks))
}

/// The first fires of a schedule, then its first suppressed ticks.
fn rows(schedule: &Schedule, forecast: &Forecast) -> Vec<Vec<String>> {
    let zone = zone(schedule).to_jiff();
    let mut rows = Vec::new();
    let kinds = [
        (&forecast.fires, forecast.fires_more, "more fire"),
        (&forecast.suppressed, forecast.suppressed_more, "more are suppressed"),
    ];
    for (ticks, beyond, word) in kinds {
        for tick in ticks.iter().take(ROWS_MAX) {
            rows.push(vec![schedule.name.clone(), clock(tick.at, &zone), note(tick)]);
        }
        let more = ticks.len().saturating_sub(ROWS_MAX) + beyond;
        if more > 0 {
            rows.push(vec![schedule.name.clone(), "…".to_owned(), format!("{more} {word}")]);
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
        Action::Process { argv, .. } => format!("process {}", argv.join(" ")),
        Action::Webhook { url, .. } => format!("webhook {url}"),
        Action::Queue { queue, .. } => format!("queue {queue}"),
        Action::Message { .. } => format!("message {}", target.name),
        Action::Workflow { workflow_id, version } => format!("workflow {workflow_id} version {version}"),
    }
}

fn policies_text(declared: &Policies) -> String {
    let shown = policies(declared);
    let said = shown.iter().filter(|(name, value)| {
        let usual: &[&str] = match name.as_str() {
            "max_catch_up" | "missed_audit_max" => &["100"],
            "grace" => &["\"1m\""],
            "run_timeout" => &["\"1h\""],
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
    use punctual::declare;

    use super::*;

    #[test]
    fn people_see_each_schedule_and_its_first_day() {
        let from: Timestamp = "2026-10-24T22:00:00Z".parse().unwrap();
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/examples/shop.yaml");
        let declared = declare::read(file.as_ref(), from).unwrap();
        let schedules: Vec<(&Schedule, Forecast)> =
            declared.schedules.iter().map(|schedule| (schedule, schedule.forecast(from))).collect();
        let shown = text(&schedules, from);
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
