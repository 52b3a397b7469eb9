//! What is done to schedules and runs: outcomes, edits, pauses, triggers.

use jiff::Timestamp;
use punctual_time::Anchor;

use super::book::{Book, NewRow, ORG};
use super::scenario::{Act, Request};
use crate::{
    Before, Breaker, Chained, Change, Event, InFlight, Lane, Next, Open, OpenKind, Origin, Outcome, RunKey,
    RunState, RunStatus, Schedule, Settlement, Situation, Status, change, resume, settle,
};

impl Book {
    /// Ends an attempt in some way, with all that follows.
    pub(super) fn settle(&mut self, run: RunKey, outcome: Outcome) {
        let Some(row) = self.row_mut(run) else { return };
        let RunState::Running { attempt, .. } = row.run.state else { return };
        let (desk, version, ends_at) = (row.desk, row.run.version, row.ends_at.take());
        if let Some(ends_at) = ends_at {
            self.ends.remove(&(ends_at, run));
        }
        let at = &self.desks[desk];
        // It was launched by the rules of its own version, and is judged by them.
        let schedule = at.version(version);
        let target = (ORG, schedule.target.name.clone());
        let situation = Situation {
            now: self.now,
            policy: &schedule.policy,
            is_active: at.is_active(),
            attempt,
            counters: at.state.counters,
            target: &target.1,
            breaker: self.world.breakers.get(&target).copied().unwrap_or_default(),
            rule: schedule.target.breaker,
            followers: self.followers.get(&schedule.id).map_or(&[], Vec::as_slice),
        };
        let before = situation.breaker;
        let settlement = settle(InFlight { run, schedule: at.key }, outcome, &situation);
        self.free(desk, run);
        if let Some(breaker) = settlement.breaker {
            self.world.breakers.insert(target.clone(), breaker);
            self.note_breaker(desk, &schedule.target.name, (before, breaker));
        }
        self.conclude(desk, run, settlement);
    }

    fn note_breaker(&mut self, desk: usize, target: &str, (before, to): (Breaker, Breaker)) {
        if before.name() != to.name() {
            self.note(desk, Event::BreakerMoved { target: target.to_owned(), to });
        }
    }

    fn conclude(&mut self, desk: usize, run: RunKey, settlement: Settlement) {
        let now = self.now;
        let at = &mut self.desks[desk];
        at.state.counters = settlement.counters;
        let reason = match &settlement.next {
            Next::End { reason, .. } => reason.clone(),
            Next::Retry { reason, .. } => Some(reason.clone()),
        };
        if let Some(attempt) = self.row_mut(run).and_then(|row| row.run.attempts.last_mut()) {
            attempt.ended_at = Some(now);
            attempt.reason = reason;
        }
        match settlement.next {
            Next::End { status, reason, at } => {
                self.desks[desk].state.last_finish = Some((at, status));
                if self.row(run).is_some_and(|row| row.run.origin == Origin::Tick) {
                    self.desks[desk].state.anchors.finish = Some(at);
                }
                let state = match (status, reason) {
                    (RunStatus::Cancelled, Some(reason)) => RunState::Cancelled { reason, at },
                    (_, Some(reason)) => RunState::Failed { reason, at },
                    (_, None) => RunState::Success { at },
                };
                self.move_anchor(desk, run, Anchor::LastFinish);
                self.disable(desk, settlement.disabled);
                self.close(run, state);
            }
            Next::Retry { attempt, at, reason } => {
                self.desks[desk].open.insert(run);
                if let Some(row) = self.row_mut(run) {
                    row.run.state = RunState::Retrying { attempt, at, reason };
                }
                self.stand_by(desk, run);
                self.look_at(run, Some(at));
                self.wake(desk, run);
            }
        }
        for chained in settlement.chained {
            self.chain(&chained);
        }
    }

    /// It failed too often in a row and leaves `active`, even if this was the last of its runs.
    fn disable(&mut self, desk: usize, status: Option<Status>) {
        let Some(status) = status.filter(|_| self.desks[desk].is_active()) else { return };
        let reason = status.reason(self.now);
        self.change(desk, &Change::Leave(status));
        if let Some(reason) = reason {
            self.note(desk, Event::Left { reason });
        }
    }

