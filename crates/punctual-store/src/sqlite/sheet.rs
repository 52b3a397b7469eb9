//! Sheets: many plain starts are committed as one row, and become changes of their own rows right after it.
//!
//! A plain start takes nothing but its schedule's lane; it changes two rows, and a herd of ten thousand of them twenty
//! thousand before the first may be launched. On a sheet they are a few pages. A run that ends while it is on one is
//! taken off it, and its start is written with its end, in one change of each row. What is left the writer unfolds a moment
//! later. Every other transaction that writes begins with unfolding whatever is there, in this process or another, so no
//! decision is made beside a sheet; a crash leaves it to whoever opens the file. Reads of the serving process wait until
//! it is gone.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use jiff::Timestamp;
use punctual_plan::{Fence, RunKey, ScheduleKey, Trace};
use rusqlite::{CachedStatement, Row, params};
use tokio::sync::Notify;

use super::connection::{Db, doing, execute, first};
use super::decode::column;
use super::sql;
use super::uncounted::Counted;
use crate::fail_point::{FailPoint, pass};
use crate::{Batch, Commit, Error, PlainStart};

/// Fewer starts than this are written as they are: two rows each cost less than a detour.
pub(super) const STARTS_MIN: usize = 64;

/// Starts in one row of the table, and so in one transaction when they are unfolded.
const STARTS_MAX: usize = 1_000;

/// The length of an entry.
const ENTRY: usize = 57;

/// Whether there are sheets that this process has written and not unfolded.
#[derive(Debug, Default)]
pub(super) struct Sheets {
    /// How many starts were put on them since there were none.
    starts: AtomicU32,
    /// Whether somebody waits for their end.
    is_awaited: AtomicBool,
    unfolded: Notify,
    /// How many times slower than usual the process is; zero if nobody has said so.
    slowness: AtomicU32,
}

impl Sheets {
    /// Resolves when what was committed on sheets is in the rows.
    pub(super) async fn gone(&self) {
        loop {
            let mut unfolded = std::pin::pin!(self.unfolded.notified());
            unfolded.as_mut().enable();
            if !self.is_any() {
                return;
            }
            self.is_awaited.store(true, Ordering::SeqCst);
            unfolded.await;
        }
    }

    pub(super) fn is_any(&self) -> bool {
        self.starts() > 0
    }

    /// How many starts were put on them, at most.
    pub(super) fn starts(&self) -> u32 {
        self.starts.load(Ordering::SeqCst)
    }

    /// Whether there are some that somebody waits for.
    pub(super) fn is_awaited(&self) -> bool {
        self.is_any() && self.is_awaited.load(Ordering::SeqCst)
    }

    /// How many times slower than usual the process is.
    pub(super) fn slowness(&self) -> u32 {
        self.slowness.load(Ordering::Relaxed).max(1)
    }

    /// Says that it is so much slower than usual.
    pub(super) fn slow_down(&self, times: u32) {
        self.slowness.store(times, Ordering::Relaxed);
    }

    fn written(&self, starts: usize) {
        let more = u32::try_from(starts).unwrap_or(u32::MAX);
        let add = |before: u32| Some(before.saturating_add(more));
        let _ = self.starts.fetch_update(Ordering::SeqCst, Ordering::SeqCst, add);
    }

    /// There is nothing to wait for any more.
    pub(super) fn clear(&self) {
        self.starts.store(0, Ordering::SeqCst);
        self.is_awaited.store(false, Ordering::SeqCst);
        self.unfolded.notify_waiters();
    }
}

/// A start on a sheet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Start {
    run: RunKey,
    schedule: ScheduleKey,
    /// In seconds.
    scheduled_for: i64,
    /// When it is given up, in microseconds.
    answer_by: i64,
    trace: Option<Trace>,
    is_exclusive: bool,
}

impl Start {
    fn of(plain: &PlainStart, now: Timestamp) -> Self {
        let answer_by = now.saturating_add(plain.patience).unwrap_or(Timestamp::MAX);
        Self {
            run: plain.run,
            schedule: plain.schedule,
            scheduled_for: plain.scheduled_for.as_second(),
            answer_by: answer_by.as_microsecond(),
            trace: plain.trace,
            is_exclusive: plain.is_exclusive,
        }
    }

    fn write(&self, sheet: &mut Vec<u8>) {
        for number in [self.run.0, self.schedule.0, self.scheduled_for, self.answer_by] {
            sheet.extend(number.to_le_bytes());
        }
        // Zero stands for none, in either place.
        sheet.extend(self.trace.map_or(0, Trace::id).to_le_bytes());
        sheet.extend(self.trace.map_or(0, Trace::parent).to_le_bytes());
        sheet.push(u8::from(self.is_exclusive));
    }

