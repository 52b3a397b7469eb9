//! What is left out: `except on weekends`, `but not in december`, `excluding holidays`, `except from 12 to 13`.

use super::clock::clear_time;
use super::cursor::Ordinal;
use super::draft::{End, Window};
use super::list::{month_days, month_list, ordinal_list, weekday_list};
use super::phrase::Parser;
use super::token::Kind;
use super::trouble::{Code, Trouble};
use std::ops::Range;

impl Parser<'_> {
    /// The exclusion that begins here.
    pub(super) fn except_phrase(&mut self) -> Result<bool, Trouble> {
        let start = self.cursor;
        let words = [
            "but never",
            "but not",
            "but skip",
            "except for",
            "except",
            "excepting",
            "excluding",
            "not",
            "never",
            "skipping",
            "skip",
            "without",
            "other than",
            "unless",
            "but",
        ];
        if !self.cursor.eat_any(&words) {
            return Ok(false);
        }
        let (mut is_found, mut is_after_time) = (false, false);
        loop {
            let before = self.cursor;
            let times = self.draft.not_windows.len();
            self.cursor.eat_any(&["it is", "it's", "if"]);
            self.cursor.eat_any(&["during", "for", "on the", "on", "in", "at", "the"]);
            self.cursor.eat_any(&["a", "any", "every", "all"]);
            // `except weekends, at 9am`: a time after a day is not left out.
            let is_time = is_found && !is_after_time && clear_time(&mut self.cursor.clone())?.is_some();
            if is_time || !self.exclusion()? {
                self.cursor = before;
                break;
            }
            is_after_time = self.draft.not_windows.len() > times;
            is_found = true;
            let mut here = self.cursor;
            if !here.separator() {
                break;
            }
            self.cursor = here;
        }
        if is_found {
            return Ok(true);
        }
        if self.cursor.is_done() {
            self.cursor = start;
        }
        Err(self.not_understood())
    }

    fn exclusion(&mut self) -> Result<bool, Trouble> {
        let holidays =
            ["public holidays", "bank holidays", "holidays", "public holiday", "bank holiday", "holiday"];
        if self.cursor.eat_any(&holidays) {
            self.draft.is_not_holidays = true;
            return Ok(true);
        }
        if let Some(mask) = weekday_list(&mut self.cursor) {
            self.draft.not_weekdays |= mask;
            return Ok(true);
        }
        let start = self.cursor;
        if let Some(mask) = month_list(&mut self.cursor) {
            let mut here = self.cursor;
            here.eat("the");
            if month_days(&mut here)?.is_some() {
                return Err(dates_need_a_calendar(here.span_from(start)));
            }
            self.draft.not_months |= mask;
            return Ok(true);
        }
        if let Some(Kind::Date { .. }) = self.cursor.kind() {
            return Err(dates_need_a_calendar(self.cursor.span()));
        }
        let mut here = self.cursor;
        if let Some(time) = clear_time(&mut here)? {
            self.cursor = here;
            let (from, span) = (time.minute_of_day(), time.span);
            self.draft.not_windows.push(Window { from, to: (from + 1) % 1440, end: End::Open, span });
            return Ok(true);
        }
        if matches!(self.cursor.word(), Some("between" | "from")) {
            return self.excluded_window();
        }
        if let Some(list) = ordinal_list(&mut self.cursor)? {
            self.cursor.eat_any(&[
                "day of the month",
                "of the month",
                "of each month",
                "of every month",
                "day",
            ]);
            let mut here = self.cursor;
            here.eat("of");
            if month_list(&mut here).is_some() {
                return Err(dates_need_a_calendar(here.span_from(start)));
            }
            for ordinal in list {
                let Ordinal::Nth(day @ 1..=31) = ordinal else {
                    let span = self.cursor.span_from(start);
                    let message = "only days counted from the start of a month can be left out";
                    return Err(Trouble::new(Code::TwoSchedules, span, message)
                        .hint("name the dates in a calendar and refer to it in `not_on`"));
                };
                self.draft.not_month_days |= 1 << day;
            }
            return Ok(true);
        }
        Ok(false)
    }

    /// `from 12:00 to 13:00`.
    fn excluded_window(&mut self) -> Result<bool, Trouble> {
        let windows = self.draft.windows.len();
        let start = self.cursor;
        if !self.between_phrase()? || self.draft.windows.len() != windows + 1 {
            let span = self.cursor.span_from(start);
            return Err(Trouble::new(
                Code::NotUnderstood,
                span,
                "only a stretch of the day can be left out like this",
            )
            .hint("write `except from 12:00 to 13:00`"));
        }
        let excluded = self.draft.windows.pop();
        self.draft.not_windows.extend(excluded);
        Ok(true)
    }
}

fn dates_need_a_calendar(span: Range<usize>) -> Trouble {
    Trouble::new(Code::TwoSchedules, span, "single dates cannot be left out by words")
        .hint("name the dates in a calendar and refer to it in `not_on`, or write `except holidays`")
}
