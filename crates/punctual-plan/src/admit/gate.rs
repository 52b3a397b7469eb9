//! The gate: everything that can keep a due row from starting, in a fixed order, and what a start takes.

use jiff::{SignedDuration, Timestamp};

use super::{Admission, Claim, Due, Effect, Verdict};
use crate::breaker::Passage;
use crate::limit::{QUEUE_MAX, WAIT_MAX};
use crate::world::{Standing, Traffic};
use crate::{Breaker, Lane, OrgLimit, Origin, OverLimit, Overlap, Reason, RunStatus, Wait, Waiting, World};

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
        .or_else(|| gate.limits());
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
    if admission.verdict == Verdict::Start {
        traffic.in_flight.push(row.run);
    }
    for claim in &admission.claims {
        match claim {
            Claim::Lane(_) => {}
            Claim::Guard(org, key) => {
                world.guards.insert((*org, key.clone()), row.run);
            }
            Claim::Probe(target) => {
                world.breakers.insert(target.clone(), Breaker::HalfOpen { probe: row.run });
            }
            Claim::Place(org) => {
                if let Some(used) = world.orgs.get_mut(org) {
                    used.in_flight += 1;
                    used.per_minute += 1;
                }
            }
            Claim::MaxRuns(schedule) => {
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
    fn is_tick(&self) -> bool {
        self.row.origin == Origin::Tick
    }

    /// A skip that was known ahead is applied at its instant.
    fn known(&self) -> Option<Verdict> {
        self.row.verdict.clone().map(Verdict::Skip)
    }

    fn deadline(&self) -> Option<Verdict> {
        let now = self.world.now;
        let limit = self.standing.policy.start_deadline.filter(|_| self.is_tick());
        if let Some(limit) = limit.filter(|limit| now.duration_since(self.row.scheduled_for) > *limit) {
            return Some(Verdict::Skip(Reason::StartDeadline { limit_s: limit.as_secs(), at: now }));
        }
        let waiting = self.row.waiting.as_ref().filter(|waiting| waiting.deadline <= now)?;
        let wanted = match &waiting.wait {
            Wait::Turn { behind } => format!("its turn behind {behind}"),
            Wait::Upstream { schedule } => format!("`{schedule}`"),
            Wait::Limit { limit } => format!("room under the org's limit `{limit}`"),
        };
        let limit_s = waiting.deadline.duration_since(waiting.since).as_secs();
        Some(Verdict::Skip(Reason::WaitedTooLong { limit_s, wanted }))
    }

    fn max_runs(&self) -> Option<Verdict> {
        let runs = self.standing.runs_left.filter(|runs| self.is_tick() && runs.left == 0)?;
        Some(Verdict::Skip(Reason::MaxRuns { max: runs.max }))
    }

    fn upstream(&self) -> Option<Verdict> {
        let timeout = self.standing.policy.depends_on.as_ref().filter(|_| self.is_tick())?.timeout;
        let ended = |upstream: &crate::Upstream| match upstream.latest {
            None => Some(Reason::UpstreamAbsent { schedule: upstream.schedule.clone() }),
            Some((tick, status)) if status.is_terminal() && status != RunStatus::Success => {
                Some(Reason::UpstreamFailed { tick, status, schedule: upstream.schedule.clone() })
            }
            Some(_) => None,
        };
        // One that can no more succeed ends the wait at once, whatever the others do.
        if let Some(reason) = self.standing.upstream.iter().find_map(ended) {
            return Some(Verdict::Skip(reason));
        }
        let is_pending = |upstream: &&crate::Upstream| {
            upstream.latest.is_some_and(|(_, status)| status != RunStatus::Success)
        };
        let pending = self.standing.upstream.iter().find(is_pending)?;
        Some(self.wait(Wait::Upstream { schedule: pending.schedule.clone() }, timeout))
    }

    /// The run that this one would have to wait for, if runs of the schedule take turns.
    fn ahead(&self) -> Option<crate::RunKey> {
        let is_queue = self.standing.policy.overlap == Overlap::Queue;
        let retrying = self.standing.retrying.first().filter(|_| is_queue);
        let earlier = self.traffic.waiting.first().filter(|run| is_queue && **run != self.row.run);
        self.traffic.in_flight.first().or(retrying).or(earlier).copied()
    }

    fn turn(&self) -> Option<Verdict> {
        if self.row.is_forced {
            return None;
        }
        let ahead = self.ahead()?;
        match self.standing.policy.overlap {
            Overlap::Skip => Some(Verdict::Skip(Reason::Overlap { run: ahead })),
            Overlap::Queue => {
                let others = self.traffic.waiting.iter().filter(|run| **run != self.row.run).count();
                if self.row.waiting.is_none() && others >= QUEUE_MAX as usize {
                    return Some(Verdict::Skip(Reason::QueueFull { max: QUEUE_MAX }));
                }
                Some(self.wait(Wait::Turn { behind: ahead }, WAIT_MAX))
            }
            Overlap::Allow | Overlap::Cancel => None,
        }
    }

    fn guard(&self) -> Option<Verdict> {
        let key = self.standing.policy.guard.as_ref()?;
        let holder = *self.world.guards.get(&(self.row.org, key.clone()))?;
        // What this row cancels gives its guard back.
        let is_cancelled = self.cancels().contains(&holder);
        (!is_cancelled).then(|| Verdict::Skip(Reason::Guard { run: holder, key: key.clone() }))
    }

    fn passage(&self) -> Passage {
        let breaker =
            self.world.breakers.get(&self.standing.target).filter(|_| self.row.origin != Origin::Manual);
        breaker.map_or(Passage::Free, |breaker| breaker.passage(self.world.now))
    }

    fn breaker(&self) -> Option<Verdict> {
        let target = self.standing.target.clone();
        match self.passage() {
            Passage::Free | Passage::Probe => None,
            Passage::ShutUntil(until) => Some(Verdict::Skip(Reason::BreakerOpen { until, target })),
            Passage::Probed(run) => Some(Verdict::Skip(Reason::BreakerProbe { run, target })),
        }
    }

    fn limits(&self) -> Option<Verdict> {
        let used = self.world.orgs.get(&self.row.org)?;
        let reached =
            |limit, used: u32, max: Option<u32>| max.filter(|max| used >= *max).map(|max| (limit, max));
        let (limit, max) = reached(OrgLimit::InFlight, used.in_flight, used.limits.in_flight_max)
            .or_else(|| reached(OrgLimit::PerMinute, used.per_minute, used.limits.per_minute_max))?;
        Some(match used.limits.over {
            OverLimit::Skip => Verdict::Skip(Reason::OrgLimit { limit, max }),
            OverLimit::Wait => self.wait(Wait::Limit { limit }, WAIT_MAX),
        })
    }

    /// It waits from when it first had to, and not longer than from then on.
    fn wait(&self, wait: Wait, longest: SignedDuration) -> Verdict {
        let since = self.row.waiting.as_ref().map_or(self.world.now, |waiting| waiting.since);
        let deadline = since.saturating_add(longest).unwrap_or(Timestamp::MAX);
        let start_by = self.standing.policy.start_deadline.filter(|_| self.is_tick());
        let start_by = start_by.and_then(|limit| self.row.scheduled_for.saturating_add(limit).ok());
        let deadline = start_by.map_or(deadline, |start_by| deadline.min(start_by));
        Verdict::Wait(Waiting { wait, since, deadline })
    }

    /// The runs in flight that this one cancels.
    fn cancels(&self) -> &[crate::RunKey] {
        let cancels = self.standing.policy.overlap == Overlap::Cancel && !self.row.is_forced;
        if cancels { &self.traffic.in_flight } else { &[] }
    }

    /// Nothing keeps it: it starts, or under `cancel` it waits for what it cancels.
    fn open(&self) -> Admission {
        let mut admission = Admission::plain(self.row, Verdict::Start);
        let by = format!("its later {}", self.row.run);
        if self.standing.policy.overlap == Overlap::Cancel && !self.row.is_forced {
            let older = self.traffic.waiting.iter().filter(|run| **run != self.row.run);
            let superseded =
                |run: &crate::RunKey| Effect::EndWait(*run, Reason::Superseded { by: by.clone() });
            admission.effects.extend(older.map(superseded));
        }
        if self.is_tick() && self.standing.policy.overlap.supersedes_retries() {
            let superseded =
                |run: &crate::RunKey| Effect::EndRetry(*run, Reason::Superseded { by: by.clone() });
            admission.effects.extend(self.standing.retrying.iter().map(superseded));
        }
        if let Some(behind) = self.cancels().first() {
            let cancelled = |run: &crate::RunKey| Effect::Cancel(*run, Reason::Cancelled { by: by.clone() });
            admission.effects.extend(self.cancels().iter().map(cancelled));
            admission.verdict = self.wait(Wait::Turn { behind: *behind }, WAIT_MAX);
            return admission;
        }
        admission.claims = self.claims();
        admission
    }

    fn claims(&self) -> Vec<Claim> {
        let policy = &self.standing.policy;
        let is_exclusive = policy.overlap.is_exclusive() && !self.row.is_forced;
        let mut claims = Vec::new();
        claims.extend(is_exclusive.then(|| Claim::Lane(self.lane.clone())));
        claims.extend(policy.guard.clone().map(|key| Claim::Guard(self.row.org, key)));
        claims.extend((self.passage() == Passage::Probe).then(|| Claim::Probe(self.standing.target.clone())));
        claims.extend(self.world.orgs.contains_key(&self.row.org).then_some(Claim::Place(self.row.org)));
        let is_counted = self.is_tick() && self.standing.runs_left.is_some();
        claims.extend(is_counted.then_some(Claim::MaxRuns(self.row.schedule)));
        claims
    }
}
