//! Admission: what is due, and verdicts carried out with their claims, all or nothing.

use std::collections::{BTreeMap, VecDeque};

use jiff::{SignedDuration, Timestamp};
use punctual_plan::rule::{Rule, holds};
use punctual_plan::{
    Action, Breaker, Claim, Due, Effect, Lane, NonFire, OrgKey, OrgLimit, Origin, Outcome, Overlap, Reason,
    RunKey, RunStatus, ScheduleKey, Verdict, Wait, Waiting, admission_event,
};
use punctual_time::Anchor;

use super::data::Data;
use super::life::Ending;
use super::table::{BreakerRecord, Kept, MessageRecord, RunRecord};
use super::world::minute_of;
use crate::stored::{Letter, answer_by, letter_of, wait_look_at};
use crate::{
    ANSWER_MARGIN_S, AdmitCommit, Ask, AttemptToken, Batch, Commit, DueBatch, DueRow, Error, Expired,
    Footing, Illegible, Launchable, Report, to_microsecond,
};

impl Data {
    pub(super) fn due(&self, ask: &Ask) -> DueBatch {
        let early = if holds(Rule::NeverEarly) { SignedDuration::ZERO } else { SignedDuration::from_secs(5) };
        let latest = ask.latest().saturating_add(early).unwrap_or(Timestamp::MAX);
        let mut by_org: BTreeMap<OrgKey, VecDeque<RunKey>> = BTreeMap::new();
        let (mut expired, mut next_look_at, mut count) = (Vec::new(), None, 0);
        for (look_at, key) in &self.looks {
            let Some(run) = self.runs.get(key).filter(|run| ask.covers(run.shard)) else { continue };
            let is_full = self.orgs.len() <= 1 && count >= ask.limit;
            if *look_at > latest || is_full {
                next_look_at = Some(*look_at);
                break;
            }
            if run.is_open() {
                by_org.entry(run.org).or_default().push_back(*key);
                count += 1;
            } else if let Some(fence) =
                run.fence.filter(|_| expired.len() < ask.limit && holds(Rule::EndTheUnanswered))
            {
                expired.push(Expired { run: *key, attempt: run.attempt, fence });
            }
        }
        let chosen = interleave(&mut by_org, ask.limit);
        let left = by_org.values().filter_map(|keys| self.runs.get(keys.front()?)?.look_at).min();
        let (mut rows, mut unreadable) = (Vec::new(), Vec::new());
        for key in chosen {
            match self.due_row(key, ask.now) {
                Ok(row) => rows.extend(row),
                Err(error) => {
                    if !holds(Rule::OneBadRow) {
                        rows.clear();
                        break;
                    }
                    let schedule = self.runs.get(&key).map(|run| run.schedule);
                    let illegible = |schedule| Illegible { run: key, schedule, error };
                    unreadable.extend(schedule.map(illegible));
                }
            }
        }
        let world = self.world(&rows, ask.now);
        let late = rows.iter().filter(|row| row.is_overtaken(ask.now)).map(|row| row.due.schedule);
        let undecided = late.filter(|schedule| self.is_undecided(*schedule, ask.now)).collect();
        DueBatch { rows, world, undecided, expired, unreadable, next_look_at: left.or(next_look_at) }
    }

    /// Whether it has a tick in the past that no plan has decided.
    fn is_undecided(&self, schedule: ScheduleKey, now: Timestamp) -> bool {
        let state = self.states.get(&schedule).filter(|state| state.plan_at.is_some());
        state.and_then(|state| state.next_tick).is_some_and(|next| next <= now)
    }

    fn due_row(&self, key: RunKey, now: Timestamp) -> Result<Option<DueRow>, Error> {
        let Some(run) = self.runs.get(&key) else { return Ok(None) };
        let mut launch = self.launchable(key, run.attempt + 1)?;
        launch.answer_by = answer_by(&launch.definition, now);
        let due = Due {
            run: key,
            schedule: run.schedule,
            org: run.org,
            origin: run.origin,
            scheduled_for: run.scheduled_for,
            fire_at: run.fire_at,
            verdict: run.reason.clone().filter(|_| run.status == RunStatus::Scheduled),
            waiting: run.waiting().cloned(),
            attempt: run.attempt + 1,
            upstream: self.upstream(run),
            is_forced: run.is_forced,
        };
        Ok(Some(DueRow { due: due.under(&launch.definition), launch }))
    }

