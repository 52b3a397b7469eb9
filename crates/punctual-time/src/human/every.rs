//! Frequencies: `every 15 minutes`, `each monday`, `hourly`, `twice a day`, `90s`.

use super::cursor::{Cursor, Ordinal};
use super::draft::{Group, Rate, TimesPer};
use super::phrase::Parser;
use super::token::Kind;
use super::trouble::{Code, Trouble};
use super::words::{self, Unit};
use std::ops::Range;

/// The most that may be counted; larger numbers are mistakes. How long an interval may be is [`Interval`]'s to say.
///
/// [`Interval`]: crate::Interval
const COUNT_MAX: u32 = 999_999_999;

impl<'t> Parser<'t> {
    /// Keeps `every count units`. Two different counts of one unit contradict each other.
    pub(super) fn set_rate(&mut self, count: u32, unit: Unit, span: Range<usize>) -> Result<(), Trouble> {
        if count == 0 {
            return Err(Trouble::new(Code::Contradiction, span, "an interval of `0` would never end")
                .hint("write `every 1 minute` or more"));
        }
        if count > COUNT_MAX {
            return Err(Trouble::new(Code::Contradiction, span, format!("`{count}` is too large a number")));
        }
        let slot = &mut self.draft.rates[unit as usize];
        match slot {
            Some(old) if old.count != count && old.count != 1 && count != 1 => Err(Trouble::new(
                Code::TwoSchedules,
                span,
                format!("`every {}` and `every {count}` of the same unit are two schedules", old.count),
            )
            .hint("write one schedule for each")),
            Some(_) if count == 1 => Ok(()),
            _ => {
                *slot = Some(Rate { count, span });
                Ok(())
            }
        }
    }

    /// After `every`, `each`, `any` or `all`.
    pub(super) fn every_phrase(&mut self) -> Result<bool, Trouble> {
        let start = self.cursor;
        let is_all = self.cursor.eat("all");
        if !is_all && !matches!(start.word(), Some("alternate" | "alternating")) {
            self.cursor.skip();
        }
        self.cursor.eat_any(&["and every", "single", "one of the", "of the", "the"]);
        if self.every_other(start)? || self.every_fraction(start)? || self.every_count(start)? {
            return Ok(true);
        }
        if self.every_unit(start)? || self.every_ordinal_unit(start)? {
            return Ok(true);
        }
        if self.cursor.word().and_then(words::month).is_some() {
            self.draft.is_month_the_day = true;
            return self.day_items();
        }
        Ok(self.adverb_phrase()
            || self.part_phrase()
            || self.day_items()?
            || !is_all && self.clear_time_phrase()?)
    }

    /// `every other day`, `every second friday`, `every alternate week`.
    fn every_other(&mut self, start: Cursor<'t>) -> Result<bool, Trouble> {
        let mut here = self.cursor;
        let is_other = here.eat_any(&["other", "alternate", "alternating"]);
        if !is_other {
            if !(here.eat("second") || matches!(here.kind(), Some(Kind::Ordinal(2)))) {
                return Ok(false);
            }
            if matches!(here.kind(), Some(Kind::Ordinal(2))) {
                here.skip();
            }
        }
        if let Some(unit) = here.word().and_then(words::unit) {
            here.skip();
            let of_month = here.word() == Some("of") && unit == Unit::Day;
            if of_month {
                return Ok(false);
            }
            self.cursor = here;
            self.set_rate(2, unit, here.span_from(start))?;
            return Ok(true);
        }
        if is_other && here.word().and_then(words::weekday_group).is_some() {
            self.cursor = here;
            self.set_rate(2, Unit::Week, here.span_from(start))?;
            return self.day_items();
        }
        let Some(day) = here.word().and_then(words::weekday) else { return Ok(false) };
        let mut beyond = here;
        beyond.skip();
        if beyond.eat_any(&["of", "in"]) && !is_other {
            return Ok(false);
        }
        if !is_other {
            self.draft.assume(format!(
                "every second {} is read as every other week; `second {0} of the month` is another",
                title(words::WEEKDAYS[usize::from(day)])
            ));
        }
        self.cursor = here;
        self.set_rate(2, Unit::Week, here.span_from(start))?;
        self.day_items()
    }

