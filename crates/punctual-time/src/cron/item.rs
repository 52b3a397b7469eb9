//! One field of an expression: a list of items, each a value, a range, a step, or one of `L`, `W`, `#`, `H`.

use super::parse::Source;
use super::{Dialect, Field, ROW_BITS, ROW_LAST, hash, refuse};
use crate::Error;

/// What a field says.
#[derive(Default)]
pub(super) struct Parts {
    /// Plain values; for weekdays all seven rows; for years the first 64.
    pub values: u64,
    pub values_high: u64,
    pub values_tail: u8,
    pub near: u32,
    pub last: u32,
    pub last_near: u32,
    /// Written `*` or `?` and nothing else.
    pub is_star: bool,
    /// Written with a leading `+`.
    pub is_joined: bool,
}

impl Parts {
    /// What `*` says, which most fields are.
    #[inline]
    pub(super) fn star(field: Field) -> Parts {
        let values = match field {
            Field::Second | Field::Minute => super::MINUTES,
            Field::Hour => super::HOURS.into(),
            Field::DayOfMonth => super::DAYS.into(),
            Field::Month => super::MONTHS.into(),
            Field::DayOfWeek => super::ROW_MASK,
            Field::Year => 0,
        };
        Parts { values, is_star: true, ..Parts::default() }
    }
}

/// Values from `from` to `to`, each `step`th; `from` above `to` goes over the end (in `quartz`).
#[derive(Clone, Copy)]
pub(super) struct Range {
    pub from: u32,
    pub to: u32,
    pub step: u32,
}

/// A field's text while it is read.
pub(super) struct FieldText<'a> {
    pub source: Source<'a>,
    pub field: Field,
    /// Where the field starts and ends in the whole text.
    pub from: usize,
    pub to: usize,
    /// Where the item that is read starts.
    pub item: usize,
    at: usize,
}

impl<'a> FieldText<'a> {
    pub(super) fn new(source: Source<'a>, field: Field, (from, to): (usize, usize)) -> Self {
        FieldText { source, field, from, to, item: from, at: from }
    }

    pub(super) fn parts(&mut self) -> Result<Parts, Error> {
        let mut parts = Parts::default();
        self.read(&mut parts)?;
        Ok(parts)
    }

    /// Reads the whole field into parts that are still empty.
    pub(super) fn read(&mut self, parts: &mut Parts) -> Result<(), Error> {
        if self.peek() == b'+' {
            if self.field != Field::DayOfWeek || self.source.dialect != Dialect::Standard {
                return Err(refuse::misplaced(self));
            }
            parts.is_joined = true;
            self.at += 1;
        }
        let start = self.at;
        loop {
            self.item = self.at;
            self.read_item(parts)?;
            match self.peek() {
                b',' => self.at += 1,
                0 if self.at == self.to => break,
                _ => return Err(refuse::unreadable(self)),
            }
        }
        parts.is_star = self.to - start == 1 && matches!(self.source.text.as_bytes()[start], b'*' | b'?');
        if self.source.dialect == Dialect::Posix && !parts.is_star && self.text().contains('*') {
            return Err(refuse::starred_list(self));
        }
        Ok(())
    }

    fn read_item(&mut self, parts: &mut Parts) -> Result<(), Error> {
        match self.peek() {
            b'*' => {
                self.at += 1;
                let step = self.step()?;
                let range = self.whole(step.unwrap_or(1));
                self.insert(parts, range);
                Ok(())
            }
            b'0'..=b'9' => self.values(parts),
            b'?' => self.question_mark(parts),
            b'/' if self.source.dialect == Dialect::Quartz => {
                let step = self.step()?.unwrap_or(1);
                let range = self.whole(step);
                self.insert(parts, range);
                Ok(())
            }
            b'L' | b'l' if self.field == Field::DayOfMonth => self.last(parts),
            b'L' | b'l' if self.field == Field::DayOfWeek && self.source.dialect == Dialect::Quartz => {
                self.at += 1;
                if self.to - self.from != 1 {
                    return Err(refuse::misplaced(self));
                }
                parts.values |= 1 << 6;
                Ok(())
            }
            b'H' | b'h' => self.hashed(parts),
            b'A'..=b'Z' | b'a'..=b'z' if matches!(self.field, Field::Month | Field::DayOfWeek) => {
                self.values(parts)
            }
            b',' | 0 => Err(refuse::empty_item(self)),
            _ => Err(refuse::unreadable(self)),
        }
    }

