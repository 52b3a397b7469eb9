//! Whole tables in: rows that were read from another database.

use std::sync::Arc;

use punctual_plan::{
    Anchors, Breaker, Counters, Cursor, Fence, OrgKey, Origin, Reason, RunKey, RunStatus, Schedule,
    ScheduleId, ScheduleKey, Waiting,
};

use super::cell::Row;
use super::data::Data;
use super::table::{
    AttemptRecord, BreakerRecord, Definition, DocumentRecord, EventRecord, MessageRecord, RangeRecord,
    RequestRecord, RunRecord, ScheduleRecord, SealRecord, StateRecord, TransitionRecord, VersionRecord,
};
use crate::cache::is_sharing;
use crate::stored::{read_counts, read_end, read_payload, read_status, read_trace, read_wait};
use crate::{Cell, Document, DocumentKind, Error, Shared, Table, Token, decode};

impl Data {
    pub(super) fn write_table(&mut self, table: Table, rows: Vec<Vec<Cell>>) -> Result<(), Error> {
        rows.into_iter().try_for_each(|cells| self.write_row(table, Row::new(cells)))
    }

    fn write_row(&mut self, table: Table, mut row: Row) -> Result<(), Error> {
        match table {
            Table::TzVersions => {
                let (key, version) = (row.int()?, row.text()?);
                // The one that this ledger was made with may have another number there.
                self.tz_versions.retain(|_, known| *known != version);
                self.tz_versions.insert(key, version);
                let newest = self.tz_versions.iter().max_by_key(|(_, version)| version.as_str());
                self.tz = newest.map_or(0, |(key, _)| *key);
            }
            Table::Orgs => {
                let (key, id, created_at) = (OrgKey(row.int()?), row.text()?, row.micros()?);
                self.org_ids.insert(id.clone(), key);
                self.orgs.insert(key, (id, created_at));
            }
            Table::Tokens => self.write_token(row)?,
            Table::Schedules => self.write_schedule_row(row)?,
            Table::ScheduleVersions => self.write_version(row)?,
            // They follow from the definitions.
            Table::ScheduleUses => {}
            Table::ScheduleState => self.write_state(row)?,
            Table::Runs => self.write_run(row)?,
            Table::Attempts => self.write_attempt_row(row)?,
            Table::RunRanges => self.write_range(row)?,
            Table::AuditEvents => self.write_event(row)?,
            Table::AuditSeals => {
                let (org, position) = (OrgKey(row.int()?), row.int()?);
                let seal = SealRecord { seq: row.int()?, hash: row.text()? };
                self.sealed_seqs.insert(seal.seq, position);
                self.seals.insert((org, position), seal);
            }
            Table::Outbox => self.write_message(row)?,
            Table::CircuitBreakers | Table::CircuitBreakerTransitions => self.write_breaker(table, row)?,
            Table::Guards | Table::Lanes => {
                let (place, run) = ((OrgKey(row.int()?), row.text()?), RunKey(row.int()?));
                let held = if table == Table::Guards { &mut self.guards } else { &mut self.lanes };
                held.insert(place, run);
            }
            Table::OrgUse => {
                self.org_use.insert(OrgKey(row.int()?), (row.int()?, row.number()?));
            }
            Table::Requests => {
                let place = (OrgKey(row.int()?), row.text()?);
                let (question, answer, at) = (row.text()?, row.text()?, row.micros()?);
                self.requests.insert(place, RequestRecord { question, answer, at });
            }
            documents => {
                let place = (documents.name(), OrgKey(row.int()?), row.text()?);
                let (version, body, updated_at) = (row.int()?, row.text()?, row.micros()?);
                self.documents.insert(place, DocumentRecord { version, body, updated_at });
            }
        }
        Ok(())
    }

    fn write_token(&mut self, mut row: Row) -> Result<(), Error> {
        let org = OrgKey(row.int()?);
        let token = Token {
            id: row.text()?,
            hash: row.text()?,
            user: row.maybe_text()?,
            scopes: row.text()?,
            created_at: row.micros()?,
            expires_at: row.maybe_micros()?,
            revoked_at: row.maybe_micros()?,
        };
        let place = (org, token.id.clone());
        self.token_hashes.insert(token.hash.clone(), place.clone());
        self.tokens.insert(place, token);
        Ok(())
    }

