//! Settling: launches noted, reports judged by the docket and written with everything that follows.

use jiff::Timestamp;
use punctual_plan::rule::{Rule, holds};
use punctual_plan::{
    Before, Chained, Change, Event, Follower, Next, Open, OpenKind, Origin, Reason, RunKey, RunStatus,
    ScheduleKey, Status, When, change,
};

use super::data::Data;
use super::life::{Ending, Moment, NewRow};
use super::table::{AttemptRecord, BreakerRecord, Kept, RunRecord};
use crate::docket::{Docket, Judgement, Standing, Tally};
use crate::stored::bounded_output;
use crate::{Batch, Commit, Error, Report, Settled, Started, timing, to_microsecond};

/// The next attempt: when, and why the one before failed.
struct Again<'a> {
    at: Timestamp,
    reason: &'a Reason,
}

impl Data {
    pub(super) fn mark_running(&mut self, batch: Batch, started: &[Started]) -> Result<Vec<Commit>, Error> {
        if let Some((_, Kept::Commits(answer))) = self.batch(batch) {
            return Ok(answer.clone());
        }
        self.check_lease(batch.fence)?;
        let mut mark = |start: &Started| {
            let is_ours = |run: &&RunRecord| {
                run.status == RunStatus::Enqueued
                    && run.fence == Some(batch.fence)
                    && run.attempt == start.attempt
            };
            if self.runs.get(&start.run).filter(is_ours).is_none() {
                return Commit::Stale;
            }
            self.change_run(start.run, |run| {
                run.status = RunStatus::Running;
                run.started_at = Some(to_microsecond(start.at));
            });
            Commit::Done
        };
        let answer: Vec<Commit> = started.iter().map(&mut mark).collect();
        self.batches.insert(batch.id.0, (batch.now, Kept::Commits(answer.clone())));
        Ok(answer)
    }

    pub(super) fn settle(&mut self, batch: Batch, reports: &[Report]) -> Vec<Settled> {
        if let Some((_, Kept::Settled(answer))) = self.batch(batch) {
            return answer.clone();
        }
        let answer: Vec<Settled> = reports.iter().map(|report| self.settle_one(batch, report)).collect();
        self.batches.insert(batch.id.0, (batch.now, Kept::Settled(answer.clone())));
        answer
    }

    /// Judges one report and writes what comes of it.
    pub(super) fn settle_one(&mut self, batch: Batch, report: &Report) -> Settled {
        let judged = self.docket(report.run).and_then(|mut docket| docket.judge(report, batch.now));
        let Some(judgement) = judged else { return Settled { commit: Commit::Stale, settlement: None } };
        let moment = Moment { now: batch.now, tz: self.tz_of(batch.fence) };
        self.write_settlement(report, &judgement, moment);
        Settled { commit: Commit::Done, settlement: Some(judgement.settlement) }
    }

    fn docket(&self, key: RunKey) -> Option<Docket> {
        let run = self.runs.get(&key)?;
        let state = self.states.get(&run.schedule)?;
        let record = self.schedules.get(&run.schedule)?;
        let definition = self.definition(run.schedule, run.version)?.any().clone();
        let attempts = self.attempts.range((key, 0)..=(key, u32::MAX));
        let older = attempts.filter_map(|((_, number), attempt)| Some((*number, attempt.token.clone()?)));
        let tokens = older.chain(run.token.clone().map(|token| (run.attempt, token))).collect();
        let followers =
            self.followers.range((record.id, ScheduleKey(i64::MIN))..=(record.id, ScheduleKey(i64::MAX)));
        let follower = |schedule: ScheduleKey| match &self.present(schedule)?.when {
            When::Chain(chain) if self.schedules.get(&schedule)?.org == run.org => {
                Some(Follower { schedule, chain: chain.clone() })
            }
            _ => None,
        };
        let tally = Tally {
            counters: state.counters,
            is_active: state.status.is_active() && record.deleted_at.is_none(),
            followers: followers.filter_map(|(_, schedule)| follower(*schedule)).collect(),
        };
        let mut docket = Docket::default();
        let place = (run.org, definition.target.name.clone());
        docket.breakers.extend(self.breakers.get(&place).map(|record| (place, record.breaker)));
        docket.schedules.insert(run.schedule, tally);
        let standing = Standing {
            schedule: run.schedule,
            org: run.org,
            status: run.status,
            attempt: run.attempt,
            fence: run.fence,
            tokens,
            definition,
        };
        docket.runs.insert(key, standing);
        Some(docket)
    }

    fn write_settlement(&mut self, report: &Report, judgement: &Judgement, moment: Moment) {
        let (settlement, now) = (&judgement.settlement, moment.now);
        let (run, schedule) = (settlement.in_flight.run, settlement.in_flight.schedule);
        self.write_attempt(report, judgement);
        if let Some(started_at) = report.started_at.filter(|_| judgement.attempt == report.attempt) {
            self.change_run(run, |row| row.started_at = Some(to_microsecond(started_at)));
        }
        self.change_state(schedule, |state| state.counters = settlement.counters);
        if let Some(breaker) = settlement.breaker {
            let target = judgement.definition.target.name.clone();
            let record = BreakerRecord { breaker, changed_at: now };
            self.move_breaker((judgement.org, target.clone()), record, Some(run));
            if judgement.breaker_before.name() != breaker.name() {
                self.note_run(run, &Event::BreakerMoved { target, to: breaker }, now);
            }
        }
        match &settlement.next {
            Next::End { status, reason, at } => {
                let at = to_microsecond(*at);
                let is_tick = self.runs.get(&run).is_some_and(|run| run.origin == Origin::Tick);
                self.change_state(schedule, |state| {
                    state.last_finish = Some((at, *status));
                    if is_tick {
                        state.anchors.finish = Some(at);
                    }
                    if *status == RunStatus::Success {
                        state.last_success = Some((at, run));
                    }
                });
                self.close(run, Ending { status: *status, reason: reason.clone() }, at);
            }
            Next::Retry { at, reason, .. } => self.retry(run, &Again { at: *at, reason }, now),
        }
        for chained in &settlement.chained {
            self.chain(chained, moment);
        }
        if let Some(status) = &settlement.disabled {
            self.leave(schedule, status, moment);
        }
        self.exhaust(schedule, now);
    }

