//! Plans go into the ledger: cursor, entries, ranges and audit events in one transaction.

use jiff::{SignedDuration, Timestamp};
use punctual_plan::{
    Anchors, Closed, Cursor, Entry, EntryState, LOOKAHEAD_MAX, Noted, OrgKey, Origin, Plan, Range, Reason,
    RunStatus, Schedule, ScheduleKey, plan_events,
};
use punctual_time::{Anchor, Timing};
use rusqlite::{CachedStatement, Row, params};

use super::audit::{About, record_event};
use super::connection::{Db, execute};
use super::decode::{column, instant, maybe_instant};
use super::late::Late;
use super::node::has_newest_rules;
use super::open::{End, Waker, close, exhaust, go_on};
use super::{batch, org_of, shard_list, sql};
use crate::stored::shard_of;
use crate::{Ask, Batch, Commit, Error, PlanCommit, Plannable, PlannableBatch, Scope, Whose};

/// From so many schedules on that want planning at once, their neighbours are planned with them.
const SWEPT_MIN: usize = 200;

/// Neighbours are looked for among so many times the schedules that are wanted.
const SWEPT_TIMES: i64 = 4;

/// Nobody is planned before it is time while another has been waiting for this long.
const SWEPT_LATE_MAX: SignedDuration = SignedDuration::from_secs(10);

/// From so many schedules on it is found out at once whether something of them is late.
const LOOKED_FOR_ALL_MIN: usize = 20;

/// Schedules that want planning, with their late rows.
pub(super) fn plannable(db: &Db, ask: &Ask) -> Result<PlannableBatch, Error> {
    let cut = cut_of(ask).as_microsecond();
    let shards = shard_list(&ask.whose);
    let limit = i64::try_from(ask.limit).unwrap_or(i64::MAX);
    let wanted = params![cut, shards, limit];
    let (found, is_full) = match swept(db, ask)? {
        Some(swept) => (swept, true),
        None => {
            let found = db.rows(sql!("plannable"), wanted, read_state)?;
            let is_full = found.len() >= ask.limit;
            (found, is_full)
        }
    };
    let next_plan_at = match is_full {
        true => Some(ask.now),
        false => db.first(sql!("next_plan"), params![cut, shards], |row| instant(row, 0))?,
    };
    // Of neighbours that are not late themselves what is late is decided when it is time.
    let is_wanted =
        |state: &StateRow, one: &Plannable| state.plan_at <= ask.now.as_microsecond() || one.late.is_empty();
    Ok(PlannableBatch { next_plan_at, ..read_all(db, found, ask.now, is_wanted)? })
}

/// Where many schedules want planning at once: the neighbours, by key, of the one that waits longest, as far as they have a tick in
/// the window already. They share its pages, and will want planning together again; those that wait as long as it does are
/// counted by their index, and their pages are left alone.
fn swept(db: &Db, ask: &Ask) -> Result<Option<Vec<StateRow>>, Error> {
    if ask.limit < SWEPT_MIN || matches!(ask.whose, Whose::Late(_)) {
        return Ok(None);
    }
    let (now, limit) = (ask.now.as_microsecond(), i64::try_from(ask.limit).unwrap_or(i64::MAX));
    let shards = shard_list(&ask.whose);
    let head = |row: &Row<'_>| Ok((column::<i64>(row, 0)?, column::<i64>(row, 1)?));
    let heads = db.rows(sql!("plannable_heads"), params![now, shards, limit], head)?;
    let Some((first, plan_at)) = heads.first().copied().filter(|_| heads.len() >= ask.limit) else {
        return Ok(None);
    };
    if now - plan_at > SWEPT_LATE_MAX.as_micros() as i64 {
        return Ok(None);
    }
    let beyond = first.saturating_add(limit.saturating_mul(SWEPT_TIMES));
    let row = params![now, shards, limit, first, beyond];
    let found = db.rows(sql!("plannable_beside"), row, read_state)?;
    Ok((found.len() >= ask.limit / 2).then_some(found))
}

/// These schedules, as far as they are active, with their late rows.
pub(super) fn decidable(db: &Db, now: Timestamp, schedules: &[ScheduleKey]) -> Result<PlannableBatch, Error> {
    let keys: Vec<i64> = schedules.iter().map(|schedule| schedule.0).collect();
    let keys = serde_json::Value::from(keys).to_string();
    let found = db.rows(sql!("decidable"), params![keys], read_state)?;
    read_all(db, found, now, |_, _| true)
}

