//! Any store: the program chooses the database when it starts, so one type stands for all of them.

use jiff::Timestamp;
use punctual_plan::{Event, Fence, OrgKey, RunKey, ScheduleId, ScheduleKey};

use crate::*;

/// One of the stores.
#[allow(clippy::large_enum_variant, reason = "there is one of it in a process")]
pub enum AnyStore {
    /// In one file.
    Sqlite(Sqlite),
    /// In a server that several nodes share.
    Postgres(Postgres),
    /// In this process.
    Memory(Memory),
}

impl AnyStore {
    /// Lets the next attempt of a run come now; stale if none is planned.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn hasten(&self, scope: Scope, run: RunKey, now: Timestamp) -> Result<Commit, Error> {
        match self {
            Self::Sqlite(store) => store.hasten(scope, run, now).await,
            Self::Postgres(store) => store.hasten(scope, run, now).await,
            Self::Memory(_) => Err(Error::Forbidden { what: "hasten a run of a store in memory" }),
        }
    }
}

/// Hands a call to the store that there is.
macro_rules! hand_over {
    ($($name:ident($($argument:ident: $type:ty),*) -> $answer:ty;)+) => {
        impl Store for AnyStore {
            $(async fn $name(&self, $($argument: $type),*) -> $answer {
                match self {
                    Self::Sqlite(store) => store.$name($($argument),*).await,
                    Self::Postgres(store) => store.$name($($argument),*).await,
                    Self::Memory(store) => store.$name($($argument),*).await,
                }
            })+
        }
    };
}

hand_over! {
    now() -> Result<Timestamp, Error>;
    plannable(ask: Ask) -> Result<PlannableBatch, Error>;
    decidable(now: Timestamp, schedules: Vec<ScheduleKey>) -> Result<PlannableBatch, Error>;
    commit_plans(batch: Batch, plans: Vec<PlanCommit>) -> Result<Vec<Commit>, Error>;
    replan(fence: Fence, writes: Vec<ScheduleWrite>) -> Result<Option<Vec<Result<Written, Error>>>, Error>;
    due(ask: Ask) -> Result<DueBatch, Error>;
    admit(batch: Batch, admissions: Vec<AdmitCommit>) -> Result<Vec<Commit>, Error>;
    moment() -> Option<Moment>;
    admit_ahead(batch: Batch, ahead: Ahead) -> Result<Option<Vec<Commit>>, Error>;
    hold(batch: Batch, ahead: Ahead) -> Result<Hold, Error>;
    let_go(batch: BatchId) -> Result<(), Error>;
    mark_running(batch: Batch, started: Vec<Started>) -> Result<Vec<Commit>, Error>;
    settle(batch: Batch, reports: Vec<Report>) -> Result<Vec<Settled>, Error>;
    join(node: Node) -> Result<Joined, Error>;
    heartbeat(alive: Alive) -> Result<Heartbeat, Error>;
    leave(fence: Fence) -> Result<(), Error>;
    hand_back(attempts: Vec<Attempt>) -> Result<(), Error>;
    take_over(fence: Fence, limit: usize) -> Result<Vec<Orphan>, Error>;
    changed() -> ();
    sequence_outbox() -> Result<u64, Error>;
    outbox(scope: Scope, after: i64, limit: usize) -> Result<Vec<OutboxRow>, Error>;
    acknowledge_outbox(scope: Scope, through: i64) -> Result<u64, Error>;
    seal_audit(limit: usize) -> Result<Vec<SealedThrough>, Error>;
    retain(retention: Retention, now: Timestamp) -> Result<Retained, Error>;
    pause_invalid(now: Timestamp, schedules: Vec<ScheduleKey>) -> Result<usize, Error>;
    ended(attempts: Vec<Attempt>) -> Result<Vec<RunKey>, Error>;
    note(at: Timestamp, event: Event) -> Result<(), Error>;
    note_output(fence: Fence, shown: Vec<Shown>) -> Result<(), Error>;
    lease(scope: Scope, worker: Worker) -> Result<Vec<Leased>, Error>;
    extend_lease(scope: Scope, held: Held) -> Result<Commit, Error>;
    entrust(fence: Fence, entrusted: Entrusted) -> Result<Commit, Error>;
    begin(scope: Scope, begun: Begun) -> Result<Commit, Error>;
    org(scope: Scope, org_id: String) -> Result<OrgKey, Error>;
    write_schedules(scope: Scope, writes: Vec<ScheduleWrite>) -> Result<Vec<Result<Written, Error>>, Error>;
    schedule(scope: Scope, selector: Selector) -> Result<Option<ScheduleRow>, Error>;
    open_rows(scope: Scope, schedule: ScheduleKey) -> Result<Vec<OpenRow>, Error>;
    schedules(scope: Scope, filter: ScheduleFilter, cut: Cut) -> Result<Listed<ScheduleRow>, Error>;
    names(scope: Scope, cut: Cut) -> Result<Listed<NameRow>, Error>;
    versions(scope: Scope, schedule: ScheduleId) -> Result<Vec<VersionRow>, Error>;
    users_of(scope: Scope, kind: UseKind, name: String) -> Result<Vec<ScheduleKey>, Error>;
    runs(scope: Scope, filter: RunFilter, cut: Cut) -> Result<Listed<RunRow>, Error>;
    run(scope: Scope, run: RunKey) -> Result<Option<RunRow>, Error>;
    ranges(scope: Scope, filter: RunFilter, cut: Cut) -> Result<Listed<RangeRow>, Error>;
    audit(scope: Scope, filter: AuditFilter, cut: Cut) -> Result<Listed<AuditRow>, Error>;
    verify_audit(scope: Scope) -> Result<Chain, Error>;
    put_document(scope: Scope, document: NewDocument) -> Result<Document, Error>;
    document(scope: Scope, kind: DocumentKind, name: String) -> Result<Option<Document>, Error>;
    documents(scope: Scope, kind: DocumentKind, cut: Cut) -> Result<Listed<Document>, Error>;
    documents_of(wanted: Vec<Shelf>, limit: u32) -> Result<Vec<Vec<Document>>, Error>;
    remove_document(scope: Scope, kind: DocumentKind, name: String) -> Result<bool, Error>;
    put_token(scope: Scope, token: Token) -> Result<(), Error>;
    token(hash: String) -> Result<Option<(OrgKey, Token)>, Error>;
    tokens(scope: Scope) -> Result<Vec<Token>, Error>;
    answer_once(scope: Scope, answer: Answer) -> Result<Answered, Error>;
    breakers(scope: Scope) -> Result<Vec<BreakerRow>, Error>;
    transitions(scope: Scope, target: String, limit: u32) -> Result<Vec<TransitionRow>, Error>;
    reset_breaker(scope: Scope, target: String, now: Timestamp) -> Result<bool, Error>;
    nodes() -> Result<Vec<NodeRow>, Error>;
    living(scope: Scope) -> Result<u64, Error>;
    unplanned(scope: Scope, now: Timestamp) -> Result<u64, Error>;
    cancel_runs(scope: Scope, cancellation: Cancellation) -> Result<Vec<Commit>, Error>;
    status() -> Result<DatabaseStatus, Error>;
    check() -> Result<Vec<Finding>, Error>;
    read_table(table: Table, after: Option<Vec<Cell>>, limit: usize) -> Result<Vec<Vec<Cell>>, Error>;
    write_table(table: Table, rows: Vec<Vec<Cell>>) -> Result<(), Error>;
}
