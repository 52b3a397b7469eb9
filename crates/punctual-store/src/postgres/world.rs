//! The world that due rows are judged in: a constant number of statements, whatever the batch.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use jiff::Timestamp;
use punctual_plan::{
    Breaker, Lane, OrgKey, Pace, RunKey, RunsLeft, Schedule, ScheduleKey, Standing, Traffic, World,
};
use tokio_postgres::Row;

use super::connection::{Tx, col};
use super::ledger::FLYING;
use super::plan::unsigned;
use super::{Postgres, sql};
use crate::Error;
use crate::instant::from_micros;
use crate::stored::{Limits, max_runs, minute};

/// A schedule that rows of the batch belong to, in the version that judges them.
pub(super) struct Member {
    pub(super) org: OrgKey,
    pub(super) definition: Arc<Schedule>,
}

/// A row of the ledger that is neither armed nor ended.
struct Moving {
    run: RunKey,
    status: String,
    is_turn: bool,
    tick: i64,
    attempt: i64,
    waits_since: Option<i64>,
}

impl Moving {
    fn is_in_flight(&self) -> bool {
        FLYING.contains(&self.status.as_str())
    }

    /// One whose time has come and that waits for something is still about to be tried again.
    fn is_to_be_repeated(&self) -> bool {
        !self.is_in_flight() && self.attempt > 0
    }
}

impl Postgres {
    /// Reads everything that the verdicts over rows of these schedules depend on.
    pub(super) async fn world(
        &self,
        tx: &Tx,
        members: &HashMap<ScheduleKey, Member>,
        now: Timestamp,
    ) -> Result<World, Error> {
        let mut world = World { now, pace: Pace::default(), ..World::free(now) };
        let moving = moving(tx, members.keys().map(|key| key.0).collect()).await?;
        let admitted = admitted(tx, members).await?;
        for (key, member) in members {
            let definition = &member.definition;
            let rows = moving.get(key).map_or(&[][..], Vec::as_slice);
            let retrying = rows.iter().filter(|row| row.is_to_be_repeated()).map(|row| row.run).collect();
            let left = |max: u64| max.saturating_sub(admitted.get(key).copied().unwrap_or_default());
            let standing = Standing {
                policy: Arc::clone(&definition.policy),
                retrying,
                target: definition.target.name.clone(),
                runs_left: max_runs(definition).map(|max| RunsLeft { left: left(max), max }),
            };
            world.schedules.insert(*key, standing);
            if definition.policy.lane.is_none() && !rows.is_empty() {
                world.lanes.insert(Lane::Schedule(*key), traffic(rows.iter()));
            }
        }
        shared_lanes(tx, members, &mut world).await?;
        guards(tx, members, &mut world).await?;
        breakers(tx, members, &mut world).await?;
        limits(tx, members, &mut world).await?;
        Ok(world)
    }
}

/// Rows in flight, waiting or retrying of schedules, each schedule's in the order of ticks.
async fn moving(tx: &Tx, schedules: Vec<i64>) -> Result<HashMap<ScheduleKey, Vec<Moving>>, Error> {
    let mut all: HashMap<ScheduleKey, Vec<Moving>> = HashMap::new();
    for row in tx.rows(sql!("moving"), &[&schedules]).await? {
        all.entry(ScheduleKey(col(&row, 0)?)).or_default().push(read_moving(&row)?);
    }
    all.values_mut().for_each(|rows| rows.sort_by_key(|row| (row.tick, row.run)));
    Ok(all)
}

fn read_moving(row: &Row) -> Result<Moving, Error> {
    let wait_kind: Option<&str> = col(row, 3)?;
    let status: String = col(row, 2)?;
    let is_turn = status == "waiting" && wait_kind == Some("turn");
    Ok(Moving {
        run: RunKey(col(row, 1)?),
        status,
        is_turn,
        tick: col(row, 4)?,
        attempt: col(row, 5)?,
        waits_since: col(row, 6)?,
    })
}

/// Who is in flight in the order of their keys; who waits, the longest first.
fn traffic<'a>(rows: impl Iterator<Item = &'a Moving>) -> Traffic {
    let mut rows: Vec<&Moving> = rows.collect();
    rows.sort_by_key(|row| (row.waits_since, row.tick, row.run));
    let mut in_flight: Vec<RunKey> =
        rows.iter().filter(|row| row.is_in_flight()).map(|row| row.run).collect();
    in_flight.sort_unstable();
    let waiting = rows.iter().filter(|row| row.is_turn).map(|row| row.run).collect();
    Traffic { in_flight, waiting }
}

/// How many ticks were admitted, of schedules that bound it.
async fn admitted(
    tx: &Tx,
    members: &HashMap<ScheduleKey, Member>,
) -> Result<HashMap<ScheduleKey, u64>, Error> {
    let bounded: Vec<i64> = members
        .iter()
        .filter(|(_, member)| max_runs(&member.definition).is_some())
        .map(|(key, _)| key.0)
        .collect();
    if bounded.is_empty() {
        return Ok(HashMap::new());
    }
    let rows = tx.rows(sql!("admitted"), &[&bounded]).await?;
    rows.iter().map(|row| Ok((ScheduleKey(col(row, 0)?), unsigned(col(row, 1)?)))).collect()
}

