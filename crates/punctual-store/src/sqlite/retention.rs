//! Retention: rows past their time become digests with exact counts, sealed events go, and so do old answers.
//!
//! What goes is looked for by a reader; the writer removes it in small pieces when it has nothing else to do and no row is
//! about to be due, and leaves a piece as soon as somebody wants to write: runs never wait for it.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};
use punctual_plan::{Origin, Reason, RunStatus, ScheduleKey};
use rusqlite::{Row, params};

use super::connection::Db;
use super::decode::{column, named, status};
use super::writer::Wanted;
use super::{Sqlite, sql, uncounted};
use crate::{Error, Retained, Retention};

/// Rows that are removed in one transaction, however many a step may take: a few milliseconds of the writer.
const PIECE_MAX: usize = 100;

/// After each piece others have the writer to themselves for as long as it took, and at most for this long.
const PAUSE_MAX: Duration = Duration::from_millis(50);

/// No piece begins when a row is due within this time, or overdue: longer than a piece takes, so that whoever admits the
/// row finds the writer idle and the disk at rest.
const NEAR: SignedDuration = SignedDuration::from_millis(20);

/// How long it waits before it looks again whether a row is due.
const NEAR_PAUSE: Duration = Duration::from_millis(5);

/// For this long a piece waits for rows that are due: where there is always one, it has its turn all the same.
const NEAR_WAIT_MAX: Duration = Duration::from_millis(100);

/// Schedules that are counted in one step.
const SCHEDULES_MAX: i64 = 1_000;

/// Answers to batches are of use while their callers may ask again.
const BATCHES_KEPT: SignedDuration = SignedDuration::from_hours(1);

/// Answers to requests are of use while their callers may ask again.
const REQUESTS_KEPT: SignedDuration = SignedDuration::from_hours(24);

/// A row past its time.
#[derive(Clone, Copy)]
struct Old {
    run: i64,
    schedule: i64,
    org: i64,
    tick: i64,
    status: RunStatus,
    origin: Origin,
    version: i64,
}

fn read_old(row: &Row<'_>) -> Result<Old, Error> {
    Ok(Old {
        run: column(row, 0)?,
        schedule: column(row, 1)?,
        org: column(row, 2)?,
        tick: column(row, 3)?,
        status: status(row, 4)?,
        origin: named(row, 5)?,
        version: column(row, 6)?,
    })
}

/// What a step found.
struct Found {
    rows: Vec<Old>,
    /// After which schedule the next step counts; none if all are counted.
    counted_through: Option<i64>,
}

impl Sqlite {
    /// One bounded step.
    pub(super) async fn retain_step(&self, retention: Retention, now: Timestamp) -> Result<Retained, Error> {
        let from = self.counted_through.load(Ordering::Relaxed);
        let found = self.lister.run(move |db| find(db, &retention, now, from)).await?;
        self.counted_through.store(found.counted_through.unwrap_or(0), Ordering::Relaxed);
        let mut retained = Retained { is_more: found.counted_through.is_some(), ..Retained::default() };
        retained.runs = self.remove(found.rows, now).await?;
        retained.events = self.writer.run_aside(move |db| remove_events(db, &retention, now)).await?;
        retained.is_more |= retained.events >= retention.limit as u64;
        let batches = self.writer.run_aside(move |db| remove_answers(db, now)).await?;
        retained.is_more |= batches >= PIECE_MAX;
        let messages = self.writer.run(move |db| remove_messages(db, &retention, now)).await?;
        retained.is_more |= messages >= PIECE_MAX;
        Ok(retained)
    }

    /// Removes rows piece by piece; gives how many were there.
    async fn remove(&self, rows: Vec<Old>, now: Timestamp) -> Result<u64, Error> {
        let (mut removed, mut done) = (0, 0);
        while done < rows.len() {
            self.give_way().await?;
            let piece: Vec<Old> = rows.iter().skip(done).take(PIECE_MAX).copied().collect();
            let (started, wanted) = (Instant::now(), self.writer.wanted());
            let digested = self.writer.run_aside(move |db| digest(db, &piece, &wanted, now)).await?;
            removed += digested.removed;
            done += digested.seen;
            tokio::time::sleep(started.elapsed().min(PAUSE_MAX)).await;
        }
        Ok(removed)
    }

