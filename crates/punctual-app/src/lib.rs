//! What all doors of Punctual share: the commands, the declared files, and what they answer.
//!
//! [`App`] is one open database and everything a person or an agent can ask of it; the command line, the HTTP server and
//! the library are thin shells around it. [`declare`] reads and writes the YAML form, [`Trial`] plays a file through
//! before it is stored. Start with [`App::open`].
//!
//! Invariants: a door never talks SQL and never decides; what it shows comes from the ledger.

mod app;
mod database;
pub mod declare;
mod failure;
mod moment;
pub mod name;
mod secrets;
mod settings;
mod trial;
mod zone;

pub use app::{
    Acted, App, Applied, Audited, BACKFILL_MAX, Backfill, BackfillPlan, BreakerHistory, CANCEL_MAX,
    Cancelled, Check, Consultation, Created, Difference, Edition, Extent, Follow, Health, History, Identity,
    Instant, Listing, Maintenance, Nodes, Occasion, OpenStretch, Outlook, Pages, PastEntry, PastTick,
    Proposal, Proposed, Publication, Publishing, Request, Retried, RunsAsked, SET, SharedChange, Step,
    Toggle, Told, Triggered, Walk, Wanted, Wanting, Wish, differences, is_alive, lateness, request_id,
    run_named, ticks, zone_of,
};
pub use database::Database;
pub use declare::duration;
pub use failure::{Failure, Kind};
pub use moment::moment;
pub use secrets::{SecretRow, Secrets};
pub use settings::{Described, FileSettings, Given, Resolved, SETTINGS, Settings, Source, own_file};
pub use trial::{Deed, Failures, RunTime, Trial, Tried, instant, outage};
pub use zone::zone_name;
