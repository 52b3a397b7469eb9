//! The clock fields in words: `every 15 minutes between 09:00 and 17:59`, or a list of times.

use super::limit::between;
use super::list::{Progression, and, divisor, ordinal, progression, runs, units};
use crate::{Cron, DayRange, Field, Set};

/// The longest list of times of day that reads better than a rule.
const TIMES_MAX: u32 = 6;

/// The most stretches of hours that are written one by one.
const STRETCHES_MAX: usize = 3;

/// What the clock fields say.
pub(super) enum ClockText {
    /// A few times a day, ready to follow `at`.
    Times(String),
    /// A rule that begins with `every` or `at`.
    Rule(String),
}

/// The clock fields in words, and the window unless they already tell it.
pub(super) struct Clock {
    pub(super) text: ClockText,
    pub(super) window: Option<DayRange>,
}

/// The clock fields of a cron, limited by a window if there is one.
pub(super) fn clock(cron: &Cron, window: Option<DayRange>) -> Clock {
    let sets = Sets {
        seconds: cron.set(Field::Second),
        minutes: cron.set(Field::Minute),
        hours: cron.set(Field::Hour),
    };
    if let Some(range) = window {
        return sets.within(range);
    }
    if let Some(rule) = sets.every_hours() {
        return Clock { text: ClockText::Rule(rule), window };
    }
    if let Some(times) = sets.times(None) {
        return Clock { text: ClockText::Times(times), window };
    }
    if let Some(rule) = sets.within_one_hour() {
        return Clock { text: ClockText::Rule(rule), window };
    }
    let rule = sets.rule();
    let hours = sets.hours_text(&rule);
    Clock { text: ClockText::Rule(format!("{rule}{hours}")), window }
}

struct Sets {
    seconds: Set,
    minutes: Set,
    hours: Set,
}

impl Sets {
    fn is_on_the_minute(&self) -> bool {
        self.seconds.len() == 1 && self.seconds.contains(0)
    }

    /// One minute of several hours: `every 2 hours`, `every hour from 09:30 through 17:30`.
    fn every_hours(&self) -> Option<String> {
        if !self.is_on_the_minute() || self.minutes.len() != 1 {
            return None;
        }
        let minute = self.minutes.first()?;
        if self.hours.len() == 24 {
            return Some(match minute {
                0 => "every hour".to_owned(),
                1 => "at 1 minute past every hour".to_owned(),
                minute => format!("at {minute} minutes past every hour"),
            });
        }
        if let Some(step) = divisor(self.hours, 24)
            && self.hours.len() > 2
        {
            let rate = format!("every {step} hours");
            return Some(match minute {
                0 => rate,
                minute => format!("{rate} at {} past the hour", units_of(minute, "minute")),
            });
        }
        let Progression { from, to, step } = progression(self.hours)?;
        (self.hours.len() >= 4).then(|| {
            format!("every {} from {from:02}:{minute:02} through {to:02}:{minute:02}", units(step, "hour"))
        })
    }

    /// With a window: the times it leaves, or a rule whose hours it replaces where they are those it covers.
    fn within(&self, range: DayRange) -> Clock {
        if let Some(times) = self.times(Some(range)) {
            return Clock { text: ClockText::Times(times), window: None };
        }
        let rule = self.rule();
        let covered = (0..24).filter(|hour| (0..3600).step_by(60).any(|s| range.contains(hour * 3600 + s)));
        let covered = covered.fold(0u64, |bits, hour| bits | 1 << hour);
        if covered == self.hours.bits() || self.hours.len() == 24 {
            return Clock { text: ClockText::Rule(format!("{rule}{}", between(range))), window: None };
        }
        let hours = self.hours_text(&rule);
        Clock { text: ClockText::Rule(format!("{rule}{hours}")), window: Some(range) }
    }

    /// A short list of times, those of the window only if there is one.
    fn times(&self, window: Option<DayRange>) -> Option<String> {
        let count = self.minutes.len() * self.hours.len();
        if self.seconds.len() != 1 || self.hours.len() == 24 || count > TIMES_MAX {
            return None;
        }
        // Several minutes of one hour read better as a rule, if there is one.
        if self.hours.len() == 1 && self.minutes.len() > 2 && progression(self.minutes).is_some() {
            return None;
        }
        let second = self.seconds.first()?;
        let is_open = |at: u32| window.is_none_or(|range| range.contains(at));
        let mut times = Vec::new();
        for hour in self.hours.iter() {
            for minute in self.minutes.iter().filter(|minute| is_open(hour * 3600 + minute * 60 + second)) {
                times.push(match (hour, minute, second) {
                    (0, 0, 0) if count == 1 => "midnight".to_owned(),
                    (12, 0, 0) if count == 1 => "noon".to_owned(),
                    (hour, minute, 0) => format!("{hour:02}:{minute:02}"),
                    (hour, minute, second) => format!("{hour:02}:{minute:02}:{second:02}"),
                });
            }
        }
        (!times.is_empty()).then(|| and(&times))
    }

