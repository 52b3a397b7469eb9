//! Runs, ranges and counts as they are shown.

use jiff::Timestamp;
use punctual_plan::{Attempt, Range, Run, RunKey, RunState, RunStatus, ScheduleKey, Waiting};

use super::data::Data;
use super::table::{RangeRecord, RunRecord, StateRecord};
use crate::{Cut, Error, Listed, RangeRow, RunFilter, RunRow, Scope};

impl Data {
    /// A ledger entry with all its attempts.
    pub(super) fn run_of(&self, key: RunKey) -> Option<Run> {
        let row = self.runs.get(&key)?;
        let attempts = self.attempts.range((key, 0)..=(key, u32::MAX));
        let mut attempts: Vec<Attempt> = attempts
            .map(|((_, number), attempt)| Attempt {
                number: *number,
                started_at: attempt.started_at.or(row.enqueued_at).unwrap_or(row.fire_at),
                ended_at: attempt.ended_at,
                reason: attempt.reason.clone(),
            })
            .collect();
        let is_told = attempts.iter().any(|attempt| attempt.number == row.attempt);
        if let Some(started_at) = row.started_at.filter(|_| row.attempt > 0 && !is_told) {
            attempts.push(Attempt {
                number: row.attempt,
                started_at,
                ended_at: row.completed_at,
                reason: row.reason.clone().filter(|_| row.status.is_terminal()),
            });
        }
        Some(Run {
            key,
            schedule: row.schedule,
            version: row.version,
            origin: row.origin,
            nonce: row.nonce.clone(),
            scheduled_for: row.scheduled_for,
            fire_at: row.fire_at,
            state: state_of(row),
            waited: row.wait.clone(),
            attempts,
        })
    }

    pub(super) fn run_row(&self, scope: &Scope, key: RunKey) -> Option<RunRow> {
        let row = self.runs.get(&key).filter(|row| scope.covers(row.org))?;
        let schedule = self.schedules.get(&row.schedule)?;
        let last = self.attempts.range((key, 0)..=(key, u32::MAX)).next_back();
        Some(RunRow {
            run: self.run_of(key)?,
            schedule_id: schedule.id,
            schedule_name: schedule.name.clone(),
            enqueued_at: row.enqueued_at,
            started_at: row.started_at,
            completed_at: row.completed_at,
            output: last.and_then(|(_, attempt)| attempt.output.clone()),
            node: row.fence.and_then(|fence| self.nodes.get(&fence)).map(|node| node.id.clone()),
            tz_version: self.tz_versions.get(&row.tz).cloned(),
            executor_run_id: row.executor_run_id.clone(),
            payload: row.payload.clone(),
            trace: row.trace,
        })
    }

    pub(super) fn run_list(
        &self,
        scope: &Scope,
        filter: &RunFilter,
        cut: &Cut,
    ) -> Result<Listed<RunRow>, Error> {
        let before = cut.after.as_ref().map(|after| read_place(after)).transpose()?;
        let before = before.map(|(tick, key)| (tick, RunKey(key)));
        let schedule = match filter.schedule {
            Some(id) => match self.by_id(scope, id) {
                Some(schedule) => Some(schedule),
                None => return Ok(Listed { rows: Vec::new(), next: None }),
            },
            None => None,
        };
        let is_before = |place: &(Timestamp, RunKey)| before.is_none_or(|before| *place < before);
        let is_wanted = |(_, key): &(Timestamp, RunKey)| {
            self.runs.get(key).is_some_and(|row| scope.covers(row.org) && is_run_wanted(filter, row))
        };
        let limit = cut.limit as usize;
        let mut places: Vec<(Timestamp, RunKey)> = match schedule {
            Some(schedule) => {
                let from = (schedule, Timestamp::MIN, RunKey(i64::MIN));
                let rows = self.history.range(from..=(schedule, Timestamp::MAX, RunKey(i64::MAX))).rev();
                let places = rows.map(|(_, tick, key)| (*tick, *key));
                places.filter(is_before).filter(is_wanted).take(limit + 1).collect()
            }
            None => {
                let places = self.times.iter().rev().copied();
                places.filter(is_before).filter(is_wanted).take(limit + 1).collect()
            }
        };
        let is_more = places.len() > limit;
        places.truncate(limit);
        let next =
            places.last().filter(|_| is_more).map(|(tick, key)| format!("{} {}", tick.as_second(), key.0));
        Ok(Listed { rows: places.iter().filter_map(|(_, key)| self.run_row(scope, *key)).collect(), next })
    }

