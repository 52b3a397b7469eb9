//! The gate: everything that can keep a due row from starting, in a fixed order, and what a start takes.

use jiff::{SignedDuration, Timestamp};

use super::{Admission, Claim, Due, Effect, Verdict};
use crate::breaker::Passage;
use crate::limit::{QUEUE_MAX, ROOM_STEP, WAIT_MAX};
use crate::rule::{Rule, holds};
use crate::world::{Standing, Traffic};
use crate::{
    Breaker, Lane, OrgLimit, Origin, OverLimit, Overlap, Reason, Room, RunKey, RunStatus, Wait, Waiting,
    World,
};

/// Decides a row that is not late.
pub(super) fn pass(row: &Due, world: &World) -> Admission {
    let free = Standing::default();
    let standing = world.schedules.get(&row.schedule).unwrap_or(&free);
    let lane = Lane::of(row.schedule, row.org, &standing.policy);
    let empty = Traffic::default();
    let traffic = world.lanes.get(&lane).unwrap_or(&empty);
    let gate = Gate { row, world, standing, lane, traffic };
    let stopped = gate
        .known()
        .or_else(|| gate.deadline())
        .or_else(|| gate.max_runs())
        .or_else(|| gate.upstream())
        .or_else(|| gate.turn())
        .or_else(|| gate.guard())
        .or_else(|| gate.breaker())
        .or_else(|| gate.limits())
        .or_else(|| gate.room());
    match stopped {
        Some(verdict) => Admission::plain(row, verdict),
        None => gate.open(),
    }
}

/// Puts the claims of a verdict into the world, so that the next row of the batch sees them.
pub(super) fn enter(row: &Due, admission: &Admission, world: &mut World) {
    let standing = world.schedules.entry(row.schedule).or_default();
    let traffic = world.lanes.entry(Lane::of(row.schedule, row.org, &standing.policy)).or_default();
    for effect in &admission.effects {
        match effect {
            // It is in flight until it has ended.
            Effect::Cancel(..) => {}
            Effect::EndRetry(run, _) => standing.retrying.retain(|other| other != run),
            Effect::EndWait(run, _) => traffic.waiting.retain(|other| other != run),
        }
    }
    let has_waited = traffic.waiting.contains(&row.run);
    match &admission.verdict {
        // One that waits already keeps its place.
        Verdict::Wait(Waiting { wait: Wait::Turn { .. }, .. }) if has_waited => {}
        Verdict::Wait(Waiting { wait: Wait::Turn { .. }, .. }) => traffic.waiting.push(row.run),
        _ => traffic.waiting.retain(|run| *run != row.run),
    }
    if let Verdict::Wait(Waiting { wait: Wait::Room { target, again_at }, .. }) = &admission.verdict {
        let again_at = again_at.saturating_add(ROOM_STEP).unwrap_or(Timestamp::MAX);
        world.rooms.insert((row.org, target.clone()), Room { left: 0, again_at });
    }
    if admission.verdict == Verdict::Start {
        if let Some(room) = world.rooms.get_mut(&(row.org, standing.target.clone())) {
            room.left = room.left.saturating_sub(1);
        }
        traffic.in_flight.push(row.run);
        standing.retrying.retain(|run| *run != row.run);
    }
    for claim in &admission.claims {
        match claim {
            Claim::Lane(_) => {}
            Claim::Guard(org, key) => {
                world.guards.insert((*org, key.clone()), row.run);
            }
            Claim::Probe(org, target) => {
                world.breakers.insert((*org, target.clone()), Breaker::HalfOpen { probe: row.run });
            }
            Claim::Place(org) => {
                if let Some(used) = world.orgs.get_mut(org) {
                    used.in_flight += 1;
                    used.per_minute += 1;
                }
            }
            Claim::MaxRuns(schedule, _) => {
                let standing = world.schedules.entry(*schedule).or_default();
                if let Some(runs) = &mut standing.runs_left {
                    runs.left = runs.left.saturating_sub(1);
                }
            }
        }
    }
}

