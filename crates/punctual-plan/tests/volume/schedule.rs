//! Schedules of all kinds: specs, zones, windows, bounds and policies by chance.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use punctual_plan::{
    Action, BreakerRule, CatchUp, Delivery, Jitter, JitterMode, Overlap, Policy, Process, Schedule,
    ScheduleId,
};
use punctual_time::{
    Anchor, Calendar, Cron, Interval, Once, QuietHours, Spec, Timing, Weekdays, Windows, Zone,
};

use crate::dice::Dice;

/// Elapsed and wall-clock, with and without seconds, often and rare.
const CRONS: &[&str] = &[
    "* * * * *",
    "* * * * *",
    "*/5 * * * *",
    "*/15 * * * *",
    "*/7 * * * * *",
    "* * * * * *",
    "0,20 0,3 * * * *",
    "15 */2 * * * *",
    "*/15 9-17 * * MON-FRI",
    "30 2 * * *",
    "30 1 * * *",
    "*/20 0-5 * * *",
    "0 0 1 * *",
    "0 */2 * * *",
    "0 9 * * 1#2",
    "0 17 LW * *",
    "0 0 * * *",
    "5,35 1-3 * * *",
];

const INTERVALS: &[&str] = &["30s", "90s", "7m", "2h", "1d", "2 weeks", "monthly", "hourly"];

const ZONES: &[&str] = &[
    "UTC",
    "America/New_York",
    "America/New_York",
    "Europe/Berlin",
    "Australia/Lord_Howe",
    "Africa/Casablanca",
    "Asia/Kolkata",
    "America/St_Johns",
    "Pacific/Apia",
];

/// Nights in which some clock changes, and a plain one.
const NIGHTS: &[&str] = &[
    "2026-03-08T04:00:00Z",
    "2026-11-01T03:00:00Z",
    "2026-03-29T00:00:00Z",
    "2026-10-25T00:00:00Z",
    "2026-04-04T13:00:00Z",
    "2026-10-03T14:00:00Z",
    "2011-12-30T06:00:00Z",
    "2026-02-15T00:00:00Z",
    "2026-01-01T10:00:00Z",
];

/// Where something begins.
pub(crate) fn start(dice: &mut Dice) -> Timestamp {
    let night: Timestamp = dice.pick(NIGHTS).parse().expect("an instant");
    night + dice.seconds(4 * 3_600) + SignedDuration::from_millis(dice.below(1_000))
}

fn windows(dice: &mut Dice, around: Timestamp) -> Windows {
    let mut windows = Windows::default();
    match dice.below(12) {
        0 => {
            let (start, end) = (dice.below(86_400) as u32, dice.below(86_400) as u32);
            windows.only_between = punctual_time::DayRange::new(start, end).ok();
        }
        1 => windows.not_on = Weekdays::none().with(dice.below(7) as u32),
        2 => windows.quiet_hours.push(QuietHours {
            name: "night".to_owned(),
            during: dice.pick(&["22:00-06:00", "01:00-02:30", "10:05-10:20"]).parse().expect("a range"),
            on: if dice.percent(50) { Weekdays::none() } else { Weekdays::none().with(dice.below(7) as u32) },
            zone: None,
        }),
        3 => {
            let date = around.to_zoned(jiff::tz::TimeZone::UTC).date();
            let next = date.tomorrow().expect("a day after it");
            windows.calendars.push(Calendar::new("holidays", [if dice.percent(50) { date } else { next }]));
        }
        _ => {}
    }
    windows
}

fn spec(dice: &mut Dice, around: Timestamp) -> (Spec, Anchor) {
    match dice.below(10) {
        0 | 1 => {
            let every = dice.pick(INTERVALS).parse::<Interval>().expect("an interval");
            let anchor = dice.pick(&[Anchor::Fixed, Anchor::Fixed, Anchor::LastStart, Anchor::LastFinish]);
            (Spec::from(every), anchor)
        }
        2 if dice.percent(40) => (Spec::from(Once::at(around + dice.seconds(20_000))), Anchor::Fixed),
        _ => (Spec::from(dice.pick(CRONS).parse::<Cron>().expect("a spec")), Anchor::Fixed),
    }
}

/// When: a spec in a zone, with or without windows and bounds.
pub(crate) fn timing(dice: &mut Dice, around: Timestamp) -> Timing {
    let (spec, anchor) = spec(dice, around);
    let mut timing = Timing::new(spec, Zone::get(dice.pick(ZONES)).expect("a zone"));
    timing.anchor = anchor;
    timing.created_at = around;
    timing.windows = windows(dice, around);
    if dice.percent(8) {
        timing.bounds.start_at = Some(around + dice.seconds(10_000));
    }
    if dice.percent(8) {
        timing.bounds.end_at = Some(around + dice.seconds(40_000));
    }
    if dice.percent(8) {
        timing.bounds.max_runs = Some(dice.below(30).unsigned_abs());
    }
    timing
}

/// What a schedule wants.
pub(crate) fn policy(dice: &mut Dice) -> Policy {
    let mut policy = Policy {
        overlap: dice.pick(Overlap::ALL),
        catch_up: dice.pick(CatchUp::ALL),
        max_catch_up: dice.pick(&[0, 1, 3, 20, 100, 150]),
        missed_audit_max: 3,
        grace: SignedDuration::from_secs(dice.pick(&[0, 5, 60, 60, 600])),
        ..Policy::default()
    };
    if dice.percent(15) {
        policy.start_deadline = Some(SignedDuration::from_secs(dice.pick(&[1, 30, 300, 4_000])));
    }
    if dice.percent(25) {
        let max = SignedDuration::from_secs(dice.pick(&[1, 10, 40, 90]));
        policy.jitter = Jitter { max, mode: dice.pick(JitterMode::ALL) };
    }
    if dice.percent(30) {
        policy.retry_after = Some(SignedDuration::from_secs(dice.pick(&[0, 20, 60, 200])));
    }
    if dice.percent(15) {
        policy.guard = Some(dice.pick(&["a", "b"]).to_owned());
    }
    if dice.percent(20) {
        policy.delivery = Delivery::AtMostOnce;
    }
    if dice.percent(50) {
        policy.max_consecutive_failures = None;
    }
    policy.run_timeout = SignedDuration::from_secs(dice.pick(&[30, 600, 3_600]));
    policy
}

/// A whole definition.
pub(crate) fn schedule(dice: &mut Dice, place: usize, around: Timestamp) -> Schedule {
    let id = ScheduleId(uuid::Uuid::from_u128(place as u128 + 1));
    let action = Action::Process(Process::new(["true"]));
    let mut schedule = Schedule::new(id, &format!("s{place}"), timing(dice, around), action);
    schedule.policy = Arc::new(policy(dice));
    if dice.percent(30) {
        let target = Arc::make_mut(&mut schedule.target);
        target.name = "shared".to_owned();
        target.breaker = BreakerRule { threshold: 2, reset_after: SignedDuration::from_secs(120) };
    }
    schedule
}