    /// What a launch of a run needs.
    pub(super) fn launchable(&self, key: RunKey, attempt: u32) -> Result<Launchable, Error> {
        let gone = || Error::corrupt(format!("{key} has no definition"));
        let run = self.runs.get(&key).ok_or_else(gone)?;
        let definition = self.definition(run.schedule, run.version).ok_or_else(gone)?;
        if let Some(why) = self.unusable(run.org, definition) {
            return Err(Error::corrupt(why));
        }
        let launch = Launchable {
            run: key,
            schedule: run.schedule,
            org: run.org,
            definition: definition.any().clone(),
            origin: run.origin,
            nonce: run.nonce.clone(),
            scheduled_for: run.scheduled_for,
            fire_at: run.fire_at,
            attempt,
            trace: run.trace,
            token: run.token.clone(),
            answer_by: run.look_at.unwrap_or(Timestamp::MAX),
        };
        Ok(launch.carrying(run.payload.clone()))
    }

    /// Whether a batch was carried out before.
    pub(super) fn is_answered(&self, batch: Batch) -> bool {
        self.batches.contains_key(&batch.id.0)
    }

    pub(super) fn admit(&mut self, batch: Batch, admissions: &[AdmitCommit]) -> Result<Vec<Commit>, Error> {
        if let Some((_, Kept::Commits(answer))) = self.batch(batch) {
            return Ok(answer.clone());
        }
        self.check_lease(batch.fence)?;
        let mut footing = Footing::default();
        let mut answer = Vec::with_capacity(admissions.len());
        for one in admissions {
            let commit = if footing.holds(one) { self.admit_one(batch, one) } else { Commit::Stale };
            footing.note(one, commit);
            answer.push(commit);
        }
        self.batches.insert(batch.id.0, (batch.now, Kept::Commits(answer.clone())));
        Ok(answer)
    }

    fn admit_one(&mut self, batch: Batch, commit: &AdmitCommit) -> Commit {
        let (admission, run, now) = (&commit.admission, commit.admission.run, batch.now);
        let is_judged = |row: &RunRecord| row.is_open() && row.attempt + 1 == commit.row.due.attempt;
        let is_open = |row: &&RunRecord| is_judged(row) || !holds(Rule::AdmitOpenRows);
        let Some(row) = self.runs.get(&run).filter(is_open) else { return Commit::Stale };
        let (schedule, tick) = (row.schedule, row.scheduled_for);
        if !admission.claims.iter().all(|claim| self.is_free(claim, run, now)) {
            if !holds(Rule::ClaimsTogether) {
                self.take_some(&admission.claims, run, now);
            }
            return Commit::Stale;
        }
        if let Some(event) = admission_event(admission, tick) {
            self.note_run(run, &event, now);
        }
        match &admission.verdict {
            Verdict::Start => self.start(batch, commit),
            Verdict::Wait(waiting) => self.wait(run, waiting, now),
            Verdict::Later(later) => self.postpone(run, *later),
            Verdict::Skip(reason) => self.close(run, Ending::of(RunStatus::Skipped, reason), now),
            Verdict::Miss(reason) => self.close(run, Ending::of(RunStatus::Missed, reason), now),
            Verdict::Fail(reason) => self.close(run, Ending::of(RunStatus::Failed, reason), now),
        }
        for effect in &admission.effects {
            self.affect(effect, batch);
        }
        self.exhaust(schedule, now);
        Commit::Done
    }

    /// Whether a claim can be taken; nothing is taken before all can.
    fn is_free(&self, claim: &Claim, run: RunKey, now: Timestamp) -> bool {
        match claim {
            Claim::Lane(Lane::Schedule(schedule)) => {
                self.states.get(schedule).is_some_and(|state| state.active_run.is_none())
            }
            Claim::Lane(Lane::Shared(org, name)) => !self.lanes.contains_key(&(*org, name.clone())),
            Claim::Guard(org, key) => !self.guards.contains_key(&(*org, key.clone())),
            Claim::Probe(org, target) => {
                let breaker = self.breakers.get(&(*org, target.clone()));
                matches!(breaker.map(|record| record.breaker), Some(Breaker::Open { until }) if until <= now)
            }
            Claim::Place(org) => self.org_use(*org, now).is_none_or(|used| {
                used.limits.per_minute_max.is_none_or(|max| used.per_minute < max)
                    && used.limits.in_flight_max.is_none_or(|max| used.in_flight < max)
            }),
            Claim::MaxRuns(schedule, max) => {
                let is_counted = self.runs.get(&run).is_some_and(|run| run.attempt == 0);
                let admitted = self.states.get(schedule).map_or(0, |state| state.counters.admitted);
                !is_counted || admitted < *max
            }
        }
    }

