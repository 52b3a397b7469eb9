//! Nodes: who serves, under which fence, with which shards.

use std::collections::BTreeMap;

use jiff::Timestamp;
use punctual_plan::rule::{Rule, holds};
use punctual_plan::{Fence, RunKey, RunStatus};

use super::data::Data;
use super::table::NodeRecord;
use crate::{
    Alive, Attempt, Error, HANDED_BACK, Heartbeat, Joined, Node, NodeRow, Orphan, SHARDS, Shards,
    to_microsecond,
};

impl Data {
    /// The number of the tz database that a node plans by.
    pub(super) fn tz_of(&self, fence: Fence) -> i64 {
        let version = self.nodes.get(&fence).map(|node| &node.tz_version);
        let known = |version: &String| self.tz_versions.iter().find(|(_, known)| *known == version);
        version.and_then(known).map_or(self.tz, |(key, _)| *key)
    }

    /// Begins with the tz database of this program, as every database does.
    pub(super) fn follow_own_rules(&mut self) {
        self.tz = self.tz_key(punctual_time::tz_version());
    }

    fn tz_key(&mut self, version: &str) -> i64 {
        if let Some((key, _)) = self.tz_versions.iter().find(|(_, known)| *known == version) {
            return *key;
        }
        let key = self.tz_versions.last_key_value().map_or(1, |(last, _)| last + 1);
        self.tz_versions.insert(key, version.to_owned());
        key
    }

    /// Whether a tz database is not older than the newest one seen.
    fn may_plan(&self, version: &str) -> bool {
        !holds(Rule::OlderRulesDoNotPlan)
            || self.tz_versions.get(&self.tz).is_none_or(|newest| version >= newest.as_str())
    }

    /// The same of the one that a node has.
    pub(super) fn has_newest_rules(&self, fence: Fence) -> bool {
        self.nodes.get(&fence).is_none_or(|node| self.may_plan(&node.tz_version))
    }

    pub(super) fn join(&mut self, node: Node) -> Joined {
        let now = self.now();
        let earlier: Vec<Fence> =
            self.nodes.iter().filter(|(_, other)| other.id == node.id).map(|(fence, _)| *fence).collect();
        for fence in earlier {
            self.nodes.remove(&fence);
            self.shard_leases.retain(|_, (holder, _)| *holder != fence);
        }
        self.fence += 1;
        let fence = Fence(self.fence);
        let tz = self.tz_key(&node.tz_version);
        let may_plan = self.may_plan(&node.tz_version);
        if may_plan {
            self.tz = tz;
        }
        let record = NodeRecord {
            id: node.id,
            pid: node.pid,
            started_at: to_microsecond(node.started_at),
            seen_at: now,
            lease: node.lease,
            lease_until: lease_end(now, node.lease),
            tz_version: node.tz_version,
            version: node.version,
            left_at: None,
            ahead: None,
        };
        self.nodes.insert(fence, record);
        Joined { fence, may_plan }
    }

    pub(super) fn heartbeat(&mut self, alive: Alive) -> Result<Heartbeat, Error> {
        let (now, fence) = (self.now(), alive.fence);
        let node = self.nodes.get_mut(&fence).filter(|node| node.is_alive(now)).ok_or(Error::LeaseLost)?;
        (node.seen_at, node.ahead) = (now, Some(alive.ahead));
        node.lease_until = lease_end(now, node.lease);
        let (lease_until, version) = (node.lease_until, node.tz_version.clone());
        let shards = self.balance(fence, now);
        Ok(Heartbeat { shards, lease_until, now, may_plan: self.may_plan(&version) })
    }

