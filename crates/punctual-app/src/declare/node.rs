//! YAML as a tree in which everything knows its place.
//!
//! Types are settled here once: `true` and `false` are the only booleans, so that `on:` is a key and `no` a word.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use serde_saphyr::{Budget, Options, Spanned};

use super::problem::{Place, Problems, Source};
use super::unreadable::{self, Unreadable};

/// The largest file, in bytes: some hundred thousand schedules.
pub(super) const FILE_BYTES_MAX: usize = 32 << 20;
/// Values in one file.
const NODES_MAX: usize = 4_000_000;
/// Values inside values.
const DEPTH_MAX: usize = 48;
/// Anchors, and places that use them.
const ALIASES_MAX: usize = 1000;
/// Values that aliases may stand for in all: a bomb is refused long before it costs anything.
const ALIASED_NODES_MAX: usize = 2_000;

/// A value with its place.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Node {
    pub(super) place: Place,
    pub(super) value: Content,
}

/// What a value is.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Content {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    List(Vec<Node>),
    Map(Vec<Entry>),
    /// What a `${…}` of a template will bring; no file holds it.
    Open,
}

/// A key with its value.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Entry {
    pub(super) key: String,
    pub(super) place: Place,
    pub(super) value: Node,
}

impl Node {
    /// Reads a file; notes why it cannot be read.
    pub(super) fn read(file: u32, source: &Source, problems: &mut Problems) -> Option<Node> {
        if source.text.len() > FILE_BYTES_MAX {
            let message = format!("the file has {} bytes, the limit is {FILE_BYTES_MAX}", source.text.len());
            problems.add(
                Place { file, ..Place::default() },
                message,
                "divide it into several files of a folder",
            );
            return None;
        }
        match serde_saphyr::from_str_with_options::<Spanned<Bare>>(&source.text, options()) {
            Ok(read) => Some(node(read, file)),
            Err(error) => {
                let place = error.location().map_or(Place { file, ..Place::default() }, |at| place(file, at));
                let Unreadable { message, mut hint } = unreadable::explain(error.without_snippet());
                let line = source.text.lines().nth((place.line as usize).saturating_sub(1));
                if line.is_some_and(|line| line.contains(": *")) {
                    hint = unreadable::QUOTE_STARS;
                }
                problems.add(place, message, hint);
                None
            }
        }
    }

    /// A value of JSON, all of it in one place.
    pub(super) fn of_json(value: &Value, place: Place) -> Node {
        let value = match value {
            Value::Null => Content::Null,
            Value::Bool(value) => Content::Bool(*value),
            Value::Number(number) => Content::Number(number.clone()),
            Value::String(text) => Content::Text(text.clone()),
            Value::Array(items) => {
                Content::List(items.iter().map(|item| Node::of_json(item, place)).collect())
            }
            Value::Object(object) => {
                let entry = |(key, value): (&String, &Value)| Entry {
                    key: key.clone(),
                    place,
                    value: Node::of_json(value, place),
                };
                Content::Map(object.iter().map(entry).collect())
            }
        };
        Node { place, value }
    }

    /// The value of a key.
    pub(super) fn get(&self, key: &str) -> Option<&Node> {
        self.entries().iter().find(|entry| entry.key == key).map(|entry| &entry.value)
    }

    /// The place of a key's value, else of the whole.
    pub(super) fn place_of(&self, key: &str) -> Place {
        self.get(key).map_or(self.place, |node| node.place)
    }

    /// The place of a key, else of the whole.
    pub(super) fn place_of_key(&self, key: &str) -> Place {
        self.entries().iter().find(|entry| entry.key == key).map_or(self.place, |entry| entry.place)
    }

    /// The keys with their values; none if it is something else.
    pub(super) fn entries(&self) -> &[Entry] {
        match &self.value {
            Content::Map(entries) => entries,
            _ => &[],
        }
    }

    /// The items; none if it is something else.
    pub(super) fn items(&self) -> &[Node] {
        match &self.value {
            Content::List(items) => items,
            _ => &[],
        }
    }

