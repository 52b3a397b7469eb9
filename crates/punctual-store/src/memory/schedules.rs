//! Schedules: written under their guards, read within the scope.

use std::sync::Arc;

use jiff::Timestamp;
use punctual_plan::rule::{Rule, holds};
use punctual_plan::{
    Cursor, Fence, Origin, Plan, RunKey, RunStatus, Schedule, ScheduleId, ScheduleKey, Status,
};

use super::data::Data;
use super::life::{Moment, NewRow};
use super::table::{Definition, EventRecord, RunRecord, ScheduleRecord, StateRecord, VersionRecord};
use crate::stored::shard_of;
use crate::{
    Cut, Error, Listed, OpenRow, ScheduleFilter, ScheduleRow, ScheduleWrite, Scope, Selector, VersionRow,
    Write, Written, to_microsecond,
};

/// A schedule to be made.
struct Made {
    definition: Arc<Schedule>,
    status: Status,
    plan: Option<Plan>,
    declared_set: Option<String>,
}

/// A change of a schedule, as it was asked for.
struct Turn {
    schedule: ScheduleKey,
    version: i64,
    from: Cursor,
    definition: Option<Arc<Schedule>>,
    status: Option<Status>,
    is_deleted: bool,
    changed: punctual_plan::Changed,
    plan: Option<Plan>,
}

/// A wish for a run.
struct Wish {
    schedule: ScheduleKey,
    row: NewRow,
}

impl Data {
    pub(super) fn write_schedules(
        &mut self,
        scope: &Scope,
        writes: Vec<ScheduleWrite>,
    ) -> Vec<Result<Written, Error>> {
        writes.into_iter().map(|write| self.write_schedule(scope, write)).collect()
    }

    pub(super) fn replan(
        &mut self,
        fence: Fence,
        writes: Vec<ScheduleWrite>,
    ) -> Result<Option<Vec<Result<Written, Error>>>, Error> {
        self.check_lease(fence)?;
        Ok(self.has_newest_rules(fence).then(|| self.write_schedules(&Scope::Engine, writes)))
    }

    fn write_schedule(&mut self, scope: &Scope, write: ScheduleWrite) -> Result<Written, Error> {
        let moment = Moment { now: to_microsecond(write.now), tz: self.tz };
        let note = Note { at: moment.now, actor: scope.user(), kind: write.kind, note: write.note };
        match write.write {
            Write::Create { definition, status, plan, declared_set } => {
                let made = Made { definition, status, plan, declared_set };
                let key = self.create(scope, made, moment)?;
                self.note_write(&note, key, None);
                self.exhaust(key, moment.now);
                Ok(Written::Schedule(key))
            }
            Write::Change { schedule, version, from, definition, status, is_deleted, changed, plan } => {
                let turn = Turn { schedule, version, from, definition, status, is_deleted, changed, plan };
                if !self.turn(scope, turn, moment)? {
                    return Ok(Written::Stale);
                }
                self.note_write(&note, schedule, None);
                self.exhaust(schedule, moment.now);
                Ok(Written::Schedule(schedule))
            }
            Write::Trigger { schedule, origin, nonce, scheduled_for, fire_at, is_forced, payload, trace } => {
                let row = NewRow {
                    schedule,
                    origin,
                    nonce,
                    scheduled_for,
                    fire_at,
                    verdict: None,
                    is_forced,
                    payload,
                    trace,
                    tz: moment.tz,
                };
                let triggered = self.trigger(scope, Wish { schedule, row })?;
                if let Ok(run) = triggered {
                    self.note_write(&note, schedule, Some(run));
                }
                let (Ok(run) | Err(run)) = triggered;
                Ok(Written::Run(run))
            }
        }
    }

    fn note_write(&mut self, note: &Note, key: ScheduleKey, run: Option<RunKey>) {
        let event = EventRecord {
            org: self.schedules[&key].org,
            at: note.at,
            actor: note.actor.clone(),
            kind: note.kind.to_owned(),
            schedule: Some(key),
            run,
            detail: note.note.clone(),
        };
        self.record(event);
    }

