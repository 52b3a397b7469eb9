//! Intervals: what cron cannot count. `every 45 minutes`, `every other friday at noon`, `every 5 months`.

use super::super::draft::{Day, End, Moment, MonthDay, Time};
use super::super::trouble::Trouble;
use super::super::words::Unit;
use super::Builder;
use crate::Interval;
use jiff::ToSpan;
use jiff::civil::Date;

/// How many days ahead the first day of an interval is looked for: enough for a 31st and a leap day.
const DAYS_AHEAD_MAX: usize = 366 * 8;

impl Builder {
    /// True if cron would count wrongly: `*/45` starts anew every hour.
    pub(super) fn is_interval(&self) -> bool {
        let Some((unit, count)) = self.finest() else { return false };
        if self.draft.literal.is_some() {
            return true;
        }
        let in_one_hour =
            self.draft.windows.iter().all(|w| w.to / 60 == w.from / 60 || w.to == w.from / 60 * 60 + 60)
                && !self.draft.windows.is_empty();
        match unit {
            Unit::Second => 60 % count != 0 && self.draft.seconds.range.is_none(),
            Unit::Minute => 60 % count != 0 && self.draft.minutes.range.is_none() && !in_one_hour,
            Unit::Hour => {
                let is_bound = self.draft.hours.range.is_some() || !self.draft.windows.is_empty();
                24 % count != 0 && !(is_bound && count < 24)
            }
            Unit::Day => count > 1 && self.draft.day_range.is_none(),
            Unit::Week => count > 1,
            Unit::Month | Unit::Quarter => 12 % count != 0 && self.draft.month_range.is_none(),
            Unit::Year => count > 1,
        }
    }

    pub(super) fn interval(&mut self) -> Result<(), Trouble> {
        let Some((unit, count)) = self.finest() else { return Ok(()) };
        let text = every(count, unit);
        text.parse::<Interval>().map_err(|error| self.contradiction(error.to_string()))?;
        self.parsed.every = Some(text);
        let draft = &self.draft;
        if draft.months != 0 && unit < Unit::Month || draft.not_months != 0 || draft.not_month_days != 0 {
            return Err(self
                .contradiction("an interval cannot be limited to some months or days of the month")
                .hint("write a rate that cron can count, such as `every 30 minutes in december`"));
        }
        if draft.minutes.named_any() || draft.hours.named_any() || draft.seconds.named_any() {
            return Err(self.contradiction("an interval does not fall on fixed marks of the clock"));
        }
        if unit <= Unit::Hour {
            return self.short_interval();
        }
        self.long_interval(unit)
    }

    /// Seconds, minutes, hours: weekdays and windows limit it, a start anchors it.
    fn short_interval(&mut self) -> Result<(), Trouble> {
        if self.draft.days.has_month_days() || !self.draft.days.nth.is_empty() || self.draft.days.last != 0 {
            return Err(self.contradiction("an interval cannot be limited to some days of the month"));
        }
        if let [time] = self.draft.times.as_slice() {
            let (time, span) = (time.clone(), time.span.clone());
            self.draft.start.get_or_insert(Moment { day: Day::Next, time: Some(time), span });
        } else if !self.draft.times.is_empty() {
            return Err(self.contradiction("an interval has no fixed times of day"));
        }
        self.limit_weekdays();
        match self.draft.windows.as_slice() {
            [] if self.draft.not_windows.len() > 1 => {
                return Err(self.two_schedules("several windows are several schedules"));
            }
            [] => {
                if let [excluded] = self.draft.not_windows.as_slice() {
                    let to = if excluded.end == End::Closed { excluded.to + 1 } else { excluded.to };
                    let from = excluded.from;
                    self.set_only_between(to, from);
                }
            }
            [window] => {
                let window = window.clone();
                self.keep_window(&window);
            }
            _ => return Err(self.two_schedules("several windows are several schedules")),
        }
        Ok(())
    }

    /// `every 45 minutes on weekdays`: the other days are left out.
    fn limit_weekdays(&mut self) {
        if self.draft.days.weekdays != 0 {
            self.draft.not_weekdays |= !self.draft.days.weekdays & 0x7f;
        }
    }

