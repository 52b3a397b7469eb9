//! What all doors of Punctual share: the commands, the declared files, and what they answer.
//!
//! [`App`] is one open database and everything a person or an agent can ask of it; the command line, the HTTP server and
//! the library are thin shells around it. [`declare`] reads and writes the YAML form, [`Trial`] plays a file through
//! before it is stored. Start with [`App::open`].
//!
//! Invariants: a door never talks SQL and never decides; what it shows comes from the ledger.

mod app;
pub mod ask;
mod database;
pub mod declare;
mod failure;
mod listen;
mod moment;
pub mod name;
mod secrets;
mod settings;
pub mod shape;
pub mod spec;
mod trial;
mod zone;

pub use app::{
    Acted, App, Applied, Audited, BACKFILL_MAX, Backfill, BackfillPlan, BreakerHistory, CANCEL_MAX,
    Cancelled, Check, Consultation, Created, Decide, Declaring, Deployed, Deployment, Difference, Door,
    Edition, Extent, Follow, Health, History, Holding, Identity, Instant, Kept, LEASE_MAX, LEASE_RUNS_MAX,
    LEASE_USUAL, LeaseAsked, Listing, Maintenance, Nodes, Occasion, OpenStretch, Outlook, Pages, PastEntry,
    PastTick, PauseSchedule, Programs, Proposal, Proposed, Publication, Publishing, RegisteredSchedule,
    Removal, Reported, Request, Retried, RunsAsked, SET, ScheduleRun, SharedChange, StartRun, Step, Toggle,
    Told, Triggered, UpsertSchedule, Upserted, Walk, Wanted, Wanting, Wish, WorkflowRow, differences,
    executor_status, is_alive, lateness, request_id, run_named, ticks, zone_of,
};
pub use database::Database;
pub use declare::duration;
pub use failure::{Failure, Kind};
pub use listen::listen_address;
pub use moment::moment;
pub use secrets::{SecretRow, Secrets};
pub use settings::{Described, FileSettings, Given, Resolved, SETTINGS, Settings, Source, own_file};
pub use trial::{Deed, Failures, RunTime, Trial, Tried, instant, outage};
pub use zone::zone_name;
