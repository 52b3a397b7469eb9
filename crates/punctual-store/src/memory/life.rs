//! What several steps do to rows: write plans, end runs, free claims, wake what waits, exhaust schedules.

use jiff::Timestamp;
use punctual_plan::rule::{Rule, holds};
use punctual_plan::{
    Breaker, EntryState, Event, NonFire, Noted, Object, OrgKey, OrgLimit, Origin, Plan, Reason, RunKey,
    RunStatus, ScheduleKey, Status, Trace, end_event, plan_events,
};

use super::data::Data;
use super::table::{BreakerRecord, Definition, EventRecord, RangeRecord, RunRecord, TransitionRecord};
use crate::{INSTALLATION, to_microsecond};

/// A row to be written.
pub(super) struct NewRow {
    pub(super) schedule: ScheduleKey,
    pub(super) origin: Origin,
    pub(super) nonce: String,
    pub(super) scheduled_for: Timestamp,
    pub(super) fire_at: Timestamp,
    pub(super) verdict: Option<Reason>,
    pub(super) is_forced: bool,
    pub(super) payload: Option<Object>,
    pub(super) trace: Option<Trace>,
    pub(super) tz: i64,
}

/// As what a row ends, and why.
pub(super) struct Ending {
    pub(super) status: RunStatus,
    pub(super) reason: Option<Reason>,
}

impl Ending {
    pub(super) fn of(status: RunStatus, reason: &Reason) -> Self {
        Self { status, reason: Some(reason.clone()) }
    }
}

impl From<&NonFire> for Ending {
    fn from(end: &NonFire) -> Self {
        Self::of(end.status(), end.reason())
    }
}

/// When something is written, and under which tz database.
#[derive(Clone, Copy)]
pub(super) struct Moment {
    pub(super) now: Timestamp,
    pub(super) tz: i64,
}

impl Data {
    /// Notes an event of a schedule.
    pub(super) fn note(&mut self, schedule: ScheduleKey, event: &Event, now: Timestamp) {
        self.note_about((schedule, None), event, now);
    }

    /// Notes an event of a run.
    pub(super) fn note_run(&mut self, run: RunKey, event: &Event, now: Timestamp) {
        if let Some(schedule) = self.runs.get(&run).map(|row| row.schedule) {
            self.note_about((schedule, Some(run)), event, now);
        }
    }

    fn note_about(&mut self, about: (ScheduleKey, Option<RunKey>), event: &Event, now: Timestamp) {
        let (schedule, run) = about;
        let Some(org) = self.schedules.get(&schedule).map(|schedule| schedule.org) else { return };
        self.record(EventRecord {
            org,
            at: now,
            actor: None,
            kind: event.name().to_owned(),
            schedule: Some(schedule),
            run,
            detail: event.to_string(),
        });
    }

    /// Notes an event that belongs to no tenant.
    pub(super) fn note_of_installation(&mut self, event: &Event, now: Timestamp) {
        let org = self.org_of(INSTALLATION);
        let (kind, detail) = (event.name().to_owned(), event.to_string());
        self.record(EventRecord { org, at: now, actor: None, kind, schedule: None, run: None, detail });
    }

    /// Notes any event.
    pub(super) fn record(&mut self, event: EventRecord) {
        self.event_last += 1;
        self.events.insert(self.event_last, EventRecord { at: to_microsecond(event.at), ..event });
    }

    /// Writes an armed row, unless its identity has one: then gives back that.
    pub(super) fn arm(&mut self, new: NewRow) -> Option<Result<RunKey, RunKey>> {
        let (schedule, state) = (self.schedules.get(&new.schedule)?, self.states.get(&new.schedule)?);
        let fire_at = to_microsecond(new.fire_at);
        let record = RunRecord {
            scheduled_for: new.scheduled_for,
            org: schedule.org,
            schedule: new.schedule,
            origin: new.origin,
            nonce: new.nonce,
            shard: state.shard,
            fire_at,
            look_at: Some(fire_at),
            status: RunStatus::Scheduled,
            reason: new.verdict,
            version: schedule.version,
            tz: new.tz,
            attempt: 0,
            is_forced: new.is_forced,
            wait: None,
            fence: None,
            queue: None,
            token: None,
            enqueued_at: None,
            started_at: None,
            completed_at: None,
            executor_run_id: None,
            payload: new.payload,
            trace: new.trace,
        };
        Some(self.insert_run(record))
    }