    /// Takes those claims that are free: what must not happen where others are not.
    fn take_some(&mut self, claims: &[Claim], run: RunKey, now: Timestamp) {
        for claim in claims {
            if self.is_free(claim, run, now) {
                self.take(claim, run, now);
            }
        }
    }

    fn take(&mut self, claim: &Claim, run: RunKey, now: Timestamp) {
        match claim {
            Claim::Lane(Lane::Schedule(schedule)) => {
                self.change_state(*schedule, |state| state.active_run = Some(run));
            }
            Claim::Lane(Lane::Shared(org, name)) => {
                self.lanes.insert((*org, name.clone()), run);
            }
            Claim::Guard(org, key) => {
                self.guards.insert((*org, key.clone()), run);
            }
            Claim::Probe(org, target) => {
                let breaker = Breaker::HalfOpen { probe: run };
                let record = BreakerRecord { breaker, changed_at: now };
                self.move_breaker((*org, target.clone()), record, Some(run));
            }
            Claim::Place(org) => {
                let minute = minute_of(now);
                let used = self.org_use.entry(*org).or_insert((minute, 0));
                *used = if used.0 == minute { (minute, used.1 + 1) } else { (minute, 1) };
            }
            // Counted with the start.
            Claim::MaxRuns(..) => {}
        }
    }

    fn start(&mut self, batch: Batch, commit: &AdmitCommit) {
        let (run, now) = (commit.admission.run, to_microsecond(batch.now));
        for claim in &commit.admission.claims {
            self.take(claim, run, now);
        }
        let definition = &commit.row.launch.definition;
        let longest =
            definition.policy.run_timeout.saturating_add(SignedDuration::from_secs(ANSWER_MARGIN_S));
        let deadline = to_microsecond(now.saturating_add(longest).unwrap_or(Timestamp::MAX));
        let queue = match &definition.target.action {
            Action::Queue(queue) => Some(queue.queue.clone()),
            _ => None,
        };
        let attempt = commit.row.due.attempt;
        let (trace, token) = (commit.row.launch.trace, commit.row.launch.token.clone());
        self.change_run(run, |row| {
            row.status = RunStatus::Enqueued;
            row.fence = Some(batch.fence);
            row.attempt = attempt;
            row.enqueued_at = Some(now);
            row.started_at = None;
            row.look_at = Some(deadline);
            row.reason = None;
            row.trace = trace.or(row.trace);
            row.token = token;
            row.executor_run_id = None;
            row.queue = queue;
        });
        self.count_start(run, now);
        let launch = Launchable { attempt, ..commit.row.launch.clone() };
        if let Some(letter) = letter_of(&launch, now).filter(|_| holds(Rule::MessageWithAdmission)) {
            self.send(&launch, letter, now);
        }
        let max = commit.admission.claims.iter().find_map(|claim| match claim {
            Claim::MaxRuns(schedule, max) => Some((*schedule, *max)),
            _ => None,
        });
        if let Some((schedule, max)) = max {
            self.spend(schedule, max, now);
        }
    }

    fn count_start(&mut self, run: RunKey, now: Timestamp) {
        let Some(row) = self.runs.get(&run) else { return };
        let (schedule, origin, tick, attempt) = (row.schedule, row.origin, row.scheduled_for, row.attempt);
        let is_anchor = origin == Origin::Tick && attempt == 1;
        let floats =
            is_anchor && self.present(schedule).is_some_and(|one| one.when.floats_on(Anchor::LastStart));
        self.change_state(schedule, |state| {
            state.last_start = Some(now);
            if is_anchor {
                state.anchors.start = Some(now);
            }
            if origin == Origin::Tick {
                state.launched_through = state.launched_through.max(Some(tick));
            }
            if attempt == 1 && matches!(origin, Origin::Tick | Origin::Chained) {
                state.counters.admitted += 1;
            }
            if floats && state.status.is_active() && state.spent_at.is_none() {
                state.plan_at = Some(now);
            }
        });
    }

    fn send(&mut self, launch: &Launchable, letter: Letter, now: Timestamp) {
        self.outbox_last += 1;
        let record = MessageRecord {
            org: launch.org,
            run: launch.run,
            attempt: launch.attempt,
            message_id: letter.id,
            body: letter.body,
            at: now,
            position: None,
        };
        self.outbox.insert(self.outbox_last, record);
    }

