//! A word to choose: a name or alias of one of the plan's enums, and its part of the schema.

use std::borrow::Cow;

use punctual_plan::Named;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Error};

/// A choice by name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Word<T>(pub(super) T);

impl<T> Word<T> {
    /// What a key chooses, if it is there.
    pub(super) fn of(word: Option<Self>) -> Option<T> {
        word.map(|Word(chosen)| chosen)
    }
}

impl<'de, T: Named> Deserialize<'de> for Word<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map(Word).map_err(D::Error::custom)
    }
}

impl<T: Named> JsonSchema for Word<T> {
    fn schema_name() -> Cow<'static, str> {
        T::NAMES.join("-or-").into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "enum": T::NAMES})
    }
}
