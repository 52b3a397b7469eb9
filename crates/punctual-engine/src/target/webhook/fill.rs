//! A target's texts become those of one request: values of the run and what references stand for are filled in, piece
//! by piece, so that no value is ever read as a reference.

use punctual_plan::{Mark, Reference, Stencil, Template, ValueForm, Webhook};
use punctual_store::{Launchable, Store};
use serde_json::Value;

use super::super::secret::Secrets;
use super::sign::Key;

/// A target's texts with everything filled in.
pub(crate) struct Filled {
    pub(super) url: String,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Option<Body>,
    pub(super) keys: Vec<Key>,
    pub(super) identity: Identity,
    /// Values that nobody may see.
    pub(super) hidden: Vec<String>,
}

/// The body that a target names.
pub(super) struct Body {
    pub(super) text: String,
    /// Whether it holds what a reference stood for.
    pub(super) is_secret: bool,
}

/// Who we are to the other side, and whom we trust.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Identity {
    pub(super) certificate: Option<String>,
    pub(super) key: Option<String>,
    pub(super) authorities: Option<String>,
}

/// Fills in the texts of a target for a run.
pub(super) struct Filling<'a, S> {
    pub(super) secrets: &'a Secrets<S>,
    pub(super) run: &'a Launchable,
    pub(super) facts: &'a Value,
    pub(super) hidden: Vec<String>,
}

impl<S: Store> Filling<'_, S> {
    /// Fills in everything.
    ///
    /// # Errors
    /// When something is not there, by its reference or its name and never with a value.
    pub(super) async fn fill(mut self, webhook: &Webhook) -> Result<Filled, String> {
        let url = self.reference(&webhook.url).await?;
        let mut headers = Vec::new();
        for (name, value) in &webhook.headers {
            headers.push((name.clone(), self.stencil(value).await?.text));
        }
        let body = match &webhook.body {
            Some(body) => Some(self.stencil(body).await?),
            None => None,
        };
        let mut keys = Vec::new();
        for secret in &webhook.secrets {
            keys.extend(self.signing(secret).await?);
        }
        let identity = Identity {
            certificate: self.maybe(webhook.client_certificate.as_deref()).await?,
            key: self.maybe(webhook.client_key.as_deref()).await?,
            authorities: self.maybe(webhook.ca_certificate.as_deref()).await?,
        };
        Ok(Filled { url, headers, body, keys, identity, hidden: self.hidden })
    }

    async fn look_up(&mut self, reference: &Reference) -> Result<String, String> {
        let found = self.secrets.resolve(self.run, reference).await?;
        self.hidden.push(found.clone());
        Ok(found)
    }

    /// A text that may hold references.
    async fn reference(&mut self, text: &str) -> Result<String, String> {
        let template = Template::parse(text).map_err(|error| error.to_string())?;
        let mut filled = String::new();
        for piece in template.0 {
            match piece {
                punctual_plan::Piece::Text(text) => filled.push_str(&text),
                punctual_plan::Piece::Reference(reference) => {
                    filled.push_str(&self.look_up(&reference).await?);
                }
            }
        }
        Ok(filled)
    }

    async fn maybe(&mut self, text: Option<&str>) -> Result<Option<String>, String> {
        match text {
            Some(text) => self.reference(text).await.map(Some),
            None => Ok(None),
        }
    }

    /// A text that may hold references and values of the run.
    async fn stencil(&mut self, text: &str) -> Result<Body, String> {
        let stencil = Stencil::parse(text).map_err(|error| error.to_string())?;
        let is_secret = stencil.has_references();
        let mut filled = String::new();
        for mark in stencil.0 {
            match mark {
                Mark::Text(text) => filled.push_str(&text),
                Mark::Reference(reference) => filled.push_str(&self.look_up(&reference).await?),
                Mark::Value { path, form } => filled.push_str(&value(self.facts, &path, form)?),
            }
        }
        Ok(Body { text: filled, is_secret })
    }

    /// The keys of a secret that signs: a name, or a reference.
    async fn signing(&mut self, secret: &str) -> Result<Vec<Key>, String> {
        let value = match secret.contains("${") {
            true => self.reference(secret).await?,
            false => self.look_up(&Reference::Secret(secret.to_owned())).await?,
        };
        // Each of several keys, also without what it begins with, is hidden for itself.
        for key in value.split_whitespace() {
            self.hidden.push(key.to_owned());
            self.hidden.extend(key.strip_prefix("whsec_").map(str::to_owned));
        }
        Key::read_all(&value).map_err(|why| format!("the secret `{secret}` cannot sign: {why}"))
    }
}

/// A value of the run as text.
fn value(facts: &Value, path: &[String], form: ValueForm) -> Result<String, String> {
    let mut found = facts;
    for (depth, name) in path.iter().enumerate() {
        let below = match found {
            Value::Array(items) => name.parse::<usize>().ok().and_then(|place| items.get(place)),
            other => other.get(name),
        };
        found = match below {
            Some(below) => below,
            // Runs that nobody asked for have no `request_id`.
            None if depth == 0 => &Value::Null,
            None => return Err(format!("the run has no `{}`", path.join("."))),
        };
    }
    Ok(match (found, form) {
        (Value::Null, ValueForm::Plain) => String::new(),
        (Value::String(text), ValueForm::Plain) => text.clone(),
        (other, _) => other.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_written_plain_or_as_json() {
        let facts = json!({"payload": {"text": "say \"hi\"", "list": [1, {"a": true}]}, "attempt": 2, "user_id": null});
        let check = |path: &str, form, expected: Result<&str, &str>| {
            let path: Vec<String> = path.split('.').map(str::to_owned).collect();
            let said = value(&facts, &path, form);
            assert_eq!(said.as_deref().map_err(String::as_str), expected, "{path:?}");
        };
        check("payload.text", ValueForm::Plain, Ok("say \"hi\""));
        check("payload.text", ValueForm::Json, Ok(r#""say \"hi\"""#));
        check("payload.list", ValueForm::Plain, Ok(r#"[1,{"a":true}]"#));
        check("payload.list.1.a", ValueForm::Plain, Ok("true"));
        check("attempt", ValueForm::Plain, Ok("2"));
        check("user_id", ValueForm::Plain, Ok(""));
        check("user_id", ValueForm::Json, Ok("null"));
        check("request_id", ValueForm::Plain, Ok(""));
        check("payload.gone", ValueForm::Plain, Err("the run has no `payload.gone`"));
        check("attempt.x", ValueForm::Plain, Err("the run has no `attempt.x`"));
    }
}
