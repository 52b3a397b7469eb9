//! The loop: wake, plan ahead, admit at the instant, launch, settle.
//!
//! Start with [`Engine`] and the loop in `engine.rs`; each step of a tick has its own file.
//!
//! Invariants: the engine never launches what is not admitted in a committed transaction, never waits
//! for a run inside its loop, and keeps nothing in memory that the ledger and the launch journal cannot
//! give back after a crash.

mod admitter;
mod batch;
mod clock;
mod complaint;
mod engine;
mod journal;
mod launcher;
mod membership;
mod planner;
mod recover;
mod settler;
mod target;
mod wake;

pub use clock::{Clock, SystemClock};
pub use engine::{Engine, Settings, StartError, Stopped};
pub use journal::Journal;
