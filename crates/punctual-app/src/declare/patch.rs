//! Changes to the keys of a schedule: what is set, what is cleared, and what goes with it.

use jiff::Timestamp;
use punctual_time::Zone;
use punctual_time::human::{self, Context};
use serde_json::{Map, Value};

use super::when::{MEANINGFUL, WAYS};

/// Keys by their path, such as `grace` or `launch.attempts`, with what they become; nothing clears one.
///
/// ```
/// use punctual::declare::Patch;
/// use serde_json::json;
///
/// let mut keys = json!({"every": "5m", "anchor": "last_start", "grace": "10s"});
/// let mut patch = Patch::default();
/// patch.set("cron", json!("@daily"));
/// patch.clear("grace");
/// patch.lay(keys.as_object_mut().unwrap(), jiff::Timestamp::UNIX_EPOCH);
/// assert_eq!(keys, json!({"cron": "@daily"}));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Patch {
    changes: Vec<(String, Option<Value>)>,
}

impl Patch {
    /// Sets a key.
    pub fn set(&mut self, path: &str, value: Value) {
        self.changes.push((path.to_owned(), Some(value)));
    }

    /// Clears a key, so that it is as usual.
    pub fn clear(&mut self, path: &str) {
        self.changes.push((path.to_owned(), None));
    }

    /// The changes as keys: `null` clears one, and those of a group stand in it.
    ///
    /// ```
    /// use punctual::declare::Patch;
    /// use serde_json::json;
    ///
    /// let mut patch = Patch::default();
    /// patch.set("launch.attempts", json!(5));
    /// patch.clear("grace");
    /// assert_eq!(json!(patch.keys()), json!({"launch": {"attempts": 5}, "grace": null}));
    /// ```
    pub fn keys(&self) -> Map<String, Value> {
        let mut keys = Map::new();
        for (path, value) in &self.changes {
            let value = value.clone().unwrap_or(Value::Null);
            match path.split_once('.') {
                Some((group, key)) => {
                    let below = keys.entry(group).or_insert_with(|| Value::Object(Map::new()));
                    if let Value::Object(below) = below {
                        below.insert(key.to_owned(), value);
                    }
                }
                None => {
                    keys.insert(path.clone(), value);
                }
            }
        }
        keys
    }

    /// Whether nothing changes.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// Whether it sets or clears a key, or one below it.
    pub fn has(&self, key: &str) -> bool {
        self.changes.iter().any(|(path, _)| path == key || path.split('.').next() == Some(key))
    }

    /// The value that it sets a key to.
    pub fn get(&self, path: &str) -> Option<&Value> {
        self.changes.iter().rfind(|(other, _)| other == path).and_then(|(_, value)| value.as_ref())
    }

    /// Whether it changes when the schedule fires.
    pub fn has_when(&self) -> bool {
        WAYS.iter().any(|way| self.has(way))
    }

    /// Lays the changes over keys. Another way to say when takes the place of the old one and of what only went with
    /// that, and English text that of the keys that it says itself.
    pub fn lay(&self, keys: &mut Map<String, Value>, now: Timestamp) {
        for (path, value) in &self.changes {
            let way = path.strip_suffix(".schedule").unwrap_or(path);
            if WAYS.contains(&way) && value.is_some() {
                self.make_way(way, keys);
            }
            lay_value(keys, path, value.as_ref());
        }
        if let Some(Value::String(text)) = self.get("schedule") {
            self.drop_said(text, keys, now);
        }
    }

    fn make_way(&self, way: &str, keys: &mut Map<String, Value>) {
        let is_kept = |key: &str| self.has(key);
        keys.retain(|key, _| !WAYS.contains(&key.as_str()) || is_kept(key));
        for (key, ways) in MEANINGFUL {
            if !ways.contains(&way) && !is_kept(key) {
                keys.shift_remove(key);
            }
        }
        // What it was reckoned from belonged to the interval before.
        if !is_kept("anchor_at") && way != "every" {
            keys.shift_remove("anchor_at");
        }
    }

    fn drop_said(&self, text: &str, keys: &mut Map<String, Value>, now: Timestamp) {
        let Ok(parsed) = human::parse(text, &Context { now, zone: Zone::utc() }) else { return };
        let said = [
            ("timezone", parsed.timezone.is_some()),
            ("start_at", parsed.start_at.is_some()),
            ("end_at", parsed.end_at.is_some()),
            ("only_between", parsed.only_between.is_some()),
        ];
        for (key, is_said) in said {
            if is_said && !self.has(key) {
                keys.shift_remove(key);
            }
        }
    }
}

fn lay_value(keys: &mut Map<String, Value>, path: &str, value: Option<&Value>) {
    match (path.split_once('.'), value) {
        (Some((group, key)), value) => lay_below(keys, group, (key, value)),
        (None, Some(value)) => {
            keys.insert(path.to_owned(), value.clone());
        }
        (None, None) => {
            keys.shift_remove(path);
        }
    }
}

/// Changes a key of a group; another `type` begins the group anew, and an empty group goes.
fn lay_below(keys: &mut Map<String, Value>, group: &str, (key, value): (&str, Option<&Value>)) {
    let below = keys.entry(group).or_insert_with(|| Value::Object(Map::new()));
    if !below.is_object() {
        *below = Value::Object(Map::new());
    }
    let Value::Object(below) = below else { return };
    if key == "type" && below.get("type") != value {
        below.clear();
    }
    lay_value(below, key, value);
    if below.is_empty() {
        keys.shift_remove(group);
    }
}
