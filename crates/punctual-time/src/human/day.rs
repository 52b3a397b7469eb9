//! Days: weekdays, days of the month, the n-th weekday, the last day, months and yearly dates.

use super::cursor::{Cursor, Ordinal};
use super::date::YearDay;
use super::draft::Group;
use super::every::title;
use super::list::{mixed_list, month_list, number_list, ordinal_list, weekday_list, weekday_names};
use super::month::{quarter_months, year};
use super::phrase::{Parser, bit};
use super::token::Kind;
use super::trouble::{Code, Trouble};
use super::words::{self, Unit};
use std::ops::Range;

/// The period an ordinal counts in: `the first day of the quarter`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Period {
    Unsaid,
    Week,
    Month,
    Quarter,
    Year,
    /// Months by name, bit n is month n.
    Named(u16),
}

/// The end of a period that an ordinal counts from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Start,
    End,
}

impl Side {
    fn of(list: &[Ordinal]) -> Side {
        let from_end = list.iter().any(|ordinal| matches!(ordinal, Ordinal::FromEnd(_)));
        if from_end { Side::End } else { Side::Start }
    }
}

impl<'t> Parser<'t> {
    /// One phrase about days, if one stands here.
    pub(super) fn day_items(&mut self) -> Result<bool, Trouble> {
        let before = self.cursor;
        self.cursor.eat_any(&["on the", "on", "the"]);
        let found = self.named_date()?
            || self.nearest_weekday()?
            || self.weekdays()?
            || self.numbered_days()?
            || self.days_before_end()?
            || self.span_of_days()?
            || self.ordinals()?
            || self.mixed_numbers()?
            || self.month_first()?
            || self.day_first()?;
        if found {
            self.draft.note_group(Group::Day);
        } else {
            self.cursor = before;
        }
        Ok(found)
    }

    /// `monday and thursday`, `mon-fri`, `weekdays`, `friday the 13th`.
    fn weekdays(&mut self) -> Result<bool, Trouble> {
        let Some(mask) = weekday_list(&mut self.cursor) else { return Ok(false) };
        self.draft.days.weekdays |= mask;
        let mut here = self.cursor;
        if here.eat("the")
            && let Some(Kind::Ordinal(day)) = here.kind()
            && mask.count_ones() == 1
        {
            let span = here.span();
            here.skip();
            self.cursor = here;
            self.add_day(day, span)?;
            self.draft.is_both = true;
        }
        Ok(true)
    }

    fn add_day(&mut self, day: u32, span: Range<usize>) -> Result<(), Trouble> {
        let mask = bit(day, 32, span.clone())?;
        if day == 0 {
            return Err(Trouble::new(Code::Contradiction, span, "months begin with day 1"));
        }
        self.draft.days.month_days |= u32::try_from(mask).unwrap_or(0);
        Ok(())
    }

    /// `day 20 and 30`, `days 1 through 5 and 10`.
    fn numbered_days(&mut self) -> Result<bool, Trouble> {
        let mut here = self.cursor;
        if !here.eat_any(&["day", "days"]) {
            return Ok(false);
        }
        let start = here;
        let Some(set) = number_list(&mut here, 32)? else { return Ok(false) };
        let days: Vec<Ordinal> = (0..32).filter(|n| set >> n & 1 == 1).map(Ordinal::Nth).collect();
        let period = period(&mut here)?;
        self.cursor = here;
        self.days_in(&days, period, here.span_from(start))?;
        Ok(true)
    }

    /// `5 days before the end of the month`, `5th day before the last day of march`.
    fn days_before_end(&mut self) -> Result<bool, Trouble> {
        let start = self.cursor;
        let mut here = start;
        let count = match here.ordinal() {
            Some(Ordinal::Nth(count)) => Some(count),
            Some(Ordinal::FromEnd(_)) => None,
            None if here.word() == Some("day") => Some(1),
            None => here.count(),
        };
        let Some(count) = count else { return Ok(false) };
        if !(here.eat_any(&["days", "day"]) && here.eat("before")) {
            return Ok(false);
        }
        here.eat("the");
        if !here.eat_any(&["last day", "end"]) {
            return Ok(false);
        }
        let period = period(&mut here)?;
        self.cursor = here;
        self.days_in(&[Ordinal::FromEnd(count.saturating_add(1))], period, here.span_from(start))?;
        Ok(true)
    }

