//! The ledger in a PostgreSQL server that several nodes share.
//!
//! Start with [`Postgres::open`]; `connection` has the transactions, each step of a tick's life its own file, and the
//! statements are the `.sql` files of the same verbs. Statements take one array a column and go from the keys in them
//! into an index, so that neither a batch nor a table that has grown changes their plan.

mod admit;
mod audit;
mod breakers;
mod change;
mod check;
mod claims;
mod clock;
mod connection;
mod create;
mod definitions;
mod documents;
mod due;
mod gather;
mod good;
mod hasten;
mod hold;
mod invalid;
mod ledger;
mod listen;
mod live;
mod migrate;
mod node;
mod outbox;
mod patience;
mod plan;
mod queue;
mod retention;
mod runs;
mod said;
mod schedules;
mod settle;
mod share;
mod tls;
mod verdict;
mod wait;
mod whole;
mod world;

use jiff::Timestamp;
use punctual_plan::rule::{Rule, holds};
use punctual_plan::{Event, Fence, OrgKey, RunKey, ScheduleId, ScheduleKey};

use crate::cache::Definitions;
use crate::orgs::Orgs;
use crate::{
    AdmitCommit, Ahead, Alive, Answer, Answered, Ask, Attempt, AuditFilter, AuditRow, Batch, BatchId, Begun,
    BreakerRow, Cancellation, Cell, Chain, Commit, Cut, DatabaseStatus, Document, DocumentKind, DueBatch,
    Entrusted, Error, Finding, Heartbeat, Held, Hold, Joined, Leased, Listed, Moment, NameRow, NewDocument,
    Node, NodeRow, OpenRow, Orphan, OutboxRow, PlanCommit, PlannableBatch, RangeRow, Report, Retained,
    Retention, RunFilter, RunRow, ScheduleFilter, ScheduleRow, ScheduleWrite, Scope, SealedThrough, Selector,
    Settled, Shelf, Shown, Started, Store, Table, Token, TransitionRow, UseKind, VersionRow, Worker, Written,
};
use clock::Clock;
pub use connection::PostgresSettings;
use connection::{Connections, Role, Tx, col};
use listen::Listener;
use said::is_duplicate;

/// The statement in `sql/postgres/NAME.sql`.
macro_rules! sql {
    ($name:literal) => {
        include_str!(concat!("../../sql/postgres/", $name, ".sql"))
    };
}
pub(crate) use sql;

/// A ledger in a PostgreSQL database.
pub struct Postgres {
    connections: Connections,
    cache: Definitions,
    clock: Clock,
    listener: Listener,
    retention: retention::Progress,
    held: hold::Held,
    gathering: gather::Gathering,
    sharing: share::Sharing,
    /// The keys of orgs, which never change and are asked for by every door.
    orgs: Orgs,
    /// The number of our tz database.
    tz: i64,
    /// By which we know our own notifications.
    name: String,
}

impl Postgres {
    /// Connects and brings the schema up to date.
    ///
    /// # Errors
    /// When the server cannot be reached or refuses, or a newer version of the program made the schema.
    pub async fn open(settings: PostgresSettings) -> Result<Self, Error> {
        let cache = Definitions::for_access(settings.access);
        let connections = Connections::new(settings)?;
        let tz = migrate::run(&connections).await?;
        Ok(Self {
            connections,
            cache,
            clock: Clock::default(),
            listener: Listener::default(),
            retention: retention::Progress::default(),
            held: hold::Held::default(),
            gathering: gather::Gathering::default(),
            sharing: share::Sharing::default(),
            orgs: Orgs::default(),
            tz,
            name: own_name(),
        })
    }