    /// Reads a definition with the calendars and quiet hours of its org.
    fn read_definition(&self, org: OrgKey, stored: &str, rest: impl FnOnce() -> Schedule) -> Definition {
        let mut shared = Shared::default();
        for kind in [DocumentKind::Calendar, DocumentKind::QuietHours] {
            let of_org = self.documents.range((kind.table(), org, String::new())..);
            for ((_, _, name), record) in
                of_org.take_while(|(place, _)| (place.0, place.1) == (kind.table(), org))
            {
                let DocumentRecord { version, body, updated_at } = record.clone();
                // One that cannot be read is as good as gone: whoever uses it is unreadable itself.
                let _ = shared.add(&Document { kind, name: name.clone(), version, body, updated_at });
            }
        }
        match decode(stored, &shared) {
            Ok(definition) => Definition::Read(Arc::new(definition)),
            Err(why) => {
                Definition::Unread { text: stored.to_owned(), why: why.to_string(), rest: Arc::new(rest()) }
            }
        }
    }

    /// Definitions that refer to shared things by name mean them as they are now.
    pub(super) fn refer_anew(&mut self, org: OrgKey, kind: DocumentKind) {
        if !matches!(kind, DocumentKind::Calendar | DocumentKind::QuietHours) {
            return;
        }
        let refers = |definition: &Definition| match definition {
            Definition::Read(definition) => is_sharing(definition),
            Definition::Unread { .. } => true,
        };
        let anew = |definition: &Definition| {
            self.read_definition(org, &definition.text(), || definition.any().as_ref().clone())
        };
        let schedules = self.schedules.iter().filter(|(_, row)| row.org == org && refers(&row.definition));
        let schedules: Vec<_> = schedules.map(|(key, row)| (*key, anew(&row.definition))).collect();
        let versions = self.versions.iter().filter(|(_, row)| row.org == org && refers(&row.definition));
        let versions: Vec<_> = versions.map(|(key, row)| (*key, anew(&row.definition))).collect();
        for (key, definition) in schedules {
            self.schedules.entry(key).and_modify(|row| row.definition = definition);
        }
        for (key, definition) in versions {
            self.versions.entry(key).and_modify(|row| row.definition = definition);
        }
    }

    fn write_schedule_row(&mut self, mut row: Row) -> Result<(), Error> {
        let (key, org, id, name) = (ScheduleKey(row.int()?), OrgKey(row.int()?), row.text()?, row.text()?);
        let id = id.parse().map(ScheduleId).map_err(|_| Error::corrupt(format!("`{id}` is no id")))?;
        let (user_id, description, tags) = (row.maybe_text()?, row.maybe_text()?, row.text()?);
        let (spec, declared_set) = (row.text()?, row.maybe_text()?);
        let version = row.int()?;
        // The definition comes with its version; until then, what these columns say of it.
        let rest = {
            let timing = punctual_time::Timing::new(
                punctual_time::Once::at(jiff::Timestamp::UNIX_EPOCH),
                punctual_time::Zone::utc(),
            );
            let action = punctual_plan::Action::Callback { task: String::new() };
            let mut rest = Schedule::new(id, &name, timing, action);
            rest.owner.user_id = user_id;
            rest.description = description;
            rest.tags = serde_json::from_str(&tags).unwrap_or_default();
            rest.spec = spec;
            rest.version = version;
            rest
        };
        let record = ScheduleRecord {
            org,
            id,
            name,
            definition: Definition::Read(Arc::new(rest)),
            declared_set,
            version,
            created_at: row.micros()?,
            updated_at: row.micros()?,
            deleted_at: row.maybe_micros()?,
        };
        self.put_schedule(key, record);
        Ok(())
    }