    /// `the first 5 days of the month`, `the last three days of march`.
    fn span_of_days(&mut self) -> Result<bool, Trouble> {
        let start = self.cursor;
        let mut here = start;
        let Some(ordinal) = here.ordinal() else { return Ok(false) };
        let Some(count) = here.cardinal() else { return Ok(false) };
        if !here.eat_any(&["days", "day"]) || count == 0 || count > 31 {
            return Ok(false);
        }
        let days: Vec<Ordinal> = match ordinal {
            Ordinal::Nth(1) => (1..=count).map(Ordinal::Nth).collect(),
            Ordinal::FromEnd(1) => (1..=count).map(Ordinal::FromEnd).collect(),
            _ => return Ok(false),
        };
        let period = period(&mut here)?;
        self.cursor = here;
        self.days_in(&days, period, here.span_from(start))?;
        Ok(true)
    }

    /// `nearest weekday to the 15th`, `weekday nearest the last day`.
    fn nearest_weekday(&mut self) -> Result<bool, Trouble> {
        let start = self.cursor;
        let mut here = start;
        let is_nearest = if here.eat_any(&["nearest", "closest"]) {
            here.eat_any(&["weekday", "workday", "business day", "working day"])
        } else {
            here.eat_any(&["weekday", "workday", "business day", "working day"])
                && here.eat_any(&["nearest", "closest"])
        };
        if !is_nearest {
            return Ok(false);
        }
        here.eat("to");
        here.eat("the");
        here.eat("day");
        let ordinal = match here.ordinal() {
            Some(ordinal) => ordinal,
            None => match here.cardinal() {
                Some(day) if !here.eat_any(&["days before the last", "days before the end"]) => {
                    Ordinal::Nth(day)
                }
                Some(day) => Ordinal::FromEnd(day.saturating_add(1)),
                None => return Ok(false),
            },
        };
        here.eat("day");
        let span = here.span_from(start);
        let months = period(&mut here)?;
        self.cursor = here;
        match ordinal {
            Ordinal::Nth(day @ 1..=31) => self.draft.days.nearest.push(u8::try_from(day).unwrap_or(1)),
            Ordinal::FromEnd(n @ 1..=31) => {
                self.draft.days.nearest_end.push(u8::try_from(n - 1).unwrap_or(0));
            }
            _ => return Err(out_of_month(span)),
        }
        self.apply_period(months, Side::Start);
        Ok(true)
    }

    /// Lists of ordinals and what they count: `first and third monday`, `1st, 15th and last day of march`.
    fn ordinals(&mut self) -> Result<bool, Trouble> {
        let start = self.cursor;
        let mut here = start;
        let Some(list) = ordinal_list(&mut here)? else { return Ok(false) };
        let span = here.span_from(start);
        here.eat_any(&["instance of", "instances of"]);
        if let Some(mask) = weekday_names(&mut here) {
            let of = period(&mut here)?;
            self.cursor = here;
            return self.nth_weekdays(&list, mask, (of, span)).map(|()| true);
        }
        if here.eat_any(&["weekday", "weekdays", "workday", "business day", "working day", "business days"]) {
            let of = period(&mut here)?;
            self.cursor = here;
            return self.nth_workday(&list, of, span).map(|()| true);
        }
        match here.word().and_then(words::unit) {
            Some(Unit::Day) => here.skip(),
            Some(unit @ (Unit::Second | Unit::Minute | Unit::Hour)) => {
                here.skip();
                self.cursor = here;
                return self.ordinal_marks(&list, unit, span).map(|()| true);
            }
            Some(unit @ (Unit::Month | Unit::Quarter)) => {
                here.skip();
                here.eat_any(&["of the year", "of each year", "of every year"]);
                self.cursor = here;
                return self.ordinal_months(&list, unit, span).map(|()| true);
            }
            Some(_) => return Ok(false),
            // `second` alone is a unit of time.
            None if start.word() == Some("second")
                && here.at == start.at + 1
                && here.word() != Some("of") =>
            {
                return Ok(false);
            }
            None => {}
        }
        let of = period(&mut here)?;
        self.cursor = here;
        if let (Period::Named(months), [Ordinal::Nth(day)]) = (of, list.as_slice())
            && let Some(year) = year(&mut self.cursor)
        {
            return self
                .set_once(YearDay { year, month: months.trailing_zeros(), day: *day }, start)
                .map(|()| true);
        }
        self.days_in(&list, of, span)?;
        Ok(true)
    }

