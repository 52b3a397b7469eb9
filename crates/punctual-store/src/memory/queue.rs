//! The queue: workers take admitted runs, each under a token of its own.

use jiff::{SignedDuration, Timestamp};
use punctual_plan::rule::{Rule, holds};
use punctual_plan::{Fence, OrgKey, RunKey, RunStatus};
use sha2::{Digest, Sha256};

use super::data::Data;
use super::table::RunRecord;
use crate::stored::hex;
use crate::{ANSWER_MARGIN_S, Begun, Commit, Entrusted, Held, Leased, Scope, Worker, to_microsecond};

impl Data {
    pub(super) fn lease(&mut self, scope: &Scope, worker: &Worker) -> Vec<Leased> {
        let orgs: Vec<OrgKey> = match scope {
            Scope::Engine => self.orgs.keys().copied().collect(),
            Scope::Org { org, .. } => vec![*org],
        };
        let queue = &worker.queue;
        let is_own = |of: &String| of == queue || !holds(Rule::RightQueue);
        let places = orgs.iter().flat_map(|org| {
            let first = if holds(Rule::RightQueue) { queue.as_str() } else { "" };
            let from = (*org, first.to_owned(), Timestamp::MIN, RunKey(i64::MIN));
            self.queued.range(from..).take_while(move |(of, queue, ..)| of == org && is_own(queue))
        });
        let keys: Vec<RunKey> = places.map(|(.., key)| *key).take(worker.limit).collect();
        keys.into_iter().filter_map(|key| self.lease_one(key, worker)).collect()
    }

    fn lease_one(&mut self, key: RunKey, worker: &Worker) -> Option<Leased> {
        let run = self.runs.get(&key)?;
        let (until, attempt) = (self.held_until(key, worker.until)?, run.attempt);
        let launch = self.launchable(key, attempt).ok()?;
        self.leases_given += 1;
        let token = hex(&Sha256::digest(format!("{key}:{attempt}:{}", self.leases_given)));
        self.change_run(key, |run| {
            run.status = RunStatus::Running;
            run.started_at = Some(to_microsecond(worker.now));
            run.token = Some(token.clone());
            run.executor_run_id = Some(worker.name.clone());
            run.look_at = Some(until);
        });
        Some(Leased { launch, token, until })
    }

    /// Gives an attempt its token.
    pub(super) fn entrust(&mut self, fence: Fence, one: &Entrusted) -> Commit {
        let is_ours = |run: &&RunRecord| {
            run.fence == Some(fence) && run.attempt == one.attempt && run.status.is_in_flight()
        };
        if self.runs.get(&one.run).filter(is_ours).is_none() {
            return Commit::Stale;
        }
        self.change_run(one.run, |run| {
            run.token = Some(one.token.clone());
            run.executor_run_id = None;
        });
        Commit::Done
    }

    /// Notes that an executor has taken a run.
    pub(super) fn begin(&mut self, scope: &Scope, begun: &Begun) -> Commit {
        let is_theirs = |run: &&RunRecord| {
            scope.covers(run.org)
                && run.status.is_in_flight()
                && run.token.as_deref() == Some(begun.token.as_str())
        };
        if self.runs.get(&begun.run).filter(is_theirs).is_none() {
            return Commit::Stale;
        }
        self.change_run(begun.run, |run| {
            run.status = RunStatus::Running;
            run.started_at = run.started_at.or(Some(to_microsecond(begun.at)));
            run.executor_run_id = Some(begun.executor_run_id.clone());
        });
        Commit::Done
    }

    /// A worker holds a run at most as long as the run may take.
    fn held_until(&self, key: RunKey, until: Timestamp) -> Option<Timestamp> {
        let run = self.runs.get(&key)?;
        let policy = &self.definition(run.schedule, run.version)?.any().policy;
        let longest = policy.run_timeout.saturating_add(SignedDuration::from_secs(ANSWER_MARGIN_S));
        let deadline = run.enqueued_at?.saturating_add(longest).unwrap_or(Timestamp::MAX);
        Some(to_microsecond(until.min(deadline)))
    }

    pub(super) fn extend_lease(&mut self, scope: &Scope, held: &Held) -> Commit {
        let run = self.runs.get(&held.run).filter(|run| {
            scope.covers(run.org)
                && run.status.is_in_flight()
                && run.token.as_deref() == Some(held.token.as_str())
        });
        let Some(until) = run.and_then(|_| self.held_until(held.run, held.until)) else {
            return Commit::Stale;
        };
        self.change_run(held.run, |run| run.look_at = Some(until));
        Commit::Done
    }
}

impl Scope {
    /// Whether it reaches an org.
    pub(super) fn covers(&self, other: OrgKey) -> bool {
        match self {
            Self::Engine => true,
            Self::Org { org, .. } => *org == other || !holds(Rule::OrgsApart),
        }
    }

    /// Who, as the audit log names them.
    pub(super) fn user(&self) -> Option<String> {
        match self {
            Self::Engine => None,
            Self::Org { user, .. } => user.clone(),
        }
    }
}
