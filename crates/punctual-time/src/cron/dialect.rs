//! The three grammars, and the fields they are made of.

use std::fmt;
use std::str::FromStr;

use crate::Error;

/// Which cron grammar a text is written in.
///
/// ```
/// use punctual_time::Dialect;
///
/// assert_eq!("quartz".parse::<Dialect>()?, Dialect::Quartz);
/// assert_eq!(Dialect::default().to_string(), "standard");
/// # Ok::<(), punctual_time::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Dialect {
    /// IEEE 1003.1: five fields of `*`, numbers, ranges and lists, and nothing else.
    Posix,
    /// Five fields, or six with seconds first; names, steps, `L`, `W`, `#`, `?`, `+`, `H` and macros.
    #[default]
    Standard,
    /// Six or seven fields as the Java scheduler has them: `?`, Sunday is 1, years, `x/n`.
    Quartz,
}

impl Dialect {
    /// The name by which the dialect is stored and chosen.
    ///
    /// ```
    /// assert_eq!(punctual_time::Dialect::Posix.name(), "posix");
    /// ```
    pub fn name(self) -> &'static str {
        match self {
            Dialect::Posix => "posix",
            Dialect::Standard => "standard",
            Dialect::Quartz => "quartz",
        }
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Dialect {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        match text {
            "posix" => Ok(Dialect::Posix),
            "standard" => Ok(Dialect::Standard),
            "quartz" => Ok(Dialect::Quartz),
            _ => Err(Error::new("unknown_dialect", format!("`{text}` is not a cron dialect"))
                .at(0..text.len())
                .with_hint("choose `posix`, `standard` or `quartz`")),
        }
    }
}

/// One field of a cron expression.
///
/// ```
/// use punctual_time::{Cron, Dialect, Field};
///
/// let cron = Cron::parse("0 9-17 * * 1-5", Dialect::Standard)?;
/// assert_eq!(cron.set(Field::Hour).to_string(), "9-17");
/// assert_eq!(Field::DayOfWeek.to_string(), "day-of-week");
/// # Ok::<(), punctual_time::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Field {
    /// 0 to 59.
    Second,
    /// 0 to 59.
    Minute,
    /// 0 to 23.
    Hour,
    /// 1 to 31.
    DayOfMonth,
    /// 1 to 12.
    Month,
    /// 0 to 6, Sunday first.
    DayOfWeek,
    /// 1970 to 2099, in `quartz` only.
    Year,
}

impl Field {
    /// The field's name in messages.
    ///
    /// ```
    /// assert_eq!(punctual_time::Field::DayOfMonth.name(), "day-of-month");
    /// ```
    pub fn name(self) -> &'static str {
        match self {
            Field::Second => "second",
            Field::Minute => "minute",
            Field::Hour => "hour",
            Field::DayOfMonth => "day-of-month",
            Field::Month => "month",
            Field::DayOfWeek => "day-of-week",
            Field::Year => "year",
        }
    }

    /// The smallest number that may be written in the field.
    #[inline]
    pub(crate) fn min(self, dialect: Dialect) -> u32 {
        match self {
            Field::DayOfMonth | Field::Month => 1,
            Field::DayOfWeek if dialect == Dialect::Quartz => 1,
            Field::Year => YEAR_MIN,
            _ => 0,
        }
    }

    /// The largest number that may be written in the field.
    #[inline]
    pub(crate) fn max(self, dialect: Dialect) -> u32 {
        match self {
            Field::Second | Field::Minute => 59,
            Field::Hour => 23,
            Field::DayOfMonth => 31,
            Field::Month => 12,
            Field::DayOfWeek if dialect == Dialect::Posix => 6,
            Field::DayOfWeek => 7,
            Field::Year => YEAR_MAX,
        }
    }

    /// The largest number when ranges are spelled out: Sunday is written once.
    #[inline]
    pub(crate) fn last(self, dialect: Dialect) -> u32 {
        match self {
            Field::DayOfWeek if dialect != Dialect::Quartz => 6,
            _ => self.max(dialect),
        }
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The first year that can be named in a year field.
pub(crate) const YEAR_MIN: u32 = 1970;
/// The last year that can be named in a year field.
pub(crate) const YEAR_MAX: u32 = 2099;
