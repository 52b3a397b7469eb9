//! **Punctual: the scheduler that can account for every tick.**
//!
//! This crate is what people use: the `punctual` binary, and [`App`], the layer that all its doors
//! share. Start with [`App::open`].
//!
//! Invariants: a door never talks SQL and never decides; what it shows comes from the ledger.

mod app;
mod database;
pub mod declare;
mod failure;
mod moment;
mod name;
mod settings;
mod trial;
mod zone;

pub use app::{
    Acted, App, Audited, BACKFILL_MAX, Backfill, BackfillPlan, BreakerHistory, CANCEL_MAX, Cancelled, Check,
    Consultation, Created, Difference, Edition, Extent, Follow, Health, History, Identity, Instant, Listing,
    Maintenance, Nodes, OpenStretch, Outlook, Page, PastEntry, PastTick, Request, Retried, RunsAsked, Step,
    Told, Triggered, Wanted, differences, is_alive, lateness, request_id, run_named, ticks, zone_of,
};
pub use database::Database;
pub use declare::duration;
pub use failure::{Failure, Kind};
pub use moment::moment;
pub use settings::{Described, FileSettings, Given, Resolved, SETTINGS, Settings, Source, own_file};
pub use trial::{Deed, Failures, RunTime, Trial, Tried, instant, outage};
pub use zone::zone_name;
