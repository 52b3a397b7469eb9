//! From the text of a file to its sections: each a tree, the schedules packed one by one.
//!
//! Types are settled here once: `true` and `false` are the only booleans, so that `on:` is a key and `no` a word.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Number, Value};
use serde_saphyr::{Budget, Options, Spanned};

use super::node::{Content, Entry, Node};
use super::packed::Packed;
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

/// A file that was read.
pub(super) struct File {
    /// Its number in the sources.
    pub(super) number: u32,
    /// Its sections; the list of schedules is empty there.
    pub(super) shell: Node,
    /// The schedules.
    pub(super) schedules: Packed,
}

/// Reads a file; notes why it cannot be read.
pub(super) fn file(number: u32, source: &Source, problems: &mut Problems) -> Option<File> {
    let mut read: Spanned<Bare<FILE>> = parse(number, source, problems)?;
    let schedules = read.value.schedules.take().map(|packed| *packed).unwrap_or_default();
    let mut shell = node(read);
    shell.put_in_file(number);
    Some(File { number, shell, schedules })
}

/// Reads a text that is no file of its own; notes why it cannot be read.
pub(super) fn value(number: u32, source: &Source, problems: &mut Problems) -> Option<Node> {
    let mut node = node::<INSIDE>(parse(number, source, problems)?);
    node.put_in_file(number);
    Some(node)
}

/// Reads one section of a file and nothing behind it: the rest is looked at by whoever needs it.
pub(super) fn section(text: &str, name: &str) -> Result<Option<Value>, serde_saphyr::Error> {
    let mut found = None;
    let read = serde_saphyr::with_deserializer_from_str_with_options(text, options(), |file| {
        file.deserialize_any(SectionVisitor { name, found: &mut found })
    });
    match found {
        Some(section) => Ok(Some(section)),
        None => read.map(|()| None),
    }
}

struct SectionVisitor<'a> {
    name: &'a str,
    found: &'a mut Option<Value>,
}

impl<'de> Visitor<'de> for SectionVisitor<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a file of settings and schedules")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        while let Some(key) = entries.next_key::<String>()? {
            if key == self.name {
                *self.found = Some(entries.next_value()?);
                return Err(serde::de::Error::custom("the rest is not read here"));
            }
            entries.next_value::<IgnoredAny>()?;
        }
        Ok(())
    }
}

fn parse<T: for<'de> Deserialize<'de>>(file: u32, source: &Source, problems: &mut Problems) -> Option<T> {
    let whole = Place { file, ..Place::default() };
    if source.text.len() > FILE_BYTES_MAX {
        let message = format!("the file has {} bytes, the limit is {FILE_BYTES_MAX}", source.text.len());
        problems.add(whole, message, "divide it into several files of a folder");
        return None;
    }
    match serde_saphyr::from_str_with_options(&source.text, options()) {
        Ok(read) => Some(read),
        Err(error) => {
            let place = error.location().map_or(whole, |at| Place { file, ..place(at) });
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

/// A place in a file whose number is not known here.
fn place(at: serde_saphyr::Location) -> Place {
    let number = |value: u64| u32::try_from(value).unwrap_or(u32::MAX);
    Place { file: 0, line: number(at.line()), column: number(at.column()) }
}

fn node<const LEVEL: u8>(read: Spanned<Bare<LEVEL>>) -> Node {
    Node { place: place(read.referenced), value: read.value.value }
}

/// The whole file, whose section `schedules` is packed.
const FILE: u8 = 0;
/// That section.
const SCHEDULES: u8 = 1;
/// Everything else.
const INSIDE: u8 = 2;

/// A value as the parser hands it over.
struct Bare<const LEVEL: u8> {
    value: Content,
    /// What was packed instead of being in the value.
    schedules: Option<Box<Packed>>,
}

impl<const LEVEL: u8> From<Content> for Bare<LEVEL> {
    fn from(value: Content) -> Self {
        Self { value, schedules: None }
    }
}

impl<'de, const LEVEL: u8> Deserialize<'de> for Bare<LEVEL> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(BareVisitor::<LEVEL>)
    }
}

struct BareVisitor<const LEVEL: u8>;

impl<'de, const LEVEL: u8> Visitor<'de> for BareVisitor<LEVEL> {
    type Value = Bare<LEVEL>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Content::Null.into())
    }

    fn visit_none<E>(self) -> Result<Self::Value, E> {
        Ok(Content::Null.into())
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        Bare::deserialize(deserializer)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Self::Value, E> {
        Ok(Content::Bool(value).into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Self::Value, E> {
        Ok(Content::Number(value.into()).into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Self::Value, E> {
        Ok(Content::Number(value.into()).into())
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Self::Value, E> {
        let number = Number::from_f64(value);
        let number = number.ok_or_else(|| E::custom(format!("`{value}` is not a number of JSON")))?;
        Ok(Content::Number(number).into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Self::Value, E> {
        Ok(Content::Text(value.to_owned()).into())
    }

    fn visit_string<E>(self, value: String) -> Result<Self::Value, E> {
        Ok(Content::Text(value).into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let mut list = Vec::new();
        let mut packed = Packed::default();
        while let Some(item) = items.next_element()? {
            match LEVEL {
                SCHEDULES => packed.push(&node::<INSIDE>(item)),
                _ => list.push(node::<INSIDE>(item)),
            }
        }
        let schedules = (LEVEL == SCHEDULES).then(|| Box::new(packed));
        Ok(Bare { value: Content::List(list), schedules })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
        let mut map = Vec::new();
        let mut schedules = None;
        while let Some(key) = entries.next_key::<Spanned<String>>()? {
            let value = if LEVEL == FILE && key.value == "schedules" {
                let mut read: Spanned<Bare<SCHEDULES>> = entries.next_value()?;
                schedules = read.value.schedules.take();
                node(read)
            } else {
                node::<INSIDE>(entries.next_value()?)
            };
            map.push(Entry { key: key.value, place: place(key.referenced), value });
        }
        Ok(Bare { value: Content::Map(map), schedules })
    }
}
