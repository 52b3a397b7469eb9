//! A spec made definite: zone, clock changes, anchor, bounds and windows.
//!
//! Start with [`Timing`]; `preview` lists ticks with their marks, `explain` says why an instant is one or not.

mod explain;
mod preview;
mod stretch;

use std::fmt;
use std::str::FromStr;

use jiff::{SignedDuration, Timestamp};

pub use explain::{Check, Explanation, Subject};
pub use preview::{Mark, Tick, Ticks};
pub use stretch::{Stretches, TickStretch};

use crate::dst::Policy;
use crate::every::Lattice;
use crate::walk::{self, Plan, ceil_second, floor_second};
use crate::{DstRule, Error, Fold, Interval, Spec, Unit, Windows, Zone};

/// Suppressed stretches that a search passes before it gives up: more than fifty years of days.
const STRETCHES_MAX: usize = 20_000;

/// What an interval is reckoned from.
///
/// ```
/// use punctual_time::Anchor;
///
/// assert_eq!("last_finish".parse::<Anchor>()?, Anchor::LastFinish);
/// assert_eq!(Anchor::default().to_string(), "fixed");
/// # Ok::<(), punctual_time::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Anchor {
    /// `start_at`, else the creation, plus multiples: ticks do not creep.
    #[default]
    Fixed,
    /// The start of the last run.
    LastStart,
    /// The end of the last run.
    LastFinish,
}

impl Anchor {
    /// The name by which it is stored and chosen.
    ///
    /// ```
    /// assert_eq!(punctual_time::Anchor::LastStart.name(), "last_start");
    /// ```
    pub fn name(self) -> &'static str {
        match self {
            Anchor::Fixed => "fixed",
            Anchor::LastStart => "last_start",
            Anchor::LastFinish => "last_finish",
        }
    }
}

impl fmt::Display for Anchor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Anchor {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let all = [Anchor::Fixed, Anchor::LastStart, Anchor::LastFinish];
        all.into_iter().find(|anchor| anchor.name() == text).ok_or_else(|| {
            Error::new("unknown_anchor", format!("`{text}` is not an anchor"))
                .at(0..text.len())
                .with_hint("choose `fixed`, `last_start` or `last_finish`")
        })
    }
}

/// From when, until when, and how often at most.
///
/// ```
/// use punctual_time::{Bounds, Cron, Timing, Zone};
///
/// let mut timing = Timing::new("0 0 * * *".parse::<Cron>()?, Zone::utc());
/// timing.bounds.end_at = Some("2026-01-02T00:00:00Z".parse().unwrap());
/// let from: jiff::Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
/// let ticks = timing.ticks(from..).count();
/// assert_eq!(ticks, 2, "the end is included");
/// # Ok::<(), punctual_time::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bounds {
    /// The first instant at which a tick may be.
    pub start_at: Option<Timestamp>,
    /// The last instant at which a tick may be, included.
    pub end_at: Option<Timestamp>,
    /// How many runs there are in all.
    pub max_runs: Option<u64>,
}

/// When a schedule fires: the spec and everything that makes it definite.
///
/// ```
/// use punctual_time::{Interval, Timing, Zone};
///
/// let mut timing = Timing::new("monthly".parse::<Interval>()?, Zone::utc());
/// timing.bounds.start_at = Some("2026-01-31T09:00:00Z".parse().unwrap());
/// let ticks: Vec<_> = timing.ticks(timing.created_at..).take(3).map(|tick| tick.at.to_string()).collect();
/// assert_eq!(ticks, ["2026-01-31T09:00:00Z", "2026-02-28T09:00:00Z", "2026-03-31T09:00:00Z"]);
/// # Ok::<(), punctual_time::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timing {
    /// When.
    pub spec: Spec,
    /// Where local times are read.
    pub zone: Zone,
    /// What clock changes do, if not the default.
    pub dst: DstRule,
    /// What an interval is reckoned from.
    pub anchor: Anchor,
    /// When the schedule was made: the origin of an interval without `start_at`.
    pub created_at: Timestamp,
    /// The start or the end of the last run, for the anchors that need it.
    pub last: Option<Timestamp>,
    /// From when, until when, how often.
    pub bounds: Bounds,
    /// Runs so far, which count towards `max_runs`.
    pub runs: u64,
    /// When ticks may fire at all.
    pub windows: Windows,
}

impl Timing {
    /// A spec in a zone, without bounds and windows, made at the Unix epoch.
    ///
    /// ```
    /// use punctual_time::{Interval, Timing, Zone};
    ///
    /// let timing = Timing::new("2h".parse::<Interval>()?, Zone::utc());
    /// let next = timing.next("2026-01-01T00:30:00Z".parse().unwrap());
    /// assert_eq!(next.unwrap().to_string(), "2026-01-01T02:00:00Z");
    /// # Ok::<(), punctual_time::Error>(())
    /// ```
    pub fn new(spec: impl Into<Spec>, zone: Zone) -> Timing {
        Timing {
            spec: spec.into(),
            zone,
            dst: DstRule::default(),
            anchor: Anchor::Fixed,
            created_at: Timestamp::UNIX_EPOCH,
            last: None,
            bounds: Bounds::default(),
            runs: 0,
            windows: Windows::default(),
        }
    }

