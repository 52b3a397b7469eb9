//! What happens to a tick: pure decisions, each with its reason.
//!
//! Three functions follow a tick through its life. [`plan()`] looks ahead and turns ticks into ledger
//! entries before they are due; [`admit()`] decides at the instant whether an entry may start; [`settle()`]
//! turns an outcome into the run's end. [`change()`] says what an edit, a pause or a deletion leaves behind. All of
//! them return values that say everything that shall happen, so the store and the engine have nothing
//! left to choose; [`why()`] retells what they decided.
//!
//! Invariants: this crate never reads a clock (`now` is a parameter), never waits, never touches a file,
//! a database or a random number, and never decides an instant at or before `decided_through` again.

mod admit;
mod audit;
mod breaker;
mod change;
mod diff;
mod event;
mod facts;
mod fires;
mod id;
mod jitter;
mod limit;
mod message;
mod moved;
mod name;
mod pace;
mod plan;
mod policy;
mod reason;
mod reference;
pub mod rule;
mod run;
mod schedule;
mod settle;
mod simulate;
mod state;
mod stencil;
mod target;
mod trace;
mod why;
mod world;

pub use admit::{Admission, Claim, Due, Effect, Verdict, admit};
pub use audit::{Audit, Basis, Hole, Recorded, Span, audit_ledger};
pub use breaker::{Breaker, BreakerRule};
pub use change::{Before, Change, Changed, Open, OpenKind, change, resume};
pub use diff::{Comparison, Declaration, Difference, Drift, FieldDrift, Stored, diff};
pub use event::{Event, Noted, admission_event, end_event, plan_events};
pub use facts::Facts;
pub use fires::{FiresChanged, fires_changed};
pub use id::{Fence, OrgKey, RunKey, ScheduleId, ScheduleKey, idempotency_key, run_key};
pub use limit::*;
pub use message::{
    BadMessage, Fault, MESSAGE_BYTES_MAX, MESSAGE_CHANNEL, check_message, message_event, message_id,
};
pub use moved::{ArmedTick, Foreseen, Moved, moved};
pub use name::{Named, UnknownName};
pub use pace::Pace;
pub use plan::{
    Closed, Cursor, Entry, EntryState, LateRow, NonFire, Plan, Range, Refired, Subject, Window, plan,
    plan_first,
};
pub use policy::{CatchUp, Delivery, Dependency, Jitter, JitterMode, Launch, Overlap, Policy};
pub use reason::{Described, Reason, ReasonError};
pub use reference::{BadReference, Piece, Reference, Template};
pub use run::{Attempt, OrgLimit, Origin, Run, RunState, RunStatus, Wait, Waiting};
pub use schedule::{Chain, ChainOn, Owner, Schedule, When};
pub use settle::{Alert, Chained, Follower, InFlight, Next, Outcome, Settlement, Situation, settle};
pub use simulate::{
    Account, Act, Behaviour, Edit, Failing, How, Logged, Member, Outage, RangeRecord, Request, Scenario,
    Simulated, Version, simulate,
};
pub use state::{Anchors, Counters, State, Status};
pub use stencil::{BadStencil, Mark, RUN_FIELDS, Stencil, ValueForm};
pub use target::{
    Action, CloudEvents, Executor, Method, Object, Process, ProcessLimits, Queue, Target, Webhook, Workflow,
};
pub use trace::{BadTrace, Trace};
pub use why::{Inquiry, Link, LinkEffect, Neighbour, Step, Upset, Why, local_instant, referred_runs, why};
pub use world::{Lane, OrgLimits, OrgUse, OverLimit, Room, RunsLeft, Standing, Traffic, Upstream, World};
