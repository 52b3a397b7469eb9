//! Changes to schedules: made, edited, paused, deleted, triggered; each with its audit event.

use std::collections::HashMap;
use std::sync::Arc;

use jiff::Timestamp;
use punctual_plan::{
    Changed, Event, Fence, OrgKey, Origin, Plan, RunKey, RunStatus, Schedule, ScheduleKey, Status,
};
use rusqlite::params;

use super::audit::{About, record, record_event};
use super::change::{Stand, write_changed};
use super::connection::Db;
use super::create::{Kept, New, Upcoming, refused};
use super::node::has_newest_rules;
use super::open::{exhaust, go_on};
use super::plan::{NewRow, Place, PlanWriter, is_free};
use super::prepare::{PIECE_MAX, Pieces, Prepared};
use super::{Sqlite, sql};
use crate::stored::{payload_text, status_detail};
use crate::text::Text;
use crate::{Error, INSTALLATION, ScheduleWrite, Scope, Write, Written};

/// The key of an org, made if it is new and the engine asks.
pub(super) fn org(db: &Db, scope: &Scope, org_id: &str) -> Result<OrgKey, Error> {
    let found: Option<i64> = db.value(sql!("org_key"), [org_id])?;
    match (scope, found) {
        (Scope::Engine, Some(key)) => Ok(OrgKey(key)),
        (Scope::Org { org, .. }, Some(key)) if org.0 == key => Ok(*org),
        (Scope::Engine, None) if !org_id.is_empty() => {
            db.change(sql!("insert_org"), params![org_id, db.now().as_microsecond()])?;
            Ok(OrgKey(db.inserted()))
        }
        _ => Err(Error::NotFound { what: format!("of an org `{org_id}`") }),
    }
}

/// Notes an event that belongs to no tenant.
pub(super) fn note(db: &Db, at: Timestamp, event: &Event) -> Result<(), Error> {
    let org = org(db, &Scope::Engine, INSTALLATION)?;
    record_event(db, About { org, at, actor: None, schedule: None, run: None }, event)
}

/// What a call came to.
struct Done {
    answers: Vec<Result<Written, Error>>,
    /// Given back so that the writer does not spend its time on freeing them.
    writes: Vec<Prepared>,
}

impl Sqlite {
    /// Writes changes in one transaction; one that is stale or refused does not stop the others.
    pub(super) async fn write_all(
        &self,
        scope: Scope,
        writes: Vec<ScheduleWrite>,
    ) -> Result<Vec<Result<Written, Error>>, Error> {
        let mut pieces = Pieces::of(writes);
        let done = self.writer.run(move |db| write(db, &scope, &mut pieces)).await?;
        Ok(self.remember(done))
    }

    /// The same for what a newer tz database changes; nothing, if the node's own is not the newest any more.
    pub(super) async fn replan_all(
        &self,
        fence: Fence,
        writes: Vec<ScheduleWrite>,
    ) -> Result<Option<Vec<Result<Written, Error>>>, Error> {
        let mut pieces = Pieces::of(writes);
        let replan = move |db: &Db| {
            if db.value::<i64>(sql!("is_living"), params![fence.0, db.now().as_microsecond()])?.is_none() {
                return Err(Error::LeaseLost);
            }
            match has_newest_rules(db, fence)? {
                true => write(db, &Scope::Engine, &mut pieces).map(Some),
                false => Ok(None),
            }
        };
        let done = self.writer.run(replan).await?;
        Ok(done.map(|done| self.remember(done)))
    }

    /// Keeps the definitions of what was written at hand.
    fn remember(&self, done: Done) -> Vec<Result<Written, Error>> {
        let Done { answers, writes } = done;
        // Remembered only now: what was undone would be taken for another schedule of the same number.
        let made = |answer: &Result<Written, Error>| match answer {
            Ok(Written::Schedule(schedule)) => Some(*schedule),
            _ => None,
        };
        let (keys, known) = (answers.iter().map(made).collect::<Vec<_>>(), Arc::clone(&self.definitions));
        let remember = move || {
            for (one, schedule) in writes.iter().zip(keys) {
                if let (Some(definition), Some(schedule)) = (one.definition(), schedule) {
                    known.put(schedule, definition);
                }
            }
        };
        if answers.len() > PIECE_MAX {
            // Nobody waits for it: whoever does not find a definition reads it.
            std::thread::spawn(remember);
        } else {
            remember();
        }
        answers
    }
}

fn write(db: &Db, scope: &Scope, pieces: &mut Pieces) -> Result<Done, Error> {
    let mut done = Done { answers: Vec::new(), writes: Vec::new() };
    let mut writing = None;
    while let Some(piece) = pieces.next()? {
        let Some(first) = piece.first() else { continue };
        let writing = match &mut writing {
            Some(writing) => writing,
            None => writing.insert(Writing::new(db, scope, first.write.now)?),
        };
        done.answers.extend(writing.write(&piece)?);
        done.writes.extend(piece);
    }
    Ok(done)
}

/// Writes on their way into the tables.
pub(super) struct Writing<'a> {
    pub(super) db: &'a Db,
    pub(super) scope: &'a Scope,
    pub(super) plans: PlanWriter<'a>,
    pub(super) orgs: HashMap<String, OrgKey>,
    /// How many schedules each org may still make, if that is bounded.
    pub(super) room: HashMap<OrgKey, Option<u64>>,
}

