//! What did not work, as RFC 9457 wants it said: one table from kinds of failures to statuses and stable codes.

use std::any::Any;

use axum::http::{HeaderValue, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use punctual_app::{Failure, Kind};
use serde::{Deserialize, Serialize};
use utoipa::{IntoResponses, ToSchema};

/// The status and the code of a kind of failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status {
    /// The status of HTTP.
    pub status: StatusCode,
    /// The code, which stays the same.
    pub code: &'static str,
    /// What it means, in a few words.
    pub title: &'static str,
}

const fn status(status: StatusCode, code: &'static str, title: &'static str) -> Status {
    Status { status, code, title }
}

/// The status of a kind of failure.
pub fn status_of(kind: Kind) -> Status {
    match kind {
        Kind::World => {
            status(StatusCode::SERVICE_UNAVAILABLE, "unavailable", "the database or the system failed")
        }
        Kind::NotFound => status(StatusCode::NOT_FOUND, "not_found", "there is no such thing"),
        Kind::Invalid => status(StatusCode::UNPROCESSABLE_ENTITY, "invalid", "this cannot be meant"),
        Kind::Conflict => {
            status(StatusCode::CONFLICT, "conflict", "it exists already, or is in another state")
        }
        Kind::InUse => status(StatusCode::CONFLICT, "in_use", "another process has it"),
        Kind::Fault => status(StatusCode::INTERNAL_SERVER_ERROR, "fault", "something is not as it must be"),
        Kind::Stale => status(StatusCode::PRECONDITION_FAILED, "stale", "it is in another version by now"),
        Kind::Forbidden => status(StatusCode::FORBIDDEN, "forbidden", "this may not be done here"),
    }
}

/// What did not work: `application/problem+json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Problem {
    /// The code as a URN, for programs that tell problems apart by it.
    #[serde(rename = "type")]
    pub kind: String,
    /// The code in a few words.
    pub title: String,
    /// The status of HTTP.
    pub status: u16,
    /// What went wrong, with the values.
    pub detail: String,
    /// A word that stays the same: `not_found`, `invalid`, `conflict` …
    pub code: String,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// The key of the request that cannot be meant, such as `launch.attempts`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
}

impl Problem {
    /// A problem that is told by the server itself.
    pub(crate) fn new(status: Status, detail: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            kind: format!("urn:punctual:problem:{}", status.code),
            title: status.title.to_owned(),
            status: status.status.as_u16(),
            detail: detail.into(),
            code: status.code.to_owned(),
            hint: Some(hint.into()),
            place: None,
        }
    }

    pub(crate) fn malformed(detail: impl Into<String>, hint: impl Into<String>) -> Self {
        let status = status(StatusCode::BAD_REQUEST, "malformed", "the request cannot be read");
        Self::new(status, detail, hint)
    }

    pub(crate) fn unauthorized(detail: &str) -> Self {
        let status = status(StatusCode::UNAUTHORIZED, "unauthorized", "a token is needed");
        Self::new(
            status,
            detail,
            "send `Authorization: Bearer TOKEN`; the server wrote its token into a file beside its database",
        )
    }

    pub(crate) fn too_large(bytes_max: usize) -> Self {
        let status = status(StatusCode::PAYLOAD_TOO_LARGE, "too_large", "the body is too large");
        Self::new(status, "the body is too large", format!("send at most {bytes_max} bytes"))
    }

    pub(crate) fn unsupported() -> Self {
        let status = status(StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported", "the body is of another kind");
        Self::new(status, "the body is not JSON", "send `Content-Type: application/json`")
    }

    pub(crate) fn timeout() -> Self {
        let status = status(StatusCode::GATEWAY_TIMEOUT, "timeout", "it took too long");
        Self::new(status, "the database did not answer in time", "ask for less, or again later")
    }

    pub(crate) fn busy() -> Self {
        let status = status(StatusCode::SERVICE_UNAVAILABLE, "busy", "too much is asked at once");
        Self::new(status, "too many requests are under way", "ask again in a moment")
    }
}

impl From<Failure> for Problem {
    fn from(failure: Failure) -> Self {
        let place = place(&failure.message);
        let told = Self::new(status_of(failure.kind), failure.message, "");
        Self { hint: failure.hint, place, ..told }
    }
}

