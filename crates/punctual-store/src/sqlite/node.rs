//! Nodes: their fences, their leases, their shards, and the runs that those who are gone left behind.

use jiff::{SignedDuration, Timestamp};
use punctual_plan::{Fence, OrgKey, Origin, RunKey, ScheduleKey};
use rusqlite::{Row, params};

use super::connection::Db;
use super::decode::{column, instant, maybe_instant, named, tick, trace};
use super::sql;
use crate::stored::read_payload;
use crate::{
    Alive, Attempt, Error, HANDED_BACK, Heartbeat, Joined, Launchable, Node, NodeRow, Orphan, SHARDS, Shards,
};

/// Registers a node under a new fence.
pub(super) fn join(db: &Db, node: &Node) -> Result<Joined, Error> {
    let fence: i64 = db.value(sql!("raise_fence"), [])?.ok_or_else(|| Error::corrupt("no installation"))?;
    let at = db.now();
    let lease_us = i64::try_from(node.lease.as_micros()).unwrap_or(i64::MAX);
    let until = at.saturating_add(node.lease).unwrap_or(Timestamp::MAX);
    let row = params![
        fence,
        node.id,
        node.pid,
        node.started_at.as_microsecond(),
        at.as_microsecond(),
        lease_us,
        until.as_microsecond(),
        node.tz_version,
        node.version,
    ];
    db.change(sql!("insert_node"), row)?;
    let newest: String = db.value(sql!("newest_tz"), [])?.unwrap_or_default();
    // Versions are a year and a letter: they sort as text.
    if node.tz_version > newest {
        db.change(sql!("insert_tz"), [&node.tz_version])?;
        db.change(sql!("raise_tz"), [&node.tz_version])?;
    }
    Ok(Joined { fence: Fence(fence), may_plan: node.tz_version >= newest })
}

/// Whether no newer tz database than that of a node was seen.
pub(super) fn has_newest_rules(db: &Db, fence: Fence) -> Result<bool, Error> {
    Ok(db.value::<i64>(sql!("is_older"), [fence.0])?.is_none())
}

/// Renews a node's lease and gives each living node its share of the shards.
pub(super) fn heartbeat(db: &Db, alive: Alive) -> Result<Heartbeat, Error> {
    let (at, fence) = (db.now(), alive.fence);
    let ahead = i64::try_from(alive.ahead.as_micros()).unwrap_or(i64::MAX);
    let renewed = db.first(sql!("renew_lease"), params![fence.0, at.as_microsecond(), ahead], |row| {
        Ok((instant(row, 0)?, column::<String>(row, 1)?))
    })?;
    let (lease_until, tz_version) = renewed.ok_or(Error::LeaseLost)?;
    let newest: String = db.value(sql!("newest_tz"), [])?.unwrap_or_default();
    let living: Vec<i64> = db.rows(sql!("living_nodes"), [at.as_microsecond()], |row| column(row, 0))?;
    let shards = match living.as_slice() {
        [_] => Shards::All,
        _ => share(db, fence, &living)?,
    };
    Ok(Heartbeat { shards, lease_until, now: at, may_plan: tz_version >= newest })
}

/// Every shard belongs to one living node; a lease that moves gets a new epoch.
fn share(db: &Db, fence: Fence, living: &[i64]) -> Result<Shards, Error> {
    let leased: Vec<(u16, i64)> =
        db.rows(sql!("shard_leases"), [], |row| Ok((column(row, 0)?, column(row, 1)?)))?;
    let mut own = Vec::new();
    for shard in 0..SHARDS {
        let holder = living[usize::from(shard) % living.len()];
        if !leased.contains(&(shard, holder)) {
            db.change(sql!("lease_shard"), params![shard, holder])?;
        }
        if holder == fence.0 {
            own.push(shard);
        }
    }
    Ok(Shards::Some(own))
}

/// Gives up a node's lease and shards.
pub(super) fn leave(db: &Db, fence: Fence) -> Result<(), Error> {
    db.change(sql!("leave_node"), params![fence.0, db.now().as_microsecond()])?;
    db.change(sql!("free_shards"), [fence.0]).map(|_| ())
}

/// Gives back runs that were not launched.
pub(super) fn hand_back(db: &Db, attempts: &[Attempt]) -> Result<(), Error> {
    let mut give = db.prepare(sql!("hand_back"))?;
    for one in attempts {
        let row = params![one.run.0, one.attempt, one.fence.0, HANDED_BACK.0];
        super::connection::execute(&mut give, row)?;
    }
    Ok(())
}

/// Hands over the runs in flight of nodes that are gone, to one that is not gone itself.
pub(super) fn take_over(db: &Db, fence: Fence, limit: usize) -> Result<Vec<Orphan>, Error> {
    let (at, limit) = (db.now().as_microsecond(), i64::try_from(limit).unwrap_or(i64::MAX));
    if db.value::<i64>(sql!("is_living"), params![fence.0, at])?.is_none() {
        return Err(Error::LeaseLost);
    }
    let query = params![fence.0, at, limit];
    let found = db.rows(sql!("orphans"), query, |row| {
        Ok(Orphan {
            launch: read_launchable(db, row)?,
            held_by: Fence(column(row, 12)?),
            is_taken: column(row, 13)?,
        })
    })?;
    let mut take = db.prepare(sql!("take_over"))?;
    let mut taken = Vec::with_capacity(found.len());
    for orphan in found {
        super::connection::execute(&mut take, params![orphan.launch.run.0, fence.0])?;
        taken.push(orphan);
    }
    Ok(taken)
}

/// Reads what a launch needs: key, schedule, org, origin, nonce, tick, fire time, attempt, version,
/// trace, token, deadline.
pub(super) fn read_launchable(db: &Db, row: &Row<'_>) -> Result<Launchable, Error> {
    let schedule = ScheduleKey(column(row, 1)?);
    // A run that was launched has to be answered for, even if its definition cannot be read any more.
    let (definition, _) = db.readable(schedule, column(row, 8)?)?;
    let launch = Launchable {
        run: RunKey(column(row, 0)?),
        schedule,
        org: OrgKey(column(row, 2)?),
        definition,
        origin: named(row, 3)?,
        nonce: column(row, 4)?,
        scheduled_for: tick(row, 5)?,
        fire_at: instant(row, 6)?,
        attempt: column(row, 7)?,
        trace: trace(row, 9)?,
        token: column(row, 10)?,
        answer_by: instant(row, 11)?,
    };
    added(db, launch)
}

/// The launch with what its request adds; ticks carry what their schedule says.
pub(super) fn added(db: &Db, launch: Launchable) -> Result<Launchable, Error> {
    if launch.origin != Origin::Manual {
        return Ok(launch);
    }
    let text: Option<String> = db.value(sql!("payload_of"), [launch.run.0])?;
    Ok(launch.carrying(read_payload(text)?))
}

/// The nodes, newest first.
pub(super) fn nodes(db: &Db) -> Result<Vec<NodeRow>, Error> {
    db.rows(sql!("list_nodes"), [], |row| {
        Ok(NodeRow {
            fence: Fence(column(row, 0)?),
            id: column(row, 1)?,
            pid: column(row, 2)?,
            started_at: instant(row, 3)?,
            seen_at: instant(row, 4)?,
            lease_until: instant(row, 5)?,
            shards: column(row, 6)?,
            tz_version: column(row, 7)?,
            version: column(row, 8)?,
            left_at: maybe_instant(row, 9)?,
            ahead: column::<Option<i64>>(row, 10)?.map(SignedDuration::from_micros),
        })
    })
}
