//! Where it is kept: the promises made of tables, indexes and transactions.
//!
//! [`Store`] is the whole contract. [`Sqlite`] keeps it in one file, `Postgres` in a server that several nodes share,
//! `Memory` in a process, for tests and simulations. Each has the same files: `plan`, `admit`, `settle`, … hold one
//! step of a tick's life. `conformance` is the suite that all of them pass.
//!
//! Invariants: this crate never decides (it writes what `punctual-plan` decided), never launches, and
//! never answers a write before it is on disk.

mod any;
mod cache;
#[cfg(feature = "conformance")]
pub mod conformance;
mod copying;
mod definition;
mod docket;
mod durability;
mod error;
pub mod fail_point;
mod instant;
mod memory;
mod orgs;
mod postgres;
mod room;
mod row;
mod sqlite;
mod stored;
mod text;
mod turn;

use std::future::Future;

use jiff::Timestamp;
use punctual_plan::{Event, Fence, OrgKey, RunKey, ScheduleId, ScheduleKey};

pub use any::AnyStore;
pub use copying::{copy_into, first_difference};
pub use definition::{Shared, Unreadable, calendar_body, decode, encode, quiet_hours_body};
pub use durability::Guarantee;
pub use error::Error;
pub use instant::to_microsecond;
pub use memory::{Fate, Memory};
pub use postgres::{Postgres, PostgresSettings};
pub use row::*;
pub use sqlite::{Access, Sqlite};
pub use turn::{NewRules, Turn};

/// One batch of schedules, rows or outcomes is at most this long.
pub const BATCH_MAX: usize = 5_000;

/// Virtual shards among which schedules are spread by the hash of their id: enough for a fair share of dozens of nodes.
pub const SHARDS: u16 = 256;

/// The fence of runs that their node gave back before it launched them; no node has it.
pub const HANDED_BACK: Fence = Fence(0);

/// The org under which the installation keeps what belongs to no tenant; nobody acts for it.
pub const INSTALLATION: &str = "punctual:installation";

/// What a run printed is kept up to this many bytes: its beginning and its end.
pub const OUTPUT_MAX: usize = 64 * 1024;

/// A run in flight that nobody answers for is given up this long after its own time limit.
pub const ANSWER_MARGIN_S: i64 = 30;

