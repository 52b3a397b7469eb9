//! Text becomes a [`Cron`]: fields are told apart here, the items within a field in `item`.

use super::item::{FieldText, Parts};
use super::{
    ANY_YEAR, BOTH_DAYS, Cron, DAY_STAR, DAYS, Dialect, EVERY_DAY, Field, MONTHS, ROW_MASK, SIX_FIELDS,
    WEEKDAY_STAR, WEEKLY, YEARS_TAIL_SHIFT, refuse,
};
use crate::Error;

/// The longest expression that is read; a list of every minute, hour and day is about half of it.
pub(crate) const EXPRESSION_LEN_MAX: usize = 1024;

/// What separates fields.
pub(super) const BLANKS: [char; 2] = [' ', '\t'];

/// One more than any dialect has, so that a surplus field is seen.
const FIELDS_MAX: usize = 8;

/// The macros and what they stand for.
pub(super) const MACROS: [(&str, &str); 7] = [
    ("@yearly", "0 0 1 1 *"),
    ("@annually", "0 0 1 1 *"),
    ("@monthly", "0 0 1 * *"),
    ("@weekly", "0 0 * * 0"),
    ("@daily", "0 0 * * *"),
    ("@midnight", "0 0 * * *"),
    ("@hourly", "0 * * * *"),
];

const WITH_SECONDS: [Field; 7] = [
    Field::Second,
    Field::Minute,
    Field::Hour,
    Field::DayOfMonth,
    Field::Month,
    Field::DayOfWeek,
    Field::Year,
];

/// What is read: the text, its dialect, and the id that `H` takes its value from.
#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    pub text: &'a str,
    pub dialect: Dialect,
    pub seed: &'a str,
}

/// The fields of an expression as byte ranges.
pub(super) struct Split {
    pub spans: [(u32, u32); FIELDS_MAX],
    pub count: usize,
}

impl Cron {
    /// Parses an expression and refuses what can never fire. `H` takes the value of an empty id.
    ///
    /// ```
    /// use punctual_time::{Cron, Dialect};
    ///
    /// let weekdays = Cron::parse("0 9 * * MON-FRI", Dialect::Standard)?;
    /// assert_eq!(weekdays.to_string(), "0 9 * * 1-5");
    ///
    /// let error = Cron::parse("0 0 30 2 *", Dialect::Standard).unwrap_err();
    /// assert_eq!(error.to_string(), "`0 0 30 2 *` never fires: no such date exists (day-of-month field, column 5)");
    /// # Ok::<(), punctual_time::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If the text is not an expression of the dialect, or one that never fires.
    pub fn parse(text: &str, dialect: Dialect) -> Result<Cron, Error> {
        Cron::parse_seeded(text, dialect, "")
    }

    /// Parses an expression in which `H` stands for a value that depends on `seed`, the id of the schedule:
    /// always the same for one schedule, spread evenly over a fleet of them.
    ///
    /// ```
    /// use punctual_time::{Cron, Dialect};
    ///
    /// let cron = Cron::parse_seeded("H H(0-5) * * *", Dialect::Standard, "nightly-backup")?;
    /// assert_eq!(cron, Cron::parse_seeded("H H(0-5) * * *", Dialect::Standard, "nightly-backup")?);
    /// # Ok::<(), punctual_time::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Cron::parse`].
    pub fn parse_seeded(text: &str, dialect: Dialect, seed: &str) -> Result<Cron, Error> {
        let source = Source { text, dialect, seed };
        if text.len() > EXPRESSION_LEN_MAX {
            return Err(refuse::too_long(text));
        }
        let fields = split(text)?;
        if fields.count == 1 && text.trim_matches(BLANKS).starts_with('@') {
            return macro_named(source);
        }
        let fits = match dialect {
            Dialect::Posix => fields.count == 5,
            Dialect::Standard => fields.count == 5 || fields.count == 6,
            Dialect::Quartz => fields.count == 6 || fields.count == 7,
        };
        if !fits {
            return Err(refuse::field_count(source, &fields));
        }
        let cron = read(source, &fields)?;
        if !cron.fires_plainly() && cron.local_at_or_after(0).is_none() {
            return Err(refuse::never_fires(source, &fields, &cron));
        }
        Ok(cron)
    }
}

