//! **Punctual: the scheduler that can account for every tick.**
//!
//! This crate is what people use: [`Scheduler`], which programs embed, the `punctual` binary, and [`App`], the layer
//! that all its doors share. Start with [`Scheduler::initialize`] or [`App::open`].
//!
//! Invariants: a door never talks SQL and never decides; what it shows comes from the ledger.

pub mod scheduler;

pub use punctual_app::*;
pub use scheduler::{Scheduler, Task};