    /// Ends a batch: its id and its answer are part of its transaction. If the id is there already, what was done is
    /// undone and the first answer given back as the inner error; if the node's lease is over, it is undone as well.
    async fn answer<T>(
        &self,
        tx: Tx,
        by: By,
        result: Result<(String, T), Error>,
    ) -> Result<Result<T, String>, Error> {
        let (answer, value) = match result {
            Ok(done) => done,
            Err(error) => return tx.finish(Err(error)).await,
        };
        let batch = by.batch();
        let (id, now) = (batch.id.0.to_string(), batch.now.as_microsecond());
        let kept = match by {
            By::Node(_) => tx.run(sql!("insert_node_batch"), &[&id, &now, &answer, &batch.fence.0]).await,
            By::Token(_) => tx.run(sql!("insert_batch"), &[&id, &now, &answer]).await,
        };
        let error = match kept {
            Ok(0) => Error::LeaseLost,
            Ok(_) => {
                tx.commit().await?;
                return Ok(Ok(value));
            }
            Err(error) if is_duplicate(&error) && holds(Rule::BatchIsFound) => error,
            Err(error) => return tx.finish(Err(error)).await,
        };
        tx.rollback().await?;
        let tx = self.connections.begin(Role::Engine, "reading the answer of a batch").await?;
        let row = tx.row(sql!("find_batch"), &[&id]).await;
        let row = tx.over(row).await?;
        let before = row.map(|row| col::<String>(&row, 0)).transpose()?;
        Ok(Err(before.ok_or(error)?))
    }
}

/// By what right a batch writes.
#[derive(Clone, Copy)]
enum By {
    /// A node's lease, which has to last to its end.
    Node(Batch),
    /// What each row is compared with: the token of its attempt.
    Token(Batch),
}

impl By {
    fn batch(self) -> Batch {
        match self {
            Self::Node(batch) | Self::Token(batch) => batch,
        }
    }
}

/// Something that no other process is called.
fn own_name() -> String {
    use std::hash::{BuildHasher, Hasher};
    let chance = std::collections::hash_map::RandomState::new().build_hasher().finish();
    format!("{}-{chance:016x}", std::process::id())
}

/// How long after a schedule wanted planning it is said not to be planned.
const UNPLANNED_AFTER: jiff::SignedDuration = jiff::SignedDuration::from_secs(60);

impl Store for Postgres {
    async fn now(&self) -> Result<Timestamp, Error> {
        self.clock_now().await
    }

    async fn decidable(&self, now: Timestamp, schedules: Vec<ScheduleKey>) -> Result<PlannableBatch, Error> {
        self.read_decidable(now, &schedules).await
    }

    async fn plannable(&self, ask: Ask) -> Result<PlannableBatch, Error> {
        self.read_plannable(&ask).await
    }

    async fn commit_plans(&self, batch: Batch, plans: Vec<PlanCommit>) -> Result<Vec<Commit>, Error> {
        self.write_plan_batch(batch, &plans).await
    }

    async fn due(&self, ask: Ask) -> Result<DueBatch, Error> {
        self.read_due(&ask).await
    }

    async fn admit(&self, batch: Batch, admissions: Vec<AdmitCommit>) -> Result<Vec<Commit>, Error> {
        self.admit_batch(batch, &admissions).await
    }

    async fn moment(&self) -> Option<Moment> {
        Some(Moment::ANY)
    }

    async fn hold(&self, batch: Batch, ahead: Ahead) -> Result<Hold, Error> {
        self.hold_batch(batch, &ahead).await
    }

    async fn let_go(&self, batch: BatchId) -> Result<(), Error> {
        self.undo_held(batch).await
    }

    async fn admit_ahead(&self, batch: Batch, ahead: Ahead) -> Result<Option<Vec<Commit>>, Error> {
        self.admit_held(batch, &ahead).await
    }

    async fn mark_running(&self, batch: Batch, started: Vec<Started>) -> Result<Vec<Commit>, Error> {
        self.mark_batch(batch, &started).await
    }

    async fn settle(&self, batch: Batch, reports: Vec<Report>) -> Result<Vec<Settled>, Error> {
        self.settle_batch(batch, &reports).await
    }

    async fn join(&self, node: Node) -> Result<Joined, Error> {
        self.join_node(&node).await
    }

    async fn heartbeat(&self, alive: Alive) -> Result<Heartbeat, Error> {
        self.beat(alive).await
    }

    async fn hand_back(&self, attempts: Vec<Attempt>) -> Result<(), Error> {
        self.give_back_runs(&attempts).await
    }

    async fn leave(&self, fence: Fence) -> Result<(), Error> {
        self.leave_node(fence).await
    }

    async fn take_over(&self, fence: Fence, limit: usize) -> Result<Vec<Orphan>, Error> {
        self.take_runs(fence, limit).await
    }

    async fn changed(&self) {
        self.wait_for_change().await;
    }

