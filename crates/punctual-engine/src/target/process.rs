//! A program on this host: an argument vector, its run as JSON on standard input, a process group.
//!
//! [`run`] tells the story; `spawn` starts it, `leader` awaits its end, `output` keeps what it prints.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::PipeReader;
use std::process::Child;
use std::sync::Arc;
use std::time::Duration;

use punctual_plan::{Process, ProcessLimits};
use tokio::io::AsyncWriteExt;
use tokio::net::unix::pipe::Receiver;
use tokio::process::ChildStdin;
use tokio::time::timeout;

use super::host::Identity;
use super::leader::{Leader, Patience};
use super::output::Kept;
use super::redact::Redactor;
use super::spawn::{Order, spawn};
use super::{Context, Wires};
use crate::Finished;

/// What of our own environment a program gets to see.
const INHERITED: &[&str] = &["PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "TZ", "TMPDIR"];

/// How long output is still read after the program ended: something that left its group may hold the stream open.
const OUTPUT_WAIT: Duration = Duration::from_secs(1);

/// How much of a command its failure repeats.
const COMMAND_BYTES_MAX: usize = 500;

/// A program with everything it is given.
#[derive(Clone, Debug)]
pub(crate) struct Job {
    order: Order,
    stdin: String,
    /// Values that its output must not show.
    hidden: Vec<String>,
    patience: Patience,
}

/// The variables of a program, references resolved.
#[derive(Clone, Debug, Default)]
pub(crate) struct Variables {
    pub(crate) values: BTreeMap<String, String>,
    pub(crate) hidden: Vec<String>,
}

impl Job {
    /// A schedule's program: it sees what is named and little else.
    ///
    /// # Errors
    /// When it shall run as somebody whom this service cannot become.
    pub(crate) fn of_target(process: &Process, context: &Context, own: Variables) -> Result<Self, String> {
        let identity = process.user.as_deref().map(Identity::find).transpose()?.flatten();
        let inherited = INHERITED.iter().filter_map(|name| Some(((*name).into(), std::env::var_os(name)?)));
        let mut env: BTreeMap<OsString, OsString> = inherited.collect();
        if let Some(identity) = &identity {
            for (name, value) in [
                ("HOME", &identity.home),
                ("USER", &identity.name),
                ("LOGNAME", &identity.name),
                ("SHELL", &identity.shell),
            ] {
                env.insert(name.into(), value.into());
            }
        }
        env.extend(own.values.iter().map(|(name, value)| (name.into(), value.into())));
        env.extend(context.variables().into_iter().map(|(name, value)| (name.into(), value.into())));
        let order = Order {
            argv: process.argv.clone(),
            env: env.into_iter().collect(),
            cwd: process.cwd.clone(),
            identity,
            nice: process.nice,
            limits: process.limits,
            until: context.until(),
        };
        let kill_after = Duration::try_from(process.kill_after).unwrap_or_default();
        Ok(Self::new(order, context, kill_after, own.hidden))
    }

    /// A worker's command: it sees what its worker sees.
    pub(crate) fn of_worker(argv: &[String], context: &Context, kill_after: Duration) -> Self {
        let mut env: BTreeMap<OsString, OsString> = std::env::vars_os().collect();
        env.extend(context.variables().into_iter().map(|(name, value)| (name.into(), value.into())));
        let order = Order {
            argv: argv.to_vec(),
            env: env.into_iter().collect(),
            cwd: None,
            identity: None,
            nice: None,
            limits: ProcessLimits::default(),
            until: context.until(),
        };
        Self::new(order, context, kill_after, Vec::new())
    }

    /// The same with something else on its standard input than the run.
    pub(crate) fn told(self, stdin: String) -> Self {
        Self { stdin, ..self }
    }

    fn new(order: Order, context: &Context, kill_after: Duration, hidden: Vec<String>) -> Self {
        let limit = Duration::try_from(context.schedule.policy.run_timeout).unwrap_or(Duration::MAX);
        let stdin = context.json().to_string();
        Self { order, stdin, hidden, patience: Patience { limit, kill_after } }
    }
}

/// Runs a program to its end, until its time is up, or until somebody wants it to end.
pub(crate) async fn run(job: Job, wires: Wires) -> Finished {
    let Job { order, stdin, hidden, patience } = job;
    let redactor = Redactor::new(&hidden);
    let mut command = order.argv.join(" ");
    command.truncate(command.floor_char_boundary(COMMAND_BYTES_MAX));
    let failed = |error: std::io::Error| Finished::failed(redactor.text(&format!("`{command}`: {error}")));
    let spawned = match spawn(order).await {
        Ok(spawned) => spawned,
        Err(error) => return failed(error),
    };
    let mut leader = match Leader::new(spawned.child) {
        Ok(leader) => leader,
        Err(error) => return failed(error),
    };
    let kept = Arc::new(Kept::shown_in(wires.output));
    let talk = Talk { stdin, kept: Arc::clone(&kept), redactor: redactor.clone() };
    let mut talk = match talk.begin(leader.child(), spawned.output) {
        Ok(talk) => tokio::spawn(talk),
        Err(error) => {
            leader.kill();
            return failed(error);
        }
    };
    wires.started.tell();
    let outcome = leader.end(patience, &wires.cancel).await;
    if timeout(OUTPUT_WAIT, &mut talk).await.is_err() {
        talk.abort();
        // The task is gone before its last words are read.
        let _ = talk.await;
    }
    Finished { outcome, output: kept.text() }
}

/// What is said to a program and heard of it.
struct Talk {
    stdin: String,
    kept: Arc<Kept>,
    redactor: Redactor,
}

impl Talk {
    /// Hands over the run and listens to what the program prints.
    fn begin(
        self,
        child: &mut Child,
        output: PipeReader,
    ) -> std::io::Result<impl Future<Output = ()> + Send + 'static> {
        let stdin = child.stdin.take().map(ChildStdin::from_std).transpose()?;
        let output = Receiver::from_owned_fd(output.into())?;
        let Self { stdin: text, kept, redactor } = self;
        Ok(async move {
            let tell = async {
                if let Some(mut stdin) = stdin {
                    // A program that does not read its input is free not to.
                    let _ = stdin.write_all(text.as_bytes()).await;
                }
            };
            tokio::join!(tell, kept.follow(output, redactor));
        })
    }
}
