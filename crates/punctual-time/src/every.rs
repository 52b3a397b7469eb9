//! Intervals: `90s`, `5m`, `1d`, `2 weeks`, `monthly`, reckoned from an anchor.
//!
//! Hours or less are elapsed time; days, weeks, months and years are of the calendar in the schedule's zone.

use std::fmt;
use std::str::FromStr;

use crate::civil::{self, DAY, Date};
use crate::dst::Clock;
use crate::walk::Plan;
use crate::{Error, Zone};

/// No interval is longer than this many years, in whatever unit it is written.
const YEARS_MAX: u64 = 100;
const SECONDS_MAX: u64 = YEARS_MAX * 366 * 86_400;
const DAYS_MAX: u64 = YEARS_MAX * 366;
const MONTHS_MAX: u64 = YEARS_MAX * 12;

/// What an interval counts.
///
/// ```
/// use punctual_time::{Interval, Unit};
///
/// assert_eq!("2 weeks".parse::<Interval>()?.unit(), Unit::Day);
/// assert_eq!("24h".parse::<Interval>()?.unit(), Unit::Second);
/// # Ok::<(), punctual_time::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unit {
    /// Elapsed time.
    Second,
    /// Days of the calendar: the same local time, though a day may have 23 or 25 hours.
    Day,
    /// Months of the calendar: the same day, or the last where the month is shorter.
    Month,
}

/// How often: a whole number of seconds, calendar days or calendar months.
///
/// ```
/// use punctual_time::Interval;
///
/// assert_eq!("1h30m".parse::<Interval>()?, "90 minutes".parse()?);
/// assert_eq!("monthly".parse::<Interval>()?.to_string(), "1 month");
/// assert_eq!("45".parse::<Interval>()?.to_string(), "45s");
/// // A day of the calendar is not 24 hours of elapsed time.
/// assert_ne!("1d".parse::<Interval>()?, "24h".parse()?);
/// assert_eq!("500ms".parse::<Interval>().unwrap_err().code(), "sub_second");
/// # Ok::<(), punctual_time::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Interval {
    count: u32,
    unit: Unit,
}

impl Interval {
    /// So many of a unit.
    ///
    /// ```
    /// # use punctual_time::{Interval, Unit};
    /// assert_eq!(Interval::new(90, Unit::Second)?.to_string(), "90s");
    /// assert!(Interval::new(0, Unit::Day).is_err());
    /// # Ok::<(), punctual_time::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If it is zero, or longer than a hundred years.
    pub fn new(count: u64, unit: Unit) -> Result<Interval, Error> {
        let max = match unit {
            Unit::Second => SECONDS_MAX,
            Unit::Day => DAYS_MAX,
            Unit::Month => MONTHS_MAX,
        };
        if count == 0 {
            return Err(Error::new("zero_interval", "an interval of `0` would never end")
                .with_hint("write `1s` or more"));
        }
        match u32::try_from(count) {
            Ok(count) if u64::from(count) <= max => Ok(Interval { count, unit }),
            _ => Err(Error::new(
                "interval_too_long",
                format!("the interval is longer than `{YEARS_MAX}` years"),
            )
            .with_hint("write a shorter one, or a one-shot with `at`")),
        }
    }

    /// How many units.
    ///
    /// ```
    /// # use punctual_time::Interval;
    /// assert_eq!("2 weeks".parse::<Interval>()?.count(), 14);
    /// # Ok::<(), punctual_time::Error>(())
    /// ```
    pub fn count(self) -> u32 {
        self.count
    }

    /// What is counted.
    ///
    /// ```
    /// # use punctual_time::{Interval, Unit};
    /// assert_eq!("quarterly".parse::<Interval>()?.unit(), Unit::Month);
    /// # Ok::<(), punctual_time::Error>(())
    /// ```
    pub fn unit(self) -> Unit {
        self.unit
    }

    /// Hours or less follow the real clock, the rest the clock on the wall.
    ///
    /// ```
    /// # use punctual_time::{Clock, Interval};
    /// assert_eq!("2h".parse::<Interval>()?.clock(), Clock::Elapsed);
    /// assert_eq!("daily".parse::<Interval>()?.clock(), Clock::Wall);
    /// # Ok::<(), punctual_time::Error>(())
    /// ```
    pub fn clock(self) -> Clock {
        if self.unit == Unit::Second { Clock::Elapsed } else { Clock::Wall }
    }

