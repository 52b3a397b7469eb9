//! A change of a schedule that is about to be written.

use std::sync::Arc;

use punctual_plan::{Changed, Cursor, Plan, Schedule, ScheduleKey, Status};

use crate::{ScheduleRow, Write};

/// Whether a schedule lives on after a change.
pub(super) enum Fate {
    Lives,
    Deleted,
}

/// A change that is about to be written.
pub(super) struct Turn {
    pub(super) schedule: ScheduleKey,
    pub(super) version: i64,
    pub(super) from: Cursor,
    pub(super) definition: Option<Arc<Schedule>>,
    pub(super) status: Option<Status>,
    pub(super) fate: Fate,
    pub(super) changed: Changed,
    pub(super) plan: Option<Plan>,
}

impl Turn {
    pub(super) fn of(row: &ScheduleRow, changed: Changed) -> Self {
        Self {
            schedule: row.key,
            version: row.definition.version,
            from: row.state.cursor,
            definition: None,
            status: None,
            fate: Fate::Lives,
            changed,
            plan: None,
        }
    }
}

impl From<Turn> for Write {
    fn from(turn: Turn) -> Self {
        Self::Change {
            schedule: turn.schedule,
            version: turn.version,
            from: turn.from,
            definition: turn.definition,
            status: turn.status,
            is_deleted: matches!(turn.fate, Fate::Deleted),
            changed: turn.changed,
            plan: turn.plan,
        }
    }
}
