//! The text of durations: `90s`, `1h 30m`, `2 weeks`, `monthly`, `45`.

use crate::{Error, Interval, Unit};

/// Longer texts are not read.
const TEXT_LEN_MAX: usize = 64;

const WORDS: [(&str, u64, Unit); 12] = [
    ("secondly", 1, Unit::Second),
    ("minutely", 60, Unit::Second),
    ("hourly", 3600, Unit::Second),
    ("daily", 1, Unit::Day),
    ("nightly", 1, Unit::Day),
    ("weekly", 7, Unit::Day),
    ("biweekly", 14, Unit::Day),
    ("fortnightly", 14, Unit::Day),
    ("monthly", 1, Unit::Month),
    ("quarterly", 3, Unit::Month),
    ("yearly", 12, Unit::Month),
    ("annually", 12, Unit::Month),
];

/// The units by their names; the first that matches whole counts.
const UNITS: [(&[&str], u64, Unit); 7] = [
    (&["s", "sec", "secs", "second", "seconds"], 1, Unit::Second),
    (&["m", "min", "mins", "minute", "minutes"], 60, Unit::Second),
    (&["h", "hr", "hrs", "hour", "hours"], 3600, Unit::Second),
    (&["d", "day", "days"], 1, Unit::Day),
    (&["w", "wk", "wks", "week", "weeks"], 7, Unit::Day),
    (&["mo", "mos", "month", "months"], 1, Unit::Month),
    (&["y", "yr", "yrs", "year", "years"], 12, Unit::Month),
];

const HINT: &str =
    "write `90s`, `5m`, `2h`, `1d`, `2 weeks`, `hourly`, `daily`, `weekly`, `monthly`, or seconds";

pub(crate) fn interval(text: &str) -> Result<Interval, Error> {
    let (count, unit) = read(text)?;
    Interval::new(count, unit).map_err(|error| error.at(0..text.len()))
}

/// A number and its unit; a delay may be zero, an interval may not.
pub(crate) fn read(text: &str) -> Result<(u64, Unit), Error> {
    if text.len() > TEXT_LEN_MAX {
        return Err(not_understood(text));
    }
    let lower = text.trim().to_ascii_lowercase();
    if let Some(&(_, count, unit)) = WORDS.iter().find(|(word, ..)| *word == lower) {
        return Ok((count, unit));
    }
    if !lower.is_empty() && lower.bytes().all(|byte| byte.is_ascii_digit()) {
        return Ok((lower.parse().unwrap_or(u64::MAX), Unit::Second));
    }
    let mut total: Option<(u64, Unit)> = None;
    let mut rest = lower.as_str();
    while !rest.is_empty() {
        let (part, after) = part(text, rest)?;
        total = Some(match total {
            None => part,
            Some((sum, unit)) if unit == part.1 => (sum.saturating_add(part.0), unit),
            Some(_) => {
                return Err(Error::new(
                    "mixed_interval",
                    format!("`{}` mixes calendar units with hours", text.trim()),
                )
                .at(0..text.len())
                .with_hint("days and months follow the calendar, hours the clock: use one of them"));
            }
        });
        rest = after;
    }
    total.ok_or_else(|| not_understood(text))
}

/// One number with its unit, and what follows.
fn part<'a>(whole: &str, text: &'a str) -> Result<((u64, Unit), &'a str), Error> {
    let text = text.trim_start();
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, after) = text.split_at(digits);
    let after = after.trim_start();
    if after.starts_with('.') || after.starts_with(',') {
        return Err(Error::new("fraction", format!("`{}` has a fraction", whole.trim()))
            .at(0..whole.len())
            .with_hint("write whole numbers in a smaller unit: `90m` instead of `1.5h`"));
    }
    let letters = after.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(after.len());
    let (name, rest) = after.split_at(letters);
    if matches!(name, "ms" | "us" | "ns" | "millisecond" | "milliseconds" | "millis") {
        return Err(Error::new("sub_second", format!("`{}` is finer than a second", whole.trim()))
            .at(0..whole.len())
            .with_hint("the shortest interval is `1s`"));
    }
    let number: u64 = if number.is_empty() {
        return Err(not_understood(whole));
    } else {
        number.parse().unwrap_or(u64::MAX)
    };
    let found = UNITS.iter().find(|(names, ..)| names.contains(&name));
    match found {
        Some(&(_, count, unit)) => Ok(((number.saturating_mul(count), unit), rest.trim_start())),
        None => Err(not_understood(whole)),
    }
}

fn not_understood(text: &str) -> Error {
    let shown: String = text.trim().chars().take(TEXT_LEN_MAX).collect();
    Error::new("bad_interval", format!("`{shown}` is not an interval")).at(0..text.len()).with_hint(HINT)
}
