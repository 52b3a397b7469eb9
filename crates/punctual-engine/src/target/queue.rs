//! Workers: they take runs from a queue of the same database, do each with a command, and say how it ended.
//!
//! A worker holds each run by a lease that it renews while the command goes on. A lease that is gone (the run was
//! cancelled, or its worker was not heard of in time) ends the command; what the command did then counts no more.

use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use punctual_plan::{Fence, Outcome};
use punctual_store::fail_point::{FailPoint, pass};
use punctual_store::{
    AttemptToken, Batch, BatchId, Commit, Error, Held, Leased, Report, Scope, Settled, Store, Worker as Claim,
};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};
use tracing::{error, info, warn};

use super::process::{self, Job};
use super::{Context, Wires};
use crate::{Cancel, Canceller, Finished, LiveOutput, OnEnd, OnStart, Why};

/// How often a worker looks for runs if nobody tells it that there are some.
const POLL: Duration = Duration::from_millis(500);

/// How long a command's end is reported again while the database fails; later nobody would wait for it.
const REPORT_FOR: Duration = Duration::from_secs(600);

/// How often a lease is renewed before it would end.
const BEATS_PER_LEASE: u32 = 5;

/// How a worker works.
#[derive(Clone, Debug)]
pub struct WorkerSettings {
    /// The queue that it takes runs from.
    pub queue: String,
    /// What it does with each: a command and its arguments, never a shell string.
    pub argv: Vec<String>,
    /// Its own name, for people.
    pub name: String,
    /// How many runs it does at once.
    pub concurrency: usize,
    /// How long it holds a run without being heard of.
    pub lease: Duration,
    /// How long a stop waits for commands that go on.
    pub drain_for: Duration,
    /// How long a command has to end after it was asked to.
    pub kill_after: Duration,
}

impl WorkerSettings {
    /// One run at a time, held for 15 seconds, with half a minute to end.
    pub fn new(queue: impl Into<String>, argv: Vec<String>) -> Self {
        Self {
            queue: queue.into(),
            argv,
            name: format!("worker-{}", std::process::id()),
            concurrency: 1,
            lease: Duration::from_secs(15),
            drain_for: Duration::from_secs(30),
            kill_after: Duration::from_secs(5),
        }
    }
}

/// What a worker came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Worked {
    /// Runs whose command ended well.
    pub succeeded: u64,
    /// Runs whose command ended otherwise.
    pub failed: u64,
    /// Runs that were taken away, or given back unfinished.
    pub lost: u64,
}

/// Takes runs from a queue until it is told to stop.
///
/// ```no_run
/// # async fn example(store: std::sync::Arc<punctual_store::Sqlite>) -> Result<(), punctual_store::Error> {
/// use punctual_engine::{Worker, WorkerSettings};
/// use punctual_store::{Scope, Store};
///
/// let org = store.org(Scope::Engine, "default".to_owned()).await?;
/// let settings = WorkerSettings::new("agents", vec!["review".to_owned()]);
/// let (_stop, stopped) = tokio::sync::watch::channel(false);
/// Worker::new(store, Scope::org(org), settings).run(stopped).await;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Worker<S> {
    bench: Arc<Bench<S>>,
}

/// What every run of a worker uses.
#[derive(Debug)]
struct Bench<S> {
    store: Arc<S>,
    scope: Scope,
    settings: WorkerSettings,
    /// True when commands shall end although their runs are not done.
    give_back: watch::Sender<bool>,
}

/// How a run left its worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Left {
    Succeeded,
    Failed,
    Lost,
}

impl<S: Store> Worker<S> {
    /// A worker for the runs of a scope.
    pub fn new(store: Arc<S>, scope: Scope, settings: WorkerSettings) -> Self {
        let bench = Bench { store, scope, settings, give_back: watch::Sender::new(false) };
        Self { bench: Arc::new(bench) }
    }

