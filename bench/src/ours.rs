//! Our store at work, whichever it is: plans, admissions and ends go on side by side, as in the engine.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};
use punctual_plan::{Due, Fence, Outcome, RunKey, Verdict, Window, admit, plan};
use punctual_store::{
    AdmitCommit, Ask, AttemptToken, BATCH_MAX, Batch, BatchId, Commit, Node, PlanCommit, Plannable, Report,
    SHARDS, ScheduleWrite, Scope, Shards, Store, Whose,
};
use uuid::Uuid;

use crate::Failure;
use crate::report::Stopwatch;
use crate::workload::Workload;

/// Parts of the shards that a node works on side by side in PostgreSQL, each over connections of its own.
pub(crate) const POSTGRES_LANES: u16 = 2;

/// Schedules that are held in memory before they are made.
const CREATED_AT_ONCE: u32 = 100_000;

/// The steps of a run's life and the pure decisions between them, as they are timed.
const PARTS: &[&str] = &["plannable", "plan", "commit_plans", "due", "decide", "admit", "settle"];

/// A store with a node that works on it.
pub(crate) struct Ours<S> {
    pub(crate) store: Arc<S>,
    fence: Fence,
    /// Parts of the shards that are worked on side by side.
    pub(crate) lanes: Vec<Shards>,
    clocks: Arc<Clocks>,
}

/// How long each part took in all, over all tasks; they overlap, so the sum is more than the time that passed.
#[derive(Default)]
struct Clocks {
    spent_ns: [AtomicU64; PARTS.len()],
}

impl Clocks {
    async fn timed<T>(&self, part: usize, work: impl Future<Output = T>) -> T {
        let start = Instant::now();
        let result = work.await;
        self.add(part, start.elapsed());
        result
    }

    fn add(&self, part: usize, spent: Duration) {
        let spent = u64::try_from(spent.as_nanos()).unwrap_or(u64::MAX);
        self.spent_ns[part].fetch_add(spent, Ordering::Relaxed);
    }

    fn take(&self) -> BTreeMap<&'static str, f64> {
        let seconds = |at: usize| self.spent_ns[at].swap(0, Ordering::Relaxed) as f64 / 1e9;
        PARTS.iter().enumerate().map(|(at, part)| (*part, seconds(at))).collect()
    }
}

/// Runs that were admitted and not settled yet, by the part of the shards.
#[derive(Default)]
pub(crate) struct InFlight {
    lanes: Vec<Vec<RunKey>>,
}

/// A run that was admitted.
#[derive(Clone, Copy)]
pub(crate) struct Admitted {
    pub(crate) run: RunKey,
    /// From when its lateness counts.
    pub(crate) fire_at: Timestamp,
}

/// What the measured part came to.
pub(crate) struct Done {
    pub(crate) runs: u64,
    /// Started with the first measured step.
    pub(crate) watch: Stopwatch,
    /// Seconds spent in each part.
    pub(crate) parts: BTreeMap<&'static str, f64>,
}

/// How schedules are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Calls {
    /// Calls that are under way at once.
    pub(crate) callers: usize,
    /// Schedules of a call.
    pub(crate) rows: usize,
}

/// Makes the schedules of a workload in full calls, so many at once; gives back how long the store took for it.
pub(crate) async fn create<S: Store>(
    store: &Arc<S>,
    workload: Workload,
    callers: usize,
) -> Result<Duration, Failure> {
    create_by(store, workload, Calls { callers, rows: BATCH_MAX }).await
}

/// The same in calls of any size.
pub(crate) async fn create_by<S: Store>(
    store: &Arc<S>,
    workload: Workload,
    calls: Calls,
) -> Result<Duration, Failure> {
    let Calls { callers, rows } = calls;
    let mut spent = Duration::ZERO;
    let mut number = 0;
    while number < workload.schedules {
        // Definitions are made beforehand: what is measured is the store.
        let until = workload.schedules.min(number + CREATED_AT_ONCE);
        let mut writes = (number..until).map(|one| workload.create(one)).collect::<Result<Vec<_>, _>>()?;
        let mut calls = Vec::new();
        while !writes.is_empty() {
            calls.push(writes.split_off(writes.len().saturating_sub(rows)));
        }
        let calls = Arc::new(Mutex::new(calls));
        let start = Instant::now();
        let tasks: Vec<_> =
            (0..callers).map(|_| tokio::spawn(write(Arc::clone(store), Arc::clone(&calls)))).collect();
        for task in tasks {
            task.await??;
        }
        spent += start.elapsed();
        number = until;
    }
    Ok(spent)
}

