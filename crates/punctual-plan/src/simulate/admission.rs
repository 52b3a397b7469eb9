//! Admission: what is due is judged, and the verdicts are entered into the book.

use jiff::{SignedDuration, Timestamp};

use super::book::{Book, ORG};
use crate::{
    Admission, Attempt, Claim, Due, Effect, NonFire, OrgLimit, Origin, Outcome, Reason, RunKey, RunState,
    ScheduleId, Upstream, Verdict, Wait, Waiting, admission_event, admit,
};

impl Book {
    /// Admits everything that is due; gives back what is cancelled by it.
    pub(super) fn admit(&mut self) -> Vec<(RunKey, Outcome)> {
        let mut rows = Vec::new();
        while let Some((_, run)) = self.due.first().copied().filter(|(at, _)| *at <= self.now) {
            self.look_at(run, None);
            rows.extend(self.ask(run));
        }
        self.world.now = self.now;
        self.turn_minute();
        let admissions = admit(&rows, &mut self.world);
        let mut cancelled = Vec::new();
        for (admission, row) in admissions.iter().zip(&rows) {
            self.carry_out(admission, row);
            for effect in &admission.effects {
                cancelled.extend(self.affect(effect));
            }
        }
        self.order_lanes();
        // What ended in this batch may be what a later row of it has begun to wait for.
        for admission in &admissions {
            if let Some(row) = self.row(admission.run).filter(|row| row.run.state.status().is_terminal()) {
                self.wake(row.desk, admission.run);
            }
        }
        cancelled
    }

    /// Whoever has waited longest is next, of those that began together the one with the earlier tick.
    fn order_lanes(&mut self) {
        let mut lanes = std::mem::take(&mut self.world.lanes);
        for traffic in lanes.values_mut().filter(|traffic| traffic.waiting.len() > 1) {
            traffic.waiting.sort_by_key(|run| {
                let row = self.row(*run);
                let since = row.and_then(|row| row.run.waited.as_ref()).map(|waited| waited.since);
                (since, row.map(|row| row.run.scheduled_for), *run)
            });
        }
        self.world.lanes = lanes;
    }

    fn turn_minute(&mut self) {
        let minute = self.now.as_second().div_euclid(60);
        if std::mem::replace(&mut self.minute, minute) != minute
            && let Some(used) = self.world.orgs.get_mut(&ORG)
        {
            used.per_minute = 0;
        }
    }

    /// A due row as those who admit see it.
    fn ask(&self, run: RunKey) -> Option<Due> {
        let row = self.row(run)?;
        let desk = &self.desks[row.desk];
        let (verdict, waiting, attempt) = match &row.run.state {
            RunState::Scheduled { verdict } => (verdict.clone(), None, 1),
            RunState::Waiting(waiting) => (None, Some(waiting.clone()), row.run.attempts.len() as u32 + 1),
            RunState::Retrying { attempt, .. } => (None, None, *attempt),
            _ => return None,
        };
        let tick = row.run.scheduled_for;
        let upstream = desk.schedule.policy.depends_on.iter().flat_map(|depends| &depends.on);
        let upstream = upstream.map(|id| self.upstream(*id, tick)).collect();
        let fire_at = row.run.fire_at.min(self.now);
        let (schedule, origin, is_forced) = (desk.key, row.run.origin, row.is_forced);
        Some(Due {
            run,
            schedule,
            org: ORG,
            origin,
            scheduled_for: tick,
            fire_at,
            verdict,
            waiting,
            attempt,
            upstream,
            is_forced,
        })
    }

    fn upstream(&self, id: ScheduleId, tick: Timestamp) -> Upstream {
        let Some(desk) = self.by_id.get(&id).map(|desk| &self.desks[*desk]) else {
            return Upstream { schedule: id.to_string(), latest: None };
        };
        let status_of = |run| self.row(run).map(|row| row.run.state.status());
        Upstream { schedule: desk.schedule.name.clone(), latest: desk.latest(tick, status_of) }
    }

