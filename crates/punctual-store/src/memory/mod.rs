//! The store in a process: plain structs behind one mutex, for tests and simulations.
//!
//! Every call is one transaction because it holds the mutex from its first look to its last write, and takes nothing
//! before it knows that it gets all. `data` has the tables and their indexes, `life` what several steps do to rows, the
//! other files are one step each, as in the databases. The clock is settable and commits can be made to fail.

mod admit;
mod audit;
mod breakers;
mod cell;
mod data;
mod documents;
mod fault;
mod invalid;
mod life;
mod live;
mod node;
mod outbox;
mod plan;
mod queue;
mod read;
mod retention;
mod runs;
mod schedules;
mod settle;
mod table;
mod whole;
mod world;
mod write;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use punctual_plan::{Event, Fence, OrgKey, RunKey, ScheduleId, ScheduleKey};
use tokio::sync::Notify;

use crate::*;
use data::{Data, Time};
pub use fault::Fate;
use fault::{Faults, failed};

/// A store in memory. Clones are further handles on the same data, as several nodes would have them.
///
/// ```
/// use punctual_store::{Memory, Scope, Store};
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let store = Memory::at("2026-01-01T10:00:00Z".parse()?);
/// let org = store.org(Scope::Engine, "acme".to_owned()).await?;
/// assert_eq!(store.clone().org(Scope::Engine, "acme".to_owned()).await?, org);
/// assert_eq!(store.now().await?.to_string(), "2026-01-01T10:00:00Z");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Memory {
    shared: Arc<Everything>,
    /// Changes through this handle.
    own: AtomicU64,
    /// Changes of others that this handle was told of.
    seen: AtomicU64,
}

#[derive(Debug, Default)]
struct Everything {
    data: Mutex<Data>,
    faults: Mutex<Faults>,
    changes: AtomicU64,
    /// Whether changes are not counted.
    is_uncounted: AtomicBool,
    /// Wakes in the order of waiting, so that a simulation is decided by its seed.
    changed: Notify,
}

impl Everything {
    /// The present: each change begins another one.
    fn moment(&self) -> Moment {
        if self.is_uncounted.load(Ordering::SeqCst) {
            return Moment::ANY;
        }
        Moment { stirred: self.changes.load(Ordering::SeqCst), ends: 0 }
    }
}

impl Default for Memory {
    fn default() -> Self {
        Self::new()
    }
}

impl Clone for Memory {
    fn clone(&self) -> Self {
        let seen = AtomicU64::new(self.shared.changes.load(Ordering::SeqCst));
        Self { shared: Arc::clone(&self.shared), own: AtomicU64::new(0), seen }
    }
}

impl Memory {
    /// An empty store whose clock is the host's.
    pub fn new() -> Self {
        let store = Self { shared: Arc::default(), own: AtomicU64::new(0), seen: AtomicU64::new(0) };
        lock(&store.shared.data).follow_own_rules();
        store
    }

    /// An empty store whose clock stands still.
    pub fn at(now: Timestamp) -> Self {
        let store = Self::new();
        store.set_now(now);
        store
    }

    /// Sets the clock of all handles.
    pub fn set_now(&self, now: Timestamp) {
        lock(&self.shared.data).clock = Time::Fixed(now);
    }

    /// Lets all handles go by a clock.
    pub fn go_by(&self, clock: impl Fn() -> Timestamp + Send + Sync + 'static) {
        lock(&self.shared.data).clock = Time::By(Box::new(clock));
    }

    /// Lets verdicts that were made ahead hold by their rows alone, as on a server into which others write.
    pub fn stop_counting(&self) {
        self.shared.is_uncounted.store(true, Ordering::SeqCst);
    }