    /// Whether each tick hangs on the run before it by this anchor.
    ///
    /// ```
    /// use punctual_time::{Anchor, Interval, Timing, Zone};
    ///
    /// let mut timing = Timing::new("2h".parse::<Interval>()?, Zone::utc());
    /// assert!(!timing.is_floating());
    /// timing.anchor = Anchor::LastFinish;
    /// assert!(timing.floats_on(Anchor::LastFinish) && !timing.floats_on(Anchor::LastStart));
    /// # Ok::<(), punctual_time::Error>(())
    /// ```
    pub fn floats_on(&self, anchor: Anchor) -> bool {
        matches!(self.spec, Spec::Every(_)) && anchor != Anchor::Fixed && self.anchor == anchor
    }

    /// Whether each tick hangs on the run before it, by either anchor.
    pub fn is_floating(&self) -> bool {
        self.floats_on(self.anchor)
    }

    /// The first tick strictly after an instant that fires: in bounds, and not suppressed by a window.
    ///
    /// ```
    /// use punctual_time::{Cron, Timing, Zone};
    ///
    /// let mut timing = Timing::new("0 * * * *".parse::<Cron>()?, Zone::utc());
    /// timing.windows.only_between = Some("22:00-06:00".parse()?);
    /// let next = timing.next("2026-01-01T06:30:00Z".parse().unwrap());
    /// assert_eq!(next.unwrap().to_string(), "2026-01-01T22:00:00Z");
    /// # Ok::<(), punctual_time::Error>(())
    /// ```
    pub fn next(&self, after: Timestamp) -> Option<Timestamp> {
        if self.is_exhausted() {
            return None;
        }
        let mut from = floor_second(after) + 1;
        for _ in 0..STRETCHES_MAX {
            let second = self.planned_at_or_after(from)?;
            match self.windows_stretch(second) {
                None => return Timestamp::from_second(second).ok(),
                Some(stretch) => from = stretch.to.max(second + 1),
            }
        }
        None
    }

    /// The last tick strictly before an instant that fires.
    ///
    /// ```
    /// use punctual_time::{Cron, Timing, Zone};
    ///
    /// let mut timing = Timing::new("0 12 * * *".parse::<Cron>()?, Zone::utc());
    /// timing.windows.exclude("sunday", &[])?;
    /// // 16 November 2026 is a Monday.
    /// let last = timing.prev("2026-11-16T12:00:00Z".parse().unwrap());
    /// assert_eq!(last.unwrap().to_string(), "2026-11-14T12:00:00Z");
    /// # Ok::<(), punctual_time::Error>(())
    /// ```
    pub fn prev(&self, before: Timestamp) -> Option<Timestamp> {
        let mut to = ceil_second(before) - 1;
        for _ in 0..STRETCHES_MAX {
            let second = self.planned_at_or_before(to)?;
            match self.windows_stretch(second) {
                None => return Timestamp::from_second(second).ok(),
                Some(stretch) => to = stretch.from.min(second) - 1,
            }
        }
        None
    }

    /// The first tick that fires after an instant, or why there will be none: for refusing a schedule that could
    /// never run when it is made.
    ///
    /// ```
    /// use punctual_time::{Cron, Timing, Zone};
    ///
    /// let mut timing = Timing::new("0 12 * * *".parse::<Cron>()?, Zone::utc());
    /// timing.windows.only_between = Some("20:00-06:00".parse()?);
    /// let error = timing.first("2026-01-01T00:00:00Z".parse().unwrap()).unwrap_err();
    /// assert_eq!(error.to_string(), "`0 12 * * *` never fires: only between 20:00-06:00");
    /// # Ok::<(), punctual_time::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If windows suppress every tick, the bounds leave none, or a one-shot lies in the past.
    pub fn first(&self, after: Timestamp) -> Result<Timestamp, Error> {
        if let Some(next) = self.next(after) {
            return Ok(next);
        }
        let refused = |why: String| Error::new("never_fires", format!("`{}` never fires: {why}", self.spec));
        if self.is_exhausted() {
            return Err(refused(format!("all `{}` runs have been", self.runs)).with_hint("raise `max_runs`"));
        }
        match self.planned_at_or_after(floor_second(after) + 1) {
            Some(second) => {
                let cause =
                    self.windows_stretch(second).map_or(String::new(), |stretch| stretch.cause.to_string());
                Err(refused(cause).with_hint("widen the window, or plan times within it"))
            }
            None => match (&self.spec, self.bounds.end_at) {
                (Spec::Once(_), _) => {
                    Err(refused("it lies in the past".into()).with_hint("choose a later time"))
                }
                (_, Some(end)) => {
                    Err(refused(format!("it ends at {end}")).with_hint("choose a later `end_at`"))
                }
                _ => Err(refused("no such date comes".into())),
            },
        }
    }

