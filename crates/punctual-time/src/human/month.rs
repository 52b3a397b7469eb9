//! Months and yearly dates: `july 4th`, `1 june 2027`, `june to august`, `christmas day`.

use super::cursor::Cursor;
use super::date::YearDay;
use super::draft::{Day, Moment, MonthDay, Stretch};
use super::every::title;
use super::list::{mixed_list, month_days, month_list};
use super::phrase::Parser;
use super::token::Kind;
use super::trouble::{Code, Trouble};
use super::words;
use std::ops::Range;

/// The longest each month can be, January first.
const LONGEST: [u8; 12] = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/// Days that people call by name, as month and day; only those that never move.
const NAMED: &[(&str, u8, u8)] = &[
    ("new year's day", 1, 1),
    ("new years day", 1, 1),
    ("new year's eve", 12, 31),
    ("new years eve", 12, 31),
    ("valentine's day", 2, 14),
    ("halloween", 10, 31),
    ("christmas eve", 12, 24),
    ("christmas day", 12, 25),
    ("christmas", 12, 25),
];

impl<'t> Parser<'t> {
    /// `christmas day`.
    pub(super) fn named_date(&mut self) -> Result<bool, Trouble> {
        let Some((_, month, day)) = NAMED.iter().find(|(name, ..)| self.cursor.eat(name)) else {
            return Ok(false);
        };
        self.draft.dates.push(MonthDay { month: *month, day: *day });
        Ok(true)
    }

    pub(super) fn add_dates(&mut self, months: u16, day: u32, span: Range<usize>) -> Result<(), Trouble> {
        let day = u8::try_from(day).unwrap_or(u8::MAX);
        let named = || (1u8..=12).filter(|month| months >> month & 1 == 1);
        let has_day = |month: u8| (1..=LONGEST[usize::from(month) - 1]).contains(&day);
        for month in named() {
            if !named().any(has_day) {
                let name = title(words::MONTHS[usize::from(month) - 1]);
                return Err(Trouble::new(Code::Contradiction, span, format!("{name} has no day {day}"))
                    .hint(format!("{name} ends with day {}", LONGEST[usize::from(month) - 1])));
            }
            self.draft.dates.push(MonthDay { month, day });
        }
        Ok(())
    }

    /// `july 4th`, `aug 20 and 30`, `june 1st 2027`, `june to august`, `january and july`.
    pub(super) fn month_first(&mut self) -> Result<bool, Trouble> {
        let start = self.cursor;
        let mut here = start;
        let Some(months) = month_list(&mut here) else { return Ok(false) };
        let mut beyond = here;
        beyond.eat_any(&["on the", "the"]);
        let days = if months.count_ones() == 1 { month_days(&mut beyond)? } else { None };
        let Some(days) = days else {
            // `december 2026`: the month, in that year only.
            if let Some(year) = year(&mut here) {
                self.draft.years = Some(Stretch { from: year, to: year });
            }
            self.cursor = here;
            self.draft.months |= months;
            return Ok(true);
        };
        here = beyond;
        here.eat_mark(',');
        if days.count_ones() == 1
            && let Some(year) = year(&mut here)
        {
            self.cursor = here;
            return self
                .set_once(YearDay { year, month: months.trailing_zeros(), day: days.trailing_zeros() }, start)
                .map(|()| true);
        }
        self.cursor = beyond;
        for day in (0..32u32).filter(|day| days >> day & 1 == 1) {
            self.add_dates(months, day, beyond.span_from(start))?;
        }
        Ok(true)
    }

    /// `4 july`, `1 june 2027`, `15 march at 9`.
    pub(super) fn day_first(&mut self) -> Result<bool, Trouble> {
        let start = self.cursor;
        let mut here = start;
        let Some(days) = mixed_list(&mut here) else { return Ok(false) };
        here.eat("of");
        let Some(months) = month_list(&mut here) else { return Ok(false) };
        self.cursor = here;
        if days.count_ones() == 1
            && let Some(year) = year(&mut self.cursor)
        {
            return self
                .set_once(YearDay { year, month: months.trailing_zeros(), day: days.trailing_zeros() }, start)
                .map(|()| true);
        }
        for day in (0..60u32).filter(|day| days >> day & 1 == 1) {
            self.add_dates(months, day, here.span_from(start))?;
        }
        Ok(true)
    }

    /// Keeps the date of a one-shot.
    pub(super) fn set_once(&mut self, date: YearDay, start: Cursor<'t>) -> Result<(), Trouble> {
        let span = self.cursor.span_from(start);
        let date = super::date::date(date, span.clone())?;
        if self.draft.once.is_some() {
            let message = "two dates are two schedules";
            return Err(Trouble::new(Code::TwoSchedules, span, message).hint("write one schedule for each"));
        }
        self.draft.once = Some(Moment { day: Day::On(date), time: None, span });
        Ok(())
    }
}

/// The n-th month of every quarter as a mask.
pub(super) fn quarter_months(n: u16) -> u16 {
    (0..4).fold(0, |mask, quarter| mask | 1 << (quarter * 3 + n))
}

/// A year of four digits.
pub(super) fn year(cursor: &mut Cursor<'_>) -> Option<u32> {
    let mut here = *cursor;
    here.eat("in");
    let Some(Kind::Number { value: value @ 1970..=2199, digits: 4 }) = here.kind() else { return None };
    here.skip();
    if matches!(here.word(), Some("hours" | "hrs" | "am" | "pm")) {
        return None;
    }
    *cursor = here;
    Some(value)
}
