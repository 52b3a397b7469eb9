//! Goal: no key of the schema is read and ignored.
//! Method: `docs/examples/everything.yaml` holds every key that the schema knows; each is removed in turn, and what was
//! read before must not be what is read after.

use std::collections::BTreeSet;

use jiff::Timestamp;
use punctual::declare::{self, Declared};
use serde_json::Value;

mod keys;

use keys::{Key, keys_of, schema_keys, without};

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

#[test]
fn removing_any_key_changes_what_is_read() {
    let example = example();
    let whole = read(&example).unwrap_or_else(|said| panic!("the example cannot be read:\n{said}"));
    let mut ignored = Vec::new();
    for (key, path) in keys_of(&example) {
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
    schema_keys(schema, &mut known);
    let shown: BTreeSet<Key> = keys_of(&example()).into_iter().map(|(key, _)| key).collect();
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
