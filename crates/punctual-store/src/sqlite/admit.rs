//! Admission: verdicts are carried out, each with its claims and effects or not at all.

use std::sync::Arc;

use punctual_plan::{
    Admission, Claim, Effect, Lane, NonFire, OrgKey, OrgLimit, Origin, Outcome, Overlap, Reason, RunKey,
    RunStatus, Schedule, ScheduleKey, Upstream, Verdict, Wait, Waiting, admission_event, end_event,
};
use punctual_time::Anchor;
use rusqlite::{CachedStatement, params};

use super::audit::{About, record_event};
use super::connection::{Db, doing, execute};
use super::decode::{column, named, status, tick};
use super::open::{End, Waker, close, done_by, exhaust, go_on, reach};
use super::settle::{self, Settling};
use super::sheet::{self, Guard};
use super::uncounted::Counted;
use super::world::{limits, org_use, upstream};
use super::{batch, sql};
use crate::stored::{Letter, answer_by, letter_of, queue_of, wait_look_at};
use crate::{AdmitCommit, Ahead, Batch, Commit, Error, Footing, PlainStart, plain_starts};

/// Verdicts, with the plain starts among them if they are enough for a sheet.
pub(super) struct Verdicts {
    admissions: Vec<AdmitCommit>,
    plain: Vec<(usize, PlainStart)>,
}

impl Verdicts {
    pub(super) fn new(admissions: Vec<AdmitCommit>) -> Self {
        let is_many = admissions.len() >= sheet::STARTS_MIN;
        let plain = if is_many { plain_starts(&admissions) } else { Vec::new() };
        Self { admissions, plain }
    }

    /// Whether all of them go onto a sheet, if their rows are as they were.
    pub(super) fn are_for_a_sheet(&self) -> bool {
        !self.plain.is_empty() && self.plain.len() == self.admissions.len()
    }
}

/// Carries out verdicts. A start whose claim is taken by another run in the meantime stays as it was.
pub(super) fn admit(db: &Db, head: Batch, verdicts: &Verdicts) -> Result<Vec<Commit>, Error> {
    carry_out(db, head, &verdicts.admissions, |db| sheet::write(db, head, &verdicts.plain, Guard::Look))
}

/// Carries out verdicts that were made ahead, on what is still as it was.
pub(super) fn admit_ahead(db: &Db, head: Batch, ahead: &Ahead) -> Result<Vec<Commit>, Error> {
    let done =
        carry_out(db, head, &ahead.admissions, |db| sheet::write(db, head, &ahead.plain, Guard::Known))?;
    if ahead.is_plain() {
        db.has_ended(ahead.schedules.to_vec());
    }
    Ok(done)
}

fn carry_out(
    db: &Db,
    head: Batch,
    admissions: &[AdmitCommit],
    onto_sheets: impl FnOnce(&Db) -> Result<Vec<(usize, Commit)>, Error>,
) -> Result<Vec<Commit>, Error> {
    batch::once(db, head, || {
        let mut done = vec![None; admissions.len()];
        for (place, commit) in onto_sheets(db)? {
            done[place] = Some(commit);
        }
        let mut admitting = Admitting {
            db,
            head,
            state: Counted::new(db, sql!("admit_state"))?,
            run: db.prepare(sql!("admit_run"))?,
            waker: Waker::new(db, head.now)?,
        };
        let mut footing = Footing::default();
        for (one, done) in admissions.iter().zip(&mut done) {
            let commit = match *done {
                Some(commit) => commit,
                None if footing.holds(one) => admitting.carry_out(one)?,
                None => Commit::Stale,
            };
            footing.note(one, commit);
            *done = Some(commit);
        }
        Ok(done.into_iter().map(|done| done.unwrap_or(Commit::Stale)).collect())
    })
}

struct Admitting<'a> {
    db: &'a Db,
    head: Batch,
    state: Counted<'a>,
    run: CachedStatement<'a>,
    waker: Waker<'a>,
}

