//! Plan: ticks become ledger entries before they are due.
//!
//! [`plan`] is called for a schedule whose next unplanned tick comes near. It arms the ticks of the
//! window ahead and, if time went by unplanned (the scheduler was down), decides the late ones together
//! with the armed rows that were slept through.

use jiff::{SignedDuration, Timestamp};
use punctual_time::{Cron, Zone};

use crate::catch_up::Late;
use crate::{MISSED_ROWS_MAX, PLAN_ENTRIES_MAX, Reason, RunKey};

/// How far a schedule has been planned and decided; moves only together with the entries it stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cursor {
    /// Every tick up to here has its ledger entry.
    pub planned_through: Timestamp,
    /// No instant up to here is ever decided again, whatever the clock does.
    pub decided_through: Timestamp,
}

impl Cursor {
    /// The cursor of a schedule made at `now`: its first tick comes strictly after.
    pub fn starting(now: Timestamp) -> Self {
        Self { planned_through: now, decided_through: now }
    }
}

/// What [`plan`] needs to know of a schedule.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// Its spec.
    pub cron: &'a Cron,
    /// Its zone.
    pub zone: &'a Zone,
    /// How far it has been planned.
    pub cursor: Cursor,
    /// Its armed rows whose instant has passed.
    pub late: &'a [LateRow],
}

/// An armed row whose instant has passed without anybody looking.
#[derive(Clone, Copy, Debug)]
pub struct LateRow {
    /// The row.
    pub run: RunKey,
    /// Its tick.
    pub scheduled_for: Timestamp,
    /// When it should have been admitted.
    pub fire_at: Timestamp,
}

/// The present and how far to look beyond it.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    /// The present.
    pub now: Timestamp,
    /// How far ahead ticks are armed.
    pub lookahead: SignedDuration,
}

/// Everything that shall be written, in one transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// New ledger rows, in the order of their ticks.
    pub entries: Vec<Entry>,
    /// A missed stretch that is too long for rows of its own.
    pub ranges: Vec<Range>,
    /// Armed rows that end as missed.
    pub closed: Vec<(RunKey, Reason)>,
    /// Where the cursor stands afterwards.
    pub cursor: Cursor,
    /// The first tick after the cursor; `None` when the spec never ticks again.
    pub next_tick: Option<Timestamp>,
}

/// One new ledger row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The tick, in whole seconds.
    pub scheduled_for: Timestamp,
    /// When it is to be admitted.
    pub fire_at: Timestamp,
    /// Armed, or missed already.
    pub state: EntryState,
}

/// What a new ledger row starts as.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EntryState {
    /// Waits for its instant.
    Scheduled,
    /// Came too late; never in the future.
    Missed(Reason),
}

/// A stretch of equal non-fires.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Range {
    /// Its first tick.
    pub first: Timestamp,
    /// Its last tick.
    pub last: Timestamp,
    /// How many ticks it stands for.
    pub count: u64,
    /// Why none of them ran.
    pub reason: Reason,
}

/// Plans the ticks of a schedule from its cursor to the end of the window.
///
/// A clock that went backwards plans nothing new: the decision is made at `decided_through` then.
///
/// ```
/// use punctual_plan::{Cursor, LOOKAHEAD, Subject, Window, plan};
/// use punctual_time::{Cron, Dialect, Zone};
///
/// let cron = Cron::parse("*/20 * * * * *", Dialect::Standard)?;
/// let now = "2026-01-01T10:00:05Z".parse()?;
/// let subject = Subject { cron: &cron, zone: &Zone::utc(), cursor: Cursor::starting(now), late: &[] };
/// let plan = plan(&subject, Window { now, lookahead: LOOKAHEAD });
/// let ticks: Vec<String> = plan.entries.iter().map(|entry| entry.scheduled_for.to_string()).collect();
/// assert_eq!(ticks, ["2026-01-01T10:00:20Z", "2026-01-01T10:00:40Z", "2026-01-01T10:01:00Z"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn plan(subject: &Subject<'_>, window: Window) -> Plan {
    let at = window.now.max(subject.cursor.decided_through);
    let mut plan = Plan {
        entries: Vec::new(),
        ranges: Vec::new(),
        closed: Vec::new(),
        cursor: Cursor { decided_through: at, ..subject.cursor },
        next_tick: None,
    };
    decide_late(subject, at, &mut plan);
    arm(subject, at.saturating_add(window.lookahead).unwrap_or(Timestamp::MAX), &mut plan);
    plan.next_tick = subject.cron.next(plan.cursor.planned_through, subject.zone);
    plan
}

