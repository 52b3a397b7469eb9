//! Seconds, minutes and hours: from a rate, from marks, or from times of day.

use super::super::draft::{End, Marks, Stretch, Time};
use super::super::trouble::{Code, Trouble};
use super::super::words::Unit;
use super::{Builder, steps};

const ALL_60: u64 = (1 << 60) - 1;
const ALL_24: u64 = (1 << 24) - 1;

/// The clock fields of a cron, as bits.
pub(super) struct Clock {
    pub(super) seconds: u64,
    pub(super) minutes: u64,
    pub(super) hours: u64,
}

impl Marks {
    /// The marks that were named, one by one or as a range.
    fn named(&self) -> u64 {
        self.set | self.range.map_or(0, |Stretch { from, to }| steps(from, to, 1))
    }

    /// The marks of a rate: every `count` from the start of the range, or from 0.
    fn counted(&self, count: u32, last: u32) -> u64 {
        let Stretch { from, to } = self.range.unwrap_or(Stretch { from: 0, to: last });
        steps(from, to, count)
    }
}

impl Builder {
    /// The clock fields. May also set a window, where the fields alone would say too much.
    pub(super) fn clock(&mut self) -> Result<Clock, Trouble> {
        match self.finest() {
            Some((unit, count)) if unit <= Unit::Hour => {
                self.take_phase(unit, count)?;
                if self.draft.times.is_empty() {
                    self.clock_of_rate(unit, count)
                } else {
                    self.clock_of_times()
                }
            }
            _ if !self.draft.times.is_empty() => self.clock_of_times(),
            _ => self.clock_of_marks(),
        }
    }

