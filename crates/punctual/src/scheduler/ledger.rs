//! The ledger as one program sees it: its own tasks only, and by its own clock.
//!
//! A database may hold the tasks of several programs. Each of them has closures for its own tasks alone, so each plans
//! and admits only those; what the others have is theirs, whether they run at the moment or not.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, mpsc};
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};
use punctual_engine::Clock;
use punctual_plan::{Action, Event, Fence, OrgKey, RunKey, Schedule, ScheduleId, ScheduleKey, Why};
use punctual_store::*;
use tokio::sync::OwnedMutexGuard;

use super::clock::Wall;
use crate::{App, Database, Identity};

/// How long a lease lasts while the scheduler lives by another clock than the database: longer than any test stands
/// still, and so long that days of a test are not spent on renewing it.
const TEST_LEASE: SignedDuration = SignedDuration::from_mins(15);

/// How long such a scheduler sleeps when nothing is due: nobody else writes into its ledger.
pub(super) const TEST_IDLE: Duration = Duration::from_secs(300);

/// How often such a lease is renewed in the database, what others left looked for, and messages and events put in order:
/// by the host's clock, for days of a test pass in no time.
const TEST_PAUSE: Duration = Duration::from_secs(10);

/// A store behind which a program keeps its tasks.
pub(super) struct Ledger {
    store: Arc<AnyStore>,
    clock: Wall,
    /// How often the clock of a test was set when that was last looked at.
    stepped: AtomicU64,
    own: OnceLock<Own>,
    rare: Mutex<Rare>,
    /// That nobody else serves a ledger in memory.
    _served: Option<OwnedMutexGuard<()>>,
}

/// The tasks that this program has closures for.
pub(super) struct Own {
    pub(super) org: OrgKey,
    pub(super) tasks: HashSet<String>,
}

/// When something was last done that need not be done each second of a test.
#[derive(Default)]
struct Rare {
    beat: Option<(Instant, Fence, Heartbeat)>,
    taken: Option<Instant>,
    sequenced: Option<Instant>,
    sealed: Option<Instant>,
    counted: Option<Instant>,
    /// The last count.
    unplanned: u64,
    /// The last look at what is due, if there was nothing; forgotten with the next call that may change something.
    idle: Option<DueBatch>,
    /// How many calls have ended that may have changed something.
    calls: u64,
}

impl Rare {
    fn forget_idle(&mut self) {
        self.idle = None;
        self.calls += 1;
    }
}

/// While it lives, a paused runtime does not take the wait for a database for idleness and let time pass.
struct Hold {
    _end: mpsc::Sender<()>,
}

impl Hold {
    /// Work on another thread is what keeps a paused runtime from letting time pass.
    fn begin() -> Self {
        let (end, ended) = mpsc::channel::<()>();
        tokio::task::spawn_blocking(move || ended.recv());
        Self { _end: end }
    }
}

impl Ledger {
    pub(super) fn new(store: AnyStore, clock: Wall, served: Option<OwnedMutexGuard<()>>) -> Self {
        let stepped = AtomicU64::new(clock.steps());
        Self {
            store: Arc::new(store),
            clock,
            stepped,
            own: OnceLock::new(),
            rare: Mutex::default(),
            _served: served,
        }
    }

    /// Opens a database, as the one that runs tasks in it.
    pub(super) async fn open(database: &Database, clock: Wall) -> Result<Self, super::Error> {
        let _held = matches!(clock, Wall::Test(_)).then(Hold::begin);
        let ledger = |store| Self::new(store, clock, None);
        // Through the store's own error, which says more than a failure that was made for the command line.
        match database {
            Database::Sqlite { path } => Ok(ledger(AnyStore::Sqlite(Sqlite::open(path, Access::Serve)?))),
            Database::Postgres { .. } => Ok(ledger(database.open(Access::Serve).await?)),
        }
    }

