//! Durations of policies: lengths of elapsed time.

use jiff::SignedDuration;
use punctual_time::{Interval, Unit};

use super::node::Node;
use super::problem::Problems;
use super::raw_word::DurationText;
use crate::Failure;

/// The longest duration of a policy: ten years.
const SECONDS_MAX: i64 = 10 * 366 * 86_400;
const DAY_SECONDS: i64 = 86_400;

/// Reads the duration of a key; notes what is wrong with it.
pub(super) fn read(
    text: Option<&DurationText>,
    key: &str,
    node: &Node,
    problems: &mut Problems,
) -> Option<SignedDuration> {
    let DurationText(text) = text?;
    match parse(text) {
        Ok(duration) => Some(duration),
        Err(failure) => {
            problems.refuse(node.place_of(key), failure);
            None
        }
    }
}

/// Reads a duration: `30s`, `5m`, `2h`, `1d`, `500ms`, or a number of seconds.
///
/// # Errors
/// When it is none, or has no fixed length.
pub fn parse(text: &str) -> Result<SignedDuration, Failure> {
    if let Some(short) = short(text) {
        return Ok(short);
    }
    let interval = text.parse::<Interval>().map_err(|error| {
        let hint = "write `30s`, `5m`, `2h`, `1d`, or a number of seconds";
        Failure::invalid(error.to_string().replace("an interval", "a duration"), hint)
    })?;
    let count = i64::from(interval.count());
    let seconds = match interval.unit() {
        Unit::Second => count,
        Unit::Day => count.saturating_mul(DAY_SECONDS),
        Unit::Month => {
            return Err(Failure::invalid(
                format!("`{text}` has no fixed length"),
                "write days, such as `30d`",
            ));
        }
    };
    if seconds > SECONDS_MAX {
        return Err(Failure::invalid(format!("`{text}` is too long"), "write at most `3660d`"));
    }
    Ok(SignedDuration::from_secs(seconds))
}

/// Nothing at all, and milliseconds: neither is an interval, both are durations.
fn short(text: &str) -> Option<SignedDuration> {
    let text = text.trim();
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let number: i64 =
        digits.trim().parse().ok().filter(|number| (0..=SECONDS_MAX * 1_000).contains(number))?;
    match &text[digits.len()..] {
        "ms" => Some(SignedDuration::from_millis(number)),
        "" | "s" | "m" | "h" | "d" if number == 0 => Some(SignedDuration::ZERO),
        _ => None,
    }
}
