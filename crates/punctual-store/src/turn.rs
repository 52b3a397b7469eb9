//! A schedule at the moment at which it is decided upon: what `punctual-plan` wants to know is made of its rows here, for
//! every door and for the engine.

use std::sync::Arc;

use jiff::Timestamp;
use punctual_plan::rule::{Rule, holds};
use punctual_plan::{
    ArmedTick, Before, Change, Changed, Cursor, Foreseen, LateRow, Moved, Open, OpenKind, Origin, Plan,
    Reason, RunState, Schedule, Status, Subject, Window, change, moved, plan, resume,
};
use punctual_time::{Timing, Zone};

use crate::{OpenRow, ScheduleRow, ScheduleWrite, Write, timing};

/// A schedule with its open rows, and the present.
#[derive(Clone, Copy, Debug)]
pub struct Turn<'a> {
    /// The schedule.
    pub row: &'a ScheduleRow,
    /// Its rows that are not in flight and have not ended.
    pub open: &'a [OpenRow],
    /// The present, and how far ahead is planned.
    pub window: Window,
}

/// A tz database that is newer than the one before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewRules {
    /// The version before, if it is known.
    pub before: Option<String>,
    /// Its version.
    pub version: String,
}

impl ScheduleRow {
    /// Whether other rules of a zone may move its ticks: it is to be planned ahead, by the clock on a wall, and not only
    /// what was not looked at yet.
    pub fn hangs_on_zones(&self, now: Timestamp) -> bool {
        let is_elsewhere = |zone: &Zone| *zone != Zone::utc();
        let is_zoned = |timing: &Timing| {
            let quiet = timing.windows.quiet_hours.iter().filter_map(|quiet| quiet.zone.as_ref());
            quiet.chain([&timing.zone]).any(is_elsewhere)
        };
        let is_ticking =
            self.state.status.is_active() && self.spent_at.is_none() && self.deleted_at.is_none();
        // What is late is decided by whoever plans next, with everything behind it.
        let is_late = self.next_tick.is_some_and(|next| next <= now);
        is_ticking
            && self.invalid.is_none()
            && !is_late
            && !self.definition.when.is_floating()
            && self.definition.when.timing().is_some_and(is_zoned)
    }

    /// Whether it is known without its open rows that its ticks are where the present rules put them.
    pub fn is_in_place(&self, now: Timestamp) -> bool {
        let Some(timing) = timing(&self.definition, &self.state) else { return true };
        let is_plain = timing.windows == punctual_time::Windows::default();
        let is_unarmed = self.next_run_at == self.next_tick;
        let from = now.max(self.state.cursor.decided_through).min(self.state.cursor.planned_through);
        is_plain && is_unarmed && timing.planned_after(from) == self.next_tick
    }
}

