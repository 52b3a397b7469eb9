//! The application layer: what a person can ask for, whichever door they come through.

use jiff::{SignedDuration, Timestamp};
use punctual_engine::{Clock, SystemClock};
use punctual_plan::{Action, Cursor, Schedule, ScheduleId, Subject, Window, plan};
use punctual_store::{
    Access, Error, NewSchedule, Page, RangeRow, RunRow, ScheduleRow, Selector, Sqlite, Store,
};
use punctual_time::{Cron, Dialect, Timing, Zone};

use crate::{Database, Failure, name, zone_name};

/// How many ticks a preview shows.
const PREVIEW_TICKS: usize = 5;

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
    store: Sqlite,
    clock: SystemClock,
}

impl App {
    /// Opens the ledger, beside a process that serves it or without one.
    ///
    /// # Errors
    /// When the file cannot be opened or was written by a newer version.
    pub fn open(database: &Database) -> Result<Self, Failure> {
        Ok(Self { store: Sqlite::open(database.path(), Access::Visit)?, clock: SystemClock })
    }

    /// Whether a process runs the schedules now.
    pub fn is_served(&self) -> bool {
        self.store.is_served()
    }

    /// Checks a draft and computes its first ticks; writes nothing.
    ///
    /// # Errors
    /// When the draft is not valid.
    pub async fn preview(&self, draft: Draft) -> Result<Preview, Failure> {
        let definition = define(draft, self.clock.now())?;
        let living = self.store.find(Selector::Name(definition.name.clone())).await?;
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
        let now = self.clock.now();
        let definition = define(draft, now)?;
        let id = definition.id;
        let subject = Subject::of(&definition, Cursor::starting(now)).ok_or_else(|| {
            Failure::invalid("the schedule has no ticks of its own", "write a cron expression")
        })?;
        let plan = plan(&subject, Window::at(now));
        self.store.create(NewSchedule { definition, created_at: now, plan }).await?;
        self.get(Selector::Id(id)).await
    }

    /// One schedule.
    ///
    /// # Errors
    /// When there is none.
    pub async fn get(&self, selector: Selector) -> Result<ScheduleRow, Failure> {
        let what = selector.to_string();
        Ok(self.store.find(selector).await?.ok_or(Error::NotFound { what })?)
    }

    /// The living schedules by name.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn list(&self) -> Result<Vec<ScheduleRow>, Failure> {
        Ok(self.store.schedules().await?)
    }

    /// The ledger of a schedule up to now, living or deleted.
    ///
    /// # Errors
    /// When there is no such schedule.
    pub async fn history(&self, selector: Selector, limit: u32) -> Result<History, Failure> {
        let id = self.get(selector).await?.definition.id;
        let page = Page { since: Timestamp::UNIX_EPOCH, until: self.clock.now(), limit };
        Ok(History { runs: self.store.runs(id, page).await?, ranges: self.store.ranges(id, page).await? })
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
        let row = self.living(selector).await?;
        self.store.delete(row.definition.id, self.clock.now()).await?;
        self.get(Selector::Id(row.definition.id)).await
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
    run.started_at.map(|started_at| started_at.duration_since(run.fire_at))
}
