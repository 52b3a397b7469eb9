//! The book: rows, claims and cursors in memory, changed only by what was decided.

use std::collections::{BTreeSet, HashMap};

use jiff::Timestamp;
use punctual_time::Anchor;

use super::account::Desk;
use super::outcome::{Logged, RangeRecord};
use crate::{
    EntryState, Event, Follower, Lane, LateRow, NonFire, OrgKey, OrgLimit, Origin, Pace, Plan, Reason, Run,
    RunKey, RunState, ScheduleId, ScheduleKey, Status, Subject, Wait, Waiting, Window, World, end_event,
    plan, plan_events,
};

/// The one org of a simulation.
pub(super) const ORG: OrgKey = OrgKey(1);

/// A row of the ledger and when it wants to be looked at.
pub(super) struct Row {
    pub(super) run: Run,
    pub(super) desk: usize,
    due_at: Option<Timestamp>,
    pub(super) ends_at: Option<Timestamp>,
    /// Its present attempt's number among all of its schedule.
    pub(super) number: u32,
    pub(super) is_forced: bool,
}

/// A row to be written.
pub(super) struct NewRow {
    pub(super) desk: usize,
    pub(super) origin: Origin,
    pub(super) nonce: String,
    pub(super) scheduled_for: Timestamp,
    pub(super) fire_at: Timestamp,
    pub(super) state: RunState,
    pub(super) is_forced: bool,
}

/// Everything that a database would hold.
pub(super) struct Book {
    pub(super) now: Timestamp,
    pub(super) pace: Pace,
    pub(super) desks: Vec<Desk>,
    pub(super) by_id: HashMap<ScheduleId, usize>,
    /// By run; a row of the future that vanished leaves its number behind.
    pub(super) rows: Vec<Option<Row>>,
    pub(super) world: World,
    pub(super) followers: HashMap<ScheduleId, Vec<Follower>>,
    pub(super) plans: BTreeSet<(Timestamp, usize)>,
    pub(super) due: BTreeSet<(Timestamp, RunKey)>,
    pub(super) ends: BTreeSet<(Timestamp, RunKey)>,
    pub(super) waiting: BTreeSet<RunKey>,
    /// Admitted and not launched yet.
    pub(super) started: Vec<RunKey>,
    pub(super) log: Vec<Logged>,
    pub(super) plan_count: u64,
    pub(super) minute: i64,
}

impl Book {
    pub(super) fn new(now: Timestamp, pace: Pace) -> Self {
        Self {
            now,
            pace,
            desks: Vec::new(),
            by_id: HashMap::new(),
            rows: Vec::new(),
            world: World { pace, ..World::free(now) },
            followers: HashMap::new(),
            plans: BTreeSet::new(),
            due: BTreeSet::new(),
            ends: BTreeSet::new(),
            waiting: BTreeSet::new(),
            started: Vec::new(),
            log: Vec::new(),
            plan_count: 0,
            minute: i64::MIN,
        }
    }

    pub(super) fn row(&self, run: RunKey) -> Option<&Row> {
        self.rows.get(usize::try_from(run.0 - 1).ok()?)?.as_ref()
    }

    pub(super) fn row_mut(&mut self, run: RunKey) -> Option<&mut Row> {
        self.rows.get_mut(usize::try_from(run.0 - 1).ok()?)?.as_mut()
    }

    pub(super) fn note(&mut self, desk: usize, event: Event) {
        let (at, schedule) = (self.now, self.desks[desk].key);
        self.log.push(Logged { at, schedule, event });
    }

    /// Plans a schedule from its cursor on.
    pub(super) fn plan(&mut self, desk: usize) {
        let decide = |subject: &Subject<'_>, window| plan(subject, window);
        self.plan_with(desk, decide);
    }

