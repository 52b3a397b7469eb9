//! Phrases that stand for others: `three times a day`, `at the end of the month`, `every morning`, `once on june 1`.

use super::super::clock::half_of;
use super::super::date::{next_date, next_weekday};
use super::super::draft::{Day, Edge, EdgeOf, End, Moment, MonthDay, Part, Rate, Time, TimesPer, Window};
use super::super::month::quarter_months;
use super::super::trouble::{Code, Trouble};
use super::super::words::{self, Unit};
use super::Builder;
use std::ops::Range;

impl Builder {
    /// Replaces them all by plain times, days and rates.
    pub(super) fn settle(&mut self) -> Result<(), Trouble> {
        self.settle_counts()?;
        self.settle_edge()?;
        self.settle_dates()?;
        self.settle_start();
        // 24:00 as a start is the midnight that begins the day.
        for window in self.draft.windows.iter_mut().chain(&mut self.draft.not_windows) {
            window.from %= 1440;
        }
        self.settle_rates();
        self.settle_times()
    }

    fn set_rate(&mut self, unit: Unit, count: u32, span: &Range<usize>) {
        self.draft.rates[unit as usize] = Some(Rate { count, span: span.clone() });
    }

    /// `three times a day`.
    fn settle_counts(&mut self) -> Result<(), Trouble> {
        let Some(TimesPer { count, unit, span }) = self.draft.times_per.take() else { return Ok(()) };
        let odd = |what: &str| {
            Trouble::new(
                Code::Contradiction,
                span.clone(),
                format!("{count} times do not divide {what} evenly"),
            )
            .hint("name the times: `at 9am, 1pm and 5pm`")
        };
        match unit {
            Unit::Day if !self.draft.times.is_empty() => self.set_rate(Unit::Day, 1, &span),
            Unit::Day if self.draft.windows.len() == 1 => return self.spread_over_window(count, &span),
            Unit::Day if 24 % count == 0 => self.set_rate(Unit::Hour, 24 / count, &span),
            Unit::Day if 1440 % count == 0 => self.set_rate(Unit::Minute, 1440 / count, &span),
            Unit::Day => return Err(odd("a day")),
            Unit::Hour if 60 % count == 0 => self.set_rate(Unit::Minute, 60 / count, &span),
            Unit::Hour if 3600 % count == 0 => self.set_rate(Unit::Second, 3600 / count, &span),
            Unit::Hour => return Err(odd("an hour")),
            Unit::Minute if 60 % count == 0 => self.set_rate(Unit::Second, 60 / count, &span),
            Unit::Minute => return Err(odd("a minute")),
            Unit::Week => self.spread_over_week(count, &span)?,
            Unit::Month => self.spread_over_month(count, &span)?,
            Unit::Quarter if count == 3 => self.set_rate(Unit::Month, 1, &span),
            Unit::Year if 12 % count == 0 => self.set_rate(Unit::Month, 12 / count, &span),
            Unit::Year => return Err(odd("a year")),
            _ => return Err(odd("it")),
        }
        Ok(())
    }

    /// `three times a day between 9am and 5pm`: both ends and evenly between them.
    fn spread_over_window(&mut self, count: u32, span: &Range<usize>) -> Result<(), Trouble> {
        let Some(window) = self.draft.windows.pop() else { return Ok(()) };
        let length = (window.to + 1440 - window.from) % 1440;
        let gaps = count - 1;
        if !length.is_multiple_of(gaps) {
            let message = format!("{count} times do not divide the window evenly");
            return Err(Trouble::new(Code::Contradiction, span.clone(), message));
        }
        for n in 0..count {
            let minute = (window.from + length / gaps * n) % 1440;
            self.draft.times.push(plain(minute, span));
        }
        self.draft.assume(format!("{count} times are spread evenly, both ends included"));
        Ok(())
    }

