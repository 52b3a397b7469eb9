//! Schedules that are made: table by table, so that each stays in the cache while its rows are written.

use std::sync::Arc;

use jiff::Timestamp;
use punctual_plan::{Cursor, OrgKey, Plan, Schedule, ScheduleKey, Status};
use rusqlite::{CachedStatement, ErrorCode, params};

use super::audit::{About, append};
use super::connection::{doing, execute};
use super::open::exhaust;
use super::plan::Place;
use super::prepare::Prepared;
use super::sql;
use super::world::limits;
use super::write::{Writing, org};
use crate::stored::{status_detail, uses};
use crate::text::Text;
use crate::{Error, ScheduleWrite, Scope, Write, Written};

/// A schedule to be made.
pub(super) struct New<'a> {
    write: &'a ScheduleWrite,
    text: &'a Text,
    definition: &'a Arc<Schedule>,
    status: &'a Status,
    plan: Option<&'a Plan>,
    declared_set: Option<&'a str>,
}

impl<'a> New<'a> {
    pub(super) fn of(prepared: &'a Prepared) -> Option<Self> {
        let Prepared { write, text } = prepared;
        let Write::Create { definition, status, plan, declared_set } = &write.write else { return None };
        let (text, plan, declared_set) = (text.as_ref()?, plan.as_ref(), declared_set.as_deref());
        Some(Self { write, text, definition, status, plan, declared_set })
    }

    fn next(&self) -> Upcoming {
        match self.status {
            Status::Active => Upcoming::of(self.plan, self.definition, self.write.now),
            _ => Upcoming::default(),
        }
    }
}

/// One that is in its table already.
struct Made<'a> {
    new: &'a New<'a>,
    org: OrgKey,
    schedule: ScheduleKey,
}

/// A version of a schedule to be kept.
pub(super) struct Kept<'a> {
    pub(super) org: OrgKey,
    pub(super) schedule: ScheduleKey,
    pub(super) definition: &'a Schedule,
    pub(super) text: &'a str,
    /// From when on it is valid.
    pub(super) since: Timestamp,
}

impl Writing<'_> {
    /// Makes schedules; each is made or refused on its own.
    pub(super) fn create(&mut self, new: &[New<'_>]) -> Result<Vec<Result<Written, Error>>, Error> {
        let mut answers = Vec::with_capacity(new.len());
        let mut made = Vec::with_capacity(new.len());
        let mut insert = self.db.prepare(sql!("insert_schedule"))?;
        for one in new {
            match self.insert_schedule(&mut insert, one) {
                Ok((org, schedule)) => {
                    made.push(Made { new: one, org, schedule });
                    answers.push(Ok(Written::Schedule(schedule)));
                }
                // A fault of the database fails them all; nothing was committed.
                Err(error @ (Error::Database { .. } | Error::Corrupt { .. } | Error::Damaged { .. })) => {
                    return Err(error);
                }
                Err(error) => answers.push(Err(error)),
            }
        }
        let mut version = self.db.prepare(sql!("insert_version"))?;
        for Made { new, org, schedule } in &made {
            let text = new.text.definition.as_str();
            let (org, schedule, definition) = (*org, *schedule, new.definition.as_ref());
            let since = new.write.now;
            self.insert_version(&mut version, &Kept { org, schedule, definition, text, since })?;
        }
        self.insert_states(&made)?;
        for Made { new, org, schedule } in &made {
            let (definition, shard) = (new.definition, new.text.shard);
            let place = Place { org: *org, schedule: *schedule, version: definition.version, shard };
            if let Some(plan) = new.plan {
                self.plans.at(new.write.now).add(place, definition, plan)?;
            }
        }
        self.plans.write_ticks()?;
        let mut event = self.db.prepare(sql!("insert_audit"))?;
        for Made { new, org, schedule } in &made {
            let about = About { actor: self.actor(), ..About::schedule(*org, *schedule, new.write.now) };
            append(&mut event, about, new.write.kind, &new.write.note)?;
        }
        for Made { new, org, schedule } in &made {
            if new.status.is_active() && new.next().is_over() {
                exhaust(self.db, *org, *schedule, new.write.now)?;
            }
        }
        Ok(answers)
    }

    fn insert_schedule(
        &mut self,
        insert: &mut CachedStatement<'_>,
        new: &New<'_>,
    ) -> Result<(OrgKey, ScheduleKey), Error> {
        let definition = new.definition;
        let org = self.org_of(definition)?;
        self.take_room(org)?;
        let row = params![
            org.0,
            new.text.id,
            definition.name,
            definition.owner.user_id,
            definition.description,
            new.text.tags,
            definition.spec,
            new.declared_set,
            definition.version,
            new.write.now.as_microsecond(),
        ];
        insert.execute(row).map_err(|error| refused(error, &definition.name))?;
        Ok((org, ScheduleKey(self.db.inserted())))
    }

    fn insert_states(&self, made: &[Made<'_>]) -> Result<(), Error> {
        let mut insert = self.db.prepare(sql!("insert_state"))?;
        for Made { new, org, schedule } in made {
            let now = new.write.now;
            let cursor = new.plan.map_or(Cursor::starting(now), |plan| plan.cursor);
            let next = new.next();
            let row = params![
                schedule.0,
                org.0,
                new.text.shard,
                new.definition.version,
                new.status.name(),
                status_detail(new.status),
                (!new.status.is_active()).then_some(now.as_microsecond()),
                cursor.planned_through.as_microsecond(),
                cursor.decided_through.as_microsecond(),
                next.tick,
                next.plan_at,
            ];
            execute(&mut insert, row)?;
        }
        Ok(())
    }

    /// Keeps a version of a schedule and what it uses.
    pub(super) fn insert_version(
        &self,
        insert: &mut CachedStatement<'_>,
        kept: &Kept<'_>,
    ) -> Result<(), Error> {
        let Kept { org, schedule, definition, text, since } = *kept;
        let row = params![
            schedule.0,
            definition.version,
            org.0,
            since.as_microsecond(),
            self.actor().or(definition.owner.user_id.as_deref()),
            text
        ];
        execute(insert, row)?;
        for (kind, name) in uses(definition) {
            self.db.change(sql!("insert_use"), params![org.0, kind.name(), name, schedule.0])?;
        }
        Ok(())
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
}

/// When a schedule ticks next and wants planning, as the columns have it.
#[derive(Default)]
pub(super) struct Upcoming {
    pub(super) tick: Option<i64>,
    pub(super) plan_at: Option<i64>,
}

impl Upcoming {
    pub(super) fn of(plan: Option<&Plan>, definition: &Schedule, now: Timestamp) -> Self {
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

/// Turns the index's refusal into the sentence a person needs.
pub(super) fn refused(error: rusqlite::Error, name: &str) -> Error {
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
