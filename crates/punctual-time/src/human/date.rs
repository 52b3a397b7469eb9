//! One moment: `tomorrow at 8am`, `in 20 minutes`, `next friday`, `2026-12-24`, `the day after tomorrow`.

use super::clock;
use super::cursor::{Cursor, Ordinal};
use super::draft::{Day, Delay, Group, Half, Moment, MonthDay, Part, Stretch, Time};
use super::every::decimal_seconds;
use super::list;
use super::month;
use super::phrase::Parser;
use super::token::Kind;
use super::trouble::{Code, Trouble};
use super::words::{self, Unit};
use jiff::civil::Date;
use jiff::{Span, ToSpan, Zoned};
use std::ops::Range;

/// A date as it was written, which need not exist.
#[derive(Clone, Copy)]
pub(super) struct YearDay {
    pub(super) year: u32,
    pub(super) month: u32,
    pub(super) day: u32,
}

/// The date, if it exists.
pub(super) fn date(written: YearDay, span: Range<usize>) -> Result<Date, Trouble> {
    let YearDay { year, month, day } = written;
    let parts = (i16::try_from(year), i8::try_from(month), i8::try_from(day));
    if let (Ok(year), Ok(month), Ok(day)) = parts
        && (1970..=2199).contains(&year)
        && let Ok(date) = Date::new(year, month, day)
    {
        return Ok(date);
    }
    Err(Trouble::new(Code::Contradiction, span, format!("there is no day `{year:04}-{month:02}-{day:02}`"))
        .hint("write a day of the calendar, 1970 to 2199"))
}

impl Delay {
    /// The span to add; the count is small enough for every unit, or there is no such span.
    pub(super) fn span(self) -> Option<Span> {
        let count = i64::from(self.count);
        let span = Span::new();
        match self.unit {
            Unit::Second => span.try_seconds(count),
            Unit::Minute => span.try_minutes(count),
            Unit::Hour => span.try_hours(count),
            Unit::Day => span.try_days(count),
            Unit::Week => span.try_weeks(count),
            Unit::Month => span.try_months(count),
            Unit::Quarter => span.try_months(count * 3),
            Unit::Year => span.try_years(count),
        }
        .ok()
    }
}

impl<'t> Parser<'t> {
    /// A date in digits.
    pub(super) fn date_phrase(&mut self) -> Result<bool, Trouble> {
        let start = self.cursor;
        let Some(Kind::Date { year, month, day }) = start.kind() else { return Ok(false) };
        self.cursor.skip();
        self.set_once(YearDay { year, month, day }, start)?;
        self.draft.note_group(Group::Day);
        if !self.cursor.is_done() && clock::clear_time(&mut self.cursor.clone())?.is_some() {
            return self.times();
        }
        Ok(true)
    }

    /// `tomorrow`, `next friday`, `this evening`, `now`.
    pub(super) fn relative_phrase(&mut self) -> Result<bool, Trouble> {
        let start = self.cursor;
        let mut here = start;
        here.eat("the");
        if here.eat("now") || here.eat("immediately") || here.eat("right now") {
            self.cursor = here;
            let span = here.span_from(start);
            self.draft.once = Some(Moment { day: Day::After { seconds: 0 }, time: None, span });
            return Ok(true);
        }
        let Some(date) = relative_day(&mut here, &self.now) else {
            if here.eat("this")
                && let Some(part) = clock::part(&mut here)
            {
                self.cursor = here;
                self.draft.part = Some(part);
                return self.keep_day(self.now.date(), start);
            }
            return Ok(false);
        };
        if matches!(start.word(), Some("tonight")) {
            self.draft.part = Some(Part::Night);
        }
        self.cursor = here;
        self.keep_day(date, start)
    }

    fn keep_day(&mut self, date: Date, start: Cursor<'t>) -> Result<bool, Trouble> {
        let written = YearDay {
            year: date.year().unsigned_abs().into(),
            month: date.month().unsigned_abs().into(),
            day: date.day().unsigned_abs().into(),
        };
        self.set_once(written, start)?;
        self.draft.note_group(Group::Day);
        Ok(true)
    }

    /// `20 minutes from now`, `an hour later`.
    pub(super) fn later_phrase(&mut self) -> Result<bool, Trouble> {
        let start = self.cursor;
        let mut here = start;
        let Some(parts) = delays(&mut here) else { return Ok(false) };
        if !here.eat_any(&["from now", "from today", "later", "hence"]) {
            return Ok(false);
        }
        self.cursor = here;
        self.set_delay(&parts, start)?;
        Ok(true)
    }