    /// Days and longer: the first tick carries the weekday, the date and the time.
    fn long_interval(&mut self, unit: Unit) -> Result<(), Trouble> {
        if self.draft.times.len() > 1 {
            return Err(self.two_schedules("an interval of days has one time of day"));
        }
        let days = self.draft.days.clone();
        if unit == Unit::Day {
            if days.has_month_days() || !days.nth.is_empty() || days.last != 0 || !self.draft.dates.is_empty()
            {
                return Err(self.contradiction("every so many days and fixed days do not go together"));
            }
            self.limit_weekdays();
        } else if days.weekdays.count_ones() > 1 {
            return Err(self.two_schedules("an interval of weeks has one weekday"));
        }
        if !days.nth.is_empty() || days.last != 0 || !days.nearest.is_empty() || !days.nearest_end.is_empty()
        {
            return Err(self.contradiction("an interval cannot follow the n-th weekday of a month"));
        }
        let is_anchored = !self.draft.times.is_empty()
            || !days.is_empty() && unit != Unit::Day
            || !self.draft.dates.is_empty()
            || self.draft.months != 0
            || self.draft.start.is_some();
        if !is_anchored {
            return Ok(());
        }
        let time = self.draft.times.first().cloned();
        if time.is_none() {
            self.draft.assume("no time of day is given: midnight");
        }
        let first = self.first_day(unit, time.as_ref())?;
        let span = self.whole.clone();
        self.draft.start = Some(Moment { day: Day::On(first), time, span });
        Ok(())
    }

    /// The first day from the start, or from now, that has the weekday or the date.
    fn first_day(&self, unit: Unit, time: Option<&Time>) -> Result<Date, Trouble> {
        let mut day = match self.draft.start.as_ref().map(|start| &start.day) {
            Some(Day::On(date)) => *date,
            _ => {
                let second = time.map_or(0, Time::second_of_day);
                let passed = self.now.hour().unsigned_abs() as u32 * 3600
                    + self.now.minute().unsigned_abs() as u32 * 60
                    + self.now.second().unsigned_abs() as u32;
                let today = self.now.date();
                if second > passed { today } else { today.checked_add(1.day()).unwrap_or(today) }
            }
        };
        for _ in 0..DAYS_AHEAD_MAX {
            if self.is_first_day(unit, day) {
                return Ok(day);
            }
            day = day.tomorrow().map_err(|_| self.contradiction("this is too far away"))?;
        }
        Err(self.contradiction("there is no such day"))
    }

    fn is_first_day(&self, unit: Unit, day: Date) -> bool {
        let draft = &self.draft;
        let (month, number) = (day.month().unsigned_abs(), day.day().unsigned_abs());
        let weekday = day.weekday().to_sunday_zero_offset().unsigned_abs();
        if unit == Unit::Day {
            return true;
        }
        if unit == Unit::Week {
            return draft.days.weekdays == 0 || draft.days.weekdays >> weekday & 1 == 1;
        }
        if !draft.dates.is_empty() {
            return draft.dates.contains(&MonthDay { month, day: number });
        }
        let is_month = draft.months == 0 || draft.months >> month & 1 == 1;
        let is_last = draft.days.before_end.contains(&0) && day == day.last_of_month();
        let is_anchored = draft.start.is_some() && !draft.days.has_month_days() && draft.months == 0;
        let wanted = if draft.days.has_month_days() { draft.days.month_days } else { 1 << 1 };
        is_anchored || is_month && (wanted >> number & 1 == 1 || is_last)
    }
}

impl super::super::draft::Marks {
    fn named_any(&self) -> bool {
        self.set != 0
    }
}

/// The text of an interval; years are counted in months.
fn every(count: u32, unit: Unit) -> String {
    match unit {
        Unit::Second => format!("{count}s"),
        Unit::Minute => format!("{count}m"),
        Unit::Hour => format!("{count}h"),
        Unit::Day => format!("{count}d"),
        Unit::Week => plural(count, "week"),
        Unit::Month => plural(count, "month"),
        Unit::Quarter => plural(count.saturating_mul(3), "month"),
        Unit::Year => plural(count.saturating_mul(12), "month"),
    }
}

fn plural(count: u32, unit: &str) -> String {
    if count == 1 { format!("{count} {unit}") } else { format!("{count} {unit}s") }
}
