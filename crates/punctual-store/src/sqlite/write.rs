//! Changes to schedules: made, edited, paused, deleted, triggered; each with its audit event.

use std::collections::HashMap;
use std::sync::Arc;

use jiff::Timestamp;
use punctual_plan::{
    Changed, Cursor, OrgKey, Origin, Plan, RunKey, RunStatus, Schedule, ScheduleKey, Status,
};
use rusqlite::{ErrorCode, params};

use super::audit::{About, record};
use super::change::{Stand, write_changed};
use super::connection::{Db, doing};
use super::open::exhaust;
use super::plan::{NewRow, Place, PlanWriter};
use super::world::limits;
use super::{now, sql};
use crate::stored::{shard_of, status_detail, uses};
use crate::{Error, ScheduleWrite, Scope, Write, Written, encode};

/// The key of an org, made if it is new and the engine asks.
pub(super) fn org(db: &Db, scope: &Scope, org_id: &str) -> Result<OrgKey, Error> {
    let found: Option<i64> = db.value(sql!("org_key"), [org_id])?;
    match (scope, found) {
        (Scope::Engine, Some(key)) => Ok(OrgKey(key)),
        (Scope::Org { org, .. }, Some(key)) if org.0 == key => Ok(*org),
        (Scope::Engine, None) if !org_id.is_empty() => {
            db.change(sql!("insert_org"), params![org_id, now().as_microsecond()])?;
            Ok(OrgKey(db.inserted()))
        }
        _ => Err(Error::NotFound { what: format!("of an org `{org_id}`") }),
    }
}

/// Writes changes; one that is stale or refused does not stop the others.
pub(super) fn write(
    db: &Db,
    scope: &Scope,
    writes: &[ScheduleWrite],
) -> Result<Vec<Result<Written, Error>>, Error> {
    let Some(first) = writes.first() else { return Ok(Vec::new()) };
    let plans = PlanWriter::new(db, first.now)?;
    let mut writing = Writing { db, scope, plans, orgs: HashMap::new(), room: HashMap::new() };
    let mut answers = Vec::with_capacity(writes.len());
    for one in writes {
        match writing.write(one) {
            // A fault of the database fails them all; nothing was committed.
            Err(error @ (Error::Database { .. } | Error::Corrupt { .. })) => return Err(error),
            answer => answers.push(answer),
        }
    }
    Ok(answers)
}

struct Writing<'a> {
    db: &'a Db,
    scope: &'a Scope,
    plans: PlanWriter<'a>,
    orgs: HashMap<String, OrgKey>,
    /// How many schedules each org may still make, if that is bounded.
    room: HashMap<OrgKey, Option<u64>>,
}

