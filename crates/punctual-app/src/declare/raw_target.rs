//! Targets as people write them.

use std::collections::BTreeMap;

use punctual_plan::{CloudEvents, Method};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::raw_word::{DurationText, SizeText, UserWord, Words};
use super::word::Word;

/// The name of a target, or one of its own.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum TargetChoice {
    /// The name of one of `targets`.
    Name(String),
    /// Its own.
    Own(Box<TargetForm>),
}

/// When a failing target is left alone.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Breaker {
    /// Failures in a row that open it; 5 without it.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub(super) threshold: Option<u32>,
    /// How long it stays open before one run probes; `5m` without it.
    pub(super) reset_after: Option<DurationText>,
}

/// Where runs go.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum TargetForm {
    /// Runs a program.
    Process(Process),
    /// Sends a web request.
    Webhook(Webhook),
    /// Leaves it for a worker.
    Queue(Queue),
    /// Writes a message.
    Message(Message),
    /// Starts a workflow.
    Workflow(Workflow),
}

impl TargetForm {
    /// When it is left alone, if it says so.
    pub(super) fn breaker(&self) -> Option<&Breaker> {
        let breaker = match self {
            TargetForm::Process(raw) => &raw.circuit_breaker,
            TargetForm::Webhook(raw) => &raw.circuit_breaker,
            TargetForm::Queue(raw) => &raw.circuit_breaker,
            TargetForm::Message(raw) => &raw.circuit_breaker,
            TargetForm::Workflow(raw) => &raw.circuit_breaker,
        };
        breaker.as_ref()
    }

    /// The name that it says, if it does.
    pub(super) fn name(&self) -> Option<&str> {
        let name = match self {
            TargetForm::Process(raw) => &raw.name,
            TargetForm::Webhook(raw) => &raw.name,
            TargetForm::Queue(raw) => &raw.name,
            TargetForm::Message(raw) => &raw.name,
            TargetForm::Workflow(raw) => &raw.name,
        };
        name.as_deref()
    }
}

/// Runs a program.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Process {
    /// The program and its arguments; no shell reads them.
    #[schemars(length(min = 1))]
    pub(super) argv: Vec<String>,
    /// Variables beside the few that it always has; `${secret:NAME}`, `${env:NAME}` and `${file:PATH}` are filled in.
    pub(super) env: Option<BTreeMap<String, String>>,
    /// The folder it runs in.
    pub(super) cwd: Option<String>,
    /// Whom it runs as, by name or number; only a service that runs as root can do it.
    pub(super) user: Option<UserWord>,
    /// What it may use of the host.
    pub(super) limits: Option<ProcessLimits>,
    /// How far it steps back for other programs.
    #[schemars(range(min = -20, max = 19))]
    pub(super) nice: Option<i8>,
    /// How long it has to end after SIGTERM before it is killed; `5s` without it.
    pub(super) kill_after: Option<DurationText>,
    /// When it is left alone.
    pub(super) circuit_breaker: Option<Breaker>,
    /// Under which name its circuit breaker is shared; that of its schedule without it.
    pub(super) name: Option<String>,
}

/// What a program may use.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct ProcessLimits {
    /// Address space.
    pub(super) memory: Option<SizeText>,
    /// Seconds of processor time.
    #[schemars(range(min = 1))]
    pub(super) cpu_seconds: Option<u64>,
    /// Files open at once.
    #[schemars(range(min = 4))]
    pub(super) open_files: Option<u64>,
    /// Processes of its user at once; root is not bound by it.
    #[schemars(range(min = 1))]
    pub(super) processes: Option<u64>,
    /// The largest file it may write.
    pub(super) file_size: Option<SizeText>,
}

