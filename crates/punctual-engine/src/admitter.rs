//! Admitter: what is due is admitted in one transaction, and only then handed to the launcher.

use jiff::Timestamp;
use punctual_plan::{Due, Effect, Fence, Pace, RunKey, Verdict, admit};
use punctual_store::{
    AdmitCommit, Ask, BATCH_MAX, Commit, DueBatch, Error, Expired, Launchable, Store, Whose,
};
use tracing::info;

use crate::batch::Sender;
use crate::complaint::Complaints;

/// What one look at the due rows gave.
#[derive(Default)]
pub(crate) struct Admitted {
    /// Runs whose admission is committed.
    pub(crate) launches: Vec<Launchable>,
    /// Runs that a later tick has cancelled.
    pub(crate) cancelled: Vec<RunKey>,
    /// Runs in flight that nobody has answered for in time.
    pub(crate) expired: Vec<Expired>,
    /// When the next row is due.
    pub(crate) next_look_at: Option<Timestamp>,
}

/// Admits what is due.
pub(crate) struct Admitter {
    sender: Sender,
    pace: Pace,
    complaints: Complaints,
}

impl Admitter {
    pub(crate) fn new(fence: Fence, pace: Pace) -> Self {
        Self { sender: Sender::new(fence), pace, complaints: Complaints::default() }
    }

    /// Judges everything that is due at `now` and commits the verdicts.
    pub(crate) async fn pass<S: Store>(
        &mut self,
        store: &S,
        whose: Whose,
        now: Timestamp,
    ) -> Result<Admitted, Error> {
        let batch = store.due(Ask { now, whose, limit: BATCH_MAX }).await?;
        self.complaints.hear("a due run cannot be launched", batch.unreadable.iter().map(|(_, error)| error));
        self.carry_out(store, now, batch).await
    }

    async fn carry_out<S: Store>(
        &self,
        store: &S,
        now: Timestamp,
        batch: DueBatch,
    ) -> Result<Admitted, Error> {
        let DueBatch { rows, mut world, expired, next_look_at, .. } = batch;
        let mut admitted = Admitted { expired, next_look_at, ..Admitted::default() };
        if rows.is_empty() {
            return Ok(admitted);
        }
        world.pace = self.pace;
        let due: Vec<Due> = rows.iter().map(|row| row.due.clone()).collect();
        let admissions = admit(&due, &mut world);
        // Rows whose instant has not come are left out; the others keep their order.
        let ready = rows.into_iter().filter(|row| row.due.fire_at <= now);
        let commits: Vec<AdmitCommit> = admissions
            .into_iter()
            .zip(ready)
            .map(|(admission, row)| AdmitCommit { admission, row })
            .collect();
        let done = self.sender.send(now, |batch| store.admit(batch, commits.clone())).await?;
        for (one, _) in commits.into_iter().zip(done).filter(|(_, commit)| *commit == Commit::Done) {
            admitted.take(one);
        }
        Ok(admitted)
    }
}

impl Admitted {
    fn take(&mut self, one: AdmitCommit) {
        let launch = one.row.launch;
        let name = &launch.definition.name;
        for effect in &one.admission.effects {
            if let Effect::Cancel(run, _) = effect {
                self.cancelled.push(*run);
            }
        }
        match &one.admission.verdict {
            Verdict::Start => self.launches.push(launch),
            Verdict::Wait(waiting) => {
                info!(run = %launch.run, schedule = name, wait = %waiting.wait, until = %waiting.deadline, "waits");
            }
            Verdict::Later(at) => info!(run = %launch.run, schedule = name, %at, "fires later"),
            Verdict::Skip(reason) | Verdict::Miss(reason) | Verdict::Fail(reason) => {
                info!(run = %launch.run, schedule = name, scheduled_for = %launch.scheduled_for, %reason, "not run");
            }
        }
    }
}