    pub(super) fn range_list(
        &self,
        scope: &Scope,
        filter: &RunFilter,
        cut: &Cut,
    ) -> Result<Listed<RangeRow>, Error> {
        let before = cut.after.as_ref().map(|after| read_place(after)).transpose()?;
        let schedule = filter.schedule.map(|id| self.by_id(scope, id));
        let mut places: Vec<(Timestamp, i64)> = self
            .ranges
            .iter()
            .filter(|((key, _), range)| {
                scope.covers(range.org)
                    && schedule.is_none_or(|wanted| wanted == Some(*key))
                    && filter.status.is_none_or(|status| range.end.status() == status)
            })
            .filter(|((_, first), range)| {
                filter.since.is_none_or(|since| range.last >= since)
                    && filter.until.is_none_or(|until| *first <= until)
            })
            .map(|((key, first), _)| (*first, key.0))
            .filter(|place| before.is_none_or(|before| *place < before))
            .collect();
        places.sort_unstable_by(|one, other| other.cmp(one));
        let is_more = places.len() > cut.limit as usize;
        places.truncate(cut.limit as usize);
        let next =
            places.last().filter(|_| is_more).map(|(first, key)| format!("{} {key}", first.as_second()));
        let row = |(first, key): &(Timestamp, i64)| self.range_row(ScheduleKey(*key), *first);
        Ok(Listed { rows: places.iter().filter_map(row).collect(), next })
    }

    fn range_row(&self, key: ScheduleKey, first: Timestamp) -> Option<RangeRow> {
        let schedule = self.schedules.get(&key)?;
        let RangeRecord { last, count, end, counts, version, recorded_at, .. } =
            self.ranges.get(&(key, first))?.clone();
        Some(RangeRow {
            schedule_id: schedule.id,
            schedule_name: schedule.name.clone(),
            range: Range { first, last, count, end },
            counts: counts.unwrap_or_default(),
            version,
            recorded_at,
        })
    }

    /// The states of living schedules.
    pub(super) fn living_of(&self, scope: &Scope) -> impl Iterator<Item = &StateRecord> {
        let is_living =
            |key: &ScheduleKey| self.schedules.get(key).is_some_and(|one| one.deleted_at.is_none());
        let covered = self.states.iter().filter(|(_, state)| scope.covers(state.org));
        covered.filter(move |(key, _)| is_living(key)).map(|(_, state)| state)
    }

    /// How many of them should have been planned and are not.
    pub(super) fn unplanned(&self, scope: &Scope, now: Timestamp) -> u64 {
        let has_come = |state: &&StateRecord| state.next_tick.is_some_and(|tick| tick <= now);
        self.living_of(scope).filter(|state| state.plan_at.is_some()).filter(has_come).count() as u64
    }
}

fn is_run_wanted(filter: &RunFilter, row: &RunRecord) -> bool {
    filter.status.is_none_or(|status| row.status == status)
        && filter.origin.is_none_or(|origin| row.origin == origin)
        && filter.since.is_none_or(|since| row.scheduled_for >= since)
        && filter.until.is_none_or(|until| row.scheduled_for <= until)
}

/// A row's state with what belongs to it.
fn state_of(row: &RunRecord) -> RunState {
    let unknown = || punctual_plan::Reason::Superseded { by: "nothing that was kept".to_owned() };
    let reason = || row.reason.clone().unwrap_or_else(unknown);
    let at = row.completed_at.unwrap_or(row.fire_at);
    let since = row.enqueued_at.unwrap_or(row.fire_at);
    match row.status {
        RunStatus::Scheduled => RunState::Scheduled { verdict: row.reason.clone() },
        RunStatus::Waiting => RunState::Waiting(row.wait.clone().unwrap_or(Waiting {
            wait: punctual_plan::Wait::Turn { behind: RunKey(0) },
            since: row.fire_at,
            deadline: row.look_at.unwrap_or(row.fire_at),
        })),
        RunStatus::Enqueued => RunState::Enqueued { attempt: row.attempt, since },
        RunStatus::Running => {
            RunState::Running { attempt: row.attempt, since: row.started_at.unwrap_or(since) }
        }
        RunStatus::Retrying => RunState::Retrying {
            attempt: row.attempt + 1,
            at: row.look_at.unwrap_or(row.fire_at),
            reason: reason(),
        },
        RunStatus::Success => RunState::Success { at },
        RunStatus::Failed => RunState::Failed { reason: reason(), at },
        RunStatus::Cancelled => RunState::Cancelled { reason: reason(), at },
        RunStatus::Skipped => RunState::Skipped { reason: reason(), at },
        RunStatus::Missed => RunState::Missed { reason: reason(), at },
    }
}

/// A place in a list by time: the second and the row's number.
fn read_place(after: &str) -> Result<(Timestamp, i64), Error> {
    let place = after.split_once(' ').and_then(|(second, key)| {
        Some((Timestamp::from_second(second.parse().ok()?).ok()?, key.parse().ok()?))
    });
    place.ok_or_else(|| Error::corrupt(format!("`{after}` is no place in a list")))
}
