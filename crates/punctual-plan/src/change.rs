//! Change: what an edit, a pause or a deletion does to the rows that were planned before it.
//!
//! Nothing fires for the past because of a change. Rows still to come vanish and are planned anew, if the
//! schedule stays active; what has come and was not launched ends with the reason; what was launched goes on.

use jiff::Timestamp;
use punctual_time::Timing;

use crate::plan::Sections;
use crate::rule::{Rule, holds};
use crate::{Closed, Cursor, NonFire, Plan, Reason, RunKey, Status, Subject, Window, plan};

/// What is done to a schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// It gets a new version.
    Edit {
        /// Its number.
        version: i64,
    },
    /// Something it shares with others has changed: a calendar, quiet hours, the rules of its zone.
    Shared {
        /// What, in words.
        what: String,
    },
    /// It leaves `active`: paused, in maintenance, invalid, disabled or exhausted.
    Leave(Status),
    /// It is deleted.
    Delete,
    /// Its owner is removed.
    RemoveOwner,
}

impl Change {
    /// Why unlaunched rows end because of it.
    fn reason(&self, at: Timestamp) -> Reason {
        match self {
            Self::Edit { version } => Reason::Superseded { by: format!("version {version} of the schedule") },
            Self::Shared { what } => Reason::Superseded { by: format!("a change of {what}") },
            Self::Leave(status) => status
                .reason(at)
                .unwrap_or_else(|| Reason::Superseded { by: "its own resumption".to_owned() }),
            Self::Delete => Reason::Deleted { at },
            Self::RemoveOwner => Reason::OwnerRemoved { at },
        }
    }

    /// Whether the schedule goes on ticking.
    pub fn is_still_active(&self) -> bool {
        matches!(self, Self::Edit { .. } | Self::Shared { .. })
    }
}

/// A row of the schedule that is not in flight and has not ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Open {
    /// The row.
    pub run: RunKey,
    /// Its tick.
    pub scheduled_for: Timestamp,
    /// What it waits for.
    pub kind: OpenKind,
}

/// What an open row waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenKind {
    /// Its instant, its turn, a dependency or a limit: it was never launched.
    Unlaunched,
    /// Its next attempt.
    Retrying,
}

/// A schedule as it was before the change.
#[derive(Clone, Debug)]
pub struct Before<'a> {
    /// When the version that ends ticked; none if it follows another schedule, or can no more be read.
    pub timing: Option<&'a Timing>,
    /// How far it was planned.
    pub cursor: Cursor,
    /// Its rows that are not in flight and have not ended.
    pub open: &'a [Open],
    /// Why it was not active, if it was not: its unplanned ticks were missed for that, and no policy judges them any more.
    pub slept: Option<Reason>,
    /// The latest tick that was launched or ended: one that fired early, or before the clock was set back, belongs to the
    /// version that fired it, whatever became of it.
    pub launched_through: Option<Timestamp>,
}

/// What a change does, in one transaction with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    /// Rows in the future, which vanish.
    pub removed: Vec<RunKey>,
    /// Retries that do not come any more, and why.
    pub cancelled: Vec<(RunKey, Reason)>,
    /// Rows at or before now, or before what was launched or has ended, that end as skipped, ticks that were never planned, and
    /// the cursor from which the next version is planned.
    pub plan: Plan,
}

impl Changed {
    /// From when on the next version is valid: now, or later if the one before it has decided or fired later ticks. That is so
    /// after the clock was set back, and where a tick fires before its time.
    pub fn valid_from(&self) -> Timestamp {
        self.plan.cursor.planned_through
    }
}

/// Decides the open rows and the unplanned ticks of a schedule that is changed at `now`.
///
/// ```
/// use punctual_plan::{Before, Change, Cursor, Open, OpenKind, RunKey, change};
/// use punctual_time::{Cron, Timing, Zone};
///
/// let timing = Timing::new("0 * * * *".parse::<Cron>()?, Zone::utc());
/// let row = Open { run: RunKey(1), scheduled_for: "2026-01-01T10:00:00Z".parse()?, kind: OpenKind::Unlaunched };
/// let cursor = Cursor {
///     planned_through: "2026-01-01T10:00:30Z".parse()?,
///     decided_through: "2026-01-01T09:59:30Z".parse()?,
/// };
/// let before = Before { timing: Some(&timing), cursor, open: &[row], slept: None, launched_through: None };
/// let early = change(&before, &Change::Delete, "2026-01-01T09:59:59Z".parse()?);
/// assert_eq!(early.removed, [RunKey(1)]);
/// let late = change(&before, &Change::Delete, "2026-01-01T10:00:00Z".parse()?);
/// assert_eq!(late.plan.closed[0].end.reason().code(), "deleted");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn change(before: &Before<'_>, change: &Change, now: Timestamp) -> Changed {
    let at = if holds(Rule::DecideOnce) { now.max(before.cursor.decided_through) } else { now };
    let reason = change.reason(at);
    let cursor = Cursor {
        planned_through: before
            .launched_through
            .filter(|_| holds(Rule::EarlyBelongsToItsVersion))
            .map_or(at, |launched| launched.max(at)),
        decided_through: at,
    };
    // What lies before a tick that was launched or has ended had its time too, if by a clock that was set back since: it is
    // not planned again, so it ends.
    let through = cursor.planned_through;
    let mut changed = Changed { removed: Vec::new(), cancelled: Vec::new(), plan: Plan::starting(cursor) };
    for row in before.open {
        match row.kind {
            OpenKind::Retrying if change.is_still_active() || !holds(Rule::LeavingCancelsRetries) => {}
            OpenKind::Unlaunched if row.scheduled_for > through && !holds(Rule::ChangeRemoves) => {}
            OpenKind::Unlaunched if row.scheduled_for <= through && !holds(Rule::ChangeEnds) => {}
            OpenKind::Retrying => changed.cancelled.push((row.run, reason.clone())),
            OpenKind::Unlaunched if row.scheduled_for > through => changed.removed.push(row.run),
            OpenKind::Unlaunched => {
                let (run, scheduled_for) = (row.run, row.scheduled_for);
                let end = NonFire::Skipped(reason.clone());
                changed.plan.closed.push(Closed { run, scheduled_for, end });
            }
        }
    }
    if let Some(timing) = before.timing.filter(|timing| !timing.is_exhausted() && holds(Rule::ChangeAccounts))
    {
        let end = before.slept.clone().map_or(NonFire::Skipped(reason), NonFire::Missed);
        Sections::of(timing, before.cursor.planned_through, at, &end).write(&mut changed.plan);
    }
    changed
}

/// Plans a schedule that becomes active again: what its pause covered is judged by its catch-up policy.
///
/// The subject's cursor stands where the pause began; `status` is the one that ends.
pub fn resume(subject: &Subject<'_>, status: &Status, window: Window) -> Plan {
    let slept = status.reason(subject.cursor.planned_through);
    let cursor = match holds(Rule::PauseIsAccounted) {
        true => subject.cursor,
        false => Cursor::starting(window.now.max(subject.cursor.decided_through)),
    };
    plan(&Subject { slept, cursor, ..subject.clone() }, window)
}
