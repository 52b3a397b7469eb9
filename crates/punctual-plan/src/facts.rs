//! Facts: what a run knows of itself, under the names that every target uses.

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::{Object, Origin, RunKey, Schedule, Trace, run_key};

/// An attempt of a run that is about to be handed over.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    /// Its schedule, in the version that it belongs to.
    pub schedule: &'a Schedule,
    /// The run.
    pub run: RunKey,
    /// What brought it about.
    pub origin: Origin,
    /// The request, upstream run or backfill that it came from; empty for ticks.
    pub nonce: &'a str,
    /// The instant it stands for.
    pub scheduled_for: Timestamp,
    /// When it was to start.
    pub fire_at: Timestamp,
    /// When this attempt is handed over.
    pub triggered_at: Timestamp,
    /// Which attempt this is, from 1.
    pub attempt: u32,
    /// The trace that it belongs to; one that was launched before traces were kept has none.
    pub trace: Option<Trace>,
}

impl Facts<'_> {
    /// What every attempt of the run is deduplicated by.
    pub fn idempotency_key(&self) -> String {
        run_key(self.schedule.id, self.origin, self.nonce, self.scheduled_for)
    }

    /// The run by its public names; `request_id` only if somebody asked for it, `traceparent` if it has a trace.
    pub fn object(&self) -> Object {
        let owner = &self.schedule.owner;
        let facts = json!({
            "schedule_id": self.schedule.id.to_string(),
            "schedule_name": self.schedule.name,
            "schedule_version": self.schedule.version,
            "org_id": owner.org_id,
            "user_id": owner.user_id,
            "payload": self.schedule.payload,
            "run_id": self.run.to_string(),
            "idempotency_key": self.idempotency_key(),
            "scheduled_for": self.scheduled_for.to_string(),
            "fire_at": self.fire_at.to_string(),
            "triggered_at": self.triggered_at.to_string(),
            "manual_trigger": self.origin == Origin::Manual,
            "attempt": self.attempt,
            "origin": self.origin.name(),
        });
        let Value::Object(mut facts) = facts else { unreachable!("it was written as an object") };
        if !self.nonce.is_empty() {
            facts.insert("request_id".to_owned(), json!(self.nonce));
        }
        if let Some(trace) = self.trace {
            facts.insert("traceparent".to_owned(), json!(trace.to_string()));
        }
        facts
    }
}