    /// Plans a schedule by one of the ways there are.
    pub(super) fn plan_with(&mut self, desk: usize, decide: impl FnOnce(&Subject<'_>, Window) -> Plan) {
        let late = self.late_rows(desk);
        let at = &self.desks[desk];
        let Some(timing) = at.timing.as_ref().filter(|_| at.is_active() && at.spent_at.is_none()) else {
            return;
        };
        let floats = at.floats_on(Anchor::LastStart) || at.floats_on(Anchor::LastFinish);
        let free_from = at.plan_at.filter(|_| floats && at.next_tick.is_none());
        let subject = Subject {
            id: at.schedule.id,
            timing,
            policy: &at.schedule.policy,
            cursor: at.state.cursor.free_from(free_from),
            late: &late,
            outstanding: self.outstanding(desk),
            slept: None,
        };
        let plan = decide(&subject, Window { now: self.now, pace: self.pace });
        self.plan_count += 1;
        self.write(desk, plan);
    }

    /// The ticks whose start, or whose end, the next one hangs on.
    fn outstanding(&self, desk: usize) -> usize {
        let at = &self.desks[desk];
        let open = at.open.iter().filter_map(|run| self.row(*run));
        let open = open.filter(|row| row.run.origin == Origin::Tick);
        match at.floats_on(Anchor::LastStart) {
            true => open.filter(|row| row.run.attempts.is_empty()).count(),
            false => open.count() + at.ticks_in_flight,
        }
    }

    /// Schedules of which several ticks are due that no catch-up has decided: they are one decision.
    pub(super) fn stretches(&self) -> BTreeSet<usize> {
        let due = self.due.iter().take_while(|(at, _)| *at <= self.now).filter_map(|(_, run)| self.row(*run));
        let desks: BTreeSet<usize> = due.map(|row| row.desk).collect();
        let is_stretch = |desk: &usize| {
            let at = &self.desks[*desk];
            let own = |tick: Timestamp| tick.saturating_add(at.schedule.policy.jitter.max);
            let late = self.late_rows(*desk);
            let open = late.iter().filter(|row| row.verdict.is_none());
            let open = open.filter(|row| own(row.scheduled_for).is_ok_and(|own| row.fire_at <= own));
            at.is_active() && at.spent_at.is_none() && open.count() > 1
        };
        desks.into_iter().filter(is_stretch).collect()
    }

    fn late_rows(&self, desk: usize) -> Vec<LateRow> {
        let rows = self.desks[desk].open.iter().filter_map(|run| self.row(*run));
        let mut late: Vec<LateRow> = rows
            .filter(|row| row.run.fire_at <= self.now && row.run.origin == Origin::Tick)
            .filter_map(|row| match &row.run.state {
                RunState::Scheduled { verdict } => Some(LateRow {
                    run: row.run.key,
                    scheduled_for: row.run.scheduled_for,
                    fire_at: row.run.fire_at,
                    verdict: verdict.clone(),
                }),
                _ => None,
            })
            .collect();
        late.sort_by_key(|row| row.scheduled_for);
        late
    }

    /// Writes what a plan says, with the cursor.
    pub(super) fn write(&mut self, desk: usize, plan: Plan) {
        self.enter(desk, plan);
        self.exhaust(desk);
    }

    /// Writes what a change says, with the cursor: that it plans nothing more does not mean that nothing is left.
    pub(super) fn enter(&mut self, desk: usize, plan: Plan) {
        let (timing, policy) = (self.desks[desk].timing.clone(), self.desks[desk].schedule.policy.clone());
        for noted in plan_events(&plan, timing.as_ref(), &policy, self.now) {
            self.note(desk, noted.event);
        }
        for closed in plan.closed {
            self.close(closed.run, ended(closed.end, self.now));
        }
        for refired in plan.refired {
            if let Some(row) = self.row_mut(refired.run) {
                row.run.fire_at = refired.fire_at;
            }
            self.look_at(refired.run, Some(refired.fire_at));
        }
        for entry in plan.entries {
            let at = self.now;
            let state = match entry.state {
                EntryState::Scheduled => RunState::Scheduled { verdict: None },
                EntryState::Suppressed(reason) => RunState::Scheduled { verdict: Some(reason) },
                EntryState::Ended(NonFire::Skipped(reason)) => RunState::Skipped { reason, at },
                EntryState::Ended(NonFire::Missed(reason)) => RunState::Missed { reason, at },
            };
            let (scheduled_for, fire_at) = (entry.scheduled_for, entry.fire_at);
            let (origin, nonce) = (Origin::Tick, String::new());
            self.insert(NewRow { desk, origin, nonce, scheduled_for, fire_at, state, is_forced: false });
        }
        let (version, recorded_at) = (self.desks[desk].schedule.version, self.now);
        let at = &mut self.desks[desk];
        at.ranges.extend(plan.ranges.into_iter().map(|range| RangeRecord { range, version, recorded_at }));
        at.state.cursor = plan.cursor;
        at.next_tick = plan.next_tick;
        // A plan that ended the row on which the next tick hung has yet to find that tick.
        let is_free = plan.is_hanging && self.outstanding(desk) == 0;
        self.plan_next(desk, if is_free { Some(self.now) } else { plan.plan_at });
    }

    /// Says when a schedule wants planning.
    pub(super) fn plan_next(&mut self, desk: usize, plan_at: Option<Timestamp>) {
        let at = &mut self.desks[desk];
        let plan_at = plan_at.filter(|_| at.is_active() && at.spent_at.is_none());
        if let Some(before) = std::mem::replace(&mut at.plan_at, plan_at) {
            self.plans.remove(&(before, desk));
        }
        self.plans.extend(plan_at.map(|plan_at| (plan_at, desk)));
    }

    pub(super) fn insert(&mut self, new: NewRow) {
        let key = RunKey(self.rows.len() as i64 + 1);
        let at = &mut self.desks[new.desk];
        let is_open = !new.state.status().is_terminal();
        if new.origin == Origin::Tick {
            at.ticks.insert(new.scheduled_for, key);
        }
        if is_open {
            at.open.insert(key);
        }
        let run = Run {
            key,
            schedule: at.key,
            version: at.schedule.version,
            origin: new.origin,
            nonce: new.nonce,
            scheduled_for: new.scheduled_for,
            fire_at: new.fire_at,
            state: new.state,
            waited: None,
            attempts: Vec::new(),
        };
        let row =
            Row { run, desk: new.desk, due_at: None, ends_at: None, number: 0, is_forced: new.is_forced };
        self.rows.push(Some(row));
        self.look_at(key, is_open.then_some(new.fire_at));
    }

    /// Says when a row wants to be looked at.
    pub(super) fn look_at(&mut self, run: RunKey, at: Option<Timestamp>) {
        let Some(row) = self.row_mut(run) else { return };
        if let Some(before) = std::mem::replace(&mut row.due_at, at) {
            self.due.remove(&(before, run));
        }
        self.due.extend(at.map(|at| (at, run)));
    }

    /// Ends a row that was not launched.
    pub(super) fn end(&mut self, run: RunKey, end: NonFire) {
        let Some((desk, tick)) = self.row(run).map(|row| (row.desk, row.run.scheduled_for)) else { return };
        self.note(desk, end_event(tick, &end));
        self.close(run, ended(end, self.now));
    }

    /// Puts a row into a state in which nothing happens to it any more.
    pub(super) fn close(&mut self, run: RunKey, state: RunState) {
        self.look_at(run, None);
        let Some(row) = self.row_mut(run) else { return };
        row.run.state = state;
        let (desk, tick, origin) = (row.desk, row.run.scheduled_for, row.run.origin);
        self.desks[desk].open.remove(&run);
        if origin == Origin::Tick && tick > self.now {
            // It fired early and has its entry: no other version has it again.
            self.desks[desk].launched_through = self.desks[desk].launched_through.max(Some(tick));
        }
        self.forget(desk, run);
        self.wake(desk, run);
        self.go_on(desk, origin);
        self.exhaust(desk);
    }

    /// Where each tick hangs on the one before, the next is planned when that one has ended, run or not.
    fn go_on(&mut self, desk: usize, origin: Origin) {
        let at = &self.desks[desk];
        let is_floating = at.floats_on(Anchor::LastStart) || at.floats_on(Anchor::LastFinish);
        if is_floating && origin == Origin::Tick && at.plan_at.is_none() && at.next_tick.is_none() {
            self.plan_next(desk, Some(self.now));
        }
    }

    /// Takes a row of the future back, as if it had never been planned.
    pub(super) fn remove(&mut self, run: RunKey) {
        self.look_at(run, None);
        let Some(row) = usize::try_from(run.0 - 1).ok().and_then(|place| self.rows[place].take()) else {
            return;
        };
        let desk = &mut self.desks[row.desk];
        desk.open.remove(&run);
        desk.ticks.remove(&row.run.scheduled_for);
        self.forget(row.desk, run);
    }

    pub(super) fn lane(&self, desk: usize) -> Lane {
        self.desks[desk].lane()
    }

    /// Removes a run from every list of those that want something.
    fn forget(&mut self, desk: usize, run: RunKey) {
        self.waiting.remove(&run);
        for lane in &self.desks[desk].lanes {
            if let Some(traffic) = self.world.lanes.get_mut(lane) {
                traffic.waiting.retain(|other| *other != run);
            }
        }
        if let Some(standing) = self.world.schedules.get_mut(&self.desks[desk].key) {
            standing.retrying.retain(|other| *other != run);
        }
    }

    /// Frees what a run in flight held.
    pub(super) fn free(&mut self, desk: usize, run: RunKey) {
        for lane in &self.desks[desk].lanes {
            if let Some(traffic) = self.world.lanes.get_mut(lane) {
                traffic.in_flight.retain(|other| *other != run);
            }
        }
        self.world.guards.retain(|_, holder| *holder != run);
        if let Some(used) = self.world.orgs.get_mut(&ORG) {
            used.in_flight = used.in_flight.saturating_sub(1);
        }
        let is_tick = self.row(run).is_some_and(|row| row.run.origin == Origin::Tick);
        let at = &mut self.desks[desk];
        at.in_flight -= 1;
        at.ticks_in_flight -= usize::from(is_tick);
    }

    /// Looks again at the rows that wait for what a run of a schedule has just done.
    pub(super) fn wake(&mut self, desk: usize, run: RunKey) {
        if self.waiting.is_empty() {
            return;
        }
        let (lane, name) = (self.lane(desk), self.desks[desk].schedule.name.clone());
        let is_concerned = |other: &&RunKey| {
            let Some(row) = self.row(**other) else { return false };
            match &row.run.state {
                RunState::Waiting(Waiting { wait, .. }) => match wait {
                    Wait::Turn { behind } => *behind == run || self.lane(row.desk) == lane,
                    Wait::Upstream { schedule } => *schedule == name,
                    Wait::Limit { limit } => *limit == OrgLimit::InFlight,
                    // A simulated target always has room.
                    Wait::Room { .. } => false,
                },
                _ => false,
            }
        };
        let woken: Vec<RunKey> = self.waiting.iter().filter(is_concerned).copied().collect();
        for other in woken {
            self.look_at(other, Some(self.now));
        }
    }

    /// A schedule of which nothing is left leaves `active`.
    pub(super) fn exhaust(&mut self, desk: usize) {
        if !self.desks[desk].is_spent() {
            return;
        }
        let at = self.desks[desk].spent_at.unwrap_or(self.now);
        self.desks[desk].state.status = Status::Exhausted { at };
        self.desks[desk].note_exhausted(at);
        self.desks[desk].left_at = Some(at);
        self.note(desk, Event::Left { reason: Reason::Exhausted { at } });
    }

    pub(super) fn desk_of(&self, schedule: ScheduleKey) -> usize {
        usize::try_from(schedule.0 - 1).unwrap_or_default()
    }
}

/// How a row stands that ended without running.
fn ended(end: NonFire, at: Timestamp) -> RunState {
    match end {
        NonFire::Skipped(reason) => RunState::Skipped { reason, at },
        NonFire::Missed(reason) => RunState::Missed { reason, at },
    }
}
