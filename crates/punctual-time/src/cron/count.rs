//! How many planned local times a stretch has, without walking them: days by month, times by arithmetic.
//!
//! Times here are local seconds of an imaginary wall clock without gaps or folds.

use super::{Cron, EVERY_DAY};
use crate::civil::{self, DAY, Date};

impl Cron {
    /// How many planned local times lie between two, both included.
    pub(crate) fn count_local(&self, from: i64, to: i64) -> u64 {
        if from > to {
            return 0;
        }
        let (first_day, first_time) = civil::split(from);
        let (last_day, last_time) = civil::split(to);
        let all = self.times_before(DAY as u32);
        let cut_before = if self.has_day(first_day) { self.times_before(first_time) } else { 0 };
        let cut_after = if self.has_day(last_day) { all - self.times_before(last_time + 1) } else { 0 };
        self.days_between(first_day, last_day) * all - cut_before - cut_after
    }

    /// How many planned times of a day lie before one of its seconds.
    fn times_before(&self, second: u32) -> u64 {
        let below = |set: u64, value: u32| u64::from((set & ((1u64 << value) - 1)).count_ones());
        let (hours, minutes, seconds) = (u64::from(self.hour), self.minute, self.second);
        let per_minute = u64::from(seconds.count_ones());
        let per_hour = u64::from(minutes.count_ones()) * per_minute;
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        let mut count = below(hours, hour) * per_hour;
        if hours >> hour & 1 == 1 {
            count += below(minutes, minute) * per_minute;
            if minutes >> minute & 1 == 1 {
                count += below(seconds, second);
            }
        }
        count
    }

    fn has_day(&self, day: i64) -> bool {
        self.days_between(day, day) == 1
    }

    /// How many planned days lie between two, both included.
    fn days_between(&self, from: i64, to: i64) -> u64 {
        if self.flags & EVERY_DAY != 0 {
            return (to - from + 1).unsigned_abs();
        }
        let mut count = 0;
        let mut day = from;
        while day <= to {
            let date = civil::date(day);
            let first = day - i64::from(date.day - 1);
            let next = first + i64::from(civil::month_len(date.year, date.month));
            let last = (next - 1).min(to);
            let wanted = u32::MAX << date.day & u32::MAX >> (31 - (last - first + 1));
            count += u64::from((self.days_in_month(date, first) & wanted).count_ones());
            day = next;
        }
        count
    }

    fn days_in_month(&self, date: Date, first: i64) -> u32 {
        if self.set(super::Field::Month).contains(date.month) && self.has_year(date.year) {
            self.days_of(first, civil::month_len(date.year, date.month))
        } else {
            0
        }
    }
}
