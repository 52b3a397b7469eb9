//! Whether a tree has the shape that the schema says: every key known, every value of its kind, all at once.

use serde_json::Value;

use super::nearest;
use super::node::{Content, Entry, Node};
use super::problem::Problems;
use super::schema::resolve;

/// Letters of a value that are repeated in a message.
const SHOWN_CHARS_MAX: usize = 40;

/// Notes everything in which a node differs from its schema.
pub(super) fn check(node: &Node, schema: &'static Value, problems: &mut Problems) {
    if problems.is_full() || node.value == Content::Open {
        return;
    }
    let schema = resolve(schema);
    if let Some(variants) = schema["oneOf"].as_array() {
        return check_variant(node, variants, problems);
    }
    if let Some(parts) = schema["anyOf"].as_array() {
        return check_any(node, parts, problems);
    }
    let types = types(schema);
    if !types.is_empty() && !types.iter().any(|kind| is_of(node, kind)) {
        return refuse_kind(node, &expected(schema), problems);
    }
    match &node.value {
        Content::Text(text) => check_word(node, text, schema, problems),
        Content::Number(number) => check_range(node, number, schema, problems),
        Content::List(items) => {
            if let Some(items_schema) = schema.get("items") {
                items.iter().for_each(|item| check(item, items_schema, problems));
            }
            if schema["minItems"].as_u64().is_some_and(|least| (items.len() as u64) < least) {
                problems.add(node.place, "the list is empty", "write at least one item");
            }
        }
        Content::Map(entries) => check_keys(node, entries, schema, problems),
        Content::Null | Content::Bool(_) | Content::Open => {}
    }
}

/// Notes unknown sections, and sections of the wrong kind; what is in them is checked part by part.
pub(super) fn check_shell(node: &Node, schema: &'static Value, problems: &mut Problems) {
    if node.value == Content::Null {
        return;
    }
    if !matches!(node.value, Content::Map(_)) {
        return refuse_kind(node, "a file of schedules", problems);
    }
    let Some(known) = schema["properties"].as_object() else { return };
    for entry in node.entries() {
        if problems.is_full() {
            return;
        }
        let Some(section) = known.get(&entry.key).map(resolve) else {
            let hint = nearest::hint(&entry.key, known.keys().map(String::as_str), "");
            problems.add(entry.place, format!("`{}` is not a key here", entry.key), hint);
            continue;
        };
        if entry.value.value == Content::Null {
            refuse_empty(entry, problems);
        } else if !types(section).iter().any(|kind| is_of(&entry.value, kind)) {
            refuse_kind(&entry.value, &expected(section), problems);
        }
    }
}

fn refuse_empty(entry: &Entry, problems: &mut Problems) {
    let message = format!("`{}` has no value", entry.key);
    problems.add(entry.place, message, "write one after the colon, or remove the key");
}

fn check_keys(node: &Node, entries: &[Entry], schema: &'static Value, problems: &mut Problems) {
    let known = schema["properties"].as_object();
    for entry in entries {
        if problems.is_full() {
            return;
        }
        match (known.and_then(|known| known.get(&entry.key)), schema.get("additionalProperties")) {
            (Some(_), _) if entry.value.value == Content::Null => refuse_empty(entry, problems),
            (Some(property), _) => check(&entry.value, property, problems),
            (None, Some(Value::Object(_))) => check(&entry.value, &schema["additionalProperties"], problems),
            (None, Some(Value::Bool(false))) => {
                let keys = known.into_iter().flat_map(|known| known.keys().map(String::as_str));
                let hint = nearest::hint(&entry.key, keys, "no key is known here");
                problems.add(entry.place, format!("`{}` is not a key here", entry.key), hint);
            }
            (None, _) => {}
        }
    }
    for key in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        if node.get(key).is_none() {
            problems.add(node.place, format!("`{key}` is missing"), format!("add `{key}:`"));
        }
    }
}

