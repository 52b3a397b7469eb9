//! Ticks one after the other, with the marks of clock changes and windows.

use std::ops::{Bound, RangeBounds};

use jiff::Timestamp;
use jiff::civil::DateTime;

use super::Timing;
use crate::walk::{ceil_second, floor_second};
use crate::{Spec, Suppression, walk};

/// What a clock change did to a tick.
///
/// ```
/// use punctual_time::{Cron, Mark, Timing, Zone};
///
/// let timing = Timing::new("30 2 * * *".parse::<Cron>()?, Zone::get("America/New_York")?);
/// let from: jiff::Timestamp = "2025-03-09T05:00:00Z".parse().unwrap();
/// let tick = timing.ticks(from..).next().unwrap();
/// assert_eq!(tick.mark, Some(Mark::Shifted { from: "2025-03-09T02:30:00".parse().unwrap() }));
/// # Ok::<(), punctual_time::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// It stands for local times that the clock skipped; this is the first of them.
    Shifted {
        /// The local time that does not exist.
        from: DateTime,
    },
    /// Its local time comes again.
    FirstPass,
    /// Its local time has been there before.
    SecondPass,
}

/// A planned instant, and what became of it.
///
/// ```
/// use punctual_time::{Cron, Timing, Zone};
///
/// let mut timing = Timing::new("0 12 * * *".parse::<Cron>()?, Zone::utc());
/// timing.windows.exclude("sunday", &[])?;
/// let from: jiff::Timestamp = "2026-11-15T00:00:00Z".parse().unwrap();
/// let tick = timing.ticks(from..).next().unwrap();
/// assert_eq!(tick.suppressed.unwrap().to_string(), "not on sunday");
/// # Ok::<(), punctual_time::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tick {
    /// The instant.
    pub at: Timestamp,
    /// What a clock change did to it.
    pub mark: Option<Mark>,
    /// The window that keeps it from firing.
    pub suppressed: Option<Suppression>,
}

/// The ticks of a stretch of time, suppressed ones included, in ascending order.
///
/// ```
/// use punctual_time::{Cron, Timing, Zone};
///
/// let timing = Timing::new("0 */6 * * *".parse::<Cron>()?, Zone::utc());
/// let midnight: jiff::Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
/// let day = midnight..midnight + jiff::SignedDuration::from_hours(24);
/// assert_eq!(timing.ticks(day).count(), 4);
/// # Ok::<(), punctual_time::Error>(())
/// ```
#[derive(Debug)]
pub struct Ticks<'a> {
    timing: &'a Timing,
    from: i64,
    to: Option<i64>,
    /// Runs that `max_runs` leaves.
    left: u64,
}

impl Timing {
    /// The ticks within a range of instants, suppressed ones included, until `max_runs` would have fired.
    ///
    /// ```
    /// use punctual_time::{Cron, Timing, Zone};
    ///
    /// let mut timing = Timing::new("0 0 * * *".parse::<Cron>()?, Zone::utc());
    /// timing.bounds.max_runs = Some(2);
    /// assert_eq!(timing.ticks(timing.created_at..).count(), 2);
    /// # Ok::<(), punctual_time::Error>(())
    /// ```
    pub fn ticks(&self, range: impl RangeBounds<Timestamp>) -> Ticks<'_> {
        let from = match range.start_bound() {
            Bound::Included(&start) => ceil_second(start),
            Bound::Excluded(&start) => floor_second(start) + 1,
            Bound::Unbounded => floor_second(Timestamp::MIN),
        };
        let to = match range.end_bound() {
            Bound::Included(&end) => Some(floor_second(end)),
            Bound::Excluded(&end) => Some(ceil_second(end) - 1),
            Bound::Unbounded => None,
        };
        let left = self.bounds.max_runs.map_or(u64::MAX, |max| max.saturating_sub(self.runs));
        Ticks { timing: self, from, to, left }
    }

    /// The next ticks strictly after an instant, suppressed ones included.
    ///
    /// ```
    /// use punctual_time::{Cron, Mark, Timing, Zone};
    ///
    /// let timing = Timing::new("30 * * * *".parse::<Cron>()?, Zone::get("Europe/London")?);
    /// let marks: Vec<_> = timing
    ///     .preview("2025-10-25T23:30:00Z".parse().unwrap(), 3)
    ///     .into_iter()
    ///     .map(|tick| tick.mark)
    ///     .collect();
    /// assert_eq!(marks, [Some(Mark::FirstPass), Some(Mark::SecondPass), None]);
    /// # Ok::<(), punctual_time::Error>(())
    /// ```
    pub fn preview(&self, after: Timestamp, count: usize) -> Vec<Tick> {
        self.ticks((Bound::Excluded(after), Bound::Unbounded)).take(count).collect()
    }

    /// What a clock change did to a tick.
    pub(super) fn mark(&self, second: i64) -> Option<Mark> {
        let segment = self.zone.segment(second);
        let offset = i64::from(segment.offset);
        if second == segment.start {
            let policy = self.dst.policy(self.spec.clock());
            let skipped = match &self.spec {
                Spec::Cron(cron) => walk::made_up(cron, policy, &segment),
                Spec::Every(interval) if interval.unit() != crate::Unit::Second => {
                    walk::made_up(&self.lattice(*interval), policy, &segment)
                }
                _ => None,
            };
            if let Some(local) = skipped {
                return Some(Mark::Shifted { from: local_time(local) });
            }
        }
        if second < segment.start + segment.repeated() {
            return Some(Mark::SecondPass);
        }
        (second + offset >= segment.end + offset - segment.repeating()).then_some(Mark::FirstPass)
    }
}

impl Iterator for Ticks<'_> {
    type Item = Tick;

    fn next(&mut self) -> Option<Tick> {
        if self.left == 0 {
            return None;
        }
        let second = self.timing.planned_at_or_after(self.from)?;
        if self.to.is_some_and(|to| second > to) {
            return None;
        }
        self.from = second + 1;
        let suppressed = self.timing.windows_stretch(second).map(|stretch| stretch.cause);
        if suppressed.is_none() {
            self.left -= 1;
        }
        Some(Tick { at: Timestamp::from_second(second).ok()?, mark: self.timing.mark(second), suppressed })
    }
}

/// A local second as jiff shows it.
pub(super) fn local_time(second: i64) -> DateTime {
    let (day, time) = crate::civil::split(second);
    let date = crate::civil::date(day);
    let (hour, minute, second) = ((time / 3600) as i8, (time / 60 % 60) as i8, (time % 60) as i8);
    DateTime::new(date.year as i16, date.month as i8, date.day as i8, hour, minute, second, 0)
        .unwrap_or(DateTime::ZERO)
}
