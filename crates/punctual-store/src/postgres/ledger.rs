//! What several steps write the same way: rows that are planned, rows that end, events, and who is woken by it.

use std::collections::HashSet;
use std::sync::Arc;

use jiff::Timestamp;
use punctual_plan::{
    EntryState, Event, Noted, OrgKey, Origin, Plan, Reason, RunKey, RunStatus, Schedule, ScheduleKey,
    end_event, plan_events,
};
use punctual_time::Anchor;

use super::connection::{Arg, Tx, col};
use super::{Postgres, sql};
use crate::{Actor, Error};

/// States in which nothing was launched yet or anew.
pub(super) const OPEN: &[&str] = &["scheduled", "waiting", "retrying"];

/// States in which something was launched and has not been answered for.
pub(super) const FLYING: &[&str] = &["enqueued", "running"];

/// Audit events on their way into the database, one array a column.
#[derive(Default)]
pub(super) struct Events {
    org: Vec<i64>,
    actor: Vec<Option<String>>,
    kind: Vec<String>,
    schedule: Vec<Option<i64>>,
    run: Vec<Option<i64>>,
    detail: Vec<String>,
}

/// What an event is about.
#[derive(Clone, Copy)]
pub(super) struct About {
    pub(super) org: OrgKey,
    pub(super) schedule: Option<ScheduleKey>,
    pub(super) run: Option<RunKey>,
}

impl Events {
    /// Something that the engine did.
    pub(super) fn note(&mut self, about: About, event: &Event) {
        self.say(about, &Actor::Engine, (event.name(), &event.to_string()));
    }

    /// Something that somebody did.
    pub(super) fn say(&mut self, about: About, actor: &Actor, (kind, detail): (&str, &str)) {
        self.org.push(about.org.0);
        self.actor.push(match actor {
            Actor::Engine => None,
            Actor::User(user) => Some(user.clone()),
        });
        self.kind.push(kind.to_owned());
        self.schedule.push(about.schedule.map(|schedule| schedule.0));
        self.run.push(about.run.map(|run| run.0));
        self.detail.push(detail.replace('\0', "\u{fffd}"));
    }

    pub(super) async fn write(self, tx: &Tx, at: Timestamp) -> Result<(), Error> {
        if self.org.is_empty() {
            return Ok(());
        }
        let at = at.as_microsecond();
        let Self { org, actor, kind, schedule, run, detail } = self;
        tx.run(sql!("insert_events"), &[&at, &org, &actor, &kind, &schedule, &run, &detail]).await?;
        Ok(())
    }
}

/// A plan to be written for a schedule whose cursor was moved already.
pub(super) struct Planned<'a> {
    pub(super) schedule: ScheduleKey,
    pub(super) org: OrgKey,
    pub(super) shard: i64,
    /// The version that the entries belong to.
    pub(super) version: i64,
    /// What the audit log goes by; none if it cannot be read any more.
    pub(super) definition: Option<&'a Schedule>,
    pub(super) plan: &'a Plan,
}

struct Tick {
    tick: i64,
    org: i64,
    schedule: i64,
    shard: i64,
    fire_at: i64,
    status: &'static str,
    reason: Option<&'static str>,
    detail: Option<String>,
    version: i64,
}

#[derive(Default)]
struct Ticks(Vec<Tick>);

#[derive(Default)]
struct Ranges {
    schedule: Vec<i64>,
    first: Vec<i64>,
    last: Vec<i64>,
    org: Vec<i64>,
    count: Vec<i64>,
    status: Vec<&'static str>,
    reason: Vec<&'static str>,
    detail: Vec<String>,
    version: Vec<i64>,
}

/// A row that ends without running.
pub(super) struct End {
    pub(super) run: RunKey,
    pub(super) status: RunStatus,
    pub(super) reason: Reason,
}

/// A schedule that may have come to its end.
#[derive(Clone, Copy)]
pub(super) struct Ending {
    pub(super) schedule: ScheduleKey,
    /// 1 if it has ticks of its own, which can run out; one that follows another ends only by `max_runs`.
    has_ticks: i64,
    /// Whether each of its ticks hangs on the one before.
    floats: bool,
    /// 1 if it hangs on that one's end, not on its start.
    until_end: i64,
}

