//! Moments as people write them: an instant, a local time, a date, or so long ago.

use jiff::civil::{Date, Time};
use jiff::{Span, Timestamp, Zoned};
use punctual_time::{Interval, Once, Unit, Zone};

use crate::Failure;

/// What to write for a moment.
const HINT: &str = "write `7 days ago`, `2h ago`, `yesterday`, `2026-11-15`, `2026-11-15T18:00` for a local time, or \
                    `2026-11-15T18:00:00+01:00`";

/// Reads a moment of the past: `7 days ago`, `90m ago`, `now`, `today`, `yesterday`, a date, a local time of the zone, or
/// RFC 3339. Days and months are of the calendar in the zone.
///
/// ```
/// let now = "2026-11-15T12:00:00Z".parse()?;
/// let zone = punctual_time::Zone::get("Europe/Paris")?;
/// let read = |text: &str| punctual_app::moment(text, &zone, now).map(|at| at.to_string());
/// assert_eq!(read("7 days ago")?, "2026-11-08T12:00:00Z");
/// assert_eq!(read("90m ago")?, "2026-11-15T10:30:00Z");
/// assert_eq!(read("2026-11-15")?, "2026-11-14T23:00:00Z");
/// assert!(read("some day").is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// When it is none of these.
pub fn moment(text: &str, zone: &Zone, now: Timestamp) -> Result<Timestamp, Failure> {
    let text = text.trim();
    let refuse = || Failure::invalid(format!("`{text}` is not a moment"), HINT);
    let here = now.to_zoned(zone.to_jiff());
    let midnight = |date: Date| date.to_datetime(Time::midnight()).to_zoned(zone.to_jiff());
    match text.to_lowercase().as_str() {
        "now" => return Ok(now),
        "today" => return midnight(here.date()).map(|at| at.timestamp()).map_err(|_| refuse()),
        "yesterday" => {
            let day = here.date().yesterday().map_err(|_| refuse())?;
            return midnight(day).map(|at| at.timestamp()).map_err(|_| refuse());
        }
        _ => {}
    }
    if let Some(length) = text.strip_suffix("ago").filter(|length| length.ends_with(' ')) {
        return before(&here, length.trim()).ok_or_else(refuse);
    }
    if let Ok(date) = text.parse::<Date>()
        && !text.contains(':')
    {
        return midnight(date).map(|at| at.timestamp()).map_err(|_| refuse());
    }
    Once::parse(text, zone).map(Once::instant).map_err(|_| refuse())
}

/// So long before a moment.
fn before(here: &Zoned, length: &str) -> Option<Timestamp> {
    let worded = ["a ", "an ", "one "].iter().find_map(|one| length.strip_prefix(one));
    let length = worded.map_or_else(|| length.to_owned(), |rest| format!("1 {rest}"));
    let interval: Interval = length.parse().ok()?;
    let count = i64::from(interval.count());
    let span = match interval.unit() {
        Unit::Second => Span::new().try_seconds(count).ok()?,
        Unit::Day => Span::new().try_days(count).ok()?,
        Unit::Month => Span::new().try_months(count).ok()?,
    };
    here.checked_sub(span).ok().map(|at| at.timestamp())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let now = "2026-11-15T12:00:00Z".parse().expect("a time");
        let zone = Zone::get("America/New_York").expect("a zone");
        let said = moment(text, &zone, now).map_or_else(|failure| failure.message, |at| at.to_string());
        assert_eq!(said, expected, "{text}");
    }

    #[test]
    fn moments_are_read_in_the_zone_they_are_meant_in() {
        check("now", "2026-11-15T12:00:00Z");
        check("today", "2026-11-15T05:00:00Z");
        check("Yesterday", "2026-11-14T05:00:00Z");
        check("7 days ago", "2026-11-08T12:00:00Z");
        check("2 weeks ago", "2026-11-01T12:00:00Z");
        check("a month ago", "2026-10-15T11:00:00Z");
        check("an hour ago", "2026-11-15T11:00:00Z");
        check("30s ago", "2026-11-15T11:59:30Z");
        check("2026-11-01", "2026-11-01T04:00:00Z");
        check("2026-11-15T09:00", "2026-11-15T14:00:00Z");
        check("2026-11-15T09:00:00+09:00", "2026-11-15T00:00:00Z");
        check("next week", "`next week` is not a moment");
        check("days ago", "`days ago` is not a moment");
        check("", "`` is not a moment");
    }
}
