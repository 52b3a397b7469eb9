//! Targets: where a run goes. Each has one verb, `run`, and gives back how it ended.
//!
//! [`HostTargets`] chooses among them; [`Program`] has closures only. `process` runs a program, `webhook` sends a
//! request, `callback` calls a closure of this program; what goes to a queue is taken from it by a `queue::Worker`.
//! `secret` fills in what definitions only refer to.

mod callback;
mod context;
mod host;
mod leader;
mod output;
mod process;
mod program;
mod queue;
mod redact;
mod secret;
mod spawn;
mod turnstile;
mod vault;
mod webhook;
mod workflow;

use std::sync::Arc;

use punctual_plan::{Action, Executor, Fence, Outcome, Process, Workflow};
use punctual_store::{AttemptToken, Launchable, Store};

use crate::{Cancel, Clock, Finished, Launch, Launched, LiveOutput, OnEnd, OnStart, SystemClock, Targets};

pub use callback::{CallbackError, Callbacks};
pub use context::Context;
pub use host::{PROGRAMS_MAX, TooFewFiles, allow_open_files};
pub use program::Program;
pub use queue::{Worked, Worker, WorkerSettings};
pub use vault::{Label, SECRET_BYTES_MAX, Vault, VaultError};
pub use webhook::{BadProxy, BadReach, BadRequest, Proxy, Reach, check_header, check_text, check_url};
pub use workflow::STARTED_BY_KEY;

use process::Job;
use secret::Secrets;
use webhook::{Post, Webhooks};
use workflow::Workflows;

/// What connects an attempt with those who watch it.
pub(crate) struct Wires {
    pub(crate) started: OnStart,
    pub(crate) ended: OnEnd,
    pub(crate) cancel: Cancel,
    pub(crate) output: LiveOutput,
}

/// An attempt that is about to be handed over.
struct Attempted<'a> {
    run: &'a Launchable,
    context: &'a Context,
    fence: Fence,
}

/// The targets that this host reaches: programs on it, web addresses, and closures of this program.
#[derive(Debug)]
pub struct HostTargets<S> {
    secrets: Secrets<S>,
    callbacks: Callbacks,
    webhooks: Webhooks,
    workflows: Workflows<S>,
}

impl<S: Store> HostTargets<S> {
    /// Programs of this host, whose secrets are in a store, sealed by a vault.
    pub fn new(store: Arc<S>, vault: Vault) -> Self {
        let (webhooks, workflows) = (Webhooks::new(Reach::default()), Workflows::new(Arc::clone(&store)));
        Self { secrets: Secrets::new(store, vault), callbacks: Callbacks::new(), webhooks, workflows }
    }

    /// Web requests may also go to these addresses from now on; to public ones they always may. With a proxy, they go
    /// through it, and to the same addresses.
    pub fn reach(&self, reach: Reach, proxy: Option<Proxy>) {
        self.webhooks.reach(reach, proxy);
    }

    /// Who executes workflows from now on that do not say who does.
    pub fn execute_by(&self, executor: Option<Executor>) {
        self.workflows.execute_by(executor);
    }

    /// The same with closures that schedules may call.
    #[must_use]
    pub fn with(self, callbacks: Callbacks) -> Self {
        Self { callbacks, ..self }
    }

    /// Runs a program to its end.
    async fn run(&self, program: &Process, attempt: Attempted<'_>, wires: Wires) -> Finished {
        match self.job(program, attempt.run, attempt.context).await {
            Ok(job) => process::run(job, wires).await,
            Err(why) => Finished::failed(why),
        }
    }

    /// Hands the DAG of a workflow to whoever executes it.
    async fn start(&self, workflow: &Workflow, attempt: Attempted<'_>, wires: Wires) -> Launched {
        let Attempted { run, context, fence } = attempt;
        let order = match self.workflows.order(workflow, run.org, context).await {
            Ok(order) => order,
            Err(finished) => return finished.into(),
        };
        match &order.executor {
            Executor::Process(program) => match self.job(program, run, context).await {
                Ok(job) => process::run(job.told(order.body.to_string()), wires).await.into(),
                Err(why) => Finished::failed(why).into(),
            },
            Executor::Webhook(webhook) => {
                let post = Post { webhook, run, context, fence, body: Some(&order.body) };
                self.webhooks.run(post, &self.secrets, wires).await
            }
        }
    }

    /// A program with everything it is given; what is missing is said by its reference.
    async fn job(&self, program: &Process, run: &Launchable, context: &Context) -> Result<Job, String> {
        let variables = self.secrets.fill(run, &program.env).await?;
        Job::of_target(program, context, variables)
    }
}

impl<S: Store> Targets for HostTargets<S> {
    /// A closure that this program does not have is another program's, which keeps its tasks in the same database.
    fn takes(&self, action: &Action) -> bool {
        !matches!(action, Action::Callback { task } if !self.callbacks.has(task))
    }

    async fn launch(&self, launch: Launch) -> Launched {
        let Launch { run, fence, started, ended, cancel, output } = launch;
        let context = Context::new(&run, AttemptToken::Node(fence), SystemClock.now());
        let wires = Wires { started, ended, cancel, output };
        // What needs much room while it goes on is boxed: a closure, of which there may be very many, does not pay for it.
        let finished = match &run.definition.target.action {
            Action::Process(program) => {
                let attempt = Attempted { run: &run, context: &context, fence };
                Box::pin(self.run(program, attempt, wires)).await
            }
            Action::Webhook(webhook) => {
                let post = Post { webhook, run: &run, context: &context, fence, body: None };
                return Box::pin(self.webhooks.run(post, &self.secrets, wires)).await;
            }
            Action::Callback { task } => self.callbacks.run(task, context, wires).await,
            // The admission has written it: there is nothing left to do, and nothing that can fail.
            Action::Message { .. } => {
                wires.started.tell();
                Finished::of(Outcome::Succeeded)
            }
            Action::Workflow(workflow) => {
                let attempt = Attempted { run: &run, context: &context, fence };
                return Box::pin(self.start(workflow, attempt, wires)).await;
            }
            other => Finished::failed(format!("this version cannot launch a {}", other.kind())),
        };
        finished.into()
    }
}