/// Sends a web request.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Webhook {
    /// Where to: `https://…` or `http://…`; `${secret:NAME}`, `${env:NAME}` and `${file:PATH}` are filled in.
    pub(super) url: String,
    /// The method; `POST` without it.
    pub(super) method: Option<Word<Method>>,
    /// Headers on top of the usual ones; references and values of the run such as `{{ run_id }}` are filled in.
    pub(super) headers: Option<BTreeMap<String, String>>,
    /// A body of its own instead of the run as JSON; filled in as headers are.
    pub(super) body: Option<String>,
    /// The name of the secret that signs it, or several while one replaces another; or a reference.
    pub(super) secret: Option<Words>,
    /// Whether it is a CloudEvent; `off` without it.
    pub(super) cloud_events: Option<Word<CloudEvents>>,
    /// How long it may take in all, redirects and answer included; `20s` without it.
    pub(super) timeout: Option<DurationText>,
    /// How long a connection may take to be made; `5s` without it.
    pub(super) connect_timeout: Option<DurationText>,
    /// How many redirects are followed; 3 without it.
    #[schemars(range(min = 0, max = 10))]
    pub(super) redirects: Option<u32>,
    /// The certificate that it shows, as PEM or a reference.
    pub(super) client_certificate: Option<String>,
    /// The key of that certificate, as a reference.
    pub(super) client_key: Option<String>,
    /// Certificates of authorities to trust beside those of the host, as PEM or a reference.
    pub(super) ca_certificate: Option<String>,
    /// When it is left alone.
    pub(super) circuit_breaker: Option<Breaker>,
    /// Under which name its circuit breaker is shared; that of its schedule without it.
    pub(super) name: Option<String>,
}

/// Leaves it for a worker.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Queue {
    /// The queue.
    pub(super) queue: String,
    /// What kind of worker takes it.
    pub(super) worker_type: Option<String>,
    /// What the worker is asked.
    pub(super) prompt: Option<String>,
    /// The repository it works on.
    pub(super) repo_url: Option<String>,
    /// The branch of it; `main` without it.
    pub(super) branch: Option<String>,
    /// What the worker should know.
    pub(super) context: Option<Map<String, Value>>,
    /// How the worker should work.
    pub(super) config: Option<Map<String, Value>>,
    /// When it is left alone.
    pub(super) circuit_breaker: Option<Breaker>,
    /// Under which name its circuit breaker is shared; that of its schedule without it.
    pub(super) name: Option<String>,
}

/// Writes a message.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Message {
    /// The template of the message.
    pub(super) message: Map<String, Value>,
    /// When it is left alone.
    pub(super) circuit_breaker: Option<Breaker>,
    /// Under which name its circuit breaker is shared; that of its schedule without it.
    pub(super) name: Option<String>,
}

/// Starts a workflow.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Workflow {
    /// Which.
    pub(super) workflow_id: String,
    /// Which version of it.
    #[schemars(range(min = 1))]
    pub(super) version: u64,
    /// Who executes it: a web address, a program with its arguments, or either with more about it; the installation's
    /// `workflow_executor` without it.
    pub(super) executor: Option<ExecutorChoice>,
    /// When it is left alone.
    pub(super) circuit_breaker: Option<Breaker>,
    /// Under which name its circuit breaker is shared; that of its schedule without it.
    pub(super) name: Option<String>,
}

/// Who executes a workflow.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum ExecutorChoice {
    /// A web address, or a program without arguments.
    Word(String),
    /// A program and its arguments.
    Argv(Vec<String>),
    /// With everything about it.
    Own(Box<ExecutorForm>),
}

/// Who executes a workflow, with everything about it: a program or a service.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct ExecutorForm {
    /// The program and its arguments; it gets the DAG on its standard input.
    pub(super) argv: Option<Vec<String>>,
    /// Variables of the program, as for a process.
    pub(super) env: Option<BTreeMap<String, String>>,
    /// The folder the program runs in.
    pub(super) cwd: Option<String>,
    /// The service: `https://…` or `http://…`; it gets the DAG as the body of a request.
    pub(super) url: Option<String>,
    /// Headers of the request on top of the usual ones.
    pub(super) headers: Option<BTreeMap<String, String>>,
    /// The name of the secret that signs the request.
    pub(super) secret: Option<String>,
}
