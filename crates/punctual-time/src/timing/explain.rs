//! Why an instant is a tick, or why not: field by field, as data and in words.

use std::fmt;

use jiff::Timestamp;
use jiff::civil::DateTime;

use super::preview::local_time;
use super::{Mark, Timing};
use crate::civil;
use crate::cron::Month;
use crate::walk::{ceil_second, floor_second};
use crate::window::WEEKDAY_NAMES;
use crate::{Cron, DayJoin, Field, Fold, Gap, Spec};

/// What a check is about.
///
/// ```
/// use punctual_time::{Cron, Field, Subject, Timing, Zone};
///
/// let timing = Timing::new("0 9 * * *".parse::<Cron>()?, Zone::utc());
/// let why = timing.explain("2026-01-01T10:00:00Z".parse().unwrap());
/// let failed: Vec<_> = why.checks.iter().filter(|check| !check.holds).map(|check| check.subject).collect();
/// assert_eq!(failed, [Subject::Field(Field::Hour)]);
/// # Ok::<(), punctual_time::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Subject {
    /// One field of a cron expression.
    Field(Field),
    /// The two day fields together.
    Days,
    /// The multiples of an interval.
    Interval,
    /// The instant of a one-shot.
    Instant,
    /// A clock change.
    ClockChange,
    /// `start_at`.
    StartAt,
    /// `end_at`.
    EndAt,
    /// `max_runs`.
    MaxRuns,
    /// A window or quiet hours.
    Window,
}

/// One condition, whether it holds, and the sentence that says so.
///
/// ```
/// use punctual_time::{Cron, Timing, Zone};
///
/// let timing = Timing::new("0 9 * * *".parse::<Cron>()?, Zone::utc());
/// let why = timing.explain("2026-01-01T10:00:00Z".parse().unwrap());
/// let hour = why.checks.iter().find(|check| !check.holds).unwrap();
/// assert_eq!(hour.text, "hour 10 is not in `9`");
/// # Ok::<(), punctual_time::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// What it is about.
    pub subject: Subject,
    /// Whether the instant passes.
    pub holds: bool,
    /// In words.
    pub text: String,
}

/// Why an instant is a tick, or why not.
///
/// ```
/// use punctual_time::{Cron, Timing, Zone};
///
/// let timing = Timing::new("0 9 * * 1-5".parse::<Cron>()?, Zone::get("Europe/Paris")?);
/// let why = timing.explain("2026-11-15T08:00:00Z".parse().unwrap());
/// assert_eq!(
///     why.to_string(),
///     "2026-11-15T09:00:00 in Europe/Paris is not a tick of `0 9 * * 1-5`\n\
///      yes  minute 0 is in `0`\n\
///      yes  hour 9 is in `9`\n\
///      yes  day-of-month 15 is in `*`\n\
///      yes  month 11 is in `*`\n\
///      no   day-of-week sunday is not in `1-5`\n"
/// );
/// # Ok::<(), punctual_time::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// The instant asked about.
    pub at: Timestamp,
    /// What the zone's clock shows then.
    pub local: DateTime,
    /// Whether it is a planned tick, windows aside.
    pub is_tick: bool,
    /// Whether it fires: a tick, and no window suppresses it.
    pub fires: bool,
    /// The conditions one by one.
    pub checks: Vec<Check>,
    /// The spec that was asked.
    pub spec: Spec,
    /// The name of the zone whose clock was read.
    pub zone: String,
}

impl Timing {
    /// Why the second that contains an instant is a tick, or why not.
    ///
    /// ```
    /// use punctual_time::{Cron, Timing, Zone};
    ///
    /// let timing = Timing::new("30 2 * * *".parse::<Cron>()?, Zone::get("America/New_York")?);
    /// let why = timing.explain("2025-03-09T03:00:00-04:00".parse().unwrap());
    /// assert!(why.fires);
    /// assert!(why.to_string().contains("stands for 02:30:00, which the clock skipped"));
    /// # Ok::<(), punctual_time::Error>(())
    /// ```
    pub fn explain(&self, at: Timestamp) -> Explanation {
        let second = floor_second(at);
        let local = second + i64::from(self.zone.segment(second).offset);
        let mut checks = Vec::new();
        match &self.spec {
            Spec::Cron(cron) => explain_cron(cron, local, &mut checks),
            Spec::Every(interval) => {
                let is_multiple = self.is_planned(second);
                let which = if is_multiple { "is" } else { "is not" };
                let text = format!(
                    "the time {which} a multiple of `{interval}` from its anchor (`{}`)",
                    self.anchor
                );
                checks.push(Check { subject: Subject::Interval, holds: is_multiple, text });
            }
            Spec::Once(once) => {
                let holds = floor_second(once.instant()) == second;
                let text = format!("the only tick is `{once}`");
                checks.push(Check { subject: Subject::Instant, holds, text });
            }
        }
        let is_tick = self.is_planned(second);
        self.explain_clock(second, &mut checks);
        self.explain_bounds(second, &mut checks);
        let suppressed = self.windows_stretch(second).map(|stretch| stretch.cause);
        if !self.windows.is_open() {
            let text = suppressed.as_ref().map_or("no window suppresses it".to_owned(), ToString::to_string);
            checks.push(Check { subject: Subject::Window, holds: suppressed.is_none(), text });
        }
        Explanation {
            at,
            local: local_time(local),
            is_tick,
            fires: is_tick && suppressed.is_none() && !self.is_exhausted(),
            checks,
            spec: self.spec,
            zone: self.zone.name().to_owned(),
        }
    }

