//! Reading a target, or an executor, of the kind that its `type` names: what follows goes straight into the struct of that kind.
//!
//! A derived reader would keep each field aside until it has seen them all, and once more because the kind's fields stand
//! beside others, which took longer than the rest of a definition. `type` is always written before what it decides.

use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, Visitor};

use super::target::{Written, WrittenAction};

/// The kinds, for whoever reads one that is not among them.
const KINDS: &[&str] = &["process", "webhook", "queue", "message", "workflow", "callback"];

/// What may stand before the fields of a kind; what a later program adds is passed over.
#[derive(serde::Deserialize)]
#[serde(field_identifier, rename_all = "snake_case")]
enum Key {
    Name,
    Threshold,
    ResetAfterMs,
    Type,
    #[serde(other)]
    Other,
}

impl<'de> Deserialize<'de> for Written {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(OfTarget)
    }
}

impl<'de> Deserialize<'de> for WrittenAction {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(OfAction)
    }
}

struct OfTarget;

impl<'de> Visitor<'de> for OfTarget {
    type Value = Written;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a target")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Written, M::Error> {
        let (mut name, mut threshold, mut reset_after_ms) = (None, None, None);
        while let Some(key) = map.next_key()? {
            match key {
                Key::Name => name = Some(map.next_value()?),
                Key::Threshold => threshold = Some(map.next_value()?),
                Key::ResetAfterMs => reset_after_ms = Some(map.next_value()?),
                Key::Other => drop(map.next_value::<IgnoredAny>()?),
                Key::Type => {
                    return Ok(Written {
                        name: name.ok_or_else(|| M::Error::missing_field("name"))?,
                        threshold: threshold.ok_or_else(|| M::Error::missing_field("threshold"))?,
                        reset_after_ms: reset_after_ms
                            .ok_or_else(|| M::Error::missing_field("reset_after_ms"))?,
                        action: of_kind(map)?,
                    });
                }
            }
        }
        Err(M::Error::missing_field("type"))
    }
}

struct OfAction;

impl<'de> Visitor<'de> for OfAction {
    type Value = WrittenAction;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an executor")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<WrittenAction, M::Error> {
        while let Some(key) = map.next_key()? {
            match key {
                Key::Type => return of_kind(map),
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Err(M::Error::missing_field("type"))
    }
}

/// The value of `type`, whose key was just read, and then the fields of that kind.
fn of_kind<'de, M: MapAccess<'de>>(mut map: M) -> Result<WrittenAction, M::Error> {
    let kind: String = map.next_value()?;
    let fields = MapAccessDeserializer::new(map);
    match kind.as_str() {
        "process" => Deserialize::deserialize(fields).map(WrittenAction::Process),
        "webhook" => Deserialize::deserialize(fields).map(WrittenAction::Webhook),
        "queue" => Deserialize::deserialize(fields).map(WrittenAction::Queue),
        "message" => Deserialize::deserialize(fields).map(WrittenAction::Message),
        "workflow" => Deserialize::deserialize(fields).map(WrittenAction::Workflow),
        "callback" => Deserialize::deserialize(fields).map(WrittenAction::Callback),
        other => Err(M::Error::unknown_variant(other, KINDS)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is written again of what was read, or the error without its place.
    fn check(text: &str, expected: &str) {
        let said = match serde_json::from_str::<Written>(text) {
            Ok(written) => serde_json::to_string(&written).expect("it can be written"),
            Err(error) => error.to_string().split(" at line").next().unwrap_or_default().to_owned(),
        };
        assert_eq!(said, expected, "{text}");
    }

    #[test]
    fn a_target_is_read_as_the_kind_that_it_names() {
        let plain = r#"{"name":"one","threshold":5,"reset_after_ms":300000,"type":"callback","task":"t"}"#;
        check(plain, plain);
        let later = r#"{"name":"one","threshold":5,"colour":{"a":[1]},"reset_after_ms":300000,"type":"callback","task":"t","shape":2}"#;
        check(later, plain);
    }

    #[test]
    fn what_is_not_there_or_not_known_is_named() {
        let of = |rest: &str| format!(r#"{{"name":"one","threshold":5,"reset_after_ms":1{rest}}}"#);
        check(&of(""), "missing field `type`");
        check(&of(r#","type":"process""#), "missing field `argv`");
        check(
            &of(r#","type":"pigeon""#),
            "unknown variant `pigeon`, expected one of `process`, `webhook`, `queue`, `message`, `workflow`, `callback`",
        );
        check(r#"{"type":"callback","task":"t"}"#, "missing field `name`");
        check("3", "invalid type: integer `3`, expected a target");
    }
}