    fn create(&mut self, scope: &Scope, made: Made, moment: Moment) -> Result<ScheduleKey, Error> {
        let definition = made.definition;
        let org = match scope {
            Scope::Engine => self.org_of(&definition.owner.org_id),
            Scope::Org { org, .. } => *org,
        };
        let name = definition.name.clone();
        let is_taken = self.names.contains_key(&(org, name.clone()));
        if is_taken || (!holds(Rule::NamesByOrg) && self.names.keys().any(|(_, taken)| *taken == name)) {
            return Err(Error::NameTaken { name });
        }
        if self.ids.contains_key(&(definition.id, org)) {
            return Err(Error::Conflict { what: format!("the schedule with id `{}`", definition.id) });
        }
        let living =
            || self.names.range((org, String::new())..).take_while(|((of, _), _)| *of == org).count();
        let max = self.limits(org).and_then(|limits| limits.schedules);
        if max.is_some_and(|max| living() as u64 >= max) {
            return Err(Error::Forbidden { what: "have more schedules than its limits say" });
        }
        let key = ScheduleKey(self.schedules.last_key_value().map_or(1, |(last, _)| last.0 + 1));
        let record = ScheduleRecord {
            org,
            id: definition.id,
            name,
            definition: Definition::Read(Arc::clone(&definition)),
            declared_set: made.declared_set,
            version: definition.version,
            created_at: moment.now,
            updated_at: moment.now,
            deleted_at: None,
        };
        self.put_schedule(key, record);
        self.keep_version(scope, key, (&definition, moment.now));
        let state = StateRecord {
            org,
            shard: shard_of(definition.id),
            version: definition.version,
            left_at: (!made.status.is_active()).then_some(moment.now),
            status: made.status,
            spent_at: None,
            cursor: Cursor::starting(moment.now),
            next_tick: None,
            plan_at: None,
            active_run: None,
            launched_through: None,
            counters: punctual_plan::Counters::default(),
            last_start: None,
            last_finish: None,
            last_success: None,
            anchors: punctual_plan::Anchors::default(),
        };
        self.states.insert(key, state);
        match made.plan.as_ref().filter(|_| holds(Rule::FirstWindow)) {
            Some(plan) => self.write_plan(key, plan, moment),
            None => self.leave_to_planner(key, moment.now),
        }
        Ok(key)
    }

    fn keep_version(
        &mut self,
        scope: &Scope,
        key: ScheduleKey,
        (definition, since): (&Arc<Schedule>, Timestamp),
    ) {
        let made_by = scope.user();
        let record = VersionRecord {
            org: self.schedules[&key].org,
            since,
            made_by,
            definition: Definition::Read(Arc::clone(definition)),
        };
        self.versions.insert((key, definition.version), record);
    }

    /// A living schedule that the scope reaches.
    fn living(&self, scope: &Scope, schedule: ScheduleKey) -> Result<&ScheduleRecord, Error> {
        let record = self.schedules.get(&schedule).filter(|record| scope.covers(record.org));
        record
            .filter(|record| record.deleted_at.is_none())
            .ok_or_else(|| Error::NotFound { what: format!("number {}", schedule.0) })
    }

    /// Carries out a change; whether it was still to be made.
    fn turn(&mut self, scope: &Scope, turn: Turn, moment: Moment) -> Result<bool, Error> {
        let key = turn.schedule;
        let record = self.living(scope, key)?.clone();
        let state = &self.states[&key];
        let is_meant = record.version == turn.version && state.cursor == turn.from;
        if !is_meant && holds(Rule::ChangeGuard) {
            return Ok(false);
        }
        let name = turn.definition.as_ref().map_or(&record.name, |definition| &definition.name).clone();
        if self.names.get(&(record.org, name.clone())).is_some_and(|other| *other != key) {
            return Err(Error::NameTaken { name });
        }
        self.carry_out(key, &turn.changed, moment);
        let mut after = ScheduleRecord { updated_at: moment.now, name, ..record };
        if let Some(definition) = &turn.definition {
            if holds(Rule::ChangeRaisesTheVersion) {
                after.version = definition.version;
            }
            after.definition = Definition::Read(Arc::clone(definition));
        }
        after.deleted_at = turn.is_deleted.then_some(moment.now);
        let version = after.version;
        self.put_schedule(key, after);
        if let Some(definition) = &turn.definition {
            self.keep_version(scope, key, (definition, turn.changed.valid_from()));
        }
        self.change_state(key, |state| {
            state.version = version;
            if turn.definition.is_some() {
                state.spent_at = None;
            }
            if let Some(status) = turn.status {
                let is_active = status.is_active();
                state.left_at = (!is_active).then_some(moment.now);
                state.spent_at = state.spent_at.filter(|_| !is_active);
                if is_active {
                    // Whoever resumes it has seen to what made it fail.
                    state.counters.consecutive_failures = 0;
                }
                state.status = status;
            }
            if turn.is_deleted {
                state.left_at = Some(moment.now);
            }
            (state.next_tick, state.plan_at) = (None, None);
        });
        match turn.plan.as_ref().filter(|_| !turn.is_deleted && holds(Rule::ChangePlans)) {
            Some(plan) => self.write_plan(key, plan, moment),
            None => self.leave_to_planner(key, moment.now),
        }
        if turn.definition.is_some() {
            self.wake_waiting(key, moment.now);
        }
        Ok(true)
    }