    fn is_planned(&self, second: i64) -> bool {
        self.planned_at_or_after(second) == Some(second)
    }

    fn explain_clock(&self, second: i64, checks: &mut Vec<Check>) {
        let is_tick = self.is_planned(second);
        let policy = self.dst.policy(self.spec.clock());
        let text = match (self.mark(second), is_tick) {
            (Some(Mark::Shifted { from }), true) => {
                format!("stands for {}, which the clock skipped", from.time())
            }
            (Some(Mark::FirstPass), true) if policy.fold == Fold::First => {
                "the first of two passes counts".to_owned()
            }
            (Some(Mark::FirstPass | Mark::SecondPass), true) => "the clock repeats this hour".to_owned(),
            (Some(Mark::FirstPass), false) if policy.fold == Fold::Last => {
                "the second of two passes counts".to_owned()
            }
            (Some(Mark::SecondPass), false) if policy.fold == Fold::First => {
                "the clock repeats this hour, and the first pass counts".to_owned()
            }
            _ => return self.explain_gap(second, checks),
        };
        checks.push(Check { subject: Subject::ClockChange, holds: is_tick, text });
    }

    /// Says what was skipped just before, if nothing stands for it.
    fn explain_gap(&self, second: i64, checks: &mut Vec<Check>) {
        let segment = self.zone.segment(second);
        let policy = self.dst.policy(self.spec.clock());
        if second == segment.start && segment.gap() > 0 && policy.gap == Gap::Skip {
            let text = format!(
                "the clock skipped {} minutes just before; skipped times do not fire",
                segment.gap() / 60
            );
            checks.push(Check { subject: Subject::ClockChange, holds: true, text });
        }
    }

    fn explain_bounds(&self, second: i64, checks: &mut Vec<Check>) {
        if let Some(start) = self.bounds.start_at {
            let holds = second >= ceil_second(start);
            let text = format!("`start_at` is {start}");
            checks.push(Check { subject: Subject::StartAt, holds, text });
        }
        if let Some(end) = self.bounds.end_at {
            let holds = second <= floor_second(end);
            let text = format!("`end_at` is {end}");
            checks.push(Check { subject: Subject::EndAt, holds, text });
        }
        if let Some(max) = self.bounds.max_runs {
            let text = format!("{} of `{max}` runs have been", self.runs);
            checks.push(Check { subject: Subject::MaxRuns, holds: self.runs < max, text });
        }
    }
}

fn explain_cron(cron: &Cron, local: i64, checks: &mut Vec<Check>) {
    let (day, time) = civil::split(local);
    let date = civil::date(day);
    let texts = cron.field_texts();
    let month = Month {
        first_weekday: civil::weekday(day - i64::from(date.day) + 1),
        len: civil::month_len(date.year, date.month),
    };
    let by_day = cron.is_star(Field::DayOfMonth) || cron.month_days(month) >> date.day & 1 == 1;
    let by_weekday = cron.is_star(Field::DayOfWeek) || cron.week_days(month) >> date.day & 1 == 1;
    if !cron.has_seconds() && time % 60 != 0 {
        let text = format!("second {} is not in `0`, for the spec names none", time % 60);
        checks.push(Check { subject: Subject::Field(Field::Second), holds: false, text });
    }
    for (field, text) in texts {
        let (value, holds) = match field {
            Field::Second => (time % 60, cron.set(field).contains(time % 60)),
            Field::Minute => (time / 60 % 60, cron.set(field).contains(time / 60 % 60)),
            Field::Hour => (time / 3600, cron.set(field).contains(time / 3600)),
            Field::DayOfMonth => (date.day, by_day),
            Field::Month => (date.month, cron.set(field).contains(date.month)),
            Field::DayOfWeek => (civil::weekday(day), by_weekday),
            Field::Year => (date.year.unsigned_abs(), cron.has_year(date.year)),
        };
        let value = if field == Field::DayOfWeek {
            WEEKDAY_NAMES[value as usize].to_owned()
        } else {
            value.to_string()
        };
        let which = if holds { "is" } else { "is not" };
        checks.push(Check {
            subject: Subject::Field(field),
            holds,
            text: format!("{field} {value} {which} in `{text}`"),
        });
    }
    let restricts_both = !cron.is_star(Field::DayOfMonth) && !cron.is_star(Field::DayOfWeek);
    if restricts_both {
        let (holds, text) = match cron.day_join() {
            DayJoin::Either => (by_day || by_weekday, "either of the two day fields is enough"),
            DayJoin::Both => (by_day && by_weekday, "both day fields are needed"),
        };
        checks.push(Check { subject: Subject::Days, holds, text: text.to_owned() });
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let which = if self.is_tick { "is" } else { "is not" };
        let suppressed = if self.is_tick && !self.fires { ", but does not fire" } else { "" };
        writeln!(f, "{} in {} {which} a tick of `{}`{suppressed}", self.local, self.zone, self.spec)?;
        for check in &self.checks {
            writeln!(f, "{}  {}", if check.holds { "yes" } else { "no " }, check.text)?;
        }
        Ok(())
    }
}
