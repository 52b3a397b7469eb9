//! Schedules whose definitions cannot be read any more.

use jiff::Timestamp;
use punctual_plan::rule::{Rule, holds};
use punctual_plan::{ScheduleKey, Status};

use super::data::Data;
use super::life::Moment;
use crate::to_microsecond;

impl Data {
    /// Takes those of them out of `active` that cannot be read now; gives back how many.
    pub(super) fn pause_invalid(&mut self, now: Timestamp, schedules: &[ScheduleKey]) -> usize {
        let moment = Moment { now: to_microsecond(now), tz: self.tz };
        let mut paused = 0;
        for schedule in schedules {
            let is_active = self.states.get(schedule).is_some_and(|state| state.status.is_active());
            let record = self.schedules.get(schedule).filter(|one| is_active && one.deleted_at.is_none());
            let why = record.and_then(|record| self.unusable(record.org, &record.definition));
            if let Some(error) = why.filter(|_| holds(Rule::UnreadableIsPaused)) {
                self.leave(*schedule, &Status::PausedInvalid { error }, moment);
                paused += 1;
            }
        }
        paused
    }
}
