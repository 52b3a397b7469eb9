//! Windows: when a tick may fire at all, by time of day, weekday, named calendar and quiet hours.
//!
//! A window never moves a tick. It suppresses it, and says which window did.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use jiff::civil::Date;

use crate::Error;

/// A part of the day, from `start` up to but not including `end`; over midnight if `end` is the earlier one.
///
/// ```
/// use punctual_time::DayRange;
///
/// let night: DayRange = "22:00-06:00".parse()?;
/// assert!(night.contains(23 * 3600) && night.contains(0) && !night.contains(6 * 3600));
/// assert_eq!("8:00 - 18:00".parse::<DayRange>()?.to_string(), "08:00-18:00");
/// # Ok::<(), punctual_time::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DayRange {
    start: u32,
    end: u32,
}

impl DayRange {
    /// From a second of the day to another.
    ///
    /// ```
    /// # use punctual_time::DayRange;
    /// assert_eq!(DayRange::new(9 * 3600, 17 * 3600)?.to_string(), "09:00-17:00");
    /// # Ok::<(), punctual_time::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If the two are equal or beyond the day.
    pub fn new(start: u32, end: u32) -> Result<DayRange, Error> {
        if start == end || start >= 86_400 || end > 86_400 {
            return Err(Error::new(
                "bad_day_range",
                "a part of the day must start and end at different times",
            )
            .with_hint("write `08:00-18:00`; the whole day needs no window"));
        }
        Ok(DayRange { start, end })
    }

    /// Whether a second of the day is within it.
    ///
    /// ```
    /// # use punctual_time::DayRange;
    /// let office: DayRange = "08:00-18:00".parse()?;
    /// assert!(office.contains(8 * 3600) && !office.contains(18 * 3600));
    /// # Ok::<(), punctual_time::Error>(())
    /// ```
    pub fn contains(self, second: u32) -> bool {
        if self.start < self.end {
            (self.start..self.end).contains(&second)
        } else {
            second >= self.start || second < self.end
        }
    }

    /// The second of the day at which it starts.
    ///
    /// ```
    /// # use punctual_time::DayRange;
    /// assert_eq!("00:30-06:00".parse::<DayRange>()?.start(), 1800);
    /// # Ok::<(), punctual_time::Error>(())
    /// ```
    pub fn start(self) -> u32 {
        self.start
    }

    /// The second of the day at which it has ended; 86400 is midnight at the end of the day.
    ///
    /// ```
    /// # use punctual_time::DayRange;
    /// assert_eq!("18:00-24:00".parse::<DayRange>()?.end(), 86_400);
    /// # Ok::<(), punctual_time::Error>(())
    /// ```
    pub fn end(self) -> u32 {
        self.end
    }
}

impl FromStr for DayRange {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let refused = || {
            Error::new("bad_day_range", format!("`{text}` is not a part of the day"))
                .at(0..text.len())
                .with_hint("write `08:00-18:00`, or `22:00-06:00` over midnight")
        };
        let (start, end) = text.split_once('-').ok_or_else(refused)?;
        let start = time_of_day(start).ok_or_else(refused)?;
        let end = time_of_day(end).ok_or_else(refused)?;
        DayRange::new(start, end).map_err(|error| error.at(0..text.len()))
    }
}

/// `HH:MM` or `HH:MM:SS` as seconds; `24:00` is the end of the day.
fn time_of_day(text: &str) -> Option<u32> {
    let mut parts = text.trim().split(':').map(|part| {
        let is_number = (1..=2).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| part.parse::<u32>().unwrap_or(u32::MAX))
    });
    let (hour, minute, second) = (parts.next()??, parts.next()??, parts.next().unwrap_or(Some(0))?);
    let is_time = hour < 24 && minute < 60 && second < 60 || (hour, minute, second) == (24, 0, 0);
    (is_time && parts.next().is_none()).then_some(hour * 3600 + minute * 60 + second)
}

impl fmt::Display for DayRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (second, after) in [(self.start, "-"), (self.end, "")] {
            write!(f, "{:02}:{:02}", second / 3600, second / 60 % 60)?;
            if second % 60 != 0 {
                write!(f, ":{:02}", second % 60)?;
            }
            f.write_str(after)?;
        }
        Ok(())
    }
}