    /// `1-5th day`, `1,15 day of the month`, `5 and 10th minute`: lists that are only partly ordinals.
    fn mixed_numbers(&mut self) -> Result<bool, Trouble> {
        let start = self.cursor;
        let mut here = start;
        let Some(set) = mixed_list(&mut here) else { return Ok(false) };
        let list: Vec<Ordinal> = (0..60).filter(|n| set >> n & 1 == 1).map(Ordinal::Nth).collect();
        let unit = here.word().and_then(words::unit);
        let (true, Some(unit)) = (list.len() > 1, unit) else { return Ok(false) };
        here.skip();
        if matches!(here.word(), Some("past" | "after" | "before" | "from")) {
            return Ok(false);
        }
        let span = here.span_from(start);
        match unit {
            Unit::Day => {
                let of = period(&mut here)?;
                self.cursor = here;
                self.days_in(&list, of, span)?;
            }
            Unit::Month => {
                self.cursor = here;
                self.ordinal_months(&list, unit, span)?;
            }
            Unit::Second | Unit::Minute | Unit::Hour => {
                self.cursor = here;
                self.ordinal_marks(&list, unit, span)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn ordinal_marks(&mut self, list: &[Ordinal], unit: Unit, span: Range<usize>) -> Result<(), Trouble> {
        let limit = if unit == Unit::Hour { 24 } else { 60 };
        for ordinal in list {
            let Ordinal::Nth(value) = ordinal else { return Err(self.not_understood()) };
            let mask = bit(*value, limit, span.clone())?;
            let marks = self.marks(unit);
            marks.set |= mask;
            marks.span = span.clone();
        }
        Ok(())
    }

    fn ordinal_months(&mut self, list: &[Ordinal], unit: Unit, span: Range<usize>) -> Result<(), Trouble> {
        for ordinal in list {
            let (size, count) = if unit == Unit::Month { (1, 12) } else { (3, 4) };
            let number = match *ordinal {
                Ordinal::Nth(number) => number,
                Ordinal::FromEnd(number) => (count + 1u32).saturating_sub(number),
            };
            if number == 0 || number > count {
                return Err(Trouble::new(Code::Contradiction, span, format!("a year has no such {unit:?}")));
            }
            for month in (number - 1) * size + 1..=number * size {
                self.draft.months |= 1 << month;
            }
        }
        Ok(())
    }

    fn nth_weekdays(
        &mut self,
        list: &[Ordinal],
        mask: u8,
        of: (Period, Range<usize>),
    ) -> Result<(), Trouble> {
        let (period, span) = of;
        if period == Period::Week {
            return Err(Trouble::new(Code::Contradiction, span, "a week has each weekday once"));
        }
        for ordinal in list {
            match *ordinal {
                Ordinal::Nth(n @ 1..=5) => {
                    let n = u8::try_from(n).unwrap_or(1);
                    let days = &mut self.draft.days.nth;
                    days.extend((0..7).filter(|day| mask >> day & 1 == 1).map(|day| (day, n)));
                }
                Ordinal::FromEnd(1) => self.draft.days.last |= mask,
                Ordinal::Nth(n) => {
                    let message = format!("no month has a weekday {n} times");
                    return Err(Trouble::new(Code::Contradiction, span, message)
                        .hint("write `first` to `fifth`, or `last`"));
                }
                Ordinal::FromEnd(_) => {
                    let message = "only the last such weekday of a month can be counted from its end";
                    return Err(Trouble::new(Code::TwoSchedules, span, message)
                        .hint("write `last friday of the month`, or count from the start: `fourth friday`"));
                }
            }
        }
        if period == Period::Unsaid {
            let day = (0..7).find(|day| mask >> day & 1 == 1).unwrap_or(0);
            self.draft.assume(format!("the {} is counted within the month", title(words::WEEKDAYS[day])));
        }
        let side = Side::of(list);
        self.apply_period(period, side);
        Ok(())
    }

    fn nth_workday(&mut self, list: &[Ordinal], period: Period, span: Range<usize>) -> Result<(), Trouble> {
        for ordinal in list {
            match ordinal {
                // The weekday nearest to the 1st, staying in the month, is the first weekday.
                Ordinal::Nth(1) => self.draft.days.nearest.push(1),
                Ordinal::FromEnd(1) => self.draft.days.nearest_end.push(0),
                _ => {
                    let message = "only the first and the last weekday of a month can be named";
                    return Err(Trouble::new(Code::TwoSchedules, span, message)
                        .hint("write `nearest weekday to the 3rd`, or a weekday by name: `second monday`"));
                }
            }
        }
        let side = Side::of(list);
        self.apply_period(period, side);
        Ok(())
    }

    /// Days of a month, quarter, year or week.
    fn days_in(&mut self, list: &[Ordinal], period: Period, span: Range<usize>) -> Result<(), Trouble> {
        if period == Period::Week {
            return self.days_of_week(list, span);
        }
        let side = Side::of(list);
        for ordinal in list {
            match *ordinal {
                Ordinal::Nth(day @ 1..=31) => {
                    if let Period::Named(months) = period {
                        self.add_dates(months, day, span.clone())?;
                    } else {
                        self.add_day(day, span.clone())?;
                    }
                }
                Ordinal::FromEnd(n @ 1..=31) => {
                    self.draft.days.before_end.push(u8::try_from(n - 1).unwrap_or(0));
                }
                _ => return Err(out_of_month(span)),
            }
        }
        if side == Side::End || !matches!(period, Period::Named(_)) {
            self.apply_period(period, side);
        }
        Ok(())
    }

    fn days_of_week(&mut self, list: &[Ordinal], span: Range<usize>) -> Result<(), Trouble> {
        for ordinal in list {
            let day = match *ordinal {
                Ordinal::Nth(n @ 1..=7) => n % 7,
                Ordinal::FromEnd(n @ 1..=7) => (8 - n) % 7,
                _ => return Err(Trouble::new(Code::Contradiction, span, "a week has seven days")),
            };
            self.draft.days.weekdays |= 1 << day;
        }
        self.draft.assume("a week begins on Monday");
        Ok(())
    }

    fn apply_period(&mut self, period: Period, side: Side) {
        self.draft.months |= match (period, side) {
            (Period::Named(months), _) => months,
            (Period::Quarter, Side::Start) => quarter_months(1),
            (Period::Quarter, Side::End) => quarter_months(3),
            (Period::Year, Side::Start) => 1 << 1,
            (Period::Year, Side::End) => 1 << 12,
            _ => 0,
        };
    }
}

fn out_of_month(span: Range<usize>) -> Trouble {
    Trouble::new(Code::Contradiction, span, "a month has 31 days at most")
}

/// `of the month`, `in march and june`, `of each quarter`.
fn period(cursor: &mut Cursor<'_>) -> Result<Period, Trouble> {
    let mut here = *cursor;
    let had = here.eat_any(&["of", "in"]);
    let article = here.eat_any(&["the", "each", "every", "a", "any", "this"]);
    let period = match here.word() {
        Some("month" | "months") if had || article => Period::Month,
        Some("quarter" | "quarters") if had || article => Period::Quarter,
        Some("year" | "years") if had || article => Period::Year,
        Some("week" | "weeks") if had => Period::Week,
        _ => {
            let Some(months) = month_list(&mut here) else { return Ok(Period::Unsaid) };
            *cursor = here;
            return Ok(Period::Named(months));
        }
    };
    here.skip();
    *cursor = here;
    Ok(period)
}