/// Fields are separated by blanks and tabs, and by nothing else.
fn split(text: &str) -> Result<Split, Error> {
    let mut fields = Split { spans: [(0, 0); FIELDS_MAX], count: 0 };
    let mut start = None;
    for (at, &byte) in text.as_bytes().iter().enumerate() {
        let is_blank = byte == b' ' || byte == b'\t';
        match start {
            None if !is_blank => start = Some(at),
            Some(from) if is_blank => {
                fields.push(from, at);
                start = None;
            }
            _ => {}
        }
    }
    if let Some(from) = start {
        fields.push(from, text.len());
    }
    if fields.count == 0 {
        return Err(refuse::empty(text));
    }
    Ok(fields)
}

impl Split {
    fn push(&mut self, from: usize, to: usize) {
        if let Some(slot) = self.spans.get_mut(self.count) {
            *slot = (from as u32, to as u32);
        }
        self.count += 1;
    }
}

fn read(source: Source<'_>, fields: &Split) -> Result<Cron, Error> {
    let mut cron = Cron::blank(source.dialect);
    let skip = usize::from(fields.count == 5);
    if skip == 0 {
        cron.flags |= SIX_FIELDS;
    }
    for (&field, &(from, to)) in WITH_SECONDS[skip..].iter().zip(&fields.spans[..fields.count]) {
        if to - from == 1 && source.text.as_bytes()[from as usize] == b'*' {
            cron.take(field, &Parts::star(field));
            continue;
        }
        let mut text = FieldText::new(source, field, (from as usize, to as usize));
        let mut parts = Parts::default();
        text.read(&mut parts)?;
        cron.take(field, &parts);
    }
    if source.dialect == Dialect::Quartz {
        one_question_mark(source, fields)?;
    }
    cron.derive();
    Ok(cron)
}

/// Quartz wants exactly one of the two day fields to be `?`.
fn one_question_mark(source: Source<'_>, fields: &Split) -> Result<(), Error> {
    let is_open = |(from, to): (u32, u32)| &source.text.as_bytes()[from as usize..to as usize] == b"?";
    match (is_open(fields.spans[3]), is_open(fields.spans[5])) {
        (true, false) | (false, true) => Ok(()),
        _ => Err(refuse::day_fields(source, fields)),
    }
}

fn macro_named(source: Source<'_>) -> Result<Cron, Error> {
    let name = source.text.trim_matches(BLANKS);
    match MACROS.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)) {
        Some((_, meaning)) if source.dialect == Dialect::Standard => {
            Cron::parse_seeded(meaning, source.dialect, source.seed)
        }
        known => Err(refuse::macro_name(source, known.map(|(_, meaning)| *meaning))),
    }
}

impl Cron {
    fn blank(dialect: Dialect) -> Cron {
        Cron {
            second: 1,
            minute: 0,
            weekdays: 0,
            years: [0; 2],
            hour: 0,
            days: 0,
            near: 0,
            last: 0,
            last_near: 0,
            months: ANY_YEAR,
            flags: 0,
            dialect,
        }
    }

    fn take(&mut self, field: Field, parts: &Parts) {
        match field {
            Field::Second => self.second = parts.values,
            Field::Minute => self.minute = parts.values,
            Field::Hour => self.hour = parts.values as u32,
            Field::Month => self.months |= parts.values as u16,
            Field::DayOfMonth => {
                self.days = parts.values as u32;
                self.near = parts.near;
                self.last = parts.last;
                self.last_near = parts.last_near;
                self.flags |= if parts.is_star { DAY_STAR } else { 0 };
            }
            Field::DayOfWeek => {
                self.weekdays = parts.values;
                self.flags |= if parts.is_star { WEEKDAY_STAR } else { 0 };
                self.flags |= if parts.is_joined { BOTH_DAYS } else { 0 };
            }
            Field::Year if parts.is_star => {}
            Field::Year => {
                self.years = [parts.values, parts.values_high];
                self.months = self.month() | u16::from(parts.values_tail) << YEARS_TAIL_SHIFT;
            }
        }
    }

    /// Makes equal meanings equal values, and notes the two shapes that need no dates.
    fn derive(&mut self) {
        let star = self.flags & (DAY_STAR | WEEKDAY_STAR);
        if star != 0 {
            self.flags &= !BOTH_DAYS;
        }
        if star & DAY_STAR != 0 {
            self.days = DAYS;
        }
        if star & WEEKDAY_STAR != 0 {
            self.weekdays = ROW_MASK;
        }
        if self.months == MONTHS | ANY_YEAR {
            if star == DAY_STAR | WEEKDAY_STAR {
                self.flags |= EVERY_DAY;
            } else if star == DAY_STAR && self.weekdays & ROW_MASK == self.weekdays {
                self.flags |= WEEKLY;
            }
        }
    }
}
