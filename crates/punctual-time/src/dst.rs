//! What happens to a planned local time that a clock change skips or repeats.

use std::fmt;
use std::str::FromStr;

use crate::Error;

/// What becomes of local times that the clock skips.
///
/// ```
/// use punctual_time::{Cron, Dialect, DstRule, Gap, Zone};
///
/// let nightly = Cron::parse("30 2 * * *", Dialect::Standard)?;
/// let zone = Zone::get("America/New_York")?;
/// let skip = DstRule { gap: Some(Gap::Skip), ..DstRule::default() };
/// let next = nightly.next_by(skip, "2025-03-09T00:00:00-05:00".parse().unwrap(), &zone);
/// assert_eq!(next, Some("2025-03-10T02:30:00-04:00".parse().unwrap()));
/// # Ok::<(), punctual_time::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Gap {
    /// They fire, together, at the first instant after the gap.
    Shift,
    /// They do not fire.
    Skip,
}

/// What becomes of local times that the clock repeats.
///
/// ```
/// use punctual_time::{Cron, Dialect, DstRule, Fold, Zone};
///
/// let nightly = Cron::parse("30 1 * * *", Dialect::Standard)?;
/// let zone = Zone::get("America/New_York")?;
/// let last = DstRule { fold: Some(Fold::Last), ..DstRule::default() };
/// let next = nightly.next_by(last, "2025-11-02T00:00:00-04:00".parse().unwrap(), &zone);
/// assert_eq!(next, Some("2025-11-02T01:30:00-05:00".parse().unwrap()));
/// # Ok::<(), punctual_time::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fold {
    /// They fire in the first pass.
    First,
    /// They fire in the second pass.
    Last,
    /// They fire in both.
    Both,
}

/// A schedule's own answer to clock changes; what is left open follows the spec.
///
/// An *elapsed* spec (all 24 hours, or an interval of hours or less) follows the real clock: [`Gap::Skip`] and
/// [`Fold::Both`]. Any other is *wall-clock* and fires once per planned local time: [`Gap::Shift`] and
/// [`Fold::First`]. A gap of more than three hours is never made up: that date did not exist.
///
/// ```
/// use punctual_time::{DstRule, Fold, Gap};
///
/// // What Kubernetes and Temporal do.
/// let rule = DstRule { gap: Some(Gap::Skip), fold: Some(Fold::Both) };
/// assert_ne!(rule, DstRule::default());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct DstRule {
    /// For skipped local times.
    pub gap: Option<Gap>,
    /// For repeated local times.
    pub fold: Option<Fold>,
}

/// Whether a spec follows the real clock or the clock on the wall.
///
/// ```
/// use punctual_time::{Clock, Cron, Dialect};
///
/// assert_eq!(Cron::parse("*/5 * * * *", Dialect::Standard)?.clock(), Clock::Elapsed);
/// assert_eq!(Cron::parse("*/5 9 * * *", Dialect::Standard)?.clock(), Clock::Wall);
/// # Ok::<(), punctual_time::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Clock {
    /// Real time goes by: clock changes are not felt.
    Elapsed,
    /// Each planned local time counts, once.
    Wall,
}

/// A rule with nothing left open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Policy {
    pub gap: Gap,
    pub fold: Fold,
}

impl DstRule {
    #[inline]
    pub(crate) fn policy(self, clock: Clock) -> Policy {
        let (gap, fold) = match clock {
            Clock::Elapsed => (Gap::Skip, Fold::Both),
            Clock::Wall => (Gap::Shift, Fold::First),
        };
        Policy { gap: self.gap.unwrap_or(gap), fold: self.fold.unwrap_or(fold) }
    }
}

impl Gap {
    /// The name by which it is stored and chosen.
    ///
    /// ```
    /// assert_eq!(punctual_time::Gap::Shift.name(), "shift");
    /// ```
    pub fn name(self) -> &'static str {
        match self {
            Gap::Shift => "shift",
            Gap::Skip => "skip",
        }
    }
}

impl Fold {
    /// The name by which it is stored and chosen.
    ///
    /// ```
    /// assert_eq!(punctual_time::Fold::Both.name(), "both");
    /// ```
    pub fn name(self) -> &'static str {
        match self {
            Fold::First => "first",
            Fold::Last => "last",
            Fold::Both => "both",
        }
    }
}

impl fmt::Display for Gap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for Fold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Gap {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        [Gap::Shift, Gap::Skip].into_iter().find(|gap| gap.name() == text).ok_or_else(|| {
            Error::new("bad_dst_gap", format!("`{text}` is not a rule for the gap"))
                .at(0..text.len())
                .with_hint("choose `shift` or `skip`")
        })
    }
}

impl FromStr for Fold {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        [Fold::First, Fold::Last, Fold::Both].into_iter().find(|fold| fold.name() == text).ok_or_else(|| {
            Error::new("bad_dst_fold", format!("`{text}` is not a rule for the fold"))
                .at(0..text.len())
                .with_hint("choose `first`, `last` or `both`")
        })
    }
}
