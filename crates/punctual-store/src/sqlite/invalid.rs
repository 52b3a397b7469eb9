//! Schedules whose definitions cannot be read any more.

use jiff::Timestamp;
use punctual_plan::{ScheduleKey, Status};

use super::change::{Stand, disable};
use super::connection::Db;
use crate::Error;

/// Takes those of them out of `active` that cannot be read now; gives back how many.
pub(super) fn pause(db: &Db, now: Timestamp, schedules: &[ScheduleKey]) -> Result<usize, Error> {
    let mut paused = 0;
    for schedule in schedules {
        let Some(stand) = Stand::of(db, *schedule)?.filter(|stand| stand.is_active) else { continue };
        match db.definition(*schedule, stand.version) {
            Ok(_) => {}
            Err(Error::Corrupt { what }) => {
                disable(db, *schedule, &Status::PausedInvalid { error: what }, now)?;
                paused += 1;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(paused)
}
