//! Planned ticks as they are, and long stretches of them counted without walking each one.
//!
//! Windows are told and not applied here, and `max_runs` is left out: both are verdicts over ticks that exist.

use std::ops::{Bound, RangeBounds};

use jiff::Timestamp;

use super::Timing;
use crate::walk::{self, ceil_second, floor_second};
use crate::{Cron, Spec, Suppression, Unit};

/// Neighbouring ticks with the same fate: all suppressed by one window, or by none.
///
/// ```
/// use punctual_time::{Cron, Timing, Zone};
///
/// let mut timing = Timing::new("* * * * * *".parse::<Cron>()?, Zone::utc());
/// timing.windows.only_between = Some("08:00-18:00".parse()?);
/// let midnight: jiff::Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
/// let day = midnight..midnight + jiff::SignedDuration::from_hours(24);
/// let counts: Vec<u64> = timing.stretches(day).map(|stretch| stretch.count).collect();
/// assert_eq!(counts, [8 * 3600, 10 * 3600, 6 * 3600]);
/// # Ok::<(), punctual_time::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TickStretch {
    /// The first tick.
    pub first: Timestamp,
    /// The last tick.
    pub last: Timestamp,
    /// How many there are.
    pub count: u64,
    /// The window that keeps all of them from firing.
    pub suppressed: Option<Suppression>,
}

/// The ticks of a stretch of time as [`TickStretch`]es, in ascending order.
///
/// ```
/// use punctual_time::{Cron, Timing, Zone};
///
/// let timing = Timing::new("* * * * *".parse::<Cron>()?, Zone::utc());
/// let year = "2025-01-01T00:00:00Z".parse::<jiff::Timestamp>().unwrap()
///     .."2026-01-01T00:00:00Z".parse::<jiff::Timestamp>().unwrap();
/// assert_eq!(timing.stretches(year).map(|stretch| stretch.count).collect::<Vec<_>>(), [525_600]);
/// # Ok::<(), punctual_time::Error>(())
/// ```
#[derive(Debug)]
pub struct Stretches<'a> {
    timing: &'a Timing,
    from: i64,
    to: i64,
}

impl Timing {
    /// The first planned tick strictly after an instant, whether a window suppresses it or not.
    ///
    /// ```
    /// use punctual_time::{Cron, Timing, Zone};
    ///
    /// let mut timing = Timing::new("0 * * * *".parse::<Cron>()?, Zone::utc());
    /// timing.windows.only_between = Some("22:00-06:00".parse()?);
    /// let next = timing.planned_after("2026-01-01T06:30:00Z".parse().unwrap());
    /// assert_eq!(next.unwrap().to_string(), "2026-01-01T07:00:00Z");
    /// # Ok::<(), punctual_time::Error>(())
    /// ```
    pub fn planned_after(&self, after: Timestamp) -> Option<Timestamp> {
        self.planned_at_or_after(floor_second(after) + 1)
            .and_then(|second| Timestamp::from_second(second).ok())
    }

    /// The last planned tick strictly before an instant, whether a window suppresses it or not.
    ///
    /// ```
    /// use punctual_time::{Cron, Timing, Zone};
    ///
    /// let timing = Timing::new("0 * * * *".parse::<Cron>()?, Zone::utc());
    /// let last = timing.planned_before("2026-01-01T06:00:00Z".parse().unwrap());
    /// assert_eq!(last.unwrap().to_string(), "2026-01-01T05:00:00Z");
    /// # Ok::<(), punctual_time::Error>(())
    /// ```
    pub fn planned_before(&self, before: Timestamp) -> Option<Timestamp> {
        self.planned_at_or_before(ceil_second(before) - 1)
            .and_then(|second| Timestamp::from_second(second).ok())
    }

    /// The window that keeps a tick at this instant from firing.
    ///
    /// ```
    /// use punctual_time::{Cron, Timing, Zone};
    ///
    /// let mut timing = Timing::new("0 * * * *".parse::<Cron>()?, Zone::utc());
    /// timing.windows.exclude("sunday", &[])?;
    /// let sunday = timing.suppressed("2026-11-15T00:00:00Z".parse().unwrap());
    /// assert_eq!(sunday.unwrap().to_string(), "not on sunday");
    /// # Ok::<(), punctual_time::Error>(())
    /// ```
    pub fn suppressed(&self, at: Timestamp) -> Option<Suppression> {
        self.cause(floor_second(at))
    }

