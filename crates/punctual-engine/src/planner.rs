//! Planner: ticks become ledger rows half a window before they are due.

use jiff::Timestamp;
use punctual_plan::{Pace, Subject, Window, plan};
use punctual_store::{Commit, Error, PlanCommit, Plannable, Store};
use tracing::debug;

use crate::complaint::Complaints;

/// Plans the schedules that come near.
pub(crate) struct Planner {
    pace: Pace,
    complaints: Complaints,
}

impl Planner {
    pub(crate) fn new(pace: Pace) -> Self {
        Self { pace, complaints: Complaints::default() }
    }

    /// Plans one batch; gives back when the next one wants planning.
    ///
    /// While a tick without a row is already due, it goes on: late rows and the unplanned stretch behind
    /// them must be decided together, before anything of them is admitted.
    pub(crate) async fn pass<S: Store>(
        &mut self,
        store: &S,
        now: Timestamp,
    ) -> Result<Option<Timestamp>, Error> {
        let half = self.pace.lookahead / 2;
        loop {
            let batch = store.plannable(now, now + half).await?;
            self.complaints.hear("a schedule cannot be planned", &batch.unreadable);
            let read = batch.ready.len();
            let plans: Vec<PlanCommit> = batch.ready.iter().map(|one| self.plan_one(one, now)).collect();
            let commits = store.commit_plans(plans).await?;
            let done = commits.iter().filter(|commit| **commit == Commit::Done).count();
            if read > 0 {
                debug!(schedules = read, committed = done, "planned");
            }
            let next = store.next_unplanned().await?;
            let is_overdue = next.is_some_and(|next| next <= now);
            if done == 0 || !is_overdue {
                return Ok(next.map(|next| next - half));
            }
        }
    }

    fn plan_one(&self, one: &Plannable, now: Timestamp) -> PlanCommit {
        let subject = Subject {
            id: one.id,
            timing: &one.timing,
            policy: &one.policy,
            cursor: one.cursor,
            late: &one.late,
            outstanding: 0,
            slept: None,
        };
        let plan = plan(&subject, Window { now, pace: self.pace });
        PlanCommit { schedule: one.schedule, org: one.org, version: one.version, from: one.cursor, plan }
    }
}
