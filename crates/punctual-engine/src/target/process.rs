//! A program on this host: an argument vector, its run as JSON on standard input, a process group.

use std::os::unix::process::ExitStatusExt;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use punctual_plan::{Fence, Outcome, Process, run_key};
use punctual_store::Launchable;
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::AsyncWriteExt;
use tokio::process::{Child, Command};
use tokio::time::timeout;

use super::output::Tail;
use crate::{Cancel, Finished, Launch};

/// What of our own environment a program gets to see.
const INHERITED: &[&str] = &["PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "TZ", "TMPDIR"];

/// How long a program that was asked to end may take before it is killed.
const TERM_WAIT: Duration = Duration::from_secs(5);

/// How long output is still read after the program ended: a child of it may hold the stream open.
const OUTPUT_WAIT: Duration = Duration::from_millis(200);

/// What a run tells the program it launches.
struct Context {
    env: Vec<(&'static str, String)>,
    json: String,
    /// How long it may take.
    limit: Duration,
}

impl Context {
    /// Describes the run in the environment and as JSON.
    fn new(run: &Launchable, fence: Fence) -> Self {
        let definition = &run.definition;
        let key = run_key(definition.id, run.origin, &run.nonce, run.scheduled_for);
        let json = serde_json::json!({
            "schedule_id": definition.id.to_string(),
            "schedule_name": definition.name,
            "org_id": definition.owner.org_id,
            "user_id": definition.owner.user_id,
            "payload": definition.payload,
            "run_id": run.run.to_string(),
            "idempotency_key": key,
            "scheduled_for": run.scheduled_for.to_string(),
            "attempt": run.attempt,
            "fence": fence.0,
            "origin": run.origin.name(),
        });
        let env = vec![
            ("PUNCTUAL_SCHEDULE_ID", definition.id.to_string()),
            ("PUNCTUAL_SCHEDULE_NAME", definition.name.clone()),
            ("PUNCTUAL_RUN_ID", run.run.to_string()),
            ("PUNCTUAL_IDEMPOTENCY_KEY", key),
            ("PUNCTUAL_SCHEDULED_FOR", run.scheduled_for.to_string()),
            ("PUNCTUAL_ATTEMPT", run.attempt.to_string()),
        ];
        let limit = Duration::try_from(definition.policy.run_timeout).unwrap_or(Duration::MAX);
        Self { env, json: json.to_string(), limit }
    }
}

/// Runs the program to its end, until its time is up or until it is cancelled.
pub(crate) async fn run(program: &Process, launch: Launch) -> Finished {
    let context = Context::new(&launch.run, launch.fence);
    let mut child = match spawn(program, &context) {
        Ok(child) => child,
        Err(error) => return Finished::failed(format!("`{}`: {error}", program.argv.join(" "))),
    };
    launch.started.tell();
    let tail = Arc::new(Tail::shown_in(launch.output));
    let mut talk = tokio::spawn(talk(&mut child, context.json.clone(), Arc::clone(&tail)));
    let outcome = end(&mut child, context.limit, &launch.cancel).await;
    if timeout(OUTPUT_WAIT, &mut talk).await.is_err() {
        talk.abort();
    }
    Finished { outcome, output: tail.text().await }
}

fn spawn(process: &Process, context: &Context) -> std::io::Result<Child> {
    let (program, arguments) = process.argv.split_first().ok_or(std::io::ErrorKind::InvalidInput)?;
    let inherited = INHERITED.iter().filter_map(|name| Some((*name, std::env::var_os(name)?)));
    let mut command = Command::new(program);
    if let Some(cwd) = &process.cwd {
        command.current_dir(cwd);
    }
    command
        .args(arguments)
        .env_clear()
        .envs(inherited)
        .envs(&process.env)
        .envs(context.env.iter().map(|(name, value)| (*name, value)))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
}

/// Hands over the run and listens to what the program prints.
fn talk(child: &mut Child, json: String, tail: Arc<Tail>) -> impl Future<Output = ()> + Send + 'static {
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let tell = async move {
        if let Some(mut stdin) = stdin {
            // A program that does not read its input is free not to.
            let _ = stdin.write_all(json.as_bytes()).await;
        }
    };
    async move {
        let listen = async {
            if let (Some(stdout), Some(stderr)) = (stdout, stderr) {
                tokio::join!(tail.follow(stdout), tail.follow(stderr));
            }
        };
        tokio::join!(tell, listen);
    }
}

/// Waits for the program; when its time is up or it is cancelled, asks its whole group to end, then makes it.
async fn end(child: &mut Child, limit: Duration, cancel: &Cancel) -> Outcome {
    let early = tokio::select! {
        ended = child.wait() => return outcome(ended),
        () = tokio::time::sleep(limit) => Outcome::TimedOut,
        why = cancel.wanted() => Outcome::Cancelled { by: why.to_string() },
    };
    signal_group(child, Signal::TERM);
    if timeout(TERM_WAIT, child.wait()).await.is_err() {
        signal_group(child, Signal::KILL);
        // Nothing survives this signal; the wait collects what is left.
        let _ = child.wait().await;
    }
    early
}

fn signal_group(child: &Child, signal: Signal) {
    let group = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
    if let Some(group) = group {
        // A group that has ended meanwhile needs no signal.
        let _ = kill_process_group(group, signal);
    }
}

fn outcome(ended: std::io::Result<ExitStatus>) -> Outcome {
    match ended.map(|status| (status.code(), status.signal())) {
        Ok((Some(0), _)) => Outcome::Succeeded,
        Ok((Some(code), _)) => Outcome::Exited { code },
        Ok((None, Some(signal))) => Outcome::Signalled { signal },
        Ok((None, None)) | Err(_) => Outcome::InDoubt,
    }
}