    fn carry_out(&mut self, admission: &Admission, due: &Due) {
        let Some(desk) = self.row(admission.run).map(|row| row.desk) else { return };
        if let Some(event) = admission_event(admission, due.scheduled_for) {
            self.note(desk, event);
        }
        let (run, at) = (admission.run, self.now);
        match &admission.verdict {
            Verdict::Start => self.start(admission, due, desk),
            Verdict::Wait(waiting) => self.wait(run, waiting),
            Verdict::Later(later) => {
                if let Some(row) = self.row_mut(run) {
                    match &mut row.run.state {
                        RunState::Retrying { at, .. } => *at = *later,
                        RunState::Scheduled { .. } => row.run.fire_at = *later,
                        // A further attempt that has waited: its tick fired long ago.
                        _ => {}
                    }
                }
                self.look_at(run, Some(*later));
            }
            Verdict::Skip(reason) => self.close(run, RunState::Skipped { reason: reason.clone(), at }),
            Verdict::Miss(reason) => self.close(run, RunState::Missed { reason: reason.clone(), at }),
            Verdict::Fail(reason) => self.close(run, RunState::Failed { reason: reason.clone(), at }),
        }
    }

    fn wait(&mut self, run: RunKey, waiting: &Waiting) {
        let look = match &waiting.wait {
            Wait::Limit { limit: OrgLimit::PerMinute } => waiting.deadline.min(next_minute(self.now)),
            _ => waiting.deadline,
        };
        if let Some(row) = self.row_mut(run) {
            row.run.state = RunState::Waiting(waiting.clone());
            row.run.waited = Some(waiting.clone());
        }
        self.waiting.insert(run);
        self.look_at(run, Some(look));
    }

    fn start(&mut self, admission: &Admission, due: &Due, desk: usize) {
        let (run, since) = (admission.run, self.now);
        self.waiting.remove(&run);
        self.started.push(run);
        let at = &mut self.desks[desk];
        at.open.remove(&run);
        at.in_flight += 1;
        at.ticks_in_flight += usize::from(due.origin == Origin::Tick);
        at.launches += 1;
        at.state.last_start = Some(since);
        if due.origin == Origin::Tick {
            if !due.is_retry() {
                at.state.anchors.start = Some(since);
            }
            at.launched_through = at.launched_through.max(Some(due.scheduled_for));
        }
        if !due.is_retry() && matches!(due.origin, Origin::Tick | Origin::Chained) {
            at.state.counters.admitted += 1;
        }
        if let Some(timing) = at.timing.as_mut().filter(|_| due.origin == Origin::Tick) {
            timing.runs = at.state.counters.admitted;
        }
        if let Some(row) = self.row_mut(run) {
            row.run.state = RunState::Running { attempt: due.attempt, since };
            let attempt = Attempt { number: due.attempt, started_at: since, ended_at: None, reason: None };
            row.run.attempts.push(attempt);
        }
        if admission.claims.iter().any(|claim| matches!(claim, Claim::MaxRuns(..))) {
            self.spend(desk);
        }
    }

    fn affect(&mut self, effect: &Effect) -> Option<(RunKey, Outcome)> {
        let at = self.now;
        match effect {
            Effect::Cancel(run, Reason::Cancelled { by }) => {
                return Some((*run, Outcome::Cancelled { by: by.clone() }));
            }
            Effect::Cancel(run, reason) => {
                return Some((*run, Outcome::Cancelled { by: reason.to_string() }));
            }
            Effect::EndRetry(run, reason) => {
                self.close(*run, RunState::Failed { reason: reason.clone(), at });
            }
            Effect::EndWait(run, reason)
                if self.row(*run).is_some_and(|row| !row.run.attempts.is_empty()) =>
            {
                self.close(*run, RunState::Failed { reason: reason.clone(), at });
            }
            Effect::EndWait(run, reason) => self.end(*run, NonFire::Skipped(reason.clone())),
        }
        None
    }
}

fn next_minute(at: Timestamp) -> Timestamp {
    let second = (at.as_second().div_euclid(60) + 1) * 60;
    Timestamp::from_second(second)
        .unwrap_or_else(|_| at.saturating_add(SignedDuration::from_mins(1)).unwrap_or(at))
}
