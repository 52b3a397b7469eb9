//! Rows that want to be looked at, round-robin by org, with the world they are judged in.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use jiff::Timestamp;
use punctual_plan::{
    Due, Fence, OrgKey, Origin, RunKey, RunStatus, ScheduleKey, Trace, Upstream, Waiting, World,
};
use tokio_postgres::Row;

use super::connection::{Arg, Role, Tx, col};
use super::definitions::Asked;
use super::plan::{Bounds, named, read_reason};
use super::world::Member;
use super::{Postgres, sql};
use crate::instant::{from_micros, from_seconds};
use crate::stored::{answer_by, read_trace, read_wait};
use crate::{Ask, DueBatch, DueRow, Error, Expired, Illegible, Launchable};

/// A row as it was read.
struct Found {
    run: RunKey,
    schedule: ScheduleKey,
    org: OrgKey,
    version: i64,
    launched: u32,
    due: Result<Due, Error>,
    nonce: String,
    trace: Option<Trace>,
    /// When it was read.
    now: Timestamp,
}

impl Postgres {
    pub(super) async fn read_due(&self, ask: &Ask) -> Result<DueBatch, Error> {
        let tx = self.connections.begin(Role::Hot, "looking for due rows").await?;
        let result = self.due_in(&tx, ask).await;
        tx.over(result).await
    }

    async fn due_in(&self, tx: &Tx, ask: &Ask) -> Result<DueBatch, Error> {
        let bounds = Bounds::from(ask);
        let (first, last) = ask.whose.shard_bounds().into_inner();
        let (first, last) = (i64::from(first), i64::from(last));
        let due: [&dyn Arg; 5] = [&bounds.until, &bounds.shards, &bounds.limit, &first, &last];
        let rows = tx.rows(sql!("due"), &due).await?;
        let mut batch = DueBatch {
            rows: Vec::with_capacity(rows.len()),
            world: World::free(ask.now),
            undecided: HashSet::new(),
            expired: Vec::new(),
            unreadable: Vec::new(),
            next_look_at: next_look_at(tx, &rows, &bounds).await?,
        };
        let mut found = Vec::with_capacity(rows.len());
        for row in &rows {
            let status: RunStatus = named(col(row, 9)?)?;
            if status.is_in_flight() {
                batch.expired.push(Expired {
                    run: RunKey(col(row, 0)?),
                    attempt: u32::try_from(col::<i64>(row, 8)?).unwrap_or(u32::MAX),
                    fence: Fence(col::<Option<i64>>(row, 17)?.unwrap_or_default()),
                });
            } else {
                found.push(read_found(row, status, ask.now)?);
            }
        }
        if found.is_empty() {
            return Ok(batch);
        }
        let versions: Vec<_> = found.iter().map(|row| (row.schedule, row.version)).collect();
        let mut known = self.definitions(tx, &versions).await?;
        let members = self.members(tx, &found, &mut known).await?;
        batch.world = self.world(tx, &members, ask.now).await?;
        for row in found {
            match row.finish(&known) {
                Ok(row) => batch.rows.push(row),
                Err(illegible) => batch.unreadable.push(illegible),
            }
        }
        let is_asked = |row: &&mut DueRow| row.due.origin == Origin::Manual;
        let asked: Vec<&mut DueRow> = batch.rows.iter_mut().filter(is_asked).collect();
        let launches = asked.iter().map(|row| row.launch.clone()).collect();
        for (row, launch) in asked.into_iter().zip(self.added(tx, launches).await?) {
            row.launch = launch;
        }
        fill_upstream(tx, &members, &mut batch.rows).await?;
        batch.undecided = undecided(tx, &batch.rows, ask.now).await?;
        Ok(batch)
    }

