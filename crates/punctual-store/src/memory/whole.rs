//! The whole of it: what there is, and whether it keeps its promises.

use jiff::{SignedDuration, Timestamp};
use punctual_plan::rule::{Rule, holds};
use punctual_plan::{Hole, Origin, Recorded, RunKey, RunStatus, ScheduleKey, Span, audit_ledger};
use punctual_time::Anchor;

use super::data::Data;
use super::table::{RangeRecord, RunRecord, ScheduleRecord, StateRecord};
use crate::{Chain, DatabaseStatus, Finding, Scope, Table, timing};

/// A check compares the newest part of each ledger with its spec.
const CHECKED: SignedDuration = SignedDuration::from_hours(7 * 24);

/// A check names at most this many findings.
const FINDINGS_MAX: usize = 1_000;

impl Data {
    pub(super) fn database_status(&self) -> DatabaseStatus {
        let count = |table: &Table| (*table, self.read_table(*table, None, usize::MAX).len() as u64);
        DatabaseStatus {
            place: "memory".to_owned(),
            schema: 2,
            tz_version: self.tz_versions.get(&self.tz).cloned().unwrap_or_default(),
            bytes: 0,
            rows: Table::ALL.iter().map(count).collect(),
        }
    }

    pub(super) fn check(&self) -> Vec<Finding> {
        let mut findings = Vec::new();
        let chain: Chain = self.verify_audit(&Scope::Engine);
        if let Some((seq, what)) = chain.broken {
            findings.push(Finding { table: "audit_events", row: seq.to_string(), what });
        }
        self.check_runs(&mut findings);
        self.check_claims(&mut findings);
        for (key, record) in self.schedules.iter().filter(|(_, record)| record.deleted_at.is_none()) {
            if let Some(state) = self.states.get(key) {
                self.check_cursor(*key, (record, state), &mut findings);
                self.check_ledger(*key, (record, state), &mut findings);
            } else {
                findings.push(found("schedules", &key.0, "it has no state"));
            }
        }
        findings.truncate(FINDINGS_MAX);
        findings
    }

    fn check_runs(&self, findings: &mut Vec<Finding>) {
        for (key, run) in &self.runs {
            let mut say = |what: &str| findings.push(found("runs", key, what));
            if run.status.is_terminal() && run.look_at.is_some() {
                say("it has ended and still wants to be looked at");
            }
            if !run.status.is_terminal() && run.look_at.is_none() {
                say("it has not ended and nobody will look at it");
            }
            if run.status.is_terminal() != run.completed_at.is_some() {
                say("its end and the time of its end disagree");
            }
            if run.status.is_in_flight() && run.fence.is_none() {
                say("it is in flight for no node");
            }
            let needs_reason =
                matches!(run.status, RunStatus::Failed | RunStatus::Skipped | RunStatus::Missed);
            if needs_reason && run.reason.is_none() {
                say("it ended without a reason");
            }
            if !self.schedules.contains_key(&run.schedule) {
                say("it belongs to no schedule");
            }
        }
    }

    fn check_claims(&self, findings: &mut Vec<Finding>) {
        let is_held = |run: &RunKey| self.runs.get(run).is_some_and(|run| run.status.is_in_flight());
        for (table, held) in [("guards", &self.guards), ("lanes", &self.lanes)] {
            for ((_, key), run) in held.iter().filter(|(_, run)| !is_held(run)) {
                findings.push(found(table, key, &format!("it is held by {run}, which is not in flight")));
            }
        }
        for (key, state) in &self.states {
            if let Some(run) = state.active_run.filter(|run| !is_held(run)) {
                let what = format!("its lane is held by {run}, which is not in flight");
                findings.push(found("schedule_state", &key.0, &what));
            }
        }
        for (key, run) in self.runs.iter().filter(|(_, run)| run.status.is_in_flight()) {
            // It took what the version asked for that was valid when it was admitted: known only of the present one.
            let present = self.schedules.get(&run.schedule).filter(|one| one.version == run.version);
            let Some(policy) = present.map(|one| &one.definition.any().policy) else { continue };
            let holds = match &policy.lane {
                _ if !policy.overlap.is_exclusive() || run.is_forced => true,
                Some(lane) => self.lanes.get(&(run.org, lane.clone())) == Some(key),
                None => self.states.get(&run.schedule).is_some_and(|state| state.active_run == Some(*key)),
            };
            if !holds {
                findings.push(found("runs", key, "it is in flight without its lane"));
            }
            let place = policy.guard.clone().map(|guard| (run.org, guard));
            if place.is_some_and(|place| self.guards.get(&place) != Some(key)) {
                findings.push(found("runs", key, "it is in flight without its guard"));
            }
        }
    }