    fn spread_over_week(&mut self, count: u32, span: &Range<usize>) -> Result<(), Trouble> {
        if self.draft.days.weekdays != 0 {
            return Ok(());
        }
        let (mask, names) = match count {
            2 => (0b001_0010, "Monday and Thursday"),
            3 => (0b010_1010, "Monday, Wednesday and Friday"),
            4 => (0b011_0110, "Monday, Tuesday, Thursday and Friday"),
            5 => (words::WORKDAYS, "Monday to Friday"),
            6 => (0b111_1110, "Monday to Saturday"),
            7 => (0b111_1111, "every day"),
            _ => {
                let message = format!("a week has seven days, not {count}");
                return Err(Trouble::new(Code::Contradiction, span.clone(), message)
                    .hint("write `twice a day`, or name the times: `every day at 9am and 5pm`"));
            }
        };
        self.draft.days.weekdays = mask;
        self.draft.assume(format!("{count} times a week is read as {names}"));
        Ok(())
    }

    fn spread_over_month(&mut self, count: u32, span: &Range<usize>) -> Result<(), Trouble> {
        if !self.draft.days.is_empty() {
            return Ok(());
        }
        let (mask, names): (u32, &str) = match count {
            2 => (1 << 1 | 1 << 15, "the 1st and 15th"),
            3 => (1 << 1 | 1 << 11 | 1 << 21, "the 1st, 11th and 21st"),
            4 => (1 << 1 | 1 << 8 | 1 << 15 | 1 << 22, "the 1st, 8th, 15th and 22nd"),
            _ => {
                let message = format!("`{count} times a month` leaves the days open");
                return Err(Trouble::new(Code::Ambiguous, span.clone(), message)
                    .hint("name the days: `on the 1st, 10th and 20th`"));
            }
        };
        self.draft.days.month_days = mask;
        self.draft.assume(format!("{count} times a month is read as {names}"));
        Ok(())
    }

    /// `at the end`, of what the rate counts unless it was said.
    fn settle_edge(&mut self) -> Result<(), Trouble> {
        let Some(EdgeOf { edge, unit }) = self.draft.edge.take() else { return Ok(()) };
        let unit = unit.or_else(|| self.finest().map(|(unit, _)| unit)).unwrap_or(Unit::Month);
        let days = &mut self.draft.days;
        let first = 1u32 << 1;
        match (edge, unit) {
            (Edge::Start, Unit::Month) => days.month_days |= first,
            (Edge::Middle, Unit::Month) => days.month_days |= 1 << 15,
            (Edge::End, Unit::Month) => days.before_end.push(0),
            (Edge::Start, Unit::Quarter) => {
                days.month_days |= first;
                self.draft.months |= quarter_months(1);
            }
            (Edge::End, Unit::Quarter) => {
                days.before_end.push(0);
                self.draft.months |= quarter_months(3);
            }
            (Edge::Start, Unit::Year) => self.draft.dates.push(MonthDay { month: 1, day: 1 }),
            (Edge::Middle, Unit::Year) => self.draft.dates.push(MonthDay { month: 7, day: 1 }),
            (Edge::End, Unit::Year) => self.draft.dates.push(MonthDay { month: 12, day: 31 }),
            (Edge::Start, Unit::Week) => days.weekdays |= 1 << 1,
            (Edge::Middle, Unit::Week) => days.weekdays |= 1 << 3,
            (Edge::End, Unit::Week) => days.weekdays |= 1,
            (Edge::Start, Unit::Day) => self.draft.times.push(plain(0, &(0..0))),
            (Edge::End, Unit::Day) => self.draft.times.push(plain(23 * 60 + 59, &(0..0))),
            (Edge::Start, Unit::Hour) => self.draft.minutes.set |= 1,
            (Edge::End, Unit::Hour) => self.draft.minutes.set |= 1 << 59,
            _ => return Err(self.contradiction("it is not clear which day is meant")),
        }
        if unit == Unit::Year {
            self.set_rate(Unit::Year, 1, &(0..0));
        }
        match (edge, unit) {
            (Edge::Start, Unit::Week) => self.draft.assume("a week begins on Monday"),
            (Edge::End, Unit::Week) => self.draft.assume("a week ends on Sunday"),
            (Edge::Middle, _) => self.draft.assume("the middle is the 15th of a month, 1 July of a year"),
            (Edge::End, Unit::Day) => self.draft.assume("the end of the day is 23:59"),
            _ => {}
        }
        Ok(())
    }

