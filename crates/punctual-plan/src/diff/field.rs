//! A schedule field by field, each as the text that a person would write.
//!
//! A value that is not set has the empty text. What is missing here can never be seen to differ, so a new field of a
//! schedule belongs here as well: the destructuring patterns refuse to compile without it.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use punctual_time::{Bounds, Calendar, QuietHours, Windows};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::{
    Action, BreakerRule, Chain, Executor, Jitter, KILL_AFTER, Launch, Object, Owner, Policy, Process,
    ProcessLimits, Queue, Schedule, ScheduleId, Target, Webhook, When, Workflow,
};

/// A field and its value as text.
pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) text: String,
}

type Names<'a> = BTreeMap<ScheduleId, &'a str>;

/// Everything about a schedule that a person decides; `id`, `version` and the time of its creation are not among it.
pub(super) fn fields(schedule: &Schedule, names: &Names<'_>) -> Vec<Field> {
    let Schedule {
        id: _,
        name: _,
        owner: Owner { org_id: _, user_id },
        description,
        tags,
        version: _,
        spec,
        dialect,
        when,
        policy,
        target,
        payload,
    } = schedule;
    let mut list = List(Vec::new());
    list.add("user_id", option(user_id.as_ref()));
    list.add("description", option(description.as_ref()));
    list.add("tags", tags.join(", "));
    list.when(when, names);
    if matches!(when, When::Ticks(_)) {
        list.add("spec", spec.clone());
        list.add("dialect", dialect.to_string());
    }
    list.policy(policy, names);
    list.target(target);
    list.add("payload", object(payload));
    list.0
}

/// Whether two schedules have the same fields, as far as that can be seen without writing them out: it may say no of
/// two that are the same, never yes of two that differ.
pub(super) fn is_same(one: &Schedule, other: &Schedule) -> bool {
    let Schedule {
        id: _,
        name: _,
        owner: Owner { org_id: _, user_id },
        description,
        tags,
        version: _,
        spec,
        dialect,
        when,
        policy,
        target,
        payload,
    } = one;
    let is_same_when = match (when, &other.when) {
        (When::Ticks(one), When::Ticks(other)) => {
            one.spec.kind() == other.spec.kind()
                && (&one.zone, one.anchor, one.dst) == (&other.zone, other.anchor, other.dst)
                && (one.bounds, &one.windows) == (other.bounds, &other.windows)
        }
        // What they follow is told by names.
        _ => false,
    };
    is_same_when
        && policy.depends_on.is_none()
        && (user_id, description, tags) == (&other.owner.user_id, &other.description, &other.tags)
        && (spec, dialect) == (&other.spec, &other.dialect)
        && (policy, target, payload) == (&other.policy, &other.target, &other.payload)
}

struct List(Vec<Field>);

impl List {
    fn add(&mut self, name: &'static str, text: String) {
        self.0.push(Field { name, text });
    }

    fn when(&mut self, when: &When, names: &Names<'_>) {
        match when {
            When::Ticks(timing) => {
                // The spec is compared as it was written: `after` and `H` are made definite only once, when stored.
                self.add("type", timing.spec.kind().to_owned());
                self.add("timezone", timing.zone.to_string());
                self.add("anchor", timing.anchor.to_string());
                self.add("dst.gap", option(timing.dst.gap));
                self.add("dst.fold", option(timing.dst.fold));
                self.bounds(&timing.bounds);
                self.windows(&timing.windows);
            }
            When::Chain(Chain { upstream, on, delay, zone, bounds, windows }) => {
                self.add("type", "chained".to_owned());
                self.add("on.schedule", called(*upstream, names));
                self.add("on.outcome", on.to_string());
                self.add("on.delay", duration(*delay));
                self.add("timezone", zone.to_string());
                self.bounds(bounds);
                self.windows(windows);
            }
        }
    }

    fn bounds(&mut self, bounds: &Bounds) {
        let Bounds { start_at, end_at, max_runs } = bounds;
        self.add("start_at", option::<Timestamp>(*start_at));
        self.add("end_at", option::<Timestamp>(*end_at));
        self.add("max_runs", option(*max_runs));
    }

    fn windows(&mut self, windows: &Windows) {
        let Windows { only_between, not_on, calendars, quiet_hours } = windows;
        let days = Some(not_on.to_string()).filter(|days| !days.is_empty());
        self.add("only_between", option(*only_between));
        self.add("not_on", joined(days.into_iter().chain(calendars.iter().map(calendar))));
        self.add("quiet_hours", joined(quiet_hours.iter().map(quiet)));
    }

    fn policy(&mut self, policy: &Policy, names: &Names<'_>) {
        let Policy {
            overlap,
            lane,
            catch_up,
            max_catch_up,
            missed_audit_max,
            grace,
            start_deadline,
            jitter: Jitter { max: jitter, mode },
            launch: Launch { attempts_max, delay },
            retry_after,
            run_timeout,
            max_consecutive_failures,
            guard,
            depends_on,
            delivery,
        } = policy;
        self.add("if_running", overlap.to_string());
        self.add("lane", option(lane.as_ref()));
        self.add("catch_up", catch_up.to_string());
        self.add("max_catch_up", max_catch_up.to_string());
        self.add("missed_audit_max", missed_audit_max.to_string());
        self.add("grace", duration(*grace));
        self.add("start_deadline", start_deadline.map(duration).unwrap_or_default());
        self.add("jitter", duration(*jitter));
        self.add("jitter.mode", mode.to_string());
        self.add("launch_attempts", attempts_max.to_string());
        self.add("launch_delay", duration(*delay));
        self.add("retry_after", retry_after.map(duration).unwrap_or_default());
        self.add("run_timeout", duration(*run_timeout));
        self.add("max_consecutive_failures", option(*max_consecutive_failures));
        self.add("guard", option(guard.as_ref()));
        let on = depends_on.iter().flat_map(|depends| &depends.on).map(|id| called(*id, names));
        self.add("depends_on", joined(on));
        self.add(
            "depends_timeout",
            depends_on.as_ref().map(|depends| duration(depends.timeout)).unwrap_or_default(),
        );
        self.add("delivery", delivery.to_string());
    }

