//! The audit log: what was done to a schedule or decided over its ticks, written with the deed itself.

use jiff::Timestamp;
use punctual_plan::{OrgKey, ScheduleKey};
use rusqlite::{Connection, params};

use super::decode::change;
use super::sql;
use crate::Error;

/// One line of the audit log.
pub(super) struct Event<'a> {
    pub(super) org: OrgKey,
    pub(super) schedule: ScheduleKey,
    pub(super) kind: &'a str,
    pub(super) detail: String,
    pub(super) at: Timestamp,
}

/// Appends an event.
pub(super) fn record(db: &Connection, event: &Event<'_>) -> Result<(), Error> {
    let row = params![event.org.0, event.at.as_microsecond(), event.kind, event.schedule.0, event.detail];
    change(db, sql!("insert_audit"), row).map(|_| ())
}
