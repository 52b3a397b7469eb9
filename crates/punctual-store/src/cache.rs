//! Definitions that were read once: a version never changes, so what was parsed can be kept. What it refers to by name,
//! calendars and quiet hours, does change: such a definition is kept together with what they were.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use punctual_plan::{Schedule, ScheduleKey, When};

use crate::{Access, Shared};

/// Definitions that a process keeps which runs them; beyond that the cache begins anew.
const SERVED_MAX: usize = 200_000;

/// Definitions that a process keeps which only visits: it looks at each of them once.
const VISITED_MAX: usize = 2_000;

/// Orgs whose shared things are kept.
const ORGS_MAX: usize = 100;

/// Parsed definitions by schedule and version. Losing one costs a parse, never more.
pub(crate) struct Definitions {
    known: Mutex<HashMap<(ScheduleKey, i64), Known>>,
    /// What orgs share, as it was when it was last read.
    shared: Mutex<HashMap<i64, Kept>>,
    max: usize,
}

/// What an org shares, with what marks it.
struct Kept {
    stamp: Arc<str>,
    shared: Arc<Shared>,
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
            Access::Serve => SERVED_MAX,
            Access::Visit => VISITED_MAX,
        };
        Self { known: Mutex::default(), shared: Mutex::default(), max }
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
        let kept = Kept { stamp: Arc::clone(&stamp.text), shared: Arc::clone(&shared) };
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
        self.known.lock().unwrap_or_else(PoisonError::into_inner).get(&(schedule, version)).cloned()
    }

    /// Remembers a definition that was just written or read, unless it refers to shared things.
    pub(crate) fn put(&self, schedule: ScheduleKey, definition: &Arc<Schedule>) {
        if !is_sharing(definition) {
            self.keep(schedule, Known { definition: Arc::clone(definition), shared: None });
        }
    }

    /// Remembers a definition with what it was read with.
    pub(crate) fn keep(&self, schedule: ScheduleKey, known: Known) {
        let mut all = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= self.max {
            all.clear();
        }
        all.insert((schedule, known.definition.version), known);
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
