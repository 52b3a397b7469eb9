//! What goes into the store and what comes out of it, by the step of a tick's life that it belongs to.

mod admit;
mod audit;
mod document;
mod filter;
mod node;
mod plan;
mod run;
mod schedule;
mod settle;
mod whole;

pub use admit::{
    AdmitCommit, Ahead, DueBatch, DueRow, Expired, Hold, Illegible, Launchable, Moment, are_plain,
};
pub(crate) use admit::{Footing, PlainStart, plain_starts};
pub use audit::{Actor, AuditRow, Chain, OutboxRow, Retained, Retention, SealedThrough};
pub use document::{Answer, Answered, Document, DocumentKind, NewDocument, Shelf, Token};
pub use filter::{AuditFilter, Cut, Listed, RunFilter, ScheduleFilter, Selector};
pub use node::{Alive, Ask, Batch, BatchId, Heartbeat, Joined, Node, NodeRow, Orphan, Scope, Shards, Whose};
pub use plan::{Commit, PlanCommit, Plannable, PlannableBatch, timing};
pub use run::{BreakerRow, RangeRow, RunRow, TransitionRow};
pub use schedule::{NameRow, OpenRow, ScheduleRow, ScheduleWrite, UseKind, VersionRow, Write, Written};
pub use settle::{
    Attempt, AttemptToken, Begun, Cancellation, Entrusted, Held, Leased, Report, Settled, Shown, Started,
    Worker,
};
pub use whole::{Cell, DatabaseStatus, Finding, Table};
