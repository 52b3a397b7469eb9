//! The keys of everything else, each in a whole small file.

use crate::Scenario;
use crate::tried::yaml;

/// A part of the schema, keys of it, a file that has them, and the world in which each of them counts.
type Row = (&'static str, &'static str, &'static str, &'static str);

/// The sections of a file, the settings, and what schedules name.
const SECTIONS: [Row; 31] = [
    (
        "File",
        "settings",
        "{settings: {timezone: Asia/Tokyo}, schedules: [{name: a, cron: 0 10 * * *, target: TARGET}]}",
        "",
    ),
    ("File", "schedules", "{schedules: [{name: a, every: 1h, target: TARGET}]}", ""),
    ("File", "plugins", "{plugins: {p: {schedules: [{every: 1h}]}}}", ""),
    ("File", "targets", "{targets: {t: TARGET}, schedules: [{name: a, every: 1h, target: t}]}", ""),
    (
        "File",
        "templates",
        "{templates: {t: {every: 1h}}, schedules: [{name: a, template: t, target: TARGET}]}",
        "",
    ),
    (
        "File",
        "quiet_hours",
        "{quiet_hours: {q: {during: '00:00-02:00'}}, schedules: [{name: a, every: 1h, quiet_hours: q, target: TARGET}]}",
        "",
    ),
    (
        "File",
        "calendars",
        "{calendars: {c: {dates: ['2026-01-06']}}, schedules: [{name: a, every: 1h, not_on: [c], target: TARGET}]}",
        "",
    ),
    (
        "Settings",
        "org_id user_id",
        "{settings: {org_id: acme, user_id: ada}, schedules: [{name: a, every: 1h, target: TARGET}]}",
        "",
    ),
    (
        "Settings",
        "timezone",
        "{settings: {timezone: Asia/Tokyo}, schedules: [{name: a, cron: 0 10 * * *, target: TARGET}]}",
        "",
    ),
    (
        "Settings",
        "tick_ms max_catchup_per_tick",
        "{settings: {tick_ms: 400, max_catchup_per_tick: 2}, schedules: [{name: a, every: 10m, catch_up: run_all, target: TARGET}]}",
        "outage 2026-01-05T00:15Z+1h",
    ),
    (
        "Settings",
        "lookahead_ms",
        "{settings: {lookahead_ms: 600000}, schedules: [{name: a, every: 10m, catch_up: spread, target: TARGET}]}",
        "outage 2026-01-05T00:15Z+1h",
    ),
    (
        "Settings",
        "default_overlap_policy",
        "{settings: {default_overlap_policy: queue}, schedules: [{name: a, every: 10m, target: TARGET}]}",
        "run-time 14m",
    ),
    (
        "Settings",
        "default_catchup_policy",
        "{settings: {default_catchup_policy: run_once}, schedules: [{name: a, every: 10m, target: TARGET}]}",
        "outage 2026-01-05T00:15Z+1h",
    ),
    (
        "Settings",
        "default_jitter_ms",
        "{settings: {default_jitter_ms: 60000}, schedules: [{name: a, every: 10m, target: TARGET}]}",
        "",
    ),
    (
        "Settings",
        "min_interval",
        "{settings: {min_interval: 1h}, schedules: [{name: a, every: 10m, target: TARGET}]}",
        "",
    ),
    (
        "Settings",
        "plugins_dir",
        "{settings: {plugins_dir: /opt}, plugins: {p: {schedules: [{every: 1h}]}}}",
        "",
    ),
    (
        "Settings",
        "limits",
        "{settings: {limits: {runs_in_flight: 1}}, schedules: [{name: a, every: 10m, target: TARGET}, {name: b, every: 10m, target: TARGET}]}",
        "run-time 3m",
    ),
    (
        "Limits",
        "schedules",
        "{settings: {limits: {schedules: 1}}, schedules: [{name: a, every: 1h, target: TARGET}, {name: b, every: 1h, target: TARGET}]}",
        "",
    ),
    (
        "Limits",
        "runs_per_minute over",
        "{settings: {limits: {runs_per_minute: 1, over: skip}}, schedules: [{name: a, every: 10m, target: TARGET}, {name: b, every: 10m, target: TARGET}]}",
        "",
    ),
    (
        "Limits",
        "runs_in_flight",
        "{settings: {limits: {runs_in_flight: 1}}, schedules: [{name: a, every: 10m, target: TARGET}, {name: b, every: 10m, target: TARGET}]}",
        "run-time 3m",
    ),
    (
        "Quiet",
        "during on",
        "{quiet_hours: {q: {during: '00:00-02:00', on: [sunday]}}, schedules: [{name: a, every: 1h, quiet_hours: q, target: TARGET}]}",
        "",
    ),
    (
        "Quiet",
        "timezone",
        "{quiet_hours: {q: {during: '00:00-02:00', timezone: Europe/Berlin}}, schedules: [{name: a, every: 30m, quiet_hours: q, target: TARGET}]}",
        "",
    ),
    (
        "Dates",
        "dates",
        "{calendars: {c: {dates: ['2026-01-06']}}, schedules: [{name: a, every: 1h, not_on: [c], target: TARGET}]}",
        "",
    ),
    ("Plugin", "schedules", "{plugins: {p: {schedules: [{every: 1h}]}}}", ""),
    ("Plugin", "run", "{plugins: {p: {run: [/bin/p, -v], schedules: [{every: 1h}]}}}", ""),
    (
        "Plugin",
        "circuit_breaker",
        "{plugins: {p: {circuit_breaker: {threshold: 2}, schedules: [{every: 10m}]}}}",
        "fail always",
    ),
    (
        "Plugin",
        "commands",
        "{plugins: {p: {commands: {poll: {payload: {a: 1}}}, schedules: [{every: 1h}]}}}",
        "",
    ),
    (
        "Command",
        "payload",
        "{plugins: {p: {commands: {poll: {payload: {a: 1}}}, schedules: [{every: 1h}]}}}",
        "",
    ),
    (
        "PluginSchedule",
        "id command",
        "{plugins: {p: {schedules: [{id: one, command: sweep, every: 1h}]}}}",
        "",
    ),
    (
        "Breaker",
        "threshold reset_after",
        "{targets: {t: {type: process, argv: [x], circuit_breaker: {threshold: 2, reset_after: 25m}}}, schedules: [{name: a, every: 10m, target: t}]}",
        "fail always",
    ),
    (
        "Template",
        "target",
        "{templates: {t: {target: TARGET}}, schedules: [{name: a, template: t, every: 1h}]}",
        "",
    ),
];