impl Ending {
    pub(super) fn of(schedule: ScheduleKey, definition: &Schedule) -> Self {
        let has_ticks = i64::from(definition.when.timing().is_some());
        let until_end = i64::from(definition.when.floats_on(Anchor::LastFinish));
        Self { schedule, has_ticks, floats: definition.when.is_floating(), until_end }
    }
}

/// A row that has ended.
#[derive(Clone, Debug)]
pub(super) struct Ended {
    pub(super) run: RunKey,
    pub(super) schedule: ScheduleKey,
    pub(super) org: OrgKey,
    pub(super) origin: Origin,
    pub(super) tick: Timestamp,
    /// Whether it was never launched, so that its end is one without a run.
    pub(super) is_unlaunched: bool,
}

impl Planned<'_> {
    /// What the audit log says of it, where these rows were closed.
    pub(super) fn tell(&self, done: &HashSet<RunKey>, now: Timestamp, events: &mut Events) {
        let closed = self.plan.closed.iter().map(|row| row.run);
        let plan = self.plan.without(&closed.filter(|run| !done.contains(run)).collect::<Vec<_>>());
        let timing = self.definition.and_then(|definition| definition.when.timing());
        let policy = self.definition.map(|definition| Arc::clone(&definition.policy)).unwrap_or_default();
        for Noted { run, event } in plan_events(&plan, timing, &policy, now) {
            events.note(About { org: self.org, schedule: Some(self.schedule), run }, &event);
        }
    }
}

