//! One schedule given by its keys, such as the flags of a command: the same keys, checks and words as in a file.

use serde_json::{Map, Value};

use super::builder::Builder;
use super::declared::Schedule;
use super::ground::Ground;
use super::node::{Content, Entry, Node};
use super::order;
use super::problem::{Place, Problems, Source};
use super::schema::schema;
use super::template;
use crate::Failure;

/// The keys whose own keys are told by name; what is in the others belongs to people.
const GROUPS: [&str; 7] =
    ["target", "target.circuit_breaker", "target.limits", "launch", "dst", "on", "jitter"];

/// No source has this number, so a problem with what is missing is told without a place.
const NOWHERE: Place = Place { file: u32::MAX, line: 0, column: 0 };

/// Reads one schedule. A problem is told by what `told` makes of its key: `if_running`, `launch.attempts`.
///
/// # Errors
/// When the keys cannot be meant: with every key, what stands there, and what to write.
pub fn read_keys(
    keys: &Map<String, Value>,
    ground: &Ground,
    told: &dyn Fn(&str) -> String,
) -> Result<Schedule, Failure> {
    let mut sources = Vec::new();
    let node = tree(keys, "", &mut sources);
    let mut builder = Builder::on(ground, Problems::default());
    let templates: Vec<Entry> = stored_templates(ground).collect();
    let known = templates.iter().map(|entry| (entry.key.as_str(), entry)).collect();
    let whole = template::expand(node, &known, &mut builder.copies, &mut builder.problems);
    let mut placed = None;
    if builder.problems.count() == 0
        && builder.has_shape(&whole, &schema()["properties"]["schedules"]["items"])
    {
        placed = builder.schedule(&whole);
    }
    if let Some(placed) = placed.as_ref().filter(|_| builder.problems.count() == 0) {
        order::check(std::slice::from_ref(placed), &ground.names, &mut builder.problems);
    }
    let paths: Vec<String> = sources.iter().map(|source: &Source| source.name.clone()).collect();
    for source in &mut sources {
        source.name = told(&source.name);
    }
    let failure = std::mem::take(&mut builder.problems).into_failure(&sources);
    match (failure, placed) {
        (None, Some(placed)) => Ok(placed.schedule),
        (Some(failure), _) => Err(retold(&failure, &paths, told)),
        (None, None) => {
            Err(Failure::invalid("these keys make no schedule", "compare them with `punctual schema`"))
        }
    }
}

/// The templates of a database as entries of a file.
pub(super) fn stored_templates(ground: &Ground) -> impl Iterator<Item = Entry> {
    ground.templates.iter().map(|(name, value)| Entry {
        key: name.clone(),
        place: NOWHERE,
        value: Node::of_json(value, NOWHERE),
    })
}

/// The keys as a tree; each becomes a source of its own, named by its path.
fn tree(keys: &Map<String, Value>, above: &str, sources: &mut Vec<Source>) -> Node {
    let mut entries = Vec::new();
    for (key, value) in keys {
        let path = format!("{above}{key}");
        let place = Place { file: u32::try_from(sources.len()).unwrap_or(u32::MAX), line: 0, column: 0 };
        sources.push(Source { name: path.clone(), text: String::new() });
        let value = match value {
            Value::Object(below) if GROUPS.contains(&path.as_str()) => {
                Node { place, ..tree(below, &format!("{path}."), sources) }
            }
            other => Node::of_json(other, place),
        };
        entries.push(Entry { key: key.clone(), place, value });
    }
    Node { place: NOWHERE, value: Content::Map(entries) }
}

/// A message in which the keys that it names are those that the person knows.
fn retold(failure: &Failure, paths: &[String], told: &dyn Fn(&str) -> String) -> Failure {
    let retell = |text: &str| -> String {
        let part = |(number, part): (usize, &str)| -> String {
            let is_key = number % 2 == 1 && (is_key(part) || paths.iter().any(|path| path == part));
            if is_key { told(part) } else { part.to_owned() }
        };
        text.split('`').enumerate().map(part).collect::<Vec<_>>().join("`")
    };
    let hint = failure.hint.as_deref().map(retell);
    Failure { kind: failure.kind, message: retell(&failure.message), hint }
}

/// Whether a word is a key of a schedule.
fn is_key(word: &str) -> bool {
    let item = super::schema::resolve(&schema()["properties"]["schedules"]["items"]);
    item["properties"].get(word).is_some()
}