    fn write_version(&mut self, mut row: Row) -> Result<(), Error> {
        let place = (ScheduleKey(row.int()?), row.int()?);
        let (org, since, made_by, stored) =
            (OrgKey(row.int()?), row.micros()?, row.maybe_text()?, row.text()?);
        let present = self.present(place.0).cloned();
        let present = present.ok_or_else(|| Error::corrupt("a version belongs to no schedule"))?;
        let definition = self.read_definition(org, &stored, || Schedule::clone(&present));
        let record = self.schedules.get(&place.0).filter(|record| record.version == place.1).cloned();
        if let Some(record) = record {
            self.put_schedule(place.0, ScheduleRecord { definition: definition.clone(), ..record });
        }
        self.versions.insert(place, VersionRecord { org, since, made_by, definition });
        Ok(())
    }

    fn write_state(&mut self, mut row: Row) -> Result<(), Error> {
        let key = ScheduleKey(row.int()?);
        let (org, shard, version) = (OrgKey(row.int()?), row.number()?, row.int()?);
        let status = read_status(&row.text()?, &row.text()?)?;
        let (left_at, spent_at) = (row.maybe_micros()?, row.maybe_micros()?);
        let cursor = Cursor { planned_through: row.micros()?, decided_through: row.micros()? };
        let (next_tick, plan_at) = (row.maybe_seconds()?, row.maybe_micros()?);
        let (active_run, launched_through) = (row.maybe_int()?.map(RunKey), row.maybe_seconds()?);
        let counters = Counters {
            admitted: row.number()?,
            runs: row.number()?,
            successes: row.number()?,
            failures: row.number()?,
            consecutive_failures: row.number()?,
        };
        let last_start = row.maybe_micros()?;
        let (finished, how) =
            (row.maybe_micros()?, row.maybe_text()?.map(|name| status_named(&name)).transpose()?);
        let (succeeded, which) = (row.maybe_micros()?, row.maybe_int()?.map(RunKey));
        let anchors = Anchors { start: row.maybe_micros()?, finish: row.maybe_micros()? };
        let state = StateRecord {
            org,
            shard,
            version,
            status,
            left_at,
            spent_at,
            cursor,
            next_tick,
            plan_at,
            active_run,
            launched_through,
            counters,
            last_start,
            last_finish: finished.zip(how),
            last_success: succeeded.zip(which),
            anchors,
        };
        self.plannable.extend(plan_at.map(|plan_at| (plan_at, key)));
        self.states.insert(key, state);
        Ok(())
    }

    fn write_run(&mut self, mut row: Row) -> Result<(), Error> {
        let (key, scheduled_for) = (RunKey(row.int()?), row.seconds()?);
        let (org, schedule) = (OrgKey(row.int()?), ScheduleKey(row.int()?));
        let origin = row.text()?.parse::<Origin>().map_err(|error| Error::corrupt(error.to_string()))?;
        let (nonce, shard, fire_at, look_at) =
            (row.text()?, row.number()?, row.micros()?, row.maybe_micros()?);
        let status = status_named(&row.text()?)?;
        let reason = reason(row.maybe_text()?, row.maybe_text()?)?;
        let (version, tz, attempt, is_forced) = (row.int()?, row.int()?, row.number()?, row.int()? != 0);
        let wait = (row.maybe_text()?, row.maybe_text()?, row.maybe_micros()?, row.maybe_micros()?);
        let wait = match wait {
            (Some(kind), Some(what), Some(since), Some(deadline)) => {
                Some(Waiting { wait: read_wait(&kind, &what)?, since, deadline })
            }
            _ => None,
        };
        let record = RunRecord {
            scheduled_for,
            org,
            schedule,
            origin,
            nonce,
            shard,
            fire_at,
            look_at,
            status,
            reason,
            version,
            tz,
            attempt,
            is_forced,
            wait,
            fence: row.maybe_int()?.map(Fence),
            queue: row.maybe_text()?,
            token: row.maybe_text()?,
            enqueued_at: row.maybe_micros()?,
            started_at: row.maybe_micros()?,
            completed_at: row.maybe_micros()?,
            executor_run_id: row.maybe_text()?,
            payload: read_payload(row.maybe_text()?)?,
            trace: read_trace(row.maybe_text()?.as_deref()),
        };
        self.run_last = self.run_last.max(key.0);
        // A node that joins here must not get a fence that a copied run already carries.
        self.fence = self.fence.max(record.fence.map_or(0, |fence| fence.0));
        self.put_run(key, Some(record));
        Ok(())
    }