/// The ledger behind the engine and the doors.
///
/// Every method takes or gives a batch and is one transaction. A write that answered `Ok` is on disk. Guards are part
/// of the statements: a plan is committed only from the cursor and version it was made on, a row is admitted only
/// while it is open and its claims are free, a run is changed only under its fence or its attempt's token. One bad row
/// never fails a batch.
pub trait Store: Send + Sync + 'static {
    // ---- The hot path: what the engine does, for every org.

    /// The clock that decides: the database's own where nodes share one, else the host's.
    fn now(&self) -> impl Future<Output = Result<Timestamp, Error>> + Send;

    /// Active schedules that want planning at `ask.now`, with their late armed rows.
    fn plannable(&self, ask: Ask) -> impl Future<Output = Result<PlannableBatch, Error>> + Send;

    /// Of these schedules, those that are active, as [`Store::plannable`] gives them, however far they are planned: for
    /// ticks that were slept through and are decided as one.
    fn decidable(
        &self,
        now: Timestamp,
        schedules: Vec<ScheduleKey>,
    ) -> impl Future<Output = Result<PlannableBatch, Error>> + Send;

    /// Writes plans: each with its entries, ranges, audit events and cursor, or not at all if it is stale. A plan of a node
    /// with an older tz database than the newest one is stale.
    fn commit_plans(
        &self,
        batch: Batch,
        plans: Vec<PlanCommit>,
    ) -> impl Future<Output = Result<Vec<Commit>, Error>> + Send;

    /// Writes changes that a newer tz database makes, as [`Store::write_schedules`] does for the engine; nothing, if the
    /// node's own is not the newest any more.
    fn replan(
        &self,
        fence: Fence,
        writes: Vec<ScheduleWrite>,
    ) -> impl Future<Output = Result<Option<Vec<Result<Written, Error>>>, Error>> + Send;

    /// Rows that want to be looked at: armed and due, woken or overdue waiting ones, retries whose time has come;
    /// round-robin by org. With them the world they are judged in.
    fn due(&self, ask: Ask) -> impl Future<Output = Result<DueBatch, Error>> + Send;

    /// Carries out admissions: claims in key order, verdicts, effects on other runs, outbox rows, audit events.
    /// A start whose claims were taken meanwhile is stale and stays as it was.
    fn admit(
        &self,
        batch: Batch,
        admissions: Vec<AdmitCommit>,
    ) -> impl Future<Output = Result<Vec<Commit>, Error>> + Send;

    /// What is known of when something was last written that a verdict over a due row may depend on; none where that
    /// cannot be known without asking the database.
    fn moment(&self) -> impl Future<Output = Option<Moment>> + Send {
        std::future::ready(None)
    }

    /// The same as [`Store::admit`] for verdicts that were made ahead, on what was read after a moment was asked for: if
    /// anything they may depend on was written since, nothing is done and nothing given.
    fn admit_ahead(
        &self,
        batch: Batch,
        ahead: Ahead,
    ) -> impl Future<Output = Result<Option<Vec<Commit>>, Error>> + Send {
        let _ = (batch, ahead);
        std::future::ready(Ok(None))
    }

    /// Carries out verdicts that were made ahead up to their commit, which [`Store::admit_ahead`] brings at their instant
    /// under the same id, or does nothing where the commit is all that takes time. It is held for a second or two at most.
    fn hold(&self, batch: Batch, ahead: Ahead) -> impl Future<Output = Result<Hold, Error>> + Send {
        let _ = (batch, ahead);
        std::future::ready(Ok(Hold::Nothing))
    }

    /// Undoes what is held under a batch's id, if something is.
    fn let_go(&self, batch: BatchId) -> impl Future<Output = Result<(), Error>> + Send {
        let _ = batch;
        std::future::ready(Ok(()))
    }

    /// Notes that runs were launched.
    fn mark_running(
        &self,
        batch: Batch,
        started: Vec<Started>,
    ) -> impl Future<Output = Result<Vec<Commit>, Error>> + Send;

    /// Settles attempts: reads what the decision needs, lets `punctual_plan::settle` decide and writes the run, its
    /// claims, counters, breaker, chained rows, auto-disabling and woken rows, all in one transaction.
    fn settle(
        &self,
        batch: Batch,
        reports: Vec<Report>,
    ) -> impl Future<Output = Result<Vec<Settled>, Error>> + Send;

    /// Registers a node under a new fence.
    fn join(&self, node: Node) -> impl Future<Output = Result<Joined, Error>> + Send;

    /// Renews a node's lease, notes its clock and rebalances shards; an error if its lease was lost.
    fn heartbeat(&self, alive: Alive) -> impl Future<Output = Result<Heartbeat, Error>> + Send;

    /// Gives up a node's lease and shards.
    fn leave(&self, fence: Fence) -> impl Future<Output = Result<(), Error>> + Send;

    /// Gives back runs that were admitted and certainly not launched: they are under [`HANDED_BACK`] from then on, and
    /// whoever takes them over launches them. Those that are not enqueued under their fence any more stay as they are.
    fn hand_back(&self, attempts: Vec<Attempt>) -> impl Future<Output = Result<(), Error>> + Send;

    /// Hands the runs in flight of nodes whose lease is over (or who left) to this one, under its fence.
    fn take_over(
        &self,
        fence: Fence,
        limit: usize,
    ) -> impl Future<Output = Result<Vec<Orphan>, Error>> + Send;

    /// Resolves when somebody else changed the database since the last call resolved; a hint, never data.
    fn changed(&self) -> impl Future<Output = ()> + Send;

    /// Gives committed outbox rows their place in the stream; gives back how many.
    fn sequence_outbox(&self) -> impl Future<Output = Result<u64, Error>> + Send;

    /// Messages after a position, in order.
    fn outbox(
        &self,
        scope: Scope,
        after: i64,
        limit: usize,
    ) -> impl Future<Output = Result<Vec<OutboxRow>, Error>> + Send;

    /// Forgets messages up to a position.
    fn acknowledge_outbox(
        &self,
        scope: Scope,
        through: i64,
    ) -> impl Future<Output = Result<u64, Error>> + Send;

    /// Seals audit events into their org's hash chain; gives back how far each org is.
    fn seal_audit(&self, limit: usize) -> impl Future<Output = Result<Vec<SealedThrough>, Error>> + Send;

    /// One bounded step of retention.
    fn retain(
        &self,
        retention: Retention,
        now: Timestamp,
    ) -> impl Future<Output = Result<Retained, Error>> + Send;

    /// Takes schedules out of `active` as `paused_invalid` that cannot be read any more, with what is wrong; those that
    /// can be read by now stay. Gives back how many left.
    fn pause_invalid(
        &self,
        now: Timestamp,
        schedules: Vec<ScheduleKey>,
    ) -> impl Future<Output = Result<usize, Error>> + Send;

    /// Of the attempts that a node has in hand, those whose run is over, or is another attempt's or node's by now.
    fn ended(&self, attempts: Vec<Attempt>) -> impl Future<Output = Result<Vec<RunKey>, Error>> + Send;

    /// Appends an event of the installation itself, under the org [`INSTALLATION`]: no tenant is that org.
    fn note(&self, at: Timestamp, event: Event) -> impl Future<Output = Result<(), Error>> + Send;

    /// Keeps what running attempts under a fence have printed so far; those that are not in flight change nothing.
    fn note_output(&self, fence: Fence, shown: Vec<Shown>) -> impl Future<Output = Result<(), Error>> + Send;

    // ---- The queue: what workers do.

    /// Leases enqueued runs of a queue, each to one worker.
    fn lease(&self, scope: Scope, worker: Worker) -> impl Future<Output = Result<Vec<Leased>, Error>> + Send;

    /// Holds a leased run longer; stale if the token is not the attempt's any more.
    fn extend_lease(&self, scope: Scope, held: Held) -> impl Future<Output = Result<Commit, Error>> + Send;

    /// Gives an attempt in flight under a fence its token, before it is launched; stale if it is not any more.
    fn entrust(
        &self,
        fence: Fence,
        entrusted: Entrusted,
    ) -> impl Future<Output = Result<Commit, Error>> + Send;

    /// Notes that an executor has taken a run and will report its end (by [`Store::settle`], with the same token);
    /// stale if the token is not the attempt's any more, or the run is over.
    fn begin(&self, scope: Scope, begun: Begun) -> impl Future<Output = Result<Commit, Error>> + Send;

    // ---- The control plane: what people and agents do, within their org.

    /// The key of an org, made if it is new and the scope is the engine's.
    fn org(&self, scope: Scope, org_id: String) -> impl Future<Output = Result<OrgKey, Error>> + Send;

    /// Writes changes to schedules, each in its own guard; one that is stale or refused does not stop the others.
    fn write_schedules(
        &self,
        scope: Scope,
        writes: Vec<ScheduleWrite>,
    ) -> impl Future<Output = Result<Vec<Result<Written, Error>>, Error>> + Send;

    /// One schedule, living or (by id, or if its name was not taken again) deleted.
    fn schedule(
        &self,
        scope: Scope,
        selector: Selector,
    ) -> impl Future<Output = Result<Option<ScheduleRow>, Error>> + Send;

    /// Its rows that are not in flight and have not ended.
    fn open_rows(
        &self,
        scope: Scope,
        schedule: ScheduleKey,
    ) -> impl Future<Output = Result<Vec<OpenRow>, Error>> + Send;

    /// Schedules by name.
    fn schedules(
        &self,
        scope: Scope,
        filter: ScheduleFilter,
        cut: Cut,
    ) -> impl Future<Output = Result<Listed<ScheduleRow>, Error>> + Send;

    /// What schedules are called, living and deleted, by name.
    fn names(&self, scope: Scope, cut: Cut) -> impl Future<Output = Result<Listed<NameRow>, Error>> + Send {
        async move {
            let filter = ScheduleFilter { with_deleted: true, ..ScheduleFilter::default() };
            let listed = self.schedules(scope, filter, cut).await?;
            Ok(Listed { rows: listed.rows.into_iter().map(NameRow::from).collect(), next: listed.next })
        }
    }

    /// The versions of a schedule, newest first.
    fn versions(
        &self,
        scope: Scope,
        schedule: ScheduleId,
    ) -> impl Future<Output = Result<Vec<VersionRow>, Error>> + Send;

    /// Schedules that use something by name: a calendar, quiet hours, another schedule.
    fn users_of(
        &self,
        scope: Scope,
        kind: UseKind,
        name: String,
    ) -> impl Future<Output = Result<Vec<ScheduleKey>, Error>> + Send;

    /// Ledger entries, newest tick first.
    fn runs(
        &self,
        scope: Scope,
        filter: RunFilter,
        cut: Cut,
    ) -> impl Future<Output = Result<Listed<RunRow>, Error>> + Send;

    /// One ledger entry with all its attempts.
    fn run(&self, scope: Scope, run: RunKey) -> impl Future<Output = Result<Option<RunRow>, Error>> + Send;

    /// Stretches of equal non-fires and digests, newest first.
    fn ranges(
        &self,
        scope: Scope,
        filter: RunFilter,
        cut: Cut,
    ) -> impl Future<Output = Result<Listed<RangeRow>, Error>> + Send;

    /// Audit events, newest first.
    fn audit(
        &self,
        scope: Scope,
        filter: AuditFilter,
        cut: Cut,
    ) -> impl Future<Output = Result<Listed<AuditRow>, Error>> + Send;

    /// Checks the hash chain of the scope's org against its events.
    fn verify_audit(&self, scope: Scope) -> impl Future<Output = Result<Chain, Error>> + Send;

    /// Writes a shared thing; an error if it is not in the version that it shall replace.
    fn put_document(
        &self,
        scope: Scope,
        document: NewDocument,
    ) -> impl Future<Output = Result<Document, Error>> + Send;

    /// One shared thing.
    fn document(
        &self,
        scope: Scope,
        kind: DocumentKind,
        name: String,
    ) -> impl Future<Output = Result<Option<Document>, Error>> + Send;

    /// Shared things of a kind, by name.
    fn documents(
        &self,
        scope: Scope,
        kind: DocumentKind,
        cut: Cut,
    ) -> impl Future<Output = Result<Listed<Document>, Error>> + Send;

    /// The same for several at once: a list for each that is wanted.
    fn documents_of(
        &self,
        wanted: Vec<Shelf>,
        limit: u32,
    ) -> impl Future<Output = Result<Vec<Vec<Document>>, Error>> + Send {
        async move {
            let mut found = Vec::with_capacity(wanted.len());
            for Shelf { scope, kind } in wanted {
                found.push(self.documents(scope, kind, Cut::first(limit)).await?.rows);
            }
            Ok(found)
        }
    }

    /// Removes a shared thing; whether there was one.
    fn remove_document(
        &self,
        scope: Scope,
        kind: DocumentKind,
        name: String,
    ) -> impl Future<Output = Result<bool, Error>> + Send;

    /// Keeps a token's hash.
    fn put_token(&self, scope: Scope, token: Token) -> impl Future<Output = Result<(), Error>> + Send;

    /// Whose token has this hash: the only question that is asked before an org is known.
    fn token(&self, hash: String) -> impl Future<Output = Result<Option<(OrgKey, Token)>, Error>> + Send;

    /// The tokens of an org.
    fn tokens(&self, scope: Scope) -> impl Future<Output = Result<Vec<Token>, Error>> + Send;

    /// Keeps the answer to a request under its key, or gives back the one that is kept.
    fn answer_once(
        &self,
        scope: Scope,
        answer: Answer,
    ) -> impl Future<Output = Result<Answered, Error>> + Send;

    /// Breakers that are not plainly closed.
    fn breakers(&self, scope: Scope) -> impl Future<Output = Result<Vec<BreakerRow>, Error>> + Send;

    /// The moves of a target's breaker, newest first.
    fn transitions(
        &self,
        scope: Scope,
        target: String,
        limit: u32,
    ) -> impl Future<Output = Result<Vec<TransitionRow>, Error>> + Send;

    /// Closes a target's breaker by hand; whether it was not closed.
    fn reset_breaker(
        &self,
        scope: Scope,
        target: String,
        now: Timestamp,
    ) -> impl Future<Output = Result<bool, Error>> + Send;

    /// The nodes, newest first.
    fn nodes(&self) -> impl Future<Output = Result<Vec<NodeRow>, Error>> + Send;

    /// How many living schedules there are.
    fn living(&self, scope: Scope) -> impl Future<Output = Result<u64, Error>> + Send;

    /// How many schedules should have been planned and are not: none in a healthy installation.
    fn unplanned(&self, scope: Scope, now: Timestamp) -> impl Future<Output = Result<u64, Error>> + Send;

    /// Ends runs because a person wants it: those in flight as a report of their end would, open ones as cancelled.
    /// One that is over, is not in the scope or whose instant has not come is stale.
    fn cancel_runs(
        &self,
        scope: Scope,
        cancellation: Cancellation,
    ) -> impl Future<Output = Result<Vec<Commit>, Error>> + Send;

    // ---- The whole database: what operators do.

    /// What there is.
    fn status(&self) -> impl Future<Output = Result<DatabaseStatus, Error>> + Send;

    /// Looks for anything that the promises exclude, in bounded steps; an empty list is a clean bill.
    fn check(&self) -> impl Future<Output = Result<Vec<Finding>, Error>> + Send;

    /// Rows of a table after the one given, in the order of its key: for copying a database whole. `after` is the last
    /// row that was read, or only its key, which is its first [`Table::key_columns`] columns.
    fn read_table(
        &self,
        table: Table,
        after: Option<Vec<Cell>>,
        limit: usize,
    ) -> impl Future<Output = Result<Vec<Vec<Cell>>, Error>> + Send;

    /// Writes rows that were read from another database into the same table of this, which was empty before.
    fn write_table(
        &self,
        table: Table,
        rows: Vec<Vec<Cell>>,
    ) -> impl Future<Output = Result<(), Error>> + Send;
}
