//! What happens to a tick: pure decisions, each with its reason.
//!
//! Three functions follow a tick through its life. [`plan()`] looks ahead and turns ticks into ledger
//! entries before they are due; [`admit()`] decides at the instant whether an entry may start; [`settle()`]
//! turns an outcome into the run's end. [`retire()`] says what a deleted schedule leaves behind. All of
//! them return values that say everything that shall happen, so the store and the engine have nothing
//! left to choose.
//!
//! Invariants: this crate never reads a clock (`now` is a parameter), never waits, never touches a file,
//! a database or a random number, and never decides an instant at or before `decided_through` again.

mod admit;
mod catch_up;
mod id;
mod limit;
mod plan;
mod reason;
mod retire;
mod run;
mod schedule;
mod settle;

pub use admit::{Admission, Due, Verdict, admit};
pub use id::{Fence, OrgKey, RunKey, ScheduleId, ScheduleKey, idempotency_key};
pub use limit::{GRACE, LOOKAHEAD, LOOKAHEAD_MAX, MISSED_ROWS_MAX, PLAN_ENTRIES_MAX, RUN_TIMEOUT};
pub use plan::{Cursor, Entry, EntryState, LateRow, Plan, Range, Subject, Window, plan};
pub use reason::{Reason, ReasonError};
pub use retire::{Armed, Retired, retire};
pub use run::{Origin, RunStatus, UnknownName};
pub use schedule::{Definition, Target};
pub use settle::{InFlight, Outcome, Settlement, settle};