impl<'a> Writing<'a> {
    fn new(db: &'a Db, scope: &'a Scope, now: Timestamp) -> Result<Self, Error> {
        let plans = PlanWriter::new(db, now)?;
        Ok(Self { db, scope, plans, orgs: HashMap::new(), room: HashMap::new() })
    }

    /// Writes some of them; one that is stale or refused does not stop the others.
    fn write(&mut self, writes: &[Prepared]) -> Result<Vec<Result<Written, Error>>, Error> {
        let mut answers = Vec::with_capacity(writes.len());
        let is_new = |one: &Prepared| matches!(one.write.write, Write::Create { .. });
        for group in writes.chunk_by(|one, next| is_new(one) && is_new(next)) {
            let new: Vec<New<'_>> = group.iter().filter_map(New::of).collect();
            if !new.is_empty() {
                answers.extend(self.create(&new)?);
                continue;
            }
            for one in group {
                match self.alter(&one.write, one.text.as_ref()) {
                    // A fault of the database fails them all; nothing was committed.
                    Err(error @ (Error::Database { .. } | Error::Corrupt { .. } | Error::Damaged { .. })) => {
                        return Err(error);
                    }
                    answer => answers.push(answer),
                }
            }
        }
        Ok(answers)
    }

    /// Changes or triggers a schedule.
    fn alter(&mut self, one: &ScheduleWrite, text: Option<&Text>) -> Result<Written, Error> {
        self.plans.at(one.now);
        match &one.write {
            Write::Change { .. } => self.change(one, text),
            Write::Create { .. } | Write::Trigger { .. } => self.trigger(one),
        }
    }

    pub(super) fn actor(&self) -> Option<&str> {
        match self.scope {
            Scope::Engine => None,
            Scope::Org { user, .. } => user.as_deref(),
        }
    }

    pub(super) fn note(&self, one: &ScheduleWrite, org: OrgKey, schedule: ScheduleKey) -> Result<(), Error> {
        let about = About { actor: self.actor(), ..About::schedule(org, schedule, one.now) };
        record(self.db, about, one.kind, &one.note)
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

    fn change(&mut self, one: &ScheduleWrite, text: Option<&Text>) -> Result<Written, Error> {
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
            definition: definition.as_ref().zip(text),
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
            self.put_definition((one, edit.changed), definition, place)?;
        }
        self.db.change(sql!("touch_schedule"), params![schedule.0, now, edit.is_deleted.then_some(now)])?;
        let (old, _) = self.db.readable(schedule, stand.version)?;
        write_changed(&mut self.plans, place, &old, edit.changed)?;
        if edit.definition.is_some() {
            self.db.change(sql!("wake_schedule"), params![schedule.0, now])?;
        }
        let definition = edit.definition.map_or(&old, |(definition, _)| definition);
        if let Some(plan) = edit.plan {
            self.plans.write(Place { version: definition.version, ..place }, definition, plan)?;
        }
        if edit.is_deleted {
            self.db.change(sql!("remove_uses"), [schedule.0])?;
        }
        let is_active = !edit.is_deleted && edit.status.map_or(stand.is_active, Status::is_active);
        self.put_state(one, edit, (definition, is_active))?;
        self.note(one, org, schedule)?;
        match edit.plan.filter(|plan| is_active && plan.next_tick.is_none()) {
            Some(plan) if is_free(self.db, schedule, definition, plan)? => {
                go_on(self.db, org, schedule, one.now)
            }
            Some(_) => exhaust(self.db, org, schedule, one.now),
            None => Ok(()),
        }
    }

    fn put_definition(
        &self,
        (one, changed): (&ScheduleWrite, &Changed),
        (definition, text): (&Arc<Schedule>, &Text),
        at: Place,
    ) -> Result<(), Error> {
        let schedule = at.schedule;
        let row = params![
            schedule.0,
            definition.name,
            definition.owner.user_id,
            definition.description,
            text.tags,
            definition.spec,
            definition.version,
            one.now.as_microsecond(),
        ];
        self.db
            .prepare(sql!("edit_schedule"))?
            .execute(row)
            .map_err(|error| refused(error, &definition.name))?;
        self.db.change(sql!("remove_uses"), [schedule.0])?;
        let (org, text, since) = (at.org, text.definition.as_str(), changed.valid_from());
        let kept = Kept { org, schedule, definition, text, since };
        self.insert_version(&mut self.db.prepare(sql!("insert_version"))?, &kept)
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
        let Write::Trigger { schedule, origin, nonce, scheduled_for, fire_at, is_forced, payload, trace } =
            &one.write
        else {
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
        if let Some(payload) = payload {
            self.db.change(sql!("set_payload"), params![run.0, payload_text(payload)])?;
        }
        if let Some(trace) = trace {
            self.db.change(sql!("set_trace"), params![run.0, trace.to_string()])?;
        }
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

/// A schedule to be changed.
struct Edit<'a> {
    schedule: ScheduleKey,
    definition: Option<(&'a Arc<Schedule>, &'a Text)>,
    status: Option<&'a Status>,
    is_deleted: bool,
    changed: &'a Changed,
    plan: Option<&'a Plan>,
}
