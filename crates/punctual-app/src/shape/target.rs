//! Targets and policies by the keys under which they are declared.

use punctual_plan::{self as plan, Action, Policy, ProcessLimits};
use serde_json::{Map, Value, json};

use crate::declare::{Names, executor_keys, length};

/// What a program may use; what is not set is left out.
fn process_limits(limits: ProcessLimits) -> Value {
    let ProcessLimits { memory, cpu_seconds, open_files, processes, file_size } = limits;
    let mut json = json!({});
    let named = [
        ("memory", memory),
        ("cpu_seconds", cpu_seconds),
        ("open_files", open_files),
        ("processes", processes),
        ("file_size", file_size),
    ];
    for (name, limit) in named {
        if let Some(limit) = limit {
            json[name] = json!(limit);
        }
    }
    json
}

/// A target by its keys.
pub fn target(target: &plan::Target) -> Value {
    let mut json = json!({"name": target.name, "type": target.action.kind()});
    match &target.action {
        Action::Process(process) => {
            json["argv"] = json!(process.argv);
            json["env"] = json!(process.env);
            json["cwd"] = json!(process.cwd);
            json["user"] = json!(process.user);
            json["limits"] = process_limits(process.limits);
            json["nice"] = json!(process.nice);
            json["kill_after"] = json!(length(process.kill_after));
        }
        Action::Webhook(webhook) => add_webhook(&mut json, webhook),
        Action::Queue(queue) => {
            json["queue"] = json!(queue.queue);
            json["worker_type"] = json!(queue.worker_type);
            json["prompt"] = json!(queue.prompt);
            json["repo_url"] = json!(queue.repo_url);
            json["branch"] = json!(queue.branch);
            json["context"] = json!(queue.context);
            json["config"] = json!(queue.config);
        }
        Action::Message { message } => json["message"] = json!(message),
        Action::Workflow(workflow) => {
            json["workflow_id"] = json!(workflow.workflow_id);
            json["version"] = json!(workflow.version);
            json["executor"] = json!(workflow.executor.as_ref().map(executor_keys));
        }
        // Files declare no other kinds.
        _ => {}
    }
    let breaker = &target.breaker;
    json["circuit_breaker"] =
        json!({"threshold": breaker.threshold, "reset_after": length(breaker.reset_after)});
    json
}

fn add_webhook(json: &mut Value, webhook: &plan::Webhook) {
    json["url"] = json!(webhook.url);
    json["method"] = json!(webhook.method.name());
    json["headers"] = json!(webhook.headers);
    json["body"] = json!(webhook.body);
    json["secret"] = json!(webhook.secrets);
    json["cloud_events"] = json!(webhook.cloud_events.name());
    json["timeout"] = json!(length(webhook.timeout));
    json["connect_timeout"] = json!(length(webhook.connect_timeout));
    json["redirects"] = json!(webhook.redirects);
    json["client_certificate"] = json!(webhook.client_certificate);
    json["client_key"] = json!(webhook.client_key);
    json["ca_certificate"] = json!(webhook.ca_certificate);
}

/// The policies by the names under which they are declared; what is absent is left out, and usual launches.
pub fn policies(policy: &Policy, names: &Names<'_>) -> Map<String, Value> {
    let scope = match policy.lane.as_deref().and_then(|lane| lane.split_once('/')) {
        None => json!("schedule"),
        Some((plugin, command)) => json!({"plugin": plugin, "command": command}),
    };
    let jitter = Some(policy.jitter).filter(|jitter| !jitter.max.is_zero());
    let jitter = jitter.map(|jitter| json!({"max": length(jitter.max), "mode": jitter.mode.name()}));
    let launch = Some(policy.launch).filter(|launch| *launch != plan::Launch::default());
    let launch = launch.map(|launch| json!({"attempts": launch.attempts_max, "delay": length(launch.delay)}));
    let depends_on = policy.depends_on.as_ref();
    let upstream =
        depends_on.map(|depends| depends.on.iter().filter_map(|id| names.get(*id)).collect::<Vec<_>>());
    let duration = |value: Option<jiff::SignedDuration>| value.map(|value| json!(length(value)));
    let all = [
        ("if_running", Some(json!(policy.overlap.name()))),
        ("scope", Some(scope)),
        ("catch_up", Some(json!(policy.catch_up.name()))),
        ("max_catch_up", Some(json!(policy.max_catch_up))),
        ("missed_audit_max", Some(json!(policy.missed_audit_max))),
        ("grace", duration(Some(policy.grace))),
        ("start_deadline", duration(policy.start_deadline)),
        ("jitter", jitter),
        ("launch", launch),
        ("retry_after", duration(policy.retry_after)),
        ("run_timeout", duration(Some(policy.run_timeout))),
        ("max_consecutive_failures", Some(json!(policy.max_consecutive_failures))),
        ("delivery", Some(json!(policy.delivery.name()))),
        ("guard", policy.guard.as_ref().map(|guard| json!(guard))),
        ("depends_on", upstream.map(|names| json!(names))),
        ("depends_timeout", duration(depends_on.map(|depends| depends.timeout))),
    ];
    all.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}