    /// The text, if it is one.
    pub(super) fn text(&self) -> Option<&str> {
        match &self.value {
            Content::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Roughly how many bytes it takes.
    pub(super) fn size(&self) -> usize {
        let below = match &self.value {
            Content::Text(text) => text.len(),
            Content::List(items) => items.iter().map(Node::size).sum(),
            Content::Map(entries) => entries.iter().map(|entry| entry.key.len() + entry.value.size()).sum(),
            _ => 0,
        };
        size_of::<Node>() + below
    }

    /// The same as JSON, without places.
    pub(super) fn to_json(&self) -> Value {
        match &self.value {
            Content::Null | Content::Open => Value::Null,
            Content::Bool(value) => Value::Bool(*value),
            Content::Number(number) => Value::Number(number.clone()),
            Content::Text(text) => Value::String(text.clone()),
            Content::List(items) => Value::Array(items.iter().map(Node::to_json).collect()),
            Content::Map(entries) => {
                let pairs = entries.iter().map(|entry| (entry.key.clone(), entry.value.to_json()));
                Value::Object(pairs.collect::<Map<_, _>>())
            }
        }
    }
}

fn options() -> Options {
    let mut budget = Budget::default();
    budget.max_reader_input_bytes = Some(FILE_BYTES_MAX);
    budget.max_events = 2 * NODES_MAX;
    budget.max_aliases = ALIASES_MAX;
    budget.max_anchors = ALIASES_MAX;
    budget.max_depth = DEPTH_MAX;
    budget.max_documents = 1;
    budget.max_nodes = NODES_MAX;
    budget.max_total_scalar_bytes = FILE_BYTES_MAX;
    let mut options = Options::default();
    options.budget = Some(budget);
    options.alias_limits.max_total_replayed_events = ALIASED_NODES_MAX;
    options.alias_limits.max_replay_stack_depth = DEPTH_MAX;
    options.alias_limits.max_alias_expansions_per_anchor = ALIASES_MAX;
    options.strict_booleans = true;
    options.with_snippet = false;
    options
}

fn place(file: u32, at: serde_saphyr::Location) -> Place {
    let number = |value: u64| u32::try_from(value).unwrap_or(u32::MAX);
    Place { file, line: number(at.line()), column: number(at.column()) }
}

fn node(read: Spanned<Bare>, file: u32) -> Node {
    let value = match read.value {
        Bare::Null => Content::Null,
        Bare::Bool(value) => Content::Bool(value),
        Bare::Number(number) => Content::Number(number),
        Bare::Text(text) => Content::Text(text),
        Bare::List(items) => Content::List(items.into_iter().map(|item| node(item, file)).collect()),
        Bare::Map(entries) => {
            let entry = |(key, value): (Spanned<String>, Spanned<Bare>)| Entry {
                key: key.value,
                place: place(file, key.referenced),
                value: node(value, file),
            };
            Content::Map(entries.into_iter().map(entry).collect())
        }
    };
    Node { place: place(file, read.referenced), value }
}

/// A value as the parser hands it over.
#[derive(Debug)]
enum Bare {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    List(Vec<Spanned<Bare>>),
    Map(Vec<(Spanned<String>, Spanned<Bare>)>),
}

impl<'de> Deserialize<'de> for Bare {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(BareVisitor)
    }
}

struct BareVisitor;

impl<'de> Visitor<'de> for BareVisitor {
    type Value = Bare;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Bare, E> {
        Ok(Bare::Null)
    }

    fn visit_none<E>(self) -> Result<Bare, E> {
        Ok(Bare::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Bare, D::Error> {
        Bare::deserialize(deserializer)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Bare, E> {
        Ok(Bare::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Bare, E> {
        Ok(Bare::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Bare, E> {
        Ok(Bare::Number(value.into()))
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Bare, E> {
        let number = Number::from_f64(value);
        number.map(Bare::Number).ok_or_else(|| E::custom(format!("`{value}` is not a number of JSON")))
    }

    fn visit_str<E>(self, value: &str) -> Result<Bare, E> {
        Ok(Bare::Text(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Bare, E> {
        Ok(Bare::Text(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Bare, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Bare::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Bare, A::Error> {
        let mut map = Vec::new();
        while let Some(entry) = entries.next_entry()? {
            map.push(entry);
        }
        Ok(Bare::Map(map))
    }
}
