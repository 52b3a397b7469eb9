//! Days of the month, months and weekdays: the last three fields.

use super::super::draft::{Day, Days, MonthDay, Stretch};
use super::super::trouble::Trouble;
use super::super::words::Unit;
use super::{Builder, field, steps};

const ALL_MONTHS: u16 = 0x1ffe;
const ALL_DAYS: u32 = 0xffff_fffe;

/// The day fields of a cron.
pub(super) struct DayFields {
    pub(super) month_days: String,
    pub(super) months: u16,
    pub(super) weekdays: String,
}

impl Builder {
    /// The day fields, with the days that a rate of weeks, months or years implies.
    pub(super) fn days(&mut self) -> Result<DayFields, Trouble> {
        self.take_range();
        let months = self.months()?;
        self.imply_days()?;
        let mut days = self.draft.days.clone();
        if self.draft.not_month_days != 0 {
            if days.has_weekdays() {
                return Err(
                    self.two_schedules("weekdays without some days of the month are not one cron expression")
                );
            }
            let left = if days.month_days == 0 { ALL_DAYS } else { days.month_days };
            days.month_days = left & !self.draft.not_month_days;
            if days.month_days == 0 {
                return Err(self.contradiction("no day is left"));
            }
        }
        if days.has_month_days() && days.has_weekdays() && !self.draft.is_both {
            self.draft.assume("a day counts if either the date or the weekday fits");
        }
        let month_days = if days.has_month_days() { month_day_text(&days) } else { "*".to_owned() };
        let mut weekdays = if days.has_weekdays() { weekday_text(&days) } else { "*".to_owned() };
        if self.draft.is_both {
            if !(days.has_month_days() && days.has_weekdays()) {
                return Err(self
                    .contradiction("`if` needs a date and a weekday")
                    .hint("write `friday the 13th`"));
            }
            weekdays.insert(0, '+');
        }
        Ok(DayFields { month_days, months, weekdays })
    }

    /// `from the 2nd through the 29th`, counted by `every 3 days` if that was said.
    fn take_range(&mut self) {
        if let Some(Stretch { from, to }) = self.draft.day_range {
            let count = self.draft.rate(Unit::Day).map_or(1, |rate| rate.count);
            self.draft.days.month_days |= u32::try_from(steps(from, to, count)).unwrap_or(0);
        }
    }

    fn months(&mut self) -> Result<u16, Trouble> {
        let dates = std::mem::take(&mut self.draft.dates);
        let mut months = self.draft.months;
        if !dates.is_empty() {
            let (mut named, mut days) = (0u16, 0u32);
            for MonthDay { month, day } in &dates {
                named |= 1 << month;
                days |= 1 << day;
            }
            let product = named.count_ones() * days.count_ones();
            let mut unique = dates.clone();
            unique.sort_unstable();
            unique.dedup();
            let is_mixed = months != 0 && months != named || self.draft.days.has_month_days() && months == 0;
            if product != u32::try_from(unique.len()).unwrap_or(0) || is_mixed {
                return Err(self.two_schedules("these dates cannot be one cron expression"));
            }
            if self.draft.rate(Unit::Year).is_none() && !self.draft.is_month_the_day {
                self.draft.assume("a date without a year comes back every year");
            }
            months = named;
            self.draft.days.month_days |= days;
            // `every 6 months on june 1` is june and december.
            if let Some(count) = self.draft.rate(Unit::Month).map(|rate| rate.count)
                && count > 1
                && 12 % count == 0
                && named.count_ones() == 1
            {
                let first = (named.trailing_zeros() - 1) % count + 1;
                months = u16::try_from(steps(first, 12, count)).unwrap_or(named);
            }
        } else if let Some(count) = self.draft.rate(Unit::Month).map(|rate| rate.count)
            && (count > 1 && 12 % count == 0 || self.draft.month_range.is_some())
            && months == 0
        {
            months = self.every_months(count);
        }
        if months == 0 {
            months = ALL_MONTHS;
        }
        months &= !self.draft.not_months;
        if months == 0 {
            return Err(self.contradiction("no month is left"));
        }
        Ok(months)
    }

