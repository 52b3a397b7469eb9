//! Work that others do: runs that workers lease from a queue, and what executors say about theirs.
//!
//! Whoever holds the token of an attempt may hold it longer and say how it ended, and nobody else. A success of an older
//! attempt still closes a run that is open; anything else that comes too late changes nothing, and is said to.

use jiff::{SignedDuration, Timestamp};
use punctual_engine::Context;
use punctual_plan::{Fence, Outcome, RunKey, RunState, RunStatus};
use punctual_store::{
    AttemptToken, Batch, BatchId, Begun, Commit, Held, Report, RunRow, Selector, Store, Worker,
    to_microsecond,
};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::App;
use crate::{Failure, Kind};

/// Runs that one question leases.
pub const LEASE_RUNS_MAX: usize = 100;

/// How long a worker holds a run without being heard of, unless it says otherwise.
pub const LEASE_USUAL: SignedDuration = SignedDuration::from_secs(15);

/// The longest lease: a worker that dies is noticed within it.
pub const LEASE_MAX: SignedDuration = SignedDuration::from_hours(1);

/// Attempts that are tried when a report does not say which one it is about.
const ATTEMPTS_MAX: u32 = 100;

/// A worker's wish for runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaseAsked {
    /// From which queue.
    pub queue: String,
    /// Its own name, for people.
    pub worker: String,
    /// At most so many.
    pub limit: usize,
    /// How long it holds them without being heard of.
    pub lease: SignedDuration,
}

/// Whether a run is still its holder's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Holding {
    /// It is, until then.
    Held(Timestamp),
    /// It is not: it has ended, or another attempt of it goes on.
    Lost {
        /// Where it stands now.
        status: RunStatus,
        /// Why, in a sentence.
        why: Option<String>,
    },
}

/// What somebody says about an attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reported {
    /// Which run.
    pub run: RunKey,
    /// The token of the attempt.
    pub token: String,
    /// Which attempt; the one that the token belongs to, if it is not said.
    pub attempt: Option<u32>,
    /// How it ended.
    pub outcome: Outcome,
    /// What it printed.
    pub output: Option<String>,
}

impl App {
    /// Leases runs of a queue to a worker, each as JSON with everything that it needs, its token among it.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn lease(&self, asked: &LeaseAsked) -> Result<Vec<Map<String, Value>>, Failure> {
        let now = self.now().await?;
        let worker = Worker {
            queue: asked.queue.clone(),
            name: asked.worker.clone(),
            limit: asked.limit.min(LEASE_RUNS_MAX),
            until: later(now, asked.lease),
            now,
        };
        let leased = self.store.lease(self.scope(), worker).await?;
        let shown = |one: punctual_store::Leased| {
            let context = Context::new(&one.launch, AttemptToken::Holder(one.token), now);
            let Value::Object(mut run) = context.json() else { return Map::new() };
            run.insert("lease_until".to_owned(), json!(one.until));
            run
        };
        Ok(leased.into_iter().map(shown).collect())
    }

    /// Holds a run longer, for the one who has its token. It is never held beyond its own time limit.
    ///
    /// # Errors
    /// When there is no such run.
    pub async fn hold(&self, held: Held) -> Result<Holding, Failure> {
        let row = self.run(held.run).await?;
        let until = held.until.min(self.ends_at(&row).await?);
        let (run, held) = (held.run, Held { until, ..held });
        if self.store.extend_lease(self.scope(), held).await? == Commit::Done {
            return Ok(Holding::Held(until));
        }
        let row = self.run(run).await?;
        let why = row.run.state.reason().map(ToString::to_string);
        Ok(Holding::Lost { status: row.run.state.status(), why })
    }

    /// When a run that goes on has had its time.
    async fn ends_at(&self, row: &RunRow) -> Result<Timestamp, Failure> {
        let schedule = self.get(Selector::Id(row.schedule_id)).await?;
        let begun = row.started_at.or(row.enqueued_at).unwrap_or(row.run.fire_at);
        Ok(later(begun, schedule.definition.policy.run_timeout))
    }

    /// Says that an executor has taken a run and goes on with it, under the name that it has for it.
    ///
    /// # Errors
    /// When there is no such run, or the token has no say over it any more.
    pub async fn begin(&self, run: RunKey, token: &str, called: Option<String>) -> Result<RunRow, Failure> {
        let row = self.run(run).await?;
        let executor_run_id = called.or(row.executor_run_id).unwrap_or_else(|| "an executor".to_owned());
        let begun = Begun { run, token: token.to_owned(), executor_run_id, at: self.now().await? };
        let commit = self.store.begin(self.scope(), begun).await?;
        let row = self.run(run).await?;
        if commit == Commit::Done { Ok(row) } else { Err(refused(&row)) }
    }

    /// Says how an attempt ended. Said twice, it counts once and is answered alike.
    ///
    /// # Errors
    /// When there is no such run, or the token has no say over it any more.
    pub async fn report(&self, said: &Reported) -> Result<RunRow, Failure> {
        let row = self.run(said.run).await?;
        let newest = match &row.run.state {
            RunState::Retrying { attempt, .. } => attempt.saturating_sub(1),
            _ => row.run.attempts.last().map_or(1, |attempt| attempt.number),
        };
        let tried = match said.attempt {
            Some(one) => vec![one],
            None => (1..=newest.max(1)).rev().take(ATTEMPTS_MAX as usize).collect(),
        };
        for attempt in tried {
            if self.settle(said, attempt).await? == Commit::Done {
                return self.run(said.run).await;
            }
        }
        let row = self.run(said.run).await?;
        let is_so = matches!(
            (&said.outcome, row.run.state.status()),
            (Outcome::Succeeded, RunStatus::Success) | (Outcome::Reported { .. }, RunStatus::Failed)
        );
        if is_so { Ok(row) } else { Err(refused(&row)) }
    }

    async fn settle(&self, said: &Reported, attempt: u32) -> Result<Commit, Failure> {
        let now = self.now().await?;
        let report = Report {
            run: said.run,
            attempt,
            token: AttemptToken::Holder(said.token.clone()),
            outcome: said.outcome.clone(),
            started_at: None,
            at: now,
            output: said.output.clone(),
        };
        // Whoever reports is no node: what they say counts by the attempt's own token.
        let batch = Batch { id: BatchId(Uuid::new_v4()), fence: Fence(0), now };
        let settled = self.store.settle(batch, vec![report]).await?;
        Ok(settled.into_iter().next().map_or(Commit::Stale, |one| one.commit))
    }
}

fn later(from: Timestamp, by: SignedDuration) -> Timestamp {
    to_microsecond(from.saturating_add(by).unwrap_or(Timestamp::MAX))
}

fn refused(row: &RunRow) -> Failure {
    let status = row.run.state.status();
    let hint = match status.is_terminal() {
        true => "it has ended, and stays as it ended",
        false => "send the `token` of the attempt that goes on; an older one may only say that it succeeded",
    };
    Failure {
        kind: Kind::Conflict,
        message: format!("this token has no say over {}, which is `{status}`", row.run.key),
        hint: Some(hint.to_owned()),
    }
}
