//! Plan: ticks become ledger entries before they are due.
//!
//! [`plan`] is called for a schedule whose next unplanned tick comes near. `arm` writes the ticks of the window
//! ahead; if time went by unplanned (the scheduler was down, the schedule paused), `late` decides the stretch
//! together with the armed rows that were slept through. `entry` has what comes out.

mod arm;
mod entry;
mod late;
mod section;

use jiff::{SignedDuration, Timestamp};
use punctual_time::{Spec, Timing};

pub use entry::{Closed, Entry, EntryState, NonFire, Plan, Range, Refired};
pub(crate) use section::Sections;

use crate::jitter::fire_at;
use crate::rule::{Rule, holds};
use crate::{Pace, Policy, Reason, RunKey, Schedule, ScheduleId};

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

    /// Where each tick hangs on the run before it: the cursor with nothing planned before the instant at which the next
    /// one could follow. What would have been a tick before it was none, and nobody has missed it.
    pub fn free_from(self, instant: Option<Timestamp>) -> Self {
        let planned_through = instant.map_or(self.planned_through, |free| self.planned_through.max(free));
        Self { planned_through, ..self }
    }
}

/// What [`plan`] needs to know of a schedule.
#[derive(Clone, Debug)]
pub struct Subject<'a> {
    /// Its id, from which the jitter of each tick comes.
    pub id: ScheduleId,
    /// When it ticks.
    pub timing: &'a Timing,
    /// What it wants to happen to its ticks.
    pub policy: &'a Policy,
    /// How far it has been planned.
    pub cursor: Cursor,
    /// Its armed rows whose instant has passed.
    pub late: &'a [LateRow],
    /// Its rows that are armed or in flight; the anchors `last_start` and `last_finish` wait for them.
    pub outstanding: usize,
    /// Why nobody looked at the unplanned stretch, if not for an outage.
    pub slept: Option<Reason>,
}

impl<'a> Subject<'a> {
    /// A schedule with nothing armed; none if it has no ticks of its own.
    pub fn of(schedule: &'a Schedule, cursor: Cursor) -> Option<Self> {
        let timing = schedule.when.timing()?;
        let (id, policy) = (schedule.id, &schedule.policy);
        Some(Self { id, timing, policy, cursor, late: &[], outstanding: 0, slept: None })
    }

    /// How much earlier than its instant a tick may fire.
    fn early_max(&self) -> SignedDuration {
        if holds(Rule::EarlyJitterIsReckoned) { self.policy.jitter.early_max() } else { SignedDuration::ZERO }
    }

    /// Whether each tick hangs on the run before it, so that only one can be known ahead.
    fn is_floating(&self) -> bool {
        self.timing.is_floating()
    }
}

/// An armed row whose instant has passed without anybody looking.
#[derive(Clone, Debug)]
pub struct LateRow {
    /// The row.
    pub run: RunKey,
    /// Its tick.
    pub scheduled_for: Timestamp,
    /// When it should have been admitted.
    pub fire_at: Timestamp,
    /// What was known ahead of its instant.
    pub verdict: Option<Reason>,
}

/// The present and how far to look beyond it.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    /// The present.
    pub now: Timestamp,
    /// How far ahead ticks are armed, and how fast late ones fire.
    pub pace: Pace,
}

impl Window {
    /// The present, at the usual pace.
    pub fn at(now: Timestamp) -> Self {
        Self { now, pace: Pace::default() }
    }
}

