//! Admitter: what is due is admitted in one transaction, and only then handed to the launcher.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use jiff::Timestamp;
use punctual_plan::rule::{Rule, holds};
use punctual_plan::{Action, Due, Effect, Fence, Pace, RunKey, ScheduleKey, Verdict, admit};
use punctual_store::{AdmitCommit, Commit, DueBatch, DueRow, Error, Expired, Launchable, Store};
use tracing::{debug, info};

use crate::Metrics;
use crate::batch::Sender;
use crate::complaint::Complaints;
use crate::lanes::LaneKey;
use crate::launcher::{Doors, is_launched};
use crate::lease::Lease;
use crate::membership::Shared;
use crate::spans::{Beginning, Spans, Stretch};

/// What one look at the due rows gave.
pub(crate) struct Admitted {
    /// The fence under which they were admitted.
    pub(crate) fence: Fence,
    /// Runs whose admission is committed.
    pub(crate) launches: Vec<Launchable>,
    /// Runs that a later tick has cancelled.
    pub(crate) cancelled: Vec<RunKey>,
    /// Runs in flight that nobody has answered for in time.
    pub(crate) expired: Vec<Expired>,
    /// When the next row is due.
    pub(crate) next_look_at: Option<Timestamp>,
    /// Late rows that wait for a plan, which decides them together with the ticks after them.
    pub(crate) undecided: usize,
    /// Schedules of rows that cannot be read any more: those that cannot be read themselves are paused.
    pub(crate) illegible: BTreeSet<ScheduleKey>,
}

/// The due rows as they were found.
pub(crate) struct Look {
    /// The present.
    pub(crate) now: Timestamp,
    /// What was found.
    pub(crate) batch: DueBatch,
    /// Schedules whose due ticks are left aside, for they are about to be decided as one.
    pub(crate) aside: BTreeSet<ScheduleKey>,
}

/// Admits what is due.
pub(crate) struct Admitter {
    lease: Arc<Lease>,
    sender: Sender,
    pub(crate) pace: Pace,
    metrics: Arc<Metrics>,
    complaints: Complaints,
    spans: Spans,
}

impl Admitter {
    pub(crate) fn new(shared: &Shared, pace: Pace, spans: Spans) -> Self {
        Self {
            lease: Arc::clone(&shared.lease),
            sender: shared.sender.clone(),
            pace,
            metrics: Arc::clone(&shared.metrics),
            complaints: Complaints::default(),
            spans,
        }
    }

    /// Judges what was found and commits the verdicts, of rows that go to targets which are taken here.
    pub(crate) async fn pass<S: Store, D: Doors>(
        &mut self,
        store: &S,
        look: Look,
        doors: &D,
    ) -> Result<Admitted, Error> {
        let Look { now, mut batch, aside } = look;
        self.complaints.hear("a due run cannot be launched", batch.unreadable.iter().map(|one| &one.error));
        let illegible = batch.unreadable.iter().map(|one| one.schedule).collect();
        let found = batch.rows.len();
        batch.rows.retain(|row| doors.takes(&row.launch.definition.target.action));
        batch.rows.retain(|row| !aside.contains(&row.due.schedule) || !row.is_of_stretch(now));
        let (own, undecided) = (batch.rows.len(), std::mem::take(&mut batch.undecided));
        batch.rows.retain(|row| !row.is_overtaken(now) || !undecided.contains(&row.due.schedule));
        self.metrics.schedules_due.set(batch.rows.len());
        let undecided = own - batch.rows.len();
        // A batch full of rows that are all left aside is not looked at again at once.
        if found > 0 && batch.rows.is_empty() {
            batch.next_look_at = batch.next_look_at.filter(|next| *next > now);
        }
        batch.world.rooms = doors.rooms(&wanted(&batch), now);
        Ok(Admitted { undecided, illegible, ..self.carry_out(store, now, batch).await? })
    }

