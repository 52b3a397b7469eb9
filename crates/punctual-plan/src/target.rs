//! Targets as data: where a run goes and what it takes along.

use std::collections::BTreeMap;

use jiff::SignedDuration;
use serde_json::{Map, Value};

use crate::BreakerRule;
use crate::limit::{CONNECT_TIMEOUT, KILL_AFTER, REDIRECTS_DEFAULT, WEBHOOK_TIMEOUT};
use crate::name::named;

/// A JSON object.
pub type Object = Map<String, Value>;

/// Where runs go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Its own name, or that of the schedule that has it to itself: the key of its circuit breaker.
    pub name: String,
    /// What it does.
    pub action: Action,
    /// When it is left alone.
    pub breaker: BreakerRule,
}

/// What a target does.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Action {
    /// Runs a program.
    Process(Process),
    /// Sends a web request.
    Webhook(Webhook),
    /// Leaves it for a worker.
    Queue(Queue),
    /// Writes a message.
    Message {
        /// Its template.
        message: Object,
    },
    /// Starts a workflow of the workflow store.
    Workflow(Workflow),
    /// Calls a closure of the embedding program.
    Callback {
        /// The task's identifier.
        task: String,
    },
}

impl Action {
    /// The public name of its kind.
    ///
    /// ```
    /// use punctual_plan::{Action, Process};
    ///
    /// assert_eq!(Action::Process(Process::new(["true"])).kind(), "process");
    /// ```
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Process(_) => "process",
            Self::Webhook(_) => "webhook",
            Self::Queue(_) => "queue",
            Self::Message { .. } => "message",
            Self::Workflow(_) => "workflow",
            Self::Callback { .. } => "callback",
        }
    }
}

/// A program on this host; never a shell string.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    /// The program and its arguments; never empty.
    pub argv: Vec<String>,
    /// Variables on top of those that every run has; a value may hold references (see [`crate::Template`]).
    pub env: BTreeMap<String, String>,
    /// Where it runs.
    pub cwd: Option<String>,
    /// Whom it runs as, by name or number; as the service itself, if none.
    pub user: Option<String>,
    /// What it may use of the host.
    pub limits: ProcessLimits,
    /// How far it steps back for others: from -20, which needs a privilege, to 19.
    pub nice: Option<i8>,
    /// How long it has to end after it was asked to, before it is killed.
    pub kill_after: SignedDuration,
}

impl Default for Process {
    fn default() -> Self {
        Self {
            argv: Vec::new(),
            env: BTreeMap::new(),
            cwd: None,
            user: None,
            limits: ProcessLimits::default(),
            nice: None,
            kill_after: KILL_AFTER,
        }
    }
}

/// What a program may use; what is not set is as the service has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProcessLimits {
    /// Bytes of address space.
    pub memory: Option<u64>,
    /// Seconds of processor time.
    pub cpu_seconds: Option<u64>,
    /// Files open at once.
    pub open_files: Option<u64>,
    /// Processes of its user at once.
    pub processes: Option<u64>,
    /// Bytes of any file that it writes.
    pub file_size: Option<u64>,
}

impl Process {
    /// A program with its arguments, nothing else named.
    pub fn new<T: Into<String>>(argv: impl IntoIterator<Item = T>) -> Self {
        Self { argv: argv.into_iter().map(Into::into).collect(), ..Self::default() }
    }
}

/// An HTTP request. Its address, headers, body, certificates and key may hold references (see [`crate::Template`]),
/// its headers and body also values of the run (see [`crate::Stencil`]).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Webhook {
    /// Where to.
    pub url: String,
    /// How.
    pub method: Method,
    /// Headers on top of the usual ones.
    pub headers: BTreeMap<String, String>,
    /// A body of its own.
    pub body: Option<String>,
    /// Secrets that sign it, by name or reference: the newest first, each makes a signature of its own.
    pub secrets: Vec<String>,
    /// Whether it is a CloudEvent.
    pub cloud_events: CloudEvents,
    /// How long it may take from its start to the end of the answer, redirects included.
    pub timeout: SignedDuration,
    /// How long a connection may take to be made.
    pub connect_timeout: SignedDuration,
    /// How many redirects are followed.
    pub redirects: u32,
    /// The certificate that it shows, as PEM.
    pub client_certificate: Option<String>,
    /// The key of that certificate, as PEM.
    pub client_key: Option<String>,
    /// Certificates of authorities that are trusted beside those of the host, as PEM.
    pub ca_certificate: Option<String>,
}

impl Webhook {
    /// A request to an address, nothing else named.
    ///
    /// ```
    /// use punctual_plan::{Method, Webhook};
    ///
    /// let hook = Webhook::new("https://example.com/hook");
    /// assert_eq!((hook.method, hook.timeout.as_secs()), (Method::Post, 20));
    /// ```
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            method: Method::default(),
            headers: BTreeMap::new(),
            body: None,
            secrets: Vec::new(),
            cloud_events: CloudEvents::default(),
            timeout: WEBHOOK_TIMEOUT,
            connect_timeout: CONNECT_TIMEOUT,
            redirects: REDIRECTS_DEFAULT,
            client_certificate: None,
            client_key: None,
            ca_certificate: None,
        }
    }
}

/// A workflow of the workflow store: its DAG is handed to an executor, never executed here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workflow {
    /// Which.
    pub workflow_id: String,
    /// Which version of it.
    pub version: u32,
    /// Who executes it; that of the installation, if none.
    pub executor: Option<Executor>,
}

impl Workflow {
    /// A version of a workflow, executed by whoever executes those of the installation.
    pub fn new(workflow_id: impl Into<String>, version: u32) -> Self {
        Self { workflow_id: workflow_id.into(), version, executor: None }
    }

    /// The name of its document in the workflow store.
    ///
    /// ```
    /// assert_eq!(punctual_plan::Workflow::new("report", 3).document(), "report@3");
    /// ```
    pub fn document(&self) -> String {
        format!("{}@{}", self.workflow_id, self.version)
    }
}

/// Who executes workflows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Executor {
    /// A program, which gets the DAG on its standard input.
    Process(Process),
    /// A service, which gets it as the body of a request.
    Webhook(Webhook),
}

/// A queue from which workers take runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Queue {
    /// Which queue.
    pub queue: String,
    /// What kind of worker.
    pub worker_type: Option<String>,
    /// What it is asked.
    pub prompt: Option<String>,
    /// The repository it works on.
    pub repo_url: Option<String>,
    /// The branch of it.
    pub branch: String,
    /// What it should know.
    pub context: Object,
    /// How it should work.
    pub config: Object,
}

named! {
    /// The method of a web request.
    #[derive(Default)]
    Method {
        /// GET.
        Get = "GET",
        /// POST.
        #[default]
        Post = "POST",
        /// PUT.
        Put = "PUT",
        /// PATCH.
        Patch = "PATCH",
        /// DELETE.
        Delete = "DELETE",
    }
}

named! {
    /// Whether a web request is a CloudEvent.
    #[derive(Default)]
    CloudEvents {
        /// It is none.
        #[default]
        Off = "off",
        /// The attributes are headers.
        Binary = "binary",
        /// The body holds the attributes and the data.
        Structured = "structured",
    }
}
