//! Targets: programs, executors, queues and messages that answer well, badly, late, twice or never.

use std::sync::Arc;
use std::time::Duration;

use jiff::SignedDuration;
use punctual_engine::{Finished, Launch, Launched, Targets};
use punctual_plan::{Fence, Outcome, RunKey};
use punctual_store::{
    AnyStore, AttemptToken, Batch, BatchId, Begun, Commit, Entrusted, Launchable, Report, Scope, Store,
    Worker,
};

use crate::dice::Dice;
use crate::hub::Hub;
use crate::line::{Line, stored};
use crate::sketch::{Place, QUEUE, Sketch};

/// The targets as one node reaches them.
pub(crate) struct Reach {
    /// The node's way to the database, which executors have as well.
    pub(crate) line: Line,
    /// Decides, together with the run, what an attempt does.
    pub(crate) seed: u64,
}

/// What an attempt does.
enum Does {
    Ends(Duration, Outcome),
    /// It hears no wish that it end.
    EndsLate(Duration, Outcome),
    Hangs,
    Refuses,
}

impl Reach {
    fn sketch(&self, run: &Launchable) -> Option<Arc<Sketch>> {
        self.line.hub.state().oracle.sketch(run.schedule, run.definition.version)
    }

    /// What an attempt does, by its run and number alone.
    fn decide(&self, sketch: &Sketch, run: RunKey, attempt: u32) -> Does {
        let mut dice = Dice::of(self.seed, run.0.unsigned_abs() * 131 + u64::from(attempt));
        let mut state = self.line.hub.state();
        let manner = sketch.manner;
        let trouble = if state.faults.trouble > 0 { 60 } else { 0 };
        // Most are quick: their start and their end are one write.
        let longest = if dice.happens(70) { 80 } else { manner.longest_ms };
        let takes = Duration::from_millis(dice.below(longest.unsigned_abs().max(1)));
        if dice.happens(manner.refuses) {
            state.totals.count("target refused");
            return Does::Refuses;
        }
        if dice.happens(manner.hangs) {
            state.totals.count("target hung");
            return Does::Hangs;
        }
        let outcome = match dice.happens(manner.fails + trouble) {
            true => {
                state.totals.count("target failed");
                Outcome::Exited { code: 1 }
            }
            false => Outcome::Succeeded,
        };
        if dice.happens(4) {
            state.totals.count("target answered late");
            let timeout = u64::try_from(sketch.policy.run_timeout.as_millis()).unwrap_or(1_000);
            return Does::EndsLate(takes + Duration::from_millis(dice.below(timeout * 2)), outcome);
        }
        Does::Ends(takes, outcome)
    }

    async fn run_program(&self, launch: Launch, does: Does, limit: Duration) -> Launched {
        let Launch { started, cancel, .. } = launch;
        let (takes, outcome) = match does {
            Does::Refuses => return Finished::failed("it cannot be reached").into(),
            Does::Hangs => {
                started.tell();
                return Finished::cancelled(&cancel.wanted().await).into();
            }
            Does::EndsLate(takes, outcome) => {
                started.tell();
                tokio::time::sleep(takes).await;
                return Finished::of(outcome).into();
            }
            Does::Ends(takes, _) if takes > limit => (limit, Outcome::TimedOut),
            Does::Ends(takes, outcome) => (takes, outcome),
        };
        started.tell();
        tokio::select! {
            biased;
            why = cancel.wanted() => Finished::cancelled(&why).into(),
            () = tokio::time::sleep(takes) => Finished::of(outcome).into(),
        }
    }

    /// Gives the attempt to somebody who reports by its token, whatever becomes of the node.
    async fn entrust(&self, launch: Launch, does: Does) -> Launched {
        let (run, attempt) = (launch.run.run, launch.run.attempt);
        if matches!(does, Does::Refuses) {
            return Finished::failed("it cannot be reached").into();
        }
        let token = format!("token-{}-{attempt}-{}", run.0, launch.fence.0);
        let entrusted = Entrusted { run, attempt, token: token.clone() };
        match self.line.entrust(launch.fence, entrusted).await {
            Ok(Commit::Done) => {}
            Ok(Commit::Stale) => return Finished::cancelled(&punctual_engine::Why::Ended).into(),
            Err(error) => return Finished::failed(error.to_string()).into(),
        }
        launch.started.tell();
        let executor = Executor { hub: Arc::clone(&self.line.hub), run, attempt, token: token.clone() };
        let again = Dice::of(self.seed, run.0.unsigned_abs()).happens(15);
        if let Does::Ends(takes, outcome) | Does::EndsLate(takes, outcome) = does {
            tokio::spawn(executor.work(takes, outcome, if again { Answers::Twice } else { Answers::Once }));
        }
        let begun = Begun { run, token, executor_run_id: format!("job-{run}"), at: self.line.hub.now() };
        loop {
            match self.line.begin(Scope::Engine, begun.clone()).await {
                Ok(_) => return Launched::Entrusted,
                // Nobody will know that it was taken.
                Err(_) if launch.cancel.why().is_some() => return Finished::of(Outcome::InDoubt).into(),
                Err(_) => tokio::time::sleep(self.line.look_every).await,
            }
        }
    }
}