    /// `every 3 months`: from January, or from the month of the start.
    fn every_months(&self, count: u32) -> u16 {
        if let Some(Stretch { from, to }) = self.draft.month_range {
            return u16::try_from(steps(from, to, count)).unwrap_or(ALL_MONTHS);
        }
        let days = &self.draft.days;
        let is_end = days.month_days == 0 && days.nth.is_empty() && days.nearest.is_empty();
        let is_end =
            is_end && (!days.before_end.is_empty() || days.last != 0 || !days.nearest_end.is_empty());
        let first = match self.draft.start.as_ref().map(|start| &start.day) {
            Some(Day::On(date)) => (u32::from(date.month().unsigned_abs()) - 1) % count + 1,
            _ if self.draft.is_quarter && is_end => 3,
            _ => 1,
        };
        u16::try_from(steps(first, 12, count)).unwrap_or(ALL_MONTHS)
    }

    /// The day that `weekly`, `every month`, `yearly` or `every january` leaves open.
    fn imply_days(&mut self) -> Result<(), Trouble> {
        let has_rate = |unit| self.draft.rate(unit).is_some();
        let finest = self.finest().map(|(unit, _)| unit);
        let days = &self.draft.days;
        if has_rate(Unit::Month) && days.weekdays != 0 && finest == Some(Unit::Month) {
            return Err(self
                .ambiguous("it is not clear which of these weekdays of the month is meant")
                .hint("write `first friday of the month`, or `every friday`"));
        }
        if finest == Some(Unit::Year) && days.weekdays != 0 && !self.is_month_said {
            return Err(self
                .ambiguous("it is not clear which of these weekdays of the year is meant")
                .hint("write `first friday of january`, or `every friday`"));
        }
        if finest == Some(Unit::Week) && days.has_month_days() && !days.has_weekdays() {
            return Err(self
                .contradiction("a week has no days of the month")
                .hint("write `every month on the 15th`"));
        }
        if !days.is_empty() {
            return Ok(());
        }
        let started = match self.draft.start.as_ref().map(|start| &start.day) {
            Some(Day::On(date)) => Some(*date),
            _ => None,
        };
        match finest {
            Some(Unit::Week) => {
                let day = started.map_or(0, |date| date.weekday().to_sunday_zero_offset().unsigned_abs());
                self.draft.days.weekdays = 1 << day;
                if started.is_none() {
                    self.draft.assume("no weekday is given: Sunday");
                }
            }
            Some(Unit::Month | Unit::Year) => {
                let is_year = finest == Some(Unit::Year);
                let day = started.map_or(1, |date| u32::from(date.day().unsigned_abs()));
                self.draft.days.month_days = 1 << day;
                if started.is_none() {
                    self.draft.assume(if is_year && self.draft.months == 0 {
                        "no day is given: 1 January"
                    } else {
                        "no day is given: the 1st"
                    });
                }
            }
            None if self.draft.months != 0
                && (self.draft.is_month_the_day || self.draft.times.is_empty()) =>
            {
                let has_marks = self.draft.minutes.set | self.draft.hours.set | self.draft.seconds.set != 0;
                if !has_marks {
                    self.draft.days.month_days = 1 << 1;
                    self.draft.assume("no day is given: the 1st");
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// True for a bare year rate, which stands for January.
    pub(super) fn imply_january(&mut self) {
        if self.finest().is_some_and(|(unit, count)| unit == Unit::Year && count == 1)
            && self.draft.months == 0
            && self.draft.dates.is_empty()
        {
            let month = match self.draft.start.as_ref().map(|start| &start.day) {
                Some(Day::On(date)) => date.month().unsigned_abs(),
                _ => 1,
            };
            self.draft.months = 1 << month;
        }
    }
}

fn month_day_text(days: &Days) -> String {
    let mut items = Vec::new();
    if days.month_days != 0 {
        items.push(if days.month_days == ALL_DAYS {
            "1-31".to_owned()
        } else {
            field(u64::from(days.month_days), 1..32)
        });
    }
    let back = |n: &u8, mark: &str| match n {
        0 => format!("L{mark}"),
        n => format!("L-{n}{mark}"),
    };
    items.extend(days.before_end.iter().map(|n| back(n, "")));
    items.extend(days.nearest.iter().map(|n| format!("{n}W")));
    items.extend(days.nearest_end.iter().map(|n| back(n, "W")));
    items.join(",")
}

fn weekday_text(days: &Days) -> String {
    let mut items = Vec::new();
    if days.weekdays == 0x7f {
        items.push("0-6".to_owned());
    } else if days.weekdays != 0 {
        items.push(field(u64::from(days.weekdays), 0..7));
    }
    items.extend(days.nth.iter().map(|(day, n)| format!("{day}#{n}")));
    items.extend((0..7).filter(|day| days.last >> day & 1 == 1).map(|day| format!("{day}L")));
    items.join(",")
}
