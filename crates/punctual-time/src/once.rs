//! One-shots: an instant, a local time in a zone, or a delay.

use std::fmt;

use jiff::Timestamp;
use jiff::civil::DateTime;

use crate::civil::{self, DAY, Date};
use crate::dst::{Clock, DstRule};
use crate::walk::{self, GAP_SHIFT_MAX_SECONDS, Plan, ceil_second};
use crate::{Error, Unit, Zone};

/// One instant, on a whole second.
///
/// ```
/// use punctual_time::{Once, Zone};
///
/// let zone = Zone::get("Europe/Paris")?;
/// assert_eq!(Once::parse("2026-12-24T18:00", &zone)?, Once::parse("2026-12-24T17:00:00Z", &zone)?);
/// # Ok::<(), punctual_time::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Once {
    at: Timestamp,
}

impl Once {
    /// At an instant; parts of a second round up, so that it is never early.
    ///
    /// ```
    /// # use punctual_time::Once;
    /// let at = "2026-01-01T00:00:00.25Z".parse().unwrap();
    /// assert_eq!(Once::at(at).instant().to_string(), "2026-01-01T00:00:01Z");
    /// ```
    pub fn at(at: Timestamp) -> Once {
        Once { at: Timestamp::from_second(ceil_second(at)).unwrap_or(Timestamp::MAX) }
    }

    /// At an RFC 3339 time, or at a local time of a zone. A local time that a clock change skips is the first
    /// instant after the gap; one that is repeated is the first of the two.
    ///
    /// ```
    /// # use punctual_time::{Once, Zone};
    /// let zone = Zone::get("America/New_York")?;
    /// let gap = Once::parse("2025-03-09 02:30", &zone)?;
    /// assert_eq!(gap.to_string(), "2025-03-09T07:00:00Z");
    ///
    /// let error = Once::parse("tomorrow", &zone).unwrap_err();
    /// assert_eq!(error.code(), "bad_time");
    /// # Ok::<(), punctual_time::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If the text is neither, or names a local time in a day that the zone left out.
    pub fn parse(text: &str, zone: &Zone) -> Result<Once, Error> {
        let text = text.trim();
        if let Ok(at) = text.parse::<Timestamp>() {
            return Ok(Once::at(at));
        }
        match text.parse::<DateTime>() {
            Ok(local) if text.contains(':') => Once::local(local, zone, text),
            _ => Err(Error::new("bad_time", format!("`{text}` is not a time"))
                .at(0..text.len())
                .with_hint("write `2026-12-24T18:00:00+01:00`, or `2026-12-24T18:00` for local time")),
        }
    }

    fn local(local: DateTime, zone: &Zone, text: &str) -> Result<Once, Error> {
        let date = Date { year: local.year().into(), month: local.month() as u32, day: local.day() as u32 };
        let time = local.hour() as i64 * 3600 + local.minute() as i64 * 60 + local.second() as i64;
        let second = civil::day_of(date) * DAY + time + i64::from(local.subsec_nanosecond() > 0);
        let plan = Single(second);
        let policy = DstRule::default().policy(Clock::Wall);
        let found = walk::next(&plan, policy, second - 3 * DAY, zone);
        match found.and_then(|second| Timestamp::from_second(second).ok()) {
            Some(at) => Ok(Once { at }),
            None => Err(Error::new("no_such_time", format!("`{text}` does not exist in `{zone}`"))
                .at(0..text.len())
                .with_hint(format!(
                    "clocks went forward by more than `{}` hours there",
                    GAP_SHIFT_MAX_SECONDS / 3600
                ))),
        }
    }

    /// A delay after an instant: `20m`, `2h`, `1 week`; days and months are of the calendar in the zone.
    ///
    /// ```
    /// # use punctual_time::{Once, Zone};
    /// let now = "2026-03-28T12:00:00Z".parse().unwrap();
    /// assert_eq!(Once::after("20m", now, &Zone::utc())?.to_string(), "2026-03-28T12:20:00Z");
    /// // The night in between has 23 hours.
    /// let zone = Zone::get("Europe/Berlin")?;
    /// assert_eq!(Once::after("1d", now, &zone)?.to_string(), "2026-03-29T11:00:00Z");
    /// # Ok::<(), punctual_time::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If the text is not a duration, or the instant is beyond the end of time.
    pub fn after(delay: &str, from: Timestamp, zone: &Zone) -> Result<Once, Error> {
        let (count, unit) = crate::duration::read(delay)?;
        if count == 0 {
            return Ok(Once::at(from));
        }
        let interval = crate::Interval::new(count, unit).map_err(|error| error.at(0..delay.len()))?;
        let origin = ceil_second(from);
        let lattice = interval.lattice(origin, zone);
        let found = match unit {
            Unit::Second => lattice.at_or_after(origin + 1),
            _ => walk::next(&lattice, DstRule::default().policy(Clock::Wall), origin + 1, zone),
        };
        found.and_then(|second| Timestamp::from_second(second).ok()).map(|at| Once { at }).ok_or_else(|| {
            Error::new("interval_too_long", format!("`{delay}` leads beyond the end of time"))
                .at(0..delay.len())
        })
    }

    /// The instant.
    ///
    /// ```
    /// # use punctual_time::{Once, Zone};
    /// let once = Once::parse("2026-01-01T00:00:00Z", &Zone::utc())?;
    /// assert_eq!(once.instant().as_second(), 1_767_225_600);
    /// # Ok::<(), punctual_time::Error>(())
    /// ```
    pub fn instant(self) -> Timestamp {
        self.at
    }
}

impl fmt::Display for Once {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.at)
    }
}

/// A plan of one local second.
struct Single(i64);

impl Plan for Single {
    fn at_or_after(&self, from: i64) -> Option<i64> {
        (from <= self.0).then_some(self.0)
    }

    fn at_or_before(&self, to: i64) -> Option<i64> {
        (to >= self.0).then_some(self.0)
    }
}
