//! Every flag of a schedule's fields: its name, the key that it sets, and how its text becomes a value.

use punctual::Failure;
use serde_json::{Map, Value, json};

/// A flag and the key that it sets.
#[derive(Debug)]
pub(super) struct Flag {
    pub(super) name: &'static str,
    /// The key, such as `grace` or `launch.attempts`.
    pub(super) path: &'static str,
    pub(super) form: Form,
    pub(super) value: &'static str,
    pub(super) help: &'static str,
    pub(super) heading: &'static str,
    /// The kind of target that it belongs to, if to one.
    pub(super) target: Option<&'static str>,
    /// Whether it can be cleared.
    pub(super) is_optional: bool,
}

/// How a text becomes a value.
#[derive(Clone, Copy, Debug)]
pub(super) enum Form {
    /// As it is.
    Text,
    /// A whole number.
    Number,
    /// JSON.
    Json,
    /// Words, by commas or by repetition.
    List,
    /// `KEY=VALUE`, by repetition.
    Pairs,
    /// `30s`, or `30s around`.
    Jitter,
}

impl Form {
    pub(super) fn is_many(self) -> bool {
        matches!(self, Self::List | Self::Pairs)
    }
}

impl Flag {
    /// The value that it sets its key to. A number that is none stays text, for the one check of all keys to refuse.
    pub(super) fn value(&self, texts: &[String]) -> Result<Value, Failure> {
        let text = texts.last().map(String::as_str).unwrap_or_default();
        match self.form {
            Form::Text => Ok(json!(text)),
            Form::Number => Ok(text.parse::<i64>().map_or_else(|_| json!(text), |number| json!(number))),
            Form::Json => serde_json::from_str(text).map_err(|error| {
                let hint = r#"write an object such as `{"key": "value"}`, in single quotes for the shell"#;
                Failure::invalid(format!("--{}: this is not JSON: {error}", self.name), hint)
            }),
            Form::List => {
                let words = texts.iter().flat_map(|text| text.split(','));
                Ok(words.map(str::trim).filter(|word| !word.is_empty()).map(Value::from).collect())
            }
            Form::Pairs => {
                let mut pairs = Map::new();
                for text in texts {
                    let (key, value) = text.split_once('=').ok_or_else(|| {
                        let message = format!("--{}: `{text}` sets nothing", self.name);
                        Failure::invalid(message, "write it as `KEY=VALUE`")
                    })?;
                    pairs.insert(key.to_owned(), json!(value));
                }
                Ok(Value::Object(pairs))
            }
            Form::Jitter => Ok(match text.split_once(' ') {
                Some((max, mode)) => json!({"max": max, "mode": mode.trim()}),
                None => json!(text),
            }),
        }
    }
}

const fn flag(name: &'static str, path: &'static str, value: &'static str, help: &'static str) -> Flag {
    Flag { name, path, form: Form::Text, value, help, heading: "Fields", target: None, is_optional: true }
}

impl Flag {
    const fn of(mut self, form: Form) -> Self {
        self.form = form;
        self
    }

    const fn under(mut self, heading: &'static str) -> Self {
        self.heading = heading;
        self
    }

    /// A way to say when; one of them stays.
    const fn when(mut self) -> Self {
        self.heading = "When, one of";
        self.is_optional = false;
        self
    }

    const fn target(mut self, kind: &'static str) -> Self {
        self.heading = "Target, one of";
        self.target = Some(kind);
        self
    }
}

const LIMITS: &str = "Limits of when";
const POLICIES: &str = "Policies";