    async fn carry_out<S: Store>(
        &self,
        store: &S,
        now: Timestamp,
        batch: DueBatch,
    ) -> Result<Admitted, Error> {
        let DueBatch { rows, mut world, expired, next_look_at, .. } = batch;
        let fence = self.lease.fence();
        let mut admitted = Admitted {
            fence,
            expired,
            next_look_at,
            launches: Vec::new(),
            cancelled: Vec::new(),
            undecided: 0,
            illegible: BTreeSet::new(),
        };
        if rows.is_empty() {
            return Ok(admitted);
        }
        world.pace = self.pace;
        let due: Vec<Due> = rows.iter().map(|row| row.due.clone()).collect();
        let admissions = admit(&due, &mut world);
        // Rows whose instant has not come are left out; the others keep their order.
        let is_ready = |row: &DueRow| row.due.fire_at <= now || !holds(Rule::NeverEarly);
        let ready: Vec<DueRow> = rows.into_iter().filter(is_ready).collect();
        let begun: Vec<Beginning> = ready.iter().map(beginning).collect();
        let commits: Vec<AdmitCommit> = admissions
            .into_iter()
            .zip(ready)
            .map(|(admission, row)| AdmitCommit { admission, row: self.entitled(row) })
            .collect();
        let done = self.sender.send(fence, now, |batch| store.admit(batch, commits.clone())).await?;
        for ((one, commit), beginning) in commits.into_iter().zip(done).zip(begun) {
            if commit != Commit::Done && holds(Rule::LaunchAfterCommit) {
                continue;
            }
            self.count(&one, now);
            if one.admission.verdict == Verdict::Start {
                let from = one.row.due.fire_at.min(now);
                self.spans.admitted((&one.row.launch).into(), Stretch { from, to: now }, beginning);
            }
            admitted.take(one);
        }
        Ok(admitted)
    }

    /// Gives a row what its launch will need, so that it is written with the admission and not for itself: the trace
    /// that it belongs to, and the token by which its receiver may report.
    fn entitled(&self, mut row: DueRow) -> DueRow {
        let launch = &mut row.launch;
        launch.trace = launch.trace.or_else(|| Some(self.sender.chance().trace()));
        let is_reported = matches!(launch.definition.target.action, Action::Webhook(_) | Action::Workflow(_));
        launch.token = is_reported.then(|| self.sender.chance().id().simple().to_string());
        row
    }

    fn count(&self, one: &AdmitCommit, now: Timestamp) {
        self.metrics.admitted(&one.admission.verdict);
        if one.admission.verdict == Verdict::Start && !one.row.due.is_retry() {
            self.metrics.runs_emitted.add(&[one.row.launch.origin.name()]);
            self.metrics.lateness.observe(now.duration_since(one.row.launch.scheduled_for));
        }
    }
}

/// Whether the trace of a row begins with its admission.
fn beginning(row: &DueRow) -> Beginning {
    if row.launch.trace.is_none() { Beginning::Here } else { Beginning::Elsewhere }
}

/// How many rows want to go to each target.
fn wanted(batch: &DueBatch) -> HashMap<LaneKey, usize> {
    let mut wanted: HashMap<LaneKey, usize> = HashMap::new();
    for row in batch.rows.iter().filter(|row| is_launched(&row.launch.definition.target.action)) {
        *wanted.entry((row.due.org, row.launch.definition.target.name.clone())).or_default() += 1;
    }
    wanted
}

impl Admitted {
    /// Sorts a committed verdict, and says it: one line per decision.
    fn take(&mut self, one: AdmitCommit) {
        let launch = one.row.launch;
        let (run, schedule, tick) = (launch.run, &*launch.definition.name, launch.scheduled_for);
        for effect in &one.admission.effects {
            if let Effect::Cancel(run, _) = effect {
                self.cancelled.push(*run);
            }
        }
        match &one.admission.verdict {
            Verdict::Start => {
                info!(%run, schedule, %tick, status = "enqueued", attempt = launch.attempt, "fires");
                self.launches.push(launch);
            }
            Verdict::Wait(waiting) => {
                info!(%run, schedule, %tick, status = "waiting", wait = %waiting.wait, until = %waiting.deadline, "waits");
            }
            Verdict::Later(at) => debug!(%run, schedule, %tick, status = "scheduled", %at, "fires later"),
            Verdict::Skip(reason) => info!(%run, schedule, %tick, status = "skipped", %reason, "not run"),
            Verdict::Miss(reason) => info!(%run, schedule, %tick, status = "missed", %reason, "not run"),
            Verdict::Fail(reason) => {
                info!(%run, schedule, %tick, status = "failed", %reason, "not run again");
            }
        }
    }
}