    /// Says which tasks are this program's; before that it plans and admits nothing.
    pub(super) fn claim(&self, own: Own) {
        // A scheduler declares its tasks once.
        let _ = self.own.set(own);
    }

    fn is_own(&self, org: OrgKey, definition: &Schedule) -> bool {
        let Action::Callback { task } = &definition.target.action else { return false };
        self.own.get().is_some_and(|own| own.org == org && own.tasks.contains(task))
    }

    fn is_test(&self) -> bool {
        matches!(self.clock, Wall::Test(_))
    }

    fn hold(&self) -> Option<Hold> {
        if !self.is_test() || matches!(*self.store, AnyStore::Memory(_)) {
            return None;
        }
        Some(Hold::begin())
    }

    /// Whether something that need not be done each second of a test is to be done now.
    fn is_time(&self, last: impl FnOnce(&mut Rare) -> &mut Option<Instant>) -> bool {
        if !self.is_test() {
            return true;
        }
        let mut rare = self.rare();
        let last = last(&mut rare);
        let is_time = last.is_none_or(|at| at.elapsed() >= TEST_PAUSE);
        if is_time {
            *last = Some(Instant::now());
        }
        is_time
    }

    fn rare(&self) -> MutexGuard<'_, Rare> {
        self.rare.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the last look gave, if there is still nothing to do: in a test nobody else writes into the ledger.
    fn still_idle(&self, ask: &Ask) -> Option<DueBatch> {
        let idle = self.rare().idle.clone().filter(|_| self.is_test())?;
        idle.next_look_at.is_none_or(|next| next > ask.now).then_some(idle)
    }

    /// A heartbeat of a test: the lease is one by the database's clock, and told by the scheduler's.
    async fn beat(&self, alive: Alive) -> Result<Heartbeat, Error> {
        let fence = alive.fence;
        let known = self.rare().beat.clone();
        let recent = known.filter(|(at, of, _)| *of == fence && at.elapsed() < TEST_PAUSE);
        let beat = match recent {
            Some((_, _, beat)) => beat,
            None => {
                let beat = self.store.heartbeat(alive).await?;
                self.rare().beat = Some((Instant::now(), fence, beat.clone()));
                beat
            }
        };
        let now = self.clock.now();
        Ok(Heartbeat { now, lease_until: now.saturating_add(TEST_LEASE).unwrap_or(Timestamp::MAX), ..beat })
    }
}

impl Ledger {
    /// Explains what became of a task at an instant, or what will.
    pub(super) async fn why(
        &self,
        scope: Scope,
        row: ScheduleRow,
        at: Timestamp,
    ) -> Result<Why, super::Error> {
        let _held = self.hold();
        let now = self.now().await?;
        let app = App::on(Arc::clone(&self.store), scope, Identity::default());
        Ok(app.why_at(row, crate::Instant { at, local: None }, now).await?)
    }
}

/// Hands a call to the store.
macro_rules! hand_over {
    ($($name:ident($($argument:ident: $type:ty),*) -> $answer:ty;)+) => {
        $(async fn $name(&self, $($argument: $type),*) -> Result<$answer, Error> {
            let _held = self.hold();
            let answer = self.store.$name($($argument),*).await;
            self.rare().forget_idle();
            answer
        })+
    };
}

impl Store for Ledger {
    async fn now(&self) -> Result<Timestamp, Error> {
        match &self.clock {
            Wall::Host => self.store.now().await,
            Wall::Test(test) => Ok(test.now()),
        }
    }

    async fn plannable(&self, ask: Ask) -> Result<PlannableBatch, Error> {
        let _held = self.hold();
        let mut batch = self.store.plannable(Ask { limit: BATCH_MAX, ..ask }).await?;
        batch.ready.retain(|one| self.is_own(one.org, &one.definition));
        Ok(batch)
    }

