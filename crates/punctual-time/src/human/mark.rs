//! Marks within an hour or a minute: `at minute 15`, `10 minutes past the hour`, `on the half hour`.

use super::clock;
use super::cursor::Cursor;
use super::draft::Marks;
use super::list::number_list;
use super::phrase::{Parser, add};
use super::token::Kind;
use super::trouble::Trouble;
use super::words::{self, Unit};

impl<'t> Parser<'t> {
    /// The marks of seconds, minutes or hours.
    pub(super) fn marks(&mut self, unit: Unit) -> &mut Marks {
        match unit {
            Unit::Second => &mut self.draft.seconds,
            Unit::Minute => &mut self.draft.minutes,
            _ => &mut self.draft.hours,
        }
    }

    /// `minute 15`, `seconds 5 through 10`, `hours 1 and 3`, `on the hour`, `top of the hour`.
    pub(super) fn mark_phrase(&mut self) -> Result<bool, Trouble> {
        let start = self.cursor;
        let mut here = start;
        here.eat("on");
        let spoken =
            if here.eat_any(&["the top of the hour", "the top of every hour", "top of the hour", "the hour"])
            {
                Some(1)
            } else if here.eat_any(&["the bottom of the hour", "the half hour", "the half-hour", "half hour"])
            {
                Some(1 << 30)
            } else if here.eat_any(&["the quarter hour", "the quarter hours", "quarter hours"]) {
                Some(1 | 1 << 15 | 1 << 30 | 1 << 45)
            } else {
                None
            };
        if let Some(set) = spoken {
            self.cursor = here;
            add(&mut self.draft.minutes, set, here.span_from(start));
            return Ok(true);
        }
        here = start;
        here.eat_any(&["on the", "on", "the"]);
        let Some(unit) = here.word().and_then(words::unit).filter(|unit| *unit <= Unit::Hour) else {
            return Ok(false);
        };
        here.skip();
        let Some(set) = number_list(&mut here, if unit == Unit::Hour { 24 } else { 60 })? else {
            return Ok(false);
        };
        self.cursor = here;
        add(self.marks(unit), set, here.span_from(start));
        Ok(true)
    }

    /// `15 minutes past every hour`, `quarter past the hour`, `10 seconds past the minute`, `15 past`.
    pub(super) fn past_phrase(&mut self) -> Result<bool, Trouble> {
        let start = self.cursor;
        let mut here = start;
        here.eat("a");
        let (set, is_list) = if here.eat("quarter") {
            (1 << 15, false)
        } else if here.eat("half") {
            (1 << 30, false)
        } else {
            match number_list(&mut here, 60) {
                Ok(Some(set)) => (set, true),
                _ => return Ok(false),
            }
        };
        let unit = here.unit().filter(|unit| *unit <= Unit::Minute);
        let is_past = match here.word() {
            Some("past" | "after" | "into") => true,
            Some("before" | "to" | "till") if unit.is_some() || !is_list => false,
            // `every hour at 15 minutes`.
            _ if unit.is_some() && self.is_after_at(start) && self.draft.rate(Unit::Hour).is_some() => {
                self.cursor = here;
                add(self.marks(unit.unwrap_or(Unit::Minute)), set, here.span_from(start));
                return Ok(true);
            }
            _ => return Ok(false),
        };
        here.skip();
        let mut beyond = here;
        beyond.eat_any(&["the top of", "top of"]);
        let article = beyond.eat_any(&["the", "each", "every"]);
        let whole = beyond.word().and_then(words::unit);
        match whole {
            Some(Unit::Hour | Unit::Minute) if article || beyond.at > here.at => {
                beyond.skip();
                here = beyond;
            }
            _ if !is_past && (is_list || !here.is_done()) => return Ok(false),
            _ if !is_open(here) => return Ok(false),
            _ => {}
        }
        let unit = unit.unwrap_or(Unit::Minute);
        let set = if is_past {
            set
        } else {
            (1..60).filter(|n| set >> n & 1 == 1).fold(0, |s, n| s | 1 << (60 - n))
        };
        self.cursor = here;
        add(self.marks(unit), set, here.span_from(start));
        Ok(true)
    }

    fn is_after_at(&self, mut here: Cursor<'t>) -> bool {
        here.at = here.at.saturating_sub(1);
        here.word() == Some("at")
    }

    /// `of every 2nd hour`, `past the hour`, `of march`, `of the month`.
    pub(super) fn of_phrase(&mut self) -> Result<bool, Trouble> {
        self.cursor.skip();
        let mut here = self.cursor;
        here.eat_any(&["the", "each", "every", "any", "a"]);
        let unit = here.word().and_then(words::unit);
        if unit.is_some() {
            here.skip();
            let is_counted = matches!(here.kind(), Some(Kind::Number { .. }));
            if !is_counted {
                self.cursor = here;
                return Ok(true);
            }
        }
        if matches!(self.cursor.word(), Some("every" | "each")) {
            return self.every_phrase();
        }
        Ok(self.mark_phrase()? || self.day_items()?)
    }
}

/// Whether `15 past` may end here: no time follows that it would belong to.
fn is_open(here: Cursor<'_>) -> bool {
    const NEXT: [&str; 8] = ["every", "each", "hour", "hours", "on", "between", "from", "during"];
    let is_time = clock::time(&mut here.clone()).is_ok_and(|time| time.is_some());
    !is_time && (here.is_done() || here.word().is_some_and(|word| NEXT.contains(&word)))
}
