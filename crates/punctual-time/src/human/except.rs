//! What is left out: `except on weekends`, `but not in december`, `excluding holidays`, `except from 12 to 13`.

use super::cursor::Ordinal;
use super::draft::Window;
use super::list::{month_list, ordinal_list, weekday_list};
use super::phrase::Parser;
use super::trouble::{Code, Trouble};

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
        let mut is_found = false;
        loop {
            let before = self.cursor;
            self.cursor.eat_any(&["it is", "it's", "if"]);
            self.cursor.eat_any(&["during", "for", "on the", "on", "in", "at", "the"]);
            self.cursor.eat_any(&["a", "any", "every", "all"]);
            if !self.exclusion()? {
                self.cursor = before;
                break;
            }
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
        if let Some(mask) = month_list(&mut self.cursor) {
            self.draft.not_months |= mask;
            return Ok(true);
        }
        if matches!(self.cursor.word(), Some("between" | "from")) {
            return self.excluded_window();
        }
        let start = self.cursor;
        if let Some(list) = ordinal_list(&mut self.cursor)? {
            self.cursor.eat_any(&[
                "day of the month",
                "of the month",
                "of each month",
                "of every month",
                "day",
            ]);
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

    /// What lies outside an excluded stretch is the window, over midnight.
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
        if let Some(Window { from, to, is_closed, span }) = self.draft.windows.pop() {
            let end = if is_closed { to + 1 } else { to };
            self.draft.windows.push(Window { from: end, to: from, is_closed: false, span });
        }
        Ok(true)
    }
}
