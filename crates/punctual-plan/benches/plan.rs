//! How long `plan` takes: a plain due schedule, a herd of them, a herd of different ones, and a week of seconds slept
//! through; and an audit.
//!
//! `cargo bench -p punctual-plan` prints one line per case, the best of several windows.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark prints, and fails at once")]
#![allow(clippy::disallowed_methods, reason = "a benchmark reads the clock")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};
use punctual_plan::{CatchUp, Cursor, Policy, Recorded, ScheduleId, Subject, Window, audit_ledger, plan};
use punctual_time::{Cron, Timing, Zone};

const WINDOWS: usize = 20;
const CALLS: u32 = 1_000;
const HERD: u32 = 100_000;

fn best(calls: u32, mut work: impl FnMut()) -> Duration {
    let window = |work: &mut dyn FnMut()| {
        let start = Instant::now();
        (0..calls).for_each(|_| work());
        start.elapsed() / calls
    };
    (0..WINDOWS).map(|_| window(&mut work)).min().unwrap()
}

struct Case {
    timing: Timing,
    policy: Policy,
    start: Timestamp,
    slept: SignedDuration,
}

impl Case {
    fn new(spec: &str, catch_up: CatchUp, slept: SignedDuration) -> Self {
        let zone = Zone::get("America/New_York").unwrap();
        let timing = Timing::new(spec.parse::<Cron>().unwrap(), zone);
        let start = "2026-11-01T05:59:30Z".parse().unwrap();
        Self { timing, policy: Policy { catch_up, ..Policy::default() }, start, slept }
    }

    /// A schedule like no other of its herd, half a minute before its next tick.
    fn distinct(place: usize, zones: &[Zone]) -> Self {
        let (minute, hour) = (place % 60, place / 60 % 24);
        let spec = match place / 1_440 % 6 {
            0 => format!("{minute} {hour} * * *"),
            1 => format!("{minute} * * * {}", hour % 7),
            2 => format!("{} {minute} {hour}-23 * * *", place % 59),
            3 => format!("{minute},{} */{} * * MON-FRI", (minute + 30) % 60, hour % 11 + 1),
            4 => format!("{minute} {hour} {} * *", place % 28 + 1),
            _ => format!("{}-59/{} {hour} * * *", minute % 30, place % 13 + 2),
        };
        let timing = Timing::new(spec.parse::<Cron>().unwrap(), zones[place % zones.len()].clone());
        let due = timing.next("2026-10-31T12:00:00Z".parse().unwrap()).unwrap();
        let start = due - SignedDuration::from_secs(30);
        Self { timing, policy: Policy::default(), start, slept: SignedDuration::ZERO }
    }

    /// How many ticks it arms.
    fn plan(&self) -> usize {
        let start = self.start;
        let subject = Subject {
            id: ScheduleId(uuid::Uuid::nil()),
            timing: &self.timing,
            policy: &self.policy,
            cursor: Cursor::starting(start),
            late: &[],
            outstanding: 0,
            slept: None,
        };
        black_box(plan(black_box(&subject), Window::at(start + self.slept))).entries.len()
    }
}

fn main() {
    let due = Case::new("* * * * *", CatchUp::Skip, SignedDuration::ZERO);
    println!("one plan of a plain due cron schedule  {:>10?}", best(CALLS, || _ = due.plan()));
    let herd = best(1, || (0..HERD).for_each(|_| _ = due.plan()));
    println!("{HERD} schedules                       {herd:>10?}");
    let zones: Vec<Zone> = Zone::names().filter_map(|name| Zone::get(&name).ok()).collect();
    let distinct: Vec<Case> = (0..HERD as usize).map(|place| Case::distinct(place, &zones)).collect();
    let herd = best(1, || distinct.iter().for_each(|case| _ = case.plan()));
    let armed: usize = distinct.iter().map(Case::plan).sum();
    println!("{HERD} different schedules             {herd:>10?}, {} zones, {armed} ticks", zones.len());
    let week = SignedDuration::from_hours(7 * 24);
    for catch_up in CatchUp::ALL {
        let slept = Case::new("* * * * * *", *catch_up, week);
        println!("a week of seconds, {:<19} {:>10?}", catch_up.name(), best(10, || _ = slept.plan()));
    }
    for (what, spec, days) in [("month of seconds", "* * * * * *", 31), ("year of */5", "*/5 * * * *", 366)] {
        let timing = Case::new(spec, CatchUp::Skip, SignedDuration::ZERO).timing;
        let start: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
        let stretch = start..=start + SignedDuration::from_hours(24 * days);
        let rows: Vec<Timestamp> = timing.ticks(stretch.clone()).map(|tick| tick.at).collect();
        let audit = || {
            black_box(audit_ledger(&timing, Recorded { rows: &rows, ranges: &[] }, stretch.clone()));
        };
        println!("an audit of a {what:<24} {:>10?}", best(1, audit));
    }
}
