//! Ranges: `between 9am and 5pm`, `from june to august`, `from the 1st to the 10th`, `during business hours`.

use super::bound::Until;
use super::clock;
use super::cursor::{Cursor, Ordinal};
use super::date;
use super::draft::{Day, End, Half, Moment, Stretch, Time, Window};
use super::month;
use super::phrase::Parser;
use super::token::Kind;
use super::trouble::{Code, Trouble};
use super::words::{self, Unit};
use jiff::civil::Date;
use std::ops::Range;

/// One end of `from … to …`.
pub(super) enum Point {
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
        if matches!(word, "during" | "within" | "outside" | "over") {
            self.cursor.eat("the");
            return Ok(word != "outside");
        }
        let Some(first) = self.point()? else { return Ok(false) };
        let mut here = self.cursor;
        let end = if matches!(here.word(), Some("through" | "thru")) { End::Closed } else { End::Open };
        let has_end =
            if word == "between" { here.eat("and") || here.range_word() } else { here.range_word() };
        if let (Some(Kind::Number { value: 2000..=2199, digits: 4 }), true) = (start.kind_at(1), has_end) {
            let message = "this can be read as years or as times of day";
            return Err(Trouble::new(Code::Ambiguous, start.span(), message)
                .hint("write `20:30`, or `from 2030-01-01 until 2031-12-31`"));
        }
        if !has_end && word == "between" {
            return Err(self.not_understood());
        }
        if !has_end {
            self.start_at(first, start)?;
            self.cursor.eat_any(&["onwards", "onward", "on"]);
            return Ok(true);
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
        self.range(first, second, (start, end)).map(|()| true)
    }

    /// `9am to 5pm`, `9-17`, without a word in front: a window, if both are times and no unit follows.
    pub(super) fn bare_window(&mut self) -> Result<bool, Trouble> {
        let start = self.cursor;
        let mut here = start;
        let Ok(Some(from)) = plain_time(&mut here) else { return Ok(false) };
        let end = if matches!(here.word(), Some("through" | "thru")) { End::Closed } else { End::Open };
        if !here.range_word() {
            return Ok(false);
        }
        let Ok(Some(to)) = clock::time(&mut here) else { return Ok(false) };
        let is_more =
            here.word().is_some_and(|word| words::unit(word).is_some() || words::month(word).is_some());
        let is_rated =
            self.draft.rates.iter().any(Option::is_some) || here.has_ahead(&["every", "each", "hourly"]);
        let is_small = from.is_bare && to.is_bare && !is_rated;
        if is_more || is_small || matches!(here.word(), Some("of" | "past" | "times")) {
            return Ok(false);
        }
        self.cursor = here;
        let window = self.window(from, to, (here.span_from(start), end));
        self.draft.windows.push(window);
        Ok(true)
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
        here.eat_any(&["of", "the", "normal", "regular"]);
        let found = ["business hours", "working hours", "office hours", "work hours", "business hrs"];
        if !here.eat_any(&found) {
            return false;
        }
        self.cursor = here;
        let span = here.span_from(start);
        if start.word() == Some("outside") {
            self.draft.not_windows.push(Window { from: 9 * 60, to: 17 * 60, end: End::Open, span });
            self.draft.assume("business hours are read as 09:00 to 17:00");
            return true;
        }
        self.draft.windows.push(Window { from: 9 * 60, to: 17 * 60, end: End::Open, span });
        self.draft.days.weekdays |= words::WORKDAYS;
        self.draft.assume("business hours are read as 09:00 to 17:00, Monday to Friday");
        true
    }

