//! Settings on the screen.

use punctual::{Failure, Resolved, Settings, Source};
use serde_json::{Map, Value, json};

use super::Output;
use super::table::table;

/// What commands act on and for, and who named it.
pub(crate) struct Place {
    pub(crate) name: &'static str,
    pub(crate) value: Option<String>,
    pub(crate) source: Source,
}

/// A source in JSON: what kind, and its name.
fn source_json(source: &Source) -> (&'static str, Option<&str>) {
    match source {
        Source::Flag(name) => ("flag", Some(name.as_str())),
        Source::Environment(name) => ("environment", Some(name.as_str())),
        Source::File(path) => ("file", Some(path.as_str())),
        Source::Default => ("default", None),
    }
}

/// Every setting with its value and where it came from.
pub(crate) fn show(output: &Output, settings: &Settings, places: &[Place]) -> Result<(), Failure> {
    let one = |one: &Resolved| -> Value {
        let (source, from) = source_json(&one.source);
        let value = one.value.parse::<u64>().map_or_else(|_| json!(one.value), |number| json!(number));
        json!({
            "value": value,
            "source": source,
            "from": from,
            "default": one.setting.default,
            "variable": one.setting.variable(),
        })
    };
    let place = |place: &Place| -> (String, Value) {
        let (source, from) = source_json(&place.source);
        (place.name.to_owned(), json!({"value": place.value, "source": source, "from": from}))
    };
    let all = settings.all.iter().map(|resolved| (resolved.setting.name.to_owned(), one(resolved)));
    let all: Map<String, Value> = all.chain(places.iter().map(place)).collect();
    output.write(&json!({ "settings": all }), || {
        let cells = settings.all.iter().map(|one| {
            let what = one.setting.what.to_owned();
            vec![one.setting.name.to_owned(), one.value.clone(), one.source.to_string(), what]
        });
        let places = places.iter().map(|place| {
            let value = place.value.clone().unwrap_or("-".to_owned());
            vec![
                place.name.to_owned(),
                value,
                place.source.to_string(),
                "what commands act on and for".to_owned(),
            ]
        });
        table(&["SETTING", "VALUE", "FROM", "WHAT IT IS"], cells.chain(places))
    })
}