impl Admitting<'_> {
    fn carry_out(&mut self, one: &AdmitCommit) -> Result<Commit, Error> {
        let admission = &one.admission;
        // A start has the attempt in its guard. Any other verdict over an earlier attempt says nothing about this one.
        if admission.verdict != Verdict::Start {
            let before = self.db.value::<u32>(sql!("attempt_of"), [admission.run.0])?;
            if before.is_none_or(|before| before + 1 != one.row.due.attempt) {
                return Ok(Commit::Stale);
            }
        }
        let is_plain = admission.effects.is_empty()
            && admission.claims.iter().all(|claim| matches!(claim, Claim::Lane(Lane::Schedule(_))));
        match &admission.verdict {
            // Such a start writes two rows under one guard: there is nothing to undo.
            Verdict::Start if is_plain => self.start(one),
            Verdict::Later(at) => {
                let row = params![admission.run.0, at.as_microsecond()];
                Ok(done_by(self.db.change(sql!("later_run"), row)?))
            }
            _ => self.all_or_nothing(|this| this.carry_out_whole(one)),
        }
    }

    /// Undoes what was written if it turns out stale.
    fn all_or_nothing(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<Commit, Error>,
    ) -> Result<Commit, Error> {
        let db = self.db;
        let step = |command: &str| db.connection.execute_batch(command).map_err(doing("admitting"));
        step("SAVEPOINT one")?;
        let commit = work(self)?;
        if commit == Commit::Stale {
            step("ROLLBACK TO one")?;
        }
        step("RELEASE one")?;
        Ok(commit)
    }

    fn carry_out_whole(&mut self, one: &AdmitCommit) -> Result<Commit, Error> {
        let admission = &one.admission;
        let commit = match &admission.verdict {
            Verdict::Start => self.start_with_claims(one)?,
            Verdict::Wait(waiting) => self.wait(one, waiting)?,
            Verdict::Later(_) => Commit::Stale,
            Verdict::Skip(reason) => self.end(one, RunStatus::Skipped, reason)?,
            Verdict::Miss(reason) => self.end(one, RunStatus::Missed, reason)?,
            Verdict::Fail(reason) => self.end(one, RunStatus::Failed, reason)?,
        };
        if commit == Commit::Done {
            for effect in &admission.effects {
                self.affect(one, effect)?;
            }
        }
        Ok(commit)
    }

    fn start_with_claims(&mut self, one: &AdmitCommit) -> Result<Commit, Error> {
        let mut max_runs = None;
        for claim in &one.admission.claims {
            let is_taken = match claim {
                // Taken with the schedule's own row.
                Claim::Lane(Lane::Schedule(_)) => true,
                Claim::Lane(Lane::Shared(org, key)) => {
                    self.db.change(sql!("take_lane"), params![org.0, key, one.admission.run.0])? == 1
                }
                Claim::Guard(org, key) => {
                    self.db.change(sql!("take_guard"), params![org.0, key, one.admission.run.0])? == 1
                }
                Claim::Probe(org, target) => self.probe(*org, target, one.admission.run)?,
                Claim::Place(org) => self.place(*org)?,
                Claim::MaxRuns(schedule, max) => {
                    max_runs = Some(*max);
                    self.db.value::<u64>(sql!("admitted"), [schedule.0])?.is_some_and(|had| had < *max)
                }
            };
            if !is_taken {
                return Ok(Commit::Stale);
            }
        }
        let commit = self.start(one)?;
        if commit == Commit::Done {
            self.say(one)?;
            max_runs.map_or(Ok(()), |max| self.spend(one, max))?;
        }
        Ok(commit)
    }

    /// The row and its schedule: the last part of every start.
    fn start(&mut self, one: &AdmitCommit) -> Result<Commit, Error> {
        let (due, now) = (&one.row.due, self.head.now.as_microsecond());
        let is_exclusive =
            one.admission.claims.iter().any(|claim| matches!(claim, Claim::Lane(Lane::Schedule(_))));
        let is_counted = !due.is_retry() && matches!(due.origin, Origin::Tick | Origin::Chained);
        let launched = (due.origin == Origin::Tick).then(|| due.scheduled_for.as_second());
        let is_anchor = due.origin == Origin::Tick && !due.is_retry();
        let through = self.head.now.max(due.scheduled_for).as_second();
        let row = params![
            due.schedule.0,
            due.run.0,
            is_exclusive,
            is_counted,
            now,
            launched,
            due.attempt,
            is_anchor,
            through
        ];
        if !self.state.execute(due.schedule, through, row)? {
            return Ok(Commit::Stale);
        }
        let definition = &one.row.launch.definition;
        let (fence, look_at) = (self.head.fence.0, answer_by(definition, self.head.now).as_microsecond());
        let queue = queue_of(definition);
        let is_first = due.waiting.is_none() && !due.is_retry() && queue.is_none();
        let (trace, token) = (one.row.launch.trace.map(|trace| trace.to_string()), &one.row.launch.token);
        let admitted = if is_first {
            execute(&mut self.run, params![due.run.0, due.attempt, fence, now, look_at, trace, token])?
        } else {
            let row = params![due.run.0, due.attempt, fence, now, look_at, queue, trace, token];
            self.db.change(sql!("admit_again"), row)?
        };
        if admitted == 0 {
            return Ok(Commit::Stale);
        }
        if let Some(Letter { id, body }) = letter_of(&one.row.launch, self.head.now) {
            let row = params![due.org.0, due.run.0, due.attempt, id, body, now];
            self.db.change(sql!("insert_outbox"), row)?;
        }
        if is_anchor && definition.when.floats_on(Anchor::LastStart) {
            self.db.change(sql!("float"), params![due.schedule.0, now])?;
        }
        Ok(Commit::Done)
    }

    fn probe(&self, org: OrgKey, target: &str, run: RunKey) -> Result<bool, Error> {
        let at = self.head.now.as_microsecond();
        if self.db.change(sql!("take_probe"), params![org.0, target, run.0, at])? == 0 {
            return Ok(false);
        }
        let row = params![org.0, target, at, "open", "half_open", run.0];
        self.db.change(sql!("insert_transition"), row)?;
        Ok(true)
    }

    fn place(&self, org: OrgKey) -> Result<bool, Error> {
        let Some(limits) = limits(self.db, org)? else { return Ok(true) };
        let used = org_use(self.db, org, self.head.now)?;
        let has_room = |max: Option<u32>, used: u32| max.is_none_or(|max| used < max);
        if !has_room(limits.runs_in_flight, used.in_flight)
            || !has_room(limits.runs_per_minute, used.per_minute)
        {
            return Ok(false);
        }
        let row = params![org.0, used.minute, used.per_minute + 1, used.in_flight + 1];
        self.db.change(sql!("put_org_use"), row)?;
        Ok(true)
    }

    /// After the last run that `max_runs` allows, what is armed beyond it goes.
    fn spend(&self, one: &AdmitCommit, max: u64) -> Result<(), Error> {
        let (schedule, now) = (one.admission.schedule.0, self.head.now);
        if self.db.value::<u64>(sql!("admitted"), [schedule])?.is_none_or(|admitted| admitted < max) {
            return Ok(());
        }
        self.db.change(sql!("spend"), params![schedule, now.as_microsecond()])?;
        self.db.change(sql!("remove_ahead"), params![schedule, now.as_second()]).map(|_| ())
    }

    fn wait(&mut self, one: &AdmitCommit, waiting: &Waiting) -> Result<Commit, Error> {
        let is_over = self.is_over(one, &waiting.wait)?;
        let look_at = if is_over { self.head.now } else { wait_look_at(waiting, self.head.now) };
        let (kind, wanted) = crate::stored::wait_columns(&waiting.wait);
        let row = params![
            one.admission.run.0,
            look_at.as_microsecond(),
            kind,
            wanted,
            waiting.since.as_microsecond(),
            waiting.deadline.as_microsecond()
        ];
        self.waker.expect();
        Ok(done_by(self.db.change(sql!("wait_run"), row)?))
    }

    /// Whether what a row is about to wait for has happened since it was judged: nothing else would wake it.
    fn is_over(&self, one: &AdmitCommit, wait: &Wait) -> Result<bool, Error> {
        let due = &one.row.due;
        match wait {
            Wait::Turn { behind } => {
                let found = self.db.first(sql!("present_status"), [behind.0], |row| status(row, 0))?;
                let Some(other) = found.filter(|other| !other.is_terminal()) else { return Ok(true) };
                // Only where turns are taken does one wait behind a run that is to be tried again.
                let takes_turns = |one: Arc<Schedule>| one.policy.overlap == Overlap::Queue;
                Ok(!other.is_in_flight() && !self.present(due.schedule)?.is_some_and(takes_turns))
            }
            Wait::Upstream { schedule } => {
                let Some(definition) = self.present(due.schedule)? else { return Ok(true) };
                let known = upstream(self.db, due.org, &definition, due.scheduled_for)?;
                let is_pending = |one: &Upstream| one.latest.is_some_and(|(_, status)| !status.is_terminal());
                Ok(!known.iter().any(|one| one.schedule == *schedule && is_pending(one)))
            }
            Wait::Limit { limit: OrgLimit::InFlight } => {
                let Some(limits) = limits(self.db, due.org)? else { return Ok(true) };
                let used = org_use(self.db, due.org, self.head.now)?.in_flight;
                Ok(limits.runs_in_flight.is_none_or(|max| used < max))
            }
            Wait::Limit { limit: OrgLimit::PerMinute } | Wait::Room { .. } => Ok(false),
        }
    }

    /// The definition that a schedule has now; a row may be of an earlier one.
    fn present(&self, schedule: ScheduleKey) -> Result<Option<Arc<Schedule>>, Error> {
        let version = self.db.value(sql!("present_version"), [schedule.0])?;
        version.map(|version| self.db.definition(schedule, version)).transpose()
    }

    /// Writes what the audit log says of a verdict.
    fn say(&self, one: &AdmitCommit) -> Result<(), Error> {
        let Admission { run, schedule, .. } = one.admission;
        let Some(event) = admission_event(&one.admission, one.row.due.scheduled_for) else { return Ok(()) };
        let about = About::schedule(one.row.due.org, schedule, self.head.now).of_run(run);
        record_event(self.db, about, &event)
    }

    fn end(&self, one: &AdmitCommit, status: RunStatus, reason: &Reason) -> Result<Commit, Error> {
        let Admission { run, schedule, .. } = one.admission;
        let (due, now) = (&one.row.due, self.head.now);
        if close(self.db, &End { run, status, reason, at: now })? == Commit::Stale {
            return Ok(Commit::Stale);
        }
        self.say(one)?;
        self.waker.behind(due.org, run)?;
        if due.origin == Origin::Tick {
            self.waker.upstream(due.org, &one.row.launch.definition.name)?;
            reach(self.db, schedule, due.scheduled_for)?;
            go_on(self.db, due.org, schedule, now)?;
        } else {
            exhaust(self.db, due.org, schedule, now)?;
        }
        Ok(Commit::Done)
    }

    fn affect(&mut self, one: &AdmitCommit, effect: &Effect) -> Result<(), Error> {
        let (due, at) = (&one.row.due, self.head.now);
        match effect {
            Effect::Cancel(run, reason) => {
                let by = match reason {
                    Reason::Cancelled { by } => by.clone(),
                    other => other.to_string(),
                };
                settle::end_as(&mut Settling::new(self.db, at)?, *run, Outcome::Cancelled { by })
            }
            Effect::EndRetry(run, reason) => {
                if close(self.db, &End { run: *run, status: RunStatus::Failed, reason, at })? == Commit::Done
                {
                    self.waker.behind(due.org, *run)?;
                    self.waker.upstream(due.org, &one.row.launch.definition.name)?;
                }
                Ok(())
            }
            Effect::EndWait(run, reason) => self.end_wait(*run, reason),
        }
    }

    /// Ends a run that waits; where schedules share a lane it may be another's.
    fn end_wait(&self, run: RunKey, reason: &Reason) -> Result<(), Error> {
        let (db, at) = (self.db, self.head.now);
        let found = db.first(sql!("waiting_row"), [run.0], |row| {
            let place = (ScheduleKey(column(row, 0)?), OrgKey(column(row, 1)?));
            Ok((place, column::<i64>(row, 2)?, column::<u32>(row, 3)?, named::<Origin>(row, 4)?))
        })?;
        let Some(((schedule, org), version, attempt, origin)) = found else { return Ok(()) };
        // One that was launched before cannot be skipped any more.
        let status = if attempt > 0 { RunStatus::Failed } else { RunStatus::Skipped };
        close(db, &End { run, status, reason, at })?;
        let (definition, _) = db.readable(schedule, version)?;
        let skipped = db.first(sql!("row_tick"), [run.0], |row| tick(row, 0))?;
        if let Some(tick) = skipped.filter(|_| origin == Origin::Tick) {
            reach(db, schedule, tick)?;
        }
        if let Some(tick) = skipped.filter(|_| status == RunStatus::Skipped) {
            let event = end_event(tick, &NonFire::Skipped(reason.clone()));
            record_event(db, About::schedule(org, schedule, at).of_run(run), &event)?;
        }
        self.waker.behind(org, run)?;
        self.waker.upstream(org, &definition.name)?;
        if origin == Origin::Tick { go_on(db, org, schedule, at) } else { exhaust(db, org, schedule, at) }
    }
}
