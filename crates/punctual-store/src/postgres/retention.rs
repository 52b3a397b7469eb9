//! Retention, in bounded steps: old rows become digests, sealed events and old answers go.
//!
//! A digest is a range with the counts of what it stands for. It never spans a tick that keeps its own row, so that
//! an audit finds each tick once. Rows go in small transactions over a connection of their own, with pauses between
//! them: what runs meanwhile waits neither for a lock nor for a connection.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};
use punctual_plan::Reason;

use super::connection::{Arg, Tx, col};
use super::{Postgres, sql};
use crate::{Error, Retained, Retention};

/// Batch ids are repeated within seconds; an hour is far beyond.
const BATCHES_KEPT: SignedDuration = SignedDuration::from_hours(1);

/// Answers to requests are kept this long.
const ANSWERS_KEPT: SignedDuration = SignedDuration::from_hours(24);

/// Schedules whose number of rows is looked at in one step.
const SCHEDULES_A_STEP: i64 = 500;

/// Rows that are removed in one transaction, however many a step may take.
const PIECE_MAX: usize = 500;

/// After each piece others have the server to themselves for as long as it took, and at most for this long.
const PAUSE_MAX: Duration = Duration::from_millis(50);

/// How far the walks have come: over the time of ended rows, and over schedules.
#[derive(Default)]
pub(super) struct Progress {
    tick: AtomicI64,
    schedule: AtomicI64,
}

/// A row that goes.
struct Old {
    run: i64,
    schedule: i64,
    tick: i64,
    org: i64,
    version: i64,
    /// None of a row that is no tick: what people asked for goes without a trace.
    status: Option<String>,
}

/// Neighbouring ticks of one version that become one digest.
struct Digest {
    schedule: i64,
    first: i64,
    last: i64,
    org: i64,
    version: i64,
    counts: BTreeMap<String, u64>,
}

impl Digest {
    fn of(row: &Old) -> Self {
        let Old { schedule, tick, org, version, .. } = *row;
        Self { schedule, first: tick, last: tick, org, version, counts: BTreeMap::new() }
    }

    fn count(&self) -> i64 {
        i64::try_from(self.counts.values().sum::<u64>()).unwrap_or(i64::MAX)
    }
}

impl Postgres {
    pub(super) async fn retain_step(&self, retention: &Retention, now: Timestamp) -> Result<Retained, Error> {
        let tx = self.connections.begin_aside("looking for what is past retention").await?;
        let found = self.find_old(&tx, retention, now).await;
        let (mut old, is_more) = tx.finish(found).await?;
        old.sort_unstable_by_key(|row| (row.schedule, row.tick, row.run));
        old.dedup_by_key(|row| row.run);
        let mut retained = Retained { is_more, ..Retained::default() };
        while !old.is_empty() {
            let rest = old.split_off(old.len().min(PIECE_MAX));
            let started = Instant::now();
            let tx = self.connections.begin_aside("removing what is past retention").await?;
            let removed = digest(&tx, std::mem::replace(&mut old, rest), now).await;
            retained.runs += tx.finish(removed).await?;
            tokio::time::sleep(started.elapsed().min(PAUSE_MAX)).await;
        }
        let tx = self.connections.begin_aside("removing what is past retention").await?;
        let events = self.retain_others(&tx, retention, now).await;
        retained.events = tx.finish(events).await?;
        retained.is_more |= retained.events >= retention.limit.max(1) as u64;
        Ok(retained)
    }

