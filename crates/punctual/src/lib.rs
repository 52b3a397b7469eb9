//! **Punctual: the scheduler that can account for every tick.**
//!
//! This crate is what people use: [`Scheduler`], which programs embed, the `punctual` binary, and [`App`], the layer
//! that all its doors share. Start with [`Scheduler::initialize`] or [`App::open`].
//!
//! Invariants: a door never talks SQL and never decides; what it shows comes from the ledger.

mod app;
mod database;
pub mod declare;
mod failure;
mod moment;
mod name;
pub mod scheduler;
mod secrets;
mod settings;
mod trial;
mod zone;

pub use app::{
    Acted, App, Applied, Audited, BACKFILL_MAX, Backfill, BackfillPlan, BreakerHistory, CANCEL_MAX,
    Cancelled, Check, Consultation, Created, Difference, Edition, Extent, Follow, Health, History, Identity,
    Instant, Listing, Maintenance, Nodes, Occasion, OpenStretch, Outlook, Page, PastEntry, PastTick,
    Proposal, Proposed, Published, Request, Retried, RunsAsked, SET, SharedChange, Step, Toggle, Told,
    Triggered, Wanted, Wish, differences, is_alive, lateness, request_id, run_named, ticks, zone_of,
};
pub use database::Database;
pub use declare::duration;
pub use failure::{Failure, Kind};
pub use moment::moment;
pub use scheduler::{Scheduler, Task};
pub use secrets::{SecretRow, Secrets};
pub use settings::{Described, FileSettings, Given, Resolved, SETTINGS, Settings, Source, own_file};
pub use trial::{Deed, Failures, RunTime, Trial, Tried, instant, outage};
pub use zone::zone_name;
