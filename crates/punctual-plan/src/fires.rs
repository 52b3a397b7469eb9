//! Fires: which instants a change of a schedule adds, removes and keeps.
//!
//! Two walks go side by side through the same stretch of time; nothing is kept of an instant but its count, and the
//! first ones by name.

use std::ops::Range;

use jiff::{SignedDuration, Timestamp};
use punctual_time::Timing;

use crate::Schedule;
use crate::limit::{FIRES_LISTED_MAX, FIRES_WALKED_MAX};

/// What a change does to the fires of a stretch of time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FiresChanged {
    /// The first instants that only the new definition fires at, at most [`FIRES_LISTED_MAX`].
    pub added: Vec<Timestamp>,
    /// How many there are in all.
    pub added_count: u64,
    /// The first instants that only the old definition fires at, at most [`FIRES_LISTED_MAX`].
    pub removed: Vec<Timestamp>,
    /// How many there are in all.
    pub removed_count: u64,
    /// How many instants both fire at.
    pub kept: u64,
    /// How far was compared: the end of the stretch, unless it had more than [`FIRES_WALKED_MAX`] fires.
    pub through: Timestamp,
}

impl FiresChanged {
    /// Whether nothing fires at another time than before.
    pub fn is_empty(&self) -> bool {
        self.added_count == 0 && self.removed_count == 0
    }

    fn add(&mut self, at: Timestamp) {
        self.added_count += 1;
        if self.added.len() < FIRES_LISTED_MAX {
            self.added.push(at);
        }
    }

    fn remove(&mut self, at: Timestamp) {
        self.removed_count += 1;
        if self.removed.len() < FIRES_LISTED_MAX {
            self.removed.push(at);
        }
    }
}

/// Compares the fires of two definitions in a stretch of time, its end excluded. No definition has no fires, and one
/// that follows another schedule has none of its own; a tick that a window suppresses does not fire. The new definition
/// takes over the anchor and the runs of the old one, as it does when it is stored.
///
/// ```
/// use punctual_plan::{Action, Process, Schedule, ScheduleId, fires_changed};
/// use punctual_time::{Cron, Timing, Zone};
///
/// let schedule = |spec: &str| {
///     let timing = Timing::new(spec.parse::<Cron>().expect("a spec"), Zone::utc());
///     Schedule::new(ScheduleId(uuid::Uuid::nil()), "one", timing, Action::Process(Process::new(["true"])))
/// };
/// let day = "2026-01-01T00:00:00Z".parse()?.."2026-01-02T00:00:00Z".parse()?;
/// let changed = fires_changed(Some(&schedule("0 */2 * * *")), Some(&schedule("0 */3 * * *")), day);
/// assert_eq!((changed.added_count, changed.removed_count, changed.kept), (4, 8, 4));
/// assert_eq!(changed.added[0].to_string(), "2026-01-01T03:00:00Z");
/// # Ok::<(), jiff::Error>(())
/// ```
pub fn fires_changed(
    before: Option<&Schedule>,
    after: Option<&Schedule>,
    range: Range<Timestamp>,
) -> FiresChanged {
    let mut changed = FiresChanged {
        added: Vec::new(),
        added_count: 0,
        removed: Vec::new(),
        removed_count: 0,
        kept: 0,
        through: range.end,
    };
    let before = before.and_then(|schedule| schedule.when.timing());
    let after = after.and_then(|schedule| schedule.when.timing()).map(|timing| carry(before, timing));
    let mut old = Fires::new(before, &range);
    let mut new = Fires::new(after.as_ref(), &range);
    let (mut removed, mut added) = (old.next(), new.next());
    for _ in 0..FIRES_WALKED_MAX {
        match (removed, added) {
            (None, None) => return changed,
            (Some(at), Some(other)) if at == other => {
                changed.kept += 1;
                (removed, added) = (old.next(), new.next());
            }
            (Some(at), other) if other.is_none_or(|other| at < other) => {
                changed.remove(at);
                removed = old.next();
            }
            (_, Some(at)) => {
                changed.add(at);
                added = new.next();
            }
            (Some(_), None) => {}
        }
    }
    changed.through = removed.into_iter().chain(added).min().unwrap_or(range.end);
    changed
}

/// A new definition as it will be once it is stored in the place of the old one: its anchor and its runs are that one's.
fn carry(before: Option<&Timing>, after: &Timing) -> Timing {
    let mut after = after.clone();
    if let Some(before) = before {
        (after.created_at, after.runs, after.last) = (before.created_at, before.runs, before.last);
    }
    after
}

/// The fires of a timing, one after the other.
struct Fires<'a> {
    timing: Option<&'a Timing>,
    from: Timestamp,
    end: Timestamp,
    /// What `max_runs` leaves.
    left: u64,
}

impl<'a> Fires<'a> {
    fn new(timing: Option<&'a Timing>, range: &Range<Timestamp>) -> Self {
        let just_before = range.start.saturating_sub(SignedDuration::from_nanos(1));
        let left = |timing: &Timing| timing.bounds.max_runs.map(|max| max.saturating_sub(timing.runs));
        Self {
            timing,
            from: just_before.unwrap_or(range.start),
            end: range.end,
            left: timing.and_then(left).unwrap_or(u64::MAX),
        }
    }
}

impl Iterator for Fires<'_> {
    type Item = Timestamp;

    fn next(&mut self) -> Option<Timestamp> {
        let timing = self.timing.filter(|_| self.left > 0)?;
        let next = timing.next(self.from).filter(|next| *next < self.end)?;
        self.from = next;
        self.left -= 1;
        Some(next)
    }
}
