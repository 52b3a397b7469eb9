//! YAML as a tree in which everything knows its place.

use serde_json::{Map, Number, Value};

use super::problem::Place;

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

    /// Says in which file it and everything in it is.
    pub(super) fn put_in_file(&mut self, file: u32) {
        self.place.file = file;
        match &mut self.value {
            Content::List(items) => items.iter_mut().for_each(|item| item.put_in_file(file)),
            Content::Map(entries) => {
                for entry in entries {
                    entry.place.file = file;
                    entry.value.put_in_file(file);
                }
            }
            _ => {}
        }
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
