//! The examples of the five documents behave as they say. (S2's auto-disable after five failures is in `settle.rs`.)

use jiff::SignedDuration;
use punctual_plan::{CatchUp, EntryState, Jitter, JitterMode};

use crate::stage::{Case, at, check, seconds};

#[test]
fn s1_a_two_hour_task_runs_once_after_a_twelve_hour_outage() {
    let case = Case::new("0 */2 * * *", "06:30:00", "18:30:00");
    check(
        &case.policy(|policy| policy.catch_up = CatchUp::RunOnce),
        "08:00:00 missed caught_up | 10:00:00 missed caught_up | 12:00:00 missed caught_up | \
         14:00:00 missed caught_up | 16:00:00 missed caught_up | 18:00:00 fires 18:30:00 | planned 18:31:00 | \
         next 20:00:00",
    );
}

#[test]
fn s0_every_missed_slot_has_an_entry_of_its_own() {
    check(
        &Case::new("*/15 * * * *", "10:00:00", "11:10:00"),
        "10:15:00 missed outage | 10:30:00 missed outage | 10:45:00 missed outage | 11:00:00 missed outage | \
         planned 11:11:00 | next 11:15:00",
    );
}

#[test]
fn s3_catches_up_with_at_most_a_hundred_runs() {
    let mut case = Case::new("* * * * *", "10:00:00", "10:00:00").policy(|policy| {
        policy.catch_up = CatchUp::RunAll;
    });
    case.now += SignedDuration::from_hours(24);
    let plan = case.plan();
    let late = plan.entries.iter().filter(|entry| {
        entry.state == EntryState::Scheduled && entry.scheduled_for <= case.now && entry.fire_at == case.now
    });
    assert_eq!(late.count(), 100);
    assert_eq!(plan.ranges.iter().map(|range| range.count).sum::<u64>(), 1_340);
}

#[test]
fn s4_spreads_late_runs_over_the_window_and_jitters_to_both_sides() {
    let case = Case::new("*/10 * * * *", "10:05:00", "10:35:00").policy(|policy| {
        policy.catch_up = CatchUp::Spread;
        policy.jitter = Jitter { max: seconds(30), mode: JitterMode::Around };
    });
    check(
        &case,
        "10:10:00 fires 10:35:00 | 10:20:00 fires 10:35:20 | 10:30:00 fires 10:35:40 | planned 10:36:30 | \
         next 10:40:00",
    );
    let offsets: Vec<SignedDuration> = (0..50)
        .map(|hour| {
            let mut case = Case { now: at("09:59:00") + SignedDuration::from_hours(hour), ..case.clone() };
            case.cursor = punctual_plan::Cursor::starting(case.now);
            let entry = case.plan().entries.remove(0);
            entry.fire_at.duration_since(entry.scheduled_for)
        })
        .collect();
    assert!(offsets.iter().all(|offset| offset.abs() <= seconds(30)), "{offsets:?}");
    assert!(
        offsets.iter().any(SignedDuration::is_negative) && offsets.iter().any(SignedDuration::is_positive)
    );
}
