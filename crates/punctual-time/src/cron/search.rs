//! The next and the previous planned local time: bit sets and integer dates, nothing allocated.
//!
//! Times here are local seconds of an imaginary wall clock without gaps or folds.

use super::{
    BOTH_DAYS, Cron, DAY_STAR, EVERY_DAY, Field, ROW_BITS, ROW_LAST, ROW_MASK, WEEKDAY_STAR, WEEKLY,
};
use crate::civil::{self, CYCLE_YEARS, DAY, Date};

/// Day `d` of a month whose first day is a Sunday is a Sunday if bit `d` is set.
const EVERY_SEVENTH: u64 = 1 | 1 << 7 | 1 << 14 | 1 << 21 | 1 << 28 | 1 << 35;

/// Days 1 to `len` as bits.
#[inline]
fn days_up_to(len: u32) -> u32 {
    u32::MAX >> (31 - len) & !1
}

impl Cron {
    /// The first planned local time at or after `from`; none within the 400 years after which the calendar
    /// repeats means none ever.
    #[inline]
    pub(crate) fn local_at_or_after(&self, from: i64) -> Option<i64> {
        let (day, second) = civil::split(from);
        if self.flags & EVERY_DAY != 0 {
            return Some(match self.time_at_or_after(second) {
                Some(time) => day * DAY + i64::from(time),
                None => (day + 1) * DAY + i64::from(self.first_time()),
            });
        }
        if self.flags & WEEKLY != 0 {
            let week = self.weekdays & ROW_MASK;
            let ahead = (week | week << 7 | week << 14) >> civil::weekday(day);
            if ahead & 1 == 1
                && let Some(time) = self.time_at_or_after(second)
            {
                return Some(day * DAY + i64::from(time));
            }
            let days = (ahead & !1).trailing_zeros();
            return Some((day + i64::from(days)) * DAY + i64::from(self.first_time()));
        }
        self.dated_at_or_after(day, second)
    }

    #[inline]
    fn dated_at_or_after(&self, day: i64, second: u32) -> Option<i64> {
        let date = civil::date(day);
        let len = civil::month_len(date.year, date.month);
        let first = day - i64::from(date.day - 1);
        if self.months >> date.month & 1 == 1 && self.has_year(date.year) {
            let mask = self.days_of(first, len) >> date.day;
            if mask & 1 == 1
                && let Some(time) = self.time_at_or_after(second)
            {
                return Some(day * DAY + i64::from(time));
            }
            let later = mask & !1;
            if later != 0 {
                return Some((day + i64::from(later.trailing_zeros())) * DAY + i64::from(self.first_time()));
            }
        }
        self.first_in_month_after(date, first + i64::from(len))
    }

    /// The first planned time in a month after that of `date`; `first` is the first day of the next month.
    fn first_in_month_after(&self, mut date: Date, first: i64) -> Option<i64> {
        // Named years end by themselves.
        let until = if self.is_star(Field::Year) { date.year + CYCLE_YEARS } else { i32::MAX };
        let mut next_month = Some(first);
        loop {
            let later = u32::from(self.month()) >> date.month >> 1;
            let from = date.month;
            if later != 0 {
                date.month += later.trailing_zeros() + 1;
            } else {
                date.year = self.year_after(date.year)?;
                date.month = self.month().trailing_zeros();
                next_month =
                    next_month.filter(|_| from == 12 && date.month == 1 && self.is_star(Field::Year));
            }
            if date.year > until {
                return None;
            }
            if !self.has_year(date.year) {
                date.month = 12;
                next_month = None;
                continue;
            }
            let len = civil::month_len(date.year, date.month);
            if self.has_plain_days() && self.days & days_up_to(len) == 0 {
                // The 31st in a short month, 29 February in most years: known without the weekday.
                next_month = None;
                continue;
            }
            let is_next = later == 0 || date.month == from + 1;
            let first = match next_month.take() {
                Some(first) if is_next => first,
                _ => civil::day_of(Date { day: 1, ..date }),
            };
            let mask = self.days_of(first, len);
            if mask != 0 {
                let day = first + i64::from(mask.trailing_zeros()) - 1;
                return Some(day * DAY + i64::from(self.first_time()));
            }
        }
    }

