//! What runs at present: runs that ended under their programs, output on its way, runs that people cancel.

use punctual_plan::{Fence, Outcome, Reason, RunKey, RunStatus};

use super::data::Data;
use super::life::Ending;
use super::table::{AttemptRecord, EventRecord};
use crate::stored::bounded_output;
use crate::{Attempt, AttemptToken, Batch, BatchId, Cancellation, Commit, Report, Scope, Shown};

impl Data {
    pub(super) fn ended(&self, attempts: &[Attempt]) -> Vec<RunKey> {
        let is_over = |one: &&Attempt| !self.is_in_hand(one);
        attempts.iter().filter(is_over).map(|one| one.run).collect()
    }

    fn is_in_hand(&self, one: &Attempt) -> bool {
        self.runs.get(&one.run).is_some_and(|run| {
            run.status.is_in_flight() && run.attempt == one.attempt && run.fence == Some(one.fence)
        })
    }

    pub(super) fn note_output(&mut self, fence: Fence, shown: &[Shown]) {
        for one in shown {
            if !self.is_in_hand(&Attempt { run: one.run, attempt: one.attempt, fence }) {
                continue;
            }
            let Some(run) = self.runs.get(&one.run) else { continue };
            let new = AttemptRecord {
                org: run.org,
                started_at: run.started_at,
                ended_at: None,
                reason: None,
                output: None,
                token: run.token.clone(),
            };
            let record = self.attempts.entry((one.run, one.attempt)).or_insert(new);
            record.output = Some(bounded_output(&one.text));
        }
    }

    pub(super) fn cancel_runs(&mut self, scope: &Scope, wanted: &Cancellation) -> Vec<Commit> {
        wanted.runs.iter().map(|run| self.cancel_run(scope, *run, wanted)).collect()
    }

    fn cancel_run(&mut self, scope: &Scope, key: RunKey, wanted: &Cancellation) -> Commit {
        let Some(run) = self.runs.get(&key).filter(|run| scope.covers(run.org)) else { return Commit::Stale };
        let (org, schedule, now) = (run.org, run.schedule, wanted.now);
        if run.status.is_in_flight() {
            let fence = run.fence.unwrap_or(Fence(0));
            let report = Report {
                run: key,
                attempt: run.attempt,
                token: AttemptToken::Node(fence),
                outcome: Outcome::Cancelled { by: wanted.by.clone() },
                started_at: None,
                at: now,
                output: None,
            };
            let batch = Batch { id: BatchId(uuid::Uuid::nil()), fence, now };
            if self.settle_one(batch, &report).commit == Commit::Stale {
                return Commit::Stale;
            }
        } else if run.is_open() && run.scheduled_for <= now {
            let reason = Reason::Cancelled { by: wanted.by.clone() };
            self.close(key, Ending::of(RunStatus::Cancelled, &reason), now);
            self.exhaust(schedule, now);
        } else {
            return Commit::Stale;
        }
        self.record(EventRecord {
            org,
            at: now,
            actor: scope.user(),
            kind: "run.cancelled".to_owned(),
            schedule: Some(schedule),
            run: Some(key),
            detail: wanted.by.clone(),
        });
        Commit::Done
    }
}
