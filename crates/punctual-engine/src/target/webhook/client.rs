//! Clients: one for each identity, so that connections are used again and never by somebody else.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use reqwest::dns::Resolve;
use reqwest::redirect::Policy;
use reqwest::{Certificate, Client};

use super::Reach;
use super::fill::Identity;
use super::resolve::{Guarded, HostNames};

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
}

impl Clients {
    /// Clients that reach what they may.
    pub(super) fn new(reach: Reach) -> Self {
        Self { made: Mutex::default(), names: Arc::new(HostNames), reach: Arc::new(reach) }
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

    fn make(&self, line: &Line) -> Result<Client, String> {
        let guarded = Guarded { names: Arc::clone(&self.names), reach: Arc::clone(&self.reach) };
        let mut builder = Client::builder()
            // What the environment says about proxies would lead past every check of addresses.
            .no_proxy()
            .redirect(Policy::none())
            .dns_resolver(Arc::new(guarded))
            .connect_timeout(line.connect_timeout)
            .pool_max_idle_per_host(IDLE_PER_HOST_MAX)
            .pool_idle_timeout(IDLE_FOR)
            .http1_max_headers(HEADERS_MAX)
            .referer(false);
        let Identity { certificate, key, authorities } = &line.identity;
        if let Some(authorities) = authorities {
            let read = Certificate::from_pem_bundle(authorities.as_bytes());
            let read = read.map_err(|error| format!("`ca_certificate` cannot be read: {}", why(&error)))?;
            if read.is_empty() {
                return Err("`ca_certificate` holds no certificate".to_owned());
            }
            builder = builder.tls_certs_merge(read);
        }
        if let (Some(certificate), Some(key)) = (certificate, key) {
            let both = format!("{certificate}\n{key}\n");
            let read = reqwest::Identity::from_pem(both.as_bytes());
            let read = read.map_err(|error| {
                format!("`client_certificate` and `client_key` cannot be read: {}", why(&error))
            })?;
            builder = builder.identity(read);
        }
        builder.build().map_err(|error| format!("cannot prepare a connection: {}", why(&error)))
    }
}

/// The innermost of what went wrong, which says most.
pub(super) fn why(error: &dyn std::error::Error) -> String {
    let mut inner = error;
    while let Some(source) = inner.source() {
        inner = source;
    }
    inner.to_string()
}
