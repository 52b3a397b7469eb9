//! The keys of the schema, and those that a file has.

use std::collections::BTreeSet;

use punctual::declare;
use serde_json::Value;

/// A part of the schema, and a key in it.
pub(crate) type Key = (String, String);

/// Every key in a file that the schema names, with the path to it.
pub(crate) fn keys_of(value: &Value) -> Vec<(Key, String)> {
    keys(value, declare::schema(), "File", "")
}

/// Every key that the schema has.
pub(crate) fn schema_keys(schema: &Value, found: &mut BTreeSet<Key>) {
    keys_below(schema, "File", found);
    for (name, def) in schema["$defs"].as_object().expect("definitions") {
        keys_below(def, name, found);
    }
}

/// The name of a part of the schema and the part itself, references followed.
fn resolve<'a>(part: &'a Value, name: &str) -> (String, &'a Value) {
    match part["$ref"].as_str().and_then(|reference| reference.strip_prefix("#/$defs/")) {
        Some(def) => (def.to_owned(), &declare::schema()["$defs"][def]),
        None => (name.to_owned(), part),
    }
}

/// The branch of `oneOf` or `anyOf` that a value takes.
fn branch<'a>(part: &'a Value, name: String, value: &Value) -> (String, &'a Value) {
    if let Some(variants) = part["oneOf"].as_array() {
        let found = variants.iter().find(|variant| variant["properties"]["type"]["const"] == value["type"]);
        return (format!("{name}/{}", value["type"].as_str().expect("a type")), found.expect("a variant"));
    }
    if let Some(parts) = part["anyOf"].as_array() {
        let is_object = value.is_object();
        let found = parts
            .iter()
            .map(|part| resolve(part, &name))
            .find(|(_, part)| (part["type"] == "object" || part.get("oneOf").is_some()) == is_object);
        let (name, part) = found.expect("a branch");
        return branch(part, name, value);
    }
    (name, part)
}

/// Every key in a value that the schema names, with the path to it.
fn keys(value: &Value, part: &Value, name: &str, path: &str) -> Vec<(Key, String)> {
    let (name, part) = resolve(part, name);
    let (name, part) = branch(part, name, value);
    let mut found = Vec::new();
    match value {
        Value::Object(object) => {
            for (key, below) in object {
                let path = format!("{path}/{}", key.replace('~', "~0").replace('/', "~1"));
                let property = &part["properties"][key];
                if !property.is_null() {
                    found.push(((name.clone(), key.clone()), path.clone()));
                    found.extend(keys(below, property, &format!("{name}.{key}"), &path));
                } else if part["additionalProperties"].is_object() {
                    found.extend(keys(below, &part["additionalProperties"], &name, &path));
                }
            }
        }
        Value::Array(items) => {
            for (number, item) in items.iter().enumerate() {
                found.extend(keys(item, &part["items"], &name, &format!("{path}/{number}")));
            }
        }
        _ => {}
    }
    found
}

/// Every key that the schema has.
fn keys_below(part: &Value, name: &str, found: &mut BTreeSet<Key>) {
    if let Some(variants) = part["oneOf"].as_array() {
        for variant in variants {
            let kind = variant["properties"]["type"]["const"].as_str().expect("a type");
            keys_below(variant, &format!("{name}/{kind}"), found);
        }
    }
    for (key, property) in part["properties"].as_object().into_iter().flatten() {
        found.insert((name.to_owned(), key.clone()));
        keys_below(property, &format!("{name}.{key}"), found);
    }
}

pub(crate) fn without(value: &Value, path: &str) -> Value {
    let (parent, key) = path.rsplit_once('/').expect("a path");
    let mut value = value.clone();
    let parent = value.pointer_mut(parent).and_then(Value::as_object_mut).expect("an object");
    parent.shift_remove(&key.replace("~1", "/").replace("~0", "~")).expect("a key");
    value
}
