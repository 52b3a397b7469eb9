//! Values that people write in more than one way: durations, days, one name or several.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;

/// A duration: text, or a number of seconds.
#[derive(Clone, Debug, Deserialize)]
#[serde(from = "Scalar")]
pub(super) struct DurationText(pub(super) String);

/// A size: text, or a number of bytes.
#[derive(Clone, Debug, Deserialize)]
#[serde(from = "Scalar")]
pub(super) struct SizeText(pub(super) String);

/// A user of the host by name or number.
#[derive(Clone, Debug, Deserialize)]
#[serde(from = "Scalar")]
pub(super) struct UserWord(pub(super) String);

/// A weekday by name or number, or the name of a calendar.
#[derive(Clone, Debug, Deserialize)]
#[serde(from = "Scalar")]
pub(super) struct DayWord(pub(super) String);

/// One name, or several.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Words {
    One(String),
    Many(Vec<String>),
}

impl Words {
    /// All of them.
    pub(super) fn iter(&self) -> impl Iterator<Item = &String> {
        match self {
            Words::One(word) => std::slice::from_ref(word).iter(),
            Words::Many(words) => words.iter(),
        }
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Scalar {
    Text(String),
    Number(u64),
}

impl Scalar {
    fn into_text(self) -> String {
        match self {
            Scalar::Text(text) => text,
            Scalar::Number(number) => number.to_string(),
        }
    }
}

impl From<Scalar> for DurationText {
    fn from(scalar: Scalar) -> Self {
        Self(scalar.into_text())
    }
}

impl From<Scalar> for SizeText {
    fn from(scalar: Scalar) -> Self {
        Self(scalar.into_text())
    }
}

impl From<Scalar> for UserWord {
    fn from(scalar: Scalar) -> Self {
        Self(scalar.into_text())
    }
}

impl From<Scalar> for DayWord {
    fn from(scalar: Scalar) -> Self {
        Self(scalar.into_text())
    }
}

impl JsonSchema for DurationText {
    fn schema_name() -> Cow<'static, str> {
        "Duration".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "title": "a duration",
            "description": "`30s`, `5m`, `2h`, `1d`, or a number of seconds",
            "type": ["string", "integer"],
            "minimum": 0,
        })
    }
}

impl JsonSchema for SizeText {
    fn schema_name() -> Cow<'static, str> {
        "Size".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "title": "a size",
            "description": "`64K`, `512M`, `2G`, or a number of bytes",
            "type": ["string", "integer"],
            "minimum": 1,
        })
    }
}

impl JsonSchema for UserWord {
    fn schema_name() -> Cow<'static, str> {
        "HostUser".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "title": "a user of the host",
            "description": "a user of the host by name or number",
            "type": ["string", "integer"],
            "minimum": 0,
        })
    }
}

impl JsonSchema for DayWord {
    fn schema_name() -> Cow<'static, str> {
        "Day".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "title": "a weekday or the name of a calendar",
            "description": "a weekday by name or number (0 and 7 are Sunday), or the name of a calendar",
            "type": ["string", "integer"],
            "minimum": 0,
            "maximum": 7,
        })
    }
}

impl JsonSchema for Words {
    fn schema_name() -> Cow<'static, str> {
        "Names".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "title": "a name or a list of names",
            "type": ["string", "array"],
            "items": {"type": "string"},
        })
    }
}

pub(super) fn dialects(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "string", "enum": ["posix", "standard", "quartz"]})
}

pub(super) fn anchors(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "string", "enum": ["fixed", "last_start", "last_finish"]})
}

pub(super) fn gaps(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "string", "enum": ["shift", "skip"]})
}

pub(super) fn folds(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "string", "enum": ["first", "last", "both"]})
}
