//! What a request says: its body, its query, its key and its version, each with a problem of its own if it cannot be
//! read.

use axum::Json;
use axum::body::HttpBody;
use axum::extract::rejection::{JsonRejection, QueryRejection};
use axum::extract::{FromRequest, FromRequestParts, Query, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use punctual_app::ask::{By, Which};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::BODY_BYTES_MAX;
use crate::problem::Problem;

/// A request's own key has at most so many letters.
const KEY_LETTERS_MAX: usize = 255;

/// An answer, or why there is none.
pub(crate) type Answer<T> = Result<Json<T>, Problem>;

/// A body of JSON.
pub(crate) struct Body<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Body<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        match Json::<T>::from_request(request, state).await {
            Ok(Json(body)) => Ok(Self(body)),
            Err(JsonRejection::MissingJsonContentType(_)) => Err(Problem::unsupported()),
            Err(rejection) if rejection.status() == StatusCode::PAYLOAD_TOO_LARGE => {
                Err(Problem::too_large(BODY_BYTES_MAX))
            }
            Err(rejection) => {
                Err(Problem::malformed(rejection.body_text(), "compare it with `/api/v1/openapi.json`"))
            }
        }
    }
}

/// What is said behind the `?`; a name that is not known is refused, not ignored.
pub(crate) struct Asked<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Asked<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        match Query::<T>::from_request_parts(parts, state).await {
            Ok(Query(asked)) => Ok(Self(asked)),
            Err(QueryRejection::FailedToDeserializeQueryString(rejection)) => Err(Problem::malformed(
                rejection.body_text(),
                "`/api/v1/openapi.json` describes what may stand there",
            )),
            Err(other) => Err(Problem::malformed(other.body_text(), "write it as `?name=value`")),
        }
    }
}

/// What a schedule is called by.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ByWord {
    /// Its name.
    Name,
    /// Its id, or the first letters of it.
    Id,
}

/// The schedule that a path names.
pub(crate) fn which(text: String, by: Option<ByWord>) -> Which {
    match by {
        Some(ByWord::Name) => Which::name(text),
        Some(ByWord::Id) => Which::id(text),
        None => Which { text, by: By::Either },
    }
}

/// The request's own key, from `Idempotency-Key`.
pub(crate) struct RequestKey(pub(crate) Option<String>);

impl<S: Sync> FromRequestParts<S> for RequestKey {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let Some(said) = parts.headers.get("idempotency-key") else { return Ok(Self(None)) };
        // The draft wants a quoted string; many clients send it bare.
        let key = said.to_str().unwrap_or_default().trim().trim_matches('"');
        let is_plain = key.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ');
        match !key.is_empty() && key.len() <= KEY_LETTERS_MAX && is_plain {
            true => Ok(Self(Some(key.to_owned()))),
            false => Err(Problem::malformed(
                "`Idempotency-Key` cannot be read",
                format!("send 1 to {KEY_LETTERS_MAX} plain letters, such as a UUID"),
            )),
        }
    }
}

/// The request's own key, and a body that may be left out.
pub(crate) struct Keyed<T> {
    pub(crate) request_key: Option<String>,
    pub(crate) body: T,
}

impl<T: DeserializeOwned + Default, S: Send + Sync> FromRequest<S> for Keyed<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let (mut parts, body) = request.into_parts();
        let RequestKey(request_key) = RequestKey::from_request_parts(&mut parts, state).await?;
        let is_empty = body.is_end_stream();
        let body = match is_empty {
            true => T::default(),
            false => Body::from_request(Request::from_parts(parts, body), state).await?.0,
        };
        Ok(Self { request_key, body })
    }
}

/// The version that is to be changed, from `If-Match`.
pub(crate) struct IfMatch(pub(crate) Option<i64>);

impl<S: Sync> FromRequestParts<S> for IfMatch {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let Some(said) = parts.headers.get(header::IF_MATCH) else { return Ok(Self(None)) };
        let said = said.to_str().unwrap_or_default().trim();
        if said == "*" {
            return Ok(Self(None));
        }
        match said.trim_matches('"').parse() {
            Ok(version) => Ok(Self(Some(version))),
            Err(_) => Err(Problem::malformed(
                format!("`If-Match: {said}` names no version"),
                "send the `ETag` of the answer that is to be changed, such as `\"3\"`",
            )),
        }
    }
}

/// An answer with its version as `ETag`.
pub(crate) fn tagged<T: Serialize>(version: i64, body: T) -> Response {
    let tag = format!("\"{version}\"");
    let mut headers = HeaderMap::new();
    headers.extend(tag.parse().ok().map(|tag| (header::ETAG, tag)));
    (headers, Json(body)).into_response()
}