    fn write_attempt_row(&mut self, mut row: Row) -> Result<(), Error> {
        let place = (RunKey(row.int()?), row.number()?);
        let record = AttemptRecord {
            org: OrgKey(row.int()?),
            started_at: row.maybe_micros()?,
            ended_at: row.maybe_micros()?,
            reason: reason(row.maybe_text()?, row.maybe_text()?)?,
            output: row.maybe_text()?,
            token: row.maybe_text()?,
        };
        self.attempts.insert(place, record);
        Ok(())
    }

    fn write_range(&mut self, mut row: Row) -> Result<(), Error> {
        let place = (ScheduleKey(row.int()?), row.seconds()?);
        let (last, org, count) = (row.seconds()?, OrgKey(row.int()?), row.number()?);
        let end = read_end(&row.text()?, &row.text()?, &row.text()?)?;
        let counts = row.maybe_text()?.map(|counts| read_counts(&counts)).transpose()?;
        let (version, recorded_at) = (row.int()?, row.micros()?);
        self.ranges.insert(place, RangeRecord { last, org, count, end, counts, version, recorded_at });
        Ok(())
    }

    fn write_event(&mut self, mut row: Row) -> Result<(), Error> {
        let seq = row.int()?;
        let event = EventRecord {
            org: OrgKey(row.int()?),
            at: row.micros()?,
            actor: row.maybe_text()?,
            kind: row.text()?,
            schedule: row.maybe_int()?.map(ScheduleKey),
            run: row.maybe_int()?.map(RunKey),
            detail: row.text()?,
        };
        self.event_last = self.event_last.max(seq);
        if self.events.is_empty() {
            self.retained_through = seq - 1;
        }
        self.events.insert(seq, event);
        Ok(())
    }

    fn write_message(&mut self, mut row: Row) -> Result<(), Error> {
        let seq = row.int()?;
        let message = MessageRecord {
            org: OrgKey(row.int()?),
            run: RunKey(row.int()?),
            attempt: row.number()?,
            message_id: row.text()?,
            body: row.text()?,
            at: row.micros()?,
            position: row.maybe_int()?,
        };
        if let Some(position) = message.position {
            self.outbox_positions.insert(position, seq);
            self.position_last = self.position_last.max(position);
        }
        self.outbox_last = self.outbox_last.max(seq);
        self.outbox.insert(seq, message);
        Ok(())
    }

    fn write_breaker(&mut self, table: Table, mut row: Row) -> Result<(), Error> {
        if table == Table::CircuitBreakerTransitions {
            let seq = row.int()?;
            let (org, target, at) = (OrgKey(row.int()?), row.text()?, row.micros()?);
            let (from, to, run) = (row.text()?, row.text()?, row.maybe_int()?.map(RunKey));
            self.transition_last = self.transition_last.max(seq);
            self.transitions.insert(seq, TransitionRecord { org, target, at, from, to, run });
            return Ok(());
        }
        let place = (OrgKey(row.int()?), row.text()?);
        let (name, failures) = (row.text()?, row.number()?);
        let (until, probe) = (row.maybe_micros()?, row.maybe_int()?.map(RunKey));
        let breaker = match (name.as_str(), until, probe) {
            ("closed", _, _) => Breaker::Closed { failures },
            ("open", Some(until), _) => Breaker::Open { until },
            ("half_open", _, Some(probe)) => Breaker::HalfOpen { probe },
            _ => return Err(Error::corrupt(format!("a breaker cannot be `{name}`"))),
        };
        self.breakers.insert(place, BreakerRecord { breaker, changed_at: row.micros()? });
        Ok(())
    }
}

fn status_named(name: &str) -> Result<RunStatus, Error> {
    name.parse().map_err(|error: punctual_plan::UnknownName| Error::corrupt(error.to_string()))
}

fn reason(code: Option<String>, detail: Option<String>) -> Result<Option<Reason>, Error> {
    let Some(code) = code else { return Ok(None) };
    let reason = Reason::from_stored(&code, &detail.unwrap_or_default());
    reason.map(Some).map_err(|error| Error::corrupt(error.to_string()))
}