    async fn decidable(&self, now: Timestamp, schedules: Vec<ScheduleKey>) -> Result<PlannableBatch, Error> {
        let _held = self.hold();
        let mut batch = self.store.decidable(now, schedules).await?;
        batch.ready.retain(|one| self.is_own(one.org, &one.definition));
        Ok(batch)
    }

    async fn due(&self, ask: Ask) -> Result<DueBatch, Error> {
        if let Some(idle) = self.still_idle(&ask) {
            return Ok(idle);
        }
        let _held = self.hold();
        let calls = self.rare().calls;
        let mut batch = self.store.due(ask).await?;
        batch.rows.retain(|row| self.is_own(row.launch.org, &row.launch.definition));
        let mut rare = self.rare();
        // A call that ended meanwhile may have changed what was read.
        let is_idle = batch.rows.is_empty() && batch.expired.is_empty() && rare.calls == calls;
        rare.idle = is_idle.then(|| batch.clone());
        drop(rare);
        Ok(batch)
    }

    /// The clock of a test may jump over the time in which something would be judged ahead.
    async fn moment(&self) -> Option<Moment> {
        if self.is_test() { None } else { self.store.moment().await }
    }

    async fn join(&self, node: Node) -> Result<Joined, Error> {
        let _held = self.hold();
        let lease = if self.is_test() { TEST_LEASE } else { node.lease };
        self.store.join(Node { lease, ..node }).await
    }

    async fn heartbeat(&self, alive: Alive) -> Result<Heartbeat, Error> {
        let _held = self.hold();
        let beat = if self.is_test() { self.beat(alive).await? } else { self.store.heartbeat(alive).await? };
        // Shards are shared out among programs that do not run each other's tasks: here everything is looked at, and
        // what a second node of the same program looks at as well is decided by the guards of each commit.
        Ok(Heartbeat { shards: Shards::All, ..beat })
    }

    async fn take_over(&self, fence: Fence, limit: usize) -> Result<Vec<Orphan>, Error> {
        if !self.is_time(|rare| &mut rare.taken) {
            return Ok(Vec::new());
        }
        let _held = self.hold();
        let left = self.store.take_over(fence, limit).await?;
        if !left.is_empty() {
            // There may be more.
            let mut rare = self.rare();
            rare.taken = None;
            rare.forget_idle();
        }
        Ok(left)
    }

    async fn unplanned(&self, scope: Scope, now: Timestamp) -> Result<u64, Error> {
        if !self.is_time(|rare| &mut rare.counted) {
            return Ok(self.rare().unplanned);
        }
        let _held = self.hold();
        let unplanned = self.store.unplanned(scope, now).await?;
        self.rare().unplanned = unplanned;
        Ok(unplanned)
    }

    async fn changed(&self) {
        match &self.clock {
            Wall::Host => self.store.changed().await,
            // Nobody else writes into the ledger of a test, and waiting for them would take the host's time. That its
            // clock was set is news all the same.
            Wall::Test(test) => {
                let seen = self.stepped.load(Ordering::Relaxed);
                self.stepped.store(test.stepped_since(seen).await, Ordering::Relaxed);
            }
        }
    }

    async fn sequence_outbox(&self) -> Result<u64, Error> {
        if !self.is_time(|rare| &mut rare.sequenced) {
            return Ok(0);
        }
        let _held = self.hold();
        self.store.sequence_outbox().await
    }

    async fn seal_audit(&self, limit: usize) -> Result<Vec<SealedThrough>, Error> {
        if !self.is_time(|rare| &mut rare.sealed) {
            return Ok(Vec::new());
        }
        let _held = self.hold();
        self.store.seal_audit(limit).await
    }