/// Takes one call after the other until none is left.
async fn write<S: Store>(store: Arc<S>, calls: Arc<Mutex<Vec<Vec<ScheduleWrite>>>>) -> Result<(), Failure> {
    loop {
        let next = calls.lock().map_err(|_| "another caller failed")?.pop();
        let Some(writes) = next else { return Ok(()) };
        let answers = store.write_schedules(Scope::Engine, writes).await?;
        answers.into_iter().collect::<Result<Vec<_>, _>>()?;
    }
}

impl<S: Store> Ours<S> {
    /// Lets a node in that works on so many parts of the shards at once.
    pub(crate) async fn join(store: Arc<S>, lanes: u16) -> Result<Self, Failure> {
        // Each joins under an id of its own, also on a database that it had before.
        static NUMBER: AtomicU64 = AtomicU64::new(1);
        let node = Node {
            id: format!("bench-{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed)),
            pid: std::process::id(),
            started_at: Timestamp::UNIX_EPOCH,
            lease: SignedDuration::from_hours(1_000_000),
            tz_version: punctual_time::tz_version().to_owned(),
            version: "bench".to_owned(),
        };
        let fence = store.join(node).await?.fence;
        let part = |lane: u16| Shards::Some((0..SHARDS).filter(|shard| shard % lanes == lane).collect());
        let lanes = if lanes <= 1 { vec![Shards::All] } else { (0..lanes).map(part).collect() };
        Ok(Self { store, fence, lanes, clocks: Arc::default() })
    }

    /// One batch of plannable schedules, as the first thing that a started node asks for.
    pub(crate) async fn first_plannable(&self, workload: Workload) -> Result<usize, Failure> {
        let now = workload.start() + SignedDuration::from_hours(1);
        Ok(self.store.plannable(Ask::all(now)).await?.ready.len())
    }

    /// Lets the node go.
    pub(crate) async fn leave(&self) -> Result<(), Failure> {
        Ok(self.store.leave(self.fence).await?)
    }

    /// Lets virtual time pass: the warm-up, then the measured steps.
    pub(crate) async fn run(&self, workload: Workload) -> Result<Done, Failure> {
        let mut in_flight = InFlight::default();
        for now in workload.warm_up() {
            self.step(now, &mut in_flight).await?;
        }
        self.clocks.take();
        let watch = Stopwatch::start();
        let mut runs = 0;
        for now in workload.measured() {
            runs += self.step(now, &mut in_flight).await?;
        }
        Ok(Done { runs, watch, parts: self.clocks.take() })
    }

    /// Plans what comes near, admits what is due and settles what was admitted in the step before, all at once.
    pub(crate) async fn step(&self, now: Timestamp, in_flight: &mut InFlight) -> Result<u64, Failure> {
        in_flight.lanes.resize(self.lanes.len(), Vec::new());
        let mut tasks = Vec::new();
        for (lane, ended) in self.lanes.iter().zip(in_flight.lanes.iter_mut()) {
            let ended = std::mem::take(ended);
            let planning = tokio::spawn(self.hand(lane, now).plan());
            let admitting = tokio::spawn(self.hand(lane, now).admit());
            let settling = tokio::spawn(self.hand(lane, now).settle(ended));
            tasks.push((planning, admitting, settling));
        }
        let mut settled = 0;
        for ((planning, admitting, settling), admitted) in tasks.into_iter().zip(&mut in_flight.lanes) {
            planning.await??;
            *admitted = admitting.await??.into_iter().map(|one| one.run).collect();
            settled += settling.await??;
        }
        Ok(settled)
    }

    /// Settles what is in flight and admits nothing more.
    pub(crate) async fn finish(&self, now: Timestamp, in_flight: InFlight) -> Result<(), Failure> {
        for (lane, ended) in self.lanes.iter().zip(in_flight.lanes) {
            self.hand(lane, now).settle(ended).await?;
        }
        Ok(())
    }

    pub(crate) fn hand(&self, lane: &Shards, now: Timestamp) -> Hand<S> {
        let (store, clocks) = (Arc::clone(&self.store), Arc::clone(&self.clocks));
        Hand { store, clocks, fence: self.fence, lane: lane.clone(), now }
    }
}

/// One of the three that work on a part of the shards at an instant.
pub(crate) struct Hand<S> {
    store: Arc<S>,
    clocks: Arc<Clocks>,
    fence: Fence,
    lane: Shards,
    now: Timestamp,
}

impl<S: Store> Hand<S> {
    fn ask(&self) -> Ask {
        Ask { now: self.now, whose: Whose::Own(self.lane.clone()), limit: BATCH_MAX }
    }