    /// Rows that are too old, and of some schedules those that are too many; and whether there may be more.
    async fn find_old(
        &self,
        tx: &Tx,
        retention: &Retention,
        now: Timestamp,
    ) -> Result<(Vec<Old>, bool), Error> {
        let limit = i64::try_from(retention.limit.max(1)).unwrap_or(i64::MAX);
        let (runs, failures) = (before(now, retention.runs), before(now, retention.failures));
        let (runs, failures) = (runs.as_second(), failures.as_second());
        let from = self.retention.tick.load(Ordering::Relaxed);
        let rows = tx.rows(sql!("old_runs"), &[&runs, &failures, &limit, &from]).await?;
        let mut old: Vec<Old> = rows.iter().map(read_old).collect::<Result<_, _>>()?;
        if old.len() as i64 >= limit {
            let last = old.last().map_or(0, |row| row.tick);
            self.retention.tick.store(last, Ordering::Relaxed);
            return Ok((old, true));
        }
        self.retention.tick.store(0, Ordering::Relaxed);
        // What was younger, or in flight, when the walk passed it is found by the next.
        let mut is_more = from > 0;
        let from = self.retention.schedule.load(Ordering::Relaxed);
        let keep = i64::from(retention.runs_per_schedule);
        let left = limit - old.len() as i64;
        let rows = tx.rows(sql!("surplus_runs"), &[&from, &SCHEDULES_A_STEP, &keep, &left]).await?;
        if rows.is_empty() {
            let next = tx.row(sql!("schedule_after"), &[&from, &SCHEDULES_A_STEP]).await?;
            let next: Option<i64> = next.map(|row| col(&row, 0)).transpose()?.flatten();
            self.retention.schedule.store(next.unwrap_or_default(), Ordering::Relaxed);
        }
        is_more |= !rows.is_empty();
        for row in &rows {
            old.push(read_old(row)?);
        }
        Ok((old, is_more))
    }

    async fn retain_others(&self, tx: &Tx, retention: &Retention, now: Timestamp) -> Result<u64, Error> {
        let limit = i64::try_from(retention.limit.max(1)).unwrap_or(i64::MAX);
        let events = self.retain_events(tx, before(now, retention.audit), limit).await?;
        tx.run(sql!("forget_batches"), &[&before(now, BATCHES_KEPT).as_microsecond()]).await?;
        tx.run(sql!("forget_requests"), &[&before(now, ANSWERS_KEPT).as_microsecond()]).await?;
        tx.run(sql!("forget_nodes"), &[&before(now, ANSWERS_KEPT).as_microsecond()]).await?;
        // Messages that nobody has read go with the runs that wrote them.
        let unread = before(now, retention.runs).as_microsecond();
        tx.run(sql!("delete_messages"), &[&unread, &limit]).await?;
        Ok(events)
    }

    /// Sealed events up to an age; their seals stay.
    async fn retain_events(&self, tx: &Tx, before: Timestamp, limit: i64) -> Result<u64, Error> {
        let through = tx.row(sql!("old_events_through"), &[&before.as_microsecond(), &limit]).await?;
        let Some(through) = through.map(|row| col::<Option<i64>>(&row, 0)).transpose()?.flatten() else {
            return Ok(0);
        };
        tx.run(sql!("allow_removal"), &[&through]).await?;
        tx.run(sql!("remove_events"), &[&through]).await
    }
}

fn before(now: Timestamp, kept: SignedDuration) -> Timestamp {
    now.saturating_sub(kept).unwrap_or(Timestamp::MIN)
}

fn read_old(row: &tokio_postgres::Row) -> Result<Old, Error> {
    Ok(Old {
        run: col(row, 0)?,
        schedule: col(row, 1)?,
        tick: col(row, 2)?,
        org: col(row, 3)?,
        version: col(row, 4)?,
        status: if col::<&str>(row, 6)? == "tick" { Some(col(row, 5)?) } else { None },
    })
}

