//! Cron: text becomes sets, sets become local times.
//!
//! [`Cron`] is the parsed value; `parse` and `item` read it, `refuse` words the errors, `print` writes it back,
//! `search` finds planned local times. Zones and daylight saving are not known here: see [`crate::walk`].

mod count;
mod dialect;
mod gap;
mod hash;
mod item;
mod parse;
mod print;
mod refuse;
mod search;
mod set;

use std::fmt;

pub use dialect::{Dialect, Field};
pub(crate) use search::Month;
pub use set::Set;

/// A parsed cron expression: five to seven sets, 64 bytes, no heap.
///
/// Two values are equal if they were parsed in the same dialect and have the same sets and the same stars;
/// the spelling is not kept, so `*/15` and `0,15,30,45` give equal values with equal ticks.
///
/// ```
/// use punctual_time::{Cron, Dialect, Zone};
///
/// let cron = Cron::parse("30 2 * * *", Dialect::Standard)?;
/// let zone = Zone::get("America/New_York")?;
/// // 02:30 does not exist on 9 March 2025: the tick moves to the first instant after the gap.
/// let next = cron.next("2025-03-09T00:00:00-05:00".parse().unwrap(), &zone);
/// assert_eq!(next, Some("2025-03-09T03:00:00-04:00".parse().unwrap()));
/// # Ok::<(), punctual_time::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Cron {
    second: u64,
    minute: u64,
    /// Seven rows of seven bits: every week, first to fifth of the month, last of the month.
    weekdays: u64,
    /// Bit `n` is the year 1970 + n.
    years: [u64; 2],
    hour: u32,
    /// Days of the month: bit `n` is day `n`.
    days: u32,
    /// `nW`: the weekday nearest to day `n`.
    near: u32,
    /// `L-n`: the `n`th day before the last.
    last: u32,
    /// `L-nW`: the weekday nearest to it.
    last_near: u32,
    /// Months in bits 1 to 12; above them the years 2098 and 2099, and whether any year will do.
    months: u16,
    flags: u8,
    /// A byte of its own, whose unused values let `Spec` be no larger than this.
    dialect: Dialect,
}

/// Which row of the weekday table: every week, the first to the fifth of the month, or the last.
const ROW_LAST: u32 = 6;
const ROW_BITS: u32 = 7;
const ROW_MASK: u64 = 0x7f;

const MINUTES: u64 = (1 << 60) - 1;
const HOURS: u32 = (1 << 24) - 1;
const MONTHS: u16 = 0x1ffe;
const DAYS: u32 = 0xffff_fffe;

/// The two last years that can be named, in the high bits of the months.
const YEARS_TAIL_SHIFT: u32 = 13;
const ANY_YEAR: u16 = 0x8000;

const SIX_FIELDS: u8 = 1;
const DAY_STAR: u8 = 1 << 1;
const WEEKDAY_STAR: u8 = 1 << 2;
const BOTH_DAYS: u8 = 1 << 3;
/// Derived, for speed: any day will do.
const EVERY_DAY: u8 = 1 << 4;
/// Derived, for speed: the weekday alone decides.
const WEEKLY: u8 = 1 << 5;

/// Which one of the weekdays of a month is meant.
///
/// ```
/// use punctual_time::{Cron, Dialect, Nth};
///
/// let cron = Cron::parse("0 9 * * 1#2,5L", Dialect::Standard)?;
/// let found: Vec<_> = cron.nth_weekdays().map(|w| (w.weekday, w.nth)).collect();
/// assert_eq!(found, [(1, Nth::At(2)), (5, Nth::Last)]);
/// # Ok::<(), punctual_time::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Nth {
    /// The first to the fifth; a fifth may be missing in a month.
    At(u32),
    /// The last.
    Last,
}

/// A weekday of the month: `1#2` is the second Monday, `5L` the last Friday.
///
/// ```
/// use punctual_time::{Cron, Dialect, Nth, NthWeekday};
///
/// let cron = Cron::parse("0 9 * * FRI#L", Dialect::Standard)?;
/// assert_eq!(cron.nth_weekdays().next(), Some(NthWeekday { weekday: 5, nth: Nth::Last }));
/// # Ok::<(), punctual_time::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NthWeekday {
    /// 0 for Sunday to 6 for Saturday.
    pub weekday: u32,
    /// Which of them in the month.
    pub nth: Nth,
}