    /// `every 3 minutes from 09:00 through 09:18`.
    fn within_one_hour(&self) -> Option<String> {
        if !self.is_on_the_minute() || self.hours.len() != 1 || divisor(self.minutes, 60).is_some() {
            return None;
        }
        let hour = self.hours.first()?;
        let Progression { from, to, step } = progression(self.minutes)?;
        Some(format!("every {} from {hour:02}:{from:02} through {hour:02}:{to:02}", units(step, "minute")))
    }

    /// Seconds and minutes, without the hours.
    fn rule(&self) -> String {
        let minutes = Part { set: self.minutes, unit: "minute", whole: "hour" };
        if self.is_on_the_minute() {
            if self.minutes.len() == 1 && self.minutes.contains(0) {
                return "on the hour".to_owned();
            }
            return minutes.rate().unwrap_or_else(|| format!("at {}", minutes.past()));
        }
        let seconds = Part { set: self.seconds, unit: "second", whole: "minute" };
        if let Some(rate) = seconds.rate() {
            return match self.minutes.len() {
                60 => rate,
                _ => format!("{rate} during {}", minutes.during()),
            };
        }
        match minutes.rate() {
            Some(rate) => format!("{rate} at {}", seconds.past()),
            None => format!("at {} of {}", seconds.marks(), minutes.marks()),
        }
    }

    /// The hours after a rule, or what closes it.
    fn hours_text(&self, rule: &str) -> String {
        let is_minute = rule.contains("during minute");
        if self.hours.len() == 24 {
            return if is_minute { " of every hour".to_owned() } else { String::new() };
        }
        if let Some(step) = divisor(self.hours, 24)
            && self.hours.len() > 2
        {
            let joint = if is_minute { "of" } else { "during" };
            return format!(" {joint} every {} hour", ordinal(step));
        }
        let stretches = stretches(self.hours);
        if stretches.len() <= STRETCHES_MAX {
            let texts: Vec<String> =
                stretches.iter().map(|(from, to)| format!("between {from:02}:00 and {to:02}:59")).collect();
            return format!(" {}", and(&texts));
        }
        format!(" during hours {}", and(&runs(self.hours, |hour| hour.to_string())))
    }
}

/// Seconds of a minute, or minutes of an hour.
struct Part {
    set: Set,
    unit: &'static str,
    whole: &'static str,
}

impl Part {
    /// `every 5 minutes`, `every 3 minutes from minute 0 through 18`; none for a plain list.
    fn rate(&self) -> Option<String> {
        let unit = self.unit;
        if self.set.len() > 1
            && let Some(step) = divisor(self.set, 60)
        {
            return Some(format!("every {}", units(step, unit)));
        }
        let Progression { from, to, step } = progression(self.set)?;
        let rate = format!("every {}", units(step, unit));
        if to + step > 59 && step > 1 {
            return Some(format!("{rate} starting at {unit} {from}"));
        }
        Some(format!("{rate} from {unit} {from} through {to}"))
    }

    /// `minute 5`, `minutes 5 through 10 and 20`.
    fn marks(&self) -> String {
        let list = and(&runs(self.set, |value| value.to_string()));
        let plural = if self.set.len() == 1 { "" } else { "s" };
        format!("{}{plural} {list}", self.unit)
    }

    /// `5 minutes past the hour`, `minutes 5 through 10 past the hour`.
    fn past(&self) -> String {
        match (self.set.len(), self.set.first()) {
            (1, Some(value)) => format!("{} past the {}", units_of(value, self.unit), self.whole),
            _ => format!("{} past the {}", self.marks(), self.whole),
        }
    }

    /// What may follow `during`.
    fn during(&self) -> String {
        match divisor(self.set, 60) {
            Some(step) if self.set.len() > 2 => format!("every {} {}", ordinal(step), self.unit),
            _ => self.marks(),
        }
    }
}

/// `1 minute`, `5 minutes`.
fn units_of(count: u32, unit: &str) -> String {
    if count == 1 { format!("1 {unit}") } else { format!("{count} {unit}s") }
}

/// Runs of hours; one that goes over midnight is one run.
fn stretches(hours: Set) -> Vec<(u32, u32)> {
    let mut found: Vec<(u32, u32)> = Vec::new();
    for hour in hours.iter() {
        match found.last_mut() {
            Some((_, to)) if *to + 1 == hour => *to = hour,
            _ => found.push((hour, hour)),
        }
    }
    if let [(0, end), .., (start, 23)] = found.as_slice() {
        let (start, end) = (*start, *end);
        found.remove(0);
        found.pop();
        found.push((start, end));
    }
    found
}
