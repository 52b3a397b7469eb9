//! Definitions that were read once: a version never changes, so what was parsed can be kept. What it refers to by name,
//! calendars and quiet hours, does change: such a definition is kept together with what they were.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use punctual_plan::{Schedule, ScheduleKey, When};

/// Definitions kept at once; beyond that each new one takes the place of the oldest. One at a time: who holds the lock
/// never waits while a hundred thousand are given back to the allocator.
const DEFINITIONS_MAX: usize = 200_000;

/// Parsed definitions by schedule and version. Losing one costs a parse, never more.
#[derive(Default)]
pub(crate) struct Definitions {
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    known: HashMap<(ScheduleKey, i64), Known>,
    /// The keys of all that are known, oldest first.
    order: VecDeque<(ScheduleKey, i64)>,
}

impl Kept {
    /// Remembers one; gives back the one that had to go for it.
    fn insert(&mut self, key: (ScheduleKey, i64), known: Known, max: usize) -> Option<Known> {
        let before = self.known.insert(key, known);
        if before.is_some() {
            return before;
        }
        self.order.push_back(key);
        let oldest = if self.order.len() > max { self.order.pop_front() } else { None };
        oldest.and_then(|oldest| self.known.remove(&oldest))
    }
}

/// A definition that was read before.
#[derive(Clone)]
pub(crate) struct Known {
    pub(crate) definition: Arc<Schedule>,
    /// What it was read with, if it refers to anything by name: it holds only while that is so.
    pub(crate) shared: Option<Stamp>,
}

/// The shared things of an org as they were at a moment: another text once one of them is another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub(crate) org: i64,
    pub(crate) text: String,
}

impl Definitions {
    /// The definition, if it was read before.
    pub(crate) fn find(&self, schedule: ScheduleKey, version: i64) -> Option<Known> {
        self.locked().known.get(&(schedule, version)).cloned()
    }

    /// Remembers a definition that was just written or read, unless it refers to shared things.
    pub(crate) fn put(&self, schedule: ScheduleKey, definition: &Arc<Schedule>) {
        if !is_sharing(definition) {
            self.keep(schedule, Known { definition: Arc::clone(definition), shared: None });
        }
    }

    /// Remembers a definition with what it was read with.
    pub(crate) fn keep(&self, schedule: ScheduleKey, known: Known) {
        let key = (schedule, known.definition.version);
        let gone = self.locked().insert(key, known, DEFINITIONS_MAX);
        // Given back to the allocator when nobody waits for the lock any more.
        drop(gone);
    }

    fn locked(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether a definition refers to calendars or quiet hours by name.
pub(crate) fn is_sharing(definition: &Schedule) -> bool {
    let windows = match &definition.when {
        When::Ticks(timing) => &timing.windows,
        When::Chain(chain) => &chain.windows,
    };
    !windows.calendars.is_empty() || !windows.quiet_hours.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use punctual_plan::{Action, ScheduleId};
    use punctual_time::{Once, Timing, Zone};

    #[test]
    fn a_full_cache_forgets_its_oldest_and_nothing_else() {
        let timing = Timing::new(Once::at(jiff::Timestamp::UNIX_EPOCH), Zone::utc());
        let action = Action::Callback { task: String::new() };
        let definition = Arc::new(Schedule::new(ScheduleId(uuid::Uuid::nil()), "one", timing, action));
        let known = || Known { definition: Arc::clone(&definition), shared: None };
        let mut kept = Kept::default();
        for key in [1, 2, 1, 3, 4] {
            kept.insert((ScheduleKey(key), 1), known(), 3);
        }
        let has = |key| kept.known.contains_key(&(ScheduleKey(key), 1));
        assert_eq!([1, 2, 3, 4].map(has), [false, true, true, true]);
        assert_eq!(kept.order.len(), 3);
    }
}