/// How a restricted day-of-month and a restricted day-of-week go together.
///
/// ```
/// use punctual_time::{Cron, DayJoin, Dialect};
///
/// let either = Cron::parse("0 0 13 * 5", Dialect::Standard)?;
/// let friday_13th = Cron::parse("0 0 13 * +5", Dialect::Standard)?;
/// assert_eq!(either.day_join(), DayJoin::Either);
/// assert_eq!(friday_13th.day_join(), DayJoin::Both);
/// # Ok::<(), punctual_time::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DayJoin {
    /// A day that satisfies one of them is enough: what cron has always done.
    Either,
    /// A day must satisfy both: the day-of-week was written with a `+` before it.
    Both,
}

impl Cron {
    /// The dialect it was parsed in.
    ///
    /// ```
    /// # use punctual_time::{Cron, Dialect};
    /// assert_eq!(Cron::parse("0 0 * * *", Dialect::Posix)?.dialect(), Dialect::Posix);
    /// # Ok::<(), punctual_time::Error>(())
    /// ```
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// The plain values of a field. Weekdays are 0 to 6, Sunday first, in every dialect. What `L`, `W` and `#`
    /// add is not in here, nor are years, which do not fit: see [`years`](Cron::years).
    ///
    /// ```
    /// # use punctual_time::{Cron, Dialect, Field};
    /// let cron = Cron::parse("0 9-17 * * MON-FRI", Dialect::Standard)?;
    /// assert_eq!(cron.set(Field::DayOfWeek).to_string(), "1-5");
    /// # Ok::<(), punctual_time::Error>(())
    /// ```
    pub fn set(&self, field: Field) -> Set {
        Set::from_bits(match field {
            Field::Second => self.second,
            Field::Minute => self.minute,
            Field::Hour => self.hour.into(),
            Field::DayOfMonth => self.days.into(),
            Field::Month => self.month().into(),
            Field::DayOfWeek => self.weekdays & ROW_MASK,
            Field::Year => 0,
        })
    }

    /// Whether the field leaves everything open. For the two day fields only a written `*` or `?` does; `1-31`
    /// has all days but is a restriction, which decides whether the other day field is an alternative.
    ///
    /// ```
    /// # use punctual_time::{Cron, Dialect, Field};
    /// let cron = Cron::parse("0 0 1-31 * 1", Dialect::Standard)?;
    /// assert!(!cron.is_star(Field::DayOfMonth));
    /// assert!(cron.is_star(Field::Month));
    /// # Ok::<(), punctual_time::Error>(())
    /// ```
    pub fn is_star(&self, field: Field) -> bool {
        match field {
            Field::Second => self.second == MINUTES,
            Field::Minute => self.minute == MINUTES,
            Field::Hour => self.hour == HOURS,
            Field::DayOfMonth => self.flags & DAY_STAR != 0,
            Field::Month => self.month() == MONTHS,
            Field::DayOfWeek => self.flags & WEEKDAY_STAR != 0,
            Field::Year => self.months & ANY_YEAR != 0,
        }
    }

    /// Whether a seconds field was written; without one, ticks fall on second 0.
    ///
    /// ```
    /// # use punctual_time::{Cron, Dialect};
    /// assert!(Cron::parse("30 0 9 * * *", Dialect::Standard)?.has_seconds());
    /// # Ok::<(), punctual_time::Error>(())
    /// ```
    pub fn has_seconds(&self) -> bool {
        self.flags & SIX_FIELDS != 0
    }

    /// How the two day fields go together when both are restricted.
    ///
    /// ```
    /// # use punctual_time::{Cron, DayJoin, Dialect};
    /// assert_eq!(Cron::parse("0 0 1 * 1", Dialect::Posix)?.day_join(), DayJoin::Either);
    /// # Ok::<(), punctual_time::Error>(())
    /// ```
    pub fn day_join(&self) -> DayJoin {
        if self.flags & BOTH_DAYS != 0 { DayJoin::Both } else { DayJoin::Either }
    }