    /// A value or a range, with a step, a `W`, an `L` or a `#` after it.
    fn values(&mut self, parts: &mut Parts) -> Result<(), Error> {
        let from = self.value()?;
        let mut to = from;
        let is_range = self.peek() == b'-';
        if is_range {
            self.at += 1;
            let is_name = self.peek().is_ascii_alphabetic();
            to = self.value()?;
            if is_name && to == 0 && self.field == Field::DayOfWeek && from > 0 {
                // A range that ends in `sun` ends the week.
                to = 7;
            }
        }
        match self.peek() {
            b'/' => {
                if !is_range && self.source.dialect != Dialect::Quartz {
                    return Err(refuse::step_without_range(self));
                }
                let step = self.step()?.unwrap_or(1);
                let to = if is_range { to } else { self.field.last(self.source.dialect) };
                let range = self.checked(Range { from, to, step })?;
                self.insert(parts, range);
            }
            b'W' | b'w' if self.field == Field::DayOfMonth && self.source.dialect != Dialect::Posix => {
                if is_range {
                    return Err(refuse::misplaced(self));
                }
                self.at += 1;
                parts.near |= 1 << from;
            }
            b'L' | b'l' | b'#' if self.field == Field::DayOfWeek && self.source.dialect != Dialect::Posix => {
                let row = self.occurrence()?;
                let range = self.checked(Range { from, to, step: 1 })?;
                self.insert_row(parts, range, row);
            }
            _ => {
                let range = self.checked(Range { from, to, step: 1 })?;
                self.insert(parts, range);
            }
        }
        Ok(())
    }

    /// Which weekdays of the month are meant: `L`, `#L` or `#1` to `#5`.
    fn occurrence(&mut self) -> Result<u32, Error> {
        if self.peek() == b'#' {
            self.at += 1;
            if self.peek().is_ascii_digit() {
                let nth = self.number();
                return if (1..=5).contains(&nth) { Ok(nth) } else { Err(refuse::occurrence(self)) };
            }
            if !matches!(self.peek(), b'L' | b'l') {
                return Err(refuse::occurrence(self));
            }
        }
        self.at += 1;
        Ok(ROW_LAST)
    }

    /// `L`, `L-3`, `LW` or `L-3W` in the day-of-month.
    fn last(&mut self, parts: &mut Parts) -> Result<(), Error> {
        if self.source.dialect == Dialect::Posix {
            return Err(refuse::unreadable(self));
        }
        self.at += 1;
        let mut back = 0;
        if self.peek() == b'-' {
            self.at += 1;
            if !self.peek().is_ascii_digit() {
                return Err(refuse::unreadable(self));
            }
            back = self.number();
            if back > 30 {
                return Err(refuse::before_last(self));
            }
        }
        if matches!(self.peek(), b'W' | b'w') {
            self.at += 1;
            parts.last_near |= 1 << back;
        } else {
            parts.last |= 1 << back;
        }
        Ok(())
    }

    fn question_mark(&mut self, parts: &mut Parts) -> Result<(), Error> {
        let in_day_field = matches!(self.field, Field::DayOfMonth | Field::DayOfWeek);
        if !in_day_field || self.source.dialect == Dialect::Posix || self.to - self.from != 1 {
            return Err(refuse::misplaced(self));
        }
        self.at += 1;
        let range = self.whole(1);
        self.insert(parts, range);
        Ok(())
    }

    /// `H`, `H/5`, `H(0-29)` or `H(0-29)/10`.
    fn hashed(&mut self, parts: &mut Parts) -> Result<(), Error> {
        if self.source.dialect != Dialect::Standard {
            return Err(refuse::unreadable(self));
        }
        self.at += 1;
        let mut range = self.whole(1);
        if self.field == Field::DayOfMonth {
            // Every month has these.
            range.to = 28;
        }
        if self.peek() == b'(' {
            self.at += 1;
            let from = self.value()?;
            if self.peek() != b'-' {
                return Err(refuse::unreadable(self));
            }
            self.at += 1;
            let to = self.value()?;
            if self.peek() != b')' {
                return Err(refuse::unreadable(self));
            }
            self.at += 1;
            range = self.checked(Range { from, to, step: 1 })?;
        }
        let step = self.step()?;
        let choices = u64::from(step.unwrap_or(u32::MAX).min(range.to - range.from + 1));
        range.from += (hash::spread(self.source.seed, self.field) % choices) as u32;
        match step {
            Some(step) => range.step = step,
            None => range.to = range.from,
        }
        self.insert(parts, range);
        Ok(())
    }

    /// A number within the field's bounds, or a name.
    #[inline]
    fn value(&mut self) -> Result<u32, Error> {
        let start = self.at;
        let dialect = self.source.dialect;
        match self.peek() {
            b'0'..=b'9' => {
                let number = self.number();
                if number < self.field.min(dialect) || number > self.field.max(dialect) {
                    return Err(refuse::out_of_range(self, start));
                }
                Ok(number)
            }
            b'A'..=b'Z' | b'a'..=b'z' => {
                let name = self.name();
                match name {
                    Some(value) if dialect != Dialect::Posix => Ok(value),
                    _ => Err(refuse::name(self, start)),
                }
            }
            _ => Err(refuse::unreadable(self)),
        }
    }