    fn check_cursor(
        &self,
        key: ScheduleKey,
        (record, state): (&ScheduleRecord, &StateRecord),
        findings: &mut Vec<Finding>,
    ) {
        let mut say = |what: &str| findings.push(found("schedule_state", &key.0, what));
        if state.version != record.version {
            say("its version is not that of its definition");
        }
        let Some(timing) = timing(record.definition.any(), &state.state()) else { return };
        let is_live = state.status.is_active() && state.spent_at.is_none() && !timing.is_exhausted();
        let is_planned = is_live && timing.anchor == Anchor::Fixed;
        if is_planned && timing.planned_after(state.cursor.planned_through) != state.next_tick {
            say("its next tick is not the first one after its cursor");
        }
        let ahead = self
            .unended_of(key)
            .any(|(_, run)| run.origin == Origin::Tick && run.scheduled_for > state.cursor.planned_through);
        if ahead {
            say("a tick is planned beyond its cursor");
        }
    }

    /// Compares the ledger of the valid version with its spec.
    fn check_ledger(
        &self,
        key: ScheduleKey,
        (record, state): (&ScheduleRecord, &StateRecord),
        findings: &mut Vec<Finding>,
    ) {
        let Some(timing) = record.definition.any().when.timing() else { return };
        // One that had all its runs and was resumed nevertheless does not say any more until when it ticked.
        let is_spent = crate::timing(record.definition.any(), &state.state())
            .is_some_and(|timing| timing.is_exhausted() && state.spent_at.is_none());
        if is_spent || self.unusable(record.org, &record.definition).is_some() {
            return;
        }
        let since = self.versions.get(&(key, record.version)).map_or(record.created_at, |one| one.since);
        let spent_at = state.spent_at.filter(|_| holds(Rule::SpentEndsTheAccount));
        let end = [Some(state.cursor.planned_through), spent_at, state.left_at];
        let end = end.into_iter().flatten().min().unwrap_or(since);
        let oldest = end.saturating_sub(CHECKED).unwrap_or(Timestamp::MIN);
        let rows =
            self.history.range((key, Timestamp::MIN, RunKey(0))..=(key, Timestamp::MAX, RunKey(i64::MAX)));
        let rows = rows.filter_map(|(_, tick, run)| Some((*tick, self.runs.get(run)?)));
        let rows: Vec<_> = rows.filter(|(_, run)| run.origin == Origin::Tick).collect();
        // What was planned by other rules of the zones is not held against the present ones either.
        let is_other = |run: &RunRecord| run.version != record.version || run.tz != self.tz;
        let older = rows.iter().filter(|(_, run)| is_other(run)).map(|(tick, _)| *tick).max();
        let ranges = || self.ranges.range((key, Timestamp::MIN)..=(key, Timestamp::MAX));
        let is_older = |range: &RangeRecord| range.version != record.version;
        let older_range = ranges().filter(|(_, range)| is_older(range)).map(|(_, range)| range.last).max();
        // What an older version had fired early is that version's.
        let from = [older, older_range].into_iter().flatten().max().unwrap_or(oldest).max(since).max(oldest);
        let from = from.saturating_add(SignedDuration::from_micros(1)).unwrap_or(from);
        if from > end {
            return;
        }
        let rows: Vec<Timestamp> =
            rows.into_iter().map(|(tick, _)| tick).filter(|tick| *tick >= from).collect();
        let ranges: Vec<Span> = ranges()
            .filter(|(_, range)| range.last >= from)
            .map(|((_, first), range)| Span { first: *first, last: range.last, count: range.count })
            .collect();
        let audit = audit_ledger(timing, Recorded { rows: &rows, ranges: &ranges }, from..=end);
        let row = |hole: &Hole| Finding {
            table: "runs",
            row: format!("of `{}`", record.name),
            what: format!("{hole:?}"),
        };
        findings.extend(audit.holes.iter().map(row));
    }
}

fn found(table: &'static str, row: &impl ToString, what: &str) -> Finding {
    Finding { table, row: row.to_string(), what: what.to_owned() }
}