    /// The days `n` of every `nW`: the weekday (Monday to Friday) nearest to day `n`, within the month.
    ///
    /// ```
    /// # use punctual_time::{Cron, Dialect};
    /// let cron = Cron::parse("0 9 1W,15W * *", Dialect::Standard)?;
    /// assert_eq!(cron.nearest_weekdays().to_string(), "1,15");
    /// # Ok::<(), punctual_time::Error>(())
    /// ```
    pub fn nearest_weekdays(&self) -> Set {
        Set::from_bits(self.near.into())
    }

    /// The `n` of every `L-n`: `n` days before the last day of the month; `L` is 0.
    ///
    /// ```
    /// # use punctual_time::{Cron, Dialect};
    /// let cron = Cron::parse("0 9 L,L-2 * *", Dialect::Standard)?;
    /// assert_eq!(cron.days_before_last().to_string(), "0,2");
    /// # Ok::<(), punctual_time::Error>(())
    /// ```
    pub fn days_before_last(&self) -> Set {
        Set::from_bits(self.last.into())
    }

    /// The `n` of every `L-nW`: the weekday nearest to `n` days before the last day; `LW` is 0.
    ///
    /// ```
    /// # use punctual_time::{Cron, Dialect};
    /// let cron = Cron::parse("0 17 LW * *", Dialect::Standard)?;
    /// assert_eq!(cron.nearest_before_last().to_string(), "0");
    /// # Ok::<(), punctual_time::Error>(())
    /// ```
    pub fn nearest_before_last(&self) -> Set {
        Set::from_bits(self.last_near.into())
    }

    /// The weekdays of the month: `n#k`, `n#L` and `nL`.
    ///
    /// ```
    /// # use punctual_time::{Cron, Dialect, Nth, NthWeekday};
    /// let cron = Cron::parse("0 9 * * TUE#3", Dialect::Standard)?;
    /// assert_eq!(cron.nth_weekdays().next(), Some(NthWeekday { weekday: 2, nth: Nth::At(3) }));
    /// # Ok::<(), punctual_time::Error>(())
    /// ```
    pub fn nth_weekdays(&self) -> impl Iterator<Item = NthWeekday> {
        Set::from_bits(self.weekdays >> ROW_BITS << ROW_BITS).iter().map(|bit| {
            let (row, weekday) = (bit / ROW_BITS, bit % ROW_BITS);
            NthWeekday { weekday, nth: if row == ROW_LAST { Nth::Last } else { Nth::At(row) } }
        })
    }

    /// The years it is limited to, in ascending order; empty if any year will do.
    ///
    /// ```
    /// # use punctual_time::{Cron, Dialect};
    /// let cron = Cron::parse("0 0 0 1 1 ? 2030/10", Dialect::Quartz)?;
    /// assert_eq!(cron.years().take(3).collect::<Vec<_>>(), [2030, 2040, 2050]);
    /// # Ok::<(), punctual_time::Error>(())
    /// ```
    pub fn years(&self) -> impl Iterator<Item = u32> {
        let cron = *self;
        let any = self.is_star(Field::Year);
        (dialect::YEAR_MIN..=dialect::YEAR_MAX).filter(move |&year| !any && cron.has_year(year as i32))
    }

    /// Whether the expression follows the real clock through clock changes, because it has all 24 hours; any
    /// other is wall-clock: each planned local time fires once.
    ///
    /// ```
    /// # use punctual_time::{Cron, Dialect};
    /// assert!(Cron::parse("0,30 * * * *", Dialect::Posix)?.is_elapsed());
    /// assert!(!Cron::parse("0 */2 * * *", Dialect::Standard)?.is_elapsed());
    /// # Ok::<(), punctual_time::Error>(())
    /// ```
    #[inline]
    pub fn is_elapsed(&self) -> bool {
        self.hour == HOURS
    }

    /// The months alone, as bits.
    #[inline]
    fn month(&self) -> u16 {
        self.months & MONTHS
    }

    #[inline]
    pub(crate) fn has_year(&self, year: i32) -> bool {
        if self.months & ANY_YEAR != 0 {
            return true;
        }
        let index = year.wrapping_sub(dialect::YEAR_MIN as i32) as u32;
        match index / 64 {
            0 | 1 => self.years[(index / 64) as usize] >> (index % 64) & 1 == 1,
            2 => index % 64 < 2 && self.months >> YEARS_TAIL_SHIFT >> (index % 64) & 1 == 1,
            _ => false,
        }
    }
}

impl fmt::Debug for Cron {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Cron({self}, {})", self.dialect())
    }
}
