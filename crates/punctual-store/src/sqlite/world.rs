//! The world of a due batch: everything that the verdicts depend on, read with the rows.

use std::collections::HashMap;
use std::sync::Arc;

use jiff::Timestamp;
use punctual_plan::{
    Lane, OrgKey, OrgUse, RunKey, RunStatus, RunsLeft, Schedule, ScheduleId, ScheduleKey, Standing, Traffic,
    Upstream, World,
};
use rusqlite::{CachedStatement, Row, params};

use super::connection::{Db, rows};
use super::decode::{breaker, column, status, text, tick};
use super::sql;
use crate::Error;
use crate::stored::{Limits, max_runs, minute};

/// What is read once for a schedule of the batch.
pub(super) struct Known<'a> {
    pub(super) schedule: ScheduleKey,
    pub(super) org: OrgKey,
    /// In its present version.
    pub(super) definition: &'a Arc<Schedule>,
    pub(super) admitted: u64,
}

/// Gathers the world, schedule by schedule; asks only what a schedule needs.
pub(super) struct Gathering<'a> {
    db: &'a Db,
    busy: CachedStatement<'a>,
    has_breakers: bool,
    is_lane_shared: bool,
    /// The limits of each org that was seen, if it has some.
    orgs: HashMap<OrgKey, Option<OrgUse>>,
    world: World,
}

/// A row of a schedule that holds or awaits something.
struct Busy {
    run: RunKey,
    status: RunStatus,
    awaits_turn: bool,
    attempt: u32,
    waits_since: Option<i64>,
    scheduled_for: Timestamp,
}

impl<'a> Gathering<'a> {
    pub(super) fn new(db: &'a Db, now: Timestamp) -> Result<Self, Error> {
        Ok(Self {
            db,
            busy: db.prepare(sql!("busy_rows"))?,
            has_breakers: db.value(sql!("is_any_breaker"), [])?.unwrap_or_default(),
            is_lane_shared: false,
            orgs: HashMap::new(),
            world: World::free(now),
        })
    }

    /// Adds what concerns a schedule, once.
    pub(super) fn add(&mut self, known: &Known<'_>) -> Result<(), Error> {
        if self.world.schedules.contains_key(&known.schedule) {
            return Ok(());
        }
        let busy = rows(&mut self.busy, [known.schedule.0], read_busy)?;
        let standing = self.standing(known, &busy);
        let policy = Arc::clone(&standing.policy);
        self.world.schedules.insert(known.schedule, standing);
        if policy.lane.is_some() {
            self.is_lane_shared = true;
        } else if !busy.is_empty() {
            self.world.lanes.insert(Lane::Schedule(known.schedule), traffic(busy));
        }
        if let Some(key) = &policy.guard {
            let holder = self.db.value(sql!("guard_holder"), params![known.org.0, key])?;
            if let Some(holder) = holder {
                self.world.guards.insert((known.org, key.clone()), RunKey(holder));
            }
        }
        if self.has_breakers {
            self.breaker(known)?;
        }
        self.org(known.org)
    }

    fn standing(&self, known: &Known<'_>, busy: &[Busy]) -> Standing {
        // One whose time has come and that waits for something is still about to be tried again.
        let is_retrying = |row: &&Busy| !row.status.is_in_flight() && row.attempt > 0;
        let mut retrying: Vec<&Busy> = busy.iter().filter(is_retrying).collect();
        retrying.sort_unstable_by_key(|row| (row.scheduled_for, row.run));
        let left = |max: u64| RunsLeft { left: max.saturating_sub(known.admitted), max };
        Standing {
            policy: Arc::clone(&known.definition.policy),
            retrying: retrying.into_iter().map(|row| row.run).collect(),
            target: known.definition.target.name.clone(),
            runs_left: max_runs(known.definition).map(left),
        }
    }

    fn breaker(&mut self, known: &Known<'_>) -> Result<(), Error> {
        let key = (known.org, known.definition.target.name.clone());
        if self.world.breakers.contains_key(&key) {
            return Ok(());
        }
        let found = self.db.first(sql!("breaker"), params![key.0.0, key.1], |row| breaker(row, 0))?;
        if let Some(found) = found {
            self.world.breakers.insert(key, found);
        }
        Ok(())
    }

    fn org(&mut self, org: OrgKey) -> Result<(), Error> {
        if self.orgs.contains_key(&org) {
            return Ok(());
        }
        let used = match limits(self.db, org)? {
            Some(limits) => Some(org_use(self.db, org, self.world.now)?.against(&limits)),
            None => None,
        };
        self.orgs.insert(org, used);
        self.world.orgs.extend(used.map(|used| (org, used)));
        Ok(())
    }

    /// The schedules that a schedule depends on, with their latest ticks at or before an instant.
    pub(super) fn upstream(
        &self,
        org: OrgKey,
        definition: &Schedule,
        at: Timestamp,
    ) -> Result<Vec<Upstream>, Error> {
        upstream(self.db, org, definition, at)
    }

