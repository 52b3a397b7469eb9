//! The keys that schedules, templates and the schedules of plugins share: each body is tried in all three places.

use serde_json::{Value, json};

use crate::Scenario;
use crate::tried::yaml;

/// What stands beside every body.
const GROUND: &str = "
calendars: {holidays: {dates: ['2026-01-05']}}
quiet_hours: {early: {during: '00:00-01:30'}}
schedules: [{name: other, cron: '*/20 * * * *', guard: door, target: TARGET, retry_after: 2m}]
";

/// A key, a body that has it, and the world in which it counts; `IT` is the name of the schedule that has the body.
const ROWS: [(&str, &str, &str); 37] = [
    ("description", "{every: 1h, description: What it is for}", ""),
    ("tags", "{every: 1h, tags: [one]}", ""),
    ("enabled", "{every: 1h, enabled: false}", ""),
    ("every", "{every: 1h}", ""),
    ("cron", "{cron: 15 * * * *}", ""),
    ("at", "{at: '2026-01-05T01:00'}", ""),
    ("after", "{after: 5m}", ""),
    ("on", "{on: {schedule: other}}", ""),
    ("schedule", "{schedule: every 15 minutes}", ""),
    ("dialect", "{cron: 0 0 1 ? * 2, dialect: quartz}", ""),
    ("anchor", "{every: 10m, anchor: last_finish}", "run-time 3m"),
    ("anchor_at", "{every: 1h, anchor_at: '2026-01-01T00:20:00Z'}", ""),
    ("timezone", "{cron: 0 2 * * *, timezone: Europe/Berlin}", ""),
    ("dst", "{cron: 30 2 * * *, timezone: Europe/Berlin, dst: {gap: skip}}", "from 2026-03-29T00:10Z"),
    ("start_at", "{every: 30m, start_at: '2026-01-05T01:07'}", ""),
    ("end_at", "{every: 30m, end_at: '2026-01-05T01:30:30'}", ""),
    ("max_runs", "{every: 30m, max_runs: 2}", ""),
    ("only_between", "{every: 30m, only_between: '01:00-02:00'}", ""),
    ("not_on", "{every: 30m, not_on: [holidays, sunday]}", ""),
    ("quiet_hours", "{every: 30m, quiet_hours: early}", ""),
    ("quiet_hours_policy_id", "{every: 30m, quiet_hours_policy_id: early}", ""),
    ("if_running", "{every: 10m, if_running: cancel}", "run-time IT=14m"),
    ("catch_up", "{every: 10m, catch_up: run_all}", "outage 2026-01-05T00:15Z+1h"),
    ("max_catch_up", "{every: 10m, catch_up: run_all, max_catch_up: 2}", "outage 2026-01-05T00:15Z+1h"),
    ("missed_audit_max", "{every: 10m, missed_audit_max: 1}", "outage 2026-01-05T00:15Z+1h"),
    ("grace", "{every: 10m, grace: 5m}", "outage 2026-01-05T00:15Z+19m"),
    ("start_deadline", "{every: 10m, catch_up: run_all, start_deadline: 25m}", "outage 2026-01-05T00:15Z+1h"),
    ("jitter", "{every: 10m, jitter: 4m}", ""),
    ("launch", "{every: 10m, launch: {attempts: 2}}", "fail IT=first:2:launch"),
    ("retry_after", "{every: 10m, retry_after: 3m}", "fail IT=every:2"),
    ("run_timeout", "{every: 10m, run_timeout: 5m}", "run-time IT=7m"),
    ("max_consecutive_failures", "{every: 10m, max_consecutive_failures: 2}", "fail IT=always"),
    ("delivery", "{every: 10m, delivery: at_most_once}", "run-time IT=4m; outage 2026-01-05T00:21Z+2m"),
    ("guard", "{every: 10m, guard: door}", "run-time other=15m"),
    ("depends_on", "{every: 10m, depends_on: other}", "fail other=every:2"),
    ("depends_timeout", "{every: 10m, depends_on: other, depends_timeout: 1m}", "fail other=every:2"),
    ("payload", "{every: 1h, payload: {size: 3}}", ""),
];

/// Every row in its three places.
pub(crate) fn scenarios() -> Vec<Scenario> {
    ROWS.iter().flat_map(|row| [own(row), template(row), plugin(row)]).collect()
}

fn own((key, body, world): &(&str, &str, &str)) -> Scenario {
    let mut file = yaml(GROUND);
    let mut schedule = yaml(body);
    schedule["name"] = json!("it");
    schedule["target"] = yaml("TARGET");
    add_schedule(&mut file, schedule);
    scenario(("Schedule", key), &format!("/schedules/1/{key}"), file, &world.replace("IT", "it"))
}

fn template((key, body, world): &(&str, &str, &str)) -> Scenario {
    let mut file = yaml(GROUND);
    file["templates"] = json!({"form": yaml(body)});
    add_schedule(&mut file, json!({"name": "it", "template": "form", "target": yaml("TARGET")}));
    scenario(("Template", key), &format!("/templates/form/{key}"), file, &world.replace("IT", "it"))
}

fn plugin((key, body, world): &(&str, &str, &str)) -> Scenario {
    let mut file = yaml(GROUND);
    let mut schedule = yaml(body);
    // The guard of a `poll` is its plugin.
    schedule["command"] = json!("work");
    file["plugins"] = json!({"it": {"schedules": [schedule]}});
    let path = format!("/plugins/it/schedules/0/{key}");
    scenario(("PluginSchedule", key), &path, file, &world.replace("IT", "it/default"))
}

fn add_schedule(file: &mut Value, schedule: Value) {
    file["schedules"].as_array_mut().expect("a list").push(schedule);
}

fn scenario((part, key): (&str, &str), path: &str, file: Value, world: &str) -> Scenario {
    Scenario {
        key: (part.to_owned(), key.to_owned()),
        path: Some(path.to_owned()),
        file,
        world: world.to_owned(),
    }
}
