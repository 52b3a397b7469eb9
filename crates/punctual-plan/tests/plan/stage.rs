//! One schedule, its cursor and now, against the ledger that `plan` yields, as text.

use jiff::{SignedDuration, Timestamp};
use punctual_plan::{
    Cursor, Entry, EntryState, LateRow, NonFire, Plan, Policy, Reason, RunKey, ScheduleId, Subject, Window,
    plan,
};
use punctual_time::{Cron, Timing, Zone};

/// A time of one fixed day, which is a Thursday.
pub(crate) fn at(text: &str) -> Timestamp {
    format!("2026-01-01T{text}Z").parse().expect("a time of day")
}

pub(crate) fn clock(time: Timestamp) -> String {
    let format = if time.subsec_nanosecond() == 0 { "%H:%M:%S" } else { "%H:%M:%S%.3f" };
    time.strftime(format).to_string()
}

pub(crate) fn seconds(count: i64) -> SignedDuration {
    SignedDuration::from_secs(count)
}

/// A schedule and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) timing: Timing,
    pub(crate) policy: Policy,
    pub(crate) cursor: Cursor,
    pub(crate) now: Timestamp,
    pub(crate) late: Vec<LateRow>,
    pub(crate) outstanding: usize,
    pub(crate) slept: Option<Reason>,
}

impl Case {
    /// A cron schedule in UTC that was planned up to an instant.
    pub(crate) fn new(spec: &str, planned: &str, now: &str) -> Self {
        let timing = Timing::new(spec.parse::<Cron>().expect("the case's spec is valid"), Zone::utc());
        Self {
            timing,
            policy: Policy::default(),
            cursor: Cursor::starting(at(planned)),
            now: at(now),
            late: Vec::new(),
            outstanding: 0,
            slept: None,
        }
    }

    pub(crate) fn policy(mut self, change: impl FnOnce(&mut Policy)) -> Self {
        change(&mut self.policy);
        self
    }

    pub(crate) fn timing(mut self, change: impl FnOnce(&mut Timing)) -> Self {
        change(&mut self.timing);
        self
    }

    /// Armed rows that were slept through, numbered from 1.
    pub(crate) fn late(mut self, ticks: &[&str]) -> Self {
        let row = |(run, tick): (i64, &&str)| LateRow {
            run: RunKey(run),
            scheduled_for: at(tick),
            fire_at: at(tick),
            verdict: None,
        };
        self.late = (1..).zip(ticks).map(row).collect();
        self
    }

    pub(crate) fn subject(&self) -> Subject<'_> {
        Subject {
            id: ScheduleId(uuid::Uuid::from_u128(7)),
            timing: &self.timing,
            policy: &self.policy,
            cursor: self.cursor,
            late: &self.late,
            outstanding: self.outstanding,
            slept: self.slept.clone(),
        }
    }

    pub(crate) fn plan(&self) -> Plan {
        plan(&self.subject(), Window::at(self.now))
    }
}

fn end(end: &NonFire) -> String {
    format!("{} {}", end.status(), end.reason().code())
}

fn entry(entry: &Entry) -> String {
    let tick = clock(entry.scheduled_for);
    match &entry.state {
        EntryState::Scheduled if entry.fire_at == entry.scheduled_for => format!("{tick} fires"),
        EntryState::Scheduled => format!("{tick} fires {}", clock(entry.fire_at)),
        EntryState::Suppressed(reason) => format!("{tick} will be skipped {}", reason.code()),
        EntryState::Ended(non_fire) => format!("{tick} {}", end(non_fire)),
    }
}

pub(crate) fn ledger(plan: &Plan) -> String {
    let mut lines: Vec<String> = plan.entries.iter().map(entry).collect();
    lines.extend(plan.ranges.iter().map(|range| {
        let (first, last) = (clock(range.first), clock(range.last));
        format!("{first}..{last} {} {}", range.count, end(&range.end))
    }));
    lines.extend(plan.closed.iter().map(|one| format!("{} {}", one.run, end(&one.end))));
    lines.extend(plan.refired.iter().map(|one| format!("{} fires {}", one.run, clock(one.fire_at))));
    lines.push(format!("planned {}", clock(plan.cursor.planned_through)));
    lines.push(format!("next {}", plan.next_tick.map_or("never".to_owned(), clock)));
    lines.join(" | ")
}

pub(crate) fn check(case: &Case, expected: &str) {
    assert_eq!(ledger(&case.plan()), expected, "{}", case.timing.spec);
}
