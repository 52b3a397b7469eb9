//! The application layer: what a person can ask for, whichever door they come through.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use punctual_engine::{Clock, SystemClock};
use punctual_plan::{
    Action, Before, Change, Cursor, Open, Owner, Schedule, ScheduleId, Status, Subject, Window, change, plan,
};
use punctual_store::{
    Access, AnyStore, Cut, Error, NodeRow, RangeRow, RunFilter, RunRow, ScheduleFilter, ScheduleRow,
    ScheduleWrite, Scope, Selector, Store, Write, Written, timing, to_microsecond,
};
use punctual_time::{Cron, Dialect, Timing, Zone};

use crate::{Database, Failure, name, zone_name};

/// How many ticks a preview shows.
const PREVIEW_TICKS: usize = 5;

/// Schedules of one page of a listing.
const LIST_PAGE: u32 = 1_000;

/// How often a change is decided again because a planner was faster.
const CHANGE_TRIES_MAX: usize = 20;

/// A schedule that a person wants.
#[derive(Clone, Debug)]
pub struct Draft {
    /// Unique among the living ones.
    pub name: String,
    /// The cron expression.
    pub cron: String,
    /// Its dialect.
    pub dialect: Dialect,
    /// Its zone, by IANA name, or `local` for the host's.
    pub timezone: String,
    /// Where its runs go.
    pub action: Action,
}

/// What a schedule would do, without making it.
#[derive(Clone, Debug)]
pub struct Preview {
    /// The checked definition.
    pub definition: Schedule,
    /// Its first ticks.
    pub ticks: Vec<Timestamp>,
}

/// The ledger of one schedule.
#[derive(Clone, Debug)]
pub struct History {
    /// Its entries, newest first.
    pub runs: Vec<RunRow>,
    /// Its missed stretches, newest first.
    pub ranges: Vec<RangeRow>,
}

/// An open ledger.
pub struct App {
    store: AnyStore,
    scope: Scope,
    clock: SystemClock,
}

impl App {
    /// Opens the ledger, beside a process that serves it or without one.
    ///
    /// # Errors
    /// When it cannot be opened or was written by a newer version.
    pub async fn open(database: &Database) -> Result<Self, Failure> {
        let store = database.open(Access::Visit).await?;
        let org = store.org(Scope::Engine, Owner::default().org_id).await?;
        Ok(Self { store, scope: Scope::org(org), clock: SystemClock })
    }