/// Schedules and the parts of their keys.
const SCHEDULES: [Row; 14] = [
    ("Schedule", "name target", "{schedules: [{name: a, every: 1h, target: TARGET}]}", ""),
    (
        "Schedule",
        "template",
        "{templates: {t: {payload: {a: 1}}}, schedules: [{name: a, template: t, every: 1h, target: TARGET}]}",
        "",
    ),
    (
        "Schedule",
        "set",
        "{templates: {t: {payload: {a: '${what}'}}}, schedules: [{name: a, template: t, set: {what: 1}, every: 1h, target: TARGET}]}",
        "",
    ),
    (
        "On",
        "schedule",
        "{schedules: [{name: a, every: 1h, target: TARGET}, {name: b, on: {schedule: a}, target: TARGET}]}",
        "",
    ),
    (
        "On",
        "outcome delay",
        "{schedules: [{name: a, every: 1h, target: TARGET}, {name: b, on: {schedule: a, outcome: failure, delay: 5m}, target: TARGET}]}",
        "fail a=every:2",
    ),
    (
        "Dst",
        "gap",
        "{schedules: [{name: a, cron: 30 2 * * *, timezone: Europe/Berlin, dst: {gap: skip, fold: both}, target: TARGET}]}",
        "from 2026-03-29T00:10Z",
    ),
    (
        "Dst",
        "fold",
        "{schedules: [{name: a, cron: 30 2 * * *, timezone: Europe/Berlin, dst: {gap: skip, fold: both}, target: TARGET}]}",
        "from 2026-10-25T00:10Z",
    ),
    (
        "FullJitter",
        "max mode",
        "{schedules: [{name: a, every: 10m, jitter: {max: 2m, mode: around}, target: TARGET}]}",
        "",
    ),
    (
        "Launch",
        "attempts delay",
        "{schedules: [{name: a, every: 10m, launch: {attempts: 2, delay: 5s}, target: TARGET}]}",
        "fail first:2:launch",
    ),
    (
        "Schedule",
        "lane",
        "{schedules: [{name: a, every: 10m, lane: door, target: TARGET}, {name: b, every: 10m, lane: door, target: TARGET}]}",
        "run-time 3m",
    ),
    (
        "Template",
        "lane",
        "{templates: {t: {lane: door, every: 10m, target: TARGET}}, schedules: [{name: a, template: t}, {name: b, template: t}]}",
        "run-time 3m",
    ),
    (
        "TargetForm/process",
        "type argv env cwd user limits nice kill_after name",
        "{schedules: [{name: a, every: 1h, target: {type: process, argv: [x], env: {A: b}, cwd: /srv, user: nobody, \
         limits: {memory: 512M}, nice: 5, kill_after: 10s, name: b}}]}",
        "",
    ),
    (
        "ProcessLimits",
        "memory cpu_seconds open_files processes file_size",
        "{schedules: [{name: a, every: 1h, target: {type: process, argv: [x], limits: {memory: 1G, cpu_seconds: 60, open_files: 64, \
         processes: 9, file_size: 10M}}}]}",
        "",
    ),
    (
        "TargetForm/process",
        "circuit_breaker",
        "{schedules: [{name: a, every: 10m, target: {type: process, argv: [x], circuit_breaker: {threshold: 2}}}]}",
        "fail always",
    ),
];