/// How many schedules should have been planned and are not.
pub(super) fn unplanned(db: &Db, scope: &Scope, now: Timestamp) -> Result<u64, Error> {
    let row = params![org_of(scope), now.as_second(), now.as_microsecond()];
    Ok(db.value(sql!("unplanned"), row)?.unwrap_or_default())
}

fn read_all(
    db: &Db,
    found: Vec<StateRow>,
    now: Timestamp,
    is_wanted: impl Fn(&StateRow, &Plannable) -> bool,
) -> Result<PlannableBatch, Error> {
    let mut late =
        if found.len() < LOOKED_FOR_ALL_MIN { Late::Any } else { Late::look(db, now, found.len())? };
    let mut batch = PlannableBatch { ready: Vec::with_capacity(found.len()), ..PlannableBatch::default() };
    for state in found {
        match ready(db, &state, now, &mut late) {
            Ok(Some(schedule)) if is_wanted(&state, &schedule) => batch.ready.push(schedule),
            // One that only follows others has nothing to plan.
            Ok(_) => {}
            Err(error @ Error::Corrupt { .. }) => batch.unreadable.push((state.schedule, error)),
            Err(error) => return Err(error),
        }
    }
    Ok(batch)
}

/// The instant up to which work is wanted.
pub(super) fn cut_of(ask: &Ask) -> Timestamp {
    match ask.whose {
        Whose::Own(_) => ask.now,
        Whose::Late(by) => ask.now.saturating_sub(by).unwrap_or(Timestamp::MIN),
    }
}

/// The columns of `plannable`.
struct StateRow {
    schedule: ScheduleKey,
    org: OrgKey,
    version: i64,
    cursor: Cursor,
    admitted: u64,
    anchors: Anchors,
    plan_at: i64,
    hung_until: Option<Timestamp>,
}

fn read_state(row: &Row<'_>) -> Result<StateRow, Error> {
    Ok(StateRow {
        schedule: ScheduleKey(column(row, 0)?),
        org: OrgKey(column(row, 1)?),
        version: column(row, 2)?,
        cursor: Cursor { planned_through: instant(row, 3)?, decided_through: instant(row, 4)? },
        admitted: column(row, 5)?,
        anchors: Anchors { start: maybe_instant(row, 6)?, finish: maybe_instant(row, 7)? },
        plan_at: column(row, 8)?,
        hung_until: maybe_instant(row, 9)?,
    })
}

fn ready(db: &Db, state: &StateRow, now: Timestamp, late: &mut Late) -> Result<Option<Plannable>, Error> {
    let definition = db.definition(state.schedule, state.version)?;
    let Some(mut timing) = definition.when.timing().cloned() else { return Ok(None) };
    timing.runs = state.admitted;
    timing.last = state.anchors.last(timing.anchor);
    // What is armed was armed by the last plan or the one before it, each at most the longest window ahead.
    let reach = LOOKAHEAD_MAX + definition.policy.jitter.max + SignedDuration::from_secs(1);
    let from = state.cursor.decided_through.saturating_sub(reach).unwrap_or(Timestamp::MIN);
    let late = late.rows(db, state.schedule, from..=now)?;
    let outstanding = outstanding(db, state.schedule, &timing)?;
    let StateRow { schedule, org, cursor, hung_until, .. } = *state;
    Ok(Some(Plannable { schedule, org, definition, timing, cursor, late, outstanding, hung_until }))
}

/// The ticks whose start, or whose end, the next one hangs on.
fn outstanding(db: &Db, schedule: ScheduleKey, timing: &Timing) -> Result<usize, Error> {
    if !timing.is_floating() {
        return Ok(0);
    }
    let until_end = timing.anchor == Anchor::LastFinish;
    Ok(db.value(sql!("outstanding"), params![schedule.0, until_end])?.unwrap_or_default())
}

