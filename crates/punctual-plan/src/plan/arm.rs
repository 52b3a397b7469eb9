//! Arm: the ticks of the window ahead become rows that wait for their instant.

use jiff::Timestamp;

use super::{Entry, EntryState, Moment, NonFire, Plan, Subject};
use crate::jitter::fire_at;
use crate::rule::{Rule, holds};
use crate::{PLAN_ENTRIES_MAX, Reason};

/// Arms the ticks after the cursor that may fire within the window.
pub(super) fn arm(subject: &Subject<'_>, moment: Moment, plan: &mut Plan) {
    let whole = moment.pace.lookahead;
    let window = if holds(Rule::WholeWindow) { whole } else { whole / 2 };
    let ahead = window.saturating_add(subject.early_max());
    let horizon = moment.at.saturating_add(ahead).unwrap_or(Timestamp::MAX);
    let is_floating = subject.is_floating();
    if is_floating && (subject.outstanding > 0 || plan.fires()) {
        return;
    }
    let armed_max = plan.entries.len() + PLAN_ENTRIES_MAX;
    let mut from = plan.cursor.planned_through;
    while let Some(tick) = subject.timing.planned_after(from).filter(|tick| *tick <= horizon) {
        if plan.entries.len() == armed_max {
            plan.cursor.planned_through = from;
            return;
        }
        let entry = armed(subject, moment.at, tick);
        let is_firing = entry.state == EntryState::Scheduled;
        plan.entries.push(entry);
        from = tick;
        if is_floating && is_firing {
            // Where the next one lies is known only when this one has started or ended.
            plan.cursor.planned_through = tick;
            return;
        }
    }
    plan.cursor.planned_through = if is_floating { from } else { from.max(horizon) };
}

fn armed(subject: &Subject<'_>, at: Timestamp, tick: Timestamp) -> Entry {
    let own = || fire_at(subject.id, subject.timing, subject.policy.jitter, tick);
    let asked = if holds(Rule::WindowsAskTheTick) { tick } else { own() };
    match subject.timing.suppressed(asked).filter(|_| holds(Rule::WindowsSuppress)) {
        Some(window) if !holds(Rule::NothingEndsAhead) => {
            let end = EntryState::Ended(NonFire::Skipped(Reason::from(window)));
            Entry { scheduled_for: tick, fire_at: tick, state: end }
        }
        Some(window) => {
            Entry { scheduled_for: tick, fire_at: tick, state: EntryState::Suppressed(Reason::from(window)) }
        }
        None => {
            let fire_at = if holds(Rule::NeverBeforeItsPlan) { own().max(at) } else { own() };
            Entry { scheduled_for: tick, fire_at, state: EntryState::Scheduled }
        }
    }
}