    /// Writes what a plan says, with the cursor, under the valid definition.
    pub(super) fn write_plan(&mut self, schedule: ScheduleKey, plan: &Plan, moment: Moment) {
        let Some(definition) = self.present(schedule).cloned() else { return };
        let is_open = |run: &RunKey| self.runs.get(run).is_some_and(RunRecord::is_unlaunched);
        let closed = plan.closed.iter().map(|closed| closed.run);
        let done = plan.without(&closed.filter(|run| !is_open(run)).collect::<Vec<_>>());
        for Noted { run, event } in
            plan_events(&done, definition.when.timing(), &definition.policy, moment.now)
        {
            self.note_about((schedule, run), &event, moment.now);
        }
        for closed in &done.closed {
            self.close(closed.run, Ending::from(&closed.end), moment.now);
        }
        for refired in &plan.refired {
            let fire_at = to_microsecond(refired.fire_at);
            if self.runs.get(&refired.run).is_some_and(|run| run.status == RunStatus::Scheduled) {
                self.change_run(refired.run, |run| (run.fire_at, run.look_at) = (fire_at, Some(fire_at)));
            }
        }
        for entry in &plan.entries {
            self.enter(schedule, entry, moment);
        }
        self.write_ranges(schedule, plan, moment.now);
        // What the next tick hung on may have started or ended since the plan was made, or by the plan itself.
        let is_free = plan.is_hanging && self.outstanding(schedule, &definition) == 0;
        let plan_at = if is_free { Some(moment.now) } else { plan.plan_at };
        self.change_state(schedule, |state| {
            state.cursor.planned_through = to_microsecond(plan.cursor.planned_through);
            state.cursor.decided_through = to_microsecond(plan.cursor.decided_through);
            state.next_tick = plan.next_tick;
            let plans = state.status.is_active() && !state.is_spent();
            state.plan_at = plan_at.filter(|_| plans).map(to_microsecond);
        });
    }

    /// Writes the stretches of a plan, under the valid definition.
    pub(super) fn write_ranges(&mut self, schedule: ScheduleKey, plan: &Plan, now: Timestamp) {
        let Some(record) = self.schedules.get(&schedule) else { return };
        let (org, version) = (record.org, record.definition.any().version);
        for range in &plan.ranges {
            let record = RangeRecord {
                last: range.last,
                org,
                count: range.count,
                end: range.end.clone(),
                counts: None,
                version,
                recorded_at: to_microsecond(now),
            };
            self.ranges.entry((schedule, range.first)).or_insert(record);
        }
    }

    fn enter(&mut self, schedule: ScheduleKey, entry: &punctual_plan::Entry, moment: Moment) {
        let (verdict, end) = match &entry.state {
            EntryState::Scheduled => (None, None),
            EntryState::Suppressed(reason) => (Some(reason.clone()), None),
            EntryState::Ended(end) => (None, Some(end)),
        };
        let armed = self.arm(NewRow {
            schedule,
            origin: Origin::Tick,
            nonce: String::new(),
            scheduled_for: entry.scheduled_for,
            fire_at: entry.fire_at,
            verdict,
            is_forced: false,
            payload: None,
            trace: None,
            tz: moment.tz,
        });
        if let (Some(Ok(run)), Some(end)) = (armed, end) {
            self.close(run, Ending::from(end), moment.now);
        }
    }

    /// Ends a row that was not launched, with its event.
    pub(super) fn end(&mut self, run: RunKey, end: &NonFire, now: Timestamp) {
        let Some(tick) = self.runs.get(&run).map(|run| run.scheduled_for) else { return };
        self.note_run(run, &end_event(tick, end), now);
        self.close(run, Ending::from(end), now);
    }

    /// Puts a row into a state in which nothing happens to it any more, frees what it held and wakes what waits for it.
    pub(super) fn close(&mut self, run: RunKey, ending: Ending, now: Timestamp) {
        self.free(run);
        let at = to_microsecond(now);
        self.change_run(run, |row| {
            row.status = ending.status;
            row.reason = ending.reason;
            row.completed_at = Some(at);
            row.look_at = None;
            row.token = None;
        });
        self.wake(run, now);
        let Some(row) = self.runs.get(&run).filter(|run| run.origin == Origin::Tick) else { return };
        let (schedule, tick) = (row.schedule, row.scheduled_for);
        // It has its entry: no other version has it again, though one may come at an earlier instant.
        self.change_state(schedule, |state| {
            state.launched_through = state.launched_through.max(Some(tick));
        });
        self.float(schedule, now);
    }

    /// Takes a row of the future back, as if it had never been planned.
    pub(super) fn remove(&mut self, run: RunKey, now: Timestamp) {
        self.wake(run, now);
        self.put_run(run, None);
    }

    /// Frees what a run in flight holds.
    pub(super) fn free(&mut self, run: RunKey) {
        let holds_something = |row: &&RunRecord| row.status.is_in_flight() && holds(Rule::EndsFreeClaims);
        let Some(row) = self.runs.get(&run).filter(holds_something) else { return };
        let (schedule, org, version) = (row.schedule, row.org, row.version);
        if self.states.get(&schedule).is_some_and(|state| state.active_run == Some(run)) {
            self.change_state(schedule, |state| state.active_run = None);
        }
        let policies: Vec<_> =
            [self.definition(schedule, version).map(Definition::any), self.present(schedule)]
                .into_iter()
                .flatten()
                .map(|definition| definition.policy.clone())
                .collect();
        for policy in policies {
            for (held, key) in [(&mut self.lanes, &policy.lane), (&mut self.guards, &policy.guard)] {
                let place = key.as_ref().map(|key| (org, key.clone()));
                if let Some(place) = place.filter(|place| held.get(place) == Some(&run)) {
                    held.remove(&place);
                }
            }
        }
    }