    /// Whether it has a day that every month and every year has, so that no search is needed to know it fires.
    pub(super) fn fires_plainly(&self) -> bool {
        let every_month = days_up_to(28);
        self.is_star(Field::Year)
            && self.flags & BOTH_DAYS == 0
            && (self.flags & DAY_STAR != 0 || self.days & every_month != 0)
            && (self.flags & WEEKDAY_STAR != 0 || self.weekdays & ROW_MASK != 0 || self.flags & DAY_STAR == 0)
    }

    /// The next year that can match, skipping years before the first that was named.
    #[inline]
    fn year_after(&self, year: i32) -> Option<i32> {
        let next = year + 1;
        if self.has_year(next) {
            return Some(next);
        }
        self.years().map(|named| named as i32).find(|&named| named > year)
    }

    /// The last planned local time at or before `to`.
    pub(crate) fn local_at_or_before(&self, to: i64) -> Option<i64> {
        let (day, second) = civil::split(to);
        let date = civil::date(day);
        let first = day - i64::from(date.day - 1);
        let mut mask = 0;
        if self.months >> date.month & 1 == 1 && self.has_year(date.year) {
            mask = self.days_of(first, civil::month_len(date.year, date.month));
            if mask >> date.day & 1 == 1
                && let Some(time) = self.time_at_or_before(second)
            {
                return Some(day * DAY + i64::from(time));
            }
            mask &= (1 << date.day) - 1;
        }
        if mask != 0 {
            return Some((first + i64::from(mask.ilog2()) - 1) * DAY + i64::from(self.last_time()));
        }
        self.last_in_month_before(date)
    }

    fn last_in_month_before(&self, mut date: Date) -> Option<i64> {
        let until = if self.is_star(Field::Year) { date.year - CYCLE_YEARS } else { i32::MIN };
        loop {
            let earlier = u32::from(self.month()) & ((1 << date.month) - 1);
            if earlier != 0 {
                date.month = earlier.ilog2();
            } else {
                date.year = self.year_before(date.year)?;
                date.month = self.month().ilog2();
            }
            if date.year < until {
                return None;
            }
            if !self.has_year(date.year) {
                date.month = 1;
                continue;
            }
            date.day = 1;
            let first = civil::day_of(date);
            let mask = self.days_of(first, civil::month_len(date.year, date.month));
            if mask != 0 {
                let day = first + i64::from(mask.ilog2()) - 1;
                return Some(day * DAY + i64::from(self.last_time()));
            }
        }
    }

    fn year_before(&self, year: i32) -> Option<i32> {
        let previous = year - 1;
        if self.has_year(previous) {
            return Some(previous);
        }
        self.years().map(|named| named as i32).filter(|&named| named < year).last()
    }

    /// The planned days of a month as bits, given its first day and its length.
    #[inline]
    pub(crate) fn days_of(&self, first: i64, len: u32) -> u32 {
        let exists = days_up_to(len);
        let star = self.flags & (DAY_STAR | WEEKDAY_STAR);
        if star == DAY_STAR | WEEKDAY_STAR {
            return exists;
        }
        let month = Month { first_weekday: civil::weekday(first), len };
        if star == WEEKDAY_STAR {
            return self.month_days(month) & exists;
        }
        if star == DAY_STAR {
            return self.week_days(month) & exists;
        }
        let (days, weekdays) = (self.month_days(month), self.week_days(month));
        let joined = if self.flags & BOTH_DAYS != 0 { days & weekdays } else { days | weekdays };
        joined & exists
    }

    /// Whether days are decided by numbers in the day-of-month field alone.
    #[inline]
    fn has_plain_days(&self) -> bool {
        self.flags & (DAY_STAR | WEEKDAY_STAR) == WEEKDAY_STAR && self.last | self.near | self.last_near == 0
    }

