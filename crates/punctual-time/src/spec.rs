//! The "when" of a schedule: cron, an interval, or one instant.

use std::fmt;

use jiff::SignedDuration;

use crate::dst::Clock;
use crate::{Cron, Interval, Once};

/// When, as one value: 64 bytes, no heap.
///
/// What it means in a zone, from an origin and within bounds is a [`Timing`](crate::Timing).
///
/// ```
/// use punctual_time::{Cron, Dialect, Spec};
///
/// let spec = Spec::from(Cron::parse("0 9 * * 1-5", Dialect::Standard)?);
/// assert_eq!(spec.kind(), "cron");
/// assert_eq!(spec.to_string(), "0 9 * * 1-5");
/// assert!(size_of::<Spec>() <= 64);
/// # Ok::<(), punctual_time::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Spec {
    /// A cron expression.
    Cron(Cron),
    /// An interval from an origin.
    Every(Interval),
    /// One instant.
    Once(Once),
}

impl Spec {
    /// The name of its type as it is stored: `cron`, `interval` or `one_shot`.
    ///
    /// ```
    /// # use punctual_time::{Interval, Spec};
    /// assert_eq!(Spec::from("5m".parse::<Interval>()?).kind(), "interval");
    /// # Ok::<(), punctual_time::Error>(())
    /// ```
    pub fn kind(&self) -> &'static str {
        match self {
            Spec::Cron(_) => "cron",
            Spec::Every(_) => "interval",
            Spec::Once(_) => "one_shot",
        }
    }

    /// Whether it follows the real clock through clock changes, or the clock on the wall.
    ///
    /// ```
    /// # use punctual_time::{Clock, Interval, Spec};
    /// assert_eq!(Spec::from("1d".parse::<Interval>()?).clock(), Clock::Wall);
    /// # Ok::<(), punctual_time::Error>(())
    /// ```
    #[inline]
    pub fn clock(&self) -> Clock {
        match self {
            Spec::Cron(cron) => cron.clock(),
            Spec::Every(interval) => interval.clock(),
            Spec::Once(_) => Clock::Elapsed,
        }
    }

    /// The smallest distance between two ticks on days without a clock change; none if there is only one.
    ///
    /// ```
    /// # use punctual_time::{Cron, Dialect, Spec};
    /// let spec = Spec::from(Cron::parse("0,10,59 * * * *", Dialect::Posix)?);
    /// assert_eq!(spec.smallest_gap().unwrap().as_secs(), 60);
    /// # Ok::<(), punctual_time::Error>(())
    /// ```
    pub fn smallest_gap(&self) -> Option<SignedDuration> {
        match self {
            Spec::Cron(cron) => cron.smallest_gap(),
            Spec::Every(interval) => Some(SignedDuration::from_secs(interval.seconds_min())),
            Spec::Once(_) => None,
        }
    }
}

impl From<Cron> for Spec {
    fn from(cron: Cron) -> Self {
        Spec::Cron(cron)
    }
}

impl From<Interval> for Spec {
    fn from(interval: Interval) -> Self {
        Spec::Every(interval)
    }
}

impl From<Once> for Spec {
    fn from(once: Once) -> Self {
        Spec::Once(once)
    }
}

impl fmt::Display for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Spec::Cron(cron) => cron.fmt(f),
            Spec::Every(interval) => interval.fmt(f),
            Spec::Once(once) => once.fmt(f),
        }
    }
}

const _: () = assert!(size_of::<Cron>() <= 64 && size_of::<Spec>() <= 64);
