//! The installation: breakers and nodes.

use jiff::{SignedDuration, Timestamp};
use punctual_plan as plan;
use punctual_store::{BreakerRow, NodeRow, TransitionRow};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{BreakerHistory, is_alive};

/// The breakers that are not plainly closed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Breakers {
    /// The breakers.
    pub breakers: Vec<Breaker>,
}

/// The circuit breaker of a target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Breaker {
    /// The target.
    pub target: String,
    /// `closed`, `open` or `half_open`.
    pub state: String,
    /// Failures in a row, while it is closed.
    pub failures: Option<u32>,
    /// Until when no run goes through, while it is open.
    pub until: Option<Timestamp>,
    /// The run that tries whether it works again, while it is half open.
    pub probe: Option<String>,
    /// Since when.
    pub changed_at: Timestamp,
}

impl From<&BreakerRow> for Breaker {
    fn from(row: &BreakerRow) -> Self {
        let (failures, until, probe) = match row.breaker {
            plan::Breaker::Closed { failures } => (Some(failures), None, None),
            plan::Breaker::Open { until } => (None, Some(until), None),
            plan::Breaker::HalfOpen { probe } => (None, None, Some(probe.to_string())),
        };
        Self {
            target: row.target.clone(),
            state: row.breaker.name().to_owned(),
            failures,
            until,
            probe,
            changed_at: row.changed_at,
        }
    }
}

/// A move of a breaker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = BreakerTransition)]
pub struct Transition {
    /// When.
    pub at: Timestamp,
    /// From which state.
    pub from: String,
    /// To which state.
    pub to: String,
    /// The run that moved it; none if a person did.
    pub run_id: Option<String>,
}

impl From<&TransitionRow> for Transition {
    fn from(row: &TransitionRow) -> Self {
        let run_id = row.run.map(|run| run.to_string());
        Self { at: row.at, from: row.from.clone(), to: row.to.clone(), run_id }
    }
}

/// A breaker with its moves, newest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct WholeBreaker {
    /// Where it stands.
    #[serde(flatten)]
    pub breaker: Breaker,
    /// Its moves.
    pub transitions: Vec<Transition>,
}

impl From<&BreakerHistory> for WholeBreaker {
    fn from(history: &BreakerHistory) -> Self {
        let transitions = history.transitions.iter().map(Transition::from).collect();
        Self { breaker: (&history.breaker).into(), transitions }
    }
}

/// One breaker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BreakerAnswer {
    /// The breaker.
    pub breaker: WholeBreaker,
}

/// One breaker that was to be closed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BreakerReset {
    /// Whether it was not closed.
    pub reset: bool,
    /// The breaker.
    pub breaker: WholeBreaker,
}

/// The nodes, newest first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Nodes {
    /// The nodes.
    pub nodes: Vec<Node>,
    /// The present, by the clock that decides.
    pub now: Timestamp,
    /// How far the database's clock is ahead of this host's.
    pub clock_offset_ms: f64,
}

/// A process that serves, or served.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Node {
    /// Its id.
    pub id: String,
    /// `alive`, `left` or `lost`.
    pub state: String,
    /// Its fence.
    pub fence: i64,
    /// Its process id.
    pub pid: u32,
    /// The version of the program.
    pub version: String,
    /// The version of its tz database.
    pub tz_version: String,
    /// Whether it plans: its tz database is not older than the newest that was seen here.
    pub plans: bool,
    /// How many shards it holds.
    pub shards: u32,
    /// How far the database's clock was ahead of the node's at its last heartbeat.
    pub clock_offset_ms: Option<f64>,
    /// When it started.
    pub started_at: Timestamp,
    /// When it was heard of last.
    pub seen_at: Timestamp,
    /// When its lease ends.
    pub lease_until: Timestamp,
    /// When it left, if it did.
    pub left_at: Option<Timestamp>,
}

impl Node {
    fn of(node: &NodeRow, all: &crate::Nodes) -> Self {
        let state = match node.left_at {
            Some(_) => "left",
            None if is_alive(node, all.now) => "alive",
            None => "lost",
        };
        Self {
            id: node.id.clone(),
            state: state.to_owned(),
            fence: node.fence.0,
            pid: node.pid,
            version: node.version.clone(),
            tz_version: node.tz_version.clone(),
            plans: state == "alive" && node.tz_version >= all.tz_version,
            shards: node.shards,
            clock_offset_ms: node.ahead.map(millis),
            started_at: node.started_at,
            seen_at: node.seen_at,
            lease_until: node.lease_until,
            left_at: node.left_at,
        }
    }
}

impl From<&crate::Nodes> for Nodes {
    fn from(nodes: &crate::Nodes) -> Self {
        Self {
            nodes: nodes.nodes.iter().map(|node| Node::of(node, nodes)).collect(),
            now: nodes.now,
            clock_offset_ms: millis(nodes.offset),
        }
    }
}

/// Milliseconds, to the microsecond.
fn millis(span: SignedDuration) -> f64 {
    span.as_micros() as f64 / 1_000.0
}
