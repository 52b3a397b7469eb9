//! Definitions that were read once: a version never changes, so what was parsed can be kept. What it refers to by name,
//! calendars and quiet hours, does change: such a definition is kept together with what they were.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use punctual_plan::{Schedule, ScheduleKey, When};

/// Definitions kept at once; beyond that the cache begins anew.
const DEFINITIONS_MAX: usize = 200_000;

/// Parsed definitions by schedule and version. Losing one costs a parse, never more.
#[derive(Default)]
pub(crate) struct Definitions {
    known: Mutex<HashMap<(ScheduleKey, i64), Known>>,
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
        if all.len() >= DEFINITIONS_MAX {
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