    /// `in 20 minutes`, `in march`, `in the morning`, `in 2027`, `in Europe/Berlin`.
    pub(super) fn in_phrase(&mut self) -> Result<bool, Trouble> {
        let start = self.cursor;
        self.cursor.skip();
        let mut here = self.cursor;
        if here.eat_any(&["half an hour", "half hour"]) {
            self.cursor = here;
            return self.set_delay(&[Delay { count: 30, unit: Unit::Minute }], start).map(|()| true);
        }
        if let Some(parts) = delays(&mut here) {
            self.cursor = here;
            return self.set_delay(&parts, start).map(|()| true);
        }
        if let Some(first) = month::year(&mut here) {
            let mut last = first;
            let mut beyond = here;
            let is_range = beyond.range_word() || beyond.eat("and");
            if is_range && let Some(end) = month::year(&mut beyond) {
                last = end;
                here = beyond;
            }
            self.cursor = here;
            self.draft.years = Some(Stretch { from: first, to: last });
            return Ok(true);
        }
        if self.part_phrase() || self.quarter_name() || self.zone_after_in()? {
            return Ok(true);
        }
        if matches!(self.cursor.word(), Some("every" | "each" | "the" | "a")) {
            self.cursor = start;
            return self.of_phrase();
        }
        self.day_items()
    }

    /// `q1`.
    fn quarter_name(&mut self) -> bool {
        let mut here = self.cursor;
        if !here.eat("q") {
            return false;
        }
        let Some(quarter) = here.cardinal().filter(|quarter| (1..=4).contains(quarter)) else { return false };
        for month in (quarter - 1) * 3 + 1..=quarter * 3 {
            self.draft.months |= 1 << month;
        }
        self.cursor = here;
        true
    }

    fn set_delay(&mut self, parts: &[Delay], start: Cursor<'t>) -> Result<(), Trouble> {
        let span = self.cursor.span_from(start);
        let moment = self.after(parts, span.clone())?;
        if self.draft.once.is_some() {
            return Err(Trouble::new(Code::TwoSchedules, span, "two moments are two schedules"));
        }
        self.draft.once = Some(moment);
        Ok(())
    }

    /// The moment so much later than now. Days and longer follow the calendar.
    pub(super) fn after(&self, parts: &[Delay], span: Range<usize>) -> Result<Moment, Trouble> {
        let too_far = || Trouble::new(Code::Contradiction, span.clone(), "this is too far away");
        let mut then = self.now.clone();
        for part in parts {
            let delay = part.span().ok_or_else(too_far)?;
            then = then.checked_add(delay).map_err(|_| too_far())?;
        }
        if then.year() > 2199 {
            return Err(too_far());
        }
        if parts.iter().all(|part| part.unit <= Unit::Hour) {
            let seconds = then.timestamp().as_second() - self.now.timestamp().as_second();
            return Ok(Moment { day: Day::After { seconds }, time: None, span });
        }
        Ok(Moment { day: Day::On(then.date()), time: Some(time_of(&then, span.clone())), span })
    }

    /// A day as one end of a range: a date, a relative day, a yearly date, a weekday or month to come.
    pub(super) fn bound_day(&mut self) -> Result<Option<Date>, Trouble> {
        let start = self.cursor;
        let mut here = start;
        here.eat_any(&["on the", "on", "the"]);
        if let Some(Kind::Date { year, month, day }) = here.kind() {
            here.skip();
            self.cursor = here;
            return date(YearDay { year, month, day }, here.span_from(start)).map(Some);
        }
        if let Some(found) = relative_day(&mut here, &self.now) {
            self.cursor = here;
            return Ok(Some(found));
        }
        let Some((month, day)) = month_and_day(&mut here)? else { return Ok(None) };
        let mut beyond = here;
        beyond.eat_mark(',');
        let found = match month::year(&mut beyond) {
            Some(year) => {
                here = beyond;
                date(YearDay { year, month, day }, here.span_from(start))?
            }
            None => next_date(self.now.date(), MonthDay::new(month, day), here.span_from(start))?,
        };
        self.cursor = here;
        Ok(Some(found))
    }
}

/// The time of day of an instant, as if it had been written.
fn time_of(then: &Zoned, span: Range<usize>) -> Time {
    let small = |value: i8| u8::try_from(value).unwrap_or(0);
    Time {
        hour: small(then.hour()),
        minute: small(then.minute()),
        second: small(then.second()),
        half: None::<Half>,
        is_bare: false,
        span,
    }
}

/// `2 hours and 15 minutes`, `1h30m`, `a week`.
pub(super) fn delays(cursor: &mut Cursor<'_>) -> Option<Vec<Delay>> {
    let mut parts = Vec::new();
    let mut here = *cursor;
    here.eat_any(&["about", "exactly"]);
    if let Some(seconds) = decimal_seconds(&mut here) {
        *cursor = here;
        return Some(vec![Delay { count: seconds, unit: Unit::Second }]);
    }
    while let Some((count, unit)) = here.count().zip(here.unit()) {
        if parts.last().is_some_and(|last: &Delay| last.unit <= unit) {
            break;
        }
        parts.push(Delay { count, unit });
        if unit == Unit::Hour && here.eat("and a half") {
            parts.push(Delay { count: 30, unit: Unit::Minute });
        }
        *cursor = here;
        here.separator();
    }
    Some(parts).filter(|parts| !parts.is_empty())
}