impl Turn<'_> {
    /// What becomes of the open rows.
    pub fn changed(&self, what: &Change) -> Changed {
        // A run that a person asked for is not a tick of the version that ends.
        let is_meant = |row: &&OpenRow| row.run.origin != Origin::Manual || !what.is_still_active();
        let open: Vec<Open> = self.open.iter().filter(is_meant).map(|row| row.open).collect();
        let is_over =
            self.row.spent_at.is_some() || matches!(self.row.state.status, Status::Exhausted { .. });
        let timing = timing(&self.row.definition, &self.row.state).filter(|_| !is_over);
        let before = Before {
            timing: timing.as_ref(),
            cursor: self.row.state.cursor,
            open: &open,
            slept: self.row.state.status.reason(self.row.left_at.unwrap_or(self.window.now)),
            launched_through: self.row.launched_through,
        };
        change(&before, what, self.window.now)
    }

    /// The first window of what comes after a change, which has left nothing late.
    pub fn plan(&self, next: &Schedule, cursor: Cursor) -> Option<Plan> {
        let timing = timing(next, &self.row.state)?;
        let outstanding = self.row.outstanding(next);
        Some(plan(&subject(next, &timing, (cursor, outstanding)), self.window))
    }

    /// What becomes of a pause, and the first window after it.
    pub fn resume(&self) -> Option<Plan> {
        let next = &self.row.definition;
        let timing = timing(next, &self.row.state)?;
        let late = self.late();
        let is_unlaunched = |row: &&OpenRow| row.run.origin == Origin::Tick && row.run.attempts.is_empty();
        let outstanding = self.row.outstanding(next) + self.open.iter().filter(is_unlaunched).count();
        let subject = Subject { late: &late, ..subject(next, &timing, (self.row.state.cursor, outstanding)) };
        Some(resume(&subject, &self.row.state.status, self.window))
    }

    fn late(&self) -> Vec<LateRow> {
        let rows = self.open.iter().map(|row| &row.run);
        let due = rows.filter(|run| run.fire_at <= self.window.now && run.origin == Origin::Tick);
        let mut late: Vec<LateRow> = due
            .filter_map(|run| match &run.state {
                RunState::Scheduled { verdict } => Some(LateRow {
                    run: run.key,
                    scheduled_for: run.scheduled_for,
                    fire_at: run.fire_at,
                    verdict: verdict.clone(),
                }),
                _ => None,
            })
            .collect();
        late.sort_by_key(|row| row.scheduled_for);
        late
    }

    /// What newer rules of the zones change of it: everything that is still to come is planned by them, if they move any of
    /// it. It is a version of its own, so that nobody goes on with what was read before.
    pub fn replan(&self, rules: &NewRules) -> Option<ScheduleWrite> {
        let row = self.row;
        let moved = self.moved().filter(|_| holds(Rule::NewerRulesPlanAgain))?;
        let zone = row.definition.when.timing()?.zone.name();
        let changed = self.changed(&Change::Shared { what: format!("the rules of `{zone}`") });
        let version = row.definition.version + 1;
        let definition = Schedule { version, ..row.definition.as_ref().clone() };
        let from = match holds(Rule::NewerRulesFromNow) {
            true => changed.plan.cursor,
            false => Cursor::starting(row.created_at),
        };
        let plan = self.plan(&definition, from);
        let note = match holds(Rule::NewerRulesAreTold) {
            true => rules.note(zone, moved, plan.as_ref()),
            false => String::new(),
        };
        let write = Write::Change {
            schedule: row.key,
            version: row.definition.version,
            from: row.state.cursor,
            definition: Some(Arc::new(definition)),
            status: None,
            is_deleted: false,
            changed,
            plan,
        };
        Some(ScheduleWrite { write, kind: "schedule.changed", note, now: self.window.now })
    }

    /// Which of its ticks are not where the present rules put them.
    fn moved(&self) -> Option<Moved> {
        let row = self.row;
        let timing = timing(&row.definition, &row.state)?;
        let is_armed =
            |row: &&OpenRow| row.run.origin == Origin::Tick && row.open.kind == OpenKind::Unlaunched;
        let armed: Vec<ArmedTick> = self
            .open
            .iter()
            .filter(is_armed)
            .map(|row| ArmedTick {
                tick: row.run.scheduled_for,
                suppressed: match &row.run.state {
                    RunState::Scheduled { verdict } => verdict.as_ref().map(Reason::code),
                    _ => None,
                },
            })
            .collect();
        let seen = Foreseen {
            timing: &timing,
            cursor: row.state.cursor,
            launched_through: row.launched_through,
            armed: &armed,
            next_tick: row.next_tick,
        };
        moved(&seen, self.window.now)
    }
}

impl NewRules {
    /// What the audit log says of a schedule that they moved.
    fn note(&self, zone: &str, moved: Moved, plan: Option<&Plan>) -> String {
        let Moved { gone, come } = moved;
        let instead = self.before.as_ref().map(|before| format!(" instead of {before}")).unwrap_or_default();
        let next =
            plan.and_then(|plan| plan.entries.first().map(|entry| entry.scheduled_for).or(plan.next_tick));
        let next = next.map(|next| format!("; the next is at {next}")).unwrap_or_default();
        format!(
            "decided again after a change of the rules of `{zone}` (tz database {}{instead}): armed ticks that went: \
             {gone}, that came: {come}{next}",
            self.version
        )
    }
}

fn subject<'a>(schedule: &'a Schedule, timing: &'a Timing, at: (Cursor, usize)) -> Subject<'a> {
    let (cursor, outstanding) = at;
    let (id, policy) = (schedule.id, &schedule.policy);
    Subject { id, timing, policy, cursor, late: &[], outstanding, slept: None }
}