    /// An attempt that is repeated or printed something has a row of its own.
    fn write_attempt(&mut self, report: &Report, judgement: &Judgement) {
        let Some(run) = self.runs.get(&report.run) else { return };
        let (reason, is_repeated) = match &judgement.settlement.next {
            Next::End { reason, .. } => (reason.clone(), report.attempt > 1),
            Next::Retry { reason, .. } => (Some(reason.clone()), true),
        };
        if !is_repeated && report.output.is_none() {
            return;
        }
        let known = self.attempts.get(&(report.run, report.attempt));
        let record = AttemptRecord {
            org: run.org,
            started_at: report.started_at.or(run.started_at).map(to_microsecond),
            ended_at: Some(to_microsecond(report.at)),
            reason,
            output: report.output.as_deref().map(bounded_output),
            token: known.and_then(|known| known.token.clone()).or_else(|| run.token.clone()),
        };
        self.attempts.insert((report.run, report.attempt), record);
    }

    fn retry(&mut self, run: RunKey, again: &Again<'_>, now: Timestamp) {
        self.free(run);
        let at = to_microsecond(again.at);
        self.change_run(run, |row| {
            row.status = RunStatus::Retrying;
            row.reason = Some(again.reason.clone());
            row.look_at = Some(at);
            row.token = None;
        });
        self.wake(run, now);
    }

    fn chain(&mut self, chained: &Chained, moment: Moment) {
        let (Some(record), Some(state)) =
            (self.schedules.get(&chained.schedule), self.states.get(&chained.schedule))
        else {
            return;
        };
        if record.deleted_at.is_some() {
            return;
        }
        let known = state.status.reason(state.left_at.unwrap_or(moment.now));
        self.arm(NewRow {
            schedule: chained.schedule,
            origin: Origin::Chained,
            nonce: if holds(Rule::FollowsByTheRun) { chained.upstream.to_string() } else { String::new() },
            scheduled_for: chained.scheduled_for,
            fire_at: chained.fire_at,
            verdict: known.or_else(|| chained.verdict.clone()),
            is_forced: false,
            payload: None,
            trace: None,
            tz: moment.tz,
        });
    }

    /// Rows of a schedule that are not in flight and have not ended.
    pub(super) fn opens(&self, schedule: ScheduleKey) -> Vec<Open> {
        let open = self.unended_of(schedule).filter(|(_, run)| run.is_open());
        let open = open.map(|(key, run)| Open {
            run: key,
            scheduled_for: run.scheduled_for,
            kind: if run.attempt == 0 { OpenKind::Unlaunched } else { OpenKind::Retrying },
        });
        open.collect()
    }

    /// Takes a schedule out of `active` for a reason of its own.
    pub(super) fn leave(&mut self, schedule: ScheduleKey, status: &Status, moment: Moment) {
        let (Some(definition), Some(state)) = (self.present(schedule).cloned(), self.states.get(&schedule))
        else {
            return;
        };
        // What cannot be read has no ticks that could be accounted for.
        let is_known = state.spent_at.is_none() && !matches!(status, Status::PausedInvalid { .. });
        let timing = timing(&definition, &state.state()).filter(|_| is_known);
        let open = self.opens(schedule);
        let before = Before {
            timing: timing.as_ref(),
            cursor: state.cursor,
            open: &open,
            slept: None,
            launched_through: state.launched_through,
        };
        let changed = change(&before, &Change::Leave(status.clone()), moment.now);
        self.carry_out(schedule, &changed, moment);
        let at = to_microsecond(moment.now);
        self.change_state(schedule, |state| {
            state.status = status.clone();
            state.left_at = Some(at);
            (state.plan_at, state.next_tick) = (None, None);
        });
        if let Some(reason) = status.reason(at) {
            self.note(schedule, &Event::Left { reason }, moment.now);
        }
    }

    /// Carries out what a change does to the rows that were planned before it.
    pub(super) fn carry_out(
        &mut self,
        schedule: ScheduleKey,
        changed: &punctual_plan::Changed,
        moment: Moment,
    ) {
        let is_of =
            |data: &Self, run: RunKey| data.runs.get(&run).is_some_and(|row| row.schedule == schedule);
        for run in &changed.removed {
            if is_of(self, *run) && self.runs[run].is_unlaunched() {
                self.remove(*run, moment.now);
            }
        }
        for (run, reason) in &changed.cancelled {
            if is_of(self, *run) && self.runs[run].is_open() {
                self.close(*run, Ending::of(RunStatus::Cancelled, reason), moment.now);
            }
        }
        self.write_plan(schedule, &changed.plan, moment);
    }
}
