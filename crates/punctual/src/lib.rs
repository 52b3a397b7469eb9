//! **Punctual: the scheduler that can account for every tick.**
//!
//! This crate is what people use: [`Scheduler`], which programs embed, the `punctual` binary, and [`App`], the layer
//! that all its doors share. Start with [`Scheduler::initialize`] or [`App::create`].
//!
//! Invariants: a door never talks SQL and never decides; what it shows comes from the ledger.

mod app;
mod database;
pub mod declare;
mod failure;
mod name;
mod owner;
pub mod scheduler;
mod secrets;
mod trial;
mod zone;

pub use app::{App, Draft, History, Preview, lateness};
pub use database::Database;
pub use failure::{Failure, Kind};
pub use owner::{owner_of_environment, scope_of};
pub use scheduler::{Scheduler, Task};
pub use secrets::{SecretRow, Secrets};
pub use trial::{Deed, Failures, RunTime, Trial, Tried, instant, outage};
pub use zone::zone_name;
