//! Goal: no key of the schema is read and ignored.
//! Method: `docs/examples/everything.yaml` holds every key that the schema knows; each is removed in turn, and what was
//! read before must not be what is read after.

use std::collections::BTreeSet;

use jiff::Timestamp;
use punctual::declare::{self, Declared};
use serde_json::Value;

/// A part of the schema, and a key in it.
type Key = (String, String);

fn example() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/examples/everything.yaml");
    let text = std::fs::read_to_string(path).expect("the example");
    serde_saphyr::from_str(&text).expect("YAML")
}

fn read(value: &Value) -> Result<Declared, String> {
    let now: Timestamp = "2026-11-15T08:00:00Z".parse().expect("an instant");
    // JSON is YAML.
    let read = declare::read_text("everything.yaml", &value.to_string(), now);
    let mut declared = read.map_err(|failure| failure.to_string())?;
    // They are kept as written, so that only what schedules make of them shows that a key counts.
    declared.templates.clear();
    Ok(declared)
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
fn schema_keys(part: &Value, name: &str, found: &mut BTreeSet<Key>) {
    if let Some(variants) = part["oneOf"].as_array() {
        for variant in variants {
            let kind = variant["properties"]["type"]["const"].as_str().expect("a type");
            schema_keys(variant, &format!("{name}/{kind}"), found);
        }
    }
    for (key, property) in part["properties"].as_object().into_iter().flatten() {
        found.insert((name.to_owned(), key.clone()));
        schema_keys(property, &format!("{name}.{key}"), found);
    }
}

fn without(value: &Value, path: &str) -> Value {
    let (parent, key) = path.rsplit_once('/').expect("a path");
    let mut value = value.clone();
    let parent = value.pointer_mut(parent).and_then(Value::as_object_mut).expect("an object");
    parent.shift_remove(&key.replace("~1", "/").replace("~0", "~")).expect("a key");
    value
}

#[test]
fn removing_any_key_changes_what_is_read() {
    let example = example();
    let whole = read(&example).unwrap_or_else(|said| panic!("the example cannot be read:\n{said}"));
    let mut ignored = Vec::new();
    for (key, path) in keys(&example, declare::schema(), "File", "") {
        if read(&without(&example, &path)).is_ok_and(|less| less == whole) {
            ignored.push((key, path));
        }
    }
    assert!(ignored.is_empty(), "read and ignored: {ignored:#?}");
}

#[test]
fn the_example_holds_every_key_of_the_schema() {
    let schema = declare::schema();
    let mut known = BTreeSet::new();
    schema_keys(schema, "File", &mut known);
    for (name, def) in schema["$defs"].as_object().expect("definitions") {
        schema_keys(def, name, &mut known);
    }
    let shown: BTreeSet<Key> = keys(&example(), schema, "File", "").into_iter().map(|(key, _)| key).collect();
    let missing: Vec<&Key> = known.difference(&shown).collect();
    assert!(missing.is_empty(), "not in docs/examples/everything.yaml: {missing:#?}");
    assert!(known.len() > 150, "{} keys are too few to be all", known.len());
}

#[test]
fn the_committed_schema_is_the_one_that_is_printed() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/schema.json");
    let committed = std::fs::read_to_string(path).unwrap_or_default();
    let printed = serde_json::to_string_pretty(declare::schema()).expect("JSON") + "\n";
    assert!(
        committed == printed,
        "docs/schema.json is old: `punctual schema > docs/schema.json` makes it new"
    );
}
