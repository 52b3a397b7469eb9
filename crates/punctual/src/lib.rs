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
mod name;
mod trial;
mod zone;

pub use app::{
    Acted, App, Applied, Created, Difference, Edition, History, Identity, Listing, Occasion, Outlook, Page,
    Proposal, Proposed, Published, Request, SET, SharedChange, Step, Toggle, Told, Triggered, Wanted, Wish,
    differences, lateness, ticks,
};
pub use database::Database;
pub use failure::{Failure, Kind};
pub use trial::{Deed, Failures, RunTime, Trial, Tried, instant, outage};
pub use zone::zone_name;