    async fn sequence_outbox(&self) -> Result<u64, Error> {
        self.give_places().await
    }

    async fn outbox(&self, scope: Scope, after: i64, limit: usize) -> Result<Vec<OutboxRow>, Error> {
        self.list_outbox(&scope, after, limit).await
    }

    async fn acknowledge_outbox(&self, scope: Scope, through: i64) -> Result<u64, Error> {
        self.forget_outbox(&scope, through).await
    }

    async fn seal_audit(&self, limit: usize) -> Result<Vec<SealedThrough>, Error> {
        self.seal_events(limit).await
    }

    async fn retain(&self, retention: Retention, now: Timestamp) -> Result<Retained, Error> {
        self.retain_step(&retention, now).await
    }

    async fn pause_invalid(&self, now: Timestamp, schedules: Vec<ScheduleKey>) -> Result<usize, Error> {
        self.pause_unreadable(now, &schedules).await
    }

    async fn ended(&self, attempts: Vec<Attempt>) -> Result<Vec<RunKey>, Error> {
        self.ended_of(&attempts).await
    }

    async fn note(&self, at: Timestamp, event: Event) -> Result<(), Error> {
        self.note_of_installation(at, &event).await
    }

    async fn note_output(&self, fence: Fence, shown: Vec<Shown>) -> Result<(), Error> {
        self.keep_output(fence, &shown).await
    }

    async fn lease(&self, scope: Scope, worker: Worker) -> Result<Vec<Leased>, Error> {
        self.lease_runs(&scope, &worker).await
    }

    async fn extend_lease(&self, scope: Scope, held: Held) -> Result<Commit, Error> {
        self.hold_longer(&scope, &held).await
    }

    async fn entrust(&self, fence: Fence, entrusted: Entrusted) -> Result<Commit, Error> {
        self.give_token(fence, &entrusted).await
    }

    async fn begin(&self, scope: Scope, begun: Begun) -> Result<Commit, Error> {
        self.note_begun(&scope, &begun).await
    }

    async fn org(&self, scope: Scope, org_id: String) -> Result<OrgKey, Error> {
        if let Some(known) = self.orgs.find(&scope, &org_id) {
            return Ok(known);
        }
        let org = self.find_org(&scope, &org_id).await?;
        self.orgs.keep(org_id, org);
        Ok(org)
    }

    async fn write_schedules(
        &self,
        scope: Scope,
        mut writes: Vec<ScheduleWrite>,
    ) -> Result<Vec<Result<Written, Error>>, Error> {
        if let Some(one) = gather::take_single(&mut writes) {
            return self.write_gathered(scope, one).await.map(|written| vec![written]);
        }
        let result = self.write_all(&scope, &writes).await;
        crate::text::free(writes);
        result
    }

    async fn replan(
        &self,
        fence: Fence,
        writes: Vec<ScheduleWrite>,
    ) -> Result<Option<Vec<Result<Written, Error>>>, Error> {
        self.replan_all(fence, &writes).await
    }

    async fn schedule(&self, scope: Scope, selector: Selector) -> Result<Option<ScheduleRow>, Error> {
        match (&scope, &selector) {
            (Scope::Org { org, .. }, Selector::Id(id)) => self.share_schedule(*org, *id).await,
            _ => self.find_schedule(&scope, &selector).await,
        }
    }

    async fn open_rows(&self, scope: Scope, schedule: ScheduleKey) -> Result<Vec<OpenRow>, Error> {
        self.list_open(&scope, schedule).await
    }

    async fn schedules(
        &self,
        scope: Scope,
        filter: ScheduleFilter,
        cut: Cut,
    ) -> Result<Listed<ScheduleRow>, Error> {
        self.list_schedules(&scope, &filter, &cut).await
    }

    async fn names(&self, scope: Scope, cut: Cut) -> Result<Listed<NameRow>, Error> {
        self.list_names(&scope, &cut).await
    }

    async fn versions(&self, scope: Scope, schedule: ScheduleId) -> Result<Vec<VersionRow>, Error> {
        self.list_versions(&scope, schedule).await
    }

    async fn users_of(&self, scope: Scope, kind: UseKind, name: String) -> Result<Vec<ScheduleKey>, Error> {
        self.list_users(&scope, kind, &name).await
    }