/// Arms the ticks after the cursor up to `horizon`.
fn arm(subject: &Subject<'_>, horizon: Timestamp, plan: &mut Plan) {
    let armed_max = plan.entries.len() + PLAN_ENTRIES_MAX;
    let mut from = plan.cursor.planned_through;
    while let Some(tick) = subject.cron.next(from, subject.zone).filter(|tick| *tick <= horizon) {
        if plan.entries.len() == armed_max {
            plan.cursor.planned_through = from;
            return;
        }
        plan.entries.push(Entry { scheduled_for: tick, fire_at: tick, state: EntryState::Scheduled });
        from = tick;
    }
    plan.cursor.planned_through = plan.cursor.planned_through.max(horizon);
}

/// Decides the unplanned stretch up to `at` together with the armed rows that were slept through.
///
/// Without an unplanned stretch the late rows are left to `admit`, which judges them by the same rule.
fn decide_late(subject: &Subject<'_>, at: Timestamp, plan: &mut Plan) {
    let Some(last_due) = last_tick(subject, at) else { return };
    let mut missed = Missed::default();
    let mut from = subject.cursor.planned_through;
    while let Some(tick) = subject.cron.next(from, subject.zone).filter(|tick| *tick <= last_due) {
        match (Late { scheduled_for: tick, fire_at: tick, last_due }).missed(at) {
            Some(reason) => missed.add(tick, reason),
            // It fires late: from now on its lateness counts from this decision.
            None => {
                plan.entries.push(Entry { scheduled_for: tick, fire_at: at, state: EntryState::Scheduled });
            }
        }
        from = tick;
    }
    missed.write(plan);
    plan.entries.sort_by_key(|entry| entry.scheduled_for);
    for row in subject.late {
        let late = Late { scheduled_for: row.scheduled_for, fire_at: row.fire_at, last_due };
        plan.closed.extend(late.missed(at).map(|reason| (row.run, reason)));
    }
    plan.cursor.planned_through = last_due.max(plan.cursor.planned_through);
}

/// The last unplanned tick at or before `at`.
fn last_tick(subject: &Subject<'_>, at: Timestamp) -> Option<Timestamp> {
    let after = at.saturating_add(SignedDuration::from_nanos(1)).unwrap_or(Timestamp::MAX);
    subject.cron.prev(after, subject.zone).filter(|tick| *tick > subject.cursor.planned_through)
}

/// Missed ticks on their way into the ledger: rows while they are few, ranges of equal reason otherwise.
#[derive(Default)]
struct Missed {
    rows: Vec<Entry>,
    ranges: Vec<Range>,
    count: usize,
}

impl Missed {
    fn add(&mut self, tick: Timestamp, reason: Reason) {
        self.count += 1;
        match self.ranges.last_mut().filter(|range| range.reason == reason) {
            Some(range) => {
                range.last = tick;
                range.count += 1;
            }
            None => self.ranges.push(Range { first: tick, last: tick, count: 1, reason: reason.clone() }),
        }
        if self.rows.len() < MISSED_ROWS_MAX {
            self.rows.push(Entry { scheduled_for: tick, fire_at: tick, state: EntryState::Missed(reason) });
        }
    }

    fn write(self, plan: &mut Plan) {
        if self.count <= MISSED_ROWS_MAX {
            plan.entries.extend(self.rows);
        } else {
            plan.ranges.extend(self.ranges);
        }
    }
}