    /// Works until `stop` turns true; then lets commands end for a while, and gives back what is still not done.
    pub async fn run(self, mut stop: watch::Receiver<bool>) -> Worked {
        let mut worked = Worked::default();
        let mut tasks = JoinSet::new();
        loop {
            let free = self.bench.settings.concurrency.saturating_sub(tasks.len());
            if free > 0
                && let Err(problem) = self.take(free, &mut tasks).await
            {
                error!(%problem, "cannot take runs, trying again");
            }
            let is_hungry = tasks.len() < self.bench.settings.concurrency;
            tokio::select! {
                biased;
                // A dropped sender means that nobody is left to want the worker.
                _ = stop.wait_for(|stopped| *stopped) => break,
                Some(left) = tasks.join_next() => worked.add(&left),
                () = self.bench.store.changed(), if is_hungry => {}
                () = sleep(POLL), if is_hungry => {}
            }
        }
        self.drain(&mut tasks, &mut worked).await;
        worked
    }

    /// Does what is in the queue now and ends when nothing is left in it.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn run_once(self, mut stop: watch::Receiver<bool>) -> Result<Worked, Error> {
        let mut worked = Worked::default();
        let mut tasks = JoinSet::new();
        loop {
            let free = self.bench.settings.concurrency.saturating_sub(tasks.len());
            self.take(free, &mut tasks).await?;
            tokio::select! {
                biased;
                _ = stop.wait_for(|stopped| *stopped) => break,
                left = tasks.join_next() => match left {
                    Some(left) => worked.add(&left),
                    None => return Ok(worked),
                },
            }
        }
        self.drain(&mut tasks, &mut worked).await;
        Ok(worked)
    }

    async fn take(&self, free: usize, tasks: &mut JoinSet<Left>) -> Result<(), Error> {
        let now = self.bench.store.now().await?;
        let claim = Claim {
            queue: self.bench.settings.queue.clone(),
            name: self.bench.settings.name.clone(),
            limit: free,
            until: later(now, self.bench.settings.lease),
            now,
        };
        let leased = self.bench.store.lease(self.bench.scope.clone(), claim).await?;
        if !leased.is_empty() {
            pass(FailPoint::WorkerTaken);
        }
        for leased in leased {
            tasks.spawn(Arc::clone(&self.bench).work(leased, now));
        }
        Ok(())
    }

    async fn drain(&self, tasks: &mut JoinSet<Left>, worked: &mut Worked) {
        if !tasks.is_empty() {
            info!(in_flight = tasks.len(), "waiting for commands to end");
        }
        let patience = sleep(self.bench.settings.drain_for);
        tokio::pin!(patience);
        while !tasks.is_empty() {
            tokio::select! {
                Some(left) = tasks.join_next() => worked.add(&left),
                () = &mut patience, if !*self.bench.give_back.borrow() => {
                    warn!(in_flight = tasks.len(), "ending commands; their runs are given back");
                    self.bench.give_back.send_replace(true);
                }
            }
        }
    }
}

impl Worked {
    fn add(&mut self, left: &Result<Left, tokio::task::JoinError>) {
        match left {
            Ok(Left::Succeeded) => self.succeeded += 1,
            Ok(Left::Failed) => self.failed += 1,
            // A task that panicked says nothing: its lease ends and the run is found lost.
            Ok(Left::Lost) | Err(_) => self.lost += 1,
        }
    }
}

/// Why a command was ended before its time.
enum Early {
    /// The lease is gone.
    Taken,
    /// The worker stops.
    GivenBack,
}

impl<S: Store> Bench<S> {
    /// Does one run and says how it ended.
    async fn work(self: Arc<Self>, leased: Leased, now: Timestamp) -> Left {
        let (run, schedule) = (leased.launch.run, leased.launch.definition.name.clone());
        info!(%run, schedule, attempt = leased.launch.attempt, "taken");
        let context = Context::new(&leased.launch, AttemptToken::Holder(leased.token.clone()), now);
        let job = Job::of_worker(&self.settings.argv, &context, self.settings.kill_after);
        let (canceller, cancel) = Cancel::pair();
        let (started, ended) = (OnStart::new(|| ()), OnEnd::default());
        let wires = Wires { started, ended, cancel, output: LiveOutput::default() };
        let command = process::run(job, wires);
        tokio::pin!(command);
        let (finished, early) = tokio::select! {
            biased;
            finished = &mut command => (finished, None),
            early = self.hold(&leased, &canceller) => (command.await, Some(early)),
        };
        pass(FailPoint::WorkerEnded);
        match early {
            // A command that was quicker than the wish that it end has an end of its own.
            _ if !matches!(finished.outcome, Outcome::Cancelled { .. }) => {
                self.report(&leased, finished, now).await
            }
            Some(Early::GivenBack) => {
                // The command may have done part of its work: whether it is tried again is the schedule's choice.
                let finished = Finished { outcome: Outcome::InDoubt, ..finished };
                self.report(&leased, finished, now).await;
                Left::Lost
            }
            Some(Early::Taken) | None => {
                warn!(%run, schedule, "the run was taken away; its command was ended");
                Left::Lost
            }
        }
    }