/// Writes each plan whole, or leaves it out because somebody else planned or changed the schedule first.
pub(super) fn commit(db: &Db, head: Batch, plans: &[PlanCommit]) -> Result<Vec<Commit>, Error> {
    batch::once(db, head, || {
        if !has_newest_rules(db, head.fence)? {
            return Ok(vec![Commit::Stale; plans.len()]);
        }
        let mut cursor = db.prepare(sql!("move_cursor"))?;
        let mut writer = PlanWriter::new(db, head.now)?;
        let commits =
            plans.iter().map(|one| commit_one(&mut cursor, &mut writer, one)).collect::<Result<_, _>>()?;
        writer.write_ticks()?;
        Ok(commits)
    })
}

fn commit_one(
    cursor: &mut CachedStatement<'_>,
    writer: &mut PlanWriter<'_>,
    one: &PlanCommit,
) -> Result<Commit, Error> {
    let plan = &one.plan;
    let row = params![
        one.schedule.0,
        one.definition.version,
        one.from.planned_through.as_microsecond(),
        one.from.decided_through.as_microsecond(),
        plan.cursor.planned_through.as_microsecond(),
        plan.cursor.decided_through.as_microsecond(),
        plan.next_tick.map(Timestamp::as_second),
        plan.plan_at.map(Timestamp::as_microsecond),
        writer.now.as_second(),
    ];
    if execute(cursor, row)? == 0 {
        return Ok(Commit::Stale);
    }
    let place = Place::of(one.org, one.schedule, &one.definition);
    if one.is_plain() {
        return writer.add(place, &one.definition, plan).map(|()| Commit::Done);
    }
    writer.write(place, &one.definition, plan)?;
    // A plan that ended the row on which the next tick hung has yet to find that tick.
    if !plan.closed.is_empty() || is_free(writer.db, one.schedule, &one.definition, plan)? {
        go_on(writer.db, one.org, one.schedule, writer.now)?;
    } else if plan.next_tick.is_none() {
        exhaust(writer.db, one.org, one.schedule, writer.now)?;
    }
    Ok(Commit::Done)
}

/// Whether what the next tick hung on has started or ended since the plan was made.
pub(super) fn is_free(
    db: &Db,
    schedule: ScheduleKey,
    definition: &Schedule,
    plan: &Plan,
) -> Result<bool, Error> {
    match definition.when.timing().filter(|_| plan.is_hanging) {
        Some(timing) => Ok(outstanding(db, schedule, timing)? == 0),
        None => Ok(false),
    }
}

/// Where the rows of a plan belong.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) org: OrgKey,
    pub(super) schedule: ScheduleKey,
    pub(super) version: i64,
    pub(super) shard: u16,
}

impl Place {
    pub(super) fn of(org: OrgKey, schedule: ScheduleKey, definition: &Schedule) -> Self {
        Self { org, schedule, version: definition.version, shard: shard_of(definition.id) }
    }
}

/// The rows of plans on their way into the tables.
pub(super) struct PlanWriter<'a> {
    pub(super) db: &'a Db,
    pub(super) now: Timestamp,
    tz: i64,
    tick: CachedStatement<'a>,
    /// Ticks to come that are not written yet.
    ticks: Vec<(Place, Tick)>,
    pub(super) waker: Waker<'a>,
}

/// A tick to come: in seconds, and when it fires in microseconds.
#[derive(Clone, Copy)]
struct Tick {
    second: i64,
    fire_at: i64,
}

impl<'a> PlanWriter<'a> {
    pub(super) fn new(db: &'a Db, now: Timestamp) -> Result<Self, Error> {
        let tz = db.value(sql!("installation_tz"), [])?.unwrap_or_default();
        let (tick, waker) = (db.prepare(sql!("insert_tick"))?, Waker::new(db, now)?);
        Ok(Self { db, now, tz, tick, ticks: Vec::new(), waker })
    }

    /// The same, at another instant.
    pub(super) fn at(&mut self, now: Timestamp) -> &mut Self {
        self.now = now;
        self.waker.now = now;
        self
    }

    /// Writes everything of a plan but its cursor.
    pub(super) fn write(&mut self, at: Place, definition: &Schedule, plan: &Plan) -> Result<(), Error> {
        self.add(at, definition, plan)?;
        self.write_ticks()
    }

