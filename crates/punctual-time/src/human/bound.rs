//! Windows and bounds: `between 9am and 5pm`, `from june to august`, `starting tomorrow`, `until 1 june`.

use super::clock;
use super::cursor::{Cursor, Ordinal};
use super::date::{self, next_weekday};
use super::day;
use super::draft::{Day, Half, Moment, Time, Window};
use super::phrase::Parser;
use super::trouble::{Code, Trouble};
use super::words::{self, Unit};
use jiff::ToSpan;
use jiff::civil::Date;
use std::ops::Range;

/// One end of `from … to …`.
enum Point {
    Time(Time),
    Weekday(u8),
    Month(u8),
    /// `the 10th`: a day of the month, or whatever the other end counts.
    Nth(u32),
    LastDay,
    Mark(Unit, u32),
    Date(Date, Option<Time>),
    Now,
}

impl<'t> Parser<'t> {
    /// `between`, `from`, `during`, `within`.
    pub(super) fn between_phrase(&mut self) -> Result<bool, Trouble> {
        let start = self.cursor;
        let word = start.word().unwrap_or("");
        self.cursor.skip();
        if self.business_hours(start) {
            return Ok(true);
        }
        if matches!(word, "during" | "within" | "outside") {
            self.cursor.eat("the");
            return Ok(word != "outside");
        }
        let Some(first) = self.point()? else { return Ok(false) };
        let mut here = self.cursor;
        let is_closed = matches!(here.word(), Some("through" | "thru"));
        let has_end =
            if word == "between" { here.eat("and") || here.range_word() } else { here.range_word() };
        if !has_end {
            return self.start_at(first, start).map(|()| true);
        }
        self.cursor = here;
        self.cursor.eat_any(&["on the", "at", "on", "the"]);
        let second = match first {
            Point::Mark(unit, _) => {
                self.cursor.eat_any(&["minute", "second", "hour", "day"]);
                self.number_or_ordinal().map(|value| Point::Mark(unit, value))
            }
            _ => self.point()?,
        };
        let Some(second) = second else {
            return Err(self.not_understood());
        };
        self.range(first, second, (start, is_closed)).map(|()| true)
    }

    fn number_or_ordinal(&mut self) -> Option<u32> {
        match self.cursor.ordinal() {
            Some(Ordinal::Nth(value)) => {
                self.cursor.eat_any(&["minute", "second", "hour", "day"]);
                Some(value)
            }
            _ => self.cursor.cardinal(),
        }
    }

    fn business_hours(&mut self, start: Cursor<'t>) -> bool {
        let mut here = self.cursor;
        here.eat_any(&["the", "normal", "regular"]);
        let found = ["business hours", "working hours", "office hours", "work hours", "business hrs"];
        if !here.eat_any(&found) {
            return false;
        }
        self.cursor = here;
        let span = here.span_from(start);
        if start.word() == Some("outside") {
            self.draft.windows.push(Window { from: 17 * 60, to: 9 * 60, is_closed: false, span });
            self.draft.assume("business hours are read as 09:00 to 17:00");
            return true;
        }
        self.draft.windows.push(Window { from: 9 * 60, to: 17 * 60, is_closed: false, span });
        self.draft.days.weekdays |= words::WORKDAYS;
        self.draft.assume("business hours are read as 09:00 to 17:00, Monday to Friday");
        true
    }

    fn point(&mut self) -> Result<Option<Point>, Trouble> {
        if self.cursor.eat_any(&["now on", "now"]) {
            return Ok(Some(Point::Now));
        }
        if let Some(date) = self.bound_day()? {
            let time = self.time_after_day()?;
            return Ok(Some(Point::Date(date, time)));
        }
        let mut here = self.cursor;
        here.eat_any(&["on the", "at", "on", "the"]);
        if let Some(word) = here.word() {
            if let Some(weekday) = words::weekday(word) {
                here.skip();
                self.cursor = here;
                return Ok(Some(Point::Weekday(weekday)));
            }
            if let Some(month) = words::month(word) {
                here.skip();
                if let Some(year) = day::year(&mut here) {
                    let span = here.span_from(self.cursor);
                    self.cursor = here;
                    return Ok(Some(Point::Date(date::date((year, month.into(), 1), span)?, None)));
                }
                self.cursor = here;
                return Ok(Some(Point::Month(month)));
            }
            if here.eat("last day") {
                self.cursor = here;
                return Ok(Some(Point::LastDay));
            }
            if let Some(unit) = words::unit(word).filter(|unit| *unit <= Unit::Day) {
                here.skip();
                if let Some(value) = here.cardinal() {
                    self.cursor = here;
                    return Ok(Some(Point::Mark(unit, value)));
                }
            }
        }
        let mut beyond = here;
        if let Some(Ordinal::Nth(value)) = beyond.ordinal() {
            let unit = beyond.word().and_then(words::unit).filter(|unit| *unit <= Unit::Day);
            if let Some(unit) = unit {
                beyond.skip();
                self.cursor = beyond;
                return Ok(Some(if unit == Unit::Day {
                    Point::Nth(value)
                } else {
                    Point::Mark(unit, value)
                }));
            }
            self.cursor = beyond;
            return Ok(Some(Point::Nth(value)));
        }
        let time = plain_time(&mut here)?;
        if time.is_some() {
            self.cursor = here;
        }
        Ok(time.map(Point::Time))
    }