    /// Renews the lease until it is gone or shall be given up, and ends the command then.
    async fn hold(&self, leased: &Leased, canceller: &Canceller) -> Early {
        let mut give_back = self.give_back.subscribe();
        let lease = self.settings.lease;
        let mut held_until = Instant::now() + lease;
        loop {
            let is_given_back = tokio::select! {
                _ = give_back.wait_for(|wanted| *wanted) => true,
                () = sleep(lease / BEATS_PER_LEASE) => false,
            };
            if is_given_back {
                canceller.cancel(Why::Ended);
                return Early::GivenBack;
            }
            let asked = Instant::now();
            match self.extend(leased).await {
                Ok(Commit::Done) => held_until = asked + lease,
                Ok(Commit::Stale) => {
                    canceller.cancel(Why::Ended);
                    return Early::Taken;
                }
                Err(problem) if Instant::now() < held_until => {
                    warn!(run = %leased.launch.run, %problem, "cannot renew the lease, trying again");
                }
                Err(problem) => {
                    error!(run = %leased.launch.run, %problem, "the lease ended before it could be renewed");
                    canceller.cancel(Why::Fenced);
                    return Early::Taken;
                }
            }
        }
    }

    async fn extend(&self, leased: &Leased) -> Result<Commit, Error> {
        let until = later(self.store.now().await?, self.settings.lease);
        let held = Held { run: leased.launch.run, token: leased.token.clone(), until };
        self.store.extend_lease(self.scope.clone(), held).await
    }

    /// Says how a run ended, until the database has heard it.
    async fn report(&self, leased: &Leased, finished: Finished, started_at: Timestamp) -> Left {
        let (run, schedule) = (leased.launch.run, &leased.launch.definition.name);
        let outcome = finished.outcome.clone();
        let id = BatchId(uuid::Uuid::new_v4());
        let report = Report {
            run,
            attempt: leased.launch.attempt,
            token: AttemptToken::Holder(leased.token.clone()),
            outcome: finished.outcome,
            started_at: Some(started_at),
            at: started_at,
            output: finished.output,
        };
        let give_up_at = Instant::now() + REPORT_FOR;
        loop {
            match self.settle(id, &report).await {
                Ok(settled) if settled.commit == Commit::Done => {
                    info!(%run, schedule, outcome = ?outcome, "ended");
                    return if outcome == Outcome::Succeeded { Left::Succeeded } else { Left::Failed };
                }
                Ok(_) => {
                    warn!(%run, schedule, "refused: the run is not this worker's any more, or has ended");
                    return Left::Lost;
                }
                Err(problem) if Instant::now() < give_up_at => {
                    error!(%run, schedule, %problem, "cannot say how it ended, trying again");
                    sleep(POLL).await;
                }
                Err(problem) => {
                    error!(%run, schedule, %problem, "nobody will know how it ended");
                    return Left::Lost;
                }
            }
        }
    }

    async fn settle(&self, id: BatchId, report: &Report) -> Result<Settled, Error> {
        let now = self.store.now().await?;
        // A worker is no node: what it says counts by the attempt's own token.
        let batch = Batch { id, fence: Fence(0), now };
        let report = Report { at: now, ..report.clone() };
        self.store.settle(batch, vec![report]).await?.pop().ok_or(Error::Closed)
    }
}

fn later(now: Timestamp, by: Duration) -> Timestamp {
    let by = SignedDuration::try_from(by).unwrap_or(SignedDuration::MAX);
    punctual_store::to_microsecond(now.saturating_add(by).unwrap_or(Timestamp::MAX))
}
