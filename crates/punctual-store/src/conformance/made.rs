//! Schedules in a few words, on one fixed day.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use punctual_plan::{Action, Policy, Process, Schedule, ScheduleId, When};
use punctual_time::{Cron, Interval, Timing, Zone};
use sha2::{Digest, Sha256};
use uuid::Uuid;

/// A time of one fixed day, which is a Thursday.
pub fn at(text: &str) -> Timestamp {
    format!("2026-01-01T{text}Z").parse().expect("a time of day")
}

/// A length of time.
pub fn seconds(count: i64) -> SignedDuration {
    SignedDuration::from_secs(count)
}

/// An id that is the same for the same name.
pub fn id_of(name: &str) -> ScheduleId {
    let hash = Sha256::digest(name);
    ScheduleId(Uuid::from_slice(&hash[..16]).expect("an id has 16 bytes"))
}

/// A cron schedule in UTC that runs a program.
pub fn cron(name: &str, spec: &str) -> Schedule {
    let parsed = spec.parse::<Cron>().expect("the suite's specs are valid");
    Schedule { spec: spec.to_owned(), ..made(name, Timing::new(parsed, Zone::utc())) }
}

/// An interval.
pub fn every(name: &str, spec: &str) -> Schedule {
    let spec = spec.parse::<Interval>().expect("the suite's intervals are valid");
    made(name, Timing { created_at: at("10:00:00"), ..Timing::new(spec, Zone::utc()) })
}

fn made(name: &str, timing: Timing) -> Schedule {
    let mut schedule = Schedule::new(id_of(name), name, timing, Action::Process(Process::new(["true"])));
    schedule.owner.org_id = "acme".to_owned();
    schedule
}

/// A schedule that follows another.
pub fn following(name: &str, chain: punctual_plan::Chain) -> Schedule {
    Schedule { when: When::Chain(chain), ..cron(name, "0 0 1 1 *") }
}

/// Changes to a schedule, one after the other.
pub trait Shape {
    /// With another policy.
    fn policy(self, change: impl FnOnce(&mut Policy)) -> Schedule;
    /// With other ticks.
    fn timing(self, change: impl FnOnce(&mut Timing)) -> Schedule;
    /// With another target.
    fn action(self, action: Action) -> Schedule;
}

impl Shape for Schedule {
    fn policy(mut self, change: impl FnOnce(&mut Policy)) -> Schedule {
        change(Arc::make_mut(&mut self.policy));
        self
    }

    fn timing(mut self, change: impl FnOnce(&mut Timing)) -> Schedule {
        if let When::Ticks(timing) = &mut self.when {
            change(timing);
        }
        self
    }

    fn action(mut self, action: Action) -> Schedule {
        Arc::make_mut(&mut self.target).action = action;
        self
    }
}