/// One of several objects, told apart by their `type`.
fn check_variant(node: &Node, variants: &'static [Value], problems: &mut Problems) {
    if !matches!(node.value, Content::Map(_)) {
        return refuse_kind(node, "keys with values", problems);
    }
    let word = |variant: &'static Value| variant["properties"]["type"]["const"].as_str();
    let words = || variants.iter().filter_map(word);
    match node.get("type") {
        None => {
            let hint = nearest::hint("", words(), "");
            problems.add(node.place, "`type` is missing", hint);
        }
        Some(kind) if kind.value == Content::Open => {}
        Some(kind) => {
            match variants.iter().find(|variant| word(variant).is_some() && word(variant) == kind.text()) {
                Some(variant) => check(node, variant, problems),
                None => {
                    let text = shown(kind);
                    let hint = nearest::hint(kind.text().unwrap_or_default(), words(), "");
                    problems.add(kind.place, format!("{text} is not a type of target"), hint);
                }
            }
        }
    }
}

/// One of several shapes, told apart by the kind of value.
fn check_any(node: &Node, parts: &'static [Value], problems: &mut Problems) {
    let fits = |part: &&'static Value| {
        let part = resolve(part);
        part.get("oneOf").is_some() && matches!(node.value, Content::Map(_))
            || types(part).iter().any(|kind| is_of(node, kind))
    };
    match parts.iter().find(fits) {
        Some(part) => check(node, part, problems),
        None => {
            let all: Vec<String> = parts.iter().map(|part| expected(resolve(part))).collect();
            refuse_kind(node, &all.join(" or "), problems);
        }
    }
}

fn check_word(node: &Node, text: &str, schema: &'static Value, problems: &mut Problems) {
    let Some(words) = schema["enum"].as_array() else { return };
    let words = || words.iter().filter_map(Value::as_str);
    if !words().any(|word| word == text) {
        let hint = nearest::hint(text, words(), "");
        problems.add(node.place, format!("{} cannot be chosen here", shown(node)), hint);
    }
}

fn check_range(node: &Node, number: &serde_json::Number, schema: &'static Value, problems: &mut Problems) {
    let value = number.as_f64().unwrap_or(f64::MAX);
    let (least, most) = (schema["minimum"].as_f64(), schema["maximum"].as_f64());
    if let Some(least) = least.filter(|least| value < *least) {
        problems.add(node.place, format!("`{number}` is too small"), format!("write at least `{least}`"));
    }
    if let Some(most) = most.filter(|most| value > *most) {
        problems.add(node.place, format!("`{number}` is too large"), format!("write at most `{most}`"));
    }
}

fn types(schema: &'static Value) -> Vec<&'static str> {
    match &schema["type"] {
        Value::String(one) => vec![one.as_str()],
        Value::Array(several) => several.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

fn is_of(node: &Node, kind: &str) -> bool {
    match &node.value {
        Content::Null => kind == "null",
        Content::Bool(_) => kind == "boolean",
        Content::Number(number) => {
            kind == "number" || kind == "integer" && (number.is_u64() || number.is_i64())
        }
        Content::Text(_) => kind == "string",
        Content::List(_) => kind == "array",
        Content::Map(_) => kind == "object",
        Content::Open => true,
    }
}

/// What a schema asks for, in words.
fn expected(schema: &'static Value) -> String {
    if let Some(title) = schema["title"].as_str() {
        return title.to_owned();
    }
    if schema.get("oneOf").is_some() {
        return "keys with values".to_owned();
    }
    let words: Vec<&str> = types(schema)
        .into_iter()
        .map(|kind| match kind {
            "string" => "text",
            "integer" => "a whole number",
            "boolean" => "`true` or `false`",
            "array" => "a list",
            "object" => "keys with values",
            other => other,
        })
        .collect();
    words.join(" or ")
}

fn refuse_kind(node: &Node, expected: &str, problems: &mut Problems) {
    let hint = match (&node.value, expected) {
        (Content::Null, _) => "write one, or remove it".to_owned(),
        (Content::Number(_) | Content::Bool(_), "text") => format!("put it in quotes: \"{}\"", bare(node)),
        (Content::Text(text), "a list") => format!("write `[{text}]`"),
        _ => format!("write {expected}"),
    };
    problems.add(node.place, format!("{} is not {expected}", shown(node)), hint);
}

/// A value for a message.
pub(super) fn shown(node: &Node) -> String {
    match &node.value {
        Content::Null | Content::Open => "nothing".to_owned(),
        Content::List(_) => "a list".to_owned(),
        Content::Map(_) => "a group of keys".to_owned(),
        _ => format!("`{}`", bare(node)),
    }
}

fn bare(node: &Node) -> String {
    let text = node.text().map_or_else(|| node.to_json().to_string(), str::to_owned);
    text.chars().take(SHOWN_CHARS_MAX).collect()
}