/// `tomorrow`, `next week`, `next friday`, `this friday`, `friday next week`, `the day after tomorrow`.
fn relative_day(cursor: &mut Cursor<'_>, now: &Zoned) -> Option<Date> {
    let mut here = *cursor;
    let today = now.date();
    let days = |count: i64| today.checked_add(count.days()).ok();
    let found = if here.eat_any(&["today", "tonight"]) {
        Some(today)
    } else if here.eat("day after tomorrow") || here.eat("overmorrow") {
        days(2)
    } else if here.eat("tomorrow") {
        days(1)
    } else if let Some(found) = next_week_or_month(&mut here, today) {
        Some(found)
    } else if here.eat_any(&["next", "this coming", "coming", "this"]) {
        let is_next = cursor.word() == Some("next");
        let word = here.word()?;
        here.skip();
        match words::weekday(word) {
            Some(weekday) => Some(next_weekday(today, weekday)),
            None if !is_next => None,
            None => match words::unit(word)? {
                Unit::Day => days(1),
                Unit::Year => today.checked_add(1.year()).ok().map(Date::first_of_year),
                _ => None,
            },
        }
    } else {
        None
    }?;
    *cursor = here;
    Some(found)
}

/// `next week`, `next week on monday`, `monday next week`, `next month on the 3rd`. A week begins on Monday.
fn next_week_or_month(cursor: &mut Cursor<'_>, today: Date) -> Option<Date> {
    let mut here = *cursor;
    let mut weekday = here.word().and_then(words::weekday);
    if weekday.is_some() {
        here.skip();
    }
    let found = if here.eat("next week") {
        let mut beyond = here;
        beyond.eat("on");
        if let (None, Some(day)) = (weekday, beyond.word().and_then(words::weekday)) {
            beyond.skip();
            here = beyond;
            weekday = Some(day);
        }
        let monday = next_weekday(today, 1);
        let ahead = (i64::from(weekday.unwrap_or(1)) + 6) % 7;
        monday.checked_add(ahead.days()).ok()
    } else if weekday.is_none() && here.eat("next month") {
        let first = today.checked_add(1.month()).ok()?.first_of_month();
        let mut beyond = here;
        beyond.eat_any(&["on the", "the"]);
        match beyond.ordinal() {
            Some(Ordinal::Nth(day)) if beyond.word().and_then(words::weekday).is_none() => {
                beyond.eat("day");
                here = beyond;
                Date::new(first.year(), first.month(), i8::try_from(day).ok()?).ok()
            }
            _ => Some(first),
        }
    } else {
        None
    }?;
    *cursor = here;
    Some(found)
}

/// The first such weekday after `today`.
pub(super) fn next_weekday(today: Date, weekday: u8) -> Date {
    let now = today.weekday().to_sunday_zero_offset();
    let ahead = (i64::from(weekday) - i64::from(now) + 6).rem_euclid(7) + 1;
    today.checked_add(ahead.days()).unwrap_or(today)
}

/// `june 1`, `1st of june`, `1 june`: month and day of the year.
fn month_and_day(cursor: &mut Cursor<'_>) -> Result<Option<(u32, u32)>, Trouble> {
    let mut here = *cursor;
    if let Some(month) = here.word().and_then(words::month) {
        here.skip();
        here.eat("the");
        let Some(days) = list::month_days(&mut here)?.filter(|days| days.count_ones() == 1) else {
            return Ok(None);
        };
        *cursor = here;
        return Ok(Some((u32::from(month), days.trailing_zeros())));
    }
    let day = match here.ordinal() {
        Some(Ordinal::Nth(day)) => Some(day),
        Some(Ordinal::FromEnd(_)) => None,
        None => here.cardinal(),
    };
    let Some(day) = day else { return Ok(None) };
    here.eat_any(&["day of", "of"]);
    let Some(month) = here.word().and_then(words::month) else { return Ok(None) };
    here.skip();
    *cursor = here;
    Ok(Some((u32::from(month), day)))
}

/// The next such day, today included; 29 February waits for a leap year.
pub(super) fn next_date(today: Date, wanted: MonthDay, span: Range<usize>) -> Result<Date, Trouble> {
    let (month, day) = (wanted.month.into(), wanted.day.into());
    let year = u32::from(today.year().unsigned_abs());
    let mut refused = None;
    for year in year..=year + 8 {
        match date(YearDay { year, month, day }, span.clone()) {
            Ok(found) if found >= today => return Ok(found),
            Ok(_) => {}
            Err(trouble) => refused = Some(trouble),
        }
    }
    Err(refused.unwrap_or_else(|| Trouble::new(Code::Contradiction, span, "there is no such day")))
}