/// Plans the ticks of a schedule from its cursor to the end of the window.
///
/// A clock that went backwards plans nothing new: the decision is made at `decided_through` then.
///
/// ```
/// use punctual_plan::{Cursor, Policy, ScheduleId, Subject, Window, plan};
/// use punctual_time::{Cron, Timing, Zone};
///
/// let timing = Timing::new("*/20 * * * * *".parse::<Cron>()?, Zone::utc());
/// let (id, policy) = (ScheduleId(uuid::Uuid::nil()), Policy::default());
/// let now = "2026-01-01T10:00:05Z".parse()?;
/// let cursor = Cursor::starting(now);
/// let subject =
///     Subject { id, timing: &timing, policy: &policy, cursor, late: &[], outstanding: 0, slept: None };
/// let plan = plan(&subject, Window::at(now));
/// let ticks: Vec<String> = plan.entries.iter().map(|entry| entry.scheduled_for.to_string()).collect();
/// assert_eq!(ticks, ["2026-01-01T10:00:20Z", "2026-01-01T10:00:40Z", "2026-01-01T10:01:00Z"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn plan(subject: &Subject<'_>, window: Window) -> Plan {
    let at = match holds(Rule::DecideOnce) {
        true => window.now.max(subject.cursor.decided_through),
        false => window.now,
    };
    let mut plan = Plan::starting(Cursor { decided_through: at, ..subject.cursor });
    // Where the next tick lies is known only when the one that it hangs on has started or ended.
    let is_hanging = subject.is_floating() && subject.outstanding > 0 && subject.late.is_empty();
    let is_spent = subject.timing.is_exhausted() && holds(Rule::SpentPlansNothing);
    if is_spent || is_hanging {
        plan.is_hanging = is_hanging && !is_spent;
        return plan;
    }
    let moment = Moment { at, pace: window.pace };
    if late::decide(subject, moment, &mut plan) == late::Extent::Whole {
        arm::arm(subject, moment, &mut plan);
    }
    plan.is_hanging = subject.is_floating() && (subject.outstanding > 0 || plan.fires());
    if !plan.is_hanging {
        plan.next_tick = subject.timing.planned_after(plan.cursor.planned_through);
    }
    plan.plan_at = plan.next_tick.map(|next| {
        let half =
            if holds(Rule::HalfAWindowAhead) { window.pace.lookahead / 2 } else { SignedDuration::ZERO };
        let ahead = half.saturating_add(subject.early_max());
        next.saturating_sub(ahead).unwrap_or(Timestamp::MIN)
    });
    plan
}

/// Plans a schedule for the first time by the first-start rule: a tick whose minute (or second, if the spec names
/// seconds) contains `now` fires at once. Without such a tick it is [`plan`].
pub fn plan_first(subject: &Subject<'_>, window: Window) -> Plan {
    let Some(tick) = first_start(subject.timing, window.now) else { return plan(subject, window) };
    // It counts as outstanding: where the next tick hangs on a run, nothing is armed behind it.
    let mut plan = plan(&Subject { outstanding: subject.outstanding + 1, ..subject.clone() }, window);
    let fire_at = if holds(Rule::FirstStartAtOnce) { window.now } else { tick };
    plan.entries.insert(0, Entry { scheduled_for: tick, fire_at, state: EntryState::Scheduled });
    plan
}

/// The tick at or before `now` in the same minute or second, if it fires.
fn first_start(timing: &Timing, now: Timestamp) -> Option<Timestamp> {
    let unit = match &timing.spec {
        Spec::Cron(cron) if !cron.has_seconds() => 60,
        _ => 1,
    };
    let start = Timestamp::from_second(now.as_second().div_euclid(unit) * unit).ok()?;
    let tick = timing.prev(just_after(now))?;
    (tick >= start && !timing.is_exhausted()).then_some(tick)
}

/// When planning takes place, and at which pace.
#[derive(Clone, Copy)]
struct Moment {
    at: Timestamp,
    pace: Pace,
}

/// The smallest instant after another: what lies strictly before it lies at or before that other.
pub(crate) fn just_after(at: Timestamp) -> Timestamp {
    at.saturating_add(SignedDuration::from_nanos(1)).unwrap_or(Timestamp::MAX)
}

/// Whether catch-up has let a row fire already: then it fires later than its own time, and is not judged again.
fn is_caught_up(subject: &Subject<'_>, row: &LateRow) -> bool {
    holds(Rule::CatchUpOnce)
        && row.fire_at > fire_at(subject.id, subject.timing, subject.policy.jitter, row.scheduled_for)
}
