//! Clients: one for each identity, so that connections are used again and never by somebody else.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use reqwest::dns::{Name, Resolve};
use reqwest::redirect::Policy;
use reqwest::{Certificate, Client, ClientBuilder, Url};
use tokio::sync::OnceCell;

use super::Reach;
use super::fill::Identity;
use super::proxy::{Proxy, Relay};
use super::resolve::{Guarded, HostNames, OutOfReach, check_literal};

/// Clients that are kept; beyond that all are made anew.
const CLIENTS_MAX: usize = 256;

/// Idle connections that are kept to one host.
const IDLE_PER_HOST_MAX: usize = 32;

/// How long an idle connection is kept.
const IDLE_FOR: Duration = Duration::from_secs(60);

/// Header lines that an answer may have.
const HEADERS_MAX: usize = 100;

/// What a client is made for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Line {
    pub(super) identity: Identity,
    pub(super) connect_timeout: Duration,
}

/// The clients of a node.
pub(super) struct Clients {
    made: Mutex<HashMap<Line, Client>>,
    names: Arc<dyn Resolve>,
    pub(super) reach: Arc<Reach>,
    proxy: Option<Proxy>,
    /// What leads to the proxy, once it was needed.
    relay: OnceCell<Relay>,
}

impl Clients {
    /// Clients that reach what they may.
    pub(super) fn new(reach: Reach, proxy: Option<Proxy>) -> Self {
        Self {
            made: Mutex::default(),
            names: Arc::new(HostNames),
            reach: Arc::new(reach),
            proxy,
            relay: OnceCell::new(),
        }
    }

    fn guarded(&self) -> Guarded {
        Guarded { names: Arc::clone(&self.names), reach: Arc::clone(&self.reach) }
    }

    /// Checks where a request would go, and sees to it that there is a way, if requests go through a proxy. Without one,
    /// a name is looked up and checked when it is connected to; behind one, that is done again there.
    ///
    /// # Errors
    /// When it would go out of reach, or there is no way.
    pub(super) async fn lead(&self, url: &Url) -> Result<(), NoWay> {
        check_literal(&self.reach, url).map_err(NoWay::OutOfReach)?;
        let Some(proxy) = &self.proxy else { return Ok(()) };
        if let Some(name) = url.domain().and_then(|name| name.parse::<Name>().ok()) {
            let found = self.guarded().resolve(name).await.map(drop);
            found.map_err(|error| match error.downcast::<OutOfReach>() {
                Ok(out) => NoWay::OutOfReach(*out),
                Err(other) => NoWay::Other(other.to_string()),
            })?;
        }
        let start = || Relay::start(proxy.clone(), self.guarded());
        let started = self.relay.get_or_try_init(start).await;
        started.map(drop).map_err(|error| NoWay::Other(format!("no way to the proxy: {error}")))
    }

    /// The client of an identity.
    ///
    /// # Errors
    /// When its certificate or key cannot be used; never with a value.
    pub(super) fn get(&self, line: &Line) -> Result<Client, String> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = made.get(line) {
            return Ok(client.clone());
        }
        let client = self.make(line)?;
        if made.len() >= CLIENTS_MAX {
            made.clear();
        }
        made.insert(line.clone(), client.clone());
        Ok(client)
    }

    /// Makes a client; on a host that has no authorities at all, one that trusts only those that are named.
    fn make(&self, line: &Line) -> Result<Client, String> {
        let failed = |error: &reqwest::Error| format!("cannot prepare a connection: {}", why(error));
        match self.builder(line, Trust::Host)?.build() {
            Ok(client) => Ok(client),
            Err(problem) => {
                let named = self.builder(line, Trust::Named)?.build().map_err(|error| failed(&error))?;
                tracing::warn!(
                    problem = why(&problem),
                    "web requests trust no authority but those that they name"
                );
                Ok(named)
            }
        }
    }

    fn builder(&self, line: &Line, trust: Trust) -> Result<ClientBuilder, String> {
        let mut builder = Client::builder()
            // What the environment says about proxies would lead past every check of addresses.
            .no_proxy()
            .redirect(Policy::none())
            .dns_resolver(Arc::new(self.guarded()))
            .connect_timeout(line.connect_timeout)
            .pool_max_idle_per_host(IDLE_PER_HOST_MAX)
            .pool_idle_timeout(IDLE_FOR)
            .http1_max_headers(HEADERS_MAX)
            .referer(false);
        if let Some(relay) = self.relay.get() {
            let through = reqwest::Proxy::all(relay.url());
            builder =
                builder.proxy(through.map_err(|error| format!("no way to the proxy: {}", why(&error)))?);
        }
        let authorities = authorities(line.identity.authorities.as_deref())?;
        builder = match trust {
            Trust::Host => builder.tls_certs_merge(authorities),
            Trust::Named => builder.tls_certs_only(authorities),
        };
        if let (Some(certificate), Some(key)) = (&line.identity.certificate, &line.identity.key) {
            let both = format!("{certificate}\n{key}\n");
            let read = reqwest::Identity::from_pem(both.as_bytes());
            let read = read.map_err(|error| {
                format!("`client_certificate` and `client_key` cannot be read: {}", why(&error))
            })?;
            builder = builder.identity(read);
        }
        Ok(builder)
    }
}

/// Why a request cannot go anywhere.
pub(super) enum NoWay {
    /// It would go out of reach.
    OutOfReach(OutOfReach),
    /// Something else is in the way.
    Other(String),
}

/// Whose certificates are believed.
#[derive(Clone, Copy)]
enum Trust {
    /// Those of the host, and those that are named.
    Host,
    /// Those that are named.
    Named,
}

fn authorities(text: Option<&str>) -> Result<Vec<Certificate>, String> {
    let Some(text) = text else { return Ok(Vec::new()) };
    let read = Certificate::from_pem_bundle(text.as_bytes());
    let read = read.map_err(|error| format!("`ca_certificate` cannot be read: {}", why(&error)))?;
    if read.is_empty() { Err("`ca_certificate` holds no certificate".to_owned()) } else { Ok(read) }
}

/// The innermost of what went wrong, which says most.
pub(super) fn why(error: &dyn std::error::Error) -> String {
    let mut inner = error;
    while let Some(source) = inner.source() {
        inner = source;
    }
    inner.to_string()
}