/// A set of weekdays.
///
/// ```
/// use punctual_time::Weekdays;
///
/// let weekend = Weekdays::none().with(6).with(7);
/// assert!(weekend.contains(0) && weekend.contains(6) && !weekend.contains(1));
/// assert_eq!(weekend.to_string(), "sunday, saturday");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Weekdays(u8);

pub(crate) const WEEKDAY_NAMES: [&str; 7] =
    ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];

impl Weekdays {
    /// No day at all.
    ///
    /// ```
    /// assert!(punctual_time::Weekdays::none().is_empty());
    /// ```
    pub fn none() -> Weekdays {
        Weekdays(0)
    }

    /// With a day more: 0 or 7 is Sunday.
    ///
    /// ```
    /// # use punctual_time::Weekdays;
    /// assert_eq!(Weekdays::none().with(0), Weekdays::none().with(7));
    /// ```
    #[must_use]
    pub fn with(self, weekday: u32) -> Weekdays {
        Weekdays(self.0 | 1 << (weekday % 7))
    }

    /// Whether a day is in it: 0 is Sunday.
    ///
    /// ```
    /// # use punctual_time::Weekdays;
    /// assert!(Weekdays::none().with(3).contains(3));
    /// ```
    pub fn contains(self, weekday: u32) -> bool {
        self.0 >> (weekday % 7) & 1 == 1
    }

    /// Whether no day is in it.
    ///
    /// ```
    /// # use punctual_time::Weekdays;
    /// assert!(!Weekdays::none().with(1).is_empty());
    /// ```
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The weekday of a name (`saturday`, `sat`, in any case) or a number from 0 to 7.
    pub(crate) fn number_of(text: &str) -> Option<u32> {
        let word = text.trim().to_ascii_lowercase();
        let by_name = WEEKDAY_NAMES.iter().position(|name| *name == word || name[..3] == *word);
        let by_number = word.parse::<u32>().ok().filter(|&number| number <= 7 && word.len() == 1);
        by_name.map(|at| at as u32).or(by_number.map(|number| number % 7))
    }
}

impl fmt::Display for Weekdays {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        for (at, name) in WEEKDAY_NAMES.iter().enumerate().filter(|&(at, _)| self.contains(at as u32)) {
            debug_assert!(at < 7);
            write!(f, "{separator}{name}")?;
            separator = ", ";
        }
        Ok(())
    }
}

/// A named set of dates that many schedules share, such as public holidays.
///
/// ```
/// use jiff::civil::date;
/// use punctual_time::Calendar;
///
/// let holidays = Calendar::new("holidays", [date(2026, 12, 25), date(2026, 12, 26)]);
/// assert!(holidays.contains(date(2026, 12, 25)));
/// assert_eq!(holidays.name(), "holidays");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Calendar(Arc<Dates>);

#[derive(Debug, PartialEq, Eq)]
struct Dates {
    name: String,
    dates: BTreeSet<Date>,
}

impl Calendar {
    /// A calendar of these dates.
    ///
    /// ```
    /// # use punctual_time::Calendar;
    /// assert_eq!(Calendar::new("empty", []).dates().count(), 0);
    /// ```
    pub fn new(name: impl Into<String>, dates: impl IntoIterator<Item = Date>) -> Calendar {
        Calendar(Arc::new(Dates { name: name.into(), dates: dates.into_iter().collect() }))
    }

    /// Its name.
    ///
    /// ```
    /// # use punctual_time::Calendar;
    /// assert_eq!(Calendar::new("fiscal", []).name(), "fiscal");
    /// ```
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Whether a date is in it.
    ///
    /// ```
    /// # use punctual_time::Calendar;
    /// # use jiff::civil::date;
    /// assert!(!Calendar::new("empty", []).contains(date(2026, 1, 1)));
    /// ```
    pub fn contains(&self, date: Date) -> bool {
        self.0.dates.contains(&date)
    }

    /// Its dates in order.
    ///
    /// ```
    /// # use punctual_time::Calendar;
    /// # use jiff::civil::date;
    /// let calendar = Calendar::new("two", [date(2026, 2, 1), date(2026, 1, 1)]);
    /// assert_eq!(calendar.dates().next(), Some(date(2026, 1, 1)));
    /// ```
    pub fn dates(&self) -> impl Iterator<Item = Date> {
        self.0.dates.iter().copied()
    }
}
