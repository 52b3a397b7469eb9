//! Nodes: their leases, their shards, and the runs of those that are gone.

use std::collections::HashMap;

use jiff::{SignedDuration, Timestamp};
use punctual_plan::{Fence, OrgKey, Origin, RunKey, RunStatus, ScheduleKey};
use tokio_postgres::Row;

use super::connection::{Role, Tx, col};
use super::ledger::FLYING;
use super::plan::named;
use super::{Postgres, sql};
use crate::instant::{from_micros, from_seconds};
use crate::stored::{read_payload, read_trace};
use crate::{
    Alive, Attempt, Error, HANDED_BACK, Heartbeat, Joined, Launchable, Node, NodeRow, Orphan, SHARDS, Shards,
};

/// Whoever plans shares this for the length of its transaction, and whoever brings newer rules of the zones has it alone; any
/// number that nobody else uses.
const RULES: i64 = 0x7075_6e63_727a_6f6e;

/// How often one heartbeat looks for shards that are free.
const TAKE_LOOKS: usize = 2;

impl Postgres {
    pub(super) async fn join_node(&self, node: &Node) -> Result<Joined, Error> {
        let tx = self.connections.begin(Role::Brief, "registering the node").await?;
        let result = join_in(&tx, node).await;
        tx.finish(result).await
    }

    pub(super) async fn beat(&self, alive: Alive) -> Result<Heartbeat, Error> {
        let tx = self.connections.begin(Role::Brief, "renewing the node's lease").await?;
        let result = beat_in(&tx, alive).await;
        tx.finish(result).await
    }

    pub(super) async fn leave_node(&self, fence: Fence) -> Result<(), Error> {
        let tx = self.connections.begin(Role::Brief, "giving up the node's lease").await?;
        let result = async {
            tx.run(sql!("leave_node"), &[&fence.0]).await?;
            tx.run(sql!("leave_shards"), &[&fence.0]).await.map(|_| ())
        };
        let result = result.await;
        tx.finish(result).await
    }

    pub(super) async fn give_back_runs(&self, attempts: &[Attempt]) -> Result<(), Error> {
        let tx = self.connections.begin(Role::Hot, "giving runs back").await?;
        let run: Vec<i64> = attempts.iter().map(|one| one.run.0).collect();
        let attempt: Vec<i64> = attempts.iter().map(|one| i64::from(one.attempt)).collect();
        let fence: Vec<i64> = attempts.iter().map(|one| one.fence.0).collect();
        let status = RunStatus::Enqueued.name();
        let done = tx.run(sql!("hand_back"), &[&run, &attempt, &fence, &HANDED_BACK.0, &status]).await;
        tx.finish(done).await.map(|_| ())
    }

    pub(super) async fn take_runs(&self, fence: Fence, limit: usize) -> Result<Vec<Orphan>, Error> {
        let tx = self.connections.begin(Role::Hot, "taking over runs").await?;
        let result = self.take_in(&tx, fence, limit).await;
        tx.finish(result).await
    }

    async fn take_in(&self, tx: &Tx, fence: Fence, limit: usize) -> Result<Vec<Orphan>, Error> {
        tx.row(sql!("node_lives"), &[&fence.0]).await?.ok_or(Error::LeaseLost)?;
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let rows = tx.rows(sql!("take_over"), &[&fence.0, &limit, &FLYING.to_vec()]).await?;
        let mut held = HashMap::new();
        for row in &rows {
            held.insert(RunKey(col(row, 0)?), (Fence(col(row, 12)?), col::<bool>(row, 13)?));
        }
        let orphan = |launch: Launchable| {
            let (held_by, is_taken) = *held.get(&launch.run)?;
            Some(Orphan { held_by, is_taken, launch })
        };
        Ok(self.launchables(tx, &rows).await?.into_iter().filter_map(orphan).collect())
    }

    /// Runs with what their launch needs; those that cannot be read are left to their deadline.
    pub(super) async fn launchables(&self, tx: &Tx, rows: &[Row]) -> Result<Vec<Launchable>, Error> {
        let mut wanted = Vec::with_capacity(rows.len());
        for row in rows {
            wanted.push((ScheduleKey(col(row, 1)?), col::<i64>(row, 3)?));
        }
        let known = self.definitions(tx, &wanted).await?;
        let mut launches = Vec::with_capacity(rows.len());
        for (row, want) in rows.iter().zip(wanted) {
            let Some(Ok(definition)) = known.get(&want) else { continue };
            launches.push(Launchable {
                run: RunKey(col(row, 0)?),
                schedule: want.0,
                org: OrgKey(col(row, 2)?),
                definition: std::sync::Arc::clone(definition),
                origin: named(col(row, 4)?)?,
                nonce: col(row, 5)?,
                scheduled_for: from_seconds(col(row, 6)?)?,
                fire_at: from_micros(col(row, 7)?)?,
                attempt: u32::try_from(col::<i64>(row, 8)?).unwrap_or(u32::MAX),
                trace: read_trace(col(row, 9)?),
                token: col(row, 10)?,
                answer_by: from_micros(col(row, 11)?)?,
            });
        }
        self.added(tx, launches).await
    }

    /// The launches with what their requests add; ticks carry what their schedule says.
    pub(super) async fn added(&self, tx: &Tx, launches: Vec<Launchable>) -> Result<Vec<Launchable>, Error> {
        let asked = launches.iter().filter(|launch| launch.origin == Origin::Manual);
        let asked: Vec<i64> = asked.map(|launch| launch.run.0).collect();
        if asked.is_empty() {
            return Ok(launches);
        }
        let mut payloads = HashMap::new();
        for row in tx.rows(sql!("payload_of"), &[&asked]).await? {
            payloads.insert(RunKey(col(&row, 0)?), read_payload(col(&row, 1)?)?);
        }
        let carried = |launch: Launchable| {
            let payload = payloads.remove(&launch.run).flatten();
            launch.carrying(payload)
        };
        Ok(launches.into_iter().map(carried).collect())
    }

