//! Bounds: `starting tomorrow`, `after 6pm`, `until 1 june`, `for 3 weeks`.

use super::cursor::Cursor;
use super::date::{self, YearDay, next_weekday};
use super::draft::{Day, Delay, End, Moment, MonthDay, Stretch, Time, Window};
use super::month;
use super::phrase::Parser;
use super::range::Point;
use super::trouble::{Code, Trouble};
use super::words::{self, Unit};
use jiff::ToSpan;
use jiff::civil::Date;
use std::ops::Range;

/// Whether the day that ends a schedule belongs to it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Until {
    /// `until`, `through`.
    Included,
    /// `before`.
    Excluded,
}

impl<'t> Parser<'t> {
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
        let Some(point) = self.point()? else {
            // `starting now` and `starting immediately` say nothing more.
            return Ok(self.cursor.at > start.at + 1);
        };
        if let (true, Point::Time(time)) = (is_after, &point) {
            let span = self.cursor.span_from(start);
            self.draft.windows.push(Window { from: time.minute_of_day(), to: 24 * 60, end: End::Open, span });
            return Ok(true);
        }
        self.start_at(point, start)?;
        Ok(true)
    }

    pub(super) fn start_at(&mut self, point: Point, start: Cursor<'t>) -> Result<(), Trouble> {
        let span = self.cursor.span_from(start);
        let today = self.now.date();
        let day = match point {
            Point::Now => return Ok(()),
            Point::Mark(unit, value) => {
                return self.mark_range(
                    unit,
                    Stretch { from: value, to: if unit == Unit::Hour { 23 } else { 59 } },
                    span,
                );
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
            Point::Month(month) => date::next_date(today, MonthDay { month, day: 1 }, span.clone())?,
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

    pub(super) fn set_end(&mut self, date: Date, time: Option<Time>, span: Range<usize>) {
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
        if let Some(year) = month::year(&mut here) {
            let span = here.span_from(start);
            self.cursor = here;
            let last = date::date(YearDay { year: year - 1, month: 12, day: 31 }, span.clone())?;
            self.set_end(last, None, span);
            return Ok(true);
        }
        let Some(point) = self.point()? else { return Ok(false) };
        let until = if is_before { Until::Excluded } else { Until::Included };
        self.end_at(point, start, until)?;
        Ok(true)
    }

    pub(super) fn end_at(&mut self, point: Point, start: Cursor<'t>, until: Until) -> Result<(), Trouble> {
        let is_before = until == Until::Excluded;
        let span = self.cursor.span_from(start);
        let today = self.now.date();
        let is_through = matches!(start.word(), Some("through" | "thru"));
        let (day, time) = match point {
            Point::Date(date, time) => (date, time),
            Point::Weekday(weekday) => (next_weekday(today, weekday), None),
            Point::Month(month) => {
                let first = date::next_date(today, MonthDay { month, day: 1 }, span.clone())?;
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
                self.draft.windows.push(Window { from: 0, to, end: End::Open, span });
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
        if let Some(year) = month::year(here) {
            return date::date(YearDay { year, month: 12, day: 31 }, 0..0).ok();
        }
        let is_next = here.eat("next");
        let word = here.word()?;
        here.skip();
        if let Some(month) = words::month(word) {
            let year = month::year(here).unwrap_or(0);
            let first = if year > 0 {
                date::date(YearDay { year, month: month.into(), day: 1 }, 0..0).ok()?
            } else {
                date::next_date(today.first_of_month(), MonthDay { month, day: 1 }, 0..0).ok()?
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
        let is_next = self.cursor.eat_any(&["the next", "the coming", "next"]);
        if is_next && let Some(unit) = self.cursor.unit() {
            self.draft.lasting = Some(Delay { count: 1, unit });
            return Ok(true);
        }
        let Some(parts) = date::delays(&mut self.cursor) else { return self.times() };
        self.draft.lasting = parts.first().copied();
        Ok(parts.len() == 1)
    }
}
