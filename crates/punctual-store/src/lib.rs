//! Where it is kept: the promises made of tables, indexes and transactions.
//!
//! [`Store`] is the whole contract; [`Sqlite`] keeps it in one file. Start with the trait, then follow
//! one step: `sqlite/plan.rs`, `sqlite/admit.rs`, `sqlite/settle.rs`.
//!
//! Invariants: this crate never decides (it writes what `punctual-plan` decided), never launches, and
//! never answers a write before it is on disk.

mod error;
mod instant;
mod row;
mod sqlite;

use std::future::Future;

use jiff::Timestamp;
use punctual_plan::{Admission, Fence, ScheduleId};

pub use error::Error;
pub use instant::to_microsecond;
pub use row::{
    Commit, DueBatch, DueRow, Ended, Launchable, NewSchedule, Node, Page, PlanCommit, Plannable,
    PlannableBatch, RangeRow, RunRow, ScheduleRow, Selector, Started,
};
pub use sqlite::{Access, Sqlite};

/// One batch of schedules, rows or outcomes is at most this long.
pub const BATCH_MAX: usize = 5_000;

/// The ledger behind the engine and the doors.
///
/// Every method takes or gives a batch and is one transaction. A write that answered `Ok` is on disk.
/// Guards are part of the statements: a plan is committed only from the cursor it was made on, a row is
/// admitted only while it is armed and its schedule unclaimed, a run is changed only under its fence.
pub trait Store: Send + Sync + 'static {
    /// Schedules whose next unplanned tick is at or before `horizon`, with their late armed rows as of `now`.
    fn plannable(
        &self,
        now: Timestamp,
        horizon: Timestamp,
    ) -> impl Future<Output = Result<PlannableBatch, Error>> + Send;

    /// The nearest tick that no ledger row stands for yet.
    fn next_unplanned(&self) -> impl Future<Output = Result<Option<Timestamp>, Error>> + Send;

    /// Writes plans: each with its entries, ranges, audit events and cursor, or not at all if it is stale.
    fn commit_plans(&self, plans: Vec<PlanCommit>)
    -> impl Future<Output = Result<Vec<Commit>, Error>> + Send;

    /// Armed rows whose instant has come at `now`, and when the next one is due after them.
    fn due(&self, now: Timestamp) -> impl Future<Output = Result<DueBatch, Error>> + Send;

    /// Carries out admissions; gives back which of the starts got their claim.
    fn admit(
        &self,
        fence: Fence,
        now: Timestamp,
        admissions: Vec<Admission>,
    ) -> impl Future<Output = Result<Vec<Commit>, Error>> + Send;

    /// Notes that runs were launched.
    fn mark_running(
        &self,
        fence: Fence,
        started: Vec<Started>,
    ) -> impl Future<Output = Result<(), Error>> + Send;

    /// Ends runs, frees their claims and counts them; gives back which were still this fence's to end.
    fn settle(
        &self,
        fence: Fence,
        ended: Vec<Ended>,
    ) -> impl Future<Output = Result<Vec<Commit>, Error>> + Send;

    /// Registers a node with a new fence and hands it every run that was left in flight.
    fn take_over(&self, node: Node) -> impl Future<Output = Result<(Fence, Vec<Launchable>), Error>> + Send;

    /// Resolves when somebody else changed the database since the last call resolved.
    fn changed(&self) -> impl Future<Output = ()> + Send;

    /// Writes a schedule with the first window of its ticks.
    fn create(&self, schedule: NewSchedule) -> impl Future<Output = Result<(), Error>> + Send;

    /// Deletes a schedule: its history stays, its name is free, its armed rows are retired.
    fn delete(&self, id: ScheduleId, now: Timestamp) -> impl Future<Output = Result<(), Error>> + Send;

    /// The living schedules by name.
    fn schedules(&self) -> impl Future<Output = Result<Vec<ScheduleRow>, Error>> + Send;

    /// One schedule, living or (by id, or if its name was not taken again) deleted.
    fn find(&self, selector: Selector) -> impl Future<Output = Result<Option<ScheduleRow>, Error>> + Send;

    /// The ledger of a schedule, newest tick first.
    fn runs(&self, id: ScheduleId, page: Page) -> impl Future<Output = Result<Vec<RunRow>, Error>> + Send;

    /// The missed stretches of a schedule, newest first.
    fn ranges(&self, id: ScheduleId, page: Page)
    -> impl Future<Output = Result<Vec<RangeRow>, Error>> + Send;
}
