//! Web requests as targets: where they go, what they carry, who signs them.

use jiff::SignedDuration;
use punctual_engine::{BadRequest, check_header, check_text, check_url};
use punctual_plan::{CONNECT_TIMEOUT, REDIRECTS_DEFAULT, REDIRECTS_MAX, Template, WEBHOOK_TIMEOUT, Webhook};

use super::builder::Builder;
use super::duration;
use super::node::Node;
use super::raw_target;
use super::raw_word::DurationText;
use super::word::Word;

impl Builder<'_> {
    pub(super) fn webhook(&mut self, raw: raw_target::Webhook, node: &Node) -> Webhook {
        self.hear(check_url(&raw.url), "url", node);
        let headers = raw.headers.unwrap_or_default();
        let place = node.get("headers").unwrap_or(node);
        for (name, value) in &headers {
            self.hear(check_header(name, value), name, place);
        }
        if let Some(body) = &raw.body {
            self.hear(check_text(body), "body", node);
        }
        let secrets: Vec<String> = raw.secret.iter().flat_map(|words| words.iter().cloned()).collect();
        if secrets.iter().any(|secret| secret.trim().is_empty()) {
            self.problems.add(node.place_of("secret"), "no secret is named", "write `secret: NAME`");
        }
        self.secrets_of(&secrets, node);
        self.certificates(&raw.client_certificate, &raw.client_key, node);
        for (key, text) in
            [("client_certificate", &raw.client_certificate), ("ca_certificate", &raw.ca_certificate)]
        {
            self.refer(text.as_deref(), key, node);
        }
        let redirects = raw.redirects.unwrap_or(REDIRECTS_DEFAULT);
        if redirects > REDIRECTS_MAX {
            let hint = format!("write at most `{REDIRECTS_MAX}`");
            self.problems.add(node.place_of("redirects"), format!("`{redirects}` is too many"), hint);
        }
        Webhook {
            url: raw.url,
            method: Word::of(raw.method).unwrap_or_default(),
            headers,
            body: raw.body,
            secrets,
            cloud_events: Word::of(raw.cloud_events).unwrap_or_default(),
            timeout: self.wait(raw.timeout.as_ref(), "timeout", node).unwrap_or(WEBHOOK_TIMEOUT),
            connect_timeout: self
                .wait(raw.connect_timeout.as_ref(), "connect_timeout", node)
                .unwrap_or(CONNECT_TIMEOUT),
            redirects,
            client_certificate: raw.client_certificate,
            client_key: raw.client_key,
            ca_certificate: raw.ca_certificate,
        }
    }

    pub(super) fn hear(&mut self, checked: Result<(), BadRequest>, key: &str, node: &Node) {
        if let Err(BadRequest { message, hint }) = checked {
            self.problems.add(node.place_of(key), message, hint);
        }
    }

    /// A wait of no length would end everything before it began.
    fn wait(&mut self, text: Option<&DurationText>, key: &str, node: &Node) -> Option<SignedDuration> {
        let read = duration::read(text, key, node, &mut self.problems)?;
        if read.is_zero() {
            self.problems.add(
                node.place_of(key),
                format!("`{key}` leaves no time"),
                "write `20s`, or leave it out",
            );
        }
        Some(read)
    }

    /// A secret is named, or referred to, and never written down.
    pub(super) fn secrets_of(&mut self, secrets: &[String], node: &Node) {
        for secret in secrets {
            if secret.starts_with("whsec_") {
                let hint = "put it with `punctual secret put NAME`, and write `secret: NAME`";
                self.problems.add(node.place_of("secret"), "a secret is written down", hint);
            }
            self.refer(Some(secret), "secret", node);
        }
    }

    fn certificates(&mut self, certificate: &Option<String>, key: &Option<String>, node: &Node) {
        match (certificate, key) {
            (Some(_), None) => {
                let hint = "add `client_key: ${secret:NAME}`";
                self.problems.add(node.place_of("client_certificate"), "`client_key` is missing", hint);
            }
            (None, Some(_)) => {
                let hint = "add `client_certificate: ${file:PATH}`";
                self.problems.add(node.place_of("client_key"), "`client_certificate` is missing", hint);
            }
            _ => {}
        }
        if let Some(key) = key {
            self.refer(Some(key), "client_key", node);
            let is_reference = Template::parse(key).is_ok_and(|key| key.references().next().is_some());
            if !is_reference {
                let hint = "put it with `punctual secret put NAME`, and write `client_key: ${secret:NAME}`";
                self.problems.add(node.place_of("client_key"), "a key is written down", hint);
            }
        }
    }

    fn refer(&mut self, text: Option<&str>, key: &str, node: &Node) {
        if let Some(Err(problem)) = text.map(Template::parse) {
            let hint = "write `${secret:NAME}`, `${env:NAME}` or `${file:PATH}`";
            self.problems.add(node.place_of(key), problem.to_string(), hint);
        }
    }
}
