//! Where runs go, as it is written; `kind` reads it.

use std::collections::BTreeMap;

use jiff::SignedDuration;
use punctual_plan::{
    Action, BreakerRule, Executor, KILL_AFTER, Object, Process, ProcessLimits, Queue, Target, Workflow,
};
use serde::{Deserialize, Serialize};

use super::webhook::WrittenWebhook;
use super::{Unreadable, millis};

#[derive(Serialize)]
pub(super) struct Written {
    pub(super) name: String,
    pub(super) threshold: u32,
    pub(super) reset_after_ms: i64,
    #[serde(flatten)]
    pub(super) action: WrittenAction,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum WrittenAction {
    Process(WrittenProcess),
    Webhook(WrittenWebhook),
    Queue(WrittenQueue),
    Message(WrittenMessage),
    Workflow(WrittenWorkflow),
    Callback(WrittenCallback),
}

#[derive(Serialize, Deserialize)]
pub(super) struct WrittenQueue {
    queue: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    worker_type: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    prompt: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    repo_url: Option<String>,
    branch: String,
    context: Object,
    config: Object,
}

#[derive(Serialize, Deserialize)]
pub(super) struct WrittenMessage {
    message: Object,
}

#[derive(Serialize, Deserialize)]
pub(super) struct WrittenWorkflow {
    workflow_id: String,
    version: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    executor: Option<Box<WrittenAction>>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct WrittenCallback {
    task: String,
}

/// What is default is left out.
#[derive(Serialize, Deserialize)]
pub(super) struct WrittenProcess {
    argv: Vec<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    env: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cwd: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    user: Option<String>,
    #[serde(default, skip_serializing_if = "WrittenLimits::is_empty")]
    limits: WrittenLimits,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    nice: Option<i8>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    kill_after_ms: Option<i64>,
}

#[derive(Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct WrittenLimits {
    #[serde(skip_serializing_if = "Option::is_none")]
    memory: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cpu_seconds: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    open_files: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    processes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file_size: Option<u64>,
}

impl WrittenLimits {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl WrittenProcess {
    fn of(process: Process) -> Self {
        let ProcessLimits { memory, cpu_seconds, open_files, processes, file_size } = process.limits;
        Self {
            argv: process.argv,
            env: process.env,
            cwd: process.cwd,
            user: process.user,
            limits: WrittenLimits { memory, cpu_seconds, open_files, processes, file_size },
            nice: process.nice,
            kill_after_ms: (process.kill_after != KILL_AFTER).then(|| millis(process.kill_after)),
        }
    }

    fn read(self) -> Process {
        let WrittenLimits { memory, cpu_seconds, open_files, processes, file_size } = self.limits;
        Process {
            argv: self.argv,
            env: self.env,
            cwd: self.cwd,
            user: self.user,
            limits: ProcessLimits { memory, cpu_seconds, open_files, processes, file_size },
            nice: self.nice,
            kill_after: self.kill_after_ms.map_or(KILL_AFTER, SignedDuration::from_millis),
        }
    }
}

impl Written {
    pub(super) fn of(target: &Target) -> Self {
        Self {
            name: target.name.clone(),
            threshold: target.breaker.threshold,
            reset_after_ms: millis(target.breaker.reset_after),
            action: WrittenAction::of(&target.action),
        }
    }

    pub(super) fn read(self) -> Result<Target, Unreadable> {
        let reset_after = SignedDuration::from_millis(self.reset_after_ms);
        let breaker = BreakerRule { threshold: self.threshold, reset_after };
        Ok(Target { name: self.name, action: self.action.read()?, breaker })
    }
}

impl WrittenAction {
    fn of(action: &Action) -> Self {
        match action.clone() {
            Action::Process(process) => Self::Process(WrittenProcess::of(process)),
            Action::Webhook(webhook) => Self::Webhook(WrittenWebhook::of(webhook)),
            Action::Queue(Queue { queue, worker_type, prompt, repo_url, branch, context, config }) => {
                Self::Queue(WrittenQueue { queue, worker_type, prompt, repo_url, branch, context, config })
            }
            Action::Message { message } => Self::Message(WrittenMessage { message }),
            Action::Workflow(Workflow { workflow_id, version, executor }) => {
                let executor = executor.map(|executor| match executor {
                    Executor::Process(process) => Action::Process(process),
                    Executor::Webhook(webhook) => Action::Webhook(webhook),
                });
                let executor = executor.map(|action| Box::new(Self::of(&action)));
                Self::Workflow(WrittenWorkflow { workflow_id, version, executor })
            }
            Action::Callback { task } => Self::Callback(WrittenCallback { task }),
            // The enum is open to later versions of the crate, which is built together with this one.
            other => unreachable!("a {} has no written form", other.kind()),
        }
    }

