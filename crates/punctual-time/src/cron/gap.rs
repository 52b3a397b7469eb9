//! The smallest distance between two planned times, for frequency guards.

use jiff::SignedDuration;

use super::{Cron, EVERY_DAY, Field, Set};
use crate::civil::{self, CYCLE_YEARS, DAY, Date};

impl Cron {
    /// The smallest distance between two ticks on days without a clock change; none if there is only one tick.
    ///
    /// ```
    /// # use punctual_time::{Cron, Dialect};
    /// let cron = Cron::parse("*/15 9-17 * * 1-5", Dialect::Standard)?;
    /// assert_eq!(cron.smallest_gap().unwrap().as_secs(), 15 * 60);
    /// # Ok::<(), punctual_time::Error>(())
    /// ```
    pub fn smallest_gap(&self) -> Option<SignedDuration> {
        let (seconds, minutes, hours) =
            (self.set(Field::Second), self.set(Field::Minute), self.set(Field::Hour));
        let in_minute = span(seconds);
        let in_hour = span(minutes) * 60 + in_minute;
        let in_day = span(hours) * 3600 + in_hour;
        // From the last time of one minute, hour or day to the first time of the next that has any.
        let within_day = [
            step(seconds),
            step(minutes).map(|apart| apart * 60 - in_minute),
            step(hours).map(|apart| apart * 3600 - in_hour),
        ];
        let across_days = self.days_apart().map(|apart| apart * DAY - in_day);
        let smallest = within_day.into_iter().flatten().chain(across_days).min()?;
        Some(SignedDuration::from_secs(smallest))
    }

    /// The smallest number of days between two planned days, over a whole cycle of the calendar.
    fn days_apart(&self) -> Option<i64> {
        if self.flags & EVERY_DAY != 0 {
            return Some(1);
        }
        let mut smallest = None;
        let mut previous: Option<i64> = None;
        let from = self.years().next().map_or(2000, |year| year as i32);
        for year in (from..=from + CYCLE_YEARS).filter(|&year| self.has_year(year)) {
            for month in self.set(Field::Month).iter() {
                let first = civil::day_of(Date { year, month, day: 1 });
                let days = self.days_of(first, civil::month_len(year, month));
                for day in Set::from_bits(days.into()).iter().map(|day| first + i64::from(day)) {
                    let apart = previous.map(|previous| day - previous);
                    smallest = [smallest, apart].into_iter().flatten().min();
                    previous = Some(day);
                    if smallest == Some(1) {
                        return smallest;
                    }
                }
            }
        }
        smallest
    }
}

/// From the first value to the last.
fn span(set: Set) -> i64 {
    set.first().map_or(0, |first| i64::from(set.bits().ilog2() - first))
}

/// The smallest distance between two neighbours.
fn step(set: Set) -> Option<i64> {
    set.iter().zip(set.iter().skip(1)).map(|(one, other)| i64::from(other - one)).min()
}