    /// Lets those be looked at again that wait for what a run has just done.
    pub(super) fn wake(&mut self, run: RunKey, now: Timestamp) {
        if self.waiting.is_empty() || !holds(Rule::WakeTheWaiting) {
            return;
        }
        let Some(row) = self.runs.get(&run) else { return };
        let (org, is_tick_end) = (row.org, row.origin == Origin::Tick && row.status.is_terminal());
        let mut woken = self.waiters(org, "turn", &run.0.to_string());
        woken.extend(self.waiters(org, "limit", OrgLimit::InFlight.name()));
        let name = self.schedules.get(&row.schedule).map(|schedule| schedule.name.clone());
        if let Some(name) = name.filter(|_| is_tick_end) {
            woken.extend(self.waiters(org, "upstream", &name));
        }
        let at = to_microsecond(now);
        for run in woken {
            self.change_run(run, |row| row.look_at = Some(row.look_at.map_or(at, |look| look.min(at))));
        }
    }

    fn waiters(&self, org: OrgKey, kind: &'static str, what: &str) -> Vec<RunKey> {
        let from = (org, kind, what.to_owned(), RunKey(i64::MIN));
        let to = (org, kind, what.to_owned(), RunKey(i64::MAX));
        self.waiting.range(from..=to).map(|(.., run)| *run).collect()
    }

    /// Whether each tick of a schedule hangs on the run before it.
    pub(super) fn is_floating(&self, schedule: ScheduleKey) -> bool {
        self.present(schedule).is_some_and(|definition| definition.when.is_floating())
    }

    /// Plans a schedule anew whose next tick hung on the run that has just ended.
    pub(super) fn float(&mut self, schedule: ScheduleKey, now: Timestamp) {
        let hangs = self.states.get(&schedule).is_some_and(|state| {
            let has_none = state.plan_at.is_none() && state.next_tick.is_none();
            state.status.is_active() && state.spent_at.is_none() && has_none
        });
        let is_living = self.schedules.get(&schedule).is_some_and(|schedule| schedule.deleted_at.is_none());
        if hangs && is_living && self.is_floating(schedule) {
            self.change_state(schedule, |state| state.plan_at = Some(to_microsecond(now)));
        }
    }

    /// A schedule of which nothing is left leaves `active`.
    pub(super) fn exhaust(&mut self, schedule: ScheduleKey, now: Timestamp) {
        let (Some(record), Some(state)) = (self.schedules.get(&schedule), self.states.get(&schedule)) else {
            return;
        };
        let has_ticks = record.definition.any().when.timing().is_some();
        let is_over = state.next_tick.is_none() && state.plan_at.is_none() && has_ticks;
        let is_spent = holds(Rule::TheLastTickEndsIt)
            && record.deleted_at.is_none()
            && state.status.is_active()
            && (is_over || state.spent_at.is_some())
            && self.unended_of(schedule).next().is_none();
        if !is_spent {
            return;
        }
        let at = state.spent_at.unwrap_or(to_microsecond(now));
        self.change_state(schedule, |state| {
            state.status = Status::Exhausted { at };
            state.left_at = Some(at);
            state.plan_at = None;
        });
        self.note(schedule, &Event::Left { reason: Reason::Exhausted { at } }, now);
    }

    /// Moves a breaker, with its transition if its state's name changes.
    pub(super) fn move_breaker(&mut self, place: (OrgKey, String), to: BreakerRecord, run: Option<RunKey>) {
        let before = self.breakers.get(&place).map(|record| record.breaker).unwrap_or_default();
        let is_move = before.name() != to.breaker.name();
        if is_move {
            self.transition_last += 1;
            let transition = TransitionRecord {
                org: place.0,
                target: place.1.clone(),
                at: to_microsecond(to.changed_at),
                from: before.name().to_owned(),
                to: to.breaker.name().to_owned(),
                run,
            };
            self.transitions.insert(self.transition_last, transition);
        }
        let kept = self.breakers.get(&place).filter(|_| !is_move).map(|record| record.changed_at);
        let breaker = match to.breaker {
            Breaker::Open { until } => Breaker::Open { until: to_microsecond(until) },
            other => other,
        };
        let changed_at = kept.unwrap_or(to_microsecond(to.changed_at));
        self.breakers.insert(place, BreakerRecord { breaker, changed_at });
    }
}
