//! Web requests: a run is sent to a receiver, signed, and the answer says what became of it.
//!
//! [`Webhooks::run`] tells the story: `fill` and `request` make the request, `send` sends it within `reach` (checked by
//! `resolve` on the very addresses that are connected to), `answer` judges what came back.

mod answer;
mod check;
mod client;
mod fill;
mod proxy;
mod reach;
mod request;
mod resolve;
mod send;
mod sign;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jiff::SignedDuration;
use punctual_plan::{Fence, Outcome, REDIRECTS_MAX, RunKey, Webhook};
use punctual_store::{Begun, Commit, Entrusted, Launchable, Scope, Store};
use tokio::time::{Instant, sleep};
use tracing::{error, info};

use super::redact::Redactor;
use super::secret::Secrets;
use super::{Context, Wires};
use crate::{Clock, Finished, Launched, SystemClock, Why};

use answer::{Heard, judge};
use client::Clients;
use fill::{Filled, Filling};
use request::{Prepared, Telling};
use send::Errand;

pub use check::{BadRequest, check_header, check_text, check_url};
pub use proxy::{BadProxy, Proxy};
pub use reach::{BadReach, Reach};

/// How long it is tried to write down that a receiver has taken a run; later its report would find nobody.
const NOTE_FOR: Duration = Duration::from_secs(60);

/// How soon it is tried again.
const NOTE_AGAIN: Duration = Duration::from_millis(500);

/// The web requests of a node.
pub(crate) struct Webhooks {
    clients: Mutex<Arc<Clients>>,
}

/// One attempt that goes out as a web request.
pub(crate) struct Post<'a> {
    pub(crate) webhook: &'a Webhook,
    pub(crate) run: &'a Launchable,
    pub(crate) context: &'a Context,
    pub(crate) fence: Fence,
    /// What is sent instead of the run, unless the target has a body of its own.
    pub(crate) body: Option<&'a serde_json::Value>,
}

impl std::fmt::Debug for Webhooks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Webhooks").field("reach", &self.clients().reach).finish_non_exhaustive()
    }
}

impl Webhooks {
    /// Requests that reach what they may.
    pub(crate) fn new(reach: Reach) -> Self {
        Self { clients: Mutex::new(Arc::new(Clients::new(reach, None))) }
    }

    /// Requests reach something else from now on, or by another way. Connections that are open belong to those who
    /// began with them.
    pub(crate) fn reach(&self, reach: Reach, proxy: Option<Proxy>) {
        *self.clients.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(Clients::new(reach, proxy));
    }

    fn clients(&self) -> Arc<Clients> {
        Arc::clone(&self.clients.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Sends a run and hears what becomes of it, until its time is up or somebody wants it to end.
    pub(crate) async fn run<S: Store>(&self, post: Post<'_>, secrets: &Secrets<S>, wires: Wires) -> Launched {
        let token = match token(&post, secrets.store()).await {
            Ok(token) => token,
            Err(finished) => return finished.into(),
        };
        let (prepared, redactor) = match prepare(&post, secrets, &token).await {
            Ok(ready) => ready,
            Err(why) => return Finished::failed(why).into(),
        };
        wires.started.tell();
        let clients = self.clients();
        let errand = Errand {
            clients: &clients,
            prepared,
            connect_timeout: length(post.webhook.connect_timeout),
            timeout: length(post.webhook.timeout),
            redirects: post.webhook.redirects.min(REDIRECTS_MAX),
        };
        let sent = tokio::select! {
            biased;
            sent = errand.run() => sent,
            why = wires.cancel.wanted() => return Finished::cancelled(&why).into(),
            () = sleep(length(post.context.schedule.policy.run_timeout)) => {
                return Finished::of(Outcome::TimedOut).into();
            }
        };
        match judge(sent, &redactor, SystemClock.now()) {
            Heard::Ended(finished) => finished.into(),
            Heard::Accepted { executor_run_id } => {
                let begun = Begun { run: post.run.run, token, executor_run_id, at: SystemClock.now() };
                note(secrets.store(), begun).await
            }
        }
    }
}

/// The token of an attempt. Whoever is quick may report before it has answered: its token is known before it hears it,
/// from the admission. One that was admitted without gets it here.
async fn token<S: Store>(post: &Post<'_>, store: &S) -> Result<String, Finished> {
    if let Some(token) = &post.run.token {
        return Ok(token.clone());
    }
    let token = uuid::Uuid::new_v4().simple().to_string();
    let entrusted = Entrusted { run: post.run.run, attempt: post.run.attempt, token: token.clone() };
    match store.entrust(post.fence, entrusted).await {
        Ok(Commit::Done) => Ok(token),
        Ok(Commit::Stale) => Err(Finished::cancelled(&Why::Ended)),
        Err(error) => Err(Finished::failed(error.to_string())),
    }
}

/// Puts the request of an attempt together, and what hides its secrets.
async fn prepare<S: Store>(
    post: &Post<'_>,
    secrets: &Secrets<S>,
    token: &str,
) -> Result<(Prepared, Redactor), String> {
    let facts = post.context.json();
    let filling = Filling { secrets, run: post.run, facts: &facts, hidden: vec![token.to_owned()] };
    let filled: Filled = filling.fill(post.webhook).await?;
    let redactor = Redactor::new(&filled.hidden);
    let now = SystemClock.now();
    let told = post.body.unwrap_or(&facts);
    let telling = Telling { webhook: post.webhook, context: post.context, facts: told, token, now };
    let prepared = telling.prepare(filled).map_err(|why| redactor.text(&why))?;
    Ok((prepared, redactor))
}

/// Writes down that a receiver has taken a run, until the database has heard it.
async fn note<S: Store>(store: &S, begun: Begun) -> Launched {
    let (run, give_up_at) = (begun.run, Instant::now() + NOTE_FOR);
    loop {
        match store.begin(Scope::Engine, begun.clone()).await {
            Ok(Commit::Done) => {
                info!(%run, executor = begun.executor_run_id, status = "running", "taken, and to be reported");
                return Launched::Entrusted;
            }
            // It has been reported already, or was ended meanwhile.
            Ok(Commit::Stale) => return Launched::Entrusted,
            Err(problem) if Instant::now() < give_up_at => {
                error!(%run, %problem, "cannot note that a run was taken, trying again");
                sleep(NOTE_AGAIN).await;
            }
            Err(problem) => return unheard(run, &problem.to_string()),
        }
    }
}

/// A run that was taken, which nobody knows: it is in doubt.
fn unheard(run: RunKey, problem: &str) -> Launched {
    error!(%run, problem, "nobody will know that the run was taken");
    Finished::of(Outcome::InDoubt).into()
}

fn length(length: SignedDuration) -> Duration {
    Duration::try_from(length).unwrap_or(Duration::MAX)
}
