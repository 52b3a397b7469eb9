//! What is sent: the run as JSON or the target's own body, with the headers that every receiver may rely on.

use jiff::Timestamp;
use punctual_plan::{CloudEvents, Method, Webhook};
use reqwest::Url;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, USER_AGENT};
use serde_json::{Value, json};

use super::fill::{Body, Filled, Identity};
use super::sign::Signed;
use crate::target::Context;

/// The header that carries the attempt's token, with which a receiver reports how a run ended.
pub(super) const TOKEN: HeaderName = HeaderName::from_static("punctual-token");

/// The header that carries the signatures.
pub(super) const SIGNATURE: HeaderName = HeaderName::from_static("webhook-signature");

/// The type of the event that a run is due.
const EVENT_TYPE: &str = "dev.punctual.run.due.v1";

/// A request that is ready to be sent.
pub(super) struct Prepared {
    pub(super) url: Url,
    pub(super) method: reqwest::Method,
    pub(super) headers: HeaderMap,
    /// Headers that the target names: they may hold credentials and go to nobody else.
    pub(super) own: HeaderMap,
    pub(super) body: Option<String>,
    /// Whether the body holds what only the target itself may see.
    pub(super) is_body_secret: bool,
    pub(super) identity: Identity,
}

/// One attempt, as it is told to a receiver.
pub(super) struct Telling<'a> {
    pub(super) webhook: &'a Webhook,
    pub(super) context: &'a Context,
    pub(super) facts: &'a Value,
    pub(super) token: &'a str,
    pub(super) now: Timestamp,
}

impl Telling<'_> {
    /// Puts a request together.
    ///
    /// # Errors
    /// When the address or a header cannot be meant; never with a value.
    pub(super) fn prepare(&self, filled: Filled) -> Result<Prepared, String> {
        let Filled { url, headers: own, body, keys, identity, .. } = filled;
        let url = read_url(&url)?;
        let own = read_headers(&own)?;
        let (body, is_body_secret) = match body {
            Some(Body { text, is_secret }) => (Some(text), is_secret),
            None => (self.usual_body(), false),
        };
        let mut headers = HeaderMap::new();
        let kind = own.get(CONTENT_TYPE).cloned();
        let kind = kind.or_else(|| body.as_deref().map(kind_of));
        let body = self.add_event(&mut headers, body, kind.as_ref())?;
        let id = &self.context.idempotency_key();
        put(&mut headers, "webhook-id", id)?;
        put(&mut headers, "idempotency-key", id)?;
        put(&mut headers, "webhook-timestamp", &self.now.as_second().to_string())?;
        if let Some(trace) = self.context.trace {
            put(&mut headers, "traceparent", &trace.to_string())?;
        }
        put(&mut headers, "punctual-run-id", &self.context.run_id.to_string())?;
        put(&mut headers, "punctual-attempt", &self.context.attempt.to_string())?;
        put(&mut headers, TOKEN.as_str(), self.token)?;
        put(&mut headers, USER_AGENT.as_str(), concat!("punctual/", env!("CARGO_PKG_VERSION")))?;
        if !keys.is_empty() {
            let body = body.as_deref().unwrap_or_default().as_bytes();
            let signatures = Signed { id, at: self.now.as_second(), body }.by(&keys);
            put(&mut headers, SIGNATURE.as_str(), &signatures)?;
        }
        let method = method(self.webhook.method);
        Ok(Prepared { url, method, headers, own, body, is_body_secret, identity })
    }

    /// The run as JSON, where the method has a body at all.
    fn usual_body(&self) -> Option<String> {
        let has_body = !matches!(self.webhook.method, Method::Get | Method::Delete);
        (has_body || self.webhook.cloud_events == CloudEvents::Structured).then(|| self.facts.to_string())
    }

    /// Makes it a CloudEvent if it shall be one: by headers, or by a body around the body.
    fn add_event(
        &self,
        headers: &mut HeaderMap,
        body: Option<String>,
        kind: Option<&HeaderValue>,
    ) -> Result<Option<String>, String> {
        let facts = self.context;
        let mut attributes = vec![
            ("specversion", "1.0".to_owned()),
            ("id", facts.idempotency_key()),
            ("source", source(facts)),
            ("type", EVENT_TYPE.to_owned()),
            ("subject", facts.run_id.to_string()),
            ("time", facts.scheduled_for.to_string()),
            ("punctualattempt", facts.attempt.to_string()),
        ];
        attributes.extend(facts.trace.map(|trace| ("traceparent", trace.to_string())));
        match self.webhook.cloud_events {
            CloudEvents::Off => {}
            CloudEvents::Binary => {
                for (name, value) in attributes {
                    put(headers, &format!("ce-{name}"), &value)?;
                }
            }
            CloudEvents::Structured => {
                let mut event = json!({});
                for (name, value) in attributes {
                    event[name] = json!(value);
                }
                let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or("application/json");
                event["datacontenttype"] = json!(kind);
                event["data"] = data(body.as_deref().unwrap_or_default(), kind);
                headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/cloudevents+json"));
                return Ok(Some(event.to_string()));
            }
        }
        if let Some(kind) = kind {
            headers.insert(CONTENT_TYPE, kind.clone());
        }
        Ok(body)
    }
}

