//! Admission: rows first, then their claims; a claim that was taken meanwhile undoes the whole attempt, which is
//! repeated without that row.

use std::collections::{BTreeMap, HashMap, HashSet};

use jiff::Timestamp;
use punctual_plan::{
    Effect, Origin, Outcome, Reason, RunKey, RunStatus, ScheduleKey, Verdict, admission_event,
};
use punctual_time::Anchor;

use super::claims::Taken;
use super::connection::{Arg, Role, Tx, col};
use super::ledger::{About, End, Ended, Ending, Events, OPEN, ended_event};
use super::said::unless_raced;
use super::settle::Cancelled;
use super::wait::hold_waits;
use super::{By, Postgres, sql};
use crate::stored::{answer_by, answer_of, letter_of, queue_of, read_answer, wait_columns, wait_look_at};
use crate::{AdmitCommit, Batch, Commit, Error, Footing};

/// What an attempt to admit came to.
pub(super) enum Tried {
    /// All that could be admitted is.
    Done(Vec<Commit>),
    /// These found their claims taken: everything is undone and tried without them.
    Without(Vec<usize>),
}

impl Postgres {
    pub(super) async fn admit_batch(&self, batch: Batch, all: &[AdmitCommit]) -> Result<Vec<Commit>, Error> {
        unless_raced(|| self.admit_once(batch, all)).await
    }

    async fn admit_once(&self, batch: Batch, all: &[AdmitCommit]) -> Result<Vec<Commit>, Error> {
        let mut refused = HashSet::new();
        // Each turn refuses at least one more of finitely many.
        loop {
            let tx = self.connections.begin(Role::Hot, "admitting runs").await?;
            let commits = match self.admit_in(&tx, batch, (all, &refused)).await {
                Ok(Tried::Without(more)) => {
                    tx.rollback().await?;
                    refused.extend(more);
                    continue;
                }
                Ok(Tried::Done(commits)) => Ok((answer_of(commits.iter().copied()), commits)),
                Err(error) => Err(error),
            };
            let answered = self.answer(tx, By::Node(batch), commits).await?;
            return answered.or_else(|before| read_answer(&before));
        }
    }

    pub(super) async fn admit_in(
        &self,
        tx: &Tx,
        batch: Batch,
        (all, refused): (&[AdmitCommit], &HashSet<usize>),
    ) -> Result<Tried, Error> {
        let wanted: Vec<(usize, &AdmitCommit)> =
            all.iter().enumerate().filter(|(place, _)| !refused.contains(place)).collect();
        let standing = hold_waits(tx, batch.now, &wanted).await?;
        let is_judged = |(_, commit): &(usize, &AdmitCommit)| !standing.stale.contains(&commit.admission.run);
        let wanted: Vec<(usize, &AdmitCommit)> = wanted.into_iter().filter(is_judged).collect();
        let mut done = start_rows(tx, batch, &wanted).await?;
        let mut footing = Footing::default();
        for one in all.iter().filter(|one| !done.contains(&one.admission.run)) {
            footing.note(one, Commit::Stale);
        }
        let wanted: Vec<(usize, &AdmitCommit)> =
            wanted.into_iter().filter(|(_, commit)| footing.holds(commit)).collect();
        done.extend(defer_rows(tx, (batch.now, &standing.over), &wanted).await?);
        let ended = self.end_rows(tx, batch.now, &wanted).await?;
        done.extend(ended.iter().map(|row| row.run));
        let live: Vec<(usize, &AdmitCommit)> =
            wanted.into_iter().filter(|(_, commit)| done.contains(&commit.admission.run)).collect();
        let cancelled = self.affect(tx, batch.now, &live).await?;
        let starts: Vec<(usize, &AdmitCommit)> =
            live.iter().filter(|(_, commit)| commit.admission.verdict == Verdict::Start).copied().collect();
        match self.take_claims(tx, batch.now, &starts).await? {
            Taken::All => {}
            Taken::Not(places) => return Ok(Tried::Without(places)),
        }
        // After the claims: a run that starts and is cancelled in one batch gives back what it has just taken.
        if !cancelled.is_empty() {
            self.cancel(tx, batch.now, &cancelled).await?;
        }
        write_messages(tx, batch.now, &starts).await?;
        let mut events = Events::default();
        for (_, commit) in &live {
            if let Some(event) = admission_event(&commit.admission, commit.row.due.scheduled_for) {
                let about = About {
                    org: commit.row.due.org,
                    schedule: Some(commit.admission.schedule),
                    run: Some(commit.admission.run),
                };
                events.note(about, &event);
            }
        }
        events.write(tx, batch.now).await?;
        self.wake(tx, &ended, batch.now).await?;
        let ticks: Vec<Ended> = ended.iter().filter(|row| row.origin == Origin::Tick).cloned().collect();
        self.go_on(tx, &ending(&ticks, &live), batch.now).await?;
        self.exhaust(tx, ending(&ended, &live), batch.now).await?;
        let commit = |commit: &AdmitCommit, place| match done.contains(&commit.admission.run) {
            true if !refused.contains(&place) => Commit::Done,
            _ => Commit::Stale,
        };
        Ok(Tried::Done(all.iter().enumerate().map(|(place, one)| commit(one, place)).collect()))
    }