    /// `every half hour`, `every quarter of an hour`, `every hour and a half`, `every 1.5 hours`.
    fn every_fraction(&mut self, start: Cursor<'t>) -> Result<bool, Trouble> {
        let mut here = self.cursor;
        let is_half = here.eat_any(&["half an hour", "half hour"])
            || here.eat("half") && here.eat_mark('-') && here.eat("hour");
        if let Some(minutes) = part_of_hour(self.cursor).filter(|_| !is_half) {
            here = self.cursor;
            here.at += 3;
            here.eat_any(&["of an", "an", "of the"]);
            if here.unit() == Some(Unit::Hour) {
                self.cursor = here;
                self.set_rate(minutes, Unit::Minute, here.span_from(start))?;
                return Ok(true);
            }
        }
        let minutes = if is_half {
            30
        } else {
            here = self.cursor;
            if here.eat_any(&["quarter of an hour", "quarter hour", "quarter an hour"]) {
                15
            } else if here.eat_any(&["hour and a half", "one and a half hours", "an hour and a half"]) {
                90
            } else if let Some(seconds) = decimal_seconds(&mut here) {
                self.cursor = here;
                self.set_rate(seconds, Unit::Second, here.span_from(start))?;
                return Ok(true);
            } else {
                return Ok(false);
            }
        };
        self.cursor = here;
        self.set_rate(minutes, Unit::Minute, here.span_from(start))?;
        Ok(true)
    }

    /// `every 5 minutes`, `every 1h30m`, `every 2 hours and 30 minutes`, `every 2 mondays`.
    fn every_count(&mut self, start: Cursor<'t>) -> Result<bool, Trouble> {
        let mut here = self.cursor;
        let Some(count) = here.count() else { return Ok(false) };
        let span = here.span_from(start);
        if matches!(here.word(), Some("am" | "pm" | "a" | "p")) {
            return Ok(false);
        }
        if here.word().and_then(words::weekday).is_some() {
            self.cursor = here;
            self.set_rate(count, Unit::Week, span)?;
            return self.day_items();
        }
        if here.eat_any(&["fortnights", "fortnight"]) {
            self.cursor = here;
            self.set_rate(count * 2, Unit::Week, span)?;
            return Ok(true);
        }
        let Some(unit) = here.unit() else { return Ok(false) };
        let mut total = Duration::default();
        if !total.add(count, unit) {
            self.cursor = here;
            let span = here.span_from(start);
            self.set_rate(count, unit, span)?;
            return Ok(true);
        }
        let mut parts = 1;
        loop {
            let mut beyond = here;
            beyond.eat("and");
            if beyond.eat("a half") && unit == Unit::Hour {
                total.seconds += 1800;
                here = beyond;
                parts += 1;
                continue;
            }
            let next = beyond.cardinal().zip(beyond.unit()).filter(|(_, next)| *next < unit);
            match next {
                Some((count, next)) if beyond.word() != Some("past") => {
                    total.add(count, next);
                    parts += 1;
                    here = beyond;
                }
                _ => break,
            }
        }
        self.cursor = here;
        let span = here.span_from(start);
        let (count, unit) = if parts == 1 { (count, unit) } else { total.whole() };
        self.set_rate(count, unit, span)?;
        Ok(true)
    }

