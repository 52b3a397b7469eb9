//! The windows of one schedule together, and which of them suppresses an instant.

use std::fmt;

use jiff::Timestamp;
use jiff::civil::Date;

use crate::civil::{self, DAY};
use crate::window::{WEEKDAY_NAMES, Weekdays};
use crate::{Calendar, DayRange, Error, Zone};

/// A named policy: a part of the day in which nothing fires.
///
/// ```
/// use punctual_time::{QuietHours, Weekdays};
///
/// // The night that starts on Friday is quiet until Saturday morning.
/// let quiet = QuietHours {
///     name: "friday-night".into(),
///     during: "22:00-06:00".parse()?,
///     on: Weekdays::none().with(5),
///     zone: None,
/// };
/// assert_eq!(quiet.name, "friday-night");
/// # Ok::<(), punctual_time::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuietHours {
    /// The policy's id.
    pub name: String,
    /// The quiet part of the day.
    pub during: DayRange,
    /// The days on which it starts; none stands for every day.
    pub on: Weekdays,
    /// A zone of its own; without one, that of the schedule.
    pub zone: Option<Zone>,
}

/// When ticks may fire. What is outside is suppressed, never moved.
///
/// ```
/// use punctual_time::Windows;
///
/// let mut windows = Windows { only_between: Some("08:00-18:00".parse()?), ..Windows::default() };
/// windows.exclude("saturday", &[])?;
/// windows.exclude("7", &[])?;
/// assert_eq!(windows.not_on.to_string(), "sunday, saturday");
/// assert_eq!(windows.exclude("holidays", &[]).unwrap_err().code(), "unknown_calendar");
/// # Ok::<(), punctual_time::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Windows {
    /// The part of the day in which ticks fire.
    pub only_between: Option<DayRange>,
    /// Weekdays on which none fires.
    pub not_on: Weekdays,
    /// Calendars on whose dates none fires.
    pub calendars: Vec<Calendar>,
    /// Quiet hours.
    pub quiet_hours: Vec<QuietHours>,
}

/// Which window suppresses a tick.
///
/// ```
/// use punctual_time::Suppression;
///
/// assert_eq!(Suppression::Weekday(6).to_string(), "not on saturday");
/// assert_eq!(Suppression::Weekday(6).code(), "not_on");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Suppression {
    /// Outside `only_between`.
    OutsideWindow(DayRange),
    /// On a weekday of `not_on`; 0 is Sunday.
    Weekday(u32),
    /// On a date of the named calendar.
    Calendar(String),
    /// In the named quiet hours.
    QuietHours(String),
}

impl Suppression {
    /// A stable name for programs.
    ///
    /// ```
    /// # use punctual_time::Suppression;
    /// assert_eq!(Suppression::Calendar("holidays".into()).code(), "calendar");
    /// ```
    pub fn code(&self) -> &'static str {
        match self {
            Suppression::OutsideWindow(_) => "outside_window",
            Suppression::Weekday(_) => "not_on",
            Suppression::Calendar(_) => "calendar",
            Suppression::QuietHours(_) => "quiet_hours",
        }
    }
}

impl fmt::Display for Suppression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Suppression::OutsideWindow(range) => write!(f, "only between {range}"),
            Suppression::Weekday(day) => write!(f, "not on {}", WEEKDAY_NAMES[(day % 7) as usize]),
            Suppression::Calendar(name) => write!(f, "not on the dates of `{name}`"),
            Suppression::QuietHours(name) => write!(f, "quiet hours `{name}`"),
        }
    }
}

/// A suppressed stretch of UTC around an instant: `from` and everything before `to`.
pub(crate) struct Stretch {
    pub cause: Suppression,
    pub from: i64,
    pub to: i64,
}

impl Windows {
    /// Whether some of them are not its own: calendars and quiet hours are shared by name.
    ///
    /// ```
    /// use punctual_time::Windows;
    ///
    /// assert!(!Windows::default().is_shared());
    /// ```
    pub fn is_shared(&self) -> bool {
        !self.calendars.is_empty() || !self.quiet_hours.is_empty()
    }

    /// Adds a word of `not_on`: a weekday by name or number, or the name of a known calendar.
    ///
    /// ```
    /// # use punctual_time::{Calendar, Windows};
    /// let known = [Calendar::new("holidays", [])];
    /// let mut windows = Windows::default();
    /// windows.exclude("holidays", &known)?;
    /// assert_eq!(windows.calendars.len(), 1);
    /// # Ok::<(), punctual_time::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If it is neither.
    pub fn exclude(&mut self, word: &str, known: &[Calendar]) -> Result<(), Error> {
        if let Some(weekday) = Weekdays::number_of(word) {
            self.not_on = self.not_on.with(weekday);
            return Ok(());
        }
        match known.iter().find(|calendar| calendar.name() == word.trim()) {
            Some(calendar) => self.calendars.push(calendar.clone()),
            None => {
                let names: Vec<String> =
                    known.iter().map(|calendar| format!("`{}`", calendar.name())).collect();
                let hint =
                    if names.is_empty() { "there is no calendar yet".into() } else { names.join(", ") };
                return Err(Error::new(
                    "unknown_calendar",
                    format!("`{word}` is neither a weekday nor a calendar"),
                )
                .at(0..word.len())
                .with_hint(format!("write `saturday`, `0` to `7`, or a calendar's name: {hint}")));
            }
        }
        Ok(())
    }