    /// Waits while a row is due or about to be.
    async fn give_way(&self) -> Result<(), Error> {
        let until = Instant::now() + NEAR_WAIT_MAX;
        loop {
            let first: Option<i64> =
                self.lister.run(|db| db.first(sql!("first_look"), [], |row| column(row, 0))).await?;
            let near = self.clock.now().saturating_add(NEAR).unwrap_or(Timestamp::MAX).as_microsecond();
            if first.is_none_or(|at| at > near) || Instant::now() >= until {
                return Ok(());
            }
            tokio::time::sleep(NEAR_PAUSE).await;
        }
    }
}

/// What a piece came to.
struct Digested {
    /// Rows that were looked at: fewer than asked for if somebody wanted the writer meanwhile, at least those of one
    /// schedule.
    seen: usize,
    /// Rows that were there and are gone.
    removed: u64,
}

/// Rows of some schedules that are too old or too many. It goes by schedule, so that the ticks of one become a digest
/// together.
fn find(db: &Db, retention: &Retention, now: Timestamp, from: i64) -> Result<Found, Error> {
    let cut = |age: SignedDuration| now.saturating_sub(age).unwrap_or(Timestamp::MIN).as_second();
    let (runs, failures) = (cut(retention.runs), cut(retention.failures.max(retention.runs)));
    let schedules: Vec<i64> =
        db.rows(sql!("schedules_after"), params![from, SCHEDULES_MAX], |row| column(row, 0))?;
    let is_last = (schedules.len() as i64) < SCHEDULES_MAX;
    let (mut rows, mut through) = (Vec::new(), from);
    for schedule in schedules {
        let nth: Option<i64> = db.value(sql!("nth_tick"), params![schedule, retention.runs_per_schedule])?;
        let left = i64::try_from(retention.limit - rows.len()).unwrap_or(i64::MAX);
        let query = params![schedule, runs, failures, nth.unwrap_or(i64::MIN), left];
        rows.extend(db.rows(sql!("old_runs"), query, read_old)?);
        if rows.len() >= retention.limit {
            // There may be more of this one.
            return Ok(Found { rows, counted_through: Some(through) });
        }
        through = schedule;
    }
    Ok(Found { rows, counted_through: (!is_last).then_some(through) })
}

/// Removes rows and leaves digests of those that were ticks.
fn digest(db: &Db, rows: &[Old], wanted: &Wanted, now: Timestamp) -> Result<Digested, Error> {
    let mut done = Digested { seen: 0, removed: 0 };
    for of_schedule in rows.chunk_by(|one, next| one.schedule == next.schedule) {
        if done.seen > 0 && wanted.is_any() {
            break;
        }
        done.seen += of_schedule.len();
        if let Some(last) = of_schedule.last() {
            uncounted::count(db, ScheduleKey(last.schedule), last.tick)?;
        }
        let mut ticks: Vec<Old> = Vec::new();
        for row in of_schedule {
            if db.change(sql!("delete_run"), [row.run])? == 1 {
                done.removed += 1;
                db.change(sql!("delete_attempts"), [row.run])?;
                ticks.extend((row.origin == Origin::Tick).then_some(*row));
            }
        }
        let (Some(first), Some(last)) = (ticks.first(), ticks.last()) else { continue };
        let kept = kept_between(db, first.schedule, first.tick, last.tick)?;
        let is_next = |one: &Old, next: &Old| {
            let is_parted = kept.iter().any(|tick| (one.tick..=next.tick).contains(tick));
            one.version == next.version && !is_parted
        };
        for stretch in ticks.chunk_by(is_next) {
            put_digest(db, stretch, now)?;
        }
    }
    Ok(done)
}