/// What an event carries: JSON as it is, anything else as text.
fn data(body: &str, kind: &str) -> Value {
    let is_json = kind.starts_with("application/json") || kind.contains("+json");
    let read = is_json.then(|| serde_json::from_str(body).ok()).flatten();
    read.unwrap_or_else(|| Value::from(body))
}

/// Where an event comes from: the schedule, by a path in which every letter may stand.
fn source(context: &Context) -> String {
    let org: String = context.schedule.owner.org_id.bytes().map(in_path).collect();
    format!("/orgs/{org}/schedules/{}", context.schedule.id)
}

fn in_path(byte: u8) -> String {
    match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => char::from(byte).to_string(),
        other => format!("%{other:02X}"),
    }
}

/// What a body is, if nobody says.
fn kind_of(body: &str) -> HeaderValue {
    let is_json = serde_json::from_str::<Value>(body).is_ok();
    HeaderValue::from_static(if is_json { "application/json" } else { "text/plain; charset=utf-8" })
}

fn method(method: Method) -> reqwest::Method {
    match method {
        Method::Get => reqwest::Method::GET,
        Method::Post => reqwest::Method::POST,
        Method::Put => reqwest::Method::PUT,
        Method::Patch => reqwest::Method::PATCH,
        Method::Delete => reqwest::Method::DELETE,
    }
}

fn put(headers: &mut HeaderMap, name: &str, value: &str) -> Result<(), String> {
    let (name, value) = read_header(name, value)?;
    headers.insert(name, value);
    Ok(())
}

fn read_headers(pairs: &[(String, String)]) -> Result<HeaderMap, String> {
    pairs.iter().map(|(name, value)| read_header(name, value)).collect()
}

fn read_header(name: &str, value: &str) -> Result<(HeaderName, HeaderValue), String> {
    let bad = || format!("the value of the header `{name}` cannot be sent");
    let value = HeaderValue::from_str(value.trim()).map_err(|_| bad())?;
    let name = name.parse().map_err(|_| format!("`{name}` cannot be the name of a header"))?;
    Ok((name, value))
}

/// Reads an address; the message never holds it, for it may hold a secret.
fn read_url(text: &str) -> Result<Url, String> {
    let url = Url::parse(text.trim()).map_err(|error| format!("the address cannot be read: {error}"))?;
    match url.scheme() {
        "http" | "https" if url.has_host() => Ok(url),
        other => Err(format!("the address is no `http` or `https` but `{other}`")),
    }
}
