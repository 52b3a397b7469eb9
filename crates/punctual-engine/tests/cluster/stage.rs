//! What every story needs: times of one day, schedules by their spec.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use punctual_plan::{Action, Policy, Process, Schedule, ScheduleId};
use punctual_time::{Cron, Timing, Zone};

/// The seed of stories for which any will do.
pub(crate) const SEED: u64 = 7;

/// A time of the day on which all stories play.
pub(crate) fn at(text: &str) -> Timestamp {
    format!("2026-01-01T{text}Z").parse().expect("a time of day")
}

pub(crate) fn seconds(count: i64) -> SignedDuration {
    SignedDuration::from_secs(count)
}

/// A schedule by its name and spec.
pub(crate) fn cron(name: &str, spec: &str) -> Schedule {
    let timing = Timing::new(spec.parse::<Cron>().expect("a valid spec"), Zone::utc());
    let hash = name.bytes().map(u128::from).fold(7, |hash, byte| hash * 31 + byte);
    let action = Action::Process(Process::new(["true"]));
    Schedule::new(ScheduleId(uuid::Uuid::from_u128(hash)), name, timing, action)
}

/// The same with other policies.
pub(crate) fn with(mut schedule: Schedule, change: impl FnOnce(&mut Policy)) -> Schedule {
    change(Arc::make_mut(&mut schedule.policy));
    schedule
}