/// The other targets.
const TARGETS: [Row; 8] = [
    (
        "TargetForm/webhook",
        "type url method headers body secret cloud_events timeout connect_timeout redirects ca_certificate circuit_breaker name",
        "{schedules: [{name: a, every: 10m, target: {type: webhook, url: 'https://example.com', method: PUT, headers: {A: b}, body: hello, \
         secret: key, cloud_events: structured, timeout: 3s, connect_timeout: 1s, redirects: 0, ca_certificate: '${file:/ca.pem}', \
         circuit_breaker: {threshold: 2}, name: b}}]}",
        "fail always",
    ),
    (
        "TargetForm/webhook",
        "client_certificate client_key",
        "{schedules: [{name: a, every: 10m, target: {type: webhook, url: 'https://example.com', client_certificate: c, \
         client_key: '${secret:k}'}}]}",
        "",
    ),
    (
        "TargetForm/queue",
        "type queue worker_type prompt repo_url branch context config circuit_breaker name",
        "{schedules: [{name: a, every: 10m, target: {type: queue, queue: q, worker_type: w, prompt: Do it, repo_url: 'https://example.com/r.git', \
         branch: next, context: {a: 1}, config: {b: 2}, circuit_breaker: {threshold: 2}, name: b}}]}",
        "fail always",
    ),
    (
        "TargetForm/message",
        "type message circuit_breaker name",
        "{schedules: [{name: a, every: 10m, target: {type: message, message: {text: hello}, circuit_breaker: {threshold: 2}, name: b}}]}",
        "fail always",
    ),
    (
        "TargetForm/workflow",
        "type workflow_id version executor circuit_breaker name",
        "{schedules: [{name: a, every: 10m, target: {type: workflow, workflow_id: w, version: 3, executor: [dag], circuit_breaker: {threshold: 2}, name: b}}]}",
        "fail always",
    ),
    (
        "ExecutorForm",
        "argv env cwd",
        "{schedules: [{name: a, every: 10m, target: {type: workflow, workflow_id: w, version: 3, executor: {argv: [dag], env: {A: b}, cwd: /srv}}}]}",
        "",
    ),
    (
        "ExecutorForm",
        "url headers secret",
        "{schedules: [{name: a, every: 10m, target: {type: workflow, workflow_id: w, version: 3, \
         executor: {url: 'https://example.com', headers: {A: b}, secret: key}}}]}",
        "",
    ),
    (
        "Settings",
        "workflow_executor",
        "{settings: {workflow_executor: [dag, --all]}, schedules: [{name: a, every: 10m, target: {type: workflow, workflow_id: w, version: 3}}]}",
        "",
    ),
];

/// Every key of every row.
pub(crate) fn scenarios() -> Vec<Scenario> {
    let rows = SECTIONS.iter().chain(&SCHEDULES).chain(&TARGETS);
    let keys = |row: &'static Row| row.1.split(' ').map(move |key| (row, key));
    rows.flat_map(keys)
        .map(|((part, _, file, world), key)| Scenario {
            key: ((*part).to_owned(), key.to_owned()),
            path: None,
            file: yaml(file),
            world: (*world).to_owned(),
        })
        .collect()
}
