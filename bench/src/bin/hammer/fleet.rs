//! The schedules: a simple spec whose ticks anybody can count, and every kind of claim among their policies.
//!
//! The name says all that the reader needs: `p10-guard-000042` ticks at every multiple of 10 seconds and holds a guard.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use punctual_plan::{
    Action, Cursor, Overlap, Policy, Process, Schedule, ScheduleId, Status, Subject, Window, plan,
};
use punctual_store::{ScheduleWrite, Write};
use punctual_time::{Cron, Timing, Zone};
use uuid::Uuid;

use crate::Failure;

/// Orgs; those with an even number have limits. No divisor is shared with the kinds, so that each org has all of them.
pub(crate) const ORGS: u32 = 9;

/// What an org with limits may have in flight: one has to wait for it now and then, the other is only counted.
pub(crate) fn limits_of(number: u32) -> String {
    let places = if number == 0 { 60 } else { 100_000 };
    format!(r#"{{"runs_in_flight":{places},"over":"wait"}}"#)
}

/// A schedule with `max_runs` may run this often.
const RUNS_MAX: u64 = 25;

/// Guards and shared lanes of an org: few, so that they are contended for.
const NAMES: u32 = 3;

const PERIODS_S: [u32; 3] = [5, 10, 20];

/// What a schedule is there for.
const KINDS: [&str; 8] = ["allow", "skip", "queue", "guard", "lane", "max", "retry", "cancel"];

/// The org of a schedule.
pub(crate) fn org_of(number: u32) -> String {
    format!("org-{}", number % ORGS)
}

/// A schedule with its first window, ready to be made.
pub(crate) fn creation(number: u32, now: Timestamp) -> Result<ScheduleWrite, Failure> {
    let schedule = schedule(number)?;
    let first = Subject::of(&schedule, Cursor::starting(now)).map(|it| plan(&it, Window::at(now)));
    let write = Write::Create {
        definition: Arc::new(schedule),
        status: Status::Active,
        plan: first,
        declared_set: None,
    };
    Ok(ScheduleWrite { write, kind: "schedule.created", note: "hammered".to_owned(), now })
}

fn schedule(number: u32) -> Result<Schedule, Failure> {
    let period = PERIODS_S[(number / 8 % 3) as usize];
    let kind = KINDS[(number % 8) as usize];
    let mut timing = Timing::new(format!("*/{period} * * * * *").parse::<Cron>()?, Zone::utc());
    timing.bounds.max_runs = (kind == "max").then_some(RUNS_MAX);
    let id = ScheduleId(Uuid::from_u128(u128::from(number.wrapping_mul(0x9e37_79b9)) << 96 | 0x5ced));
    let action = Action::Process(Process::new(["true"]));
    let mut schedule = Schedule::new(id, &format!("p{period}-{kind}-{number:06}"), timing, action);
    schedule.owner.org_id = org_of(number);
    // A breaker of its own: a target that fails skips its own ticks and nobody else's.
    Arc::make_mut(&mut schedule.target).name = format!("target-{number}");
    schedule.policy = Arc::new(policy(kind, number));
    Ok(schedule)
}

fn policy(kind: &str, number: u32) -> Policy {
    // Kinds and orgs repeat with the number; what is shared must not repeat with them.
    let name = format!("shared-{}", number / 32 % NAMES);
    let overlap = match kind {
        "allow" | "guard" => Overlap::Allow,
        "queue" | "lane" => Overlap::Queue,
        "cancel" => Overlap::Cancel,
        _ => Overlap::Skip,
    };
    Policy {
        overlap,
        lane: (kind == "lane").then(|| name.clone()),
        guard: (kind == "guard").then_some(name),
        retry_after: ["retry", "allow", "queue"].contains(&kind).then(|| SignedDuration::from_secs(2)),
        max_consecutive_failures: None,
        ..Policy::default()
    }
}
