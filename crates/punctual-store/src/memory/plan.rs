//! Planning: schedules that come near, and plans written against their cursor.

use jiff::Timestamp;
use punctual_plan::rule::{Rule, holds};
use punctual_plan::{LateRow, Origin, RunStatus, Schedule, ScheduleKey};
use punctual_time::Anchor;

use super::data::Data;
use super::life::Moment;
use super::table::{Definition, Kept};
use crate::{Ask, Batch, Commit, Error, PlanCommit, Plannable, PlannableBatch, Shards, Whose, timing};

impl Ask {
    /// Up to when a thing must have wanted to be looked at.
    pub(super) fn latest(&self) -> Timestamp {
        match &self.whose {
            Whose::Own(_) => self.now,
            Whose::Late(late) => self.now.saturating_sub(*late).unwrap_or(Timestamp::MIN),
        }
    }

    /// Whether a shard is asked about.
    pub(super) fn covers(&self, shard: u16) -> bool {
        match &self.whose {
            Whose::Own(Shards::Some(shards)) => shards.binary_search(&shard).is_ok(),
            Whose::Own(Shards::All) => true,
            Whose::Late(_) => holds(Rule::RepairSweep),
        }
    }
}

impl Data {
    pub(super) fn plannable(&self, ask: &Ask) -> PlannableBatch {
        let latest = ask.latest();
        let mut batch = PlannableBatch::default();
        for (plan_at, schedule) in &self.plannable {
            if !self.states.get(schedule).is_some_and(|state| ask.covers(state.shard)) {
                continue;
            }
            if *plan_at > latest || batch.ready.len() + batch.unreadable.len() >= ask.limit {
                batch.next_plan_at = Some(*plan_at);
                break;
            }
            match self.ready(*schedule, ask.now) {
                Ok(ready) => batch.ready.extend(ready),
                Err(error) => batch.unreadable.push((*schedule, error)),
            }
        }
        batch
    }

    pub(super) fn decidable(&self, now: Timestamp, schedules: &[ScheduleKey]) -> PlannableBatch {
        let mut batch = PlannableBatch::default();
        let is_active = |schedule: &&ScheduleKey| {
            let state = self.states.get(schedule).filter(|state| !state.is_spent());
            let is_living = self.schedules.get(schedule).is_some_and(|one| one.deleted_at.is_none());
            is_living && state.is_some_and(|state| state.status.is_active())
        };
        for schedule in schedules.iter().filter(is_active) {
            match self.ready(*schedule, now) {
                Ok(ready) => batch.ready.extend(ready),
                Err(error) => batch.unreadable.push((*schedule, error)),
            }
        }
        batch
    }

    fn ready(&self, schedule: ScheduleKey, now: Timestamp) -> Result<Option<Plannable>, Error> {
        let (Some(record), Some(state)) = (self.schedules.get(&schedule), self.states.get(&schedule)) else {
            return Ok(None);
        };
        if let Some(why) = self.unusable(record.org, &record.definition) {
            return Err(Error::corrupt(why));
        }
        let Definition::Read(definition) = &record.definition else { return Ok(None) };
        let Some(timing) = timing(definition, &state.state()) else { return Ok(None) };
        let is_armed = |status| status == RunStatus::Scheduled || !holds(Rule::OnlyArmedIsLate);
        let late = self
            .unended_of(schedule)
            .filter(|(_, run)| is_armed(run.status) && run.origin == Origin::Tick && run.fire_at <= now);
        let mut late: Vec<LateRow> = late
            .map(|(key, run)| LateRow {
                run: key,
                scheduled_for: run.scheduled_for,
                fire_at: run.fire_at,
                verdict: run.reason.clone(),
            })
            .collect();
        late.sort_by_key(|row| row.scheduled_for);
        Ok(Some(Plannable {
            schedule,
            org: record.org,
            definition: definition.clone(),
            timing,
            cursor: state.cursor,
            late,
            outstanding: self.outstanding(schedule, definition),
            hung_until: state.plan_at.filter(|_| state.next_tick.is_none()),
        }))
    }

    /// The ticks whose start, or whose end, the next one hangs on.
    pub(super) fn outstanding(&self, schedule: ScheduleKey, definition: &Schedule) -> usize {
        let ticks = self.unended_of(schedule).filter(|(_, run)| run.origin == Origin::Tick);
        if definition.when.floats_on(Anchor::LastFinish) {
            ticks.count()
        } else if definition.when.floats_on(Anchor::LastStart) {
            ticks.filter(|(_, run)| run.attempt == 0).count()
        } else {
            0
        }
    }

    pub(super) fn commit_plans(&mut self, batch: Batch, plans: &[PlanCommit]) -> Result<Vec<Commit>, Error> {
        if let Some((_, Kept::Commits(answer))) = self.batch(batch) {
            return Ok(answer.clone());
        }
        self.check_lease(batch.fence)?;
        let moment = Moment { now: batch.now, tz: self.tz_of(batch.fence) };
        let answer: Vec<Commit> = match self.has_newest_rules(batch.fence) {
            true => plans.iter().map(|plan| self.commit_plan(plan, moment)).collect(),
            false => vec![Commit::Stale; plans.len()],
        };
        self.batches.insert(batch.id.0, (batch.now, Kept::Commits(answer.clone())));
        Ok(answer)
    }

    fn commit_plan(&mut self, commit: &PlanCommit, moment: Moment) -> Commit {
        let is_living =
            self.schedules.get(&commit.schedule).is_some_and(|schedule| schedule.deleted_at.is_none());
        let is_present = self.states.get(&commit.schedule).is_some_and(|state| {
            (state.version == commit.definition.version || !holds(Rule::VersionGuard))
                && (state.cursor == commit.from || !holds(Rule::CursorGuard))
                && (state.status.is_active() || !holds(Rule::ActiveGuard))
                && !state.is_spent()
        });
        if !is_living || !is_present {
            if !holds(Rule::RangesWithTheCursor) {
                self.write_ranges(commit.schedule, &commit.plan, moment.now);
            }
            return Commit::Stale;
        }
        self.write_plan(commit.schedule, &commit.plan, moment);
        self.exhaust(commit.schedule, moment.now);
        Commit::Done
    }
}