    /// The shortest time between two ticks of it, in seconds.
    pub(crate) fn seconds_min(self) -> i64 {
        let count = i64::from(self.count);
        match self.unit {
            Unit::Second => count,
            Unit::Day => count * DAY,
            Unit::Month => self.months_seconds_min(),
        }
    }

    /// Eight years around a century without a leap day have every kind of month in every place.
    fn months_seconds_min(self) -> i64 {
        let months = (2096..2104).flat_map(|year| (1..=12).map(move |month| (year, month)));
        let days = months.flat_map(|(year, month)| {
            (28..=civil::month_len(year, month)).map(move |day| Date { year, month, day })
        });
        days.map(|date| Lattice { interval: self, origin: civil::day_of(date) * DAY })
            .map(|lattice| (lattice.at(1) - lattice.at(0)).min(lattice.at(2) - lattice.at(1)))
            .min()
            .unwrap_or(i64::from(self.count) * 28 * DAY)
    }

    /// The planned times of it, counted from an instant.
    pub(crate) fn lattice(self, origin: i64, zone: &Zone) -> Lattice {
        let local = origin + i64::from(zone.segment(origin).offset);
        Lattice { interval: self, origin: if self.unit == Unit::Second { origin } else { local } }
    }
}

/// An origin plus multiples of an interval: instants for seconds, local times for days and months.
#[derive(Clone, Copy)]
pub(crate) struct Lattice {
    interval: Interval,
    origin: i64,
}

impl Lattice {
    /// The `n`th time.
    fn at(&self, n: i64) -> i64 {
        let steps = n * i64::from(self.interval.count);
        match self.interval.unit {
            Unit::Second => self.origin + steps,
            Unit::Day => self.origin + steps * DAY,
            Unit::Month => {
                let (day, second) = civil::split(self.origin);
                let from = civil::date(day);
                let months = i64::from(from.year) * 12 + i64::from(from.month) - 1 + steps;
                let (year, month) = (months.div_euclid(12) as i32, months.rem_euclid(12) as u32 + 1);
                let day = from.day.min(civil::month_len(year, month));
                civil::day_of(Date { year, month, day }) * DAY + i64::from(second)
            }
        }
    }

    /// How many times lie between two moments, both included, the first at or after the origin.
    pub(crate) fn count(&self, from: i64, to: i64) -> u64 {
        let from = from.max(self.origin);
        if from > to {
            return 0;
        }
        (self.number_at_or_before(to) - self.number_at_or_before(from - 1)).unsigned_abs()
    }

    /// The number of the last time at or before a moment, counted from the origin.
    fn number_at_or_before(&self, moment: i64) -> i64 {
        let count = i64::from(self.interval.count);
        match self.interval.unit {
            Unit::Second => (moment - self.origin).div_euclid(count),
            Unit::Day => (moment - self.origin).div_euclid(count * DAY),
            Unit::Month => {
                let months = |local: i64| {
                    let date = civil::date(civil::split(local).0);
                    i64::from(date.year) * 12 + i64::from(date.month)
                };
                let guess = (months(moment) - months(self.origin)).div_euclid(count);
                if self.at(guess) > moment { guess - 1 } else { guess }
            }
        }
    }
}

impl Plan for Lattice {
    fn at_or_after(&self, from: i64) -> Option<i64> {
        if from <= self.origin {
            return Some(self.origin);
        }
        let number = self.number_at_or_before(from);
        let at = self.at(number);
        Some(if at == from { at } else { self.at(number + 1) })
    }

    fn at_or_before(&self, to: i64) -> Option<i64> {
        (to >= self.origin).then(|| self.at(self.number_at_or_before(to)))
    }
}

impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.count;
        let plural = if count == 1 { "" } else { "s" };
        match self.unit {
            Unit::Second if count.is_multiple_of(3600) => write!(f, "{}h", count / 3600),
            Unit::Second if count.is_multiple_of(60) => write!(f, "{}m", count / 60),
            Unit::Second => write!(f, "{count}s"),
            Unit::Day => write!(f, "{count}d"),
            Unit::Month => write!(f, "{count} month{plural}"),
        }
    }
}

impl FromStr for Interval {
    type Err = Error;

    /// Reads `90s`, `5m`, `1h30m`, `2 weeks`, `daily`, or a number of seconds.
    fn from_str(text: &str) -> Result<Self, Error> {
        crate::duration::interval(text)
    }
}
