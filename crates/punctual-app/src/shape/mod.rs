//! What is answered, whichever door was asked: the public JSON of every answer as a type of its own.
//!
//! The command line prints these types and the HTTP server sends them, so the two cannot drift apart; they can be read
//! back as well, so a command that asks a server shows the same tables as one that opens the database. What only those
//! tables need is in *asides*: they are `None` in what programs get.

mod act;
mod audit;
mod backfill;
mod maintenance;
pub mod proposal;
mod run;
mod schedule;
mod schedule_change;
mod system;
mod target;
mod why;
mod workflow;

pub use act::{Cancelled, CancelledRun, Retried};
pub use audit::{Audit, AuditLog, Audits, Broken, Chain, Event, Hole, OpenSince};
pub use backfill::{Backfilled, BackfilledRun, Past, WouldBackfill};
pub use maintenance::{Maintenance, Maintenances, Paused, Resumed};
pub use run::{
    Attempt, LatenessMs, Range, Run, RunAnswer, RunDetails, Runs, Summary, Tally, Waited, because, followed,
};
pub use schedule::{
    Definition, Drafted, Jitter, Launch, Policies, QueueFields, Schedule, Schedules, Whole, WholeSchedule,
    WorkflowFields,
};
pub use schedule_change::{
    Changed, ChangedMany, Created, FieldChange, Item, Outlook, Outlooks, Preview, PreviewTick, Requested,
    Triggered, TriggeredMany, TriggeredOne, Version, Versions, WouldCreate, WouldCreateMany, WouldTrigger,
    mark,
};
pub use system::{Breaker, BreakerAnswer, BreakerReset, Breakers, Node, Nodes, Transition, WholeBreaker};
pub use target::{policies, target};
pub use why::{Link, Why};
pub use workflow::{PutCounts, Workflow, WorkflowAnswer, WorkflowPut, Workflows, WorkflowsRemoved};