    pub(super) fn point(&mut self) -> Result<Option<Point>, Trouble> {
        if self.cursor.eat_any(&["now on", "now"]) {
            return Ok(Some(Point::Now));
        }
        if let Some(date) = self.bound_day()? {
            let time = self.time_after_day()?;
            return Ok(Some(Point::Date(date, time)));
        }
        let mut here = self.cursor;
        here.eat_any(&["on the", "at", "on", "the"]);
        if let Some(found) = self.named_point(here)? {
            return Ok(Some(found));
        }
        let mut beyond = here;
        if let Some(Ordinal::Nth(value)) = beyond.ordinal() {
            let unit =
                beyond.word().and_then(words::unit).filter(|unit| *unit <= Unit::Day || *unit == Unit::Month);
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

    /// A weekday, a month, the last day, or `minute 5`.
    fn named_point(&mut self, mut here: Cursor<'t>) -> Result<Option<Point>, Trouble> {
        let Some(word) = here.word() else { return Ok(None) };
        if let Some(weekday) = words::weekday(word) {
            here.skip();
            self.cursor = here;
            return Ok(Some(Point::Weekday(weekday)));
        }
        if let Some(month) = words::month(word) {
            here.skip();
            if let Some(year) = month::year(&mut here) {
                let span = here.span_from(self.cursor);
                self.cursor = here;
                return Ok(Some(Point::Date(
                    date::date(date::YearDay { year, month: month.into(), day: 1 }, span)?,
                    None,
                )));
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
        Ok(None)
    }

    /// The time that belongs to a date: `tomorrow at 9am`, `2026-12-24 18:00`.
    pub(super) fn time_after_day(&mut self) -> Result<Option<Time>, Trouble> {
        let mut here = self.cursor;
        let had_at = here.eat("at");
        let time = if had_at { clock::time(&mut here)? } else { clock::clear_time(&mut here)? };
        if time.is_some() {
            self.cursor = here;
        }
        Ok(time)
    }

    fn range(&mut self, first: Point, second: Point, how: (Cursor<'t>, End)) -> Result<(), Trouble> {
        let (start, end) = how;
        let span = self.cursor.span_from(start);
        match (first, second) {
            (Point::Time(from), Point::Time(to)) if from.second_of_day() == to.second_of_day() => {
                let message = "a window needs two different times";
                return Err(Trouble::new(Code::Contradiction, span, message)
                    .hint("leave the window out for the whole day"));
            }
            (Point::Time(from), Point::Time(to)) => {
                let window = self.window(from, to, (span, end));
                self.draft.windows.push(window);
            }
            (Point::Weekday(from), Point::Weekday(to)) => {
                self.draft.days.weekdays |= turn(from, to, 7) as u8;
            }
            (Point::Month(from), Point::Month(to)) => {
                self.draft.months |= turn(from - 1, to - 1, 12) << 1;
            }
            (Point::Nth(from), Point::Mark(unit, to)) | (Point::Mark(unit, from), Point::Mark(_, to)) => {
                self.mark_range(unit, Stretch { from, to }, span)?;
            }
            (Point::Nth(from), Point::Nth(to)) => self.mark_range(Unit::Day, Stretch { from, to }, span)?,
            // `from the 1st to the 10th of march`
            (Point::Nth(from), Point::Date(to, time)) => {
                self.draft.times.extend(time);
                self.draft.months |= 1 << to.month();
                self.mark_range(Unit::Day, Stretch { from, to: to.day().unsigned_abs().into() }, span)?;
            }
            (Point::Nth(from), Point::LastDay) => {
                self.mark_range(Unit::Day, Stretch { from, to: 31 }, span)?;
            }
            (Point::Date(from, at), Point::Date(to, until)) => {
                self.draft.start = Some(Moment { day: Day::On(from), time: at, span: span.clone() });
                self.set_end(to, until, span);
            }
            (Point::Now, end @ (Point::Date(..) | Point::Weekday(_) | Point::Month(_) | Point::Time(_))) => {
                self.end_at(end, start, Until::Included)?;
            }
            (Point::Date(from, at), end @ (Point::Weekday(_) | Point::Month(_) | Point::Time(_))) => {
                self.draft.start = Some(Moment { day: Day::On(from), time: at, span });
                self.end_at(end, start, Until::Included)?;
            }
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
    pub(super) fn mark_range(
        &mut self,
        unit: Unit,
        stretch: Stretch,
        span: Range<usize>,
    ) -> Result<(), Trouble> {
        let Stretch { from, to } = stretch;
        let (low, high) = match unit {
            Unit::Day => (1, 31),
            Unit::Month => (1, 12),
            Unit::Hour => (0, 23),
            _ => (0, 59),
        };
        if from < low || to > high || from > to {
            let message = format!("`{from}` to `{to}` is no range between {low} and {high}");
            return Err(Trouble::new(Code::Contradiction, span, message));
        }
        match unit {
            Unit::Day => self.draft.day_range = Some(stretch),
            Unit::Month => self.draft.month_range = Some(stretch),
            unit => self.marks(unit).range = Some(stretch),
        }
        Ok(())
    }

    /// Settles am and pm of both ends: `9 to 5` is 09:00 to 17:00, `1 to 5pm` is 13:00 to 17:00.
    fn window(&mut self, mut from: Time, mut to: Time, (span, end): (Range<usize>, End)) -> Window {
        if from.is_bare && to.half.is_some() && from.hour <= 12 && from.hour % 12 < to.hour % 12 {
            from.half = to.half;
        }
        let guessed = from.is_bare && from.half.is_none() || to.is_bare;
        let is_before = to.minute_of_day() <= from.minute_of_day() && from.hour <= 12;
        let is_after_noon = from.half == Some(Half::Pm) && to.hour > from.hour % 12;
        if to.is_bare && to.hour <= 12 && (is_before || is_after_noon) {
            to.half = Some(Half::Pm);
        }
        let window = Window { from: from.minute_of_day(), to: to.minute_of_day(), end, span };
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