    /// The last of its runs was admitted: what is armed beyond it goes.
    fn spend(&mut self, schedule: ScheduleKey, max: u64, now: Timestamp) {
        let is_over = self.states.get(&schedule).is_some_and(|state| state.counters.admitted >= max);
        if !is_over || !holds(Rule::SpentDisarms) {
            return;
        }
        let ahead = self.unended_of(schedule);
        let ahead = ahead.filter(|(_, run)| run.status == RunStatus::Scheduled && run.scheduled_for > now);
        let ahead: Vec<RunKey> = ahead.map(|(key, _)| key).collect();
        for run in ahead {
            self.remove(run, now);
        }
        self.change_state(schedule, |state| {
            state.spent_at = Some(now);
            state.next_tick = None;
            state.plan_at = state.plan_at.filter(|_| !state.is_spent());
        });
    }

    fn wait(&mut self, run: RunKey, waiting: &Waiting, now: Timestamp) {
        let waiting = Waiting {
            wait: waiting.wait.clone(),
            since: to_microsecond(waiting.since),
            deadline: to_microsecond(waiting.deadline),
        };
        let is_over = self.is_over(run, &waiting.wait, now) && holds(Rule::NoLostWake);
        let look_at = to_microsecond(if is_over { now } else { wait_look_at(&waiting, now) });
        self.change_run(run, |row| {
            row.status = RunStatus::Waiting;
            row.wait = Some(waiting);
            row.look_at = Some(look_at);
        });
    }

    /// Whether what a run is about to wait for has happened since it was judged: nothing else would wake it.
    fn is_over(&self, run: RunKey, wait: &Wait, now: Timestamp) -> bool {
        let Some(row) = self.runs.get(&run) else { return false };
        match wait {
            Wait::Turn { behind } => self.runs.get(behind).is_none_or(|other| {
                let takes_turns =
                    self.present(row.schedule).is_some_and(|one| one.policy.overlap == Overlap::Queue);
                other.status.is_terminal() || !(other.status.is_in_flight() || takes_turns)
            }),
            Wait::Upstream { schedule } => self.upstream(row).iter().any(|upstream| {
                let is_pending = upstream.latest.is_some_and(|(_, status)| !status.is_terminal());
                upstream.schedule == *schedule && !is_pending
            }),
            Wait::Limit { limit: OrgLimit::InFlight } => self
                .org_use(row.org, now)
                .is_none_or(|used| used.limits.in_flight_max.is_none_or(|max| used.in_flight < max)),
            Wait::Limit { limit: OrgLimit::PerMinute } | Wait::Room { .. } => false,
        }
    }

    fn postpone(&mut self, run: RunKey, later: Timestamp) {
        let later = to_microsecond(later);
        self.change_run(run, |row| {
            row.look_at = Some(later);
            if row.status == RunStatus::Scheduled {
                row.fire_at = later;
            }
        });
    }

    fn affect(&mut self, effect: &Effect, batch: Batch) {
        match effect {
            Effect::Cancel(run, reason) => {
                let by = match reason {
                    Reason::Cancelled { by } => by.clone(),
                    other => other.to_string(),
                };
                let Some(row) = self.runs.get(run) else { return };
                let Some(fence) = row.fence else { return };
                let report = Report {
                    run: *run,
                    attempt: row.attempt,
                    token: AttemptToken::Node(fence),
                    outcome: Outcome::Cancelled { by },
                    started_at: row.started_at,
                    at: batch.now,
                    output: None,
                };
                self.settle_one(batch, &report);
            }
            Effect::EndRetry(run, reason) => {
                if self.runs.get(run).is_some_and(|row| row.is_open() && row.attempt > 0) {
                    self.close(*run, Ending::of(RunStatus::Failed, reason), batch.now);
                }
            }
            Effect::EndWait(run, reason) => {
                let Some(row) = self.runs.get(run).filter(|row| row.status == RunStatus::Waiting) else {
                    return;
                };
                let schedule = row.schedule;
                if row.attempt > 0 {
                    self.close(*run, Ending::of(RunStatus::Failed, reason), batch.now);
                } else {
                    self.end(*run, &NonFire::Skipped(reason.clone()), batch.now);
                }
                self.exhaust(schedule, batch.now);
            }
        }
    }
}

/// Takes one row of each org in turn, so that no org's herd delays another's.
fn interleave(by_org: &mut BTreeMap<OrgKey, VecDeque<RunKey>>, limit: usize) -> Vec<RunKey> {
    let mut chosen = Vec::new();
    while chosen.len() < limit {
        let before = chosen.len();
        for keys in by_org.values_mut() {
            let turn = if holds(Rule::TurnsByOrg) { 1 } else { keys.len() };
            let turn = turn.min(keys.len()).min(limit - chosen.len());
            chosen.extend(keys.drain(..turn));
        }
        if chosen.len() == before {
            break;
        }
    }
    chosen
}