    fn target(&mut self, target: &Target) {
        let Target { name, action, breaker: BreakerRule { threshold, reset_after } } = target;
        self.add("target", name.clone());
        self.add("circuit_breaker.threshold", threshold.to_string());
        self.add("circuit_breaker.reset_after", duration(*reset_after));
        self.add("target.type", action.kind().to_owned());
        match action {
            Action::Process(process) => self.process(process),
            Action::Webhook(webhook) => self.webhook(webhook),
            Action::Queue(queue) => self.queue(queue),
            Action::Message { message } => self.add("message", object(message)),
            Action::Workflow(workflow) => self.workflow(workflow),
            Action::Callback { task } => self.add("task", task.clone()),
        }
    }

    fn workflow(&mut self, workflow: &Workflow) {
        let Workflow { workflow_id, version, executor } = workflow;
        self.add("workflow_id", workflow_id.clone());
        self.add("workflow_version", version.to_string());
        match executor {
            None => self.add("executor", String::new()),
            Some(Executor::Process(process)) => {
                self.add("executor", "process".to_owned());
                self.process(process);
            }
            Some(Executor::Webhook(webhook)) => {
                self.add("executor", "webhook".to_owned());
                self.webhook(webhook);
            }
        }
    }

    fn process(&mut self, process: &Process) {
        let Process { argv, env, cwd, user, limits, nice, kill_after } = process;
        self.add("run", Value::from(argv.clone()).to_string());
        self.add("env", pairs(env));
        self.add("cwd", option(cwd.as_ref()));
        self.add("user", option(user.as_ref()));
        let ProcessLimits { memory, cpu_seconds, open_files, processes, file_size } = *limits;
        self.add("limits.memory", option(memory));
        self.add("limits.cpu_seconds", option(cpu_seconds));
        self.add("limits.open_files", option(open_files));
        self.add("limits.processes", option(processes));
        self.add("limits.file_size", option(file_size));
        self.add("nice", option(*nice));
        self.add("kill_after", if *kill_after == KILL_AFTER { String::new() } else { duration(*kill_after) });
    }

    fn webhook(&mut self, webhook: &Webhook) {
        let Webhook { url, method, headers, body, secrets, cloud_events, .. } = webhook;
        self.add("url", url.clone());
        self.add("method", method.to_string());
        self.add("headers", pairs(headers));
        self.add("body", option(body.as_ref()));
        self.add("secret", joined(secrets.iter().cloned()));
        self.add("cloud_events", cloud_events.to_string());
        let Webhook { timeout, connect_timeout, redirects, .. } = webhook;
        self.add("timeout", duration(*timeout));
        self.add("connect_timeout", duration(*connect_timeout));
        self.add("redirects", redirects.to_string());
        let Webhook { client_certificate, client_key, ca_certificate, .. } = webhook;
        self.add("client_certificate", option(client_certificate.as_ref()));
        self.add("client_key", option(client_key.as_ref()));
        self.add("ca_certificate", option(ca_certificate.as_ref()));
    }

    fn queue(&mut self, queue: &Queue) {
        let Queue { queue, worker_type, prompt, repo_url, branch, context, config } = queue;
        self.add("queue", queue.clone());
        self.add("worker_type", option(worker_type.as_ref()));
        self.add("prompt", option(prompt.as_ref()));
        self.add("repo_url", option(repo_url.as_ref()));
        self.add("branch", branch.clone());
        self.add("context", object(context));
        self.add("config", object(config));
    }
}

fn option<T: ToString>(value: Option<T>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

fn joined(words: impl Iterator<Item = String>) -> String {
    words.collect::<Vec<_>>().join(", ")
}

fn duration(value: SignedDuration) -> String {
    format!("{value:#}")
}

fn called(id: ScheduleId, names: &Names<'_>) -> String {
    names.get(&id).map_or_else(|| id.to_string(), |name| (*name).to_owned())
}

/// The order of the keys means nothing.
fn object(object: &Object) -> String {
    let mut sorted = Value::Object(object.clone());
    sorted.sort_all_objects();
    sorted.to_string()
}

fn pairs(pairs: &BTreeMap<String, String>) -> String {
    joined(pairs.iter().map(|(key, value)| format!("{key}={value}")))
}

/// Many dates are told apart by their digest.
fn calendar(calendar: &Calendar) -> String {
    let dates = joined(calendar.dates().map(|date| date.to_string()));
    let [a, b, c, d, ..] = <[u8; 32]>::from(Sha256::digest(&dates));
    let count = calendar.dates().count();
    format!("{} ({count} dates, {a:02x}{b:02x}{c:02x}{d:02x})", calendar.name())
}

fn quiet(quiet: &QuietHours) -> String {
    let QuietHours { name, during, on, zone } = quiet;
    let days = if on.is_empty() { String::new() } else { format!(" on {on}") };
    let zone = zone.as_ref().map(|zone| format!(" in {zone}")).unwrap_or_default();
    format!("{name} ({during}{days}{zone})")
}
