//! Web requests, as they are written; what is default is left out.

use std::collections::BTreeMap;

use jiff::SignedDuration;
use punctual_plan::{CONNECT_TIMEOUT, REDIRECTS_DEFAULT, WEBHOOK_TIMEOUT, Webhook};
use serde::{Deserialize, Serialize};

use super::{Unreadable, millis};

#[derive(Serialize, Deserialize)]
pub(super) struct WrittenWebhook {
    url: String,
    method: String,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    headers: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    body: Option<String>,
    /// The only one, as it was written before a target could have several.
    #[serde(default, skip_serializing)]
    secret: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    secrets: Vec<String>,
    cloud_events: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    timeout_ms: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    connect_timeout_ms: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    redirects: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    client_certificate: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    client_key: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ca_certificate: Option<String>,
}

impl WrittenWebhook {
    pub(super) fn of(webhook: Webhook) -> Self {
        let unusual = |length: SignedDuration, usual| (length != usual).then(|| millis(length));
        Self {
            url: webhook.url,
            method: webhook.method.name().to_owned(),
            headers: webhook.headers,
            body: webhook.body,
            secret: None,
            secrets: webhook.secrets,
            cloud_events: webhook.cloud_events.name().to_owned(),
            timeout_ms: unusual(webhook.timeout, WEBHOOK_TIMEOUT),
            connect_timeout_ms: unusual(webhook.connect_timeout, CONNECT_TIMEOUT),
            redirects: (webhook.redirects != REDIRECTS_DEFAULT).then_some(webhook.redirects),
            client_certificate: webhook.client_certificate,
            client_key: webhook.client_key,
            ca_certificate: webhook.ca_certificate,
        }
    }

    pub(super) fn read(self) -> Result<Webhook, Unreadable> {
        Ok(Webhook {
            url: self.url,
            method: self.method.parse()?,
            headers: self.headers,
            body: self.body,
            secrets: self.secret.into_iter().chain(self.secrets).collect(),
            cloud_events: self.cloud_events.parse()?,
            timeout: self.timeout_ms.map_or(WEBHOOK_TIMEOUT, SignedDuration::from_millis),
            connect_timeout: self.connect_timeout_ms.map_or(CONNECT_TIMEOUT, SignedDuration::from_millis),
            redirects: self.redirects.unwrap_or(REDIRECTS_DEFAULT),
            client_certificate: self.client_certificate,
            client_key: self.client_key,
            ca_certificate: self.ca_certificate,
        })
    }
}
