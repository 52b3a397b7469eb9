//! What all requests share: the open ledger, the node that serves it, who is known, and how much is under way.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::extract::{Request, State};
use axum::http::Method;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use jiff::Timestamp;
use punctual_app::declare::Defaults;
use punctual_app::{App, Door, Failure, Identity, Programs};
use punctual_engine::{Metrics, Pulse};
use punctual_plan::OrgKey;
use punctual_store::{AnyStore, Scope, Store, Token};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

use crate::problem::Problem;

/// A request that takes longer is given up.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);

/// Requests under way at once; the next one is refused.
const REQUESTS_MAX: usize = 1_024;

/// Streams that are open at once; the next one is refused.
const STREAMS_MAX: usize = 256;

/// A token that was taken back is still good for this long: so often the database is asked about each.
const TOKEN_FRESH: Duration = Duration::from_secs(2);

/// Tokens and orgs that are remembered; what comes later is asked for each time.
const REMEMBERED_MAX: usize = 10_000;

/// Who may read the metrics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Metered {
    /// Whoever has a token.
    #[default]
    Token,
    /// Anybody who reaches the server.
    Open,
}

/// How a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Waited {
    /// It is time to look again.
    Over,
    /// The server stops: whoever waits is answered with what there is.
    Stopping,
}

/// How a server behaves.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Programs that schedules may run which are made over HTTP.
    pub programs: Vec<String>,
    /// Who may read the metrics.
    pub metrics: Metered,
    /// What schedules are that do not say.
    pub defaults: Defaults,
}

/// What all requests share.
#[derive(Clone)]
pub struct Shared(Arc<Inside>);

struct Inside {
    store: Arc<AnyStore>,
    pulse: Arc<Pulse>,
    metrics: Arc<Metrics>,
    settings: Settings,
    programs: Arc<[String]>,
    places: Semaphore,
    streams: Arc<Semaphore>,
    tokens: Mutex<HashMap<String, Known>>,
    orgs: Mutex<HashMap<String, OrgKey>>,
    stopping: watch::Sender<bool>,
}

/// A token that was asked for.
#[derive(Clone)]
struct Known {
    org: OrgKey,
    token: Token,
    asked_at: Instant,
}

impl Shared {
    /// What the requests to a node share.
    pub fn new(store: Arc<AnyStore>, node: (Arc<Pulse>, Arc<Metrics>), settings: Settings) -> Self {
        let (pulse, metrics) = node;
        Self(Arc::new(Inside {
            store,
            pulse,
            metrics,
            programs: settings.programs.clone().into(),
            settings,
            places: Semaphore::new(REQUESTS_MAX),
            streams: Arc::new(Semaphore::new(STREAMS_MAX)),
            tokens: Mutex::default(),
            orgs: Mutex::default(),
            stopping: watch::Sender::new(false),
        }))
    }

    /// The open ledger.
    pub(crate) fn store(&self) -> &AnyStore {
        &self.0.store
    }

    /// The node.
    pub(crate) fn pulse(&self) -> &Pulse {
        &self.0.pulse
    }