    /// The world as it was gathered.
    pub(super) fn end(mut self) -> Result<World, Error> {
        if self.is_lane_shared {
            self.shared_lanes()?;
        }
        Ok(self.world)
    }

    /// What goes on in lanes that schedules share; asked only if one of the batch is in such a lane.
    fn shared_lanes(&mut self) -> Result<(), Error> {
        let found = self.db.rows(sql!("busy_all"), [], |row| {
            let (schedule, org) = (ScheduleKey(column(row, 6)?), OrgKey(column(row, 7)?));
            Ok((schedule, org, column::<i64>(row, 8)?, read_busy(row)?))
        })?;
        let mut lanes: HashMap<Lane, Vec<Busy>> = HashMap::new();
        for (schedule, org, version, busy) in found {
            let Ok(definition) = self.db.definition(schedule, version) else { continue };
            if definition.policy.lane.is_some() {
                lanes.entry(Lane::of(schedule, org, &definition.policy)).or_default().push(busy);
            }
        }
        self.world.lanes.extend(lanes.into_iter().map(|(lane, busy)| (lane, traffic(busy))));
        Ok(())
    }
}

fn read_busy(row: &Row<'_>) -> Result<Busy, Error> {
    let status = status(row, 1)?;
    let is_waiting = status == RunStatus::Waiting && !super::decode::is_null(row, 2);
    let awaits_turn = is_waiting && text(row, 2)? == "turn";
    Ok(Busy {
        run: RunKey(column(row, 0)?),
        status,
        awaits_turn,
        scheduled_for: tick(row, 3)?,
        attempt: column(row, 4)?,
        waits_since: column(row, 5)?,
    })
}

/// Who is in flight in the order of their keys; who waits, the longest first.
fn traffic(mut busy: Vec<Busy>) -> Traffic {
    busy.sort_unstable_by_key(|row| (row.waits_since, row.scheduled_for, row.run));
    let waiting = busy.iter().filter(|row| row.awaits_turn).map(|row| row.run).collect();
    let mut in_flight: Vec<RunKey> =
        busy.iter().filter(|row| row.status.is_in_flight()).map(|row| row.run).collect();
    in_flight.sort_unstable();
    Traffic { in_flight, waiting }
}

/// The schedules that a schedule depends on, with their latest ticks at or before an instant.
pub(super) fn upstream(
    db: &Db,
    org: OrgKey,
    definition: &Schedule,
    at: Timestamp,
) -> Result<Vec<Upstream>, Error> {
    let Some(depends) = &definition.policy.depends_on else { return Ok(Vec::new()) };
    let one = |id: &ScheduleId| {
        let found = db.first(sql!("schedule_by_id"), params![org.0, id.to_string()], |row| {
            Ok((column::<i64>(row, 0)?, column::<String>(row, 1)?))
        })?;
        match found {
            Some((key, schedule)) => Ok(Upstream { schedule, latest: latest(db, key, at)? }),
            None => Ok(Upstream { schedule: id.to_string(), latest: None }),
        }
    };
    depends.on.iter().map(one).collect()
}

fn latest(db: &Db, schedule: i64, at: Timestamp) -> Result<Option<(Timestamp, RunStatus)>, Error> {
    let read = |row: &Row<'_>| Ok((tick(row, 0)?, status(row, 1)?));
    let row = db.first(sql!("latest_tick"), params![schedule, at.as_second()], read)?;
    let range = db.first(sql!("latest_range"), params![schedule, at.as_second()], read)?;
    Ok(row.into_iter().chain(range).max_by_key(|(tick, _)| *tick))
}

/// The limits of an org, if it has some.
pub(super) fn limits(db: &Db, org: OrgKey) -> Result<Option<Limits>, Error> {
    db.value::<String>(sql!("limits_of"), [org.0])?.map(|body| Limits::read(&body)).transpose()
}

/// What an org has used in the present minute and in flight.
pub(super) struct Used {
    pub(super) minute: i64,
    pub(super) per_minute: u32,
    pub(super) in_flight: u32,
}

impl Used {
    fn against(&self, limits: &Limits) -> OrgUse {
        limits.with_use(self.per_minute, self.in_flight)
    }
}

/// What an org has used; counted if nobody has kept count yet.
pub(super) fn org_use(db: &Db, org: OrgKey, now: Timestamp) -> Result<Used, Error> {
    let this = minute(now);
    let found = db.first(sql!("org_use"), [org.0], |row| {
        Ok(Used { minute: column(row, 0)?, per_minute: column(row, 1)?, in_flight: column(row, 2)? })
    })?;
    Ok(match found {
        Some(used) if used.minute == this => used,
        Some(used) => Used { minute: this, per_minute: 0, in_flight: used.in_flight },
        None => {
            let in_flight = db.value(sql!("org_in_flight"), [org.0])?.unwrap_or_default();
            Used { minute: this, per_minute: 0, in_flight }
        }
    })
}
