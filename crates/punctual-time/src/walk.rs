//! From planned local times to instants: the one place that knows gaps and folds.
//!
//! UTC is walked from one stretch of constant offset to the next. Within a stretch local times and instants
//! differ by a constant; only at its two ends something must be decided, and [`Policy`] decides it.

use jiff::Timestamp;

use crate::dst::{Clock, DstRule, Fold, Gap, Policy};
use crate::zone::{Segment, Zone};
use crate::{Cron, Dialect};

/// A longer gap is a date that did not exist, or a correction of the clock: nothing is made up.
pub(crate) const GAP_SHIFT_MAX_SECONDS: i64 = 3 * 3600;

/// Local times and instants never differ by more than this.
const OFFSET_BOUND: i64 = 3 * 86_400;

/// Stretches walked in one search before giving up: more than 400 years of two changes each.
const SEGMENTS_MAX: usize = 2048;

/// Something that plans local times.
pub(crate) trait Plan {
    /// The first planned local second at or after `from`.
    fn at_or_after(&self, from: i64) -> Option<i64>;
    /// The last planned local second at or before `to`.
    fn at_or_before(&self, to: i64) -> Option<i64>;
}

impl Plan for Cron {
    #[inline]
    fn at_or_after(&self, from: i64) -> Option<i64> {
        self.local_at_or_after(from)
    }

    #[inline]
    fn at_or_before(&self, to: i64) -> Option<i64> {
        self.local_at_or_before(to)
    }
}

/// The first tick at or after a second of UTC.
#[inline]
pub(crate) fn next<P: Plan>(plan: &P, policy: Policy, from: i64, zone: &Zone) -> Option<i64> {
    let segment = zone.segment(from);
    // Nearly every question is asked and answered within one stretch, away from its ends.
    let local = plan.at_or_after(from + i64::from(segment.offset))?;
    let found = local - i64::from(segment.offset);
    if from > segment.start + segment.repeated() {
        if found < segment.end - segment.repeating() {
            return Some(found);
        }
        let is_repeated = segment.repeating() > 0 && policy.fold != Fold::First;
        if found >= segment.end
            && !is_repeated
            && let Some(found) = plainly(local, &zone.segment(found))
        {
            return Some(found);
        }
    }
    next_at_ends(plan, policy, from, zone)
}

/// As [`next`], where a stretch begins or ends.
#[inline(never)]
fn next_at_ends<P: Plan>(plan: &P, policy: Policy, from: i64, zone: &Zone) -> Option<i64> {
    let mut from = from;
    for _ in 0..SEGMENTS_MAX {
        let segment = zone.segment(from);
        if from == segment.start && is_made_up(plan, policy, &segment) {
            return Some(from);
        }
        let offset = i64::from(segment.offset);
        let (mut low, mut high) = (from + offset, segment.end + offset);
        match policy.fold {
            Fold::First => low = low.max(segment.start + offset + segment.repeated()),
            Fold::Last => high -= segment.repeating(),
            Fold::Both => {}
        }
        let local = plan.at_or_after(low)?;
        if local < high {
            return Some(local - offset);
        }
        // Nothing is planned between `low` and `local`; only a repeated stretch can bring older times back.
        if segment.repeating() > 0 && policy.fold != Fold::First {
            from = segment.end;
            continue;
        }
        if let Some(found) = plainly(local, &zone.segment(local - offset)) {
            return Some(found);
        }
        from = segment.end.max(local - OFFSET_BOUND);
    }
    None
}

/// The instant of a local time that a stretch has and no other stretch has.
#[inline]
fn plainly(local: i64, segment: &Segment) -> Option<i64> {
    let second = local - i64::from(segment.offset);
    let is_plain = second >= segment.start + segment.repeated() && second < segment.end - segment.repeating();
    is_plain.then_some(second)
}