    /// Writes the ticks of all plans that were added, in the order of their instants: what is due together lies together.
    pub(super) fn write_ticks(&mut self) -> Result<(), Error> {
        self.ticks.sort_by_key(|(_, tick)| tick.second);
        // One statement for each: where one has many rows SQLite keeps the pages as they were before it, which costs more.
        for (at, Tick { second, fire_at }) in self.ticks.drain(..) {
            let row = params![self.tz, second, at.org.0, at.schedule.0, at.shard, fire_at, at.version];
            execute(&mut self.tick, row)?;
        }
        Ok(())
    }

    /// The same, but for its ticks to come, which are left to [`Self::write_ticks`].
    pub(super) fn add(&mut self, at: Place, definition: &Schedule, plan: &Plan) -> Result<(), Error> {
        for entry in &plan.entries {
            self.entry(at, entry)?;
        }
        for range in &plan.ranges {
            self.range(at, range)?;
        }
        let mut started = Vec::new();
        for one in &plan.closed {
            if self.close(at, definition, one)? == Commit::Stale {
                started.push(one.run);
            }
        }
        for one in &plan.refired {
            self.db.change(sql!("refire_run"), params![one.run.0, one.fire_at.as_microsecond()])?;
        }
        let about = About::schedule(at.org, at.schedule, self.now);
        let done = plan.without(&started);
        for Noted { run, event } in plan_events(&done, definition.when.timing(), &definition.policy, self.now)
        {
            record_event(self.db, About { run, ..about }, &event)?;
        }
        Ok(())
    }

    fn entry(&mut self, at: Place, entry: &Entry) -> Result<(), Error> {
        let fire_at = entry.fire_at.as_microsecond();
        let (status, reason) = match &entry.state {
            EntryState::Scheduled => {
                self.ticks.push((at, Tick { second: entry.scheduled_for.as_second(), fire_at }));
                return Ok(());
            }
            EntryState::Suppressed(reason) => (RunStatus::Scheduled, reason),
            EntryState::Ended(end) => (end.status(), end.reason()),
        };
        let new = NewRow {
            origin: Origin::Tick,
            nonce: "",
            scheduled_for: entry.scheduled_for,
            fire_at: entry.fire_at,
            status,
            reason: Some(reason),
            is_forced: false,
        };
        self.insert(at, &new).map(|_| ())
    }

    /// Writes a row of any kind; gives back whether it is new.
    pub(super) fn insert(&self, at: Place, new: &NewRow<'_>) -> Result<bool, Error> {
        let is_over = new.status.is_terminal();
        let row = params![
            new.scheduled_for.as_second(),
            at.org.0,
            at.schedule.0,
            new.origin.name(),
            new.nonce,
            at.shard,
            new.fire_at.as_microsecond(),
            (!is_over).then(|| new.fire_at.as_microsecond()),
            new.status.name(),
            new.reason.map(Reason::code),
            new.reason.map(Reason::detail),
            at.version,
            self.tz,
            is_over.then(|| self.now.as_microsecond()),
            new.is_forced,
        ];
        Ok(self.db.change(sql!("insert_run"), row)? == 1)
    }

    fn range(&self, at: Place, range: &Range) -> Result<(), Error> {
        let row = params![
            at.schedule.0,
            range.first.as_second(),
            range.last.as_second(),
            at.org.0,
            i64::try_from(range.count).unwrap_or(i64::MAX),
            range.end.status().name(),
            range.end.reason().code(),
            range.end.reason().detail(),
            at.version,
            self.now.as_microsecond(),
        ];
        self.db.change(sql!("insert_range"), row).map(|_| ())
    }

    /// Ends an open row and wakes those who waited for it; its event is one of the plan's.
    fn close(&self, at: Place, definition: &Schedule, one: &Closed) -> Result<Commit, Error> {
        let (status, reason) = (one.end.status(), one.end.reason());
        let end = End { run: one.run, status, reason, at: self.now };
        let commit = close(self.db, &end)?;
        if commit == Commit::Done {
            self.waker.behind(at.org, one.run)?;
            self.waker.upstream(at.org, &definition.name)?;
        }
        Ok(commit)
    }
}

/// A row to be written.
pub(super) struct NewRow<'a> {
    pub(super) origin: Origin,
    pub(super) nonce: &'a str,
    pub(super) scheduled_for: Timestamp,
    pub(super) fire_at: Timestamp,
    pub(super) status: RunStatus,
    pub(super) reason: Option<&'a Reason>,
    pub(super) is_forced: bool,
}
