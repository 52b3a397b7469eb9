//! Settings on the screen.

use punctual::{Failure, Resolved, Settings, Source};
use serde_json::{Map, Value, json};

use super::Output;
use super::table::table;

/// Every setting with its value and where it came from.
pub(crate) fn show(output: &Output, settings: &Settings) -> Result<(), Failure> {
    let one = |one: &Resolved| -> Value {
        let (source, from) = match &one.source {
            Source::Flag(name) => ("flag", Some(name.as_str())),
            Source::Environment(name) => ("environment", Some(name.as_str())),
            Source::File(path) => ("file", Some(path.as_str())),
            Source::Default => ("default", None),
        };
        let value = one.value.parse::<u64>().map_or_else(|_| json!(one.value), |number| json!(number));
        json!({
            "value": value,
            "source": source,
            "from": from,
            "default": one.setting.default,
            "variable": one.setting.variable(),
            "reloads": one.setting.is_reloaded,
        })
    };
    let all: Map<String, Value> =
        settings.all.iter().map(|resolved| (resolved.setting.name.to_owned(), one(resolved))).collect();
    output.write(&json!({ "settings": all }), || {
        let cells = settings.all.iter().map(|one| {
            vec![
                one.setting.name.to_owned(),
                one.value.clone(),
                one.source.to_string(),
                one.setting.what.to_owned(),
            ]
        });
        table(&["SETTING", "VALUE", "FROM", "WHAT IT IS"], cells)
    })
}