    /// The time that belongs to a date: `tomorrow at 9am`, `2026-12-24 18:00`.
    fn time_after_day(&mut self) -> Result<Option<Time>, Trouble> {
        let mut here = self.cursor;
        let had_at = here.eat("at");
        let time = if had_at { clock::time(&mut here)? } else { clock::clear_time(&mut here)? };
        if time.is_some() {
            self.cursor = here;
        }
        Ok(time)
    }

    fn range(&mut self, first: Point, second: Point, how: (Cursor<'t>, bool)) -> Result<(), Trouble> {
        let (start, is_closed) = how;
        let span = self.cursor.span_from(start);
        match (first, second) {
            (Point::Time(from), Point::Time(to)) => {
                let window = self.window(from, to, (span, is_closed));
                self.draft.windows.push(window);
            }
            (Point::Weekday(from), Point::Weekday(to)) => {
                self.draft.days.weekdays |= turn(from, to, 7) as u8;
            }
            (Point::Month(from), Point::Month(to)) => {
                self.draft.months |= turn(from - 1, to - 1, 12) << 1;
            }
            (Point::Nth(from), Point::Mark(unit, to)) | (Point::Mark(unit, from), Point::Mark(_, to)) => {
                self.mark_range(unit, (from, to), span)?;
            }
            (Point::Nth(from), Point::Nth(to)) => self.mark_range(Unit::Day, (from, to), span)?,
            // `from the 1st to the 10th of march`
            (Point::Nth(from), Point::Date(to, None)) => {
                self.draft.months |= 1 << to.month();
                self.mark_range(Unit::Day, (from, u32::from(to.day().unsigned_abs())), span)?;
            }
            (Point::Nth(from), Point::LastDay) => self.mark_range(Unit::Day, (from, 31), span)?,
            (Point::Date(from, at), Point::Date(to, until)) => {
                self.draft.start = Some(Moment { day: Day::On(from), time: at, span: span.clone() });
                self.set_end(to, until, span);
            }
            (Point::Now, Point::Date(to, until)) => self.set_end(to, until, span),
            _ => {
                let message = "a range needs two ends of the same kind";
                return Err(Trouble::new(Code::Contradiction, span, message).hint(
                    "write `between 9am and 5pm`, `from monday to friday` or `from 1 may until 1 june`",
                ));
            }
        }
        Ok(())
    }

    /// A range of minutes, seconds, hours or days in which a rate counts, or which is a set by itself.
    fn mark_range(&mut self, unit: Unit, (from, to): (u32, u32), span: Range<usize>) -> Result<(), Trouble> {
        let (low, high) = match unit {
            Unit::Day => (1, 31),
            Unit::Hour => (0, 23),
            _ => (0, 59),
        };
        if from < low || to > high || from > to {
            let message = format!("`{from}` to `{to}` is no range between {low} and {high}");
            return Err(Trouble::new(Code::Contradiction, span, message));
        }
        if unit == Unit::Day {
            self.draft.day_range = Some((from, to));
        } else {
            self.marks(unit).range = Some((from, to));
        }
        Ok(())
    }

    /// Settles am and pm of both ends: `9 to 5` is 09:00 to 17:00, `1 to 5pm` is 13:00 to 17:00.
    fn window(&mut self, mut from: Time, mut to: Time, (span, is_closed): (Range<usize>, bool)) -> Window {
        if from.is_bare && to.half.is_some() && from.hour <= 12 && from.hour % 12 < to.hour % 12 {
            from.half = to.half;
        }
        let guessed = from.is_bare && from.half.is_none() || to.is_bare;
        let is_before = to.minute_of_day() <= from.minute_of_day() && from.hour <= 12;
        let is_after_noon = from.half == Some(Half::Pm) && to.hour > from.hour % 12;
        if to.is_bare && to.hour <= 12 && (is_before || is_after_noon) {
            to.half = Some(Half::Pm);
        }
        let window = Window { from: from.minute_of_day(), to: to.minute_of_day(), is_closed, span };
        if guessed {
            let (a, b) = (window.from, window.to);
            self.draft.assume(format!(
                "the window is read as {:02}:{:02} to {:02}:{:02}",
                a / 60,
                a % 60,
                b / 60,
                b % 60
            ));
        }
        window
    }

    /// `starting tomorrow`, `after 6pm`, `starting on the 4th minute`, `as of 1 june`.
    pub(super) fn start_phrase(&mut self) -> Result<bool, Trouble> {
        let start = self.cursor;
        let is_after = start.word() == Some("after");
        self.cursor.eat_any(&["as of", "starting", "beginning", "since", "after", "effective", "commencing"]);
        self.cursor.eat_any(&["start", "starts", "begin", "begins"]);
        if self.cursor.at == start.at {
            return Ok(false);
        }
        self.cursor.eat_any(&["from", "with"]);
        self.cursor.eat_any(&["immediately", "right away"]);
        let mut here = self.cursor;
        let is_delay = here.eat("in") || is_after;
        if is_delay && let Some(parts) = date::delays(&mut here) {
            let span = here.span_from(start);
            let moment = self.after(&parts, span)?;
            self.cursor = here;
            self.draft.start = Some(moment);
            return Ok(true);
        }
        self.cursor.eat("in");
        let Some(point) = self.point()? else { return Ok(self.cursor.is_done()) };
        if let (true, Point::Time(time)) = (is_after, &point) {
            let span = self.cursor.span_from(start);
            self.draft.windows.push(Window {
                from: time.minute_of_day(),
                to: 24 * 60,
                is_closed: false,
                span,
            });
            return Ok(true);
        }
        self.start_at(point, start)?;
        Ok(true)
    }

    fn start_at(&mut self, point: Point, start: Cursor<'t>) -> Result<(), Trouble> {
        let span = self.cursor.span_from(start);
        let today = self.now.date();
        let day = match point {
            Point::Now => return Ok(()),
            Point::Mark(unit, value) => {
                return self.mark_range(unit, (value, if unit == Unit::Hour { 23 } else { 59 }), span);
            }
            Point::Time(time) => {
                self.draft.start = Some(Moment { day: Day::Next, time: Some(time), span });
                return Ok(());
            }
            Point::Date(date, time) => {
                self.draft.start = Some(Moment { day: Day::On(date), time, span });
                return Ok(());
            }
            Point::Weekday(weekday) => next_weekday(today, weekday),
            Point::Month(month) => date::next_date(today, (month.into(), 1), span.clone())?,
            Point::Nth(day) => self.next_month_day(day, span.clone())?,
            Point::LastDay => today.last_of_month(),
        };
        let time = self.time_after_day()?;
        self.draft.start = Some(Moment { day: Day::On(day), time, span });
        Ok(())
    }

    fn next_month_day(&self, day: u32, span: Range<usize>) -> Result<Date, Trouble> {
        let today = self.now.date();
        let mut month = today.first_of_month();
        for _ in 0..4 {
            let wanted =
                i8::try_from(day).ok().and_then(|day| Date::new(month.year(), month.month(), day).ok());
            match wanted {
                Some(found) if found >= today => return Ok(found),
                _ => month = month.checked_add(1.month()).unwrap_or(month),
            }
        }
        Err(Trouble::new(Code::Contradiction, span, format!("months have no day {day}")))
    }

    fn set_end(&mut self, date: Date, time: Option<Time>, span: Range<usize>) {
        self.draft.end = Some(Moment { day: Day::On(date), time, span });
    }

    /// `until 1 june`, `through friday`, `before 2027`, `until the end of the year`, `until 5pm`.
    pub(super) fn end_phrase(&mut self) -> Result<bool, Trouble> {
        let start = self.cursor;
        let is_before = matches!(start.word(), Some("before"));
        let words =
            ["no later than", "up to", "up until", "until", "till", "til", "through", "thru", "ending"];
        if !(self.cursor.eat_any(&words) || self.cursor.eat_any(&["before", "ends", "end"])) {
            return Ok(false);
        }
        self.cursor.eat_any(&["on", "at", "in"]);
        let mut here = self.cursor;
        if here.eat_any(&["the end of", "end of"])
            && let Some(date) = self.period_end(&mut here)
        {
            self.cursor = here;
            self.set_end(date, None, here.span_from(start));
            return Ok(true);
        }
        let mut here = self.cursor;
        if let Some(year) = day::year(&mut here) {
            let span = here.span_from(start);
            self.cursor = here;
            let last = date::date((year - 1, 12, 31), span.clone())?;
            self.set_end(last, None, span);
            return Ok(true);
        }
        let Some(point) = self.point()? else { return Ok(false) };
        self.end_at(point, (start, is_before))?;
        Ok(true)
    }

    fn end_at(&mut self, point: Point, (start, is_before): (Cursor<'t>, bool)) -> Result<(), Trouble> {
        let span = self.cursor.span_from(start);
        let today = self.now.date();
        let is_through = matches!(start.word(), Some("through" | "thru"));
        let (day, time) = match point {
            Point::Date(date, time) => (date, time),
            Point::Weekday(weekday) => (next_weekday(today, weekday), None),
            Point::Month(month) => {
                let first = date::next_date(today, (month.into(), 1), span.clone())?;
                if is_through {
                    (first.last_of_month(), None)
                } else {
                    (first.checked_sub(1.day()).unwrap_or(first), None)
                }
            }
            Point::Nth(day) => (self.next_month_day(day, span.clone())?, None),
            Point::LastDay => (today.last_of_month(), None),
            Point::Time(time) if is_before => {
                let to = time.minute_of_day();
                self.draft.windows.push(Window { from: 0, to, is_closed: false, span });
                return Ok(());
            }
            Point::Time(time) => {
                self.draft.end = Some(Moment { day: Day::Next, time: Some(time), span });
                return Ok(());
            }
            Point::Mark(..) | Point::Now => {
                return Err(Trouble::new(Code::Contradiction, span, "an end needs a day or a time"));
            }
        };
        let time = if time.is_none() { self.time_after_day()? } else { time };
        let day = if is_before && time.is_none() { day.checked_sub(1.day()).unwrap_or(day) } else { day };
        self.set_end(day, time, span);
        Ok(())
    }

    fn period_end(&self, here: &mut Cursor<'t>) -> Option<Date> {
        let today = self.now.date();
        here.eat_any(&["the", "this"]);
        let is_next = here.eat("next");
        let word = here.word()?;
        here.skip();
        if let Some(month) = words::month(word) {
            let year = day::year(here).unwrap_or(0);
            let first = if year > 0 {
                date::date((year, month.into(), 1), 0..0).ok()?
            } else {
                date::next_date(today.first_of_month(), (month.into(), 1), 0..0).ok()?
            };
            return Some(first.last_of_month());
        }
        let next = |span: jiff::Span| if is_next { today.checked_add(span).ok() } else { Some(today) };
        Some(match words::unit(word)? {
            Unit::Day => next(1.day())?,
            Unit::Week => next_weekday(next(1.week())?.checked_sub(1.day()).ok()?, 0),
            Unit::Month => next(1.month())?.last_of_month(),
            Unit::Year => next(1.year())?.last_of_year(),
            _ => return None,
        })
    }

    /// `for 3 weeks`, `for the next 10 days`.
    pub(super) fn for_phrase(&mut self) -> Result<bool, Trouble> {
        self.cursor.skip();
        self.cursor.eat_any(&["the next", "the coming", "next"]);
        let Some(parts) = date::delays(&mut self.cursor) else { return Ok(false) };
        self.draft.lasting = parts.first().map(|part| (part.count, part.unit));
        Ok(parts.len() == 1)
    }
}

/// A time in a range: `five to ten` are two hours there, not ten minutes before ten.
fn plain_time(cursor: &mut Cursor<'_>) -> Result<Option<Time>, Trouble> {
    let mut here = *cursor;
    if here.word().is_some()
        && let Some(hour) = here.cardinal().filter(|hour| *hour <= 24)
        && matches!(here.word(), Some("to" | "till" | "until" | "through"))
    {
        let span = here.span_from(*cursor);
        *cursor = here;
        let hour = u8::try_from(hour).unwrap_or(0);
        return Ok(Some(Time { hour, minute: 0, second: 0, half: None, is_bare: true, span }));
    }
    clock::time(cursor)
}

/// The bits from one number round to another.
fn turn(from: u8, to: u8, count: u8) -> u16 {
    let steps = (to + count - from) % count;
    (0..=steps).fold(0, |mask, step| mask | 1 << ((from + step) % count))
}
