//! What has been understood so far. Phrases come in any order; each adds to the draft, and
//! [`build`](super::build) decides at the end what they mean together.

use super::words::{UNITS, Unit};
use jiff::civil::Date;
use std::ops::Range;

/// Before or after noon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Half {
    Am,
    Pm,
}

/// A time of day as it was written; `half` may still be open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Time {
    pub(super) hour: u8,
    pub(super) minute: u8,
    pub(super) second: u8,
    pub(super) half: Option<Half>,
    /// True for `9`, false for `9:00`, `09`, `noon`: only a bare number may be a guess.
    pub(super) is_bare: bool,
    pub(super) span: Range<usize>,
}

impl Time {
    /// Seconds since midnight on the 24-hour clock.
    pub(super) fn second_of_day(&self) -> u32 {
        let hour = match self.half {
            Some(Half::Am) => u32::from(self.hour) % 12,
            Some(Half::Pm) => u32::from(self.hour) % 12 + 12,
            None => u32::from(self.hour),
        };
        hour * 3600 + u32::from(self.minute) * 60 + u32::from(self.second)
    }

    pub(super) fn minute_of_day(&self) -> u32 {
        self.second_of_day() / 60
    }
}

/// `every 5 minutes`: the count and where it was said.
#[derive(Clone, Debug)]
pub(super) struct Rate {
    pub(super) count: u32,
    pub(super) span: Range<usize>,
}

/// Whether the last minute of a window belongs to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// `between … and`, `from … to`: not, except for a rate of hours, which people count with both ends.
    Open,
    /// `through`: it does.
    Closed,
}

/// A stretch of the day in minutes since midnight. `to` may be smaller than `from` (overnight).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Window {
    pub(super) from: u32,
    pub(super) to: u32,
    pub(super) end: End,
    pub(super) span: Range<usize>,
}

/// The days of a month and of a week that were named.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Days {
    /// Bit n is day n of the month.
    pub(super) month_days: u32,
    /// 0 is the last day of the month, 1 the day before it.
    pub(super) before_end: Vec<u8>,
    /// Weekday nearest to this day.
    pub(super) nearest: Vec<u8>,
    /// Weekday nearest to the n-th day before the last; 0 is the last weekday of the month.
    pub(super) nearest_end: Vec<u8>,
    /// Bit n is weekday n, 0 is Sunday.
    pub(super) weekdays: u8,
    /// The n-th such weekday of the month.
    pub(super) nth: Vec<(u8, u8)>,
    /// The last such weekday of the month, as a mask.
    pub(super) last: u8,
}

impl Days {
    pub(super) fn has_month_days(&self) -> bool {
        self.month_days != 0
            || !self.before_end.is_empty()
            || !self.nearest.is_empty()
            || !self.nearest_end.is_empty()
    }

    pub(super) fn has_weekdays(&self) -> bool {
        self.weekdays != 0 || !self.nth.is_empty() || self.last != 0
    }

    pub(super) fn is_empty(&self) -> bool {
        !self.has_month_days() && !self.has_weekdays()
    }
}

/// The first, middle or last of a period: `end of the month`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Edge {
    Start,
    Middle,
    End,
}

/// One end of the schedule's life, or the moment of a one-shot.
#[derive(Clone, Debug)]
pub(super) struct Moment {
    pub(super) day: Day,
    pub(super) time: Option<Time>,
    pub(super) span: Range<usize>,
}

/// A day as it was named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Day {
    /// A full date, or one computed from today.
    On(Date),
    /// So many seconds from now, exactly.
    After { seconds: i64 },
    /// Only a time of day: the next one.
    Next,
}

/// A set of marks within a minute, an hour or a day, or a range in which a rate counts.
#[derive(Clone, Debug, Default)]
pub(super) struct Marks {
    pub(super) set: u64,
    pub(super) range: Option<Stretch>,
    pub(super) span: Range<usize>,
}

/// The zone, and what to say about it.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) name: String,
    pub(super) note: Option<String>,
}