    /// The ticks within a range of instants, gathered by their fate. An open end is the end of time.
    ///
    /// ```
    /// use punctual_time::{Interval, Timing, Zone};
    ///
    /// let timing = Timing::new("90s".parse::<Interval>()?, Zone::utc());
    /// let hour = timing.created_at..timing.created_at + jiff::SignedDuration::from_hours(1);
    /// assert_eq!(timing.stretches(hour).next().unwrap().count, 40);
    /// # Ok::<(), punctual_time::Error>(())
    /// ```
    pub fn stretches(&self, range: impl RangeBounds<Timestamp>) -> Stretches<'_> {
        let from = match range.start_bound() {
            Bound::Included(&start) => ceil_second(start),
            Bound::Excluded(&start) => floor_second(start) + 1,
            Bound::Unbounded => floor_second(Timestamp::MIN),
        };
        let to = match range.end_bound() {
            Bound::Included(&end) => floor_second(end),
            Bound::Excluded(&end) => ceil_second(end) - 1,
            Bound::Unbounded => floor_second(Timestamp::MAX),
        };
        Stretches { timing: self, from, to }
    }

    fn cause(&self, second: i64) -> Option<Suppression> {
        self.windows_stretch(second).map(|stretch| stretch.cause)
    }

    /// The second up to which, itself excluded, every tick shares the fate of the one at `second`.
    fn same_until(&self, second: i64) -> i64 {
        if self.windows.is_open() {
            return i64::MAX;
        }
        match self.windows_stretch(second) {
            Some(stretch) => stretch.to.max(second + 1),
            None => self.windows.open_until(second, &self.zone).max(second + 1),
        }
    }

    /// How many planned ticks lie between two seconds, both included.
    fn count(&self, from: i64, to: i64) -> u64 {
        let from = self.bounds.start_at.map_or(from, |start| from.max(ceil_second(start)));
        let to = self.bounds.end_at.map_or(to, |end| to.min(floor_second(end)));
        match &self.spec {
            Spec::Cron(cron) => self.count_cron(cron, from, to),
            Spec::Every(interval) if interval.unit() == Unit::Second => {
                self.lattice(*interval).count(from.max(self.earliest()), to)
            }
            _ => self.count_by_walking(from, to),
        }
    }

    /// Away from clock changes local times are counted; around them ticks are walked.
    fn count_cron(&self, cron: &Cron, from: i64, to: i64) -> u64 {
        let policy = self.dst.policy(self.spec.clock());
        let (mut count, mut at) = (0, from);
        while at <= to {
            let segment = self.zone.segment(at);
            let plain_to = segment.end - segment.repeating() - 1;
            if at > segment.start + segment.repeated() && at <= plain_to {
                let (end, offset) = (plain_to.min(to), i64::from(segment.offset));
                count += cron.count_local(at + offset, end + offset);
                at = end + 1;
                continue;
            }
            match walk::next(cron, policy, at, &self.zone).filter(|&found| found <= to) {
                Some(found) => {
                    count += 1;
                    at = found + 1;
                }
                None => return count,
            }
        }
        count
    }

    fn count_by_walking(&self, from: i64, to: i64) -> u64 {
        let (mut count, mut at) = (0, from);
        while let Some(found) = self.planned_at_or_after(at).filter(|&found| found <= to) {
            count += 1;
            at = found + 1;
        }
        count
    }
}

impl Iterator for Stretches<'_> {
    type Item = TickStretch;

    fn next(&mut self) -> Option<TickStretch> {
        let first = self.timing.planned_at_or_after(self.from).filter(|&first| first <= self.to)?;
        let suppressed = self.timing.cause(first);
        let (mut last, mut count) = (first, 0);
        let mut piece = Some(first);
        while let Some(start) = piece {
            let end = self.timing.same_until(start).min(self.to.saturating_add(1));
            count += self.timing.count(start, end - 1);
            last = self.timing.planned_at_or_before(end - 1).unwrap_or(start);
            self.from = end;
            piece = self
                .timing
                .planned_at_or_after(end)
                .filter(|&next| next <= self.to && self.timing.cause(next) == suppressed);
        }
        let (first, last) = (Timestamp::from_second(first).ok()?, Timestamp::from_second(last).ok()?);
        Some(TickStretch { first, last, count, suppressed })
    }
}
