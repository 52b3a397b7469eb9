//! What a start takes: lanes, guards, probes, places, and one of so many runs; always in the same order.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use jiff::Timestamp;
use punctual_plan::rule::{Rule, holds};
use punctual_plan::{Claim, Lane, OrgKey, Origin, RunKey, ScheduleKey};

use super::admit::moves_start;
use super::connection::{Arg, Tx, col};
use super::ledger::FLYING;
use super::plan::unsigned;
use super::{Postgres, sql};
use crate::stored::{Limits, minute};
use crate::{AdmitCommit, Error};

/// Whether all claims could be taken.
pub(super) enum Taken {
    /// They were.
    All,
    /// Those of the admissions at these places were not.
    Not(Vec<usize>),
}

/// What the starts of one schedule do to its state together.
#[derive(Default)]
struct Group {
    claim: Option<(usize, RunKey)>,
    counted: i64,
    max: Option<i64>,
    tick: Option<i64>,
    moves: i64,
    anchored: i64,
    last: usize,
}

type Start<'a> = (usize, &'a AdmitCommit);

impl Postgres {
    pub(super) async fn take_claims(
        &self,
        tx: &Tx,
        now: Timestamp,
        starts: &[Start<'_>],
    ) -> Result<Taken, Error> {
        if starts.is_empty() {
            return Ok(Taken::All);
        }
        let (groups, mut failed) = grouped(starts);
        if failed.is_empty() {
            failed = take_states(tx, now, &groups).await?;
        }
        if failed.is_empty() {
            failed = take_named(tx, now, starts).await?;
        }
        if failed.is_empty() {
            failed = take_places(tx, now, starts).await?;
        }
        let are_taken = failed.is_empty() || !holds(Rule::ClaimsByRows);
        Ok(if are_taken { Taken::All } else { Taken::Not(failed) })
    }
}

fn grouped(starts: &[Start<'_>]) -> (BTreeMap<ScheduleKey, Group>, Vec<usize>) {
    let mut groups: BTreeMap<ScheduleKey, Group> = BTreeMap::new();
    let mut failed = Vec::new();
    for (place, commit) in starts {
        let due = &commit.row.due;
        let group = groups.entry(due.schedule).or_default();
        group.last = *place;
        let is_planned = matches!(due.origin, Origin::Tick | Origin::Chained);
        group.counted += i64::from(is_planned && !due.is_retry());
        if due.origin == Origin::Tick {
            group.tick = group.tick.max(Some(due.scheduled_for.as_second()));
        }
        group.moves |= i64::from(moves_start(commit));
        group.anchored |= i64::from(due.origin == Origin::Tick && !due.is_retry());
        for claim in &commit.admission.claims {
            match claim {
                Claim::Lane(Lane::Schedule(_)) if group.claim.is_some() => failed.push(*place),
                Claim::Lane(Lane::Schedule(_)) => group.claim = Some((*place, due.run)),
                Claim::MaxRuns(_, max) => group.max = Some(i64::try_from(*max).unwrap_or(i64::MAX)),
                _ => {}
            }
        }
    }
    (groups, failed)
}

/// The schedules' own lanes and counts.
async fn take_states(
    tx: &Tx,
    now: Timestamp,
    groups: &BTreeMap<ScheduleKey, Group>,
) -> Result<Vec<usize>, Error> {
    let schedule: Vec<i64> = groups.keys().map(|key| key.0).collect();
    let claim: Vec<Option<i64>> = groups.values().map(|group| group.claim.map(|(_, run)| run.0)).collect();
    let counted: Vec<i64> = groups.values().map(|group| group.counted).collect();
    let max: Vec<Option<i64>> = groups.values().map(|group| group.max).collect();
    let tick: Vec<Option<i64>> = groups.values().map(|group| group.tick).collect();
    let moves: Vec<i64> = groups.values().map(|group| group.moves).collect();
    let anchored: Vec<i64> = groups.values().map(|group| group.anchored).collect();
    let at = now.as_microsecond();
    let arguments: [&dyn Arg; 8] = [&schedule, &claim, &counted, &max, &tick, &moves, &anchored, &at];
    let mut taken = HashMap::with_capacity(groups.len());
    for row in tx.rows(sql!("start_states"), &arguments).await? {
        taken.insert(ScheduleKey(col(&row, 0)?), col::<i64>(&row, 1)?);
    }
    let missing = groups.iter().filter(|(key, _)| !taken.contains_key(key));
    let failed: Vec<usize> =
        missing.map(|(_, group)| group.claim.map_or(group.last, |(place, _)| place)).collect();
    let is_spent =
        |(key, group): &(&ScheduleKey, &Group)| group.max.is_some() && group.max == taken.get(key).copied();
    let spent: Vec<i64> = groups.iter().filter(is_spent).map(|(key, _)| key.0).collect();
    if failed.is_empty() && !spent.is_empty() {
        tx.run(sql!("spend_runs"), &[&spent, &now.as_second(), &"scheduled"]).await?;
        tx.run(sql!("spend_states"), &[&spent, &at]).await?;
    }
    Ok(failed)
}

/// Shared lanes, guards and probes: a row each, which only one can have.
async fn take_named(tx: &Tx, now: Timestamp, starts: &[Start<'_>]) -> Result<Vec<usize>, Error> {
    let (mut lanes, mut guards, mut probes) = (Vec::new(), Vec::new(), Vec::new());
    for (place, commit) in starts {
        for claim in &commit.admission.claims {
            let wanted = |org: &OrgKey, name: &String| (org.0, name.clone(), *place, commit.admission.run.0);
            match claim {
                Claim::Lane(Lane::Shared(org, name)) => lanes.push(wanted(org, name)),
                Claim::Guard(org, name) => guards.push(wanted(org, name)),
                Claim::Probe(org, name) => probes.push(wanted(org, name)),
                _ => {}
            }
        }
    }
    let at = now.as_microsecond();
    let mut failed = take_rows(tx, (sql!("take_lanes"), None), lanes).await?;
    failed.extend(take_rows(tx, (sql!("take_guards"), None), guards).await?);
    failed.extend(take_rows(tx, (sql!("take_probes"), Some(at)), probes).await?);
    Ok(failed)
}

type Wanted = (i64, String, usize, i64);

async fn take_rows(
    tx: &Tx,
    (statement, at): (&'static str, Option<i64>),
    mut wanted: Vec<Wanted>,
) -> Result<Vec<usize>, Error> {
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    wanted.sort();
    let org: Vec<i64> = wanted.iter().map(|want| want.0).collect();
    let name: Vec<&str> = wanted.iter().map(|want| want.1.as_str()).collect();
    let run: Vec<i64> = wanted.iter().map(|want| want.3).collect();
    let mut arguments: Vec<&dyn Arg> = vec![&org, &name, &run];
    arguments.extend(at.as_ref().map(|at| at as &dyn Arg));
    let mut taken = HashSet::new();
    for row in tx.rows(statement, &arguments).await? {
        taken.insert(col::<i64>(&row, 0)?);
    }
    Ok(wanted.iter().filter(|want| !taken.contains(&want.3)).map(|want| want.2).collect())
}

/// Places under the limits of orgs, counted under a lock.
async fn take_places(tx: &Tx, now: Timestamp, starts: &[Start<'_>]) -> Result<Vec<usize>, Error> {
    let mut wanted: BTreeMap<OrgKey, Vec<usize>> = BTreeMap::new();
    for (place, commit) in starts {
        for claim in &commit.admission.claims {
            if let Claim::Place(org) = claim {
                wanted.entry(*org).or_default().push(*place);
            }
        }
    }
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    let mut failed = Vec::new();
    for (org, room) in rooms(tx, now, &wanted.keys().copied().collect()).await? {
        let left = usize::try_from(room.per_minute.min(room.in_flight)).unwrap_or(usize::MAX);
        failed.extend(wanted.get(&org).into_iter().flatten().skip(left));
    }
    if failed.is_empty() {
        let orgs: Vec<i64> = wanted.keys().map(|org| org.0).collect();
        let count: Vec<i64> = wanted.values().map(|places| places.len() as i64).collect();
        tx.run(sql!("use_places"), &[&orgs, &count, &minute(now)]).await?;
    }
    Ok(failed)
}

/// How many more runs the limits of an org let in.
pub(super) struct Room {
    pub(super) per_minute: u64,
    pub(super) in_flight: u64,
}

/// What is left under the limits of orgs, held until the transaction ends.
pub(super) async fn rooms(
    tx: &Tx,
    now: Timestamp,
    orgs: &BTreeSet<OrgKey>,
) -> Result<BTreeMap<OrgKey, Room>, Error> {
    let minute = minute(now);
    let orgs: Vec<i64> = orgs.iter().map(|org| org.0).collect();
    tx.run(sql!("begin_org_use"), &[&orgs, &minute, &FLYING.to_vec()]).await?;
    let mut rooms = BTreeMap::new();
    for row in tx.rows(sql!("lock_org_use"), &[&orgs]).await? {
        let limits = col::<Option<&str>>(&row, 4)?.map(Limits::read).transpose()?.unwrap_or_default();
        let used = if col::<i64>(&row, 1)? == minute { unsigned(col(&row, 2)?) } else { 0 };
        let left =
            |max: Option<u32>, used: u64| max.map_or(u64::MAX, |max| u64::from(max).saturating_sub(used));
        let room = Room {
            per_minute: left(limits.runs_per_minute, used),
            in_flight: left(limits.runs_in_flight, unsigned(col(&row, 3)?)),
        };
        rooms.insert(OrgKey(col(&row, 0)?), room);
    }
    Ok(rooms)
}