    /// Days by the day-of-month field.
    #[inline]
    pub(crate) fn month_days(&self, month: Month) -> u32 {
        let mut days = self.days;
        if self.last | self.near | self.last_near != 0 {
            for back in super::Set::from_bits(self.last.into()).iter().filter(|&back| back < month.len) {
                days |= 1 << (month.len - back);
            }
            for day in super::Set::from_bits(self.near.into()).iter().filter(|&day| day <= month.len) {
                days |= 1 << month.nearest_weekday(day);
            }
            for back in super::Set::from_bits(self.last_near.into()).iter().filter(|&back| back < month.len) {
                days |= 1 << month.nearest_weekday(month.len - back);
            }
        }
        days
    }

    /// Days by the day-of-week field.
    #[inline]
    pub(crate) fn week_days(&self, month: Month) -> u32 {
        let spread = |row: u64| ((row * EVERY_SEVENTH) >> month.first_weekday << 1) as u32;
        let mut days = spread(self.weekdays & ROW_MASK);
        let nth = self.weekdays >> ROW_BITS;
        if nth != 0 {
            for week in 0..ROW_LAST - 1 {
                days |= spread(nth >> (week * ROW_BITS) & ROW_MASK) & (0xfe << (week * 7));
            }
            let last_week = days_up_to(month.len) & !days_up_to(month.len - 7);
            days |= spread(nth >> ((ROW_LAST - 1) * ROW_BITS) & ROW_MASK) & last_week;
        }
        days
    }

    #[inline]
    fn time_at_or_after(&self, second: u32) -> Option<u32> {
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        if self.hour >> hour & 1 == 1 {
            if self.minute >> minute & 1 == 1 {
                let rest = self.second >> second;
                if rest != 0 {
                    return Some(hour * 3600 + minute * 60 + second + rest.trailing_zeros());
                }
            }
            let rest = self.minute >> minute >> 1;
            if rest != 0 {
                let minute = minute + 1 + rest.trailing_zeros();
                return Some(hour * 3600 + minute * 60 + self.second.trailing_zeros());
            }
        }
        let rest = self.hour >> hour >> 1;
        (rest != 0).then(|| {
            let hour = hour + 1 + rest.trailing_zeros();
            hour * 3600 + self.minute.trailing_zeros() * 60 + self.second.trailing_zeros()
        })
    }

    fn time_at_or_before(&self, second: u32) -> Option<u32> {
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        if self.hour >> hour & 1 == 1 {
            if self.minute >> minute & 1 == 1 {
                let rest = self.second & (u64::MAX >> (63 - second));
                if rest != 0 {
                    return Some(hour * 3600 + minute * 60 + rest.ilog2());
                }
            }
            let rest = self.minute & ((1 << minute) - 1);
            if rest != 0 {
                return Some(hour * 3600 + rest.ilog2() * 60 + self.second.ilog2());
            }
        }
        let rest = self.hour & ((1 << hour) - 1);
        (rest != 0).then(|| rest.ilog2() * 3600 + self.minute.ilog2() * 60 + self.second.ilog2())
    }

    /// The earliest planned time of a day.
    #[inline]
    fn first_time(&self) -> u32 {
        self.hour.trailing_zeros() * 3600 + self.minute.trailing_zeros() * 60 + self.second.trailing_zeros()
    }

    fn last_time(&self) -> u32 {
        self.hour.ilog2() * 3600 + self.minute.ilog2() * 60 + self.second.ilog2()
    }
}

/// What a month looks like.
#[derive(Clone, Copy)]
pub(crate) struct Month {
    pub first_weekday: u32,
    pub len: u32,
}

impl Month {
    /// The Monday to Friday nearest to a day, without leaving the month.
    fn nearest_weekday(self, day: u32) -> u32 {
        match (self.first_weekday + day - 1) % 7 {
            0 if day == self.len => day - 2,
            0 => day + 1,
            6 if day == 1 => day + 2,
            6 => day - 1,
            _ => day,
        }
    }
}