    /// The schedules of rows, each in its present version: rows that were never launched belong to it.
    async fn members(
        &self,
        tx: &Tx,
        found: &[Found],
        known: &mut Asked,
    ) -> Result<HashMap<ScheduleKey, Member>, Error> {
        let mut versions: HashMap<ScheduleKey, (OrgKey, i64)> = HashMap::with_capacity(found.len());
        for row in found.iter().filter(|row| row.launched == 0) {
            versions.insert(row.schedule, (row.org, row.version));
        }
        let mut asked: Vec<i64> = found
            .iter()
            .map(|row| row.schedule)
            .filter(|key| !versions.contains_key(key))
            .map(|key| key.0)
            .collect();
        if !asked.is_empty() {
            asked.sort_unstable();
            asked.dedup();
            for row in tx.rows(sql!("present_versions"), &[&asked]).await? {
                versions.insert(ScheduleKey(col(&row, 0)?), (OrgKey(col(&row, 1)?), col(&row, 2)?));
            }
            let wanted: Vec<_> = versions.iter().map(|(key, (_, version))| (*key, *version)).collect();
            known.extend(self.definitions(tx, &wanted).await?);
        }
        let member = |(key, (org, version)): (ScheduleKey, (OrgKey, i64))| {
            let definition = known.get(&(key, version))?.as_ref().ok()?;
            Some((key, Member { org, definition: Arc::clone(definition) }))
        };
        Ok(versions.into_iter().filter_map(member).collect())
    }
}

impl Found {
    fn finish(self, known: &Asked) -> Result<DueRow, Illegible> {
        let (run, schedule) = (self.run, self.schedule);
        let illegible = |error: Error| Illegible { run, schedule, error };
        let definition = match known.get(&(self.schedule, self.version)) {
            Some(Ok(definition)) => Arc::clone(definition),
            Some(Err(error)) => return Err(illegible(error.clone())),
            None => return Err(illegible(Error::corrupt("its version is gone"))),
        };
        let due = self.due.map_err(illegible)?.under(&definition);
        let answer_by = answer_by(&definition, self.now);
        let launch = Launchable {
            run: self.run,
            schedule: self.schedule,
            org: self.org,
            definition,
            origin: due.origin,
            nonce: self.nonce,
            scheduled_for: due.scheduled_for,
            fire_at: due.fire_at,
            attempt: due.attempt,
            trace: self.trace,
            token: None,
            answer_by,
        };
        Ok(DueRow { due, launch })
    }
}

fn read_found(row: &Row, status: RunStatus, now: Timestamp) -> Result<Found, Error> {
    Ok(Found {
        run: RunKey(col(row, 0)?),
        schedule: ScheduleKey(col(row, 1)?),
        org: OrgKey(col(row, 2)?),
        version: col(row, 3)?,
        launched: u32::try_from(col::<i64>(row, 8)?).unwrap_or(u32::MAX),
        due: read_due_row(row, status, now),
        nonce: col(row, 5)?,
        trace: read_trace(col(row, 20)?),
        now,
    })
}

fn read_due_row(row: &Row, status: RunStatus, now: Timestamp) -> Result<Due, Error> {
    let wait = match (status, col::<Option<&str>>(row, 12)?) {
        (RunStatus::Waiting, Some(kind)) => {
            let micros = |place| from_micros(col::<Option<i64>>(row, place)?.unwrap_or_default());
            let wait = read_wait(kind, col::<Option<&str>>(row, 13)?.unwrap_or_default())?;
            Some(Waiting { wait, since: micros(14)?, deadline: micros(15)? })
        }
        _ => None,
    };
    let verdict = match status {
        RunStatus::Scheduled => read_reason(col(row, 10)?, col(row, 11)?)?,
        _ => None,
    };
    let launched = u32::try_from(col::<i64>(row, 8)?).unwrap_or(u32::MAX);
    Ok(Due {
        run: RunKey(col(row, 0)?),
        schedule: ScheduleKey(col(row, 1)?),
        org: OrgKey(col(row, 2)?),
        origin: named(col(row, 4)?)?,
        scheduled_for: from_seconds(col(row, 6)?)?,
        fire_at: from_micros(col(row, 7)?)?.min(now),
        verdict,
        waiting: wait,
        attempt: launched.saturating_add(1),
        upstream: Vec::new(),
        is_forced: col::<i64>(row, 16)? != 0,
    })
}

