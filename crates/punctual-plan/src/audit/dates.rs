//! On which dates and at which times of day a spec plans ticks, asked of one date at a time.
//!
//! Only the definition is read: the sets of a cron expression, the length of an interval and where it began.

use jiff::civil::{Date, Weekday, date};
use jiff::{SignedDuration, ToSpan};
use punctual_time::{Cron, DayJoin, Field, Nth, Set};

/// The day that local times are counted from.
const EPOCH: Date = date(1970, 1, 1);

/// The dates of a spec.
pub(super) enum Dates {
    /// Those that the day fields, the month and the year of a cron expression allow.
    Cron {
        /// The expression.
        cron: Box<Cron>,
        /// The years it names; none stands for any.
        years: Vec<u32>,
    },
    /// Every so many days from one.
    Days {
        /// The first.
        origin: Date,
        /// How many.
        every: i64,
    },
    /// Every so many months from one: the same day of the month, or the last where the month is shorter.
    Months {
        /// The first.
        origin: Date,
        /// How many.
        every: i64,
    },
}

impl Dates {
    pub(super) fn of_cron(cron: Cron) -> Self {
        Dates::Cron { cron: Box::new(cron), years: cron.years().collect() }
    }

    /// Whether ticks are planned on a date.
    pub(super) fn contain(&self, date: Date) -> bool {
        match self {
            Dates::Cron { cron, years } => {
                let is_year = years.is_empty() || years.contains(&number(date.year()));
                is_year && has(cron.set(Field::Month), date.month()) && has_day(cron, date)
            }
            Dates::Days { origin, every } => {
                let days = day_number(date) - day_number(*origin);
                days >= 0 && days % every == 0
            }
            Dates::Months { origin, every } => {
                let months = month_number(date) - month_number(*origin);
                // Always from the first date, so that a short month does not shorten those after it.
                let planned = || origin.checked_add(months.months()).ok();
                months >= 0 && months % every == 0 && planned() == Some(date)
            }
        }
    }
}

/// The times of day of a cron expression in seconds, ascending.
pub(super) fn times_of_day(cron: &Cron) -> Vec<i64> {
    let mut times = Vec::new();
    for hour in cron.set(Field::Hour).iter() {
        for minute in cron.set(Field::Minute).iter() {
            for second in cron.set(Field::Second).iter() {
                times.push(i64::from(hour) * 3600 + i64::from(minute) * 60 + i64::from(second));
            }
        }
    }
    times
}

/// How many days after the epoch a date is.
pub(super) fn day_number(date: Date) -> i64 {
    date.duration_since(EPOCH).as_hours() / 24
}

/// The date so many days after the epoch, if there is one.
pub(super) fn date_of(day: i64) -> Option<Date> {
    EPOCH.checked_add(SignedDuration::from_hours(day.checked_mul(24)?)).ok()
}

fn month_number(date: Date) -> i64 {
    i64::from(date.year()) * 12 + i64::from(date.month())
}

fn has_day(cron: &Cron, date: Date) -> bool {
    match (cron.is_star(Field::DayOfMonth), cron.is_star(Field::DayOfWeek), cron.day_join()) {
        (true, true, _) => true,
        (true, false, _) => has_weekday(cron, date),
        (false, true, _) => has_month_day(cron, date),
        (false, false, DayJoin::Either) => has_month_day(cron, date) || has_weekday(cron, date),
        (false, false, DayJoin::Both) => has_month_day(cron, date) && has_weekday(cron, date),
    }
}

/// The day-of-month field: numbers, `L-n`, `nW` and `L-nW`.
fn has_month_day(cron: &Cron, date: Date) -> bool {
    let before_last = date.days_in_month() - date.day();
    let near = |day: u32| i8::try_from(day).is_ok_and(|day| nearest_workday(date, day) == Some(date));
    let near_end = |back: u32| near(number(date.days_in_month()).saturating_sub(back));
    has(cron.set(Field::DayOfMonth), date.day())
        || has(cron.days_before_last(), before_last)
        || cron.nearest_weekdays().iter().any(near)
        || cron.nearest_before_last().iter().any(near_end)
}

/// The Monday to Friday nearest to a day of a date's month, within that month; none if the month has no such day.
fn nearest_workday(within: Date, day: i8) -> Option<Date> {
    let wanted = Date::new(within.year(), within.month(), day).ok()?;
    let is_workday = |date: &Date| !matches!(date.weekday(), Weekday::Saturday | Weekday::Sunday);
    let candidates =
        [0, -1, 1, -2, 2].into_iter().filter_map(|days: i32| wanted.checked_add(days.days()).ok());
    candidates.filter(|date| date.month() == within.month()).find(is_workday)
}

/// The day-of-week field: weekdays, `n#k` and `nL`.
fn has_weekday(cron: &Cron, date: Date) -> bool {
    let weekday = date.weekday();
    let is_meant = |nth: i8| date.nth_weekday_of_month(nth, weekday).ok() == Some(date);
    has(cron.set(Field::DayOfWeek), weekday.to_sunday_zero_offset())
        || cron.nth_weekdays().filter(|one| one.weekday == number(weekday.to_sunday_zero_offset())).any(
            |one| match one.nth {
                Nth::At(nth) => i8::try_from(nth).is_ok_and(is_meant),
                Nth::Last => is_meant(-1),
            },
        )
}

fn has(set: Set, value: i8) -> bool {
    set.contains(number(value))
}

/// A part of a date as the sets count it; none of them has anything for a year before the first.
fn number(value: impl Into<i64>) -> u32 {
    u32::try_from(value.into()).unwrap_or(u32::MAX)
}