    /// Refuses a spec whose ticks come closer than a minimum, naming both.
    ///
    /// ```
    /// use jiff::SignedDuration;
    /// use punctual_time::{Cron, Timing, Zone};
    ///
    /// let timing = Timing::new("* * * * *".parse::<Cron>()?, Zone::utc());
    /// assert!(timing.guard(SignedDuration::from_secs(60)).is_ok());
    /// let error = timing.guard(SignedDuration::from_secs(300)).unwrap_err();
    /// assert_eq!(error.to_string(), "`* * * * *` fires every `60s`, more often than every `300s`");
    /// # Ok::<(), punctual_time::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If the smallest gap is below the minimum.
    pub fn guard(&self, min: SignedDuration) -> Result<(), Error> {
        match self.spec.smallest_gap() {
            Some(gap) if gap < min => {
                let (gap, min) = (gap.as_secs(), min.as_secs());
                let message = format!("`{}` fires every `{gap}s`, more often than every `{min}s`", self.spec);
                Err(Error::new("too_frequent", message)
                    .with_hint(format!("leave at least `{min}s` between two ticks")))
            }
            _ => Ok(()),
        }
    }

    /// Whether `max_runs` is used up.
    ///
    /// ```
    /// # use punctual_time::{Cron, Timing, Zone};
    /// let mut timing = Timing::new("* * * * *".parse::<Cron>()?, Zone::utc());
    /// timing.bounds.max_runs = Some(3);
    /// timing.runs = 3;
    /// assert!(timing.is_exhausted());
    /// # Ok::<(), punctual_time::Error>(())
    /// ```
    pub fn is_exhausted(&self) -> bool {
        self.bounds.max_runs.is_some_and(|max| self.runs >= max)
    }

    fn windows_stretch(&self, second: i64) -> Option<crate::windows::Stretch> {
        if self.windows.is_open() { None } else { self.windows.stretch(second, &self.zone) }
    }

    /// The first planned second at or after one, within the bounds, windows aside.
    fn planned_at_or_after(&self, from: i64) -> Option<i64> {
        let from = self.bounds.start_at.map_or(from, |start| from.max(ceil_second(start)));
        let policy = self.dst.policy(self.spec.clock());
        let found = match &self.spec {
            Spec::Cron(cron) => walk::next(cron, policy, from, &self.zone),
            Spec::Every(interval) => {
                let (lattice, from) = (self.lattice(*interval), from.max(self.earliest()));
                match interval.unit() {
                    Unit::Second => lattice.at_or_after(from),
                    _ if self.first_tick(policy) == Some(from) => Some(from),
                    _ => walk::next(&lattice, policy, from, &self.zone),
                }
            }
            Spec::Once(once) => Some(floor_second(once.instant())).filter(|&at| at >= from),
        };
        found.filter(|&second| self.bounds.end_at.is_none_or(|end| second <= floor_second(end)))
    }

    /// The last planned second at or before one, within the bounds, windows aside.
    fn planned_at_or_before(&self, to: i64) -> Option<i64> {
        let to = self.bounds.end_at.map_or(to, |end| to.min(floor_second(end)));
        let policy = self.dst.policy(self.spec.clock());
        let found = match &self.spec {
            Spec::Cron(cron) => walk::prev(cron, policy, to, &self.zone),
            Spec::Every(interval) => {
                let lattice = self.lattice(*interval);
                let found = match interval.unit() {
                    Unit::Second => lattice.at_or_before(to),
                    _ => walk::prev(&lattice, policy, to, &self.zone),
                };
                let first = || self.first_tick(policy).filter(|&first| first <= to);
                found.filter(|&second| second >= self.earliest()).or_else(first)
            }
            Spec::Once(once) => Some(floor_second(once.instant())).filter(|&at| at <= to),
        };
        found.filter(|&second| self.bounds.start_at.is_none_or(|start| second >= ceil_second(start)))
    }

    /// The interval's times from its anchor.
    fn lattice(&self, interval: Interval) -> Lattice {
        let start = self.bounds.start_at.unwrap_or(self.created_at);
        let origin = match self.anchor {
            Anchor::Fixed => start,
            Anchor::LastStart | Anchor::LastFinish => self.last.unwrap_or(start),
        };
        interval.lattice(ceil_second(origin), &self.zone)
    }

    /// The origin of an interval, where it is a tick: an instant names its pass, so a repeated hour that began before
    /// it cannot take the tick away. Under [`Fold::Last`] the pass that is to come may still have it.
    fn first_tick(&self, policy: Policy) -> Option<i64> {
        let is_origin = self.anchor == Anchor::Fixed || self.last.is_none();
        (is_origin && policy.fold != Fold::Last).then(|| self.earliest())
    }

    /// An interval never ticks before its origin, and a run is not its own successor.
    fn earliest(&self) -> i64 {
        let start = self.bounds.start_at.unwrap_or(self.created_at);
        match (self.anchor, self.last) {
            (Anchor::Fixed, _) | (_, None) => ceil_second(start),
            (_, Some(last)) => ceil_second(last) + 1,
        }
    }
}