    /// A time beside a rate says where the counting begins: `every 4 hours starting at 9am`.
    fn take_phase(&mut self, unit: Unit, count: u32) -> Result<(), Trouble> {
        let started = self.draft.start.as_ref().and_then(|start| start.time.clone());
        let spoken = std::mem::take(&mut self.draft.times);
        if let [time] = spoken.as_slice()
            && unit == Unit::Hour
            && count == 1
            && time.is_bare
            && self.draft.minutes.set == 0
        {
            self.draft.minutes.set = 1 << time.hour.min(59);
            let minute = time.hour;
            self.draft.assumed.retain(|sentence| !sentence.starts_with('`'));
            self.draft.assume(format!("`{minute}` is read as {minute} minutes past the hour"));
            return Ok(());
        }
        if unit == Unit::Hour && spoken.len() > 1 && is_spaced(&spoken, count) {
            self.draft.times = spoken;
            return Ok(());
        }
        let phase = match (started, spoken.as_slice()) {
            (Some(time), []) => time,
            (None, [time]) if unit == Unit::Hour && count > 1 => time.clone(),
            (_, []) => return Ok(()),
            (_, [time, ..]) => {
                let message = "a rate shorter than a day and a time of day do not go together";
                return Err(Trouble::new(Code::Contradiction, time.span.clone(), message)
                    .hint("write `every 5 minutes between 9am and 10am`, or `every day at 9am`"));
            }
        };
        let second = phase.second_of_day();
        let (hour, minute) = (second / 3600, second / 60 % 60);
        match unit {
            Unit::Minute if 60 % count == 0 && self.draft.minutes.range.is_none() => {
                self.draft.minutes.range = Some(Stretch { from: minute % count, to: 59 });
            }
            Unit::Hour if 24 % count == 0 && self.draft.hours.range.is_none() => {
                self.draft.hours.range = Some(Stretch { from: hour % count, to: 23 });
                if self.draft.minutes.set == 0 {
                    self.draft.minutes.set = 1 << minute;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// `every minute on the hour`: marks of the unit that the rate counts leave nothing to count.
    fn check_marks(&self, unit: Unit, count: u32) -> Result<(), Trouble> {
        let marks = match unit {
            Unit::Second => &self.draft.seconds,
            Unit::Minute => &self.draft.minutes,
            _ if count > 1 => &self.draft.hours,
            _ => return Ok(()),
        };
        if marks.set == 0 {
            return Ok(());
        }
        let message = "a rate and fixed marks of the same unit do not go together";
        Err(Trouble::new(Code::Contradiction, marks.span.clone(), message)
            .hint("write `every 15 minutes` or `at minutes 0 and 20 past the hour`"))
    }

    fn clock_of_rate(&mut self, unit: Unit, count: u32) -> Result<Clock, Trouble> {
        self.check_marks(unit, count)?;
        let Marks { set: seconds, .. } = self.draft.seconds;
        let minutes = self.draft.minutes.named();
        let seconds = match unit {
            Unit::Second => self.draft.seconds.counted(count, 59),
            _ if seconds == 0 => self.draft.seconds.named().max(1),
            _ => seconds,
        };
        if unit == Unit::Hour {
            return self.clock_of_hours(count, seconds);
        }
        let mut minutes = match unit {
            Unit::Minute => self.draft.minutes.counted(count, 59),
            _ if minutes != 0 => minutes,
            _ => self.draft.rate(Unit::Minute).map_or(ALL_60, |rate| steps(0, 59, rate.count)),
        };
        let mut hours = self.draft.hours.named();
        if let Some(rate) = self.draft.rate(Unit::Hour)
            && rate.count > 1
        {
            hours = self.draft.hours.counted(rate.count, 23);
        }
        let from_windows = self.fold_windows(unit, count)?;
        if let Some(folded) = from_windows {
            hours = if hours == 0 { folded.hours } else { hours & folded.hours };
            minutes = folded.minutes.unwrap_or(minutes);
            if hours == 0 {
                return Err(self.contradiction("the hours and the window have nothing in common"));
            }
        }
        let hours = self.without_excluded(if hours == 0 { ALL_24 } else { hours })?;
        Ok(Clock { seconds, minutes, hours })
    }

    /// `every 2 hours`: counted from the window's start if there is one, both its ends included.
    fn clock_of_hours(&mut self, count: u32, seconds: u64) -> Result<Clock, Trouble> {
        let mut minutes = self.draft.minutes.named();
        let windows = std::mem::take(&mut self.draft.windows);
        if windows.is_empty() {
            let hours = match self.draft.hours.set {
                0 => self.draft.hours.counted(count, 23),
                set => set,
            };
            let hours = self.left_hours(hours, minutes.max(1))?;
            return Ok(Clock { seconds, minutes: minutes.max(1), hours });
        }
        let mut hours = 0;
        for window in &windows {
            if minutes == 0 {
                minutes = 1 << (window.from % 60);
            }
            let offset = minutes.trailing_zeros();
            let length =
                if window.to == window.from { 1440 } else { (window.to + 1440 - window.from) % 1440 };
            let first = (window.from.saturating_sub(offset)).div_ceil(60);
            for hour in (first..first + 24).step_by(count as usize) {
                if hour * 60 + offset <= window.from + length && (hour < 24 || window.to < window.from) {
                    hours |= 1 << (hour % 24);
                }
            }
            if window.to % 60 == 0 && hours >> (window.to / 60 % 24) & 1 == 1 && window.end == End::Open {
                self.draft.assume(format!("{:02}:00 is included", window.to / 60 % 24));
            }
        }
        let hours = self.left_hours(hours, minutes)?;
        Ok(Clock { seconds, minutes, hours })
    }

    /// The hours whose tick was not left out.
    fn left_hours(&self, hours: u64, minutes: u64) -> Result<u64, Trouble> {
        let offset = minutes.trailing_zeros();
        let left = (0..24).filter(|hour| hours >> hour & 1 == 1 && !self.is_excluded(hour * 60 + offset));
        match left.fold(0, |bits, hour| bits | 1 << hour) {
            0 => Err(self.contradiction("no hour is left")),
            left => Ok(left),
        }
    }

    /// Marks without a rate: `at 15 minutes past the hour`. Nothing at all means midnight.
    fn clock_of_marks(&mut self) -> Result<Clock, Trouble> {
        let (seconds, minutes, mut hours) =
            (self.draft.seconds.named(), self.draft.minutes.named(), self.draft.hours.named());
        if let Some(window) = self.draft.windows.first()
            && minutes == 0
            && seconds == 0
            && hours == 0
        {
            let from = window.from;
            self.draft.windows.clear();
            self.draft.assume(format!("the window's start, {:02}:{:02}, is the time", from / 60, from % 60));
            return Ok(Clock { seconds: 1, minutes: 1 << (from % 60), hours: 1 << (from / 60 % 24) });
        }
        if let Some(folded) = self.fold_windows(Unit::Minute, 1)? {
            hours = if hours == 0 { folded.hours } else { hours & folded.hours };
        }
        if seconds == 0 && minutes == 0 && hours == 0 {
            self.draft.assume("no time of day is given: midnight");
            return Ok(Clock { seconds: 1, minutes: 1, hours: 1 });
        }
        let or = |set: u64, other: u64| if set == 0 { other } else { set };
        let is_only_seconds = minutes == 0 && hours == 0;
        let minutes = or(minutes, if is_only_seconds { ALL_60 } else { 1 });
        let hours = self.without_excluded(or(hours, ALL_24))?;
        Ok(Clock { seconds: or(seconds, 1), minutes, hours })
    }

    /// Times of day. Different minutes at different hours need a window to keep them apart.
    fn clock_of_times(&mut self) -> Result<Clock, Trouble> {
        if self.draft.minutes.named() != 0 || self.draft.hours.named() != 0 {
            return Err(self.contradiction("a time of day and minutes past the hour do not go together"));
        }
        let mut wanted: Vec<u32> = self.draft.times.iter().map(Time::second_of_day).collect();
        wanted.sort_unstable();
        wanted.dedup();
        wanted.retain(|time| !self.is_excluded(time / 60));
        if wanted.is_empty() {
            return Err(self.contradiction("no time is left"));
        }
        self.check_in_windows(&wanted)?;
        let second = wanted[0] % 60;
        if wanted.iter().any(|time| time % 60 != second) {
            return Err(self.two_schedules("times with different seconds are two schedules"));
        }
        let minutes: Vec<u32> = wanted.iter().map(|time| time / 60).collect();
        let (minute_set, hour_set) =
            minutes.iter().fold((0u64, 0u64), |(m, h), time| (m | 1 << (time % 60), h | 1 << (time / 60)));
        if minute_set.count_ones() * hour_set.count_ones() != u32::try_from(minutes.len()).unwrap_or(0) {
            let all: Vec<u32> = (0..1440)
                .filter(|time| hour_set >> (time / 60) & 1 == 1 && minute_set >> (time % 60) & 1 == 1)
                .collect();
            let Some((from, to)) = gap_free(&all, &minutes) else {
                return Err(self.two_schedules("these times cannot be one cron expression"));
            };
            self.set_only_between(from, to);
        }
        Ok(Clock { seconds: self.draft.seconds.set.max(1 << second), minutes: minute_set, hours: hour_set })
    }

    fn check_in_windows(&mut self, wanted: &[u32]) -> Result<(), Trouble> {
        for window in std::mem::take(&mut self.draft.windows) {
            let inside = |time: u32| {
                if window.from <= window.to {
                    (window.from..=window.to).contains(&time)
                } else {
                    time >= window.from || time <= window.to
                }
            };
            if !wanted.iter().all(|time| inside(time / 60)) {
                return Err(Trouble::new(
                    Code::Contradiction,
                    window.span,
                    "the time lies outside this window",
                ));
            }
        }
        Ok(())
    }
}

/// Whether the times are all of a day that lie so many hours apart.
fn is_spaced(times: &[Time], hours: u32) -> bool {
    let mut seconds: Vec<u32> = times.iter().map(Time::second_of_day).collect();
    seconds.sort_unstable();
    24 % hours == 0
        && u32::try_from(seconds.len()) == Ok(24 / hours)
        && seconds.windows(2).all(|pair| pair[1] - pair[0] == hours * 3600)
}

/// The stretch of the day that holds all wanted minutes and no other of `all`; it ends a minute after the last.
fn gap_free(all: &[u32], wanted: &[u32]) -> Option<(u32, u32)> {
    let count = all.len();
    let is_wanted = |i: usize| wanted.contains(&all[i % count]);
    let first = (0..count).find(|i| is_wanted(*i) && !is_wanted(i + count - 1))?;
    let run = (first..first + count).take_while(|i| is_wanted(*i)).count();
    let to = all[(first + run - 1) % count] + 1;
    (run == wanted.len()).then_some((all[first], to % 1440))
}