    pub(super) async fn list_nodes(&self) -> Result<Vec<NodeRow>, Error> {
        let tx = self.connections.begin(Role::Engine, "listing the nodes").await?;
        let rows = tx.rows(sql!("list_nodes"), &[]).await;
        let rows = tx.over(rows).await?;
        rows.iter().map(read_node).collect()
    }
}

async fn join_in(tx: &Tx, node: &Node) -> Result<Joined, Error> {
    let fence = tx.row(sql!("raise_fence"), &[]).await?;
    let fence: i64 = col(&fence.ok_or_else(|| Error::corrupt("the installation has no row"))?, 0)?;
    let tz = &node.tz_version;
    if newest(tx).await?.is_none_or(|newest| *tz > newest) {
        // What is being planned by older rules is on disk, or refused, before anybody goes over it.
        tx.rows(sql!("lock_migrations"), &[&RULES]).await?;
    }
    tx.run(sql!("insert_tz"), &[tz]).await?;
    tx.run(sql!("raise_tz"), &[tz]).await?;
    let (pid, started) = (i64::from(node.pid), node.started_at.as_microsecond());
    let lease = micros(node.lease);
    tx.run(sql!("insert_node"), &[&fence, &node.id, &pid, &started, &lease, tz, &node.version]).await?;
    Ok(Joined { fence: Fence(fence), may_plan: may_plan(tx, tz).await? })
}

fn micros(duration: SignedDuration) -> i64 {
    i64::try_from(duration.as_micros()).unwrap_or(i64::MAX)
}

/// The newest tz database that was seen here.
async fn newest(tx: &Tx) -> Result<Option<String>, Error> {
    tx.row(sql!("newest_tz"), &[]).await?.map(|row| col(&row, 0)).transpose()
}

/// Whether a tz database is not older than the newest that was seen here.
async fn may_plan(tx: &Tx, tz: &str) -> Result<bool, Error> {
    Ok(newest(tx).await?.is_none_or(|newest| tz >= newest.as_str()))
}

/// Whether no newer tz database than that of a node was seen; none is until the transaction ends.
pub(super) async fn has_newest_rules(tx: &Tx, fence: Fence) -> Result<bool, Error> {
    tx.rows(sql!("share_rules"), &[&RULES]).await?;
    Ok(tx.row(sql!("is_older"), &[&fence.0]).await?.is_none())
}

async fn beat_in(tx: &Tx, Alive { fence, ahead }: Alive) -> Result<Heartbeat, Error> {
    let row = tx.row(sql!("heartbeat"), &[&fence.0, &micros(ahead)]).await?.ok_or(Error::LeaseLost)?;
    let (now, lease_until) = (from_micros(col(&row, 0)?)?, from_micros(col(&row, 1)?)?);
    let tz: String = col(&row, 2)?;
    let shards = rebalance(tx, fence, now).await?;
    Ok(Heartbeat { shards, lease_until, now, may_plan: may_plan(tx, &tz).await? })
}

/// Gives the node its fair share of the shards: it lets go of what is too much, and takes what is free. What has a node
/// stays with it as long as that is fair, so that the fewest ticks find their shard between two nodes.
async fn rebalance(tx: &Tx, fence: Fence, now: Timestamp) -> Result<Shards, Error> {
    let mut living = Vec::new();
    for row in tx.rows(sql!("living_nodes"), &[&now.as_microsecond()]).await? {
        living.push(col::<i64>(&row, 0)?);
    }
    let place = living.iter().position(|other| *other == fence.0).ok_or(Error::LeaseLost)?;
    let (all, count) = (usize::from(SHARDS), living.len());
    let share = all / count + usize::from(place < all % count);
    let mut held = held_shards(tx, fence).await?;
    if held.len() > share {
        held.truncate(share);
        tx.run(sql!("release_shards"), &[&fence.0, &held]).await?;
    }
    // Others may have been quicker with what was free at the first look.
    for _ in 0..TAKE_LOOKS {
        let wanted = (share - held.len()) as i64;
        if wanted == 0 {
            break;
        }
        tx.run(sql!("take_shards"), &[&fence.0, &wanted, &living, &i64::from(SHARDS)]).await?;
        held = held_shards(tx, fence).await?;
    }
    if held.len() == all {
        return Ok(Shards::All);
    }
    Ok(Shards::Some(held.into_iter().map(|shard| u16::try_from(shard).unwrap_or(u16::MAX)).collect()))
}

async fn held_shards(tx: &Tx, fence: Fence) -> Result<Vec<i64>, Error> {
    tx.rows(sql!("held_shards"), &[&fence.0]).await?.iter().map(|row| col(row, 0)).collect()
}

fn read_node(row: &Row) -> Result<NodeRow, Error> {
    Ok(NodeRow {
        fence: Fence(col(row, 0)?),
        id: col(row, 1)?,
        pid: u32::try_from(col::<i64>(row, 2)?).unwrap_or_default(),
        started_at: from_micros(col(row, 3)?)?,
        seen_at: from_micros(col(row, 4)?)?,
        lease_until: from_micros(col(row, 5)?)?,
        shards: u32::try_from(col::<i64>(row, 6)?).unwrap_or_default(),
        tz_version: col(row, 7)?,
        version: col(row, 8)?,
        left_at: col::<Option<i64>>(row, 9)?.map(from_micros).transpose()?,
        ahead: col::<Option<i64>>(row, 10)?.map(SignedDuration::from_micros),
    })
}
