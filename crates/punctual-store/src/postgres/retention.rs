//! Retention, in bounded steps: old rows become digests, sealed events and old answers go.
//!
//! A digest is a range with the counts of what it stands for. It never spans a tick that keeps its own row, so that
//! an audit finds each tick once.

use std::collections::{BTreeMap, HashSet};
use std::sync::atomic::{AtomicI64, Ordering};

use jiff::{SignedDuration, Timestamp};
use punctual_plan::Reason;

use super::connection::{Arg, Role, Tx, col};
use super::{Postgres, sql};
use crate::{Error, Retained, Retention};

/// Batch ids are repeated within seconds; an hour is far beyond.
const BATCHES_KEPT: SignedDuration = SignedDuration::from_hours(1);

/// Answers to requests are kept this long.
const ANSWERS_KEPT: SignedDuration = SignedDuration::from_hours(24);

/// Schedules whose number of rows is looked at in one step.
const SCHEDULES_A_STEP: i64 = 500;

/// How far the walk over schedules has come.
#[derive(Default)]
pub(super) struct Progress {
    schedule: AtomicI64,
}

/// A row that goes.
struct Old {
    run: i64,
    tick: i64,
    org: i64,
    version: i64,
    status: String,
}

/// Neighbouring ticks that become one digest.
#[derive(Default)]
struct Digest {
    first: i64,
    last: i64,
    org: i64,
    version: i64,
    counts: BTreeMap<String, u64>,
}

impl Postgres {
    pub(super) async fn retain_step(&self, retention: &Retention, now: Timestamp) -> Result<Retained, Error> {
        let tx = self.connections.begin(Role::Engine, "removing what is past retention").await?;
        let result = self.retain_in(&tx, retention, now).await;
        tx.finish(result).await
    }

    async fn retain_in(&self, tx: &Tx, retention: &Retention, now: Timestamp) -> Result<Retained, Error> {
        let limit = i64::try_from(retention.limit.max(1)).unwrap_or(i64::MAX);
        let before = |kept: SignedDuration| now.saturating_sub(kept).unwrap_or(Timestamp::MIN);
        let (runs, failures) = (before(retention.runs).as_second(), before(retention.failures).as_second());
        let mut old = read_old(&tx.rows(sql!("old_runs"), &[&runs, &failures, &limit]).await?)?;
        let mut is_more = count(&old) >= limit;
        if !is_more {
            let from = self.retention.schedule.load(Ordering::Relaxed);
            let keep = i64::from(retention.runs_per_schedule);
            let rows = tx.rows(sql!("surplus_runs"), &[&from, &SCHEDULES_A_STEP, &keep, &limit]).await?;
            let more = read_old(&rows)?;
            is_more = !more.is_empty();
            if more.is_empty() {
                let next = tx.row(sql!("schedule_after"), &[&from, &SCHEDULES_A_STEP]).await?;
                let next: Option<i64> = next.map(|row| col(&row, 0)).transpose()?.flatten();
                self.retention.schedule.store(next.unwrap_or_default(), Ordering::Relaxed);
            }
            for (schedule, rows) in more {
                let known: HashSet<i64> =
                    old.get(&schedule).into_iter().flatten().map(|row| row.run).collect();
                let new = rows.into_iter().filter(|row| !known.contains(&row.run));
                old.entry(schedule).or_default().extend(new);
            }
        }
        let runs = count(&old);
        for (schedule, rows) in old {
            digest(tx, schedule, (rows, now)).await?;
        }
        let events = self.retain_events(tx, before(retention.audit), limit).await?;
        tx.run(sql!("forget_batches"), &[&before(BATCHES_KEPT).as_microsecond()]).await?;
        tx.run(sql!("forget_requests"), &[&before(ANSWERS_KEPT).as_microsecond()]).await?;
        tx.run(sql!("forget_nodes"), &[&before(ANSWERS_KEPT).as_microsecond()]).await?;
        is_more |= events >= limit as u64;
        Ok(Retained { runs: super::plan::unsigned(runs), events, is_more })
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

fn count(old: &BTreeMap<i64, Vec<Old>>) -> i64 {
    old.values().map(|rows| rows.len() as i64).sum()
}

fn read_old(rows: &[tokio_postgres::Row]) -> Result<BTreeMap<i64, Vec<Old>>, Error> {
    let mut old: BTreeMap<i64, Vec<Old>> = BTreeMap::new();
    for row in rows {
        old.entry(col(row, 1)?).or_default().push(Old {
            run: col(row, 0)?,
            tick: col(row, 2)?,
            org: col(row, 3)?,
            version: col(row, 4)?,
            // Only ticks are accounted for; what people asked for goes without a trace.
            status: if col::<&str>(row, 6)? == "tick" { col(row, 5)? } else { String::new() },
        });
    }
    Ok(old)
}

/// Removes rows of one schedule and leaves digests of their ticks.
async fn digest(tx: &Tx, schedule: i64, (mut rows, now): (Vec<Old>, Timestamp)) -> Result<(), Error> {
    let runs: Vec<i64> = rows.iter().map(|row| row.run).collect();
    tx.run(sql!("remove_attempts"), &[&runs]).await?;
    tx.run(sql!("remove_old"), &[&runs]).await?;
    rows.retain(|row| !row.status.is_empty());
    rows.sort_by_key(|row| row.tick);
    let (Some(first), Some(last)) = (rows.first().map(|row| row.tick), rows.last().map(|row| row.tick))
    else {
        return Ok(());
    };
    // The digest before the first, if nothing is kept between, and everything that is kept from there on.
    let mut borders: Vec<i64> = Vec::new();
    for row in tx.rows(sql!("kept_between"), &[&schedule, &first, &last]).await? {
        borders.push(col(&row, 0)?);
    }
    let mut digests: Vec<Digest> = Vec::new();
    if let Some(row) = tx.row(sql!("digest_before"), &[&schedule, &first]).await? {
        let counts: &str = col(&row, 4)?;
        digests.push(Digest {
            first: col(&row, 0)?,
            last: col(&row, 1)?,
            org: col(&row, 2)?,
            version: col(&row, 3)?,
            counts: serde_json::from_str(counts)
                .map_err(|error| Error::corrupt(format!("a digest: {error}")))?,
        });
    }
    for row in rows {
        let is_cut = |digest: &Digest| borders.iter().any(|kept| digest.last < *kept && *kept < row.tick);
        match digests.last_mut().filter(|digest| !is_cut(digest)) {
            Some(digest) => digest.last = row.tick,
            None => {
                let (first, last, org, version) = (row.tick, row.tick, row.org, row.version);
                digests.push(Digest { first, last, org, version, counts: BTreeMap::new() });
            }
        }
        if let Some(digest) = digests.last_mut() {
            *digest.counts.entry(row.status).or_default() += 1;
        }
    }
    write_digests(tx, schedule, (&digests, now)).await
}

async fn write_digests(tx: &Tx, schedule: i64, (digests, now): (&[Digest], Timestamp)) -> Result<(), Error> {
    let reason = Reason::Superseded { by: "retention".to_owned() };
    for digest in digests {
        let count: u64 = digest.counts.values().sum();
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        let counts = serde_json::to_string(&digest.counts).expect("names and numbers can always be written");
        let (detail, at) = (reason.detail(), now.as_microsecond());
        let arguments: [&dyn Arg; 10] = [
            &schedule,
            &digest.first,
            &digest.last,
            &digest.org,
            &count,
            &reason.code(),
            &detail,
            &counts,
            &digest.version,
            &at,
        ];
        tx.run(sql!("put_digest"), &arguments).await?;
    }
    Ok(())
}