    /// `every day`, `every quarter`, `each minute`.
    fn every_unit(&mut self, start: Cursor<'t>) -> Result<bool, Trouble> {
        let mut here = self.cursor;
        if here.eat("fortnight") {
            self.cursor = here;
            self.set_rate(2, Unit::Week, here.span_from(start))?;
            return Ok(true);
        }
        let Some(word) = here.word() else { return Ok(false) };
        let Some(unit) = words::unit(word).filter(|_| word.len() > 1) else { return Ok(false) };
        here.skip();
        if unit == Unit::Second && word == "second" {
            // `every second tuesday`, `every second and fourth friday`: an ordinal, not a unit.
            let mut beyond = here;
            let is_list = beyond.separator() && beyond.ordinal().is_some();
            if is_list || here.word().and_then(words::weekday).is_some() {
                return Ok(false);
            }
        }
        if unit >= Unit::Day {
            self.draft.note_group(Group::Day);
        }
        self.cursor = here;
        self.set_rate(1, unit, here.span_from(start))?;
        Ok(true)
    }

    /// `every 3rd day`: a rate, unless the month follows, when it is the 3rd.
    fn every_ordinal_unit(&mut self, start: Cursor<'t>) -> Result<bool, Trouble> {
        let mut here = self.cursor;
        let Some(Ordinal::Nth(count)) = here.ordinal() else { return Ok(false) };
        let Some(unit) = here.word().and_then(words::unit) else { return Ok(false) };
        here.skip();
        if unit == Unit::Day && matches!(here.word(), Some("of" | "in")) {
            return Ok(false);
        }
        self.cursor = here;
        self.set_rate(count, unit, here.span_from(start))?;
        Ok(true)
    }

    /// `hourly`, `daily`, `bi-weekly`.
    pub(super) fn adverb_phrase(&mut self) -> bool {
        let start = self.cursor;
        let mut here = start;
        let mut half = here;
        let is_half = half.eat("half");
        half.eat_mark('-');
        let (count, unit) = if is_half && half.eat_any(&["yearly", "annually"]) {
            here = half;
            (6, Unit::Month)
        } else if here.eat_any(&["biweekly", "bimonthly", "biannually", "semiannually"]) {
            self.prefixed(start.word().unwrap_or(""))
        } else if here.eat_any(&["bi", "semi"]) {
            here.eat_mark('-');
            let Some(word) = here.word() else { return false };
            here.skip();
            let prefix = start.word().unwrap_or("");
            self.prefixed(&format!("{prefix}{word}"))
        } else {
            let Some(found) = here.word().and_then(words::adverb) else { return false };
            here.skip();
            found
        };
        if count == 0 {
            return false;
        }
        let span = here.span_from(start);
        self.cursor = here;
        self.set_rate(count, unit, span).is_ok()
    }

    /// `bi-` has two meanings; the one taken is said aloud.
    fn prefixed(&mut self, word: &str) -> (u32, Unit) {
        let (count, unit, words) = match word {
            "biweekly" => (2, Unit::Week, "every two weeks"),
            "bimonthly" => (2, Unit::Month, "every two months"),
            "biannually" | "semiannually" => (6, Unit::Month, "every six months"),
            _ => return (0, Unit::Day),
        };
        self.draft.assume(format!("`{word}` is read as {words}"));
        (count, unit)
    }

    /// `twice a day`, `3 times per hour`, `once`, `twice daily`.
    pub(super) fn count_phrase(&mut self) -> Result<bool, Trouble> {
        let start = self.cursor;
        let mut here = start;
        let count = if here.eat("once") {
            1
        } else if here.eat("twice") {
            2
        } else if here.eat("thrice") {
            3
        } else {
            match here.cardinal() {
                Some(count) if here.eat_any(&["times", "time"]) => count,
                _ => return Ok(false),
            }
        };
        let unit = if let Some((1, unit)) = here.word().and_then(words::adverb) {
            here.skip();
            unit
        } else {
            let had = here.eat_any(&["a", "an", "per", "each", "every", "in a", "in every"]);
            match here.unit().filter(|_| had) {
                Some(unit) => unit,
                None if count == 1 => {
                    self.cursor.skip();
                    self.draft.is_once = !had;
                    return Ok(true);
                }
                None => return Ok(false),
            }
        };
        let span = here.span_from(start);
        self.cursor = here;
        if count == 0 || count > COUNT_MAX {
            return Err(Trouble::new(
                Code::Contradiction,
                span,
                format!("`{count} times` is not a frequency"),
            ));
        }
        if count == 1 {
            self.set_rate(1, unit, span)?;
        } else {
            self.draft.times_per = Some(TimesPer { count, unit, span });
        }
        Ok(true)
    }