    fn batch(&self) -> Batch {
        static NUMBER: AtomicU64 = AtomicU64::new(1);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        // Another process may have worked on the same database: what it wrote is not taken for a repetition.
        let low = u64::from(std::process::id()) << 32 | number;
        let id = u128::from(number.wrapping_mul(0x9e37_79b9_7f4a_7c15)) << 64 | u128::from(low);
        Batch { id: BatchId(Uuid::from_u128(id)), fence: self.fence, now: self.now }
    }

    pub(crate) async fn plan(self) -> Result<(), Failure> {
        loop {
            let batch = self.clocks.timed(0, self.store.plannable(self.ask())).await?;
            readable(batch.unreadable.len())?;
            if batch.ready.is_empty() {
                return Ok(());
            }
            let start = Instant::now();
            let plans: Vec<PlanCommit> = batch.ready.into_iter().map(|one| self.plan_one(one)).collect();
            self.clocks.add(1, start.elapsed());
            let is_last = plans.len() < BATCH_MAX;
            let commits = self.clocks.timed(2, self.store.commit_plans(self.batch(), plans)).await?;
            all_done(&commits)?;
            if is_last {
                return Ok(());
            }
        }
    }

    fn plan_one(&self, one: Plannable) -> PlanCommit {
        let plan = plan(&one.subject(None), Window::at(self.now));
        let Plannable { schedule, org, definition, cursor, .. } = one;
        PlanCommit { schedule, org, definition, from: cursor, plan }
    }

    pub(crate) async fn admit(self) -> Result<Vec<Admitted>, Failure> {
        let mut admitted = Vec::new();
        loop {
            let mut batch = self.clocks.timed(3, self.store.due(self.ask())).await?;
            readable(batch.unreadable.len() + batch.expired.len())?;
            if batch.rows.is_empty() {
                return Ok(admitted);
            }
            let start = Instant::now();
            let due: Vec<Due> = batch.rows.iter().map(|row| row.due.clone()).collect();
            let verdicts = admit(&due, &mut batch.world);
            let starts = verdicts.iter().all(|one| one.verdict == Verdict::Start);
            admitted.extend(due.iter().map(|row| Admitted { run: row.run, fire_at: row.fire_at }));
            let rows = verdicts.into_iter().zip(batch.rows);
            let admissions: Vec<AdmitCommit> =
                rows.map(|(admission, row)| AdmitCommit { admission, row }).collect();
            self.clocks.add(4, start.elapsed());
            let is_last = admissions.len() < BATCH_MAX;
            all_done(&self.clocks.timed(5, self.store.admit(self.batch(), admissions)).await?)?;
            if !starts {
                return Err("a row of the plain workload did not start".into());
            }
            if is_last {
                return Ok(admitted);
            }
        }
    }

    pub(crate) async fn settle(self, runs: Vec<RunKey>) -> Result<u64, Failure> {
        for part in runs.chunks(BATCH_MAX) {
            let report = |run: &RunKey| Report {
                run: *run,
                attempt: 1,
                token: AttemptToken::Node(self.fence),
                outcome: Outcome::Succeeded,
                started_at: Some(self.now),
                at: self.now,
                output: None,
            };
            let reports: Vec<Report> = part.iter().map(report).collect();
            let settled = self.clocks.timed(6, self.store.settle(self.batch(), reports)).await?;
            all_done(&settled.into_iter().map(|one| one.commit).collect::<Vec<_>>())?;
        }
        Ok(runs.len() as u64)
    }
}

fn readable(bad: usize) -> Result<(), Failure> {
    if bad == 0 { Ok(()) } else { Err(format!("{bad} rows cannot be read or were given up").into()) }
}

/// A figure counts only if every row of it was written.
fn all_done(commits: &[Commit]) -> Result<(), Failure> {
    let stale = commits.iter().filter(|commit| **commit == Commit::Stale).count();
    if stale == 0 { Ok(()) } else { Err(format!("{stale} of {} were stale", commits.len()).into()) }
}