impl Targets for Reach {
    async fn launch(&self, launch: Launch) -> Launched {
        let hub = &self.line.hub;
        if !matches!(&*hub.store, AnyStore::Memory(_)) {
            // What ended meanwhile is not in its way.
            let in_flight = hub.state().oracle.in_flight();
            in_flight.into_iter().chain([launch.run.run]).for_each(|run| hub.show(run));
        }
        let moment = hub.moment();
        {
            let mut state = hub.state();
            state.totals.launches += 1;
            state.oracle.launched(moment, &launch.run, launch.fence);
        }
        let Some(sketch) = self.sketch(&launch.run) else {
            return Finished::failed("nobody knows this schedule").into();
        };
        let does = self.decide(&sketch, launch.run.run, launch.run.attempt);
        let limit = crate::story::length(sketch.policy.run_timeout);
        match sketch.place {
            Place::Outbox => Finished::of(Outcome::Succeeded).into(),
            Place::Executor => self.entrust(launch, does).await,
            Place::Program | Place::Queue => self.run_program(launch, does, limit).await,
        }
    }
}

/// How often somebody answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answers {
    Once,
    Twice,
}

/// Somebody who has taken a run and reports its end.
struct Executor {
    hub: Arc<Hub>,
    run: RunKey,
    attempt: u32,
    token: String,
}

impl Executor {
    async fn work(self, takes: Duration, outcome: Outcome, answers: Answers) {
        tokio::time::sleep(takes).await;
        let first = self.report(&outcome);
        if answers == Answers::Twice {
            tokio::time::sleep(takes / 2 + Duration::from_millis(1)).await;
            let second = self.report(&outcome);
            self.hub.state().totals.count("target answered twice");
            if first && second {
                self.hub.complain(format!("4: the second answer of {} counted as well", self.run));
            }
        }
    }

    /// Whether the report counted.
    fn report(&self, outcome: &Outcome) -> bool {
        let now = self.hub.now();
        let report = Report {
            run: self.run,
            attempt: self.attempt,
            token: AttemptToken::Holder(self.token.clone()),
            outcome: outcome.clone(),
            started_at: None,
            at: now,
            output: None,
        };
        let id = {
            let mut state = self.hub.state();
            uuid::Uuid::from_u64_pair(state.dice.next(), state.dice.next())
        };
        let batch = Batch { id: BatchId(id), fence: Fence(0), now };
        let settled = self.hub.at_once(stored!(self.hub, settle(batch, vec![report])));
        self.hub.look();
        self.hub.changed.notify_waiters();
        settled.is_ok_and(|settled| settled.iter().any(|one| one.commit == Commit::Done))
    }
}

/// Workers that take runs from the queue, one look after the other; some are never heard of again.
pub(crate) async fn work_on_queue(hub: Arc<Hub>, every: Duration) {
    let mut looks: u64 = 0;
    loop {
        tokio::time::sleep(every).await;
        looks += 1;
        let now = hub.now();
        let hold = SignedDuration::try_from(every).unwrap_or_default() * 4;
        let worker = Worker {
            queue: QUEUE.to_owned(),
            name: "a worker".to_owned(),
            limit: 10,
            until: now.saturating_add(hold).unwrap_or(now),
            now,
        };
        let scope = Scope::org(hub.org);
        let leased = hub.at_once(stored!(hub, lease(scope, worker))).unwrap_or_default();
        hub.look();
        for one in leased {
            let mut dice = Dice::of(looks, one.launch.run.0.unsigned_abs());
            if dice.happens(5) {
                hub.state().totals.count("worker lost");
                continue;
            }
            let outcome = if dice.happens(15) {
                Outcome::Reported { error: "no".to_owned() }
            } else {
                Outcome::Succeeded
            };
            let (run, attempt) = (one.launch.run, one.launch.attempt);
            let executor = Executor { hub: Arc::clone(&hub), run, attempt, token: one.token };
            let longest = u64::try_from(every.as_millis()).unwrap_or(1_000);
            let takes = Duration::from_millis(dice.below(longest * 6));
            tokio::spawn(executor.work(takes, outcome, Answers::Once));
        }
    }
}
