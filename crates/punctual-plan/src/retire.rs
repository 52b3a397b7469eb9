//! Retire: what a deleted schedule leaves behind.
//!
//! Ticks that were still to come are unplanned again; those whose instant has passed keep their entry
//! and get the reason. What was launched already goes on.

use jiff::Timestamp;

use crate::{Reason, RunKey};

/// A row that was planned and not yet admitted.
#[derive(Clone, Copy, Debug)]
pub struct Armed {
    /// The row.
    pub run: RunKey,
    /// Its tick.
    pub scheduled_for: Timestamp,
}

/// What shall happen to the armed rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Retired {
    /// Rows in the future, which vanish.
    pub removed: Vec<RunKey>,
    /// Rows at or before now, which end as skipped.
    pub closed: Vec<(RunKey, Reason)>,
}

/// Decides the armed rows of a schedule that is deleted at `now`.
///
/// ```
/// use punctual_plan::{Armed, RunKey, retire};
///
/// let row = Armed { run: RunKey(1), scheduled_for: "2026-01-01T10:00:00Z".parse()? };
/// assert_eq!(retire(&[row], "2026-01-01T09:59:59Z".parse()?).removed, [RunKey(1)]);
/// assert_eq!(retire(&[row], "2026-01-01T10:00:00Z".parse()?).closed.len(), 1);
/// # Ok::<(), jiff::Error>(())
/// ```
pub fn retire(armed: &[Armed], now: Timestamp) -> Retired {
    let mut retired = Retired::default();
    for row in armed {
        if row.scheduled_for > now {
            retired.removed.push(row.run);
        } else {
            retired.closed.push((row.run, Reason::Deleted { at: now }));
        }
    }
    retired
}