    /// A run is to be tried again: those of a schedule stand in the order of their ticks.
    fn stand_by(&mut self, desk: usize, run: RunKey) {
        let key = self.desks[desk].key;
        let Some(standing) = self.world.schedules.get_mut(&key) else { return };
        let mut retrying = std::mem::take(&mut standing.retrying);
        retrying.push(run);
        retrying.sort_by_key(|run| (self.row(*run).map(|row| row.run.scheduled_for), *run));
        if let Some(standing) = self.world.schedules.get_mut(&key) {
            standing.retrying = retrying;
        }
    }

    /// A run whose start or end moves the ticks after it.
    pub(super) fn move_anchor(&mut self, desk: usize, run: RunKey, anchor: Anchor) {
        let is_tick = self.row(run).is_some_and(|row| row.run.origin == Origin::Tick);
        let now = self.now;
        let at = &mut self.desks[desk];
        if !is_tick || !at.floats_on(anchor) {
            return;
        }
        // A further attempt is not a further run.
        if anchor == Anchor::LastStart && self.row(run).is_some_and(|row| row.run.attempts.len() > 1) {
            return;
        }
        let at = &mut self.desks[desk];
        if let Some(timing) = &mut at.timing {
            timing.last = at.state.anchors.last(anchor);
        }
        self.plan_next(desk, Some(now));
    }

    fn chain(&mut self, chained: &Chained) {
        let desk = self.desk_of(chained.schedule);
        let at = &self.desks[desk];
        if at.deleted_at.is_some() {
            return;
        }
        let known =
            at.state.status.reason(at.left_at.unwrap_or(self.now)).or_else(|| chained.verdict.clone());
        self.insert(NewRow {
            desk,
            origin: Origin::Chained,
            nonce: chained.upstream.to_string(),
            scheduled_for: chained.scheduled_for,
            fire_at: chained.fire_at,
            state: RunState::Scheduled { verdict: known },
            is_forced: false,
        });
    }

    /// The last of its runs was admitted: what is armed beyond it goes.
    pub(super) fn spend(&mut self, desk: usize) {
        let key = self.desks[desk].key;
        let is_spent = self.world.schedules.get(&key).and_then(|standing| standing.runs_left);
        if is_spent.is_none_or(|runs| runs.left > 0) || self.desks[desk].spent_at.is_some() {
            return;
        }
        let now = self.now;
        let armed: Vec<RunKey> = self.desks[desk].open.iter().copied().collect();
        for run in armed {
            let is_ahead = |row: &super::book::Row| {
                matches!(row.run.state, RunState::Scheduled { .. }) && row.run.scheduled_for > now
            };
            if self.row(run).is_some_and(is_ahead) {
                self.remove(run);
            }
        }
        self.desks[desk].spent_at = Some(now);
        self.desks[desk].note_exhausted(now);
        self.desks[desk].next_tick = None;
        self.plan_next(desk, None);
    }

    /// Does what a person does.
    pub(super) fn act(&mut self, desk: usize, act: &Act) {
        if self.desks[desk].deleted_at.is_some() {
            return;
        }
        let version = self.desks[desk].schedule.version + 1;
        match act {
            Act::Replace(schedule) => self.replace(desk, &Change::Edit { version }, schedule),
            Act::Share { what, schedule } => {
                self.replace(desk, &Change::Shared { what: what.clone() }, schedule);
            }
            Act::Leave(status) => {
                self.change(desk, &Change::Leave(status.clone()));
                self.say(desk, format!("left active: {}", status.name()));
            }
            Act::Maintain { note } => {
                let status = Status::Maintenance { by: "a person".to_owned(), note: note.clone() };
                self.change(desk, &Change::Leave(status));
                self.say(desk, format!("maintenance: {note}"));
            }
            Act::Delete => {
                self.change(desk, &Change::Delete);
                self.say(desk, "deleted".to_owned());
            }
            Act::RemoveOwner => {
                self.change(desk, &Change::RemoveOwner);
                self.say(desk, "its owner was removed".to_owned());
            }
            Act::Resume => self.resume(desk),
            Act::Trigger(request) => self.trigger(desk, request),
            Act::Cancel { by } => self.cancel(desk, by),
        }
    }

    fn say(&mut self, desk: usize, what: String) {
        self.note(desk, Event::Changed { what });
    }