    fn read(entry: &[u8]) -> Option<Self> {
        let number = |at: usize| Some(i64::from_le_bytes(entry.get(at..at + 8)?.try_into().ok()?));
        let id = u128::from_le_bytes(entry.get(32..48)?.try_into().ok()?);
        let parent = u64::from_le_bytes(entry.get(48..56)?.try_into().ok()?);
        Some(Self {
            run: RunKey(number(0)?),
            schedule: ScheduleKey(number(8)?),
            scheduled_for: number(16)?,
            answer_by: number(24)?,
            trace: (id > 0).then(|| Trace::new(id, parent)),
            is_exclusive: *entry.get(56)? == 1,
        })
    }
}

/// Whether rows have to be looked at before they go onto a sheet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Guard {
    /// Something may have been written since they were read, into their rows or onto another sheet.
    Look,
    /// Nothing was.
    Known,
}

/// Writes plain starts onto sheets, if they are many. Gives back what became of them, by their places.
pub(super) fn write(
    db: &Db,
    head: Batch,
    plain: &[(usize, PlainStart)],
    guard: Guard,
) -> Result<Vec<(usize, Commit)>, Error> {
    if plain.len() < STARTS_MIN {
        return Ok(Vec::new());
    }
    let started: HashSet<ScheduleKey> = match guard {
        Guard::Look => all(db)?.iter().map(Folded::schedule).collect(),
        Guard::Known => HashSet::new(),
    };
    let mut done = Vec::with_capacity(plain.len());
    let (mut startable, mut insert) = (db.prepare(sql!("is_startable"))?, db.prepare(sql!("insert_sheet"))?);
    let mut is_startable = |start: &PlainStart| {
        let row = params![start.run.0, start.is_exclusive];
        Ok(!started.contains(&start.schedule) && first(&mut startable, row, |_| Ok(()))?.is_some())
    };
    for some in plain.chunks(STARTS_MAX) {
        let mut sheet = Vec::with_capacity(some.len() * ENTRY);
        for (place, start) in some {
            let holds = guard == Guard::Known || is_startable(start)?;
            done.push((*place, if holds { Commit::Done } else { Commit::Stale }));
            if holds {
                Start::of(start, head.now).write(&mut sheet);
            }
        }
        if !sheet.is_empty() {
            db.sheets.written(sheet.len() / ENTRY);
            execute(&mut insert, params![head.fence.0, head.now.as_microsecond(), sheet])?;
        }
    }
    Ok(done)
}

/// A start that was committed on a sheet, with what its sheet says of all of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Folded {
    start: Start,
    fence: Fence,
    /// When it was admitted, in microseconds.
    at: i64,
}

impl Folded {
    /// Its run.
    pub(super) fn run(&self) -> RunKey {
        self.start.run
    }

    /// Its schedule.
    pub(super) fn schedule(&self) -> ScheduleKey {
        self.start.schedule
    }

    /// The node that holds it.
    pub(super) fn fence(&self) -> Fence {
        self.fence
    }

    /// When it was admitted, in microseconds.
    pub(super) fn at(&self) -> i64 {
        self.at
    }

    /// Its tick, in seconds.
    pub(super) fn scheduled_for(&self) -> i64 {
        self.start.scheduled_for
    }

    /// Its trace as it is stored.
    pub(super) fn trace(&self) -> Option<String> {
        self.start.trace.map(|trace| trace.to_string())
    }

    /// Puts it into its rows, as an admission that was not on a sheet would have been. Nobody writes beside a sheet, so each
    /// finds its rows as they were: only a hand in the file could differ.
    fn unfold(&self, rows: &mut Unfolding<'_>) -> Result<(), Error> {
        let Self { start, fence, at } = self;
        let (tick, is_counted, attempt, is_anchor) = (start.scheduled_for, true, 1, true);
        let row = params![
            start.schedule.0,
            start.run.0,
            start.is_exclusive,
            is_counted,
            at,
            tick,
            attempt,
            is_anchor,
            tick
        ];
        if rows.state.execute(start.schedule, tick, row)? {
            let token = None::<String>;
            let row = params![start.run.0, attempt, fence.0, at, start.answer_by, self.trace(), token];
            execute(&mut rows.run, row)?;
        }
        Ok(())
    }
}