    /// Gives a node its share: it hands back what is too much and takes what is free.
    fn balance(&mut self, fence: Fence, now: Timestamp) -> Shards {
        let alive: Vec<Fence> =
            self.nodes.iter().filter(|(_, node)| node.is_alive(now)).map(|(fence, _)| *fence).collect();
        let place = alive.iter().position(|other| *other == fence).unwrap_or_default();
        let (all, count) = (usize::from(SHARDS), alive.len().max(1));
        let share = all / count + usize::from(place < all % count);
        // One pass tells both: there is a heartbeat for every few ticks, and nearly always nothing has changed.
        let (mut own, mut is_any_free): (Vec<u16>, _) = (Vec::with_capacity(share), false);
        for (shard, (holder, _)) in &self.shard_leases {
            if *holder == fence {
                own.push(*shard);
            } else if !alive.contains(holder) {
                is_any_free = true;
            }
        }
        if is_any_free {
            self.shard_leases.retain(|_, (holder, _)| alive.contains(holder));
        }
        for surplus in own.split_off(own.len().min(share)) {
            self.shard_leases.remove(&surplus);
        }
        let missing = share - own.len();
        let free = (0..SHARDS).filter(|shard| missing > 0 && !self.shard_leases.contains_key(shard));
        let free: Vec<u16> = free.take(missing).collect();
        for shard in free {
            self.shard_leases.insert(shard, (fence, fence.0));
            own.push(shard);
        }
        own.sort_unstable();
        if count == 1 { Shards::All } else { Shards::Some(own) }
    }

    pub(super) fn leave_node(&mut self, fence: Fence) {
        let now = self.now();
        if let Some(node) = self.nodes.get_mut(&fence).filter(|node| node.left_at.is_none()) {
            node.left_at = Some(now);
        }
        self.shard_leases.retain(|_, (holder, _)| *holder != fence);
    }

    /// A node whose lease is over writes nothing: others may have taken its place.
    pub(super) fn check_lease(&self, fence: Fence) -> Result<(), Error> {
        let now = self.now();
        let is_living = self.nodes.get(&fence).is_some_and(|node| node.is_alive(now));
        if is_living || !holds(Rule::LeaseBeforeWrite) { Ok(()) } else { Err(Error::LeaseLost) }
    }

    pub(super) fn hand_back(&mut self, attempts: &[Attempt]) {
        for one in attempts {
            self.change_run(one.run, |run| {
                let is_held = run.fence == Some(one.fence) && run.attempt == one.attempt;
                if is_held && run.status == RunStatus::Enqueued {
                    run.fence = Some(HANDED_BACK);
                }
            });
        }
    }

    pub(super) fn take_over(&mut self, fence: Fence, limit: usize) -> Result<Vec<Orphan>, Error> {
        self.check_lease(fence)?;
        let now = self.now();
        let is_dead = |holder: &Fence| !self.nodes.get(holder).is_some_and(|node| node.is_alive(now));
        let orphans = self.in_flight.iter().filter(|(holder, _)| is_dead(holder) && holds(Rule::TakeOver));
        let orphans = orphans.take(limit);
        let orphans: Vec<(Fence, RunKey)> = orphans.copied().collect();
        let mut taken = Vec::with_capacity(orphans.len());
        for (held_by, key) in orphans {
            self.change_run(key, |run| {
                run.fence = Some(fence);
                run.token = run.token.take().filter(|_| holds(Rule::TakenKeepsItsToken));
            });
            let run = &self.runs[&key];
            let is_told = run.token.is_some() && run.executor_run_id.is_some();
            let is_taken = run.status == RunStatus::Running && is_told && holds(Rule::TakenIsNotInDoubt);
            let attempt = run.attempt;
            // One whose definition cannot be read any more is left to its deadline.
            taken.extend(self.launchable(key, attempt).ok().map(|launch| Orphan {
                launch,
                held_by,
                is_taken,
            }));
        }
        Ok(taken)
    }

    pub(super) fn node_rows(&self) -> Vec<NodeRow> {
        let mut shards: BTreeMap<Fence, u32> = BTreeMap::new();
        for (fence, _) in self.shard_leases.values() {
            *shards.entry(*fence).or_default() += 1;
        }
        let row = |(fence, node): (&Fence, &NodeRecord)| NodeRow {
            fence: *fence,
            id: node.id.clone(),
            pid: node.pid,
            started_at: node.started_at,
            seen_at: node.seen_at,
            lease_until: node.lease_until,
            shards: shards.get(fence).copied().unwrap_or_default(),
            tz_version: node.tz_version.clone(),
            version: node.version.clone(),
            left_at: node.left_at,
            ahead: node.ahead,
        };
        self.nodes.iter().rev().map(row).collect()
    }
}

fn lease_end(now: Timestamp, lease: jiff::SignedDuration) -> Timestamp {
    to_microsecond(now.saturating_add(lease).unwrap_or(Timestamp::MAX))
}