/// Lanes that several schedules share: found by name, with the runs of all of them.
async fn shared_lanes(
    tx: &Tx,
    members: &HashMap<ScheduleKey, Member>,
    world: &mut World,
) -> Result<(), Error> {
    let named =
        members.values().filter_map(|member| Some((member.org.0, member.definition.policy.lane.clone()?)));
    let named: HashSet<(i64, String)> = named.collect();
    if named.is_empty() {
        return Ok(());
    }
    let (org, name): (Vec<i64>, Vec<String>) = named.into_iter().unzip();
    let mut lanes: HashMap<Lane, Vec<Moving>> = HashMap::new();
    for row in tx.rows(sql!("moving_in_lanes"), &[&org, &name]).await? {
        let lane = Lane::Shared(OrgKey(col(&row, 7)?), col(&row, 8)?);
        lanes.entry(lane).or_default().push(read_moving(&row)?);
    }
    for (lane, rows) in lanes {
        world.lanes.insert(lane, traffic(rows.iter()));
    }
    for row in tx.rows(sql!("lane_holders"), &[&org, &name]).await? {
        let lane = Lane::Shared(OrgKey(col(&row, 0)?), col(&row, 1)?);
        let holder = RunKey(col(&row, 2)?);
        let traffic = world.lanes.entry(lane).or_default();
        if !traffic.in_flight.contains(&holder) {
            traffic.in_flight.push(holder);
            traffic.in_flight.sort_unstable();
        }
    }
    Ok(())
}

async fn guards(tx: &Tx, members: &HashMap<ScheduleKey, Member>, world: &mut World) -> Result<(), Error> {
    let keys =
        members.values().filter_map(|member| Some((member.org.0, member.definition.policy.guard.clone()?)));
    let keys: HashSet<(i64, String)> = keys.collect();
    if keys.is_empty() {
        return Ok(());
    }
    let (org, key): (Vec<i64>, Vec<String>) = keys.into_iter().unzip();
    for row in tx.rows(sql!("guard_holders"), &[&org, &key]).await? {
        world.guards.insert((OrgKey(col(&row, 0)?), col(&row, 1)?), RunKey(col(&row, 2)?));
    }
    Ok(())
}

async fn breakers(tx: &Tx, members: &HashMap<ScheduleKey, Member>, world: &mut World) -> Result<(), Error> {
    let targets = members.values().map(|member| (member.org.0, member.definition.target.name.clone()));
    let targets: BTreeSet<(i64, String)> = targets.collect();
    let (org, target): (Vec<i64>, Vec<String>) = targets.into_iter().unzip();
    for row in tx.rows(sql!("find_breakers"), &[&org, &target]).await? {
        let breaker = read_breaker(&row)?;
        if breaker != Breaker::default() {
            world.breakers.insert((OrgKey(col(&row, 0)?), col(&row, 1)?), breaker);
        }
    }
    Ok(())
}

/// Reads org, target, state, failures, until, probe.
pub(super) fn read_breaker(row: &Row) -> Result<Breaker, Error> {
    let state: &str = col(row, 2)?;
    Ok(match state {
        "closed" => Breaker::Closed { failures: u32::try_from(col::<i64>(row, 3)?).unwrap_or(u32::MAX) },
        "open" => Breaker::Open { until: from_micros(col::<Option<i64>>(row, 4)?.unwrap_or_default())? },
        "half_open" => Breaker::HalfOpen { probe: RunKey(col::<Option<i64>>(row, 5)?.unwrap_or_default()) },
        other => return Err(Error::corrupt(format!("`{other}` is no state of a breaker"))),
    })
}

async fn limits(tx: &Tx, members: &HashMap<ScheduleKey, Member>, world: &mut World) -> Result<(), Error> {
    let orgs: BTreeSet<i64> = members.values().map(|member| member.org.0).collect();
    let orgs: Vec<i64> = orgs.into_iter().collect();
    let minute = minute(world.now);
    for row in tx.rows(sql!("org_limits"), &[&orgs, &FLYING.to_vec()]).await? {
        let Ok(limits) = Limits::read(col(&row, 1)?) else { continue };
        let count = |place| {
            Ok::<u32, Error>(
                u32::try_from(col::<Option<i64>>(&row, place)?.unwrap_or_default()).unwrap_or(u32::MAX),
            )
        };
        let per_minute = if col::<Option<i64>>(&row, 2)? == Some(minute) { count(3)? } else { 0 };
        world.orgs.insert(OrgKey(col(&row, 0)?), limits.with_use(per_minute, count(4)?));
    }
    Ok(())
}
