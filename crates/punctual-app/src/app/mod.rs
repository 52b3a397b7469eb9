//! The application layer: what a person can ask for, whichever door they come through.
//!
//! Start with [`App::open`]. `draft` turns keys into a definition, `create` stores it, `change` is the one loop that
//! changes schedules, `propose` and `apply` bring a file in, `trigger` asks for runs, `list` and `versions` read.

mod act;
mod apply;
mod audit;
mod backfill;
mod change;
mod create;
mod doctor;
mod draft;
mod find;
mod follow;
mod identity;
mod list;
mod maintenance;
mod outlook;
mod propose;
mod publish;
mod queue;
mod registered;
mod registrar;
mod runs;
mod shared;
mod system;
mod trigger;
mod trigger_based;
mod versions;
mod why;
mod workflow;

use std::sync::Arc;

use jiff::Timestamp;
use punctual_plan::{Pace, Trace};
use punctual_store::{
    Access, AnyStore, Error, INSTALLATION, NodeRow, ScheduleFilter, ScheduleRow, ScheduleWrite, Scope,
    Selector, Store, Written, to_microsecond,
};

pub use act::{CANCEL_MAX, Cancelled, Retried};
pub use apply::{Applied, Occasion};
pub use audit::{Audited, Open as OpenStretch};
pub use backfill::{BACKFILL_MAX, Backfill, BackfillPlan, PastEntry, PastTick};
pub use change::{Acted, Decide, Step};
pub use create::{Created, Request};
pub use doctor::{Check, Consultation, Health};
pub use draft::Told;
pub use find::{run_named, zone_of};
pub use follow::Follow;
pub use identity::Identity;
pub use list::{Listing, Pages};
pub use maintenance::{Extent, Maintenance};
pub use outlook::{Outlook, ticks};
pub use propose::{Declaring, Proposal, Proposed, SET, Toggle, Wanting};
pub use publish::{Publication, Publishing, Wish};
pub use queue::{Holding, LEASE_MAX, LEASE_RUNS_MAX, LEASE_USUAL, LeaseAsked, Reported};
pub use registered::{
    PauseSchedule, RegisteredSchedule, ScheduleRun, StartRun, UpsertSchedule, Upserted, executor_status,
};
pub use runs::{History, RunsAsked, Walk, lateness, request_id};
pub use shared::SharedChange;
pub use system::{BreakerHistory, Nodes, is_alive};
pub use trigger::{Triggered, Wanted};
pub use versions::{Difference, Edition, differences};
pub use why::Instant;
pub use workflow::{Deployed, Deployment, Kept, Removal, WorkflowRow};

use crate::declare::{Defaults, nearest};
use crate::{Database, Failure, Settings};

/// Names among which the one that was meant is looked for.
const NAMES_MAX: u32 = 1_000;

/// An open ledger, and on whose behalf it is used.
#[derive(Clone)]
pub struct App {
    store: Arc<AnyStore>,
    scope: Scope,
    identity: Identity,
    door: Door,
    /// The trace of whoever asks.
    trace: Option<Trace>,
    /// How far ahead a change plans.
    pace: Pace,
}

/// How people come to the ledger.
#[derive(Clone)]
pub struct Door {
    /// Who is said to have acted where nobody says who they are.
    pub actor: &'static str,
    /// How a problem with a key is told, such as by its flag.
    pub told: fn(&str) -> String,
    /// The programs that new schedules may run.
    pub programs: Programs,
    /// What schedules are that do not say; by the settings of this process if not given.
    pub defaults: Option<Defaults>,
}

impl Default for Door {
    fn default() -> Self {
        Self { actor: "the command line", told: str::to_owned, programs: Programs::Any, defaults: None }
    }
}

/// The programs that new schedules may run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Programs {
    /// Any: whoever comes through this door could open the database as well.
    Any,
    /// Those whose path is among these.
    Only(Arc<[String]>),
}

impl App {
    /// Opens the ledger, beside a process that serves it or without one. The org is made when it is first used.
    ///
    /// # Errors
    /// When it cannot be opened or was written by a newer version.
    pub async fn open(database: &Database, identity: Identity) -> Result<Self, Failure> {
        let store = Arc::new(database.open(Access::Visit).await?);
        Self::over(store, identity).await
    }

