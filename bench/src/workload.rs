//! The workload: so many schedules with crons and zones of their own, and virtual time that goes on in half minutes.
//!
//! The more schedules there are, the rarer each ticks, so that a step has about one full batch whatever the size: what
//! is compared is the size of the tables, not of the batches.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use punctual_plan::{Action, Cursor, Process, Schedule, ScheduleId, Status, Subject, Window, plan};
use punctual_store::{ScheduleWrite, Write};
use punctual_time::{Cron, Timing, Zone};
use uuid::Uuid;

use crate::Failure;

/// Half of the planner's window: what becomes plannable in one step is due in the next.
pub(crate) const STEP_S: i64 = 30;

/// Steps before the measurement, until plans, admissions and ends are all under way.
const WARM_UP: i64 = 4;

/// Where the virtual clock starts, in seconds since 1970: noon in June, far from any change of offset.
const START_S: i64 = 1_781_524_800;

/// Zones of the schedules; their offsets are whole multiples of ten minutes, so every period stays even.
const ZONES: &[&str] = &[
    "UTC",
    "Europe/Berlin",
    "America/New_York",
    "Asia/Tokyo",
    "Asia/Kolkata",
    "Australia/Sydney",
    "America/Sao_Paulo",
    "Africa/Lagos",
];

/// How many schedules, how often each ticks, how many steps are measured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Workload {
    pub(crate) schedules: u32,
    pub(crate) period_s: i64,
    pub(crate) steps: i64,
    /// When the schedules are made, in seconds since 1970.
    start_s: i64,
}

impl Workload {
    /// The workload of a size, with about this many runs in its measured part.
    pub(crate) fn new(schedules: u32, runs: i64) -> Self {
        let period_s = match schedules {
            0..=20_000 => 60,
            20_001..=400_000 => 600,
            _ => 3_600,
        };
        let steps = (runs * period_s / (i64::from(schedules) * STEP_S)).max(4);
        Self { schedules, period_s, steps, start_s: START_S }
    }

    /// When the schedules are made.
    pub(crate) fn start(&self) -> Timestamp {
        Timestamp::from_second(self.start_s).expect("a second of this century")
    }

    /// The same with a tick in every minute, however many schedules there are.
    pub(crate) fn every_minute(self) -> Self {
        Self { period_s: 60, ..self }
    }

    /// The same from another instant on, which is a whole number of steps since 1970.
    pub(crate) fn from(self, start_s: i64) -> Self {
        Self { start_s: start_s - start_s.rem_euclid(STEP_S), ..self }
    }

    /// The steps before the measured ones.
    pub(crate) fn warm_up(self) -> impl Iterator<Item = Timestamp> {
        (1..=WARM_UP).map(move |number| self.step(number))
    }

    /// The measured steps.
    pub(crate) fn measured(self) -> impl Iterator<Item = Timestamp> {
        (WARM_UP + 1..=WARM_UP + self.steps).map(move |number| self.step(number))
    }

    /// The instant of a step, from 1.
    pub(crate) fn step(&self, number: i64) -> Timestamp {
        self.start() + SignedDuration::from_secs(number * STEP_S)
    }

    /// The phase of a schedule within the period: neighbours in the table are due at quite different times.
    pub(crate) fn phase_s(&self, number: u32) -> i64 {
        let mixed = u64::from(number).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        i64::try_from((mixed >> 33) % self.period_s.unsigned_abs()).unwrap_or_default()
    }

    /// A schedule with its first window, ready to be made.
    pub(crate) fn create(&self, number: u32) -> Result<ScheduleWrite, Failure> {
        let now = self.start();
        let zone = Zone::get(ZONES[number as usize % ZONES.len()])?;
        let timing = Timing::new(self.spec(number).parse::<Cron>()?, zone);
        let id = ScheduleId(Uuid::from_u128(u128::from(self.mixed_id(number)) << 64 | u128::from(number)));
        let action =
            Action::Process(Process::new(["/usr/local/bin/report", "--number", &number.to_string()]));
        let definition = Schedule::new(id, &format!("report-{number}"), timing, action);
        let first = Subject::of(&definition, Cursor::starting(now)).map(|it| plan(&it, Window::at(now)));
        let write = Write::Create {
            definition: Arc::new(definition),
            status: Status::Active,
            plan: first,
            declared_set: None,
        };
        Ok(ScheduleWrite { write, kind: "schedule.created", note: String::new(), now })
    }

    /// Ids come in no order, as random ones do.
    fn mixed_id(&self, number: u32) -> u64 {
        u64::from(number).wrapping_add(7).wrapping_mul(0xbf58_476d_1ce4_e5b9).rotate_left(17)
    }

    fn spec(&self, number: u32) -> String {
        let phase = self.phase_s(number);
        let (minute, second) = (phase / 60, phase % 60);
        match self.period_s {
            60 => format!("{second} * * * * *"),
            600 => format!("{second} {minute}-59/10 * * * *"),
            _ => format!("{second} {minute} * * * *"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_schedule_ticks_once_in_its_period() {
        for size in [10_000, 100_000, 1_000_000] {
            let workload = Workload::new(size, 200_000);
            for number in [0, 1, 7, 4_711, 9_999] {
                let Write::Create { definition, .. } = workload.create(number).expect("a schedule").write
                else {
                    panic!("it is made");
                };
                let timing = definition.when.timing().expect("it ticks");
                let first = timing.planned_after(workload.start()).expect("a tick");
                let second = timing.planned_after(first).expect("another");
                assert_eq!(second.as_second() - first.as_second(), workload.period_s, "{}", definition.spec);
            }
        }
    }
}