struct Gate<'a> {
    row: &'a Due,
    world: &'a World,
    standing: &'a Standing,
    lane: Lane,
    traffic: &'a Traffic,
}

impl Gate<'_> {
    /// Whether it came by the schedule itself, not by a person.
    fn is_planned(&self) -> bool {
        matches!(self.row.origin, Origin::Tick | Origin::Chained)
    }

    /// What it becomes if it does not start: one that was launched before cannot be skipped any more.
    fn end(&self, reason: Reason) -> Verdict {
        if self.row.is_retry() { Verdict::Fail(reason) } else { Verdict::Skip(reason) }
    }

    /// A skip that was known ahead is applied at its instant.
    fn known(&self) -> Option<Verdict> {
        self.row.verdict.clone().map(Verdict::Skip)
    }

    /// How long after its tick it may start; one that was launched before has started.
    fn start_deadline(&self) -> Option<SignedDuration> {
        self.standing.policy.start_deadline.filter(|_| self.is_planned() && !self.row.is_retry())
    }

    fn deadline(&self) -> Option<Verdict> {
        let now = self.world.now;
        let is_past = |limit: &SignedDuration| {
            now.duration_since(self.row.scheduled_for) > *limit && holds(Rule::StartDeadline)
        };
        if let Some(limit) = self.start_deadline().filter(is_past) {
            return Some(Verdict::Skip(Reason::StartDeadline { limit_s: limit.as_secs(), at: now }));
        }
        let is_over = |waiting: &&Waiting| waiting.deadline <= now && holds(Rule::WaitsEnd);
        let waiting = self.row.waiting.as_ref().filter(is_over)?;
        let wanted = waiting.wait.to_string();
        let limit_s = waiting.deadline.duration_since(waiting.since).as_secs();
        Some(self.end(Reason::WaitedTooLong { limit_s, wanted }))
    }

    fn max_runs(&self) -> Option<Verdict> {
        let is_counted = self.is_planned() && !self.row.is_retry() && holds(Rule::MaxRunsInAdmission);
        let runs = self.standing.runs_left.filter(|runs| is_counted && runs.left == 0)?;
        Some(Verdict::Skip(Reason::MaxRuns { max: runs.max }))
    }

    fn upstream(&self) -> Option<Verdict> {
        // One that waits for its turn or for room has found them well.
        let has_passed = self.row.waiting.as_ref().is_some_and(|waiting| !waiting.wait.is_upstream());
        let is_asked = self.row.origin == Origin::Tick && !self.row.is_retry() && !has_passed;
        let timeout = self.standing.policy.depends_on.as_ref().filter(|_| is_asked)?.timeout;
        let ended = |upstream: &crate::Upstream| match upstream.latest {
            None => Some(Reason::UpstreamAbsent { schedule: upstream.schedule.clone() }),
            Some((tick, status)) if status.is_terminal() && status != RunStatus::Success => {
                Some(Reason::UpstreamFailed { tick, status, schedule: upstream.schedule.clone() })
            }
            Some(_) => None,
        };
        // One that can no more succeed ends the wait at once, whatever the others do.
        let ended = self.row.upstream.iter().find_map(ended);
        if let Some(reason) = ended.filter(|_| holds(Rule::FailedUpstream)) {
            return Some(Verdict::Skip(reason));
        }
        let is_pending = |upstream: &&crate::Upstream| {
            upstream.latest.is_some_and(|(_, status)| status != RunStatus::Success)
        };
        let pending = self.row.upstream.iter().find(is_pending)?;
        Some(self.wait(Wait::Upstream { schedule: pending.schedule.clone() }, timeout))
    }

    /// The run that this one would have to wait for, if runs of its lane take turns.
    fn ahead(&self) -> Option<RunKey> {
        let is_queue = self.standing.policy.overlap == Overlap::Queue;
        let is_other = |run: &&RunKey| **run != self.row.run;
        // A retry keeps its turn before those that wait.
        let behind_others = is_queue && !self.row.is_retry();
        let keeps_turn = match is_queue {
            true => behind_others && holds(Rule::RetryKeepsItsTurn),
            false => !self.row.is_retry() && !holds(Rule::RetriesAreNotInTheWay),
        };
        let retrying = self.standing.retrying.iter().find(is_other).filter(|_| keeps_turn);
        let earlier = self.traffic.waiting.first().filter(is_other).filter(|_| behind_others);
        self.traffic.in_flight.first().or(retrying).or(earlier).copied()
    }

    fn turn(&self) -> Option<Verdict> {
        if self.row.is_forced || !holds(Rule::OverlapPolicy) {
            return None;
        }
        let behind = self.ahead()?;
        let turn = || self.wait(Wait::Turn { behind }, WAIT_MAX);
        match self.standing.policy.overlap {
            Overlap::Allow => None,
            Overlap::Skip | Overlap::Cancel if self.row.is_retry() => Some(turn()),
            Overlap::Cancel => None,
            Overlap::Skip => Some(Verdict::Skip(Reason::Overlap { run: behind })),
            Overlap::Queue => {
                let others = self.traffic.waiting.iter().filter(|run| **run != self.row.run).count();
                let is_new = self.row.waiting.is_none() && !self.row.is_retry();
                if is_new && others >= QUEUE_MAX as usize && holds(Rule::QueuesAreBounded) {
                    return Some(Verdict::Skip(Reason::QueueFull { max: QUEUE_MAX }));
                }
                Some(turn())
            }
        }
    }

    fn guard(&self) -> Option<Verdict> {
        let key = self.standing.policy.guard.as_ref()?;
        let holder = *self.world.guards.get(&(self.row.org, key.clone()))?;
        // What this row cancels gives its guard back.
        if self.cancels().contains(&holder) {
            return None;
        }
        Some(match self.row.is_retry() {
            true => self.wait(Wait::Turn { behind: holder }, WAIT_MAX),
            false => Verdict::Skip(Reason::Guard { run: holder, key: key.clone() }),
        })
    }

    fn passage(&self) -> Passage {
        if self.world.breakers.is_empty() || self.row.origin == Origin::Manual {
            return Passage::Free;
        }
        let breaker = self.world.breakers.get(&(self.row.org, self.standing.target.clone()));
        breaker.map_or(Passage::Free, |breaker| breaker.passage(self.world.now))
    }

    fn breaker(&self) -> Option<Verdict> {
        let target = self.standing.target.clone();
        match (self.passage(), self.row.is_retry()) {
            (Passage::Free | Passage::Probe, _) => None,
            (Passage::ShutUntil(until), true) => Some(Verdict::Later(until)),
            (Passage::ShutUntil(until), false) => Some(Verdict::Skip(Reason::BreakerOpen { until, target })),
            (Passage::Probed(behind), true) => Some(self.wait(Wait::Turn { behind }, WAIT_MAX)),
            (Passage::Probed(run), false) => Some(Verdict::Skip(Reason::BreakerProbe { run, target })),
        }
    }

    fn limits(&self) -> Option<Verdict> {
        let used = self.world.orgs.get(&self.row.org)?;
        let reached =
            |limit, used: u32, max: Option<u32>| max.filter(|max| used >= *max).map(|max| (limit, max));
        let (limit, max) = reached(OrgLimit::InFlight, used.in_flight, used.limits.in_flight_max)
            .or_else(|| reached(OrgLimit::PerMinute, used.per_minute, used.limits.per_minute_max))?;
        Some(match used.limits.over {
            OverLimit::Skip if !self.row.is_retry() => Verdict::Skip(Reason::OrgLimit { limit, max }),
            OverLimit::Skip | OverLimit::Wait => self.wait(Wait::Limit { limit }, WAIT_MAX),
        })
    }

    /// Where too many wait for their launch already, no more are admitted.
    fn room(&self) -> Option<Verdict> {
        if self.world.rooms.is_empty() {
            return None;
        }
        let target = self.standing.target.clone();
        let room = self.world.rooms.get(&(self.row.org, target.clone())).filter(|room| room.left == 0)?;
        Some(self.wait(Wait::Room { target, again_at: room.again_at }, WAIT_MAX))
    }

    /// It waits from when it first had to, and not longer than from then on.
    fn wait(&self, wait: Wait, longest: SignedDuration) -> Verdict {
        let since = self.row.waiting.as_ref().map_or(self.world.now, |waiting| waiting.since);
        let deadline = since.saturating_add(longest).unwrap_or(Timestamp::MAX);
        let start_by =
            self.start_deadline().and_then(|limit| self.row.scheduled_for.saturating_add(limit).ok());
        let deadline = start_by.map_or(deadline, |start_by| deadline.min(start_by));
        Verdict::Wait(Waiting { wait, since, deadline })
    }

    /// The runs in flight that this one cancels.
    fn cancels(&self) -> &[RunKey] {
        let cancels =
            self.standing.policy.overlap == Overlap::Cancel && !self.row.is_forced && !self.row.is_retry();
        if cancels { &self.traffic.in_flight } else { &[] }
    }

    /// Nothing keeps it: it starts, or under `cancel` it waits for what it cancels.
    fn open(&self) -> Admission {
        let mut admission = Admission::plain(self.row, Verdict::Start);
        let by = format!("its later {}", self.row.run);
        if self.standing.policy.overlap == Overlap::Cancel && !self.row.is_forced && !self.row.is_retry() {
            // A retry that waits ends as a retry.
            let is_other = |run: &&RunKey| **run != self.row.run && !self.standing.retrying.contains(run);
            let older = self.traffic.waiting.iter().filter(is_other);
            let superseded = |run: &RunKey| Effect::EndWait(*run, Reason::Superseded { by: by.clone() });
            admission.effects.extend(older.map(superseded));
        }
        let supersedes = self.standing.policy.overlap.supersedes_retries() && holds(Rule::SupersedeRetries);
        if self.is_planned() && !self.row.is_retry() && supersedes {
            let superseded = |run: &RunKey| Effect::EndRetry(*run, Reason::Superseded { by: by.clone() });
            admission.effects.extend(self.standing.retrying.iter().map(superseded));
        }
        if let Some(behind) = self.cancels().first() {
            let cancelled = |run: &RunKey| Effect::Cancel(*run, Reason::Cancelled { by: by.clone() });
            admission.effects.extend(self.cancels().iter().map(cancelled));
            admission.verdict = self.wait(Wait::Turn { behind: *behind }, WAIT_MAX);
            return admission;
        }
        admission.claims = self.claims();
        admission
    }

    fn claims(&self) -> Vec<Claim> {
        let policy = &self.standing.policy;
        let is_exclusive = policy.overlap.is_exclusive() && !self.row.is_forced && holds(Rule::LaneClaim);
        let mut claims = Vec::new();
        claims.extend(is_exclusive.then(|| Claim::Lane(self.lane.clone())));
        let guard = policy.guard.clone().filter(|_| holds(Rule::GuardClaim));
        claims.extend(guard.map(|key| Claim::Guard(self.row.org, key)));
        claims.extend(
            (self.passage() == Passage::Probe && holds(Rule::ProbeClaim))
                .then(|| Claim::Probe(self.row.org, self.standing.target.clone())),
        );
        let has_limits = self.world.orgs.contains_key(&self.row.org) && holds(Rule::PlaceClaim);
        claims.extend(has_limits.then_some(Claim::Place(self.row.org)));
        let is_counted = self.is_planned() && !self.row.is_retry();
        let counted = self.standing.runs_left.filter(|_| is_counted && holds(Rule::MaxRunsInAdmission));
        claims.extend(counted.map(|runs| Claim::MaxRuns(self.row.schedule, runs.max)));
        claims
    }
}