impl Postgres {
    /// Writes entries, ranges, closed and refired rows and events of plans.
    pub(super) async fn write_plans(
        &self,
        tx: &Tx,
        plans: &[Planned<'_>],
        now: Timestamp,
    ) -> Result<(), Error> {
        self.write_ticks(tx, plans, now).await?;
        let mut events = Events::default();
        let (mut closed, mut refired): (Vec<End>, (Vec<i64>, Vec<i64>)) = Default::default();
        for planned in plans {
            closed.extend(planned.plan.closed.iter().map(|row| End {
                run: row.run,
                status: row.end.status(),
                reason: row.end.reason().clone(),
            }));
            refired.0.extend(planned.plan.refired.iter().map(|row| row.run.0));
            refired.1.extend(planned.plan.refired.iter().map(|row| row.fire_at.as_microsecond()));
        }
        if !refired.0.is_empty() {
            tx.run(sql!("refire_runs"), &[&refired.0, &refired.1, &"scheduled"]).await?;
        }
        let ended = self.close(tx, &closed, now).await?;
        let done: HashSet<RunKey> = ended.iter().map(|row| row.run).collect();
        plans.iter().for_each(|planned| planned.tell(&done, now, &mut events));
        events.write(tx, now).await?;
        self.wake(tx, &ended, now).await
    }

    /// Writes entries and ranges of plans: all there is of the first of a schedule, but for its events.
    pub(super) async fn write_ticks(
        &self,
        tx: &Tx,
        plans: &[Planned<'_>],
        now: Timestamp,
    ) -> Result<(), Error> {
        let (mut ticks, mut ranges) = (Ticks::default(), Ranges::default());
        for planned in plans {
            ticks.add(planned);
            ranges.add(planned);
        }
        ticks.write(tx, (self.tz, now)).await?;
        ranges.write(tx, now).await
    }

    /// Ends rows that are not in flight; gives those that did end.
    pub(super) async fn close(&self, tx: &Tx, ends: &[End], now: Timestamp) -> Result<Vec<Ended>, Error> {
        if ends.is_empty() {
            return Ok(Vec::new());
        }
        let mut ends: Vec<&End> = ends.iter().collect();
        ends.sort_by_key(|end| end.run);
        let run: Vec<i64> = ends.iter().map(|end| end.run.0).collect();
        let status: Vec<&str> = ends.iter().map(|end| end.status.name()).collect();
        let reason: Vec<&str> = ends.iter().map(|end| end.reason.code()).collect();
        let detail: Vec<String> = ends.iter().map(|end| end.reason.detail()).collect();
        let (at, open) = (now.as_microsecond(), OPEN.to_vec());
        let rows = tx.rows(sql!("close_runs"), &[&run, &status, &reason, &detail, &at, &open]).await?;
        let ended: Vec<Ended> = rows.iter().map(read_ended).collect::<Result<_, _>>()?;
        let ticks = || ended.iter().filter(|row| row.origin == Origin::Tick);
        let schedules: Vec<i64> = ticks().map(|row| row.schedule.0).collect();
        if !schedules.is_empty() {
            let ticks: Vec<i64> = ticks().map(|row| row.tick.as_second()).collect();
            tx.run(sql!("reach"), &[&schedules, &ticks]).await?;
        }
        Ok(ended)
    }

    /// Looks again at rows that wait for what has just ended: their turn behind it, or a tick of its schedule.
    pub(super) async fn wake(&self, tx: &Tx, ended: &[Ended], now: Timestamp) -> Result<(), Error> {
        if ended.is_empty() {
            return Ok(());
        }
        let org: Vec<i64> = ended.iter().map(|row| row.org.0).collect();
        let run: Vec<String> = ended.iter().map(|row| row.run.0.to_string()).collect();
        let ticks = || ended.iter().filter(|row| row.origin == Origin::Tick);
        let schedule: Vec<i64> = ticks().map(|row| row.schedule.0).collect();
        let upstream_org: Vec<i64> = ticks().map(|row| row.org.0).collect();
        let (now, waiting) = (now.as_microsecond(), RunStatus::Waiting.name());
        tx.run(sql!("wake_turns"), &[&org, &run, &now, &waiting]).await?;
        if !schedule.is_empty() {
            tx.run(sql!("wake_upstream"), &[&upstream_org, &schedule, &now, &waiting]).await?;
        }
        Ok(())
    }

    /// Plans schedules anew whose next tick hung on a row that has ended without running.
    pub(super) async fn go_on(&self, tx: &Tx, ended: &[Ending], now: Timestamp) -> Result<(), Error> {
        let floating: Vec<i64> = ended.iter().filter(|one| one.floats).map(|one| one.schedule.0).collect();
        if !floating.is_empty() {
            tx.run(sql!("go_on"), &[&floating, &now.as_microsecond(), &"active"]).await?;
        }
        Ok(())
    }

    /// Plans schedules anew for which a plan could not know the next tick, if what that hung on has started or ended since.
    pub(super) async fn go_on_if_free(
        &self,
        tx: &Tx,
        hanging: &[Ending],
        now: Timestamp,
    ) -> Result<(), Error> {
        if hanging.is_empty() {
            return Ok(());
        }
        let schedules: Vec<i64> = hanging.iter().map(|one| one.schedule.0).collect();
        let until_end: Vec<i64> = hanging.iter().map(|one| one.until_end).collect();
        let arguments: [&dyn Arg; 5] = [&schedules, &now.as_microsecond(), &"active", &until_end, &"tick"];
        tx.run(sql!("go_on_if_free"), &arguments).await?;
        Ok(())
    }

    /// Schedules of which nothing is left leave `active`.
    pub(super) async fn exhaust(&self, tx: &Tx, ending: Vec<Ending>, now: Timestamp) -> Result<(), Error> {
        if ending.is_empty() {
            return Ok(());
        }
        let schedules: Vec<i64> = ending.iter().map(|one| one.schedule.0).collect();
        let ticks: Vec<i64> = ending.iter().map(|one| one.has_ticks).collect();
        let mut events = Events::default();
        let at = now.as_microsecond();
        for row in tx.rows(sql!("exhaust"), &[&schedules, &at, &"active", &ticks]).await? {
            let at = crate::instant::from_micros(col(&row, 2)?)?;
            let about =
                About { org: OrgKey(col(&row, 1)?), schedule: Some(ScheduleKey(col(&row, 0)?)), run: None };
            events.note(about, &Event::Left { reason: Reason::Exhausted { at } });
        }
        events.write(tx, now).await
    }
}

/// The event of a row that ended without running.
pub(super) fn ended_event(tick: Timestamp, end: &End) -> Event {
    use punctual_plan::NonFire;
    let reason = end.reason.clone();
    match end.status {
        RunStatus::Missed => end_event(tick, &NonFire::Missed(reason)),
        _ => end_event(tick, &NonFire::Skipped(reason)),
    }
}

pub(super) fn read_ended(row: &tokio_postgres::Row) -> Result<Ended, Error> {
    let origin: &str = col(row, 3)?;
    Ok(Ended {
        run: RunKey(col(row, 0)?),
        schedule: ScheduleKey(col(row, 1)?),
        org: OrgKey(col(row, 2)?),
        origin: origin.parse().map_err(|error| Error::corrupt(format!("{error}")))?,
        tick: crate::instant::from_seconds(col(row, 4)?)?,
        is_unlaunched: matches!(col(row, 5)?, "skipped" | "missed"),
    })
}

impl Ticks {
    fn add(&mut self, planned: &Planned<'_>) {
        for entry in &planned.plan.entries {
            let (status, reason) = match &entry.state {
                EntryState::Scheduled => (RunStatus::Scheduled, None),
                EntryState::Suppressed(reason) => (RunStatus::Scheduled, Some(reason)),
                EntryState::Ended(end) => (end.status(), Some(end.reason())),
            };
            self.0.push(Tick {
                tick: entry.scheduled_for.as_second(),
                org: planned.org.0,
                schedule: planned.schedule.0,
                shard: planned.shard,
                fire_at: entry.fire_at.as_microsecond(),
                status: status.name(),
                reason: reason.map(Reason::code),
                detail: reason.map(Reason::detail),
                version: planned.version,
            });
        }
    }

    async fn write(self, tx: &Tx, (tz, now): (i64, Timestamp)) -> Result<(), Error> {
        let Self(mut ticks) = self;
        if ticks.is_empty() {
            return Ok(());
        }
        // What is due together lies together: who admits or ends a herd touches few pages of the table then.
        ticks.sort_by_key(|one| (one.tick, one.schedule));
        let column = |read: fn(&Tick) -> i64| ticks.iter().map(read).collect::<Vec<i64>>();
        let (tick, org) = (column(|one| one.tick), column(|one| one.org));
        let (schedule, shard) = (column(|one| one.schedule), column(|one| one.shard));
        let (fire_at, version) = (column(|one| one.fire_at), column(|one| one.version));
        let status: Vec<&str> = ticks.iter().map(|one| one.status).collect();
        let reason: Vec<Option<&str>> = ticks.iter().map(|one| one.reason).collect();
        let detail: Vec<Option<&str>> = ticks.iter().map(|one| one.detail.as_deref()).collect();
        let now = now.as_microsecond();
        let arguments: [&dyn Arg; 11] =
            [&tick, &org, &schedule, &shard, &fire_at, &status, &reason, &detail, &version, &tz, &now];
        tx.run(sql!("insert_ticks"), &arguments).await?;
        Ok(())
    }
}

impl Ranges {
    fn add(&mut self, planned: &Planned<'_>) {
        for range in &planned.plan.ranges {
            self.schedule.push(planned.schedule.0);
            self.first.push(range.first.as_second());
            self.last.push(range.last.as_second());
            self.org.push(planned.org.0);
            self.count.push(i64::try_from(range.count).unwrap_or(i64::MAX));
            self.status.push(range.end.status().name());
            self.reason.push(range.end.reason().code());
            self.detail.push(range.end.reason().detail());
            self.version.push(planned.version);
        }
    }

    async fn write(self, tx: &Tx, now: Timestamp) -> Result<(), Error> {
        if self.schedule.is_empty() {
            return Ok(());
        }
        let now = now.as_microsecond();
        let Self { schedule, first, last, org, count, status, reason, detail, version } = self;
        let arguments: [&dyn super::connection::Arg; 10] =
            [&schedule, &first, &last, &org, &count, &status, &reason, &detail, &version, &now];
        tx.run(sql!("insert_ranges"), &arguments).await?;
        Ok(())
    }
}