    hand_over! {
        note(at: Timestamp, event: Event) -> ();
        commit_plans(batch: Batch, plans: Vec<PlanCommit>) -> Vec<Commit>;
        replan(fence: Fence, writes: Vec<ScheduleWrite>) -> Option<Vec<Result<Written, Error>>>;
        admit(batch: Batch, admissions: Vec<AdmitCommit>) -> Vec<Commit>;
        admit_ahead(batch: Batch, ahead: Ahead) -> Option<Vec<Commit>>;
        hold(batch: Batch, ahead: Ahead) -> punctual_store::Hold;
        let_go(batch: punctual_store::BatchId) -> ();
        mark_running(batch: Batch, started: Vec<Started>) -> Vec<Commit>;
        settle(batch: Batch, reports: Vec<Report>) -> Vec<Settled>;
        leave(fence: Fence) -> ();
        hand_back(attempts: Vec<Attempt>) -> ();
        outbox(scope: Scope, after: i64, limit: usize) -> Vec<OutboxRow>;
        acknowledge_outbox(scope: Scope, through: i64) -> u64;
        retain(retention: Retention, now: Timestamp) -> Retained;
        pause_invalid(now: Timestamp, schedules: Vec<ScheduleKey>) -> usize;
        ended(attempts: Vec<Attempt>) -> Vec<RunKey>;
        note_output(fence: Fence, shown: Vec<Shown>) -> ();
        lease(scope: Scope, worker: Worker) -> Vec<Leased>;
        extend_lease(scope: Scope, held: Held) -> Commit;
        entrust(fence: Fence, entrusted: Entrusted) -> Commit;
        begin(scope: Scope, begun: Begun) -> Commit;
        org(scope: Scope, org_id: String) -> OrgKey;
        write_schedules(scope: Scope, writes: Vec<ScheduleWrite>) -> Vec<Result<Written, Error>>;
        schedule(scope: Scope, selector: Selector) -> Option<ScheduleRow>;
        open_rows(scope: Scope, schedule: ScheduleKey) -> Vec<OpenRow>;
        schedules(scope: Scope, filter: ScheduleFilter, cut: Cut) -> Listed<ScheduleRow>;
        names(scope: Scope, cut: Cut) -> Listed<NameRow>;
        versions(scope: Scope, schedule: ScheduleId) -> Vec<VersionRow>;
        users_of(scope: Scope, kind: UseKind, name: String) -> Vec<ScheduleKey>;
        runs(scope: Scope, filter: RunFilter, cut: Cut) -> Listed<RunRow>;
        run(scope: Scope, run: RunKey) -> Option<RunRow>;
        ranges(scope: Scope, filter: RunFilter, cut: Cut) -> Listed<RangeRow>;
        audit(scope: Scope, filter: AuditFilter, cut: Cut) -> Listed<AuditRow>;
        verify_audit(scope: Scope) -> Chain;
        put_document(scope: Scope, document: NewDocument) -> Document;
        document(scope: Scope, kind: DocumentKind, name: String) -> Option<Document>;
        documents(scope: Scope, kind: DocumentKind, cut: Cut) -> Listed<Document>;
        documents_of(wanted: Vec<Shelf>, limit: u32) -> Vec<Vec<Document>>;
        remove_document(scope: Scope, kind: DocumentKind, name: String) -> bool;
        put_token(scope: Scope, token: Token) -> ();
        token(hash: String) -> Option<(OrgKey, Token)>;
        tokens(scope: Scope) -> Vec<Token>;
        answer_once(scope: Scope, answer: Answer) -> Answered;
        breakers(scope: Scope) -> Vec<BreakerRow>;
        transitions(scope: Scope, target: String, limit: u32) -> Vec<TransitionRow>;
        reset_breaker(scope: Scope, target: String, now: Timestamp) -> bool;
        nodes() -> Vec<NodeRow>;
        living(scope: Scope) -> u64;
        cancel_runs(scope: Scope, cancellation: Cancellation) -> Vec<Commit>;
        status() -> DatabaseStatus;
        check() -> Vec<Finding>;
        read_table(table: Table, after: Option<Vec<Cell>>, limit: usize) -> Vec<Vec<Cell>>;
        write_table(table: Table, rows: Vec<Vec<Cell>>) -> ();
    }
}
