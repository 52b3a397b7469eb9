//! Admitter: what is due is admitted in one transaction, and only then handed to the launcher.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use jiff::Timestamp;
use punctual_plan::rule::{Rule, holds};
use punctual_plan::{Action, Due, Effect, Fence, Pace, RunKey, ScheduleKey, Verdict, World, admit};
use punctual_store::fail_point::{FailPoint, pass};
use punctual_store::{
    AdmitCommit, Ahead, Batch, Commit, DueBatch, DueRow, Error, Expired, Launchable, Moment, Store, are_plain,
};
use tracing::{debug, info};

use crate::Metrics;
use crate::batch::Sender;
use crate::complaint::Complaints;
use crate::holding::parts_of;
use crate::launcher::Doors;
use crate::lease::Lease;
use crate::membership::Shared;
use crate::spans::{Beginning, Spans, Stretch};
use crate::wanted::Wanted;

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
    /// What kept parts from being committed; their rows are as they were.
    pub(crate) failed: Vec<Error>,
}

/// Verdicts that are not committed yet.
#[derive(Default)]
pub(crate) struct Judged {
    commits: Vec<AdmitCommit>,
    /// Whether the trace of each begins with it.
    begun: Vec<Beginning>,
}

impl Judged {
    /// Adds those over other rows.
    pub(crate) fn add(&mut self, others: Self) {
        self.commits.extend(others.commits);
        self.begun.extend(others.begun);
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.commits.len()
    }

    /// How many of them want to go to each target.
    pub(crate) fn wanted(&self) -> Wanted {
        let starts = self.commits.iter().filter(|one| one.admission.verdict == Verdict::Start);
        Wanted::count(starts.map(|one| &one.row))
    }

    /// The same in a first part of so many, and others of so many each, that may be committed one after the other, if all of them
    /// are plain starts; for what is written for others concerns whatever was not committed before.
    pub(crate) fn in_turns(mut self, first: usize, size: usize) -> Vec<Self> {
        if !are_plain(&self.commits) {
            return vec![self];
        }
        // Each is alone with its schedule, so any of them may be the first.
        let at = first.min(self.count());
        let rest = Self { commits: self.commits.split_off(at), begun: self.begun.split_off(at) };
        let count = rest.count().div_ceil(size).max(1);
        let mut parts = vec![self];
        parts.extend(rest.divided(count));
        parts
    }

    /// The same in so many parts, by their schedules: of two rows of one schedule one verdict may depend on the other.
    pub(crate) fn divided(self, parts: usize) -> Vec<Self> {
        let bounds = bounds(self.commits.iter().map(|one| one.admission.schedule).collect(), parts);
        let mut divided: Vec<Self> = (0..=bounds.len()).map(|_| Self::default()).collect();
        for (commit, beginning) in self.commits.into_iter().zip(self.begun) {
            let part = bounds.partition_point(|bound| *bound <= commit.admission.schedule);
            divided[part].commits.push(commit);
            divided[part].begun.push(beginning);
        }
        divided
    }

    /// The same in parts that are committed at once, if there are enough for that.
    pub(crate) fn abreast(self) -> Vec<Self> {
        let parts = parts_of(self.count());
        self.divided(parts)
    }

    /// Everything that can be got ready before the instant comes; none if there are no verdicts.
    pub(crate) fn ready(self, moment: Moment) -> Option<Mustered> {
        let starts = |one: &&AdmitCommit| one.admission.verdict == Verdict::Start;
        let launch = |one: &AdmitCommit| starts(&one).then(|| Arc::new(one.row.launch.clone()));
        let launches = self.commits.iter().map(launch).collect();
        let is_cancelling = self.commits.iter().any(|one| cancelled(one).next().is_some());
        let is_any = !self.commits.is_empty();
        is_any.then(|| Mustered {
            ahead: Ahead::new(moment, self.commits),
            begun: self.begun,
            launches,
            is_cancelling,
        })
    }
}

/// Verdicts over what is due at an instant, made before it on what was read at a moment.
pub(crate) struct Mustered {
    ahead: Ahead,
    begun: Vec<Beginning>,
    /// What each of them launches, if it does.
    launches: Vec<Option<Arc<Launchable>>>,
    /// Whether some of them cancel other runs, maybe of their own number.
    is_cancelling: bool,
}

impl Mustered {
    /// What the store is given of it.
    pub(crate) fn ahead(&self) -> Ahead {
        self.ahead.clone()
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.ahead.admissions.len()
    }

    /// The schedules they are over, in their order.
    pub(crate) fn schedules(&self) -> Arc<Vec<ScheduleKey>> {
        Arc::clone(&self.ahead.schedules)
    }

    /// Whether something was written since that they may depend on can only be found out row by row.
    pub(crate) fn is_guarded(&self) -> bool {
        self.ahead.moment.is_any()
    }
}

/// Commits verdicts that were made ahead.
#[derive(Clone)]
pub(crate) struct Caller {
    lease: Arc<Lease>,
    sender: Sender,
}

