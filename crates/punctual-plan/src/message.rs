//! Messages: a template becomes the event that the outbox holds for a run.
//!
//! The scheduler says who speaks (`source.channel`, `source.connector_id`), by which id, and adds what the run knows of
//! itself as `context`. The rest is the template's, with its `{{ … }}` filled in. A message is stored before it is read,
//! so it never holds a secret: references are refused when it is written.

use core::fmt;

use serde_json::{Value, json};

use crate::rule::{Rule, holds};
use crate::stencil::{BadStencil, Mark, Stencil, ValueForm};
use crate::{Facts, Object};

/// What a message says about its source: whoever reads it tells a scheduler from a person by this.
pub const MESSAGE_CHANNEL: &str = "scheduler";

/// A template is at most this long as JSON: brokers take a megabyte, and the context comes on top.
pub const MESSAGE_BYTES_MAX: usize = 256 * 1024;

/// The keys of `source` that the scheduler says itself.
const SPOKEN: [&str; 2] = ["channel", "connector_id"];

/// The id of a run's message for brokers that deduplicate: a repeated attempt has another one.
///
/// ```
/// # use punctual_plan::{Action, Facts, Object, Origin, RunKey, Schedule, ScheduleId, message_id};
/// # let timing = punctual_time::Timing::new("@daily".parse::<punctual_time::Cron>()?, punctual_time::Zone::utc());
/// # let at = "2026-01-01T00:00:00Z".parse()?;
/// # let id = ScheduleId(uuid::Uuid::nil());
/// # let schedule = Schedule::new(id, "note", timing, Action::Message { message: Object::new() });
/// # let (run, origin, nonce) = (RunKey(1), Origin::Tick, "");
/// # let (attempt, trace) = (1, None);
/// # let facts = Facts { schedule: &schedule, run, origin, nonce, scheduled_for: at, fire_at: at, triggered_at: at, attempt, trace };
/// let first = message_id(&facts);
/// assert_eq!(first, facts.idempotency_key());
/// assert_eq!(message_id(&Facts { attempt: 2, ..facts }), format!("{first}:2"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn message_id(facts: &Facts<'_>) -> String {
    let key = facts.idempotency_key();
    if facts.attempt > 1 && holds(Rule::EachAttemptItsMessage) {
        format!("{key}:{}", facts.attempt)
    } else {
        key
    }
}

/// The message of a run.
///
/// A template that was stored before it was checked is written as far as it can be: what cannot be filled in stays as it
/// is, for an admission cannot be refused because of it.
pub fn message_event(template: &Object, facts: &Facts<'_>) -> Object {
    let known = facts.object();
    let mut event = Object::new();
    event.insert("id".to_owned(), json!(message_id(facts)));
    event.insert("source".to_owned(), Value::Null);
    for (key, value) in template {
        event.insert(key.clone(), filled(value, &known));
    }
    event.insert("id".to_owned(), json!(message_id(facts)));
    let mut source = taken(&mut event, "source");
    source.insert(SPOKEN[0].to_owned(), json!(MESSAGE_CHANNEL));
    source.insert(SPOKEN[1].to_owned(), known["schedule_id"].clone());
    event.insert("source".to_owned(), Value::Object(source));
    let mut context = taken(&mut event, "context");
    context.extend(known);
    event.insert("context".to_owned(), Value::Object(context));
    event
}

/// The object under a key, or an empty one.
fn taken(event: &mut Object, key: &str) -> Object {
    match event.get_mut(key).map(Value::take) {
        Some(Value::Object(object)) => object,
        _ => Object::new(),
    }
}

/// A value with its places filled. A text that is one place becomes the value itself, whatever its kind.
fn filled(value: &Value, known: &Object) -> Value {
    match value {
        Value::String(text) => filled_text(text, known),
        Value::Array(items) => items.iter().map(|item| filled(item, known)).collect(),
        Value::Object(object) => {
            Value::Object(object.iter().map(|(key, value)| (key.clone(), filled(value, known))).collect())
        }
        other => other.clone(),
    }
}

fn filled_text(text: &str, known: &Object) -> Value {
    let Ok(Stencil(marks)) = Stencil::parse(text) else { return json!(text) };
    if let [Mark::Value { path, form: ValueForm::Plain }] = marks.as_slice() {
        return found(known, path).cloned().unwrap_or_default();
    }
    let part = |mark: &Mark| match mark {
        Mark::Text(text) => text.clone(),
        Mark::Reference(reference) => reference.to_string(),
        Mark::Value { path, form } => said(found(known, path), *form),
    };
    Value::String(marks.iter().map(part).collect())
}

/// A value inside a longer text: nothing, if there is none.
fn said(value: Option<&Value>, form: ValueForm) -> String {
    match (value, form) {
        (None | Some(Value::Null), ValueForm::Plain) => String::new(),
        (None, ValueForm::Json) => Value::Null.to_string(),
        (Some(Value::String(text)), ValueForm::Plain) => text.clone(),
        (Some(value), _) => value.to_string(),
    }
}