    async fn runs(&self, scope: Scope, filter: RunFilter, cut: Cut) -> Result<Listed<RunRow>, Error> {
        self.list_runs(&scope, &filter, &cut).await
    }

    async fn run(&self, scope: Scope, run: RunKey) -> Result<Option<RunRow>, Error> {
        self.find_run(&scope, run).await
    }

    async fn ranges(&self, scope: Scope, filter: RunFilter, cut: Cut) -> Result<Listed<RangeRow>, Error> {
        self.list_ranges(&scope, &filter, &cut).await
    }

    async fn audit(&self, scope: Scope, filter: AuditFilter, cut: Cut) -> Result<Listed<AuditRow>, Error> {
        self.list_audit(&scope, &filter, &cut).await
    }

    async fn verify_audit(&self, scope: Scope) -> Result<Chain, Error> {
        self.check_chain(&scope).await
    }

    async fn put_document(&self, scope: Scope, document: NewDocument) -> Result<Document, Error> {
        self.write_document(&scope, &document).await
    }

    async fn document(
        &self,
        scope: Scope,
        kind: DocumentKind,
        name: String,
    ) -> Result<Option<Document>, Error> {
        self.find_document(&scope, kind, &name).await
    }

    async fn documents(&self, scope: Scope, kind: DocumentKind, cut: Cut) -> Result<Listed<Document>, Error> {
        self.list_documents(&scope, kind, &cut).await
    }

    async fn documents_of(&self, wanted: Vec<Shelf>, limit: u32) -> Result<Vec<Vec<Document>>, Error> {
        self.share_shelves(wanted, limit).await
    }

    async fn remove_document(&self, scope: Scope, kind: DocumentKind, name: String) -> Result<bool, Error> {
        self.delete_document(&scope, kind, &name).await
    }

    async fn put_token(&self, scope: Scope, token: Token) -> Result<(), Error> {
        self.write_token(&scope, &token).await
    }

    async fn token(&self, hash: String) -> Result<Option<(OrgKey, Token)>, Error> {
        self.find_token(&hash).await
    }

    async fn tokens(&self, scope: Scope) -> Result<Vec<Token>, Error> {
        self.list_tokens(&scope).await
    }

    async fn answer_once(&self, scope: Scope, answer: Answer) -> Result<Answered, Error> {
        self.keep_answer(&scope, &answer).await
    }

    async fn breakers(&self, scope: Scope) -> Result<Vec<BreakerRow>, Error> {
        self.list_breakers(&scope).await
    }

    async fn transitions(
        &self,
        scope: Scope,
        target: String,
        limit: u32,
    ) -> Result<Vec<TransitionRow>, Error> {
        self.list_transitions(&scope, &target, limit).await
    }

    async fn reset_breaker(&self, scope: Scope, target: String, now: Timestamp) -> Result<bool, Error> {
        self.close_breaker(&scope, &target, now).await
    }

    async fn nodes(&self) -> Result<Vec<NodeRow>, Error> {
        self.list_nodes().await
    }

    async fn living(&self, scope: Scope) -> Result<u64, Error> {
        self.count(&scope, sql!("living"), &[]).await
    }

    async fn unplanned(&self, scope: Scope, now: Timestamp) -> Result<u64, Error> {
        let late = now.saturating_sub(UNPLANNED_AFTER).unwrap_or(now).as_microsecond();
        self.count(&scope, sql!("count_unplanned"), &[&late]).await
    }

    async fn cancel_runs(&self, scope: Scope, cancellation: Cancellation) -> Result<Vec<Commit>, Error> {
        self.cancel_wanted(&scope, &cancellation).await
    }

    async fn status(&self) -> Result<DatabaseStatus, Error> {
        self.describe().await
    }

    async fn check(&self) -> Result<Vec<Finding>, Error> {
        self.find_faults().await
    }

    async fn read_table(
        &self,
        table: Table,
        after: Option<Vec<Cell>>,
        limit: usize,
    ) -> Result<Vec<Vec<Cell>>, Error> {
        self.read_rows(table, after, limit).await
    }

    async fn write_table(&self, table: Table, rows: Vec<Vec<Cell>>) -> Result<(), Error> {
        self.write_rows(table, &rows).await
    }
}