    /// Whether a process runs the schedules now.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn is_served(&self) -> Result<bool, Failure> {
        if let AnyStore::Sqlite(sqlite) = &self.store {
            return Ok(sqlite.is_served());
        }
        let now = self.store.now().await?;
        let is_alive = |node: &NodeRow| node.left_at.is_none() && node.lease_until > now;
        Ok(self.store.nodes().await?.iter().any(is_alive))
    }

    /// Checks a draft and computes its first ticks; writes nothing.
    ///
    /// # Errors
    /// When the draft is not valid.
    pub async fn preview(&self, draft: Draft) -> Result<Preview, Failure> {
        let definition = define(draft, self.clock.now())?;
        let living = self.store.schedule(self.scope.clone(), Selector::Name(definition.name.clone())).await?;
        if living.is_some_and(|row| row.deleted_at.is_none()) {
            return Err(Error::NameTaken { name: definition.name }.into());
        }
        let ticks = ticks(&definition, self.clock.now());
        Ok(Preview { definition, ticks })
    }

    /// Makes a schedule; its first tick comes strictly after now.
    ///
    /// # Errors
    /// When the draft is not valid, or its name is taken.
    pub async fn create(&self, draft: Draft) -> Result<ScheduleRow, Failure> {
        let now = self.now().await?;
        let definition = Arc::new(define(draft, now)?);
        let id = definition.id;
        let plan =
            Subject::of(&definition, Cursor::starting(now)).map(|subject| plan(&subject, Window::at(now)));
        let note = format!("created with `{}`", definition.spec);
        let write = Write::Create { definition, status: Status::Active, plan, declared_set: None };
        self.write(ScheduleWrite { write, kind: "schedule.created", note, now }).await?;
        self.get(Selector::Id(id)).await
    }

    /// The clock that decides, to the precision that the ledger keeps.
    async fn now(&self) -> Result<Timestamp, Failure> {
        Ok(to_microsecond(self.store.now().await?))
    }

    async fn write(&self, write: ScheduleWrite) -> Result<Written, Failure> {
        let mut written = self.store.write_schedules(self.scope.clone(), vec![write]).await?;
        Ok(written.pop().unwrap_or(Err(Error::Closed))?)
    }

    /// One schedule.
    ///
    /// # Errors
    /// When there is none.
    pub async fn get(&self, selector: Selector) -> Result<ScheduleRow, Failure> {
        let what = selector.to_string();
        Ok(self.store.schedule(self.scope.clone(), selector).await?.ok_or(Error::NotFound { what })?)
    }

    /// The living schedules by name.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn list(&self) -> Result<Vec<ScheduleRow>, Failure> {
        let mut cut = Cut::first(LIST_PAGE);
        let mut rows = Vec::new();
        loop {
            let page = self.store.schedules(self.scope.clone(), ScheduleFilter::default(), cut).await?;
            rows.extend(page.rows);
            match page.next {
                Some(after) => cut = Cut { after: Some(after), limit: LIST_PAGE },
                None => return Ok(rows),
            }
        }
    }

    /// The ledger of a schedule up to now, living or deleted.
    ///
    /// # Errors
    /// When there is no such schedule.
    pub async fn history(&self, selector: Selector, limit: u32) -> Result<History, Failure> {
        let schedule = self.get(selector).await?.definition.id;
        let filter =
            RunFilter { schedule: Some(schedule), until: Some(self.now().await?), ..RunFilter::default() };
        let (runs, ranges) =
            (self.store.runs(self.scope.clone(), filter.clone(), Cut::first(limit)).await?, filter);
        let ranges = self.store.ranges(self.scope.clone(), ranges, Cut::first(limit)).await?;
        Ok(History { runs: runs.rows, ranges: ranges.rows })
    }

    /// A living schedule.
    ///
    /// # Errors
    /// When there is none.
    pub async fn living(&self, selector: Selector) -> Result<ScheduleRow, Failure> {
        let what = selector.to_string();
        let row = self.get(selector).await?;
        if row.deleted_at.is_some() {
            return Err(Error::NotFound { what }.into());
        }
        Ok(row)
    }

    /// Deletes a schedule; its history stays and its name is free.
    ///
    /// # Errors
    /// When there is no such schedule.
    pub async fn delete(&self, selector: Selector) -> Result<ScheduleRow, Failure> {
        let id = self.living(selector).await?.definition.id;
        for _ in 0..CHANGE_TRIES_MAX {
            let now = self.now().await?;
            let row = self.living(Selector::Id(id)).await?;
            let open = self.store.open_rows(self.scope.clone(), row.key).await?;
            let open: Vec<Open> = open.iter().map(|row| row.open).collect();
            let timing = timing(&row.definition, &row.state).filter(|_| row.spent_at.is_none());
            let before = Before {
                timing: timing.as_ref(),
                cursor: row.state.cursor,
                open: &open,
                slept: row.state.status.reason(row.left_at.unwrap_or(now)),
                launched_through: row.launched_through,
            };
            let write = Write::Change {
                schedule: row.key,
                version: row.definition.version,
                from: row.state.cursor,
                definition: None,
                status: None,
                is_deleted: true,
                changed: change(&before, &Change::Delete, now),
                plan: None,
            };
            let note = "deleted".to_owned();
            match self.write(ScheduleWrite { write, kind: "schedule.deleted", note, now }).await? {
                // A planner was faster: its rows are decided as well.
                Written::Stale => {}
                _ => return self.get(Selector::Id(id)).await,
            }
        }
        Err(Failure::world("the schedule changes all the time; nothing was deleted"))
    }
}

/// Checks a draft and gives it its identity.
fn define(draft: Draft, now: Timestamp) -> Result<Schedule, Failure> {
    if let Some(problem) = name::problem(&draft.name) {
        return Err(Failure::invalid(problem, name::HINT));
    }
    let id = ScheduleId(uuid::Uuid::new_v4());
    let cron = Cron::parse_seeded(&draft.cron, draft.dialect, &id.to_string())?;
    let zone = Zone::get(&zone_name(&draft.timezone)?)?;
    if let Action::Process(process) = &draft.action
        && process.argv.first().is_none_or(String::is_empty)
    {
        return Err(Failure::invalid("no program was given", "write it after `--`, such as `-- echo hello`"));
    }
    let timing = Timing { created_at: now, ..Timing::new(cron, zone) };
    let schedule = Schedule::new(id, &draft.name, timing, draft.action);
    Ok(Schedule { spec: draft.cron, dialect: draft.dialect, ..schedule })
}

/// The next ticks of a definition.
fn ticks(definition: &Schedule, now: Timestamp) -> Vec<Timestamp> {
    let next = |after: &Timestamp| definition.when.timing()?.next(*after);
    std::iter::successors(next(&now), next).take(PREVIEW_TICKS).collect()
}

/// How late a run was launched, if it was.
pub fn lateness(run: &RunRow) -> Option<SignedDuration> {
    run.started_at.map(|started_at| started_at.duration_since(run.run.fire_at))
}