    /// The same over a ledger that is open already.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn over(store: Arc<AnyStore>, identity: Identity) -> Result<Self, Failure> {
        let scope = identity.scope(&store).await?;
        Ok(Self::on(store, scope, identity))
    }

    /// The same within a scope that is known already.
    pub fn on(store: Arc<AnyStore>, scope: Scope, identity: Identity) -> Self {
        Self { store, scope, identity, door: Door::default(), trace: None, pace: Pace::default() }
    }

    /// The same for those who come through another door.
    #[must_use]
    pub fn through(self, door: Door) -> Self {
        Self { door, ..self }
    }

    /// The same for somebody who takes part in a trace: the runs that they ask for belong to it.
    #[must_use]
    pub fn within(self, trace: Option<Trace>) -> Self {
        Self { trace, ..self }
    }

    /// Lets schedules that do not say be as these settings say.
    #[must_use]
    pub fn with_settings(mut self, settings: &Settings) -> Self {
        self.door.defaults = Some(settings.defaults());
        self.planning_by(settings.pace())
    }

    /// Lets changes plan as far ahead as those who run the schedules.
    #[must_use]
    pub fn planning_by(self, pace: Pace) -> Self {
        Self { pace, ..self }
    }

    /// How people come here.
    pub fn door(&self) -> &Door {
        &self.door
    }

    /// Who is said to have done something.
    pub fn actor(&self) -> &str {
        self.identity.user_id.as_deref().unwrap_or(self.door.actor)
    }

    /// The ledger itself.
    pub fn store(&self) -> &AnyStore {
        &self.store
    }

    /// The org and user that are acted for.
    pub fn scope(&self) -> Scope {
        self.scope.clone()
    }

    /// What belongs to the installation and to no tenant: its pause, and what happened to its clocks. Nobody acts for
    /// this org, and nothing of a tenant's is in it.
    async fn of_installation(&self) -> Result<Scope, Failure> {
        let org = self.store.org(Scope::Engine, INSTALLATION.to_owned()).await?;
        Ok(Scope::Org { org, user: self.identity.user_id.clone() })
    }

    /// Who acts.
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// Whether a process runs the schedules now.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn is_served(&self) -> Result<bool, Failure> {
        if let AnyStore::Sqlite(sqlite) = self.store.as_ref() {
            return Ok(sqlite.is_served());
        }
        let now = self.store.now().await?;
        let is_alive = |node: &NodeRow| node.left_at.is_none() && node.lease_until > now;
        Ok(self.store.nodes().await?.iter().any(is_alive))
    }

    /// The clock that decides, to the precision that the ledger keeps.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn now(&self) -> Result<Timestamp, Failure> {
        Ok(to_microsecond(self.store.now().await?))
    }

    /// One schedule, living or deleted.
    ///
    /// # Errors
    /// When there is none, with the one that was probably meant.
    pub async fn get(&self, selector: Selector) -> Result<ScheduleRow, Failure> {
        match self.store.schedule(self.scope(), selector.clone()).await? {
            Some(row) => Ok(row),
            None => Err(self.not_found(&selector).await?),
        }
    }

    /// A living schedule.
    ///
    /// # Errors
    /// When there is none, with the one that was probably meant.
    pub async fn living(&self, selector: Selector) -> Result<ScheduleRow, Failure> {
        match self.store.schedule(self.scope(), selector.clone()).await? {
            Some(row) if row.deleted_at.is_none() => Ok(row),
            _ => Err(self.not_found(&selector).await?),
        }
    }

    /// That there is no such schedule, and which one was probably meant.
    async fn not_found(&self, selector: &Selector) -> Result<Failure, Failure> {
        let mut failure = Failure::from(Error::NotFound { what: selector.to_string() });
        if let Selector::Name(name) = selector {
            let cut = punctual_store::Cut::first(NAMES_MAX);
            let page = self.store.schedules(self.scope(), ScheduleFilter::default(), cut).await?;
            let known = page.rows.iter().map(|row| row.definition.name.as_str());
            if let Some(meant) = nearest::meant(name, known) {
                failure.hint = Some(format!("did you mean `{meant}`?"));
            }
        }
        Ok(failure)
    }

    async fn write(&self, write: ScheduleWrite) -> Result<Written, Failure> {
        let mut written = self.store.write_schedules(self.scope(), vec![write]).await?;
        Ok(written.pop().unwrap_or(Err(Error::Closed))?)
    }
}