    /// `once on june 1`, `once on friday`: the next one.
    fn settle_dates(&mut self) -> Result<(), Trouble> {
        if !self.draft.is_once || self.draft.once.is_some() {
            return Ok(());
        }
        let days = std::mem::take(&mut self.draft.days);
        let dates = std::mem::take(&mut self.draft.dates);
        let has_rate = self.draft.rates.iter().any(Option::is_some) || self.draft.times_per.is_some();
        let day = match dates.as_slice() {
            _ if has_rate => return Err(self.contradiction("once and a repetition do not go together")),
            [date] if days.is_empty() => Day::On(next_date(self.now.date(), *date, self.whole.clone())?),
            [] if days.is_empty() && !self.draft.times.is_empty() => Day::Next,
            [] if days.weekdays.count_ones() == 1 && !days.has_month_days() => {
                let weekday = u8::try_from(days.weekdays.trailing_zeros()).unwrap_or(0);
                Day::On(next_weekday(self.now.date(), weekday))
            }
            _ => {
                return Err(self
                    .contradiction("once needs one day")
                    .hint("write `once on 2030-06-01 at 9am`"));
            }
        };
        self.draft.once = Some(Moment { day, time: None, span: self.whole.clone() });
        Ok(())
    }

    /// `starting at 9am until 5pm` is a window; `every day starting tomorrow at 9am` is at 9am.
    fn settle_start(&mut self) {
        let is_clock = |moment: &Option<Moment>| moment.as_ref().is_some_and(|m| m.day == Day::Next);
        if is_clock(&self.draft.start) && is_clock(&self.draft.end) {
            let times = (self.draft.start.take(), self.draft.end.take());
            if let (Some(Moment { time: Some(from), span, .. }), Some(Moment { time: Some(to), .. })) = times
            {
                let (from, to) = (from.minute_of_day(), to.minute_of_day());
                let window = Window { from, to, end: End::Open, span };
                self.draft.windows.push(window);
            }
        }
        let is_daily = self.finest().is_none_or(|(unit, _)| unit >= Unit::Day);
        if self.draft.times.is_empty()
            && is_daily
            && self.draft.literal.is_none()
            && let Some(time) = self.draft.start.as_ref().and_then(|start| start.time.clone())
        {
            self.draft.times.push(time);
        }
        let has_marks = self.draft.minutes.set | self.draft.hours.set | self.draft.seconds.set != 0;
        if self.draft.times.is_empty()
            && is_daily
            && !has_marks
            && self.draft.part.is_none()
            && self.draft.once.is_none()
            && let Some(end) = self.draft.end.as_mut().filter(|end| end.day != Day::Next)
        {
            // `weekdays until 31 august at 8am`: the time is that of the ticks.
            self.draft.times.extend(end.time.take());
        }
    }