    /// Asks before each commit what shall become of it; the name of what is being done is given.
    pub fn on_commit(&self, fate: impl FnMut(&'static str) -> Fate + Send + 'static) {
        lock(&self.shared.faults).hook = Some(Box::new(fate));
    }

    /// Makes the next commit meet a fate, and those after it commit.
    pub fn next_commit(&self, fate: Fate) {
        let mut next = Some(fate);
        self.on_commit(move |_| next.take().unwrap_or_default());
    }

    /// The rows of the ledger that were written or taken away since the last call, each as often as it was; the first
    /// call gives none. What has looked once goes on being noted.
    pub fn touched(&self) -> Vec<RunKey> {
        lock(&self.shared.data).touched.replace(Vec::new()).unwrap_or_default()
    }

    /// Lets every call fail until it is opened again.
    pub fn shut(&self) {
        lock(&self.shared.faults).is_shut = true;
    }

    /// Lets calls through again.
    pub fn reopen(&self) {
        lock(&self.shared.faults).is_shut = false;
    }

    fn read<T>(&self, doing: &'static str, look: impl FnOnce(&Data) -> Result<T, Error>) -> Result<T, Error> {
        lock(&self.shared.faults).reach(doing)?;
        look(&lock(&self.shared.data))
    }

    fn write<T>(
        &self,
        doing: &'static str,
        change: impl FnOnce(&mut Data) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let fate = {
            let mut faults = lock(&self.shared.faults);
            faults.reach(doing)?;
            faults.fate(doing)
        };
        if fate == Fate::Fails {
            return Err(failed(doing));
        }
        let mut data = lock(&self.shared.data);
        let answer = change(&mut data);
        self.own.fetch_add(1, Ordering::SeqCst);
        self.shared.changes.fetch_add(1, Ordering::SeqCst);
        drop(data);
        self.shared.changed.notify_waiters();
        if fate == Fate::GoesUnanswered { Err(Error::Unanswered { doing }) } else { answer }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Store for Memory {
    async fn now(&self) -> Result<Timestamp, Error> {
        self.read("asking for the time", |data| Ok(data.now()))
    }

    async fn decidable(&self, now: Timestamp, schedules: Vec<ScheduleKey>) -> Result<PlannableBatch, Error> {
        self.read("looking at late schedules", |data| Ok(data.decidable(now, &schedules)))
    }

    async fn plannable(&self, ask: Ask) -> Result<PlannableBatch, Error> {
        self.read("looking for what wants planning", |data| Ok(data.plannable(&ask)))
    }

    async fn commit_plans(&self, batch: Batch, plans: Vec<PlanCommit>) -> Result<Vec<Commit>, Error> {
        self.write("writing plans", |data| data.commit_plans(batch, &plans))
    }

    async fn due(&self, ask: Ask) -> Result<DueBatch, Error> {
        self.read("looking for what is due", |data| Ok(data.due(&ask)))
    }

    async fn admit(&self, batch: Batch, admissions: Vec<AdmitCommit>) -> Result<Vec<Commit>, Error> {
        self.write("admitting runs", |data| data.admit(batch, &admissions))
    }

    async fn moment(&self) -> Option<Moment> {
        Some(self.shared.moment())
    }

    async fn admit_ahead(&self, batch: Batch, ahead: Ahead) -> Result<Option<Vec<Commit>>, Error> {
        self.write("admitting runs", |data| {
            let is_same = ahead.moment.lasts_until(self.shared.moment());
            if !is_same && !data.is_answered(batch) {
                return Ok(None);
            }
            data.admit(batch, &ahead.admissions).map(Some)
        })
    }

    async fn mark_running(&self, batch: Batch, started: Vec<Started>) -> Result<Vec<Commit>, Error> {
        self.write("noting launches", |data| data.mark_running(batch, &started))
    }

    async fn settle(&self, batch: Batch, reports: Vec<Report>) -> Result<Vec<Settled>, Error> {
        self.write("settling runs", |data| Ok(data.settle(batch, &reports)))
    }

    async fn join(&self, node: Node) -> Result<Joined, Error> {
        self.write("registering the node", |data| Ok(data.join(node)))
    }

    async fn heartbeat(&self, alive: Alive) -> Result<Heartbeat, Error> {
        self.write("renewing the lease", |data| data.heartbeat(alive))
    }

    async fn hand_back(&self, attempts: Vec<Attempt>) -> Result<(), Error> {
        self.write("giving runs back", |data| {
            data.hand_back(&attempts);
            Ok(())
        })
    }

    async fn leave(&self, fence: Fence) -> Result<(), Error> {
        self.write("leaving", |data| {
            data.leave_node(fence);
            Ok(())
        })
    }

    async fn take_over(&self, fence: Fence, limit: usize) -> Result<Vec<Orphan>, Error> {
        self.write("taking over runs", |data| data.take_over(fence, limit))
    }

    async fn changed(&self) {
        loop {
            // Listened for before the look, so that no change falls between.
            let next = self.shared.changed.notified();
            let total = self.shared.changes.load(Ordering::SeqCst);
            let foreign = total.saturating_sub(self.own.load(Ordering::SeqCst));
            if self.seen.swap(foreign, Ordering::SeqCst) < foreign {
                return;
            }
            next.await;
        }
    }

    async fn sequence_outbox(&self) -> Result<u64, Error> {
        self.write("sequencing the outbox", |data| Ok(data.sequence_outbox()))
    }

    async fn outbox(&self, scope: Scope, after: i64, limit: usize) -> Result<Vec<OutboxRow>, Error> {
        self.read("reading the outbox", |data| Ok(data.messages(&scope, after, limit)))
    }

    async fn acknowledge_outbox(&self, scope: Scope, through: i64) -> Result<u64, Error> {
        self.write("emptying the outbox", |data| Ok(data.acknowledge_outbox(&scope, through)))
    }

    async fn seal_audit(&self, limit: usize) -> Result<Vec<SealedThrough>, Error> {
        self.write("sealing the audit log", |data| Ok(data.seal_audit(limit)))
    }

    async fn retain(&self, retention: Retention, now: Timestamp) -> Result<Retained, Error> {
        self.write("forgetting old rows", |data| Ok(data.retain(retention, now)))
    }

    async fn pause_invalid(&self, now: Timestamp, schedules: Vec<ScheduleKey>) -> Result<usize, Error> {
        self.write("pausing what cannot be read", |data| Ok(data.pause_invalid(now, &schedules)))
    }

    async fn ended(&self, attempts: Vec<Attempt>) -> Result<Vec<RunKey>, Error> {
        self.read("looking for runs that ended", |data| Ok(data.ended(&attempts)))
    }

    async fn note(&self, at: Timestamp, event: Event) -> Result<(), Error> {
        self.write("noting an event", |data| {
            data.note_of_installation(&event, at);
            Ok(())
        })
    }

    async fn note_output(&self, fence: Fence, shown: Vec<Shown>) -> Result<(), Error> {
        self.write("keeping output", |data| {
            data.note_output(fence, &shown);
            Ok(())
        })
    }

    async fn lease(&self, scope: Scope, worker: Worker) -> Result<Vec<Leased>, Error> {
        self.write("leasing runs", |data| Ok(data.lease(&scope, &worker)))
    }

    async fn extend_lease(&self, scope: Scope, held: Held) -> Result<Commit, Error> {
        self.write("extending a lease", |data| Ok(data.extend_lease(&scope, &held)))
    }

    async fn entrust(&self, fence: Fence, entrusted: Entrusted) -> Result<Commit, Error> {
        self.write("giving an attempt its token", |data| Ok(data.entrust(fence, &entrusted)))
    }

    async fn begin(&self, scope: Scope, begun: Begun) -> Result<Commit, Error> {
        self.write("noting that a run was taken", |data| Ok(data.begin(&scope, &begun)))
    }

    async fn org(&self, scope: Scope, org_id: String) -> Result<OrgKey, Error> {
        match scope {
            Scope::Engine => self.write("making an org", |data| Ok(data.org_of(&org_id))),
            Scope::Org { org, .. } => self.read("reading an org", |data| {
                let found = data.org_ids.get(&org_id).filter(|found| **found == org);
                found.copied().ok_or(Error::Forbidden { what: "see other orgs" })
            }),
        }
    }

    async fn write_schedules(
        &self,
        scope: Scope,
        writes: Vec<ScheduleWrite>,
    ) -> Result<Vec<Result<Written, Error>>, Error> {
        self.write("writing schedules", |data| Ok(data.write_schedules(&scope, writes)))
    }

    async fn replan(
        &self,
        fence: Fence,
        writes: Vec<ScheduleWrite>,
    ) -> Result<Option<Vec<Result<Written, Error>>>, Error> {
        self.write("planning again", |data| data.replan(fence, writes))
    }

    async fn schedule(&self, scope: Scope, selector: Selector) -> Result<Option<ScheduleRow>, Error> {
        self.read("reading schedule", |data| {
            Ok(data.select(&scope, &selector)?.and_then(|key| data.schedule_row(key)))
        })
    }

    async fn open_rows(&self, scope: Scope, schedule: ScheduleKey) -> Result<Vec<OpenRow>, Error> {
        self.read("reading open rows", |data| Ok(data.open_rows(&scope, schedule)))
    }

    async fn schedules(
        &self,
        scope: Scope,
        filter: ScheduleFilter,
        cut: Cut,
    ) -> Result<Listed<ScheduleRow>, Error> {
        self.read("reading schedules", |data| data.schedule_list(&scope, &filter, &cut))
    }

    async fn versions(&self, scope: Scope, schedule: ScheduleId) -> Result<Vec<VersionRow>, Error> {
        self.read("reading versions", |data| Ok(data.version_rows(&scope, schedule)))
    }

    async fn users_of(&self, scope: Scope, kind: UseKind, name: String) -> Result<Vec<ScheduleKey>, Error> {
        self.read("reading who uses something", |data| {
            let orgs = data.orgs.keys().filter(|org| scope.covers(**org));
            Ok(orgs.flat_map(|org| data.users(*org, kind, &name)).collect())
        })
    }

    async fn runs(&self, scope: Scope, filter: RunFilter, cut: Cut) -> Result<Listed<RunRow>, Error> {
        self.read("reading runs", |data| data.run_list(&scope, &filter, &cut))
    }

    async fn run(&self, scope: Scope, run: RunKey) -> Result<Option<RunRow>, Error> {
        self.read("reading run", |data| Ok(data.run_row(&scope, run)))
    }

    async fn ranges(&self, scope: Scope, filter: RunFilter, cut: Cut) -> Result<Listed<RangeRow>, Error> {
        self.read("reading ranges", |data| data.range_list(&scope, &filter, &cut))
    }

    async fn audit(&self, scope: Scope, filter: AuditFilter, cut: Cut) -> Result<Listed<AuditRow>, Error> {
        self.read("reading audit", |data| data.audit_list(&scope, &filter, &cut))
    }

    async fn verify_audit(&self, scope: Scope) -> Result<Chain, Error> {
        self.read("reading verify audit", |data| Ok(data.verify_audit(&scope)))
    }

    async fn put_document(&self, scope: Scope, document: NewDocument) -> Result<Document, Error> {
        self.write("writing document", |data| data.put_document(&scope, document))
    }

    async fn document(
        &self,
        scope: Scope,
        kind: DocumentKind,
        name: String,
    ) -> Result<Option<Document>, Error> {
        self.read("reading document", |data| data.document(&scope, kind, &name))
    }

    async fn documents(&self, scope: Scope, kind: DocumentKind, cut: Cut) -> Result<Listed<Document>, Error> {
        self.read("reading documents", |data| data.documents(&scope, kind, &cut))
    }

    async fn remove_document(&self, scope: Scope, kind: DocumentKind, name: String) -> Result<bool, Error> {
        self.write("writing document", |data| data.remove_document(&scope, kind, name))
    }

    async fn put_token(&self, scope: Scope, token: Token) -> Result<(), Error> {
        self.write("writing token", |data| data.put_token(&scope, token))
    }

    async fn token(&self, hash: String) -> Result<Option<(OrgKey, Token)>, Error> {
        self.read("reading token", |data| Ok(data.token(&hash)))
    }

    async fn tokens(&self, scope: Scope) -> Result<Vec<Token>, Error> {
        self.read("reading tokens", |data| data.token_list(&scope))
    }

    async fn answer_once(&self, scope: Scope, answer: Answer) -> Result<Answered, Error> {
        self.write("writing answer once", |data| data.answer_once(&scope, answer))
    }

    async fn breakers(&self, scope: Scope) -> Result<Vec<BreakerRow>, Error> {
        self.read("reading breakers", |data| Ok(data.breaker_rows(&scope)))
    }

    async fn transitions(
        &self,
        scope: Scope,
        target: String,
        limit: u32,
    ) -> Result<Vec<TransitionRow>, Error> {
        self.read("reading transitions", |data| Ok(data.transition_rows(&scope, &target, limit)))
    }

    async fn reset_breaker(&self, scope: Scope, target: String, now: Timestamp) -> Result<bool, Error> {
        self.write("writing reset breaker", |data| data.reset_breaker(&scope, target, now))
    }

    async fn nodes(&self) -> Result<Vec<NodeRow>, Error> {
        self.read("reading nodes", |data| Ok(data.node_rows()))
    }

    async fn living(&self, scope: Scope) -> Result<u64, Error> {
        self.read("counting schedules", |data| Ok(data.living_of(&scope).count() as u64))
    }

    async fn unplanned(&self, scope: Scope, now: Timestamp) -> Result<u64, Error> {
        self.read("counting schedules", |data| Ok(data.unplanned(&scope, now)))
    }

    async fn cancel_runs(&self, scope: Scope, cancellation: Cancellation) -> Result<Vec<Commit>, Error> {
        self.write("cancelling runs", |data| Ok(data.cancel_runs(&scope, &cancellation)))
    }

    async fn status(&self) -> Result<DatabaseStatus, Error> {
        self.read("reading status", |data| Ok(data.database_status()))
    }

    async fn check(&self) -> Result<Vec<Finding>, Error> {
        self.read("reading check", |data| Ok(data.check()))
    }

    async fn read_table(
        &self,
        table: Table,
        after: Option<Vec<Cell>>,
        limit: usize,
    ) -> Result<Vec<Vec<Cell>>, Error> {
        self.read("reading read table", |data| Ok(data.read_table(table, after.as_deref(), limit)))
    }

    async fn write_table(&self, table: Table, rows: Vec<Vec<Cell>>) -> Result<(), Error> {
        self.write("writing write table", |data| data.write_table(table, rows))
    }
}
