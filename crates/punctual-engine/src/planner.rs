//! Planner: ticks become ledger rows half a window before they are due.

use jiff::Timestamp;
use punctual_plan::{Fence, Pace, Window, plan};
use punctual_store::{Ask, Commit, Error, PlanCommit, Plannable, Store, Whose};
use tracing::debug;

use crate::batch::Sender;
use crate::complaint::Complaints;

/// Schedules in one planning batch: small enough that what is due meanwhile does not wait for it.
const PLANNABLE_MAX: usize = 1_000;

/// Plans the schedules that come near.
pub(crate) struct Planner {
    sender: Sender,
    pace: Pace,
    complaints: Complaints,
}

impl Planner {
    pub(crate) fn new(fence: Fence, pace: Pace) -> Self {
        Self { sender: Sender::new(fence), pace, complaints: Complaints::default() }
    }

    /// Plans everything that wants planning at `now`; gives back when the next one does.
    ///
    /// It goes on until nothing is overdue: late rows and the unplanned stretch behind them must be decided
    /// together, before anything of them is admitted.
    pub(crate) async fn pass<S: Store>(
        &mut self,
        store: &S,
        whose: Whose,
        now: Timestamp,
    ) -> Result<Option<Timestamp>, Error> {
        loop {
            let ask = Ask { now, whose: whose.clone(), limit: PLANNABLE_MAX };
            let batch = store.plannable(ask).await?;
            self.complaints
                .hear("a schedule cannot be planned", batch.unreadable.iter().map(|(_, error)| error));
            if batch.ready.is_empty() {
                return Ok(batch.next_plan_at.filter(|next| *next > now));
            }
            let read = batch.ready.len();
            let plans: Vec<PlanCommit> = batch.ready.into_iter().map(|one| self.plan_one(one, now)).collect();
            let commits = self.sender.send(now, |batch| store.commit_plans(batch, plans.clone())).await?;
            let done = commits.iter().filter(|commit| **commit == Commit::Done).count();
            debug!(schedules = read, committed = done, "planned");
            if done == 0 {
                return Ok(batch.next_plan_at);
            }
        }
    }

    fn plan_one(&self, one: Plannable, now: Timestamp) -> PlanCommit {
        let plan = plan(&one.subject(None), Window { now, pace: self.pace });
        let Plannable { schedule, org, definition, cursor, .. } = one;
        PlanCommit { schedule, org, definition, from: cursor, plan }
    }
}
