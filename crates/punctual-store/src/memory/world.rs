//! The world that due rows are judged in, read for the schedules of the batch alone.

use std::collections::BTreeSet;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use jiff::Timestamp;
use punctual_plan::{
    Breaker, Lane, OrgKey, OrgLimits, OrgUse, Origin, RunKey, RunsLeft, Schedule, ScheduleId, ScheduleKey,
    Standing, Traffic, Upstream, Wait, Waiting, When, World,
};

use super::data::Data;
use super::table::RunRecord;
use crate::DueRow;
use crate::stored::Limits;

impl Data {
    /// Everything that the verdicts over rows depend on.
    pub(super) fn world(&self, rows: &[DueRow], now: Timestamp) -> World {
        let mut world = World::free(now);
        let schedules: BTreeSet<ScheduleKey> = rows.iter().map(|row| row.due.schedule).collect();
        for schedule in schedules {
            let (Some(definition), Some(record)) = (self.present(schedule), self.schedules.get(&schedule))
            else {
                continue;
            };
            let org = record.org;
            let lane = Lane::of(schedule, org, &definition.policy);
            if let Entry::Vacant(place) = world.lanes.entry(lane) {
                let traffic = self.traffic(place.key());
                if traffic != Traffic::default() {
                    place.insert(traffic);
                }
            }
            if let Some(guard) = &definition.policy.guard {
                let place = (org, guard.clone());
                world.guards.extend(self.guards.get(&place).map(|run| (place, *run)));
            }
            if !self.breakers.is_empty() {
                let place = (org, definition.target.name.clone());
                let breaker = self.breakers.get(&place).map(|record| record.breaker);
                let breaker = breaker.filter(|breaker| *breaker != Breaker::default());
                world.breakers.extend(breaker.map(|breaker| (place, breaker)));
            }
            if !world.orgs.contains_key(&org) {
                world.orgs.extend(self.org_use(org, now).map(|used| (org, used)));
            }
            world.schedules.insert(schedule, self.standing(schedule, definition));
        }
        world
    }

    fn standing(&self, schedule: ScheduleKey, definition: &Schedule) -> Standing {
        // One whose time has come and that waits for something is still about to be tried again.
        let retrying = self.unended_of(schedule).filter(|(_, run)| run.is_open() && run.attempt > 0);
        let mut retrying: Vec<(Timestamp, RunKey)> =
            retrying.map(|(key, run)| (run.scheduled_for, key)).collect();
        retrying.sort_unstable();
        let admitted = self.states.get(&schedule).map_or(0, |state| state.counters.admitted);
        let left = |max: u64| RunsLeft { left: max.saturating_sub(admitted), max };
        Standing {
            policy: Arc::clone(&definition.policy),
            retrying: retrying.into_iter().map(|(_, run)| run).collect(),
            target: definition.target.name.clone(),
            runs_left: max_runs(definition).map(left),
        }
    }

    fn traffic(&self, lane: &Lane) -> Traffic {
        let members: Vec<ScheduleKey> = match lane {
            Lane::Schedule(schedule) => vec![*schedule],
            Lane::Shared(org, name) => {
                let from = (*org, name.clone(), ScheduleKey(i64::MIN));
                let to = (*org, name.clone(), ScheduleKey(i64::MAX));
                self.sharers.range(from..=to).map(|(.., schedule)| *schedule).collect()
            }
        };
        let mut in_flight = Vec::new();
        let mut waiting: Vec<(Timestamp, Timestamp, RunKey)> = Vec::new();
        for (key, run) in members.iter().flat_map(|schedule| self.unended_of(*schedule)) {
            if run.status.is_in_flight() {
                in_flight.push(key);
            } else if let Some(Waiting { wait: Wait::Turn { .. }, since, .. }) = run.waiting() {
                waiting.push((*since, run.scheduled_for, key));
            }
        }
        // Whoever has it may be of a schedule that is gone, or that has left the lane since.
        let holder = match lane {
            Lane::Schedule(_) => None,
            Lane::Shared(org, name) => self.lanes.get(&(*org, name.clone())),
        };
        in_flight.extend(holder.filter(|holder| !in_flight.contains(holder)));
        in_flight.sort_unstable();
        waiting.sort_unstable();
        Traffic { in_flight, waiting: waiting.into_iter().map(|(.., run)| run).collect() }
    }

    /// The limits of an org, if it has some.
    pub(super) fn limits(&self, org: OrgKey) -> Option<Limits> {
        let document = self.documents.get(&("limits", org, "org".to_owned()))?;
        Limits::read(&document.body).ok()
    }

    /// What an org with limits has used.
    pub(super) fn org_use(&self, org: OrgKey, now: Timestamp) -> Option<OrgUse> {
        if self.documents.is_empty() {
            return None;
        }
        let limits = self.limits(org)?;
        let minute = minute_of(now);
        let used = self.org_use.get(&org).filter(|(present, _)| *present == minute);
        let limits = OrgLimits {
            per_minute_max: limits.runs_per_minute,
            in_flight_max: limits.runs_in_flight,
            over: limits.over,
        };
        Some(OrgUse {
            limits,
            per_minute: used.map_or(0, |(_, count)| *count),
            in_flight: self.org_in_flight.get(&org).copied().unwrap_or_default(),
        })
    }

    /// The schedules that a row depends on, with their latest tick at or before its own.
    pub(super) fn upstream(&self, run: &RunRecord) -> Vec<Upstream> {
        let Some(definition) = self.present(run.schedule).filter(|_| run.origin == Origin::Tick) else {
            return Vec::new();
        };
        let on = definition.policy.depends_on.iter().flat_map(|depends| &depends.on);
        on.map(|id| self.latest(*id, run)).collect()
    }

    fn latest(&self, id: ScheduleId, run: &RunRecord) -> Upstream {
        let Some(schedule) = self.ids.get(&(id, run.org)).copied() else {
            return Upstream { schedule: id.to_string(), latest: None };
        };
        let at = run.scheduled_for;
        let rows = self
            .history
            .range((schedule, Timestamp::MIN, RunKey(i64::MIN))..=(schedule, at, RunKey(i64::MAX)));
        let mut ticks = rows.rev().filter_map(|(_, tick, key)| Some((*tick, self.runs.get(key)?)));
        let row = ticks.find(|(_, row)| row.origin == Origin::Tick).map(|(tick, row)| (tick, row.status));
        let range = self.ranges.range((schedule, Timestamp::MIN)..=(schedule, at)).next_back();
        let range = range.map(|(_, range)| (range.last.min(at), range.end.status()));
        let name = self.schedules.get(&schedule).map(|schedule| schedule.name.clone());
        Upstream {
            schedule: name.unwrap_or_else(|| id.to_string()),
            latest: row.into_iter().chain(range).max_by_key(|(tick, _)| *tick),
        }
    }
}

/// How many runs a schedule has in all, if that is bounded.
pub(super) fn max_runs(definition: &Schedule) -> Option<u64> {
    match &definition.when {
        When::Ticks(timing) => timing.bounds.max_runs,
        When::Chain(chain) => chain.bounds.max_runs,
    }
}

/// The minute of an instant, counted from 1970.
pub(super) fn minute_of(at: Timestamp) -> i64 {
    at.as_second().div_euclid(60)
}