/// Verdicts that were made ahead and are committed; what remains is to be told when there is time for it.
pub(crate) struct CalledUp {
    pub(crate) fence: Fence,
    launches: Vec<Arc<Launchable>>,
    /// What was launched of it: whoever is done with one is not the last to let go of it, for those who do that in the midst
    /// of a herd wait for each other.
    kept: Vec<Arc<Launchable>>,
    now: Timestamp,
    ahead: Ahead,
    done: Vec<Commit>,
    begun: Vec<Beginning>,
}

impl CalledUp {
    /// What is to be launched.
    pub(crate) fn take_launches(&mut self) -> Vec<Arc<Launchable>> {
        self.kept.extend(self.launches.iter().cloned());
        std::mem::take(&mut self.launches)
    }
}

/// The due rows as they were found.
pub(crate) struct Look {
    /// The present.
    pub(crate) now: Timestamp,
    /// What was found.
    pub(crate) batch: DueBatch,
    /// Schedules whose due ticks are left aside, for they are about to be decided as one.
    pub(crate) aside: BTreeSet<ScheduleKey>,
    /// Whether many may write at once: then two parts are committed as quickly as one.
    pub(crate) is_guarded: bool,
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
        let Look { now, mut batch, aside, is_guarded } = look;
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
        batch.world.rooms = doors.rooms(&Wanted::count(batch.rows.iter()), now);
        Ok(Admitted { undecided, illegible, ..self.carry_out(store, (now, is_guarded), batch).await? })
    }

    async fn carry_out<S: Store>(
        &self,
        store: &S,
        (now, is_guarded): (Timestamp, bool),
        batch: DueBatch,
    ) -> Result<Admitted, Error> {
        let DueBatch { rows, world, expired, next_look_at, .. } = batch;
        let fence = self.lease.fence();
        let mut admitted = Admitted { expired, next_look_at, ..Admitted::none(fence) };
        if rows.is_empty() {
            return Ok(admitted);
        }
        let judged = self.judge(rows, world);
        let mut parts = match is_guarded && are_plain(&judged.commits) {
            true => judged.abreast(),
            false => vec![judged],
        }
        .into_iter();
        let (one, other) = (parts.next().unwrap_or_default(), parts.next());
        debug_assert!(parts.next().is_none(), "two are committed at once");
        pass(FailPoint::AdmitBeforeCommit);
        let commit = |part| self.commit(store, (fence, now), part);
        let sent = match other {
            None => vec![(commit(&one).await, one)],
            Some(other) => {
                let (done, other_done) = tokio::join!(commit(&one), commit(&other));
                vec![(done, one), (other_done, other)]
            }
        };
        pass(FailPoint::AdmitAfterCommit);
        for (done, Judged { commits, begun }) in sent {
            match done {
                Ok(done) => {
                    for ((one, commit), beginning) in commits.into_iter().zip(done).zip(begun) {
                        if commit == Commit::Done || !holds(Rule::LaunchAfterCommit) {
                            self.told(&one, now, beginning);
                            admitted.take(&one);
                        }
                    }
                }
                // What was committed beside it is launched all the same.
                Err(problem) => admitted.failed.push(problem),
            }
        }
        Ok(admitted)
    }

    async fn commit<S: Store>(
        &self,
        store: &S,
        (fence, now): (Fence, Timestamp),
        part: &Judged,
    ) -> Result<Vec<Commit>, Error> {
        self.sender.send(fence, now, |batch| store.admit(batch, part.commits.clone())).await
    }

    /// The verdicts over rows, in their order; rows whose instant has not come are left out.
    fn judge(&self, rows: Vec<DueRow>, mut world: World) -> Judged {
        world.pace = self.pace;
        let due: Vec<Due> = rows.iter().map(|row| row.due.clone()).collect();
        let admissions = admit(&due, &mut world);
        let is_ready = |row: &DueRow| row.due.fire_at <= world.now || !holds(Rule::NeverEarly);
        let ready: Vec<DueRow> = rows.into_iter().filter(is_ready).collect();
        let begun: Vec<Beginning> = ready.iter().map(beginning).collect();
        let commits = admissions
            .into_iter()
            .zip(ready)
            .map(|(admission, row)| AdmitCommit { admission, row: self.entitled(row) })
            .collect();
        Judged { commits, begun }
    }

    /// Judges what will be due at the instant of `batch`; what is not decided by itself alone is left out.
    pub(crate) fn ahead<D: Doors>(&self, batch: DueBatch, doors: &D) -> Judged {
        let aside = batch.stretches();
        let DueBatch { mut rows, world, undecided, .. } = batch;
        let is_own = |row: &DueRow| doors.takes(&row.launch.definition.target.action);
        let is_apart = |row: &DueRow| {
            let schedule = &row.due.schedule;
            aside.contains(schedule) || undecided.contains(schedule) || row.is_overtaken(world.now)
        };
        rows.retain(|row| is_own(row) && !is_apart(row));
        self.judge(rows, world)
    }

    /// What commits verdicts that were made ahead.
    pub(crate) fn caller(&self) -> Caller {
        Caller { lease: Arc::clone(&self.lease), sender: self.sender.clone() }
    }

    /// What follows from them but their launches, which have gone.
    pub(crate) fn follow_up(&self, called: CalledUp) -> Admitted {
        let CalledUp { fence, now, ahead, done, begun, .. } = called;
        let mut admitted = Admitted::none(fence);
        for ((one, commit), beginning) in ahead.admissions.iter().zip(done).zip(begun) {
            if commit == Commit::Done {
                self.told(one, now, beginning);
                admitted.take(one);
            }
        }
        admitted.launches.clear();
        admitted
    }

    /// Counts a verdict, and tells whoever follows its trace.
    fn told(&self, one: &AdmitCommit, now: Timestamp, beginning: Beginning) {
        self.count(one, now);
        if one.admission.verdict == Verdict::Start {
            let from = one.row.due.fire_at.min(now);
            self.spans.admitted((&one.row.launch).into(), Stretch { from, to: now }, beginning);
        }
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

impl Caller {
    /// A batch under the present lease.
    pub(crate) fn batch(&self, now: Timestamp) -> Batch {
        self.sender.batch(self.lease.fence(), now)
    }

    /// Commits verdicts that were made ahead; none of them if something was written since that they may depend on.
    pub(crate) async fn call<S: Store>(
        &self,
        store: &S,
        batch: Batch,
        mustered: Mustered,
    ) -> Result<Option<CalledUp>, Error> {
        let Batch { fence, now, .. } = batch;
        let Mustered { ahead, begun, launches, is_cancelling, .. } = mustered;
        pass(FailPoint::AheadBeforeCommit);
        let sent = self.sender.repeat(batch, |batch| store.admit_ahead(batch, ahead.clone()));
        let Some(done) = sent.await? else { return Ok(None) };
        pass(FailPoint::AheadAfterCommit);
        let is_done =
            |(launch, commit): (Option<Arc<Launchable>>, &Commit)| launch.filter(|_| *commit == Commit::Done);
        let mut launches: Vec<Arc<Launchable>> =
            launches.into_iter().zip(&done).filter_map(is_done).collect();
        if is_cancelling {
            // One that a later tick of the same batch has cancelled has ended before it began.
            let pairs = ahead.admissions.iter().zip(&done).filter(|(_, commit)| **commit == Commit::Done);
            let ended: HashSet<RunKey> = pairs.flat_map(|(one, _)| cancelled(one)).collect();
            launches.retain(|launch| !ended.contains(&launch.run));
        }
        Ok(Some(CalledUp { fence, launches, kept: Vec::new(), now, ahead, done, begun }))
    }
}

/// The first schedules of each part but the first, when they are divided into so many of about the same size.
fn bounds(mut schedules: Vec<ScheduleKey>, parts: usize) -> Vec<ScheduleKey> {
    schedules.sort_unstable();
    (1..parts).filter_map(|part| schedules.get(schedules.len() * part / parts).copied()).collect()
}

/// The runs that a verdict cancels.
fn cancelled(one: &AdmitCommit) -> impl Iterator<Item = RunKey> {
    one.admission.effects.iter().filter_map(|effect| match effect {
        Effect::Cancel(run, _) => Some(*run),
        _ => None,
    })
}

/// Whether the trace of a row begins with its admission.
fn beginning(row: &DueRow) -> Beginning {
    if row.launch.trace.is_none() { Beginning::Here } else { Beginning::Elsewhere }
}

impl Admitted {
    fn none(fence: Fence) -> Self {
        Self {
            fence,
            launches: Vec::new(),
            cancelled: Vec::new(),
            expired: Vec::new(),
            next_look_at: None,
            undecided: 0,
            illegible: BTreeSet::new(),
            failed: Vec::new(),
        }
    }

    /// Sorts a committed verdict, and says it: one line per decision.
    fn take(&mut self, one: &AdmitCommit) {
        let launch = &one.row.launch;
        let (run, schedule, tick) = (launch.run, &*launch.definition.name, launch.scheduled_for);
        self.cancelled.extend(cancelled(one));
        match &one.admission.verdict {
            Verdict::Start => {
                info!(%run, schedule, %tick, status = "enqueued", attempt = launch.attempt, "fires");
                self.launches.push(launch.clone());
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_about_the_same_size_and_share_no_schedule() {
        let check = |schedules: &[i64], parts: usize, expected: &[i64]| {
            let schedules = schedules.iter().map(|key| ScheduleKey(*key)).collect();
            let expected: Vec<ScheduleKey> = expected.iter().map(|key| ScheduleKey(*key)).collect();
            assert_eq!(bounds(schedules, parts), expected);
        };
        check(&[5, 1, 4, 2, 3, 6], 2, &[4]);
        check(&[5, 1, 4, 2, 3, 6], 3, &[3, 5]);
        check(&[1, 2, 2, 2], 2, &[2]);
        check(&[1, 2, 3], 1, &[]);
        check(&[], 2, &[]);
    }
}