/// Removes rows, sorted by schedule and tick, and leaves digests of those that were ticks; gives how many went.
async fn digest(tx: &Tx, mut rows: Vec<Old>, now: Timestamp) -> Result<u64, Error> {
    tx.run(sql!("lock_retention"), &[]).await?;
    let runs: Vec<i64> = rows.iter().map(|row| row.run).collect();
    let mut gone = HashSet::with_capacity(runs.len());
    for row in tx.rows(sql!("remove_old"), &[&runs]).await? {
        gone.insert(col::<i64>(&row, 0)?);
    }
    rows.retain(|row| gone.contains(&row.run));
    let runs: Vec<i64> = rows.iter().map(|row| row.run).collect();
    tx.run(sql!("remove_attempts"), &[&runs]).await?;
    rows.retain(|row| row.status.is_some());
    let (mut schedule, mut first, mut last) = (Vec::new(), Vec::new(), Vec::new());
    for of_schedule in rows.chunk_by(|one, next| one.schedule == next.schedule) {
        schedule.push(of_schedule[0].schedule);
        first.push(of_schedule[0].tick);
        last.push(of_schedule[of_schedule.len() - 1].tick);
    }
    if schedule.is_empty() {
        return Ok(gone.len() as u64);
    }
    let mut borders: HashMap<i64, Vec<i64>> = HashMap::new();
    for row in tx.rows(sql!("kept_between"), &[&schedule, &first, &last]).await? {
        borders.entry(col(&row, 0)?).or_default().push(col(&row, 1)?);
    }
    let mut known = digests_before(tx, &schedule, &first).await?;
    let mut digests: Vec<Digest> = Vec::new();
    for of_schedule in rows.chunk_by(|one, next| one.schedule == next.schedule) {
        let schedule = of_schedule[0].schedule;
        let borders = borders.get(&schedule).map_or(&[][..], Vec::as_slice);
        gather(&mut digests, (known.remove(&schedule), borders), of_schedule);
    }
    write_digests(tx, &digests, now).await?;
    Ok(gone.len() as u64)
}

/// The digest before the first tick of each schedule.
async fn digests_before(
    tx: &Tx,
    schedule: &Vec<i64>,
    first: &Vec<i64>,
) -> Result<HashMap<i64, Digest>, Error> {
    let mut known = HashMap::new();
    for row in tx.rows(sql!("digests_before"), &[schedule, first]).await? {
        let counts: &str = col(&row, 5)?;
        let digest = Digest {
            schedule: col(&row, 0)?,
            first: col(&row, 1)?,
            last: col(&row, 2)?,
            org: col(&row, 3)?,
            version: col(&row, 4)?,
            counts: serde_json::from_str(counts)
                .map_err(|error| Error::corrupt(format!("a digest: {error}")))?,
        };
        known.insert(digest.schedule, digest);
    }
    Ok(known)
}

/// Adds the ticks of one schedule to the digest before them, or to new ones where something that stays is between.
fn gather(digests: &mut Vec<Digest>, (known, borders): (Option<Digest>, &[i64]), rows: &[Old]) {
    let mut current = known;
    for row in rows {
        let is_cut = |digest: &Digest| {
            let is_between = |kept: &i64| digest.last < *kept && *kept < row.tick;
            digest.version != row.version || borders.iter().any(is_between)
        };
        if let Some(done) = current.take_if(|digest| is_cut(digest)) {
            digests.push(done);
        }
        let digest = current.get_or_insert_with(|| Digest::of(row));
        digest.last = row.tick;
        *digest.counts.entry(row.status.clone().unwrap_or_default()).or_default() += 1;
    }
    digests.extend(current);
}

async fn write_digests(tx: &Tx, digests: &[Digest], now: Timestamp) -> Result<(), Error> {
    let reason = Reason::Superseded { by: "retention".to_owned() };
    let column = |read: fn(&Digest) -> i64| digests.iter().map(read).collect::<Vec<i64>>();
    let counts: Vec<String> = digests
        .iter()
        .map(|digest| serde_json::to_string(&digest.counts).expect("names and numbers can always be written"))
        .collect();
    let (schedule, first, last) =
        (column(|one| one.schedule), column(|one| one.first), column(|one| one.last));
    let (org, count, version) = (column(|one| one.org), column(Digest::count), column(|one| one.version));
    let (detail, at) = (reason.detail(), now.as_microsecond());
    let arguments: [&dyn Arg; 10] =
        [&schedule, &first, &last, &org, &count, &counts, &version, &reason.code(), &detail, &at];
    tx.run(sql!("put_digests"), &arguments).await?;
    Ok(())
}