    /// A duration as data, alone: `90s`, `5m`, `1h30m`, `2 weeks`. Anchored, so it is always an interval.
    pub(super) fn literal_phrase(&mut self) -> Result<bool, Trouble> {
        let start = self.cursor;
        let mut here = start;
        let mut total = Duration::default();
        let mut last = None;
        while let Some((count, unit)) = here.cardinal().zip(here.unit()) {
            let span = here.span_from(start);
            if count == 0 {
                return Err(Trouble::new(Code::Contradiction, span, "an interval of nothing never ends"));
            }
            if last.is_some_and(|last| last <= unit) {
                return Ok(false);
            }
            if !total.add(count, unit) {
                self.cursor = here;
                self.set_rate(count, unit, span)?;
                self.draft.literal = Some(0);
                return Ok(true);
            }
            last = Some(unit);
        }
        if last.is_none() || start.at != 0 {
            return Ok(false);
        }
        self.cursor = here;
        let (count, unit) = total.whole();
        self.set_rate(count, unit, here.span_from(start))?;
        self.draft.literal = Some(total.seconds);
        Ok(true)
    }
}

/// `1/4` in minutes of an hour.
fn part_of_hour(here: Cursor<'_>) -> Option<u32> {
    match (here.kind(), here.kind_at(1), here.kind_at(2)) {
        (
            Some(Kind::Number { value: above @ 1..=59, .. }),
            Some(Kind::Mark('/')),
            Some(Kind::Number { value: below @ 2..=60, .. }),
        ) if (above * 60).is_multiple_of(below) => Some(above * 60 / below),
        _ => None,
    }
}

/// `1.5 hours` in seconds; nothing if they are not whole.
pub(super) fn decimal_seconds(cursor: &mut Cursor<'_>) -> Option<u32> {
    let mut here = *cursor;
    let Some(Kind::Decimal { whole, fraction }) = here.kind() else { return None };
    here.skip();
    let size: u64 = match here.unit()? {
        Unit::Minute => 60,
        Unit::Hour => 3600,
        Unit::Day => 86_400,
        _ => return None,
    };
    let scale = 10u64.checked_pow(u32::try_from(fraction.len()).ok()?)?;
    let part = fraction.parse::<u64>().ok()?.checked_mul(size)?;
    let seconds = u64::from(whole).checked_mul(size)?.checked_add(part / scale)?;
    if !part.is_multiple_of(scale) {
        return None;
    }
    *cursor = here;
    u32::try_from(seconds).ok()
}

/// Seconds of a duration made of several parts. Months and longer cannot be added up.
#[derive(Default)]
struct Duration {
    seconds: u64,
}

impl Duration {
    fn add(&mut self, count: u32, unit: Unit) -> bool {
        let factor = match unit {
            Unit::Second => 1,
            Unit::Minute => 60,
            Unit::Hour => 3600,
            _ => return false,
        };
        self.seconds += u64::from(count) * factor;
        true
    }

    fn whole(&self) -> (u32, Unit) {
        let (count, unit) = match self.seconds {
            s if s % 3600 == 0 => (s / 3600, Unit::Hour),
            s if s % 60 == 0 => (s / 60, Unit::Minute),
            s => (s, Unit::Second),
        };
        (u32::try_from(count).unwrap_or(u32::MAX), unit)
    }
}

/// `monday` with a capital.
pub(super) fn title(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}
