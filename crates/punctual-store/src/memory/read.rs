//! Whole tables out: the same columns in the same order as in the databases.

use punctual_plan::{Breaker, RunKey, ScheduleKey};

use super::cell::{count, int, maybe, micros, seconds, text};
use super::data::Data;
use super::table::{AttemptRecord, BreakerRecord, RangeRecord, RunRecord, ScheduleRecord, StateRecord};
use crate::stored::{counts_text, payload_text, status_detail, tags_text, wait_columns};
use crate::{Cell, Table};

type Rows<'a> = Box<dyn Iterator<Item = Vec<Cell>> + 'a>;

impl Data {
    pub(super) fn read_table(&self, table: Table, after: Option<&[Cell]>, limit: usize) -> Vec<Vec<Cell>> {
        let key = table.key_columns();
        let after = after.map(|row| &row[..key.min(row.len())]);
        let is_read = |row: &Vec<Cell>| after.is_some_and(|after| order(&row[..key]) <= order(after));
        self.rows(table).skip_while(is_read).take(limit).collect()
    }

    fn rows(&self, table: Table) -> Rows<'_> {
        match table {
            Table::TzVersions => {
                Box::new(self.tz_versions.iter().map(|(key, version)| vec![int(*key), text(version)]))
            }
            Table::Orgs => Box::new(
                self.orgs
                    .iter()
                    .map(|(key, (id, created_at))| vec![int(key.0), text(id), micros(*created_at)]),
            ),
            Table::Schedules => Box::new(self.schedules.iter().map(|(key, row)| schedule_cells(*key, row))),
            Table::ScheduleState => Box::new(self.states.iter().map(|(key, row)| state_cells(*key, row))),
            Table::Runs => Box::new(self.runs.iter().map(|(key, row)| run_cells(*key, row))),
            Table::Attempts => {
                Box::new(self.attempts.iter().map(|((run, number), row)| attempt_cells(*run, *number, row)))
            }
            Table::RunRanges => Box::new(self.ranges.iter().map(|(place, row)| range_cells(*place, row))),
            Table::ScheduleVersions => self.version_cells(),
            Table::ScheduleUses => Box::new(self.uses.iter().map(|(org, kind, name, schedule)| {
                vec![int(org.0), text(*kind), text(name), int(schedule.0)]
            })),
            Table::AuditEvents | Table::AuditSeals => self.audit_cells(table),
            Table::Outbox | Table::CircuitBreakers | Table::CircuitBreakerTransitions => {
                self.sent_cells(table)
            }
            Table::Guards => held_cells(&self.guards),
            Table::Lanes => held_cells(&self.lanes),
            Table::OrgUse => Box::new(self.org_use.iter().map(|(org, (minute, started))| {
                let in_flight = self.org_in_flight.get(org).copied().unwrap_or_default();
                vec![int(org.0), int(*minute), int(i64::from(*started)), int(i64::from(in_flight))]
            })),
            Table::Requests => Box::new(self.requests.iter().map(|((org, key), row)| {
                vec![int(org.0), text(key), text(&row.question), text(&row.answer), micros(row.at)]
            })),
            Table::Tokens => Box::new(self.tokens.iter().map(|((org, id), row)| {
                let user = maybe(row.user.clone(), text);
                let ends = [maybe(row.expires_at, micros), maybe(row.revoked_at, micros)];
                let mut cells = vec![int(org.0), text(id), text(&row.hash), user, text(&row.scopes)];
                cells.push(micros(row.created_at));
                cells.extend(ends);
                cells
            })),
            documents => self.document_cells(documents.name()),
        }
    }

    fn document_cells(&self, table: &'static str) -> Rows<'_> {
        let rows = self.documents.iter().filter(move |((of, ..), _)| *of == table);
        Box::new(rows.map(|((_, org, name), row)| {
            vec![int(org.0), text(name), int(row.version), text(&row.body), micros(row.updated_at)]
        }))
    }

    fn version_cells(&self) -> Rows<'_> {
        Box::new(self.versions.iter().map(|((schedule, version), row)| {
            vec![
                int(schedule.0),
                int(*version),
                int(row.org.0),
                micros(row.since),
                maybe(row.made_by.clone(), text),
                text(row.definition.text()),
            ]
        }))
    }

    fn audit_cells(&self, table: Table) -> Rows<'_> {
        if table == Table::AuditSeals {
            return Box::new(self.seals.iter().map(|((org, position), row)| {
                vec![int(org.0), int(*position), int(row.seq), text(&row.hash)]
            }));
        }
        Box::new(self.events.iter().map(|(seq, row)| {
            vec![
                int(*seq),
                int(row.org.0),
                micros(row.at),
                maybe(row.actor.clone(), text),
                text(&row.kind),
                maybe(row.schedule, |schedule| int(schedule.0)),
                maybe(row.run, |run| int(run.0)),
                text(&row.detail),
            ]
        }))
    }

    fn sent_cells(&self, table: Table) -> Rows<'_> {
        match table {
            Table::Outbox => Box::new(self.outbox.iter().map(|(seq, row)| {
                let mut cells = vec![int(*seq), int(row.org.0), int(row.run.0), int(i64::from(row.attempt))];
                cells.extend([
                    text(&row.message_id),
                    text(&row.body),
                    micros(row.at),
                    maybe(row.position, int),
                ]);
                cells
            })),
            Table::CircuitBreakers => {
                Box::new(self.breakers.iter().map(|((org, target), row)| breaker_cells(org.0, target, row)))
            }
            _ => Box::new(self.transitions.iter().map(|(seq, row)| {
                let mut cells = vec![int(*seq), int(row.org.0), text(&row.target), micros(row.at)];
                cells.extend([text(&row.from), text(&row.to), maybe(row.run, |run| int(run.0))]);
                cells
            })),
        }
    }
}