/// The last tick at or before a second of UTC.
pub(crate) fn prev<P: Plan>(plan: &P, policy: Policy, to: i64, zone: &Zone) -> Option<i64> {
    let mut to = to;
    for _ in 0..SEGMENTS_MAX {
        let segment = zone.segment(to);
        let offset = i64::from(segment.offset);
        let (mut low, mut high) = (segment.start + offset, to + offset);
        match policy.fold {
            Fold::First => low += segment.repeated(),
            Fold::Last => high = high.min(segment.end + offset - segment.repeating() - 1),
            Fold::Both => {}
        }
        let local = plan.at_or_before(high);
        if let Some(local) = local.filter(|&local| local >= low) {
            return Some(local - offset);
        }
        if is_made_up(plan, policy, &segment) {
            return Some(segment.start);
        }
        // A time before a fold may lie between `local` and `low` again, seen from the stretch before.
        let is_repeated = segment.repeated() > 0;
        to = match local {
            Some(local) if !is_repeated => (segment.start - 1).min(local + OFFSET_BOUND),
            None if !is_repeated => return None,
            _ => segment.start - 1,
        };
    }
    None
}

/// Whether something was planned in the gap before a stretch and is moved to its first instant.
fn is_made_up<P: Plan>(plan: &P, policy: Policy, segment: &Segment) -> bool {
    made_up(plan, policy, segment).is_some()
}

/// The first local time that was skipped before a stretch and is made up for at its first instant.
pub(crate) fn made_up<P: Plan>(plan: &P, policy: Policy, segment: &Segment) -> Option<i64> {
    let gap = segment.gap();
    if gap == 0 || gap > GAP_SHIFT_MAX_SECONDS || policy.gap == Gap::Skip {
        return None;
    }
    let end = segment.start + i64::from(segment.offset);
    plan.at_or_after(end - gap).filter(|&local| local < end)
}

/// The last whole second at or before an instant.
#[inline]
pub(crate) fn floor_second(at: Timestamp) -> i64 {
    at.as_second() - i64::from(at.subsec_nanosecond() < 0)
}

/// The first whole second at or after an instant.
#[inline]
pub(crate) fn ceil_second(at: Timestamp) -> i64 {
    #[cfg(feature = "rule-switches")]
    if !crate::rule::rounds_up() {
        return floor_second(at);
    }
    at.as_second() + i64::from(at.subsec_nanosecond() > 0)
}

impl Cron {
    /// The first tick strictly after an instant, by the default rule for clock changes.
    ///
    /// ```
    /// use punctual_time::{Cron, Dialect, Zone};
    ///
    /// let cron = Cron::parse("0 9 * * 1", Dialect::Standard)?;
    /// let next = cron.next("2026-11-15T00:00:00Z".parse().unwrap(), &Zone::utc());
    /// assert_eq!(next.unwrap().to_string(), "2026-11-16T09:00:00Z");
    /// # Ok::<(), punctual_time::Error>(())
    /// ```
    #[inline]
    pub fn next(&self, after: Timestamp, zone: &Zone) -> Option<Timestamp> {
        self.next_by(DstRule::default(), after, zone)
    }

    /// All ticks strictly after an instant, one after the other.
    ///
    /// ```
    /// use punctual_time::{Cron, Dialect, Zone};
    ///
    /// let cron = Cron::parse("0 0 29 2 *", Dialect::Standard)?;
    /// let zone = Zone::utc();
    /// let years: Vec<i16> = cron
    ///     .upcoming("2090-01-01T00:00:00Z".parse().unwrap(), &zone)
    ///     .take(3)
    ///     .map(|tick| tick.to_zoned(zone.to_jiff()).year())
    ///     .collect();
    /// assert_eq!(years, [2092, 2096, 2104]);
    /// # Ok::<(), punctual_time::Error>(())
    /// ```
    pub fn upcoming(&self, after: Timestamp, zone: &Zone) -> impl Iterator<Item = Timestamp> {
        std::iter::successors(self.next(after, zone), |&tick| self.next(tick, zone))
    }

