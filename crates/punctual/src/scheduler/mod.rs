//! The scheduler that programs embed: declare the tasks at start-up, and they run.
//!
//! Start with [`Scheduler::initialize`] and [`Task::new`]. `set` compares what is declared with what is stored, `define`
//! makes definitions of tasks, `ledger` is the database as one program sees it, `clock` lets tests set the time.
//!
//! Invariants: a closure is never stored; a set that differs from the stored one is never started without being
//! accepted; what another program keeps in the same database is never planned, run or changed.

mod builder;
mod clock;
mod define;
mod error;
mod handle;
mod ledger;
mod memory;
mod set;
mod task;

pub use builder::Builder;
pub use clock::TestClock;
pub use error::Error;
pub use handle::Scheduler;
pub use memory::MemoryLedger;
pub use task::Task;

// What tasks are made of and what the ledger tells, under the names that they have everywhere.
pub use crate::History;
pub use punctual_engine::{CallbackError, Context, Metrics, Stopped};
pub use punctual_plan::{
    BreakerRule, CatchUp, ChainOn, Delivery, Difference, Drift, FieldDrift, Jitter, JitterMode, Launch,
    Object, Overlap, Policy, Reason, RunStatus, Why,
};
pub use punctual_store::{RangeRow, RunRow};
pub use punctual_time::{
    Bounds, Calendar, DayRange, Dialect, DstRule, Error as SpecError, Fold, Gap, Interval, Once, QuietHours,
    Spec, Weekdays, Windows,
};