    /// Ends rows that do not run.
    async fn end_rows(
        &self,
        tx: &Tx,
        now: Timestamp,
        wanted: &[(usize, &AdmitCommit)],
    ) -> Result<Vec<Ended>, Error> {
        let end = |(_, commit): &(usize, &AdmitCommit)| {
            let (status, reason) = match &commit.admission.verdict {
                Verdict::Skip(reason) => (RunStatus::Skipped, reason),
                Verdict::Miss(reason) => (RunStatus::Missed, reason),
                Verdict::Fail(reason) => (RunStatus::Failed, reason),
                Verdict::Start | Verdict::Wait(_) | Verdict::Later(_) => return None,
            };
            Some(End { run: commit.admission.run, status, reason: reason.clone() })
        };
        let ends: Vec<End> = wanted.iter().filter_map(end).collect();
        self.close(tx, &ends, now).await
    }

    /// Ends the retries and waits that admissions end; gives back the runs that they cancel.
    async fn affect(
        &self,
        tx: &Tx,
        now: Timestamp,
        live: &[(usize, &AdmitCommit)],
    ) -> Result<Vec<Cancelled>, Error> {
        let mut ends = Vec::new();
        let mut cancelled = Vec::new();
        for effect in live.iter().flat_map(|(_, commit)| &commit.admission.effects) {
            match effect {
                Effect::Cancel(run, reason) => {
                    let by = match reason {
                        Reason::Cancelled { by } => by.clone(),
                        other => other.to_string(),
                    };
                    cancelled.push(Cancelled { run: *run, outcome: Outcome::Cancelled { by } });
                }
                Effect::EndRetry(run, reason) => {
                    ends.push(End { run: *run, status: RunStatus::Failed, reason: reason.clone() });
                }
                Effect::EndWait(run, reason) => {
                    ends.push(End { run: *run, status: RunStatus::Skipped, reason: reason.clone() });
                }
            }
        }
        let ended = self.close(tx, &ends, now).await?;
        let by_run: HashMap<RunKey, &End> = ends.iter().map(|end| (end.run, end)).collect();
        let mut events = Events::default();
        for row in &ended {
            if let Some(end) = by_run.get(&row.run).filter(|_| row.is_unlaunched) {
                let about = About { org: row.org, schedule: Some(row.schedule), run: Some(row.run) };
                events.note(about, &ended_event(row.tick, end));
            }
        }
        events.write(tx, now).await?;
        self.wake(tx, &ended, now).await?;
        self.end_others(tx, now, (&ended, live)).await?;
        Ok(cancelled)
    }

    /// Where schedules share a lane, what one of them ends may have been the last of another.
    async fn end_others(
        &self,
        tx: &Tx,
        now: Timestamp,
        (ended, live): (&[Ended], &[(usize, &AdmitCommit)]),
    ) -> Result<(), Error> {
        let own: HashSet<ScheduleKey> = live.iter().map(|(_, commit)| commit.admission.schedule).collect();
        let others: HashSet<i64> =
            ended.iter().filter(|row| !own.contains(&row.schedule)).map(|row| row.schedule.0).collect();
        if others.is_empty() {
            return Ok(());
        }
        let others: Vec<i64> = others.into_iter().collect();
        let mut versions = Vec::with_capacity(others.len());
        for row in tx.rows(sql!("present_versions"), &[&others]).await? {
            versions.push((ScheduleKey(col(&row, 0)?), col::<i64>(&row, 2)?));
        }
        let known = self.definitions(tx, &versions).await?;
        let readable = known.iter().filter_map(|((key, _), known)| Some((*key, known.as_ref().ok()?)));
        let ending: Vec<Ending> = readable.map(|(key, definition)| Ending::of(key, definition)).collect();
        self.go_on(tx, &ending, now).await?;
        self.exhaust(tx, ending, now).await
    }
}

/// Schedules whose row has just ended: it may have been the last.
fn ending(ended: &[Ended], live: &[(usize, &AdmitCommit)]) -> Vec<Ending> {
    let mut ending: HashSet<ScheduleKey> = ended.iter().map(|row| row.schedule).collect();
    let concerned = live.iter().filter(|(_, commit)| ending.remove(&commit.admission.schedule));
    concerned
        .map(|(_, commit)| Ending::of(commit.admission.schedule, &commit.row.launch.definition))
        .collect()
}

