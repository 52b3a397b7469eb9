//! A [`Cron`] back into text: one spelling for equal values, and parsing it gives the value again.

use std::fmt::{self, Write};

use super::{Cron, DayJoin, Dialect, Field, Nth, SIX_FIELDS, Set, dialect};

impl fmt::Display for Cron {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.flags & SIX_FIELDS != 0 {
            self.write_plain(f, Field::Second)?;
            f.write_char(' ')?;
        }
        self.write_plain(f, Field::Minute)?;
        f.write_char(' ')?;
        self.write_plain(f, Field::Hour)?;
        f.write_char(' ')?;
        self.write_days(f)?;
        f.write_char(' ')?;
        self.write_plain(f, Field::Month)?;
        f.write_char(' ')?;
        self.write_weekdays(f)?;
        if !self.is_star(Field::Year) {
            f.write_char(' ')?;
            self.write_years(f)?;
        }
        Ok(())
    }
}

impl Cron {
    fn write_plain(&self, f: &mut fmt::Formatter<'_>, field: Field) -> fmt::Result {
        let set = self.set(field);
        if self.is_star(field) {
            return f.write_char('*');
        }
        match self.stride(field) {
            Some(step) if self.dialect() != Dialect::Posix => write!(f, "*/{step}"),
            _ => write!(f, "{set}"),
        }
    }

    /// The `n` for which `*/n` has exactly these values, where that reads better than a list.
    fn stride(&self, field: Field) -> Option<u32> {
        let set = self.set(field);
        let (min, max) = (field.min(self.dialect()), field.last(self.dialect()));
        let mut values = set.iter();
        let (first, second) = (values.next()?, values.next()?);
        let step = second - first;
        let evenly = (min..=max).step_by(step as usize).fold(0_u64, |bits, value| bits | 1 << value);
        (first == min && set.len() > 2 && step > 1 && evenly == set.bits()).then_some(step)
    }

    fn write_days(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_star(Field::DayOfMonth) {
            let is_open = self.dialect() == Dialect::Quartz && !self.is_star(Field::DayOfWeek);
            return f.write_char(if is_open { '?' } else { '*' });
        }
        let mut separator = "";
        if self.days != 0 {
            write!(f, "{}", self.set(Field::DayOfMonth))?;
            separator = ",";
        }
        for day in self.nearest_weekdays().iter() {
            write!(f, "{separator}{day}W")?;
            separator = ",";
        }
        for (set, mark) in [(self.days_before_last(), ""), (self.nearest_before_last(), "W")] {
            for back in set.iter() {
                match back {
                    0 => write!(f, "{separator}L{mark}")?,
                    _ => write!(f, "{separator}L-{back}{mark}")?,
                }
                separator = ",";
            }
        }
        Ok(())
    }

    fn write_weekdays(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let first = field_start(self.dialect());
        if self.is_star(Field::DayOfWeek) {
            return f.write_char(if self.dialect() == Dialect::Quartz { '?' } else { '*' });
        }
        if self.day_join() == DayJoin::Both {
            f.write_char('+')?;
        }
        let plain = self.set(Field::DayOfWeek);
        let mut separator = "";
        if !plain.is_empty() {
            write!(f, "{}", Set::from_bits(plain.bits() << first))?;
            separator = ",";
        }
        for found in self.nth_weekdays() {
            let weekday = found.weekday + first;
            match found.nth {
                Nth::At(nth) => write!(f, "{separator}{weekday}#{nth}")?,
                Nth::Last => write!(f, "{separator}{weekday}L")?,
            }
            separator = ",";
        }
        Ok(())
    }

    fn write_years(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        let mut years = self.years().peekable();
        while let Some(start) = years.next() {
            let mut end = start;
            while years.next_if_eq(&(end + 1)).is_some() {
                end += 1;
            }
            match end - start {
                0 => write!(f, "{separator}{start}")?,
                _ => write!(f, "{separator}{start}-{end}")?,
            }
            separator = ",";
        }
        Ok(())
    }
}

impl Cron {
    /// The text of each field that it has.
    pub(crate) fn field_texts(&self) -> Vec<(Field, String)> {
        let fields = [
            Field::Second,
            Field::Minute,
            Field::Hour,
            Field::DayOfMonth,
            Field::Month,
            Field::DayOfWeek,
            Field::Year,
        ];
        let skip = usize::from(!self.has_seconds());
        self.to_string()
            .split(' ')
            .map(str::to_owned)
            .zip(&fields[skip..])
            .map(|(text, &field)| (field, text))
            .collect()
    }
}

fn field_start(dialect: dialect::Dialect) -> u32 {
    Field::DayOfWeek.min(dialect)
}