/// Every flag.
pub(super) const FLAGS: [Flag; 77] = [
    flag("cron", "cron", "EXPR", "A cron expression of five fields, or six with seconds first").when(),
    flag("schedule", "schedule", "TEXT", "Plain English, such as `every weekday at 9am`").when(),
    flag("every", "every", "INTERVAL", "An interval: `90s`, `5m`, `2h`, `1d`, `2 weeks`, `monthly`").when(),
    flag("at", "at", "TIME", "One instant: RFC 3339, or a local time in the zone").when(),
    flag("after", "after", "DELAY", "Once, this long from now").when(),
    flag("on", "on.schedule", "NAME", "After the runs of another schedule").when(),
    flag("on-outcome", "on.outcome", "END", "Which end of its runs counts: success, failure or finish")
        .under(LIMITS),
    flag("on-delay", "on.delay", "DELAY", "How long after it").under(LIMITS),
    flag(
        "timezone",
        "timezone",
        "ZONE",
        "The zone of local times, by its IANA name, or `local` [default: UTC]",
    )
    .under(LIMITS),
    flag("dialect", "dialect", "DIALECT", "How --cron is read: standard, posix or quartz").under(LIMITS),
    flag("anchor", "anchor", "ANCHOR", "What --every is reckoned from: fixed, last_start or last_finish")
        .under(LIMITS),
    flag("anchor-at", "anchor_at", "TIME", "The instant that --every is reckoned from, if not its creation")
        .under(LIMITS),
    flag("start-at", "start_at", "TIME", "No tick before this time").under(LIMITS),
    flag("end-at", "end_at", "TIME", "No tick after this time").under(LIMITS),
    flag("max-runs", "max_runs", "COUNT", "How many runs there are in all").of(Form::Number).under(LIMITS),
    flag("only-between", "only_between", "FROM-TO", "Only in this part of the day, such as 08:00-18:00")
        .under(LIMITS),
    flag("not-on", "not_on", "DAYS", "Not on these weekdays and calendars, by commas")
        .of(Form::List)
        .under(LIMITS),
    flag("quiet-hours", "quiet_hours", "NAMES", "Not in these quiet hours, by commas")
        .of(Form::List)
        .under(LIMITS),
    flag("dst-gap", "dst.gap", "RULE", "Times that the clock skips: shift or skip").under(LIMITS),
    flag("dst-fold", "dst.fold", "RULE", "Times that the clock repeats: first, last or both").under(LIMITS),
    flag("if-running", "if_running", "POLICY", "While a run is in flight: skip, allow, queue or cancel")
        .under(POLICIES),
    flag("catch-up", "catch_up", "POLICY", "Ticks that were missed: skip, run_once, run_all or spread")
        .under(POLICIES),
    flag("max-catch-up", "max_catch_up", "COUNT", "How many of them are made up")
        .of(Form::Number)
        .under(POLICIES),
    flag("missed-audit-max", "missed_audit_max", "COUNT", "How many of them have an audit event each")
        .of(Form::Number)
        .under(POLICIES),
    flag("grace", "grace", "TIME", "How late a tick may be and still run").under(POLICIES),
    flag("start-deadline", "start_deadline", "TIME", "A tick that cannot start within this is skipped")
        .under(POLICIES),
    flag("jitter", "jitter", "TIME", "How far ticks are moved: `30s`, or `30s around` for both sides")
        .of(Form::Jitter)
        .under(POLICIES),
    flag("retry-after", "retry_after", "TIME", "How long after a failed run it is tried again")
        .under(POLICIES),
    flag("run-timeout", "run_timeout", "TIME", "How long a run may take").under(POLICIES),
    flag(
        "max-consecutive-failures",
        "max_consecutive_failures",
        "COUNT",
        "Failures in a row that disable it; 0 for never",
    )
    .of(Form::Number)
    .under(POLICIES),
    flag("delivery", "delivery", "POLICY", "A run in doubt: at_least_once or at_most_once").under(POLICIES),
    flag("guard", "guard", "KEY", "At most one run with this key is outstanding, across schedules")
        .under(POLICIES),
    flag("lane", "lane", "KEY", "Schedules with the same lane take turns").under(POLICIES),
    flag("depends-on", "depends_on", "NAMES", "Schedules whose latest tick must have succeeded")
        .of(Form::List)
        .under(POLICIES),
    flag("depends-timeout", "depends_timeout", "TIME", "How long to wait for them").under(POLICIES),
    flag("launch-attempts", "launch.attempts", "COUNT", "How often a launch is tried")
        .of(Form::Number)
        .under(POLICIES),
    flag(
        "launch-delay",
        "launch.delay",
        "TIME",
        "The wait before the second attempt, doubled for each further one",
    )
    .under(POLICIES),
    flag(
        "circuit-breaker-threshold",
        "target.circuit_breaker.threshold",
        "COUNT",
        "Failures in a row after which its target is left alone [default: 5]",
    )
    .of(Form::Number)
    .under(POLICIES),
    flag(
        "circuit-breaker-reset-after",
        "target.circuit_breaker.reset_after",
        "TIME",
        "How long it is left alone before one run probes it [default: 5m]",
    )
    .under(POLICIES),
    flag(
        "target-name",
        "target.name",
        "NAME",
        "The name under which it shares a circuit breaker with others [default: its own]",
    )
    .under(POLICIES),
    flag("env", "target.env", "KEY=VALUE", "A variable of the program").of(Form::Pairs).target("process"),
    flag("cwd", "target.cwd", "FOLDER", "Where the program runs").target("process"),
    flag("user", "target.user", "USER", "Whom the program runs as, by name or number; only root can do it")
        .target("process"),
    flag("nice", "target.nice", "LEVEL", "How far it steps back for other programs, -20 to 19")
        .of(Form::Number)
        .target("process"),
    flag(
        "kill-after",
        "target.kill_after",
        "TIME",
        "How long it has to end when it is told to [default: 5s]",
    )
    .target("process"),
    flag("limit-memory", "target.limits.memory", "SIZE", "Address space that it may use, such as `512MiB`")
        .target("process"),
    flag("limit-cpu-seconds", "target.limits.cpu_seconds", "COUNT", "Processor time that it may use")
        .of(Form::Number)
        .target("process"),
    flag("limit-open-files", "target.limits.open_files", "COUNT", "Files that it may have open")
        .of(Form::Number)
        .target("process"),
    flag("limit-processes", "target.limits.processes", "COUNT", "Processes that its user may have")
        .of(Form::Number)
        .target("process"),
    flag("limit-file-size", "target.limits.file_size", "SIZE", "The largest file that it may write")
        .target("process"),
    flag("queue", "target.queue", "QUEUE", "A queue from which workers take runs [default: the worker type]")
        .target("queue"),
    flag("worker-type", "target.worker_type", "TYPE", "What kind of worker takes it").target("queue"),
    flag("prompt", "target.prompt", "TEXT", "What the worker is asked").target("queue"),
    flag("repo-url", "target.repo_url", "URL", "The repository that it works on").target("queue"),
    flag("branch", "target.branch", "BRANCH", "The branch of it [default: main]").target("queue"),
    flag("context", "target.context", "JSON", "What the worker should know").of(Form::Json).target("queue"),
    flag("config", "target.config", "JSON", "How the worker should work").of(Form::Json).target("queue"),
    flag("webhook", "target.url", "URL", "A web address that is sent each run").target("webhook"),
    flag(
        "method",
        "target.method",
        "METHOD",
        "How it is asked: GET, POST, PUT, PATCH or DELETE [default: POST]",
    )
    .target("webhook"),
    flag(
        "header",
        "target.headers",
        "KEY=VALUE",
        "A header of the request; `{{ run_id }}` and `${secret:NAME}` are filled in",
    )
    .of(Form::Pairs)
    .target("webhook"),
    flag("body", "target.body", "TEXT", "Its body, filled in as headers are [default: the run as JSON]")
        .target("webhook"),
    flag(
        "secret",
        "target.secret",
        "NAMES",
        "The secret that signs it; by commas while one replaces another",
    )
    .of(Form::List)
    .target("webhook"),
    flag(
        "cloud-events",
        "target.cloud_events",
        "MODE",
        "Whether it is a CloudEvent: off, binary or structured",
    )
    .target("webhook"),
    flag("timeout", "target.timeout", "TIME", "How long the request may take in all [default: 20s]")
        .target("webhook"),
    flag(
        "connect-timeout",
        "target.connect_timeout",
        "TIME",
        "How long its connection may take [default: 5s]",
    )
    .target("webhook"),
    flag("redirects", "target.redirects", "COUNT", "How many redirects are followed [default: 3]")
        .of(Form::Number)
        .target("webhook"),
    flag(
        "client-certificate",
        "target.client_certificate",
        "PEM",
        "The certificate that it shows, by reference",
    )
    .target("webhook"),
    flag("client-key", "target.client_key", "PEM", "The key of that certificate, by reference")
        .target("webhook"),
    flag(
        "ca-certificate",
        "target.ca_certificate",
        "PEM",
        "Authorities to trust beside those of the host, by reference",
    )
    .target("webhook"),
    flag("message", "target.message", "JSON", "A message, from this template")
        .of(Form::Json)
        .target("message"),
    flag("workflow", "target.workflow_id", "ID", "A workflow of the workflow store").target("workflow"),
    flag("workflow-version", "target.version", "VERSION", "Which version of it")
        .of(Form::Number)
        .target("workflow"),
    flag("payload", "payload", "JSON", "What its runs carry").of(Form::Json),
    flag("description", "description", "TEXT", "What it is for"),
    flag("tags", "tags", "TAGS", "Words to choose many schedules by, by commas").of(Form::List),
    flag("template", "template", "NAME", "The stored template that it begins with"),
    flag("set", "set", "KEY=VALUE", "What fills the template").of(Form::Pairs),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_of_a_schedule_has_a_flag() {
        let schema = punctual::declare::schema();
        let keys = schema["$defs"]["Schedule"]["properties"].as_object().expect("keys");
        // The first two are flags of their own, the targets are below, and the last is another name of one.
        let without = ["name", "enabled", "target", "quiet_hours_policy_id"];
        let own = keys.keys().filter(|key| !without.contains(&key.as_str())).cloned();
        let below = |part: &'static str, path: &'static str| {
            let keys = schema["$defs"][part]["properties"].as_object().expect("keys");
            keys.keys().map(move |key| format!("{path}.{key}"))
        };
        let parts = [("Breaker", "target.circuit_breaker"), ("ProcessLimits", "target.limits")];
        let parts = parts.into_iter().flat_map(|(part, path)| below(part, path));
        // The type is said by the others, and the program follows `--`.
        let variants = schema["$defs"]["TargetForm"]["oneOf"].as_array().expect("targets");
        let launched = |target: &&serde_json::Value| {
            ["process", "queue"].iter().any(|kind| target["properties"]["type"]["const"] == *kind)
        };
        let targets = variants.iter().filter(launched).flat_map(|target| {
            let keys = target["properties"].as_object().expect("keys").keys();
            keys.filter(|key| !["type", "argv"].contains(&key.as_str())).map(|key| format!("target.{key}"))
        });
        for key in own.chain(parts).chain(targets) {
            let has = |flag: &Flag| flag.path == key || flag.path.starts_with(&format!("{key}."));
            assert!(FLAGS.iter().any(has), "{key}");
        }
    }
}
