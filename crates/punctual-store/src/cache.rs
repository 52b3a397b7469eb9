//! Definitions that were read once: a version never changes, so what was parsed can be kept. What it refers to by name,
//! calendars and quiet hours, does change: such a definition is kept together with what they were.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use punctual_plan::{Schedule, ScheduleKey, When};

use crate::{Access, Shared, room};

/// Definitions that a process keeps which only visits: it looks at each of them once.
const VISITED_MAX: usize = 2_000;

/// Orgs whose shared things are kept.
const ORGS_MAX: usize = 100;

/// Parsed definitions by schedule and version. Losing one costs a parse, never more.
pub(crate) struct Definitions {
    kept: Mutex<Kept>,
    /// What orgs share, as it was when it was last read.
    shared: Mutex<HashMap<i64, OrgShared>>,
    /// How many are kept; beyond that each new one takes the place of the oldest. One at a time: who holds the lock never
    /// waits while a hundred thousand are given back to the allocator.
    max: usize,
}

/// What an org shares, with what marks it.
struct OrgShared {
    stamp: Arc<str>,
    shared: Arc<Shared>,
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
    pub(crate) text: Arc<str>,
}

impl Definitions {
    /// Room for as many as whoever uses the database so needs.
    pub(crate) fn for_access(access: Access) -> Self {
        let max = match access {
            Access::Serve => room::definitions(),
            Access::Visit => VISITED_MAX,
        };
        Self { kept: Mutex::default(), shared: Mutex::default(), max }
    }

    /// What an org shares, if it is still what it was when it was read.
    pub(crate) fn shared(&self, stamp: &Stamp) -> Option<Arc<Shared>> {
        let all = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        all.get(&stamp.org).filter(|kept| kept.stamp == stamp.text).map(|kept| Arc::clone(&kept.shared))
    }

    /// Remembers what an org shares; the same text is kept once for all definitions that were read with it.
    pub(crate) fn share(&self, stamp: &Stamp, shared: Shared) -> Arc<Shared> {
        let mut all = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= ORGS_MAX {
            all.clear();
        }
        let shared = Arc::new(shared);
        let kept = OrgShared { stamp: Arc::clone(&stamp.text), shared: Arc::clone(&shared) };
        all.insert(stamp.org, kept);
        shared
    }

    /// The stamp of an org with a text that is kept already, if it is that one.
    pub(crate) fn stamp(&self, org: i64, text: &str) -> Stamp {
        let all = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        let known = all.get(&org).filter(|kept| *kept.stamp == *text);
        Stamp { org, text: known.map_or_else(|| text.into(), |kept| Arc::clone(&kept.stamp)) }
    }

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
        let gone = self.locked().insert(key, known, self.max);
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
    windows.is_shared()
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