/// Puts rows that start in flight, while they are open; gives those that were.
async fn start_rows(
    tx: &Tx,
    batch: Batch,
    wanted: &[(usize, &AdmitCommit)],
) -> Result<HashSet<RunKey>, Error> {
    let mut starts: Vec<&AdmitCommit> = wanted
        .iter()
        .map(|(_, commit)| *commit)
        .filter(|commit| commit.admission.verdict == Verdict::Start)
        .collect();
    if starts.is_empty() {
        return Ok(HashSet::new());
    }
    starts.sort_by_key(|commit| commit.admission.run);
    let run: Vec<i64> = starts.iter().map(|commit| commit.admission.run.0).collect();
    let attempt: Vec<i64> = starts.iter().map(|commit| i64::from(commit.row.due.attempt)).collect();
    let deadline =
        |commit: &&AdmitCommit| answer_by(&commit.row.launch.definition, batch.now).as_microsecond();
    let look_at: Vec<i64> = starts.iter().map(deadline).collect();
    let queue: Vec<Option<&str>> =
        starts.iter().map(|commit| queue_of(&commit.row.launch.definition)).collect();
    let trace: Vec<Option<String>> =
        starts.iter().map(|commit| commit.row.launch.trace.map(|trace| trace.to_string())).collect();
    let token: Vec<Option<&str>> = starts.iter().map(|commit| commit.row.launch.token.as_deref()).collect();
    let (fence, now) = (batch.fence.0, batch.now.as_microsecond());
    let arguments: [&dyn Arg; 9] =
        [&run, &attempt, &look_at, &queue, &fence, &now, &OPEN.to_vec(), &trace, &token];
    let rows = tx.rows(sql!("start_runs"), &arguments).await?;
    rows.iter().map(|row| Ok(RunKey(col(row, 0)?))).collect()
}

/// Rows that wait or fire later; what is over is looked at again at once. Gives those that were open.
async fn defer_rows(
    tx: &Tx,
    (now, over): (Timestamp, &HashSet<RunKey>),
    wanted: &[(usize, &AdmitCommit)],
) -> Result<HashSet<RunKey>, Error> {
    let mut rows: BTreeMap<RunKey, (i64, Option<&punctual_plan::Waiting>)> = BTreeMap::new();
    for (_, commit) in wanted {
        match &commit.admission.verdict {
            Verdict::Wait(waiting) => {
                let is_over = over.contains(&commit.admission.run);
                let look = if is_over { now } else { wait_look_at(waiting, now) }.as_microsecond();
                rows.insert(commit.admission.run, (look, Some(waiting)));
            }
            Verdict::Later(later) => {
                rows.insert(commit.admission.run, (later.as_microsecond(), None));
            }
            _ => {}
        }
    }
    if rows.is_empty() {
        return Ok(HashSet::new());
    }
    let run: Vec<i64> = rows.keys().map(|run| run.0).collect();
    let look_at: Vec<i64> = rows.values().map(|(look, _)| *look).collect();
    let columns: Vec<Option<(&str, String)>> =
        rows.values().map(|(_, waiting)| waiting.map(|waiting| wait_columns(&waiting.wait))).collect();
    let kind: Vec<Option<&str>> = columns.iter().map(|wait| wait.as_ref().map(|wait| wait.0)).collect();
    let what: Vec<Option<&str>> =
        columns.iter().map(|wait| wait.as_ref().map(|wait| wait.1.as_str())).collect();
    let since: Vec<Option<i64>> =
        rows.values().map(|(_, waiting)| waiting.map(|waiting| waiting.since.as_microsecond())).collect();
    let until: Vec<Option<i64>> =
        rows.values().map(|(_, waiting)| waiting.map(|waiting| waiting.deadline.as_microsecond())).collect();
    let arguments: [&dyn Arg; 7] = [&run, &look_at, &kind, &what, &since, &until, &OPEN.to_vec()];
    let deferred = tx.rows(sql!("defer_runs"), &arguments).await?;
    deferred.iter().map(|row| Ok(RunKey(col(row, 0)?))).collect()
}

/// Messages go into the outbox with the admission.
async fn write_messages(tx: &Tx, now: Timestamp, starts: &[(usize, &AdmitCommit)]) -> Result<(), Error> {
    let (mut org, mut run, mut attempt, mut id, mut body) = (vec![], vec![], vec![], vec![], vec![]);
    for (_, commit) in starts {
        let launch = &commit.row.launch;
        let Some(letter) = letter_of(launch, now) else { continue };
        org.push(launch.org.0);
        run.push(launch.run.0);
        attempt.push(i64::from(launch.attempt));
        id.push(letter.id);
        body.push(letter.body);
    }
    if org.is_empty() {
        return Ok(());
    }
    let now = now.as_microsecond();
    tx.run(sql!("insert_outbox"), &[&org, &run, &attempt, &id, &body, &now]).await?;
    Ok(())
}

/// Whether a start moves the ticks after it.
pub(super) fn moves_start(commit: &AdmitCommit) -> bool {
    let due = &commit.row.due;
    let is_first = due.origin == Origin::Tick && !due.is_retry();
    is_first && commit.row.launch.definition.when.floats_on(Anchor::LastStart)
}
