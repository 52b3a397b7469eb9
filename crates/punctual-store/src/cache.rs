//! Definitions that were read once: a version never changes, so what was parsed can be kept.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use punctual_plan::{Schedule, ScheduleKey};

/// Definitions kept at once; beyond that the cache begins anew.
const DEFINITIONS_MAX: usize = 200_000;

/// Parsed definitions by schedule and version. Losing one costs a parse, never more.
#[derive(Default)]
pub(crate) struct Definitions {
    known: Mutex<HashMap<(ScheduleKey, i64), Arc<Schedule>>>,
}

impl Definitions {
    /// The definition, parsed by `read` unless it is known.
    pub(crate) fn get<E>(
        &self,
        schedule: ScheduleKey,
        version: i64,
        read: impl FnOnce() -> Result<Schedule, E>,
    ) -> Result<Arc<Schedule>, E> {
        let key = (schedule, version);
        if let Some(known) = self.known.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
            return Ok(Arc::clone(known));
        }
        let definition = Arc::new(read()?);
        self.put(schedule, &definition);
        Ok(definition)
    }

    /// Remembers a definition that was just written.
    pub(crate) fn put(&self, schedule: ScheduleKey, definition: &Arc<Schedule>) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= DEFINITIONS_MAX {
            known.clear();
        }
        known.insert((schedule, definition.version), Arc::clone(definition));
    }
}
