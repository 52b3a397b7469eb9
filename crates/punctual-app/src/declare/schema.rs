//! The JSON Schema of the file: made from the types that read it, for people's editors and for our own check.
//!
//! An absent key is left out, never `null`, and no key is ignored: both are said in the schema.

use std::sync::LazyLock;

use serde_json::{Map, Value, json};

use super::raw;

/// Where it is published.
const ID: &str = "https://punctual.dev/schema.json";

static SCHEMA: LazyLock<Value> = LazyLock::new(build);

/// The JSON Schema of a file of schedules.
///
/// ```
/// let schema = punctual_app::declare::schema();
/// assert!(schema["properties"]["schedules"].is_object());
/// ```
pub fn schema() -> &'static Value {
    &SCHEMA
}

fn build() -> Value {
    let mut schema = schemars::schema_for!(raw::File).to_value();
    let defs = schema["$defs"].clone();
    tidy(&mut schema, &defs);
    loosen_template(&mut schema["$defs"]["Template"]);
    schema["$id"] = json!(ID);
    schema["title"] = json!("Punctual schedules");
    drop_unused(&mut schema);
    schema
}

/// Brings every part into the form that the check understands.
fn tidy(schema: &mut Value, defs: &Value) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(|item| tidy(item, defs)),
        Value::Object(object) => {
            join_variant(object, defs);
            drop_null(object);
            // Widths of integers say nothing to people.
            if object.get("format").is_some_and(Value::is_string) {
                object.shift_remove("format");
            }
            if object.get("default").is_some_and(Value::is_null) {
                object.shift_remove("default");
            }
            if object.get("properties").is_some_and(Value::is_object)
                && !object.contains_key("additionalProperties")
                && !object.contains_key("oneOf")
            {
                object.insert("additionalProperties".into(), Value::Bool(false));
            }
            object.values_mut().for_each(|part| tidy(part, defs));
        }
        _ => {}
    }
}

/// A variant of a target is its `type` beside a reference to its keys: they become one object.
fn join_variant(object: &mut Map<String, Value>, defs: &Value) {
    if !object.contains_key("properties") {
        return;
    }
    let Some(name) = object.get("$ref").and_then(|name| def_name(name).map(str::to_owned)) else { return };
    object.shift_remove("$ref");
    let def = &defs[name];
    if let (Some(into), Some(from)) = (object["properties"].as_object_mut(), def["properties"].as_object()) {
        into.extend(from.clone());
    }
    let required = object.entry("required").or_insert_with(|| json!([]));
    if let (Some(into), Some(from)) = (required.as_array_mut(), def["required"].as_array()) {
        into.extend(from.clone());
    }
}

fn drop_null(object: &mut Map<String, Value>) {
    let is_null = |part: &Value| *part == json!("null") || *part == json!({"type": "null"});
    if let Some(Value::Array(types)) = object.get_mut("type") {
        types.retain(|part| !is_null(part));
        if let [only] = types.as_slice() {
            let only = only.clone();
            object.insert("type".into(), only);
        }
    }
    let Some(Value::Array(parts)) = object.get_mut("anyOf") else { return };
    parts.retain(|part| !is_null(part));
    if let [Value::Object(only)] = parts.as_slice() {
        let only = only.clone();
        object.shift_remove("anyOf");
        object.extend(only);
    }
}

/// A template's values may be `${…}`, whatever they stand for.
fn loosen_template(template: &mut Value) {
    if let Some(properties) = template["properties"].as_object_mut() {
        for property in properties.values_mut() {
            *property = json!({"description": property["description"]});
        }
    }
}

/// Definitions that were joined into others are named by nobody.
fn drop_unused(schema: &mut Value) {
    let text = schema.to_string();
    if let Some(defs) = schema["$defs"].as_object_mut() {
        defs.retain(|name, _| text.contains(&format!("\"#/$defs/{name}\"")));
    }
}

/// The name in `#/$defs/NAME`.
fn def_name(reference: &Value) -> Option<&str> {
    reference.as_str()?.strip_prefix("#/$defs/")
}

/// The schema that a part refers to, or itself.
pub(super) fn resolve(part: &'static Value) -> &'static Value {
    match part.get("$ref").and_then(def_name) {
        Some(name) => &schema()["$defs"][name],
        None => part,
    }
}