impl Writing<'_> {
    fn write(&mut self, one: &ScheduleWrite) -> Result<Written, Error> {
        self.plans.at(one.now);
        match &one.write {
            Write::Create { definition, status, plan, declared_set } => {
                let new =
                    New { definition, status, plan: plan.as_ref(), declared_set: declared_set.as_deref() };
                self.create(one, &new)
            }
            Write::Change { .. } => self.change(one),
            Write::Trigger { .. } => self.trigger(one),
        }
    }

    fn actor(&self) -> Option<&str> {
        match self.scope {
            Scope::Engine => None,
            Scope::Org { user, .. } => user.as_deref(),
        }
    }

    fn note(&self, one: &ScheduleWrite, org: OrgKey, schedule: ScheduleKey) -> Result<(), Error> {
        let about = About { actor: self.actor(), ..About::schedule(org, schedule, one.now) };
        record(self.db, about, one.kind, &one.note)
    }

    /// Whose the new schedule is.
    fn org_of(&mut self, definition: &Schedule) -> Result<OrgKey, Error> {
        if let Scope::Org { org, .. } = self.scope {
            return Ok(*org);
        }
        let id = &definition.owner.org_id;
        if let Some(org) = self.orgs.get(id) {
            return Ok(*org);
        }
        let key = org(self.db, self.scope, id)?;
        self.orgs.insert(id.clone(), key);
        Ok(key)
    }

    /// Takes one of the places that the org's limit leaves.
    fn take_room(&mut self, org: OrgKey) -> Result<(), Error> {
        if !self.room.contains_key(&org) {
            let max = limits(self.db, org)?.and_then(|limits| limits.schedules);
            let left = match max {
                Some(max) => {
                    let had: u64 = self.db.value(sql!("count_schedules"), [org.0])?.unwrap_or_default();
                    Some(max.saturating_sub(had))
                }
                None => None,
            };
            self.room.insert(org, left);
        }
        match self.room.get_mut(&org) {
            Some(Some(0)) => {
                Err(Error::Forbidden { what: "make more schedules: the org's limit is reached" })
            }
            Some(Some(left)) => {
                *left -= 1;
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn create(&mut self, one: &ScheduleWrite, new: &New<'_>) -> Result<Written, Error> {
        let (definition, now) = (new.definition, one.now.as_microsecond());
        let org = self.org_of(definition)?;
        self.take_room(org)?;
        let text = encode(definition);
        let row = params![
            org.0,
            definition.id.to_string(),
            definition.name,
            definition.owner.user_id,
            definition.description,
            tags(definition),
            definition.spec,
            text,
            new.declared_set,
            definition.version,
            now,
        ];
        self.db
            .prepare(sql!("insert_schedule"))?
            .execute(row)
            .map_err(|error| refused(error, &definition.name))?;
        let schedule = ScheduleKey(self.db.inserted());
        let shard = shard_of(definition.id);
        self.insert_version(one, &Kept { org, schedule, definition, text: &text })?;
        let cursor = new.plan.map_or(Cursor::starting(one.now), |plan| plan.cursor);
        let next = match new.status {
            Status::Active => Upcoming::of(new.plan, definition, one.now),
            _ => Upcoming::default(),
        };
        let row = params![
            schedule.0,
            org.0,
            shard,
            definition.version,
            new.status.name(),
            status_detail(new.status),
            (!new.status.is_active()).then_some(now),
            cursor.planned_through.as_microsecond(),
            cursor.decided_through.as_microsecond(),
            next.tick,
            next.plan_at,
        ];
        self.db.change(sql!("insert_state"), row)?;
        let place = Place { org, schedule, version: definition.version, shard };
        if let Some(plan) = new.plan {
            self.plans.write(place, definition, plan)?;
        }
        self.db.definitions.put(schedule, definition);
        self.note(one, org, schedule)?;
        if new.status.is_active() && next.is_over() {
            exhaust(self.db, org, schedule, one.now)?;
        }
        Ok(Written::Schedule(schedule))
    }

    /// Keeps a version of a schedule and what it uses.
    fn insert_version(&self, one: &ScheduleWrite, kept: &Kept<'_>) -> Result<(), Error> {
        let Kept { org, schedule, definition, text } = *kept;
        let row = params![
            schedule.0,
            definition.version,
            org.0,
            one.now.as_microsecond(),
            self.actor().or(definition.owner.user_id.as_deref()),
            text
        ];
        self.db.change(sql!("insert_version"), row)?;
        for (kind, name) in uses(definition) {
            self.db.change(sql!("insert_use"), params![org.0, kind.name(), name, schedule.0])?;
        }
        Ok(())
    }

    /// Where a schedule stands, if it lives within the scope.
    fn stand(&self, schedule: ScheduleKey) -> Result<Stand, Error> {
        let missing = || Error::NotFound { what: "of this number".to_owned() };
        let stand = Stand::of(self.db, schedule)?.ok_or_else(missing)?;
        let is_own = match self.scope {
            Scope::Engine => true,
            Scope::Org { org, .. } => *org == stand.org,
        };
        if is_own { Ok(stand) } else { Err(missing()) }
    }

    fn change(&mut self, one: &ScheduleWrite) -> Result<Written, Error> {
        let Write::Change { schedule, version, from, definition, status, is_deleted, changed, plan } =
            &one.write
        else {
            return Ok(Written::Stale);
        };
        let stand = self.stand(*schedule)?;
        if stand.deleted_at.is_some() || stand.version != *version || stand.cursor != *from {
            return Ok(Written::Stale);
        }
        let edit = Edit {
            schedule: *schedule,
            definition: definition.as_ref(),
            status: status.as_ref(),
            is_deleted: *is_deleted,
            changed,
            plan: plan.as_ref(),
        };
        self.edit(one, &edit, &stand)?;
        Ok(Written::Schedule(*schedule))
    }

    fn edit(&mut self, one: &ScheduleWrite, edit: &Edit<'_>, stand: &Stand) -> Result<(), Error> {
        let (schedule, org, now) = (edit.schedule, stand.org, one.now.as_microsecond());
        let place = Place { org, schedule, version: stand.version, shard: stand.shard };
        // First what may be refused: a name that is taken.
        if let Some(definition) = edit.definition {
            self.put_definition(one, definition, place)?;
        }
        self.db.change(sql!("touch_schedule"), params![schedule.0, now, edit.is_deleted.then_some(now)])?;
        let (old, _) = self.db.readable(schedule, stand.version)?;
        write_changed(&mut self.plans, place, &old, edit.changed)?;
        if edit.definition.is_some() {
            self.db.change(sql!("wake_schedule"), params![schedule.0, now])?;
        }
        let definition = edit.definition.unwrap_or(&old);
        if let Some(plan) = edit.plan {
            self.plans.write(Place { version: definition.version, ..place }, definition, plan)?;
        }
        if edit.is_deleted {
            self.db.change(sql!("remove_uses"), [schedule.0])?;
        }
        let is_active = !edit.is_deleted && edit.status.map_or(stand.is_active, Status::is_active);
        self.put_state(one, edit, (definition, is_active))?;
        self.note(one, org, schedule)?;
        if is_active && edit.plan.is_some_and(|plan| plan.next_tick.is_none()) {
            exhaust(self.db, org, schedule, one.now)?;
        }
        Ok(())
    }

    fn put_definition(
        &self,
        one: &ScheduleWrite,
        definition: &Arc<Schedule>,
        at: Place,
    ) -> Result<(), Error> {
        let schedule = at.schedule;
        let text = encode(definition);
        let row = params![
            schedule.0,
            definition.name,
            definition.owner.user_id,
            definition.description,
            tags(definition),
            definition.spec,
            text,
            definition.version,
            one.now.as_microsecond(),
        ];
        self.db
            .prepare(sql!("edit_schedule"))?
            .execute(row)
            .map_err(|error| refused(error, &definition.name))?;
        self.db.change(sql!("remove_uses"), [schedule.0])?;
        self.insert_version(one, &Kept { org: at.org, schedule, definition, text: &text })?;
        self.db.definitions.put(schedule, definition);
        Ok(())
    }

    fn put_state(
        &self,
        one: &ScheduleWrite,
        edit: &Edit<'_>,
        after: (&Arc<Schedule>, bool),
    ) -> Result<(), Error> {
        let (definition, is_active) = after;
        let left = match edit.status {
            _ if edit.is_deleted => "leave",
            Some(status) if status.is_active() => "return",
            Some(_) => "leave",
            None => "keep",
        };
        let begins_anew = edit.definition.is_some() || edit.status.is_some_and(Status::is_active);
        let cursor = edit.plan.map_or(edit.changed.plan.cursor, |plan| plan.cursor);
        let next = if is_active { Upcoming::of(edit.plan, definition, one.now) } else { Upcoming::default() };
        let row = params![
            edit.schedule.0,
            definition.version,
            edit.status.map(Status::name),
            edit.status.map(status_detail),
            left,
            one.now.as_microsecond(),
            begins_anew,
            cursor.planned_through.as_microsecond(),
            cursor.decided_through.as_microsecond(),
            next.tick,
            next.plan_at,
        ];
        self.db.change(sql!("change_schedule"), row).map(|_| ())
    }

    fn trigger(&mut self, one: &ScheduleWrite) -> Result<Written, Error> {
        let Write::Trigger { schedule, origin, nonce, scheduled_for, fire_at, is_forced } = &one.write else {
            return Ok(Written::Stale);
        };
        let stand = self.stand(*schedule)?;
        if stand.deleted_at.is_some() {
            return Err(Error::NotFound { what: "of this number".to_owned() });
        }
        if let Some(run) = self.asked(*schedule, *origin, nonce)? {
            return Ok(Written::Run(run));
        }
        let place = Place { org: stand.org, schedule: *schedule, version: stand.version, shard: stand.shard };
        let new = NewRow {
            origin: *origin,
            nonce,
            scheduled_for: *scheduled_for,
            fire_at: *fire_at,
            status: RunStatus::Scheduled,
            reason: None,
            is_forced: *is_forced,
        };
        if !self.plans.insert(place, &new)? {
            return Ok(Written::Stale);
        }
        let run = RunKey(self.db.inserted());
        let about =
            About { actor: self.actor(), ..About::schedule(stand.org, *schedule, one.now).of_run(run) };
        record(self.db, about, one.kind, &one.note)?;
        Ok(Written::Run(run))
    }

    fn asked(&self, schedule: ScheduleKey, origin: Origin, nonce: &str) -> Result<Option<RunKey>, Error> {
        let query = params![schedule.0, origin.name(), nonce];
        Ok(self.db.value(sql!("asked_run"), query)?.map(RunKey))
    }
}

/// A version of a schedule to be kept.
struct Kept<'a> {
    org: OrgKey,
    schedule: ScheduleKey,
    definition: &'a Schedule,
    text: &'a str,
}

/// A schedule to be made.
struct New<'a> {
    definition: &'a Arc<Schedule>,
    status: &'a Status,
    plan: Option<&'a Plan>,
    declared_set: Option<&'a str>,
}