    /// Digits as a number; anything too large for a field is merely large.
    #[inline]
    fn number(&mut self) -> u32 {
        let mut number = 0_u32;
        while self.peek().is_ascii_digit() {
            number = number.saturating_mul(10).saturating_add(u32::from(self.peek() - b'0'));
            self.at += 1;
        }
        number
    }

    /// The value of the three letters here, if they are a name of this field and no other letter but `L` follows.
    fn name(&mut self) -> Option<u32> {
        let letters = self.source.text.as_bytes().get(self.at..self.to.min(self.at + 3))?;
        let value = named(self.field, letters)?;
        let value = if self.source.dialect == Dialect::Quartz && self.field == Field::DayOfWeek {
            value + 1
        } else {
            value
        };
        self.at += 3;
        let next = self.peek();
        let is_whole = !next.is_ascii_alphanumeric() || (self.field == Field::DayOfWeek && next | 32 == b'l');
        is_whole.then_some(value)
    }

    /// The number after a `/`, if there is one.
    #[inline]
    fn step(&mut self) -> Result<Option<u32>, Error> {
        if self.peek() != b'/' {
            return Ok(None);
        }
        if self.source.dialect == Dialect::Posix {
            return Err(refuse::unreadable(self));
        }
        self.at += 1;
        let start = self.at;
        let step = if self.peek().is_ascii_digit() { self.number() } else { 0 };
        if step == 0 || step > self.field.max(self.source.dialect) {
            return Err(refuse::step(self, start));
        }
        Ok(Some(step))
    }

    #[inline]
    fn checked(&self, range: Range) -> Result<Range, Error> {
        let wraps = self.source.dialect == Dialect::Quartz && self.field != Field::Year;
        if range.from > range.to && !wraps {
            return Err(refuse::descending(self, range));
        }
        Ok(range)
    }

    #[inline]
    fn whole(&self, step: u32) -> Range {
        let dialect = self.source.dialect;
        Range { from: self.field.min(dialect), to: self.field.last(dialect), step }
    }

    #[inline]
    fn insert(&self, parts: &mut Parts, range: Range) {
        match self.field {
            Field::DayOfWeek => self.insert_row(parts, range, 0),
            Field::Year => insert_years(parts, range),
            _ if range.from > range.to => {
                let (min, max) = (self.field.min(self.source.dialect), self.field.max(self.source.dialect));
                let count = max - min + 1;
                let mut value = range.from;
                while value <= range.to + count {
                    parts.values |= 1 << ((value - min) % count + min);
                    value += range.step;
                }
            }
            _ if range.step == 1 => {
                parts.values |= (u64::MAX >> (63 - (range.to - range.from))) << range.from;
            }
            _ => {
                let mut value = range.from;
                while value <= range.to {
                    parts.values |= 1 << value;
                    value += range.step;
                }
            }
        }
    }

    /// Weekdays into one of the seven rows, Sunday as 0 whatever the dialect calls it.
    #[inline]
    fn insert_row(&self, parts: &mut Parts, range: Range, row: u32) {
        let sunday = u32::from(self.source.dialect == Dialect::Quartz);
        let to = if range.from > range.to { range.to + 7 } else { range.to };
        let mut value = range.from;
        while value <= to {
            parts.values |= 1 << (row * ROW_BITS + (value - sunday) % 7);
            value += range.step;
        }
    }

    /// The byte here, or 0 at the end of the field.
    #[inline]
    fn peek(&self) -> u8 {
        if self.at < self.to { self.source.text.as_bytes()[self.at] } else { 0 }
    }

    /// The text of the field.
    pub(super) fn text(&self) -> &'a str {
        &self.source.text[self.from..self.to]
    }
}

fn insert_years(parts: &mut Parts, range: Range) {
    let mut year = range.from;
    while year <= range.to {
        let index = year - super::dialect::YEAR_MIN;
        match index / 64 {
            0 => parts.values |= 1 << index,
            1 => parts.values_high |= 1 << (index % 64),
            _ => parts.values_tail |= 1 << (index % 64),
        }
        year += range.step;
    }
}

/// The value of a three-letter name.
pub(super) fn named(field: Field, letters: &[u8]) -> Option<u32> {
    const MONTHS: &[u8; 36] = b"janfebmaraprmayjunjulaugsepoctnovdec";
    const WEEKDAYS: &[u8; 21] = b"sunmontuewedthufrisat";
    let (names, first): (&[u8], u32) = match field {
        Field::Month => (MONTHS, 1),
        Field::DayOfWeek => (WEEKDAYS, 0),
        _ => return None,
    };
    let at = names.chunks(3).position(|name| name.eq_ignore_ascii_case(letters))?;
    Some(at as u32 + first)
}
