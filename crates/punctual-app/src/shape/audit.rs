//! An audit, the audit log and its chain.

use std::collections::BTreeMap;

use jiff::Timestamp;
use punctual_plan::{self as plan, Basis};
use punctual_store::{Actor, AuditRow, Chain as Stored};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::Audited;

/// What the audits of some schedules found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Audits {
    /// From when.
    pub from: Timestamp,
    /// Through when.
    pub to: Timestamp,
    /// One for each schedule.
    pub audits: Vec<Audit>,
    /// Whether there is no hole.
    pub whole: bool,
}

impl Audits {
    /// What programs get.
    pub fn plain(mut self) -> Self {
        self.audits = self.audits.into_iter().map(Audit::plain).collect();
        self
    }
}

/// What an audit of one schedule found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Audit {
    /// The schedule.
    pub schedule_id: String,
    /// Its name.
    pub schedule_name: String,
    /// From when its ledger was compared; none if nothing of it lies in the stretch.
    pub from: Option<Timestamp>,
    /// Through when; ticks after it have not been decided yet.
    pub through: Option<Timestamp>,
    /// Ticks that its specs have; none if they do not say when it ticks.
    pub planned: Option<u64>,
    /// Ticks that the ledger has an entry for.
    pub recorded: u64,
    /// Whether planned is recorded.
    pub proved: bool,
    /// `spec`, or `runs` if the specs do not say when it ticks.
    pub basis: String,
    /// How many of each state.
    pub counts: BTreeMap<String, u64>,
    /// What is wrong.
    pub holes: Vec<Hole>,
    /// Why the ledger does not reach the end of the stretch.
    pub open: Option<OpenSince>,
    /// The zone of its local times; only beside tables.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timezone: Option<String>,
}

impl Audit {
    /// What programs get.
    pub fn plain(self) -> Self {
        Self { timezone: None, ..self }
    }
}

/// Ticks that nobody has decided yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct OpenSince {
    /// From when on.
    pub since: Timestamp,
    /// Why.
    pub why: String,
}

/// Something that is wrong with a ledger.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "hole", rename_all = "snake_case")]
pub enum Hole {
    /// Ticks without an entry.
    Missing {
        /// The first of them.
        first: Timestamp,
        /// The last of them.
        last: Timestamp,
        /// How many.
        count: u64,
    },
    /// A tick with several entries.
    Doubled {
        /// The tick.
        tick: Timestamp,
        /// How many it has.
        entries: usize,
    },
    /// An entry of an instant that is no tick.
    Foreign {
        /// The instant.
        at: Timestamp,
    },
    /// A stretch whose count is not the number of ticks in it.
    Miscounted {
        /// Its first tick.
        first: Timestamp,
        /// Its last tick.
        last: Timestamp,
        /// What it counts.
        count: u64,
        /// How many ticks it really has.
        found: u64,
    },
}

impl From<&plan::Hole> for Hole {
    fn from(hole: &plan::Hole) -> Self {
        match *hole {
            plan::Hole::Missing { first, last, count } => Self::Missing { first, last, count },
            plan::Hole::Doubled { tick, entries } => Self::Doubled { tick, entries },
            plan::Hole::Foreign { at } => Self::Foreign { at },
            plan::Hole::Miscounted { span, found } => {
                Self::Miscounted { first: span.first, last: span.last, count: span.count, found }
            }
        }
    }
}

impl From<&Audited> for Audit {
    fn from(one: &Audited) -> Self {
        let open = one.open.as_ref().map(|open| OpenSince { since: open.since, why: open.why.clone() });
        Self {
            schedule_id: one.schedule.definition.id.to_string(),
            schedule_name: one.schedule.definition.name.clone(),
            from: one.from,
            through: one.through,
            planned: (one.basis == Basis::Spec).then_some(one.planned),
            recorded: one.recorded,
            proved: one.basis == Basis::Spec && one.holes.is_empty(),
            basis: if one.basis == Basis::Spec { "spec" } else { "runs" }.to_owned(),
            counts: one.counts.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect(),
            holes: one.holes.iter().map(Hole::from).collect(),
            open,
            timezone: Some(crate::zone_of(&one.schedule).name().to_owned()),
        }
    }
}

/// Events of the audit log, newest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AuditLog {
    /// The events.
    pub events: Vec<Event>,
}

/// An event of the audit log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = AuditEvent)]
pub struct Event {
    /// Its number.
    pub seq: i64,
    /// When.
    pub at: Timestamp,
    /// Who.
    pub actor: String,
    /// What kind, such as `schedule.missed`.
    pub kind: String,
    /// Which schedule.
    pub schedule_id: Option<String>,
    /// Which run.
    pub run_id: Option<String>,
    /// In words.
    pub detail: String,
    /// Its place in the sealed chain.
    pub position: Option<i64>,
    /// Its hash in the sealed chain.
    pub hash: Option<String>,
}

impl From<&AuditRow> for Event {
    fn from(row: &AuditRow) -> Self {
        let actor = match &row.actor {
            Actor::Engine => "engine",
            Actor::User(name) => name,
        };
        Self {
            seq: row.seq,
            at: row.at,
            actor: actor.to_owned(),
            kind: row.kind.clone(),
            schedule_id: row.schedule.map(|id| id.to_string()),
            run_id: row.run.map(|run| run.to_string()),
            detail: row.detail.clone(),
            position: row.sealed.as_ref().map(|(position, _)| *position),
            hash: row.sealed.as_ref().map(|(_, hash)| hash.clone()),
        }
    }
}

/// What a check of the chain found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = AuditChain)]
pub struct Chain {
    /// Whether every sealed event is as it was written.
    pub verified: bool,
    /// Events that were checked.
    pub checked: u64,
    /// Events that wait for their seal.
    pub unsealed: u64,
    /// The first event that does not fit.
    pub broken: Option<Broken>,
}

/// An event that does not fit its seal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Broken {
    /// Its number.
    pub seq: i64,
    /// What is wrong.
    pub what: String,
}

impl From<&Stored> for Chain {
    fn from(chain: &Stored) -> Self {
        Self {
            verified: chain.broken.is_none(),
            checked: chain.checked,
            unsealed: chain.unsealed,
            broken: chain.broken.as_ref().map(|(seq, what)| Broken { seq: *seq, what: what.clone() }),
        }
    }
}