/// A schedule to be changed.
struct Edit<'a> {
    schedule: ScheduleKey,
    definition: Option<&'a Arc<Schedule>>,
    status: Option<&'a Status>,
    is_deleted: bool,
    changed: &'a Changed,
    plan: Option<&'a Plan>,
}

/// When a schedule ticks next and wants planning, as the columns have it.
#[derive(Default)]
struct Upcoming {
    tick: Option<i64>,
    plan_at: Option<i64>,
}

impl Upcoming {
    fn of(plan: Option<&Plan>, definition: &Schedule, now: Timestamp) -> Self {
        match plan {
            Some(plan) => Self {
                tick: plan.next_tick.map(Timestamp::as_second),
                plan_at: plan.plan_at.map(Timestamp::as_microsecond),
            },
            // Nobody has planned it yet: the planner does.
            None => {
                let plan_at = definition.when.timing().map(|_| now.as_microsecond());
                Self { tick: None, plan_at }
            }
        }
    }

    fn is_over(&self) -> bool {
        self.tick.is_none() && self.plan_at.is_none()
    }
}

fn tags(definition: &Schedule) -> String {
    serde_json::Value::from(definition.tags.clone()).to_string()
}

/// Turns the index's refusal into the sentence a person needs.
fn refused(error: rusqlite::Error, name: &str) -> Error {
    let said = error.to_string();
    match error.sqlite_error_code() {
        Some(ErrorCode::ConstraintViolation) if said.contains("schedules.name") => {
            Error::NameTaken { name: name.to_owned() }
        }
        Some(ErrorCode::ConstraintViolation) if said.contains("schedules.id") => {
            Error::Conflict { what: format!("the id of `{name}`") }
        }
        _ => doing("writing a schedule")(error),
    }
}
