//! A server that is asked: over the socket beside its database, or over the network.

use std::path::Path;
use std::time::Duration;

use punctual::ask::{Call, Method};
use punctual::{Database, Failure, Identity, Kind};
use punctual_server::{Problem, Secret, status_of, token_file};
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, IF_MATCH};
use reqwest::{Client, RequestBuilder, Response, StatusCode, Url};
use serde::de::DeserializeOwned;

use crate::cli::schedule::TOLD;

/// A server that has not answered by then does not.
const ANSWER_WITHIN: Duration = Duration::from_secs(60);

/// Who asks.
enum Said {
    /// The owner of the files, who says for whom they act.
    Owner(Identity),
    /// Whoever has this token.
    Bearer(Option<Secret>),
}

/// A server.
pub(crate) struct Remote {
    client: Client,
    base: Url,
    said: Said,
}

impl Remote {
    /// The server that listens on a socket; none if nobody does.
    pub(super) fn over_socket(path: &Path) -> Option<Self> {
        // What a killed server left behind refuses; whoever may not open it opens the database instead.
        std::os::unix::net::UnixStream::connect(path).ok()?;
        let client = Client::builder().unix_socket(path).no_proxy().timeout(ANSWER_WITHIN).build().ok()?;
        let base = Url::parse("http://localhost/api/v1").expect("a plain address");
        Some(Self { client, base, said: Said::Owner(Identity::from_env().ok()?) })
    }

    /// The server at an address. Without `PUNCTUAL_TOKEN`, the token of the database on this host is tried.
    pub(super) fn over_network(url: &str, database: &Database) -> Result<Self, Failure> {
        let base = Url::parse(&format!("{}/api/v1", url.trim_end_matches('/')))
            .ok()
            .filter(|base| matches!(base.scheme(), "http" | "https") && base.has_host());
        let base = base.ok_or_else(|| {
            Failure::invalid(format!("`{url}` is no server"), "write it as `http://127.0.0.1:7424`")
        })?;
        let client = Client::builder().timeout(ANSWER_WITHIN).build();
        let client = client.map_err(|error| Failure::world(error.to_string()))?;
        let set = std::env::var("PUNCTUAL_TOKEN").ok().filter(|token| !token.is_empty());
        let token = match set {
            Some(token) => Some(Secret::from(token)),
            None => Secret::read(&token_file(database)?)?,
        };
        Ok(Self { client, base, said: Said::Bearer(token) })
    }

    /// Where it is.
    pub(super) fn url(&self) -> &str {
        self.base.as_str().trim_end_matches("/api/v1")
    }

    /// Sends a call and reads its answer.
    pub(super) async fn send<T: DeserializeOwned>(&self, call: &Call) -> Result<T, Failure> {
        let response = self.request(call)?.send().await.map_err(|error| self.unreachable(&error))?;
        let status = response.status();
        if !status.is_success() {
            return Err(refused(status, response).await);
        }
        let bytes = response.bytes().await.map_err(|error| self.unreachable(&error))?;
        serde_json::from_slice(&bytes).map_err(|error| Failure {
            kind: Kind::World,
            message: format!("the answer of `{}` cannot be read: {error}", self.url()),
            hint: Some("the server may be of another version".to_owned()),
        })
    }

    fn request(&self, call: &Call) -> Result<RequestBuilder, Failure> {
        let method = match call.method {
            Method::Get => reqwest::Method::GET,
            Method::Post => reqwest::Method::POST,
            Method::Patch => reqwest::Method::PATCH,
            Method::Delete => reqwest::Method::DELETE,
        };
        let mut url = Url::parse(&format!("{}{}", self.base, call.path))
            .map_err(|error| Failure::world(format!("`{}` is no path: {error}", call.path)))?;
        if !call.query.is_empty() {
            url.query_pairs_mut().extend_pairs(&call.query);
        }
        let mut request = self.client.request(method, url);
        match &self.said {
            Said::Owner(identity) => {
                request = request.header("punctual-org", &identity.org_id);
                if let Some(user) = &identity.user_id {
                    request = request.header("punctual-user", user);
                }
            }
            Said::Bearer(Some(token)) => {
                request = request.header(AUTHORIZATION, format!("Bearer {}", token.show()));
            }
            Said::Bearer(None) => {}
        }
        if let Some(key) = &call.key {
            request = request.header("idempotency-key", format!("\"{key}\""));
        }
        if let Some(trace) = super::trace() {
            request = request.header("traceparent", trace.to_string());
        }
        if let Some(version) = call.version {
            request = request.header(IF_MATCH, format!("\"{version}\""));
        }
        Ok(match &call.body {
            Some(body) => request.header(CONTENT_TYPE, "application/json").body(body.to_string()),
            None => request,
        })
    }

    fn unreachable(&self, error: &reqwest::Error) -> Failure {
        let mut cause: &dyn std::error::Error = error;
        while let Some(deeper) = cause.source() {
            cause = deeper;
        }
        Failure {
            kind: Kind::World,
            message: format!("the server at `{}` does not answer: {cause}", self.url()),
            hint: Some("is `punctual serve` running there, and is `--server` its address?".to_owned()),
        }
    }
}

/// What the server said instead of an answer.
async fn refused(status: StatusCode, response: Response) -> Failure {
    let said = response.bytes().await.unwrap_or_default();
    let Ok(problem) = serde_json::from_slice::<Problem>(&said) else {
        let text = String::from_utf8_lossy(&said);
        return Failure::world(format!("the server answers {status}: {}", text.trim()));
    };
    let known = Kind::ALL.into_iter().find(|kind| status_of(*kind).code == problem.code);
    let kind = known.unwrap_or(match status {
        StatusCode::UNAUTHORIZED => Kind::Forbidden,
        _ if status.is_client_error() => Kind::Invalid,
        _ => Kind::World,
    });
    Failure { kind, message: retold(&problem.detail), hint: problem.hint.as_deref().map(retold) }
}

/// A message whose keys are told by their flags, as a command that opens the database does.
fn retold(text: &str) -> String {
    let line = |line: &str| match line.split_once(": ") {
        Some((key, rest)) if is_key(key) => format!("{}: {rest}", TOLD(key)),
        _ => match line.strip_prefix("error: ").and_then(|line| line.split_once(": ")) {
            Some((key, rest)) if is_key(key) => format!("error: {}: {rest}", TOLD(key)),
            _ => line.to_owned(),
        },
    };
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

fn is_key(text: &str) -> bool {
    !text.is_empty()
        && text.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'_' | b'.'))
        && TOLD(text) != text
}