    /// Nobody has planned it yet: the planner does, if it is active and has ticks.
    fn leave_to_planner(&mut self, key: ScheduleKey, now: Timestamp) {
        let is_living = self.schedules.get(&key).is_some_and(|one| one.deleted_at.is_none());
        let has_ticks = self.present(key).is_some_and(|one| one.when.timing().is_some());
        self.change_state(key, |state| {
            let plans = is_living && has_ticks && state.status.is_active() && state.spent_at.is_none();
            state.plan_at = plans.then_some(now);
        });
    }

    /// What waits is judged anew: the rules that made it wait have changed.
    fn wake_waiting(&mut self, key: ScheduleKey, now: Timestamp) {
        let waiting = self.unended_of(key).filter(|(_, run)| run.status == RunStatus::Waiting);
        let waiting: Vec<RunKey> = waiting.map(|(run, _)| run).collect();
        for run in waiting {
            self.change_run(run, |row| row.look_at = row.look_at.map(|look| look.min(now)));
        }
    }

    /// Asks for a run: a new one, or the one that the same request was given before.
    fn trigger(&mut self, scope: &Scope, wish: Wish) -> Result<Result<RunKey, RunKey>, Error> {
        self.living(scope, wish.schedule)?;
        if wish.row.origin == Origin::Manual
            && let Some(first) = self.requested.get(&(wish.schedule, wish.row.nonce.clone()))
            && holds(Rule::OneRunPerRequest)
        {
            return Ok(Err(*first));
        }
        self.arm(wish.row).ok_or(Error::NotFound { what: format!("number {}", wish.schedule.0) })
    }

    // ---- Reading.

    pub(super) fn schedule_row(&self, key: ScheduleKey) -> Option<ScheduleRow> {
        let (record, state) = (self.schedules.get(&key)?, self.states.get(&key)?);
        let is_armed = |run: &RunRecord| run.status == RunStatus::Scheduled && run.reason.is_none();
        let is_launched = |run: &RunRecord| run.origin == Origin::Tick && run.attempt > 0;
        let armed = self.unended_of(key).filter(|(_, run)| is_armed(run) && holds(Rule::NextIsTheEarliest));
        Some(ScheduleRow {
            key,
            definition: Arc::clone(record.definition.any()),
            invalid: self.unusable(record.org, &record.definition),
            state: state.state(),
            left_at: state.left_at,
            spent_at: state.spent_at,
            ticks_launched: self.unended_of(key).filter(|(_, run)| is_launched(run)).count(),
            launched_through: state.launched_through,
            created_at: record.created_at,
            updated_at: record.updated_at,
            deleted_at: record.deleted_at,
            declared_set: record.declared_set.clone(),
            next_run_at: armed.map(|(_, run)| run.scheduled_for).min().or(state.next_tick),
            next_tick: state.next_tick,
            last_success: state.last_success,
        })
    }

    pub(super) fn select(&self, scope: &Scope, selector: &Selector) -> Result<Option<ScheduleKey>, Error> {
        let visible = |key: &ScheduleKey| self.schedules.get(key).is_some_and(|one| scope.covers(one.org));
        match selector {
            Selector::Id(id) => Ok(self.by_id(scope, *id)),
            Selector::IdPrefix(prefix) => {
                let mut found = self.ids.iter().filter(|((id, _), key)| {
                    visible(key) && id.to_string().starts_with(&prefix.to_lowercase())
                });
                let first = found.next().map(|(_, key)| *key);
                match found.next() {
                    Some(_) => Err(Error::Ambiguous { prefix: prefix.clone() }),
                    None => Ok(first),
                }
            }
            Selector::Name(name) => {
                let from = (name.clone(), ScheduleKey(i64::MIN))..=(name.clone(), ScheduleKey(i64::MAX));
                let all: Vec<ScheduleKey> =
                    self.listed.range(from).map(|(_, key)| *key).filter(visible).collect();
                let living = all.iter().find(|key| self.schedules[key].deleted_at.is_none());
                Ok(living.or(all.last()).copied())
            }
        }
    }

