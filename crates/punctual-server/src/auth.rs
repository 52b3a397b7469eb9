//! Who asks: a token over TCP, the owner of the files over the local socket.

use aws_lc_rs::constant_time::verify_slices_are_equal;
use axum::extract::{FromRequestParts, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use punctual_app::{App, Identity, name};
use punctual_plan::Trace;

use crate::problem::Problem;
use crate::shared::{Metered, Shared};
use crate::token::hash_of;

/// The header in which the owner of the files says for which org they act.
const ORG: &str = "punctual-org";

/// The header in which they say as whom.
const USER: &str = "punctual-user";

/// Where requests come in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// Over the network: a token tells who asks.
    Network,
    /// Over the socket that only the owner of the database's files can open: who could write into the files themselves.
    Socket,
}

/// Lets those in who may; what they may see goes with the request.
pub(crate) async fn guard(State(shared): State<Shared>, mut request: Request, next: Next) -> Response {
    let entry = request.extensions().get::<Entry>().copied().unwrap_or(Entry::Network);
    if request.uri().path() == "/metrics" && shared.metered() == Metered::Open {
        return next.run(request).await;
    }
    let app = match entry {
        Entry::Network => by_token(&shared, request.headers()).await,
        Entry::Socket => on_host(&shared, request.headers()).await,
    };
    match app {
        Ok(app) => {
            let app = app.within(trace_of(request.headers()));
            request.extensions_mut().insert(app);
            next.run(request).await
        }
        Err(problem) => problem.into_response(),
    }
}

/// The trace that a request belongs to. What is no trace is left out, as the W3C asks for.
fn trace_of(headers: &HeaderMap) -> Option<Trace> {
    headers.get("traceparent")?.to_str().ok()?.trim().parse().ok()
}

async fn by_token(shared: &Shared, headers: &HeaderMap) -> Result<App, Problem> {
    let said = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let Some(said) = said else { return Err(Problem::unauthorized("no token was sent")) };
    let token = said.split_once(' ').filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
    let Some((_, token)) = token else {
        return Err(Problem::unauthorized("`Authorization` is not a bearer"));
    };
    let hash = hash_of(token.trim());
    // The database is asked by the hash, which tells nothing about a token that is only nearly right; that what it found
    // is the same is checked without a hint in the time it takes.
    match shared.token(&hash).await? {
        Some((org, token)) if verify_slices_are_equal(token.hash.as_bytes(), hash.as_bytes()).is_ok() => {
            Ok(shared.app_over_http(org, &token))
        }
        _ => Err(Problem::unauthorized("this token is not one of this server, or is not good any more")),
    }
}

async fn on_host(shared: &Shared, headers: &HeaderMap) -> Result<App, Problem> {
    let said = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
    let identity = Identity { org_id: said(ORG).unwrap_or(Identity::default().org_id), user_id: said(USER) };
    if let Some(problem) = name::org_problem(&identity.org_id) {
        return Err(Problem::malformed(format!("`{ORG}`: {problem}"), "choose a short name, such as `acme`"));
    }
    Ok(shared.app_on_host(identity).await?)
}

/// The ledger as the one who asks may see it.
pub(crate) struct Caller(pub(crate) App);

impl<S: Sync> FromRequestParts<S> for Caller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let app = parts.extensions.get::<App>().cloned();
        app.map(Self).ok_or_else(|| Problem::unauthorized("nobody has said who asks"))
    }
}