fn found<'a>(known: &'a Object, path: &[String]) -> Option<&'a Value> {
    let (first, below) = path.split_first()?;
    below.iter().try_fold(known.get(first)?, |value, key| value.get(key.as_str()))
}

/// Checks a template against the payload that its runs carry.
///
/// # Errors
/// At the first place that could not be filled in, that is the scheduler's own, or that refers to a secret.
pub fn check_message(template: &Object, payload: &Object) -> Result<(), BadMessage> {
    let bytes = Value::Object(template.clone()).to_string().len();
    if bytes > MESSAGE_BYTES_MAX {
        return Err(BadMessage::of("", Fault::Long(bytes)));
    }
    if template.contains_key("id") {
        return Err(BadMessage::of("id", Fault::Own));
    }
    for key in ["source", "context"] {
        if template.get(key).is_some_and(|value| !value.is_object()) {
            return Err(BadMessage::of(key, Fault::NoObject));
        }
    }
    if let Some(source) = template.get("source").and_then(Value::as_object)
        && let Some(key) = SPOKEN.iter().find(|key| source.contains_key(**key))
    {
        return Err(BadMessage::of(&format!("source.{key}"), Fault::Own));
    }
    template.iter().try_for_each(|(key, value)| check(value, key, payload))
}

fn check(value: &Value, place: &str, payload: &Object) -> Result<(), BadMessage> {
    match value {
        Value::String(text) => check_text(text, place, payload),
        Value::Array(items) => {
            let mut numbered = items.iter().enumerate();
            numbered.try_for_each(|(number, item)| check(item, &format!("{place}.{number}"), payload))
        }
        Value::Object(object) => {
            object.iter().try_for_each(|(key, value)| check(value, &format!("{place}.{key}"), payload))
        }
        _ => Ok(()),
    }
}

fn check_text(text: &str, place: &str, payload: &Object) -> Result<(), BadMessage> {
    let stencil = Stencil::parse(text).map_err(|problem| BadMessage::of(place, Fault::Text(problem)))?;
    for mark in &stencil.0 {
        match mark {
            Mark::Text(_) => {}
            Mark::Reference(reference) => {
                return Err(BadMessage::of(place, Fault::Stored(reference.to_string())));
            }
            Mark::Value { path, .. } => check_path(path, place, payload)?,
        }
    }
    Ok(())
}

fn check_path(path: &[String], place: &str, payload: &Object) -> Result<(), BadMessage> {
    let absent = || BadMessage::of(place, Fault::Absent(path.join(".")));
    match path {
        // A message is written by the database, which has no claim of its own to show.
        [first, ..] if first == "fence" => Err(absent()),
        [first, below @ ..] if first == "payload" => match below {
            [] => Ok(()),
            below => found(payload, below).map(drop).ok_or_else(absent),
        },
        // What a run may lack is nothing then; the others are no groups of keys.
        [_] => Ok(()),
        _ => Err(absent()),
    }
}

/// A template that cannot be meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadMessage {
    /// The path to the value, such as `text` or `source.channel`; empty for the whole.
    pub place: String,
    /// What is wrong with it.
    pub fault: Fault,
}

impl BadMessage {
    fn of(place: &str, fault: Fault) -> Self {
        Self { place: place.to_owned(), fault }
    }

    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match &self.fault {
            Fault::Own => "leave it out: the scheduler says it",
            Fault::NoObject => "write keys with values",
            Fault::Absent(_) => {
                "add it to `payload`, or name what every run has, such as `{{ scheduled_for }}`"
            }
            Fault::Stored(_) => "a message is stored as it is sent: let its reader look secrets up",
            Fault::Long(_) => "keep what is long elsewhere, and send where it is",
            Fault::Text(BadStencil::Unknown(_)) => {
                "name what a run has, such as `{{ scheduled_for }}` or `{{ payload.KEY }}`; `{{{{` stands for `{{`"
            }
            Fault::Text(_) => "write `{{ NAME }}` or `{{ NAME | json }}`; `{{{{` stands for `{{`",
        }
    }
}

/// What is wrong with a value of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It is the scheduler's to say.
    Own,
    /// It must be an object.
    NoObject,
    /// It names what the run does not have.
    Absent(String),
    /// It refers to something that may not be stored.
    Stored(String),
    /// It is too long.
    Long(usize),
    /// It cannot be read.
    Text(BadStencil),
}

impl fmt::Display for BadMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = &self.place;
        match &self.fault {
            Fault::Own => write!(f, "`{place}` of a message is not for its template to say"),
            Fault::NoObject => write!(f, "`{place}` of a message is not a group of keys"),
            Fault::Absent(name) => write!(f, "`{place}` of the message: its run has no `{name}`"),
            Fault::Stored(reference) => write!(f, "`{place}` of the message refers to `{reference}`"),
            Fault::Long(bytes) => {
                write!(f, "the message has {bytes} bytes, and at most {MESSAGE_BYTES_MAX} fit")
            }
            Fault::Text(problem) => write!(f, "`{place}` of the message: {problem}"),
        }
    }
}

impl core::error::Error for BadMessage {}