/// A calendar or clock duration from now.
#[derive(Clone, Copy, Debug)]
pub(super) struct Delay {
    pub(super) count: u32,
    pub(super) unit: Unit,
}

/// Two numbers and all between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stretch {
    pub(super) from: u32,
    pub(super) to: u32,
}

/// A day of every year.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct MonthDay {
    pub(super) month: u8,
    pub(super) day: u8,
}

impl MonthDay {
    /// Numbers that are too large become days that do not exist.
    pub(super) fn new(month: u32, day: u32) -> Self {
        let small = |value: u32| u8::try_from(value).unwrap_or(u8::MAX);
        MonthDay { month: small(month), day: small(day) }
    }
}

/// `three times a day`.
#[derive(Clone, Debug)]
pub(super) struct TimesPer {
    pub(super) count: u32,
    pub(super) unit: Unit,
    pub(super) span: Range<usize>,
}

/// `the end of the month`; without a unit it is that of the rate.
#[derive(Clone, Copy, Debug)]
pub(super) struct EdgeOf {
    pub(super) edge: Edge,
    pub(super) unit: Option<Unit>,
}

/// Everything a text can say.
#[derive(Clone, Debug, Default)]
pub(super) struct Draft {
    pub(super) rates: [Option<Rate>; UNITS],
    /// A duration written as data (`90s`): always an interval, never a cron.
    pub(super) literal: Option<u64>,
    /// `three times a day`.
    pub(super) times_per: Option<TimesPer>,
    pub(super) times: Vec<Time>,
    pub(super) seconds: Marks,
    pub(super) minutes: Marks,
    pub(super) hours: Marks,
    pub(super) part: Option<Part>,
    pub(super) days: Days,
    pub(super) day_range: Option<Stretch>,
    /// Months named without a day, bit n is month n.
    pub(super) months: u16,
    /// `every january`: a month that stands for its first day.
    pub(super) is_month_the_day: bool,
    /// `every 2 months between the 2nd and 10th month`.
    pub(super) month_range: Option<Stretch>,
    /// `every quarter`: its last day is in its last month.
    pub(super) is_quarter: bool,
    /// Dates such as `july 4th`: month and day.
    pub(super) dates: Vec<MonthDay>,
    /// `friday the 13th`: both must hold.
    pub(super) is_both: bool,
    pub(super) edge: Option<EdgeOf>,
    pub(super) windows: Vec<Window>,
    /// `except from 12:00 to 13:00`, `except at noon`.
    pub(super) not_windows: Vec<Window>,
    pub(super) once: Option<Moment>,
    pub(super) is_once: bool,
    pub(super) start: Option<Moment>,
    pub(super) end: Option<Moment>,
    /// Years that bound the schedule, first and last.
    pub(super) years: Option<Stretch>,
    /// `for 3 weeks`: count and unit.
    pub(super) lasting: Option<Delay>,
    pub(super) not_weekdays: u8,
    pub(super) is_not_holidays: bool,
    pub(super) not_months: u16,
    pub(super) not_month_days: u32,
    pub(super) zone: Option<Place>,
    pub(super) assumed: Vec<String>,
    /// Where groups of times and groups of days were said, in order, to find two schedules in one text.
    pub(super) groups: Vec<Group>,
}

/// A kind of phrase whose order matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Group {
    Time,
    Day,
}

/// A part of the day; it stands for a time when no other is given, and settles am or pm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Morning,
    Afternoon,
    Evening,
    Night,
}

impl Draft {
    pub(super) fn rate(&self, unit: Unit) -> Option<&Rate> {
        self.rates[unit as usize].as_ref()
    }

    pub(super) fn assume(&mut self, sentence: impl Into<String>) {
        let sentence = sentence.into();
        if !self.assumed.contains(&sentence) {
            self.assumed.push(sentence);
        }
    }

    pub(super) fn note_group(&mut self, group: Group) {
        if self.groups.last() != Some(&group) {
            self.groups.push(group);
        }
    }
}