fn kept_between(db: &Db, schedule: i64, first: i64, last: i64) -> Result<Vec<i64>, Error> {
    db.rows(sql!("kept_between"), params![schedule, first, last], |row| column(row, 0))
}

/// Writes the digest of neighbouring ticks, or adds them to the one before.
fn put_digest(db: &Db, ticks: &[Old], now: Timestamp) -> Result<(), Error> {
    let (Some(first), Some(last)) = (ticks.first(), ticks.last()) else { return Ok(()) };
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for tick in ticks {
        *counts.entry(tick.status.name().to_owned()).or_default() += 1;
    }
    let before = db.first(sql!("digest_before"), params![first.schedule, first.tick], |row| {
        let counts: Option<String> = column(row, 3)?;
        Ok((
            column::<i64>(row, 0)?,
            column::<i64>(row, 1)?,
            column::<u64>(row, 2)?,
            counts,
            column::<i64>(row, 4)?,
        ))
    })?;
    let recorded_at = now.as_microsecond();
    if let Some((begin, end, count, Some(had), version)) = before
        && version == first.version
        && kept_between(db, first.schedule, end + 1, first.tick - 1)?.is_empty()
    {
        let had: BTreeMap<String, u64> =
            serde_json::from_str(&had).map_err(|error| Error::corrupt(format!("a digest: {error}")))?;
        for (status, more) in had {
            *counts.entry(status).or_default() += more;
        }
        let count = count + ticks.len() as u64;
        let row = params![first.schedule, begin, last.tick, count, as_json(&counts), recorded_at];
        return db.change(sql!("extend_digest"), row).map(|_| ());
    }
    let reason = Reason::Superseded { by: "retention".to_owned() };
    let row = params![
        first.schedule,
        first.tick,
        last.tick,
        first.org,
        ticks.len() as u64,
        RunStatus::Skipped.name(),
        reason.code(),
        reason.detail(),
        as_json(&counts),
        first.version,
        recorded_at,
    ];
    db.change(sql!("insert_digest"), row).map(|_| ())
}

fn as_json(counts: &BTreeMap<String, u64>) -> String {
    serde_json::to_string(counts).expect("names and numbers can always be written")
}

/// Removes sealed events from the beginning of the log; the seals stay.
fn remove_events(db: &Db, retention: &Retention, now: Timestamp) -> Result<u64, Error> {
    let cut = now.saturating_sub(retention.audit).unwrap_or(Timestamp::MIN).as_microsecond();
    let limit = i64::try_from(retention.limit).unwrap_or(i64::MAX);
    let oldest = db.rows(sql!("old_events"), params![cut, limit], |row| {
        Ok((column::<i64>(row, 0)?, column::<bool>(row, 1)?))
    })?;
    let Some((through, _)) = oldest.iter().take_while(|(_, may_go)| *may_go).last() else { return Ok(0) };
    db.change(sql!("open_pass"), [through])?;
    let removed = db.change(sql!("delete_events"), [through])?;
    db.change(sql!("close_pass"), [])?;
    Ok(removed as u64)
}

/// Removes messages that nobody has read for as long as their runs are kept.
fn remove_messages(db: &Db, retention: &Retention, now: Timestamp) -> Result<usize, Error> {
    let cut = now.saturating_sub(retention.runs).unwrap_or(Timestamp::MIN).as_microsecond();
    let limit = i64::try_from(PIECE_MAX).unwrap_or(i64::MAX);
    db.change(sql!("delete_messages"), params![cut, limit])
}

fn remove_answers(db: &Db, now: Timestamp) -> Result<usize, Error> {
    let cut = |age: SignedDuration| now.saturating_sub(age).unwrap_or(Timestamp::MIN).as_microsecond();
    db.change(sql!("delete_requests"), [cut(REQUESTS_KEPT)])?;
    let limit = i64::try_from(PIECE_MAX).unwrap_or(i64::MAX);
    db.change(sql!("delete_batches"), params![cut(BATCHES_KEPT), limit])
}