    /// As [`next`](Cron::next), by a rule of the schedule's own.
    ///
    /// ```
    /// use punctual_time::{Cron, Dialect, DstRule, Fold, Zone};
    ///
    /// let cron = Cron::parse("0 1 * * *", Dialect::Standard)?;
    /// let rule = DstRule { fold: Some(Fold::Both), ..DstRule::default() };
    /// let zone = Zone::get("Europe/Berlin")?;
    /// let next = cron.next_by(rule, "2026-11-15T00:00:00Z".parse().unwrap(), &zone);
    /// assert_eq!(next.unwrap().to_string(), "2026-11-16T00:00:00Z");
    /// # Ok::<(), punctual_time::Error>(())
    /// ```
    #[inline]
    pub fn next_by(&self, rule: DstRule, after: Timestamp, zone: &Zone) -> Option<Timestamp> {
        let found = next(self, rule.policy(self.clock()), floor_second(after) + 1, zone)?;
        Timestamp::from_second(found).ok()
    }

    /// The last tick strictly before an instant, by the default rule for clock changes.
    ///
    /// ```
    /// use punctual_time::{Cron, Dialect, Zone};
    ///
    /// let cron = Cron::parse("0 0 L * *", Dialect::Standard)?;
    /// let last = cron.prev("2026-03-15T00:00:00Z".parse().unwrap(), &Zone::utc());
    /// assert_eq!(last.unwrap().to_string(), "2026-02-28T00:00:00Z");
    /// # Ok::<(), punctual_time::Error>(())
    /// ```
    pub fn prev(&self, before: Timestamp, zone: &Zone) -> Option<Timestamp> {
        self.prev_by(DstRule::default(), before, zone)
    }

    /// As [`prev`](Cron::prev), by a rule of the schedule's own.
    ///
    /// ```
    /// use punctual_time::{Cron, Dialect, DstRule, Gap, Zone};
    ///
    /// let cron = Cron::parse("30 2 * * *", Dialect::Standard)?;
    /// let rule = DstRule { gap: Some(Gap::Skip), ..DstRule::default() };
    /// let zone = Zone::get("America/New_York")?;
    /// let last = cron.prev_by(rule, "2025-03-09T12:00:00Z".parse().unwrap(), &zone);
    /// assert_eq!(last.unwrap().to_string(), "2025-03-08T07:30:00Z");
    /// # Ok::<(), punctual_time::Error>(())
    /// ```
    pub fn prev_by(&self, rule: DstRule, before: Timestamp, zone: &Zone) -> Option<Timestamp> {
        let found = prev(self, rule.policy(self.clock()), ceil_second(before) - 1, zone)?;
        Timestamp::from_second(found).ok()
    }

    /// Whether the second that contains an instant is a tick.
    ///
    /// ```
    /// use punctual_time::{Cron, Dialect, Zone};
    ///
    /// let cron = Cron::parse("*/15 * * * *", Dialect::Standard)?;
    /// assert!(cron.matches("2026-01-01T00:45:00Z".parse().unwrap(), &Zone::utc()));
    /// assert!(cron.matches("2026-01-01T00:45:00.9Z".parse().unwrap(), &Zone::utc()));
    /// assert!(!cron.matches("2026-01-01T00:45:01Z".parse().unwrap(), &Zone::utc()));
    /// # Ok::<(), punctual_time::Error>(())
    /// ```
    pub fn matches(&self, at: Timestamp, zone: &Zone) -> bool {
        let second = floor_second(at);
        next(self, DstRule::default().policy(self.clock()), second, zone) == Some(second)
    }

    /// Whether it follows the real clock or the one on the wall; the sets decide, never the spelling.
    ///
    /// ```
    /// use punctual_time::{Clock, Cron, Dialect};
    ///
    /// assert_eq!(Cron::parse("0 0-23 * * *", Dialect::Posix)?.clock(), Clock::Elapsed);
    /// # Ok::<(), punctual_time::Error>(())
    /// ```
    #[inline]
    pub fn clock(&self) -> Clock {
        if self.is_elapsed() { Clock::Elapsed } else { Clock::Wall }
    }
}

impl std::str::FromStr for Cron {
    type Err = crate::Error;

    /// Parses the dialect `standard`.
    fn from_str(text: &str) -> Result<Self, crate::Error> {
        Cron::parse(text, Dialect::Standard)
    }
}