/// What puts starts into their rows.
struct Unfolding<'a> {
    state: Counted<'a>,
    run: CachedStatement<'a>,
}

/// Puts starts into their rows.
pub(super) fn into_rows<'f>(db: &Db, starts: impl IntoIterator<Item = &'f Folded>) -> Result<(), Error> {
    let mut rows =
        Unfolding { state: Counted::new(db, sql!("admit_state"))?, run: db.prepare(sql!("admit_run"))? };
    starts.into_iter().try_for_each(|start| start.unfold(&mut rows))
}

/// A row of the table.
struct Sheet {
    key: i64,
    starts: Vec<Folded>,
}

impl Sheet {
    fn read(row: &Row<'_>) -> Result<Self, Error> {
        let (key, fence, at) = (column(row, 0)?, Fence(column(row, 1)?), column(row, 2)?);
        let starts: Vec<u8> = column(row, 3)?;
        let folded = |entry: &[u8]| {
            let start = Start::read(entry).ok_or_else(|| Error::corrupt("a sheet of starts"))?;
            Ok(Folded { start, fence, at })
        };
        Ok(Self { key, starts: starts.chunks(ENTRY).map(folded).collect::<Result<_, Error>>()? })
    }
}

/// Unfolds the oldest sheet; whether there was one.
pub(super) fn unfold(db: &Db) -> Result<bool, Error> {
    let Some(sheet) = db.first(sql!("first_sheet"), [], Sheet::read)? else { return Ok(false) };
    into_rows(db, &sheet.starts)?;
    pass(FailPoint::SheetUnfolding);
    db.change(sql!("remove_sheet"), [sheet.key])?;
    Ok(true)
}

/// Takes those of some runs that are on sheets off them: whoever ends them writes their start with their end. The others
/// stay where they are.
pub(super) fn take(db: &Db, wanted: &HashSet<RunKey>) -> Result<HashMap<RunKey, Folded>, Error> {
    let mut taken = HashMap::new();
    for sheet in db.rows(sql!("list_sheets"), [], Sheet::read)? {
        let is_wanted = |folded: &Folded| wanted.contains(&folded.start.run);
        let (off, left): (Vec<Folded>, Vec<Folded>) = sheet.starts.into_iter().partition(is_wanted);
        if off.is_empty() {
            continue;
        }
        if left.is_empty() {
            db.change(sql!("remove_sheet"), [sheet.key])?;
        } else {
            let mut starts = Vec::with_capacity(left.len() * ENTRY);
            left.iter().for_each(|folded| folded.start.write(&mut starts));
            db.change(sql!("shorten_sheet"), params![sheet.key, starts])?;
        }
        taken.extend(off.into_iter().map(|folded| (folded.start.run, folded)));
    }
    Ok(taken)
}

/// All starts that are on sheets.
pub(super) fn all(db: &Db) -> Result<Vec<Folded>, Error> {
    let sheets = db.rows(sql!("list_sheets"), [], Sheet::read)?;
    Ok(sheets.into_iter().flat_map(|sheet| sheet.starts).collect())
}

/// Whether there are some.
pub(super) fn is_any(db: &Db) -> Result<bool, Error> {
    Ok(db.value(sql!("is_any_sheet"), [])?.unwrap_or(false))
}

/// Unfolds everything: what each transaction that writes begins with.
pub(super) fn unfold_all(db: &Db) -> Result<(), Error> {
    while unfold(db)? {}
    Ok(())
}

/// Unfolds what a process that was killed has left, each sheet in a transaction of its own: whoever opens the file shall
/// not read rows that say less than was committed.
pub(super) fn unfold_left(db: &Db) -> Result<(), Error> {
    let step = |command: &str| db.connection.execute_batch(command).map_err(doing("unfolding starts"));
    while is_any(db)? {
        step("BEGIN IMMEDIATE")?;
        let unfolded = unfold(db);
        step(if unfolded.is_ok() { "COMMIT" } else { "ROLLBACK" })?;
        unfolded?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_start_is_read_as_it_was_written() {
        let start = Start {
            run: RunKey(7),
            schedule: ScheduleKey(i64::MAX),
            scheduled_for: -1,
            answer_by: 1_781_524_800_000_000,
            trace: Some(Trace::new(u128::MAX - 5, 9)),
            is_exclusive: true,
        };
        let mut sheet = Vec::new();
        start.write(&mut sheet);
        assert_eq!(sheet.len(), ENTRY);
        assert_eq!(Start::read(&sheet), Some(start));
        assert_eq!(Start::read(&sheet[1..]), None);
    }
}