    fn read(self) -> Result<Action, Unreadable> {
        Ok(match self {
            Self::Process(process) => Action::Process(process.read()),
            Self::Webhook(webhook) => Action::Webhook(webhook.read()?),
            Self::Queue(written) => {
                let WrittenQueue { queue, worker_type, prompt, repo_url, branch, context, config } = written;
                Action::Queue(Queue { queue, worker_type, prompt, repo_url, branch, context, config })
            }
            Self::Message(WrittenMessage { message }) => Action::Message { message },
            Self::Workflow(WrittenWorkflow { workflow_id, version, executor }) => {
                let executor = executor.map(|written| read_executor(*written)).transpose()?;
                Action::Workflow(Workflow { workflow_id, version, executor })
            }
            Self::Callback(WrittenCallback { task }) => Action::Callback { task },
        })
    }
}

fn read_executor(written: WrittenAction) -> Result<Executor, Unreadable> {
    match written.read()? {
        Action::Process(process) => Ok(Executor::Process(process)),
        Action::Webhook(webhook) => Ok(Executor::Webhook(webhook)),
        other => Err(Unreadable(format!("a {} cannot execute workflows", other.kind()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Action {
        serde_json::from_str::<WrittenAction>(text).expect("it can be read").read().expect("it is known")
    }

    fn check(action: &Action, expected: &str) {
        let text = serde_json::to_string(&WrittenAction::of(action)).expect("it can be written");
        assert_eq!(text, expected);
        assert_eq!(read(&text), *action);
    }

    #[test]
    fn a_workflow_reads_back_with_its_executor() {
        let mut workflow = Workflow::new("report", 3);
        let plain = r#"{"type":"workflow","workflow_id":"report","version":3}"#;
        check(&Action::Workflow(workflow.clone()), plain);
        workflow.executor = Some(Executor::Process(Process::new(["dag"])));
        let own = r#"{"type":"workflow","workflow_id":"report","version":3,"executor":{"type":"process","argv":["dag"]}}"#;
        check(&Action::Workflow(workflow), own);
    }

    #[test]
    fn a_program_reads_back_as_it_was_and_what_is_default_is_left_out() {
        let mut process = Process::new(["report"]);
        check(&Action::Process(process.clone()), r#"{"type":"process","argv":["report"]}"#);
        process.user = Some("nobody".to_owned());
        process.limits = ProcessLimits {
            memory: Some(1),
            cpu_seconds: Some(2),
            open_files: Some(3),
            processes: Some(4),
            file_size: Some(5),
        };
        process.nice = Some(-5);
        process.kill_after = SignedDuration::from_secs(20);
        check(
            &Action::Process(process),
            r#"{"type":"process","argv":["report"],"user":"nobody","limits":{"memory":1,"cpu_seconds":2,"open_files":3,"processes":4,"file_size":5},"nice":-5,"kill_after_ms":20000}"#,
        );
    }

    #[test]
    fn a_web_request_reads_back_as_it_was_and_what_is_default_is_left_out() {
        let mut webhook = punctual_plan::Webhook::new("https://example.com");
        let plain = r#"{"type":"webhook","url":"https://example.com","method":"POST","cloud_events":"off"}"#;
        check(&Action::Webhook(webhook.clone()), plain);
        webhook.method = punctual_plan::Method::Put;
        webhook.headers.insert("x-team".to_owned(), "data".to_owned());
        webhook.body = Some("{{ run_id }}".to_owned());
        webhook.secrets = vec!["new".to_owned(), "old".to_owned()];
        webhook.cloud_events = punctual_plan::CloudEvents::Binary;
        webhook.timeout = SignedDuration::from_secs(3);
        webhook.connect_timeout = SignedDuration::from_millis(500);
        webhook.redirects = 0;
        webhook.client_certificate = Some("c".to_owned());
        webhook.client_key = Some("k".to_owned());
        webhook.ca_certificate = Some("a".to_owned());
        check(
            &Action::Webhook(webhook),
            r#"{"type":"webhook","url":"https://example.com","method":"PUT","headers":{"x-team":"data"},"body":"{{ run_id }}","secrets":["new","old"],"cloud_events":"binary","timeout_ms":3000,"connect_timeout_ms":500,"redirects":0,"client_certificate":"c","client_key":"k","ca_certificate":"a"}"#,
        );
        let one = r#"{"type":"webhook","url":"u","method":"POST","secret":"key","cloud_events":"off"}"#;
        let Action::Webhook(read) = read(one) else { panic!("a web request") };
        assert_eq!(read.secrets, ["key"], "as it was written before a target could have several");
    }
}