    /// 60 minutes are an hour, 24 hours a day, a quarter three months.
    fn settle_rates(&mut self) {
        if self.draft.literal.is_some() {
            return;
        }
        for (small, big, size) in [(Unit::Second, Unit::Minute, 60), (Unit::Minute, Unit::Hour, 60)] {
            if let Some(rate) = self.draft.rate(small).cloned()
                && rate.count % size == 0
                && self.draft.rate(big).is_none_or(|big| big.count == 1)
            {
                self.draft.rates[small as usize] = None;
                self.set_rate(big, rate.count / size, &rate.span);
            }
        }
        if let Some(rate) = self.draft.rate(Unit::Hour).cloned()
            && rate.count == 24
            && self.draft.rate(Unit::Minute).is_none()
            && self.draft.rate(Unit::Second).is_none()
        {
            self.draft.rates[Unit::Hour as usize] = None;
            self.set_rate(Unit::Day, 1, &rate.span);
        }
        if let Some(rate) = self.draft.rates[Unit::Quarter as usize].take() {
            self.draft.is_quarter = true;
            self.set_rate(Unit::Month, rate.count.saturating_mul(3), &rate.span);
        }
    }

    /// Decides am or pm of bare numbers, and the time that a part of the day stands for.
    fn settle_times(&mut self) -> Result<(), Trouble> {
        let part = self.draft.part;
        let mut times = std::mem::take(&mut self.draft.times);
        for time in &mut times {
            if time.hour == 24 {
                return Err(Trouble::new(Code::Contradiction, time.span.clone(), "a day ends before 24:00")
                    .hint("write `00:00` or `midnight`"));
            }
            if time.half.is_some() || !(1..=12).contains(&time.hour) {
                continue;
            }
            match part {
                Some(part) => time.half = Some(half_of(part, time.hour)),
                None if !time.is_bare => {}
                None => {
                    let (hour, minute) = (time.hour, time.minute);
                    self.draft
                        .assume(format!("`{hour}` is read as {hour:02}:{minute:02} on the 24-hour clock"));
                }
            }
        }
        self.draft.times = times;
        self.settle_midnight();
        if let Some(part) = part
            && self.finest().is_some_and(|(unit, _)| unit <= Unit::Hour)
            && self.draft.times.is_empty()
        {
            self.settle_part(part);
        } else if let (Some(part), true) = (part, self.draft.times.is_empty()) {
            let is_once = self.draft.once.is_some();
            let (minute, words) = match part {
                Part::Morning => (9 * 60, "morning is read as 09:00"),
                Part::Afternoon => (15 * 60, "afternoon is read as 15:00"),
                Part::Evening => (18 * 60, "evening is read as 18:00"),
                Part::Night if is_once => (20 * 60, "night is read as 20:00"),
                Part::Night => (0, "night is read as midnight"),
            };
            self.draft.times.push(plain(minute, &self.whole.clone()));
            self.draft.assume(words);
        }
        Ok(())
    }
}

impl Builder {
    /// `every 10 minutes in the morning`: the part of the day is a window.
    fn settle_part(&mut self, part: Part) {
        let (from, to, words) = match part {
            Part::Morning => (6, 12, "morning is read as 06:00 to 12:00"),
            Part::Afternoon => (12, 18, "afternoon is read as 12:00 to 18:00"),
            Part::Evening => (18, 22, "evening is read as 18:00 to 22:00"),
            Part::Night => (22, 6, "night is read as 22:00 to 06:00"),
        };
        let span = self.whole.clone();
        self.draft.windows.push(Window { from: from * 60, to: to * 60, end: End::Open, span });
        self.draft.assume(words);
    }

    /// `tonight at midnight` is the end of the day.
    fn settle_midnight(&mut self) {
        let is_midnight = self.draft.times.iter().all(|time| time.second_of_day() == 0);
        if self.draft.part == Some(Part::Night)
            && is_midnight
            && !self.draft.times.is_empty()
            && let Some(Moment { day: Day::On(date), .. }) = self.draft.once.as_mut()
        {
            *date = date.tomorrow().unwrap_or(*date);
        }
    }
}

/// A time that needs no guess.
fn plain(minute: u32, span: &Range<usize>) -> Time {
    Time {
        hour: u8::try_from(minute / 60 % 24).unwrap_or(0),
        minute: u8::try_from(minute % 60).unwrap_or(0),
        second: 0,
        half: None,
        is_bare: false,
        span: span.clone(),
    }
}