/// The key that a message begins with, as `punctual_app::declare` tells problems of keys.
fn place(message: &str) -> Option<String> {
    let (key, _) = message.split_once(": ")?;
    let is_key = !key.is_empty() && key.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'_' | b'.'));
    is_key.then(|| key.to_owned())
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let body = serde_json::to_vec(&self).unwrap_or_default();
        let mut response = (status, body).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"punctual\""));
        }
        response
    }
}

/// There is nothing at this path.
pub(crate) async fn no_path(uri: Uri) -> Problem {
    let detail = format!("there is nothing at `{}`", uri.path());
    Problem::new(status_of(Kind::NotFound), detail, "`/api/v1/openapi.json` describes every path")
}

/// This is not done at this path.
pub(crate) async fn no_method(method: Method, uri: Uri) -> Problem {
    let status = status(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", "this is not done here");
    let detail = format!("`{method}` is not done at `{}`", uri.path());
    Problem::new(status, detail, "`/api/v1/openapi.json` describes every path")
}

/// A promise of ours did not hold.
#[allow(clippy::needless_pass_by_value, reason = "the layer hands it over")]
pub(crate) fn panicked(_: Box<dyn Any + Send>) -> Response {
    let status = status(StatusCode::INTERNAL_SERVER_ERROR, "internal", "a fault of the server");
    Problem::new(status, "the server made a mistake", "its log says which; please report it").into_response()
}

/// What any call may answer instead.
#[derive(IntoResponses)]
#[allow(dead_code, reason = "it describes answers and is never made")]
pub(crate) enum Refused {
    /// The request cannot be read: `malformed`.
    #[response(status = 400, content_type = "application/problem+json")]
    Malformed(Problem),
    /// No token, or not one of this server: `unauthorized`.
    #[response(status = 401, content_type = "application/problem+json")]
    Unauthorized(Problem),
    /// It may not be done here: `forbidden`.
    #[response(status = 403, content_type = "application/problem+json")]
    Forbidden(Problem),
    /// There is no such thing: `not_found`.
    #[response(status = 404, content_type = "application/problem+json")]
    NotFound(Problem),
    /// It exists already, is in another state, or the request's key was used for something else: `conflict`, `in_use`.
    #[response(status = 409, content_type = "application/problem+json")]
    Conflict(Problem),
    /// `If-Match` names another version: `stale`.
    #[response(status = 412, content_type = "application/problem+json")]
    Stale(Problem),
    /// The body is too large: `too_large`.
    #[response(status = 413, content_type = "application/problem+json")]
    TooLarge(Problem),
    /// The body is not JSON: `unsupported`.
    #[response(status = 415, content_type = "application/problem+json")]
    Unsupported(Problem),
    /// It cannot be meant: `invalid`, with the key in `place`.
    #[response(status = 422, content_type = "application/problem+json")]
    Invalid(Problem),
    /// Something is not as it must be: `fault`, `internal`.
    #[response(status = 500, content_type = "application/problem+json")]
    Fault(Problem),
    /// The database failed, or too much is asked at once: `unavailable`, `busy`.
    #[response(status = 503, content_type = "application/problem+json")]
    Unavailable(Problem),
    /// It took too long: `timeout`.
    #[response(status = 504, content_type = "application/problem+json")]
    Timeout(Problem),
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_kind_of_failure_has_a_code_of_its_own() {
        let codes: HashSet<&str> = Kind::ALL.iter().map(|kind| status_of(*kind).code).collect();
        assert_eq!(codes.len(), Kind::ALL.len());
        assert!(Kind::ALL.iter().all(|kind| !status_of(*kind).status.is_success()));
    }

    #[test]
    fn the_place_is_the_key_that_a_message_begins_with() {
        let check = |message: &str, expected: Option<&str>| assert_eq!(place(message).as_deref(), expected);
        check("launch.attempts: `0` is too few", Some("launch.attempts"));
        check("cron: `61` is not a minute (column 1)", Some("cron"));
        check("`61` is not a minute", None);
        check("the template `x`: it is gone", None);
    }
}