/// Cells in an order of their own: numbers before texts.
fn order(cells: &[Cell]) -> Vec<(u8, i64, &str)> {
    let place = |cell| match cell {
        &Cell::Null => (0, 0, ""),
        Cell::Integer(value) => (1, *value, ""),
        Cell::Text(value) => (2, 0, value.as_str()),
    };
    cells.iter().map(place).collect()
}

fn held_cells(held: &std::collections::BTreeMap<(punctual_plan::OrgKey, String), RunKey>) -> Rows<'_> {
    Box::new(held.iter().map(|((org, key), run)| vec![int(org.0), text(key), int(run.0)]))
}

fn schedule_cells(key: ScheduleKey, row: &ScheduleRecord) -> Vec<Cell> {
    let definition = row.definition.any();
    vec![
        int(key.0),
        int(row.org.0),
        text(row.id.to_string()),
        text(&row.name),
        maybe(definition.owner.user_id.clone(), text),
        maybe(definition.description.clone(), text),
        text(tags_text(&definition.tags)),
        text(&definition.spec),
        maybe(row.declared_set.clone(), text),
        int(row.version),
        micros(row.created_at),
        micros(row.updated_at),
        maybe(row.deleted_at, micros),
    ]
}

fn state_cells(key: ScheduleKey, row: &StateRecord) -> Vec<Cell> {
    vec![
        int(key.0),
        int(row.org.0),
        int(i64::from(row.shard)),
        int(row.version),
        text(row.status.name()),
        text(status_detail(&row.status)),
        maybe(row.left_at, micros),
        maybe(row.spent_at, micros),
        micros(row.cursor.planned_through),
        micros(row.cursor.decided_through),
        maybe(row.next_tick, seconds),
        maybe(row.plan_at, micros),
        maybe(row.active_run, |run| int(run.0)),
        maybe(row.launched_through, seconds),
        count(row.counters.admitted),
        count(row.counters.runs),
        count(row.counters.successes),
        count(row.counters.failures),
        int(i64::from(row.counters.consecutive_failures)),
        maybe(row.last_start, micros),
        maybe(row.last_finish, |(at, _)| micros(at)),
        maybe(row.last_finish, |(_, status)| text(status.name())),
        maybe(row.last_success, |(at, _)| micros(at)),
        maybe(row.last_success, |(_, run)| int(run.0)),
        maybe(row.anchors.start, micros),
        maybe(row.anchors.finish, micros),
    ]
}

fn run_cells(key: RunKey, row: &RunRecord) -> Vec<Cell> {
    let wait = row.wait.as_ref().map(|waiting| (wait_columns(&waiting.wait), waiting));
    vec![
        int(key.0),
        seconds(row.scheduled_for),
        int(row.org.0),
        int(row.schedule.0),
        text(row.origin.name()),
        text(&row.nonce),
        int(i64::from(row.shard)),
        micros(row.fire_at),
        maybe(row.look_at, micros),
        text(row.status.name()),
        maybe(row.reason.as_ref(), |reason| text(reason.code())),
        maybe(row.reason.as_ref(), |reason| text(reason.detail())),
        int(row.version),
        int(row.tz),
        int(i64::from(row.attempt)),
        int(i64::from(row.is_forced)),
        maybe(wait.as_ref(), |((kind, _), _)| text(*kind)),
        maybe(wait.as_ref(), |((_, what), _)| text(what)),
        maybe(wait.as_ref(), |(_, waiting)| micros(waiting.since)),
        maybe(wait.as_ref(), |(_, waiting)| micros(waiting.deadline)),
        maybe(row.fence, |fence| int(fence.0)),
        maybe(row.queue.clone(), text),
        maybe(row.token.clone(), text),
        maybe(row.enqueued_at, micros),
        maybe(row.started_at, micros),
        maybe(row.completed_at, micros),
        maybe(row.executor_run_id.clone(), text),
        maybe(row.payload.as_ref(), |payload| text(payload_text(payload))),
        maybe(row.trace, |trace| text(trace.to_string())),
    ]
}

fn attempt_cells(run: RunKey, number: u32, row: &AttemptRecord) -> Vec<Cell> {
    vec![
        int(run.0),
        int(i64::from(number)),
        int(row.org.0),
        maybe(row.started_at, micros),
        maybe(row.ended_at, micros),
        maybe(row.reason.as_ref(), |reason| text(reason.code())),
        maybe(row.reason.as_ref(), |reason| text(reason.detail())),
        maybe(row.output.clone(), text),
        maybe(row.token.clone(), text),
    ]
}

fn range_cells(place: (ScheduleKey, jiff::Timestamp), row: &RangeRecord) -> Vec<Cell> {
    vec![
        int(place.0.0),
        seconds(place.1),
        seconds(row.last),
        int(row.org.0),
        count(row.count),
        text(row.end.status().name()),
        text(row.end.reason().code()),
        text(row.end.reason().detail()),
        maybe(row.counts.as_ref(), |counts| text(counts_text(counts))),
        int(row.version),
        micros(row.recorded_at),
    ]
}

fn breaker_cells(org: i64, target: &str, row: &BreakerRecord) -> Vec<Cell> {
    let (failures, until, probe) = match row.breaker {
        Breaker::Closed { failures } => (i64::from(failures), Cell::Null, Cell::Null),
        Breaker::Open { until } => (0, micros(until), Cell::Null),
        Breaker::HalfOpen { probe } => (0, Cell::Null, int(probe.0)),
    };
    vec![
        int(org),
        text(target),
        text(row.breaker.name()),
        int(failures),
        until,
        probe,
        micros(row.changed_at),
    ]
}
