//! The format of a story: one thing a line, what belongs to a schedule indented under it.
//!
//! ```text
//! # a comment
//! from 2026-01-01T09:55:00Z          to 10:45:00 (a time alone is of the first day, in UTC)
//! schedule poll cron */10 * * * *    or: every 10m | at TIME | on load success
//!   catch_up run_once                settings, see `setting`
//! outage 10:05:00 10:20:00
//! limit per_minute 3 over wait
//! at 10:30:00 poll pause ada         acts, see `script`
//! ```

use jiff::{SignedDuration, Timestamp};
use punctual_plan::{Edit, OrgLimits, Outage, OverLimit, Scenario};

use crate::script::Script;

/// A line that cannot be read.
pub(crate) type Trouble = String;

/// Reads a story.
pub(crate) fn scenario(text: &str) -> Result<Scenario, Trouble> {
    let mut script = Script::new();
    for (number, line) in text.lines().enumerate() {
        let words: Vec<&str> = line.split_whitespace().collect();
        if words.is_empty() || words[0].starts_with('#') {
            continue;
        }
        let is_setting = line.starts_with(' ');
        let read = if is_setting { script.set(&words) } else { script.read(&words) };
        read.map_err(|trouble| format!("line {}: {trouble}: {line}", number + 1))?;
    }
    script.finish()
}

/// A whole instant, or a time of the first day.
pub(crate) fn instant(text: &str, first: Option<Timestamp>) -> Result<Timestamp, Trouble> {
    if let Ok(at) = text.parse() {
        return Ok(at);
    }
    let first = first.ok_or("the first instant needs its date")?;
    let text = if text.len() == 5 { format!("{text}:00") } else { text.to_owned() };
    let date = first.strftime("%Y-%m-%d");
    format!("{date}T{text}Z").parse().map_err(|error| format!("{error}"))
}

/// A number with its unit.
pub(crate) fn duration(text: &str) -> Result<SignedDuration, Trouble> {
    let (number, unit) = text.split_at(text.len() - 1);
    let number: i64 = number.parse().map_err(|_| format!("`{text}` is no duration"))?;
    match unit {
        "s" => Ok(SignedDuration::from_secs(number)),
        "m" => Ok(SignedDuration::from_mins(number)),
        "h" => Ok(SignedDuration::from_hours(number)),
        "d" => Ok(SignedDuration::from_hours(24 * number)),
        _ => Err(format!("`{text}` is no duration")),
    }
}

/// `per_minute 3 in_flight 2 over wait`, each of them if wanted.
pub(crate) fn limits(words: &[&str]) -> Result<OrgLimits, Trouble> {
    let mut limits = OrgLimits { per_minute_max: None, in_flight_max: None, over: OverLimit::Wait };
    for pair in words.chunks(2) {
        let [key, value] = pair else { return Err("a limit without its number".to_owned()) };
        let number = || value.parse().map(Some).map_err(|_| format!("`{value}` is no number"));
        match *key {
            "per_minute" => limits.per_minute_max = number()?,
            "in_flight" => limits.in_flight_max = number()?,
            "over" => limits.over = value.parse().map_err(|error| format!("{error}"))?,
            _ => return Err(format!("`{key}` is no limit")),
        }
    }
    Ok(limits)
}

/// `FROM TO`.
pub(crate) fn outage(words: &[&str], first: Timestamp) -> Result<Outage, Trouble> {
    let [from, to] = words else { return Err("an outage has two ends".to_owned()) };
    Ok(Outage { from: instant(from, Some(first))?, to: instant(to, Some(first))? })
}

/// Puts what people do in the order of time.
pub(crate) fn in_order(mut edits: Vec<Edit>) -> Vec<Edit> {
    edits.sort_by_key(|edit| edit.at);
    edits
}