    /// The schedule with an id that the scope reaches.
    pub(super) fn by_id(&self, scope: &Scope, id: ScheduleId) -> Option<ScheduleKey> {
        let range = (id, punctual_plan::OrgKey(i64::MIN))..=(id, punctual_plan::OrgKey(i64::MAX));
        self.ids.range(range).find(|((_, org), _)| scope.covers(*org)).map(|(_, key)| *key)
    }

    pub(super) fn open_rows(&self, scope: &Scope, schedule: ScheduleKey) -> Vec<OpenRow> {
        if !self.schedules.get(&schedule).is_some_and(|record| scope.covers(record.org)) {
            return Vec::new();
        }
        let row = |open| Some(OpenRow { open, run: self.run_of(open.run)? });
        let mut rows: Vec<OpenRow> =
            self.opens(schedule).into_iter().filter_map(|open: punctual_plan::Open| row(open)).collect();
        rows.sort_by_key(|row| (row.run.scheduled_for, row.run.key));
        rows
    }

    pub(super) fn schedule_list(
        &self,
        scope: &Scope,
        filter: &ScheduleFilter,
        cut: &Cut,
    ) -> Result<Listed<ScheduleRow>, Error> {
        let after = cut.after.as_ref().map(|after| read_place(after)).transpose()?;
        let wanted = self.listed.iter().filter(|place| after.as_ref().is_none_or(|after| *place > after));
        let wanted = wanted.filter(|(_, key)| self.is_wanted(scope, filter, *key));
        let mut places: Vec<&(String, ScheduleKey)> = wanted.take(cut.limit as usize + 1).collect();
        let is_more = places.len() > cut.limit as usize;
        places.truncate(cut.limit as usize);
        let next = places.last().filter(|_| is_more).map(|(name, key)| format!("{} {name}", key.0));
        Ok(Listed { rows: places.iter().filter_map(|(_, key)| self.schedule_row(*key)).collect(), next })
    }

    fn is_wanted(&self, scope: &Scope, filter: &ScheduleFilter, key: ScheduleKey) -> bool {
        let (Some(record), Some(state)) = (self.schedules.get(&key), self.states.get(&key)) else {
            return false;
        };
        let definition = record.definition.any();
        let holds = |text: &str, wanted: &str| text.to_lowercase().contains(&wanted.to_lowercase());
        let is_found = |wanted: &String| {
            holds(&record.name, wanted)
                || holds(&definition.spec, wanted)
                || definition.description.as_ref().is_some_and(|text| holds(text, wanted))
        };
        scope.covers(record.org)
            && (filter.with_deleted || record.deleted_at.is_none())
            && filter.search.as_ref().is_none_or(is_found)
            && filter.tag.as_ref().is_none_or(|tag| definition.tags.contains(tag))
            && filter.status.as_ref().is_none_or(|status| state.status.name() == status)
            && (filter.user_id.is_none() || filter.user_id == definition.owner.user_id)
            && (filter.declared_set.is_none() || filter.declared_set == record.declared_set)
    }

    pub(super) fn version_rows(&self, scope: &Scope, id: ScheduleId) -> Vec<VersionRow> {
        let Some(key) = self.by_id(scope, id) else { return Vec::new() };
        let versions = self.versions.range((key, i64::MIN)..=(key, i64::MAX)).rev();
        let row = |((_, version), record): (&(ScheduleKey, i64), &VersionRecord)| VersionRow {
            schedule: id,
            version: *version,
            since: record.since,
            by: record.made_by.clone(),
            definition: Arc::clone(record.definition.any()),
        };
        versions.map(row).collect()
    }
}

/// What the audit log says of a write.
struct Note {
    at: jiff::Timestamp,
    actor: Option<String>,
    kind: &'static str,
    note: String,
}

fn read_place(after: &str) -> Result<(String, ScheduleKey), Error> {
    let place = after.split_once(' ').and_then(|(key, name)| Some((name.to_owned(), key.parse().ok()?)));
    let (name, key) = place.ok_or_else(|| Error::corrupt(format!("`{after}` is no place in a list")))?;
    Ok((name, ScheduleKey(key)))
}