/// The schedules of late rows that have ticks in the past which no plan has decided.
async fn undecided(tx: &Tx, rows: &[DueRow], now: Timestamp) -> Result<HashSet<ScheduleKey>, Error> {
    let late = rows.iter().filter(|row| row.is_overtaken(now)).map(|row| row.due.schedule.0);
    let late: BTreeSet<i64> = late.collect();
    // What is on time costs no question.
    if late.is_empty() {
        return Ok(HashSet::new());
    }
    let late: Vec<i64> = late.into_iter().collect();
    let found = tx.rows(sql!("undecided"), &[&late, &now.as_second()]).await?;
    found.iter().map(|row| Ok(ScheduleKey(col(row, 0)?))).collect()
}

/// When there is more to look at: at once if an org has more than its share, else at the next row's own time.
async fn next_look_at(tx: &Tx, rows: &[Row], bounds: &Bounds) -> Result<Option<Timestamp>, Error> {
    let mut is_more = rows.len() as i64 >= bounds.limit;
    for row in rows {
        is_more |= col::<i64>(row, 18)? >= col::<i64>(row, 19)?;
    }
    if is_more {
        return from_micros(bounds.until).map(Some);
    }
    let next = tx.row(sql!("next_look_at"), &[&bounds.until, &bounds.shards]).await?;
    let next: Option<i64> = next.map(|row| col(&row, 0)).transpose()?.flatten();
    next.map(from_micros).transpose()
}

/// Looks up the latest tick of every schedule that rows depend on.
async fn fill_upstream(
    tx: &Tx,
    members: &HashMap<ScheduleKey, Member>,
    rows: &mut [DueRow],
) -> Result<(), Error> {
    let (mut org, mut id, mut tick, mut place) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (at, row) in rows.iter_mut().enumerate() {
        let depends =
            members.get(&row.due.schedule).and_then(|member| member.definition.policy.depends_on.as_ref());
        let Some(depends) = depends.filter(|_| row.due.origin == Origin::Tick && !row.due.is_retry()) else {
            continue;
        };
        for upstream in &depends.on {
            org.push(row.due.org.0);
            id.push(upstream.to_string());
            tick.push(row.due.scheduled_for.as_second());
            place.push(at as i64);
            // What is not found below does not exist.
            row.due.upstream.push(Upstream { schedule: upstream.to_string(), latest: None });
        }
    }
    if org.is_empty() {
        return Ok(());
    }
    let mut done = HashSet::new();
    for found in tx.rows(sql!("upstream"), &[&org, &id, &tick, &place]).await? {
        let (at, id): (i64, String) = (col(&found, 0)?, col(&found, 1)?);
        let Some(row) = rows.get_mut(usize::try_from(at).unwrap_or(usize::MAX)) else { continue };
        let at_most = row.due.scheduled_for;
        let Some(upstream) = row.due.upstream.iter_mut().find(|upstream| upstream.schedule == id) else {
            continue;
        };
        if done.insert((at, id)) {
            *upstream = Upstream { schedule: col(&found, 2)?, latest: latest(&found, at_most)? };
        }
    }
    Ok(())
}

fn latest(row: &Row, at_most: Timestamp) -> Result<Option<(Timestamp, RunStatus)>, Error> {
    let pair = |tick: Option<i64>, status: Option<&str>| match (tick, status) {
        (Some(tick), Some(status)) => {
            Ok::<_, Error>(Some((from_seconds(tick)?, named::<RunStatus>(status)?)))
        }
        _ => Ok(None),
    };
    let tick = pair(col(row, 3)?, col(row, 4)?)?;
    let range = pair(col(row, 5)?, col(row, 6)?)?.map(|(last, status)| (last.min(at_most), status));
    Ok(tick.into_iter().chain(range).max_by_key(|(tick, _)| *tick))
}