    /// Whether nothing is restricted.
    ///
    /// ```
    /// assert!(punctual_time::Windows::default().is_open());
    /// ```
    pub fn is_open(&self) -> bool {
        self.only_between.is_none()
            && self.not_on.is_empty()
            && self.calendars.is_empty()
            && self.quiet_hours.is_empty()
    }

    /// What keeps an instant from firing, local times read in a zone.
    ///
    /// ```
    /// use punctual_time::{Windows, Zone};
    ///
    /// let mut windows = Windows::default();
    /// windows.exclude("sunday", &[])?;
    /// let at = "2026-11-15T00:00:00Z".parse().unwrap();
    /// assert_eq!(windows.suppresses(at, &Zone::utc()).unwrap().to_string(), "not on sunday");
    /// assert_eq!(windows.suppresses(at, &Zone::get("America/New_York")?), None);
    /// # Ok::<(), punctual_time::Error>(())
    /// ```
    pub fn suppresses(&self, at: Timestamp, zone: &Zone) -> Option<Suppression> {
        let second = at.as_millisecond().div_euclid(1_000);
        self.stretch(second, zone).map(|stretch| stretch.cause)
    }

    /// What suppresses a second of UTC, and for how long around it.
    pub(crate) fn stretch(&self, second: i64, zone: &Zone) -> Option<Stretch> {
        let moment = Moment::of(second, zone);
        let whole_day = (0, DAY);
        if self.not_on.contains(moment.weekday()) && !self.not_on.is_empty() {
            return Some(moment.stretch(Suppression::Weekday(moment.weekday()), whole_day));
        }
        if let Some(calendar) = self.calendars.iter().find(|calendar| calendar.contains(moment.date())) {
            return Some(moment.stretch(Suppression::Calendar(calendar.name().to_owned()), whole_day));
        }
        if let Some(range) = self.only_between.filter(|range| !range.contains(moment.time)) {
            return Some(moment.stretch(Suppression::OutsideWindow(range), outside(range, moment.time)));
        }
        self.quiet_hours.iter().find_map(|quiet| {
            let moment = quiet.zone.as_ref().map_or(moment, |zone| Moment::of(second, zone));
            let is_night = quiet.during.end() < quiet.during.start() && moment.time < quiet.during.end();
            let weekday = if is_night { moment.weekday() + 6 } else { moment.weekday() };
            let is_quiet =
                quiet.during.contains(moment.time) && (quiet.on.is_empty() || quiet.on.contains(weekday));
            is_quiet.then(|| {
                let part = inside(quiet.during, moment.time);
                moment.stretch(Suppression::QuietHours(quiet.name.clone()), part)
            })
        })
    }

    /// Up to which second, itself excluded, surely no window begins, seen from one that none suppresses.
    pub(crate) fn open_until(&self, second: i64, zone: &Zone) -> i64 {
        let moment = Moment::of(second, zone);
        let mut until = moment.end;
        if !self.not_on.is_empty() || !self.calendars.is_empty() {
            until = until.min(moment.end_of((0, DAY)));
        }
        if let Some(range) = self.only_between {
            until = until.min(moment.end_of(inside(range, moment.time)));
        }
        for quiet in &self.quiet_hours {
            let moment = quiet.zone.as_ref().map_or(moment, |zone| Moment::of(second, zone));
            let is_inside = quiet.during.contains(moment.time);
            let part = if is_inside { inside } else { outside }(quiet.during, moment.time);
            until = until.min(moment.end_of(part));
        }
        until
    }
}

/// A second of UTC as a zone's clock shows it.
#[derive(Clone, Copy)]
struct Moment {
    second: i64,
    day: i64,
    time: u32,
    /// The stretch of constant offset around it.
    start: i64,
    end: i64,
}

impl Moment {
    fn of(second: i64, zone: &Zone) -> Moment {
        let segment = zone.segment(second);
        let (day, time) = civil::split(second + i64::from(segment.offset));
        Moment { second, day, time, start: segment.start, end: segment.end }
    }

    fn weekday(self) -> u32 {
        civil::weekday(self.day)
    }

    fn date(self) -> Date {
        let date = civil::date(self.day);
        Date::new(date.year as i16, date.month as i8, date.day as i8).unwrap_or(Date::ZERO)
    }

    /// When a part of its day is over, or the offset changes before.
    fn end_of(self, (_, to): (i64, i64)) -> i64 {
        (self.second - i64::from(self.time) + to).min(self.end)
    }

    /// A part of its day as UTC, as far as the offset stays the same.
    fn stretch(self, cause: Suppression, (from, to): (i64, i64)) -> Stretch {
        let midnight = self.second - i64::from(self.time);
        Stretch { cause, from: (midnight + from).max(self.start), to: (midnight + to).min(self.end) }
    }
}

/// The part of a day around a time outside a range.
fn outside(range: DayRange, time: u32) -> (i64, i64) {
    let (start, end) = (i64::from(range.start()), i64::from(range.end()));
    match (start < end, i64::from(time) < start) {
        (true, true) => (0, start),
        (true, false) => (end, DAY),
        (false, _) => (end, start),
    }
}

/// The part of a day around a time inside a range.
fn inside(range: DayRange, time: u32) -> (i64, i64) {
    let (start, end) = (i64::from(range.start()), i64::from(range.end()));
    match (start < end, i64::from(time) < end) {
        (true, _) => (start, end),
        (false, true) => (0, end),
        (false, false) => (start, DAY),
    }
}
