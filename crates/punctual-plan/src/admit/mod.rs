//! Admit: at its instant an armed tick starts, waits, or is closed with the reason.
//!
//! The verdict is made on what was read and names the claims that it needs; the store takes them in the
//! transaction that writes it, so two nodes that read the same cannot both start a run. Within one batch each
//! verdict sees the claims of those before it. `late` judges rows that come late, `gate` is the way to a start.

mod gate;
mod late;

use std::collections::HashMap;

use jiff::Timestamp;

use crate::rule::{Rule, holds};
use crate::{Lane, OrgKey, Origin, Reason, RunKey, Schedule, ScheduleKey, Upstream, Waiting, When, World};

/// A row whose instant has come: armed, waiting and woken, or about to be tried again.
#[derive(Clone, Debug)]
pub struct Due {
    /// The row.
    pub run: RunKey,
    /// Its schedule.
    pub schedule: ScheduleKey,
    /// Whose it is.
    pub org: OrgKey,
    /// What brought it about.
    pub origin: Origin,
    /// Its tick.
    pub scheduled_for: Timestamp,
    /// From when it may be admitted, and from when its lateness counts.
    pub fire_at: Timestamp,
    /// What was known ahead of its instant.
    pub verdict: Option<Reason>,
    /// How it has waited since its instant, if it has.
    pub waiting: Option<Waiting>,
    /// Which attempt a start would be, from 1.
    pub attempt: u32,
    /// The schedules it depends on, with their latest tick at or before its own.
    pub upstream: Vec<Upstream>,
    /// Whether a person wants it beside whatever is in flight.
    pub is_forced: bool,
}

impl Due {
    /// An armed tick that fires at its own instant.
    pub fn tick(run: RunKey, schedule: ScheduleKey, scheduled_for: Timestamp) -> Self {
        Self {
            run,
            schedule,
            org: OrgKey(1),
            origin: Origin::Tick,
            scheduled_for,
            fire_at: scheduled_for,
            verdict: None,
            waiting: None,
            attempt: 1,
            upstream: Vec::new(),
            is_forced: false,
        }
    }

    /// The same under its definition as it is now: of an armed tick, windows that schedules share may have changed since it
    /// was armed, and whoever changed them has not decided it again yet.
    #[must_use]
    pub fn under(self, definition: &Schedule) -> Self {
        let is_armed = self.origin == Origin::Tick && self.waiting.is_none() && !self.is_retry();
        match &definition.when {
            When::Ticks(timing)
                if is_armed && timing.windows.is_shared() && holds(Rule::SharedWindowsAsTheyAre) =>
            {
                Self { verdict: timing.suppressed(self.scheduled_for).map(Reason::from), ..self }
            }
            _ => self,
        }
    }

    /// Whether it was launched before and its next attempt is due.
    pub fn is_retry(&self) -> bool {
        self.attempt > 1
    }
}

/// The verdict over one due row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Admission {
    /// The row.
    pub run: RunKey,
    /// Its schedule.
    pub schedule: ScheduleKey,
    /// What shall happen.
    pub verdict: Verdict,
    /// What a start takes, all or nothing, in this order.
    pub claims: Vec<Claim>,
    /// What happens to other runs with it.
    pub effects: Vec<Effect>,
}

/// What shall happen to a due row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It starts, if its claims can be taken.
    Start,
    /// It waits.
    Wait(Waiting),
    /// It is one of many late ticks and fires later.
    Later(Timestamp),
    /// It was looked at in time and does not run.
    Skip(Reason),
    /// It was looked at too late.
    Miss(Reason),
    /// It was launched before and cannot be tried again.
    Fail(Reason),
}

impl Verdict {
    /// The run that stands in the way, where one does: a verdict is made on its start, and if that does not come about in
    /// the same batch, neither does the verdict.
    pub fn rests_on(&self) -> Option<RunKey> {
        let (Self::Skip(reason) | Self::Miss(reason) | Self::Fail(reason)) = self else { return None };
        match reason {
            Reason::Overlap { run } | Reason::Guard { run, .. } | Reason::BreakerProbe { run, .. } => {
                Some(*run)
            }
            _ => None,
        }
    }
}

/// Something that at most one run, or a bounded number of them, can hold. Ordered, so that batches never deadlock.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Claim {
    /// The only run in flight of a lane.
    Lane(Lane),
    /// A guard key.
    Guard(OrgKey, String),
    /// The single probe of the breaker of an org's target.
    Probe(OrgKey, String),
    /// A place under the org's limits.
    Place(OrgKey),
    /// One of so many runs that the schedule has in all.
    MaxRuns(ScheduleKey, u64),
}

/// What an admission does to another run of its schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// A run in flight is cancelled.
    Cancel(RunKey, Reason),
    /// A pending retry ends as failed.
    EndRetry(RunKey, Reason),
    /// A run that waits for its turn is skipped; if it was launched before, it fails.
    EndWait(RunKey, Reason),
}

/// Judges the rows that are due; rows whose instant has not come are left out. What the verdicts take and change is
/// entered into the world, so that the next row sees it.
///
/// ```
/// use punctual_plan::{Due, RunKey, ScheduleKey, Verdict, World, admit};
///
/// let due = Due::tick(RunKey(1), ScheduleKey(1), "2026-01-01T10:00:00Z".parse()?);
/// let mut world = World::free("2026-01-01T10:00:00.002Z".parse()?);
/// assert_eq!(admit(&[due], &mut world)[0].verdict, Verdict::Start);
/// # Ok::<(), jiff::Error>(())
/// ```
pub fn admit(due: &[Due], world: &mut World) -> Vec<Admission> {
    let is_due = |row: &&Due| row.fire_at <= world.now || !holds(Rule::NeverEarly);
    let ready: Vec<&Due> = due.iter().filter(is_due).collect();
    let late = late::judge(&ready, world);
    let mut superseded: HashMap<RunKey, Reason> = HashMap::new();
    let mut admissions: Vec<(usize, Admission)> = Vec::with_capacity(ready.len());
    for (place, row) in in_turn(&ready, world) {
        let admission = match (late.get(&row.run), superseded.get(&row.run)) {
            (Some(verdict), _) => Admission::plain(row, verdict.clone()),
            (None, Some(reason)) => Admission::plain(row, Verdict::Fail(reason.clone())),
            (None, None) => gate::pass(row, world),
        };
        gate::enter(row, &admission, world);
        for effect in &admission.effects {
            if let Effect::EndRetry(run, reason) = effect {
                superseded.insert(*run, reason.clone());
            }
        }
        admissions.push((place, admission));
    }
    admissions.sort_by_key(|(place, _)| *place);
    admissions.into_iter().map(|(_, admission)| admission).collect()
}

/// The rows with their places, in the order in which they are judged: where a tick ends the retries before it, those
/// that are due with it come after it.
fn in_turn<'a>(ready: &[&'a Due], world: &World) -> Vec<(usize, &'a Due)> {
    let supersedes = |schedule: ScheduleKey| {
        let standing = world.schedules.get(&schedule);
        standing.is_none_or(|standing| standing.policy.overlap.supersedes_retries())
    };
    let yields = |row: &Due| row.is_retry() && supersedes(row.schedule);
    let mut rows: Vec<(usize, &Due)> = ready.iter().copied().enumerate().collect();
    rows.sort_by_key(|(_, row)| yields(row));
    rows
}

impl Admission {
    fn plain(row: &Due, verdict: Verdict) -> Self {
        Self { run: row.run, schedule: row.schedule, verdict, claims: Vec::new(), effects: Vec::new() }
    }
}
