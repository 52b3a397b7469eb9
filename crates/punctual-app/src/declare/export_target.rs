//! Where runs go, as the keys of `target`.

use punctual_plan::{
    Action, BreakerRule, CONNECT_TIMEOUT, CloudEvents, Executor, KILL_AFTER, Method, Process, ProcessLimits,
    REDIRECTS_DEFAULT, Target, WEBHOOK_TIMEOUT, Webhook,
};
use serde_json::{Map, Value, json};

use super::export::length;

/// The keys of a target; `schedule` is the name that it has without saying so.
pub(super) fn target(target: &Target, schedule: &str) -> Value {
    let mut keys = Map::new();
    keys.insert("type".to_owned(), json!(target.action.kind()));
    action(&mut keys, &target.action);
    let usual = BreakerRule::default();
    let mut breaker = Map::new();
    if target.breaker.threshold != usual.threshold {
        breaker.insert("threshold".to_owned(), json!(target.breaker.threshold));
    }
    if target.breaker.reset_after != usual.reset_after {
        breaker.insert("reset_after".to_owned(), json!(length(target.breaker.reset_after)));
    }
    if !breaker.is_empty() {
        keys.insert("circuit_breaker".to_owned(), Value::Object(breaker));
    }
    if target.name != schedule {
        keys.insert("name".to_owned(), json!(target.name));
    }
    Value::Object(keys)
}

fn action(keys: &mut Map<String, Value>, action: &Action) {
    let mut put = |key: &str, value: Option<Value>| {
        if let Some(value) = value {
            keys.insert(key.to_owned(), value);
        }
    };
    match action {
        Action::Process(process) => {
            let Process { argv, env, cwd, user, limits, nice, kill_after } = process;
            put("argv", Some(json!(argv)));
            put("env", (!env.is_empty()).then(|| json!(env)));
            put("cwd", cwd.as_ref().map(|cwd| json!(cwd)));
            put("user", user.as_ref().map(|user| json!(user)));
            put("limits", process_limits(*limits));
            put("nice", nice.map(|nice| json!(nice)));
            put("kill_after", (*kill_after != KILL_AFTER).then(|| json!(length(*kill_after))));
        }
        Action::Webhook(request) => webhook(&mut put, request),
        Action::Queue(queue) => {
            put("queue", Some(json!(queue.queue)));
            put("worker_type", queue.worker_type.as_ref().map(|kind| json!(kind)));
            put("prompt", queue.prompt.as_ref().map(|prompt| json!(prompt)));
            put("repo_url", queue.repo_url.as_ref().map(|url| json!(url)));
            put("branch", (queue.branch != "main").then(|| json!(queue.branch)));
            put("context", (!queue.context.is_empty()).then(|| json!(queue.context)));
            put("config", (!queue.config.is_empty()).then(|| json!(queue.config)));
        }
        Action::Message { message } => put("message", Some(json!(message))),
        Action::Workflow(workflow) => {
            put("workflow_id", Some(json!(workflow.workflow_id)));
            put("version", Some(json!(workflow.version)));
            put("executor", workflow.executor.as_ref().map(executor));
        }
        Action::Callback { task } => put("task", Some(json!(task))),
        // The enum is open to later versions of the crate, which is built together with this one.
        _ => {}
    }
}

/// Who executes a workflow, by the keys that say so; the plainest way, if nothing else is said.
pub fn executor(executor: &Executor) -> Value {
    let mut keys = Map::new();
    match executor {
        Executor::Process(process) => action(&mut keys, &Action::Process(process.clone())),
        Executor::Webhook(webhook) => action(&mut keys, &Action::Webhook(webhook.clone())),
    }
    match (keys.len(), keys.get("argv"), keys.get("url")) {
        (1, Some(argv), _) => argv.clone(),
        (1, _, Some(url)) => url.clone(),
        _ => Value::Object(keys),
    }
}

fn webhook(put: &mut impl FnMut(&str, Option<Value>), webhook: &Webhook) {
    let Webhook { url, method, headers, body, secrets, cloud_events, .. } = webhook;
    put("url", Some(json!(url)));
    put("method", (*method != Method::default()).then(|| json!(method.name())));
    put("headers", (!headers.is_empty()).then(|| json!(headers)));
    put("body", body.as_ref().map(|body| json!(body)));
    let secret = match secrets.as_slice() {
        [] => None,
        [one] => Some(json!(one)),
        several => Some(json!(several)),
    };
    put("secret", secret);
    put("cloud_events", (*cloud_events != CloudEvents::default()).then(|| json!(cloud_events.name())));
    let Webhook {
        timeout, connect_timeout, redirects, client_certificate, client_key, ca_certificate, ..
    } = webhook;
    put("timeout", (*timeout != WEBHOOK_TIMEOUT).then(|| json!(length(*timeout))));
    put("connect_timeout", (*connect_timeout != CONNECT_TIMEOUT).then(|| json!(length(*connect_timeout))));
    put("redirects", (*redirects != REDIRECTS_DEFAULT).then(|| json!(redirects)));
    put("client_certificate", client_certificate.as_ref().map(|text| json!(text)));
    put("client_key", client_key.as_ref().map(|text| json!(text)));
    put("ca_certificate", ca_certificate.as_ref().map(|text| json!(text)));
}

/// What a program may use, if anything is said about it.
fn process_limits(limits: ProcessLimits) -> Option<Value> {
    let ProcessLimits { memory, cpu_seconds, open_files, processes, file_size } = limits;
    let all = [
        ("memory", memory),
        ("cpu_seconds", cpu_seconds),
        ("open_files", open_files),
        ("processes", processes),
        ("file_size", file_size),
    ];
    let set = all.into_iter().filter_map(|(key, limit)| Some((key.to_owned(), json!(limit?))));
    let keys: Map<String, Value> = set.collect();
    (!keys.is_empty()).then_some(Value::Object(keys))
}