    /// A place among the streams that are open, if there is one.
    pub(crate) fn stream_place(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.0.streams).try_acquire_owned().ok()
    }

    /// Lets every request that waits for something answer at once: the server stops.
    pub(crate) fn stop(&self) {
        self.0.stopping.send_replace(true);
    }

    /// Waits for this, but not longer than so long, nor for a server that stops; whether it does.
    pub(crate) async fn wait(&self, at_most: Duration, event: impl Future<Output = ()>) -> Waited {
        let mut stopping = self.0.stopping.subscribe();
        tokio::select! {
            biased;
            // The sender is kept beside this, so it never goes away.
            _ = stopping.wait_for(|stopping| *stopping) => Waited::Stopping,
            _ = tokio::time::timeout(at_most, event) => Waited::Over,
        }
    }

    /// What the node has counted.
    pub(crate) fn metrics(&self) -> &Metrics {
        &self.0.metrics
    }

    /// Who may read that.
    pub(crate) fn metered(&self) -> Metered {
        self.0.settings.metrics
    }

    /// The ledger as somebody sees it who came with a token.
    pub(crate) fn app_over_http(&self, org: OrgKey, token: &Token) -> App {
        let user = token.user.clone();
        let scope = Scope::Org { org, user: user.clone() };
        let identity = Identity { org_id: self.org_id(org), user_id: user };
        let programs = Programs::Only(Arc::clone(&self.0.programs));
        App::on(Arc::clone(&self.0.store), scope, identity).through(self.door("the API", programs))
    }

    /// The ledger as somebody sees it who could open the database as well.
    pub(crate) async fn app_on_host(&self, identity: Identity) -> Result<App, Failure> {
        let known = self.0.orgs.lock().unwrap_or_else(PoisonError::into_inner).get(&identity.org_id).copied();
        let org = match known {
            Some(org) => org,
            None => self.learn(&identity.org_id).await?,
        };
        let scope = Scope::Org { org, user: identity.user_id.clone() };
        let door = self.door("the command line", Programs::Any);
        Ok(App::on(Arc::clone(&self.0.store), scope, identity).through(door))
    }

    /// The key of an org, which is made when it is first used.
    pub(crate) async fn learn(&self, org_id: &str) -> Result<OrgKey, Failure> {
        let org = self.0.store.org(Scope::Engine, org_id.to_owned()).await?;
        let mut orgs = self.0.orgs.lock().unwrap_or_else(PoisonError::into_inner);
        if orgs.len() < REMEMBERED_MAX {
            orgs.insert(org_id.to_owned(), org);
        }
        Ok(org)
    }

    /// What somebody of an org may see and change.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn scope_of(&self, identity: &Identity) -> Result<Scope, Failure> {
        Ok(Scope::Org { org: self.learn(&identity.org_id).await?, user: identity.user_id.clone() })
    }

    /// The public name of an org, as far as it is known.
    fn org_id(&self, org: OrgKey) -> String {
        let orgs = self.0.orgs.lock().unwrap_or_else(PoisonError::into_inner);
        orgs.iter().find(|(_, key)| **key == org).map(|(name, _)| name.clone()).unwrap_or_default()
    }

    fn door(&self, actor: &'static str, programs: Programs) -> Door {
        Door { actor, told: str::to_owned, programs, defaults: Some(self.0.settings.defaults) }
    }

    /// Whose token has this hash, if it is good now.
    pub(crate) async fn token(&self, hash: &str) -> Result<Option<(OrgKey, Token)>, Failure> {
        let known = self.0.tokens.lock().unwrap_or_else(PoisonError::into_inner).get(hash).cloned();
        let known = match known.filter(|known| known.asked_at.elapsed() < TOKEN_FRESH) {
            Some(known) => known,
            None => {
                let Some((org, token)) = self.0.store.token(hash.to_owned()).await? else { return Ok(None) };
                let known = Known { org, token, asked_at: Instant::now() };
                let mut tokens = self.0.tokens.lock().unwrap_or_else(PoisonError::into_inner);
                if tokens.len() < REMEMBERED_MAX || tokens.contains_key(hash) {
                    tokens.insert(hash.to_owned(), known.clone());
                }
                known
            }
        };
        let now = Timestamp::now();
        let is_over = known.token.revoked_at.is_some() || known.token.expires_at.is_some_and(|at| at <= now);
        Ok((!is_over).then_some((known.org, known.token)))
    }
}

/// Bounds how much is under way and how long, and wakes the node after a change.
pub(crate) async fn bounded(State(shared): State<Shared>, request: Request, next: Next) -> Response {
    let Ok(_place) = shared.0.places.try_acquire() else { return Problem::busy().into_response() };
    let is_write = !matches!(*request.method(), Method::GET | Method::HEAD | Method::OPTIONS);
    let Ok(response) = tokio::time::timeout(REQUEST_TIMEOUT, next.run(request)).await else {
        return Problem::timeout().into_response();
    };
    if is_write && response.status().is_success() {
        shared.pulse().wake();
    }
    response
}
