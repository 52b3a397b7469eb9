//! Admitter: what is due is admitted in one transaction, and only then handed to the launcher.

use std::collections::HashMap;

use jiff::Timestamp;
use punctual_plan::{Admission, Due, Fence, RunKey, Verdict, admit};
use punctual_store::{Commit, DueBatch, Error, Launchable, Store};
use tracing::info;

use crate::complaint::Complaints;

/// What one look at the due rows gave.
pub(crate) struct Admitted {
    /// Runs whose admission is committed.
    pub(crate) launches: Vec<Launchable>,
    /// When the next row is due.
    pub(crate) next_fire_at: Option<Timestamp>,
}

/// Admits what is due.
pub(crate) struct Admitter {
    fence: Fence,
    complaints: Complaints,
}

impl Admitter {
    pub(crate) fn new(fence: Fence) -> Self {
        Self { fence, complaints: Complaints::default() }
    }

    /// Judges everything that is due at `now` and commits the verdicts.
    pub(crate) async fn pass<S: Store>(&mut self, store: &S, now: Timestamp) -> Result<Admitted, Error> {
        let batch = store.due(now).await?;
        self.complaints.hear("a due run cannot be launched", &batch.unreadable);
        carry_out(store, self.fence, now, batch).await
    }
}

async fn carry_out<S: Store>(
    store: &S,
    fence: Fence,
    now: Timestamp,
    batch: DueBatch,
) -> Result<Admitted, Error> {
    if batch.rows.is_empty() {
        return Ok(Admitted { launches: Vec::new(), next_fire_at: batch.next_fire_at });
    }
    let mut world = batch.world(now);
    let due: Vec<Due> = batch.rows.iter().map(|row| row.due.clone()).collect();
    let mut rows: HashMap<RunKey, Launchable> =
        batch.rows.into_iter().map(|row| (row.due.run, row.launch)).collect();
    let admissions = admit(&due, &mut world);
    let commits = store.admit(fence, now, admissions.clone()).await?;
    let mut launches = Vec::new();
    for admission in committed(&admissions, &commits) {
        let Some(row) = rows.remove(&admission.run) else { continue };
        match &admission.verdict {
            Verdict::Start => launches.push(row),
            Verdict::Wait(_) => {}
            Verdict::Later(at) => info!(run = %row.run, schedule = row.schedule_name, %at, "fires later"),
            Verdict::Skip(reason) | Verdict::Miss(reason) | Verdict::Fail(reason) => {
                info!(run = %row.run, schedule = row.schedule_name, scheduled_for = %row.scheduled_for, %reason, "not run");
            }
        }
    }
    Ok(Admitted { launches, next_fire_at: batch.next_fire_at })
}

fn committed<'a>(admissions: &'a [Admission], commits: &'a [Commit]) -> impl Iterator<Item = &'a Admission> {
    admissions
        .iter()
        .zip(commits)
        .filter(|(_, commit)| **commit == Commit::Done)
        .map(|(admission, _)| admission)
}