    fn replace(&mut self, desk: usize, change: &Change, schedule: &Schedule) {
        self.change(desk, change);
        let lane = self.lane(desk);
        let (id, now) = (self.desks[desk].schedule.id, self.now);
        self.desks[desk].replace(Schedule { id, ..schedule.clone() }, now);
        let key = self.desks[desk].key;
        let retrying =
            self.world.schedules.remove(&key).map(|standing| standing.retrying).unwrap_or_default();
        let standing = self.desks[desk].standing(retrying);
        self.world.schedules.insert(key, standing);
        self.move_lane(desk, &lane);
        // What still waits did so by the rules of the version before.
        let waiting: Vec<RunKey> =
            self.desks[desk].open.iter().filter(|run| self.waiting.contains(run)).copied().collect();
        for run in waiting {
            self.look_at(run, Some(self.now));
        }
        self.say(desk, format!("version {}", self.desks[desk].schedule.version));
        // A valid edit clears what made it invalid; a pause stays.
        if matches!(self.desks[desk].state.status, Status::PausedInvalid { .. } | Status::Exhausted { .. }) {
            self.desks[desk].state.status = Status::Active;
            self.desks[desk].state.counters.consecutive_failures = 0;
            self.desks[desk].left_at = None;
        }
        self.plan(desk);
    }

    /// A schedule that leaves a lane is alone in the new one only when its runs in flight have ended; its retries that
    /// waited in the old one look for their turn in the new one.
    fn move_lane(&mut self, desk: usize, from: &Lane) {
        let to = self.lane(desk);
        let Some(traffic) = self.world.lanes.get(from).filter(|_| to != *from).cloned() else { return };
        let is_own = |run: &RunKey| self.row(*run).is_some_and(|row| row.desk == desk);
        let in_flight: Vec<RunKey> = traffic.in_flight.into_iter().filter(is_own).collect();
        let waiting: Vec<RunKey> = traffic.waiting.into_iter().filter(is_own).collect();
        self.world.lanes.entry(to).or_default().in_flight.extend(in_flight);
        for run in waiting {
            if let Some(traffic) = self.world.lanes.get_mut(from) {
                traffic.waiting.retain(|other| *other != run);
            }
            self.look_at(run, Some(self.now));
        }
    }

    /// Carries out what a change does to the rows that were planned before it.
    fn change(&mut self, desk: usize, what: &Change) {
        let at = &self.desks[desk];
        let open: Vec<Open> = at
            .open
            .iter()
            .filter_map(|run| self.row(*run))
            .filter(|row| row.run.origin != Origin::Manual || !what.is_still_active())
            .map(|row| Open {
                run: row.run.key,
                scheduled_for: row.run.scheduled_for,
                kind: match row.run.attempts.is_empty() {
                    true => OpenKind::Unlaunched,
                    false => OpenKind::Retrying,
                },
            })
            .collect();
        let before = Before {
            timing: at.timing.as_ref().filter(|_| !at.is_over()),
            cursor: at.state.cursor,
            open: &open,
            slept: at.state.status.reason(at.left_at.unwrap_or(self.now)),
            launched_through: at.launched_through,
        };
        let changed = change(&before, what, self.now);
        for run in changed.removed {
            self.remove(run);
        }
        for (run, reason) in changed.cancelled {
            self.close(run, RunState::Cancelled { reason, at: self.now });
        }
        self.enter(desk, changed.plan);
        self.desks[desk].leave(what, self.now);
        self.plan_next(desk, None);
    }

    fn resume(&mut self, desk: usize) {
        let status = std::mem::take(&mut self.desks[desk].state.status);
        if status.is_active() {
            return;
        }
        // Whoever resumes it has seen to what made it fail.
        self.desks[desk].state.counters.consecutive_failures = 0;
        self.desks[desk].left_at = None;
        self.desks[desk].spent_at = None;
        self.say(desk, "resumed".to_owned());
        self.plan_with(desk, |subject, window| resume(subject, &status, window));
    }

    fn trigger(&mut self, desk: usize, request: &Request) {
        let second = Timestamp::from_second(self.now.as_second()).unwrap_or(self.now);
        self.insert(NewRow {
            desk,
            origin: Origin::Manual,
            nonce: request.nonce.clone(),
            scheduled_for: second,
            fire_at: self.now,
            state: RunState::Scheduled { verdict: None },
            is_forced: request.is_forced,
        });
    }

    fn cancel(&mut self, desk: usize, by: &str) {
        let runs: Vec<RunKey> =
            self.rows.iter().flatten().filter(|row| row.desk == desk).map(|row| row.run.key).collect();
        for run in runs {
            self.settle(run, Outcome::Cancelled { by: by.to_owned() });
        }
    }
}
