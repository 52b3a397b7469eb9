//! Moments: the instant of a one-shot, the start and the end.

use super::super::draft::{Day, Moment, Stretch, Time};
use super::super::trouble::{Code, Trouble};
use super::super::words::Unit;
use super::Builder;
use crate::Once;
use jiff::civil::Date;
use jiff::{ToSpan, Zoned};

impl Builder {
    /// A one-shot: nothing else may repeat it.
    pub(super) fn one_shot(&mut self, once: &Moment) -> Result<(), Trouble> {
        let draft = &self.draft;
        let repeats = draft.rates.iter().any(Option::is_some)
            || draft.days.has_month_days()
            || !draft.days.nth.is_empty()
            || !draft.dates.is_empty();
        if repeats {
            return Err(Trouble::new(
                Code::Contradiction,
                once.span.clone(),
                "one moment and a repetition do not go together",
            )
            .hint("write `starting` before the date to begin there"));
        }
        if let Day::On(date) = once.day
            && draft.days.weekdays != 0
            && draft.days.weekdays >> date.weekday().to_sunday_zero_offset() & 1 == 0
        {
            let weekday = date.strftime("%A");
            let message = format!("`{date}` is a {weekday}");
            return Err(Trouble::new(Code::Contradiction, once.span.clone(), message)
                .hint("leave the weekday out, or name the date it falls on"));
        }
        if draft.times.len() > 1 {
            return Err(self.two_schedules("two moments are two schedules"));
        }
        let time = draft.times.first().cloned().or_else(|| once.time.clone());
        if time.is_none() && matches!(once.day, Day::On(_)) {
            self.draft.assume("no time of day is given: midnight");
        }
        if matches!(once.day, Day::After { .. }) && time.is_some() {
            return Err(self.contradiction("a delay and a time of day do not go together"));
        }
        let at = self.instant(&once.day, time.as_ref(), 0)?;
        if at.timestamp() < self.now.timestamp() {
            let message = format!("`{}` is in the past", show(&at));
            return Err(Trouble::new(Code::Contradiction, once.span.clone(), message)
                .hint("name a later moment: `tomorrow at 9am`"));
        }
        self.parsed.at = Some(show(&at));
        Ok(())
    }

    /// The instant of a day and a time; without a time, `default` seconds into the day.
    fn instant(&self, day: &Day, time: Option<&Time>, default: u32) -> Result<Zoned, Trouble> {
        let too_far = || self.contradiction("this is too far away");
        let second = time.map_or(default, Time::second_of_day);
        match day {
            Day::After { seconds } => {
                let whole =
                    jiff::Timestamp::from_second(self.now.timestamp().as_second()).map_err(|_| too_far())?;
                let then = whole.checked_add(seconds.seconds()).map_err(|_| too_far())?;
                Ok(then.to_zoned(self.now.time_zone().clone()))
            }
            Day::On(date) => self.local(*date, second),
            Day::Next => {
                let today = self.local(self.now.date(), second)?;
                if today.timestamp() > self.now.timestamp() {
                    return Ok(today);
                }
                let tomorrow = self.now.date().checked_add(1.day()).map_err(|_| too_far())?;
                self.local(tomorrow, second)
            }
        }
    }

    fn local(&self, date: Date, second: u32) -> Result<Zoned, Trouble> {
        let (hour, minute, second) = (second / 3600 % 24, second / 60 % 60, second % 60);
        let text = format!("{date}T{hour:02}:{minute:02}:{second:02}");
        // The same rule for clock changes as for a one-shot that is written as data.
        let once = Once::parse(&text, &self.zone).map_err(|error| self.contradiction(error.to_string()))?;
        Ok(once.instant().to_zoned(self.now.time_zone().clone()))
    }

    /// `start_at` and `end_at`, from moments, years and durations.
    pub(super) fn bounds(&mut self) -> Result<(), Trouble> {
        const LAST_SECOND: u32 = 86_399;
        let start = self.draft.start.take();
        let mut starts = self.now.clone();
        if let Some(start) = start {
            starts = self.instant(&start.day, start.time.as_ref(), 0)?;
            self.parsed.start_at = Some(show(&starts));
        }
        let mut ends = None;
        if let Some(end) = self.draft.end.take() {
            if end.time.is_none() {
                self.draft.assume("the last day is included");
            }
            let mut day = end.day;
            if day == Day::Next && self.parsed.start_at.is_some() {
                // `starting tomorrow at 9am until 5pm`: the first 5pm after the start.
                let same = self.instant(&Day::On(starts.date()), end.time.as_ref(), LAST_SECOND)?;
                let next = starts.date().tomorrow().unwrap_or(starts.date());
                day = Day::On(if same.timestamp() > starts.timestamp() { starts.date() } else { next });
            }
            ends = Some((self.instant(&day, end.time.as_ref(), LAST_SECOND)?, end.span));
        }
        if let Some(Stretch { from: first, to: last }) = self.draft.years {
            let day = |year: u32, month, day| Date::new(i16::try_from(year).unwrap_or(2199), month, day).ok();
            if let (Some(first), Some(last)) = (day(first, 1, 1), day(last, 12, 31)) {
                starts = self.local(first, 0)?;
                self.parsed.start_at = Some(show(&starts));
                ends = Some((self.local(last, LAST_SECOND)?, self.whole.clone()));
            }
        }
        if let Some(delay) = self.draft.lasting {
            let too_far = || self.contradiction("this is too far away");
            let span = delay.span().ok_or_else(too_far)?;
            let end = starts.checked_add(span).map_err(|_| too_far())?;
            let end = if delay.unit <= Unit::Hour {
                end
            } else {
                end.checked_sub(1.second()).map_err(|_| too_far())?
            };
            ends = Some((end, self.whole.clone()));
        }
        if let Some((end, span)) = ends {
            if end.timestamp() < starts.timestamp() {
                let message =
                    format!("the end, `{}`, comes before the start, `{}`", show(&end), show(&starts));
                return Err(Trouble::new(Code::Contradiction, span, message));
            }
            self.parsed.end_at = Some(show(&end));
        }
        Ok(())
    }
}

/// RFC 3339 with the offset of the zone.
fn show(then: &Zoned) -> String {
    let whole = then.timestamp().as_second();
    let whole = jiff::Timestamp::from_second(whole).unwrap_or(then.timestamp());
    if then.time_zone().iana_name() == Some("UTC") {
        return whole.to_string();
    }
    whole.display_with_offset(then.offset()).to_string()
}
