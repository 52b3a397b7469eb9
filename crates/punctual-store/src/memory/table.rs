//! The tables as plain structs, column by column those of the databases.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use punctual_plan::rule::{Rule, holds};
use punctual_plan::{
    Anchors, Breaker, Counters, Cursor, Fence, NonFire, Object, OrgKey, Origin, Reason, RunKey, RunStatus,
    Schedule, ScheduleId, ScheduleKey, State, Status, Trace, Waiting,
};

use crate::{Commit, Settled};

/// A process that serves.
#[derive(Clone, Debug)]
pub(super) struct NodeRecord {
    pub(super) id: String,
    pub(super) pid: u32,
    pub(super) started_at: Timestamp,
    pub(super) seen_at: Timestamp,
    pub(super) lease: SignedDuration,
    pub(super) lease_until: Timestamp,
    pub(super) tz_version: String,
    pub(super) version: String,
    pub(super) left_at: Option<Timestamp>,
    pub(super) ahead: Option<SignedDuration>,
}

impl NodeRecord {
    pub(super) fn is_alive(&self, now: Timestamp) -> bool {
        self.left_at.is_none() && self.lease_until > now
    }
}

/// What a batch was answered.
#[derive(Clone, Debug)]
pub(super) enum Kept {
    Commits(Vec<Commit>),
    Settled(Vec<Settled>),
}

/// A shared thing.
#[derive(Clone, Debug)]
pub(super) struct DocumentRecord {
    pub(super) version: i64,
    pub(super) body: String,
    pub(super) updated_at: Timestamp,
}

/// A definition, or what is left of one that cannot be read.
#[derive(Clone, Debug)]
pub(super) enum Definition {
    Read(Arc<Schedule>),
    Unread { text: String, why: String, rest: Arc<Schedule> },
}

impl Definition {
    /// It, or what could still be read of it.
    pub(super) fn any(&self) -> &Arc<Schedule> {
        match self {
            Self::Read(definition) | Self::Unread { rest: definition, .. } => definition,
        }
    }

    pub(super) fn text(&self) -> String {
        match self {
            Self::Read(definition) => crate::encode(definition),
            Self::Unread { text, .. } => text.clone(),
        }
    }
}

/// A row of `schedules`.
#[derive(Clone, Debug)]
pub(super) struct ScheduleRecord {
    pub(super) org: OrgKey,
    pub(super) id: ScheduleId,
    pub(super) name: String,
    pub(super) definition: Definition,
    pub(super) declared_set: Option<String>,
    pub(super) version: i64,
    pub(super) created_at: Timestamp,
    pub(super) updated_at: Timestamp,
    pub(super) deleted_at: Option<Timestamp>,
}

/// A row of `schedule_versions`.
#[derive(Clone, Debug)]
pub(super) struct VersionRecord {
    pub(super) org: OrgKey,
    pub(super) since: Timestamp,
    pub(super) made_by: Option<String>,
    pub(super) definition: Definition,
}

/// A row of `schedule_state`.
#[derive(Clone, Debug)]
pub(super) struct StateRecord {
    pub(super) org: OrgKey,
    pub(super) shard: u16,
    pub(super) version: i64,
    pub(super) status: Status,
    pub(super) left_at: Option<Timestamp>,
    pub(super) spent_at: Option<Timestamp>,
    pub(super) cursor: Cursor,
    pub(super) next_tick: Option<Timestamp>,
    pub(super) plan_at: Option<Timestamp>,
    pub(super) active_run: Option<RunKey>,
    pub(super) launched_through: Option<Timestamp>,
    pub(super) counters: Counters,
    pub(super) last_start: Option<Timestamp>,
    pub(super) last_finish: Option<(Timestamp, RunStatus)>,
    pub(super) last_success: Option<(Timestamp, RunKey)>,
    pub(super) anchors: Anchors,
}

impl StateRecord {
    /// Whether its runs are used up, so that nothing more is planned.
    pub(super) fn is_spent(&self) -> bool {
        self.spent_at.is_some() && holds(Rule::SpentPlansNothing)
    }

    pub(super) fn state(&self) -> State {
        State {
            status: self.status.clone(),
            cursor: self.cursor,
            counters: self.counters,
            last_start: self.last_start,
            last_finish: self.last_finish,
            anchors: self.anchors,
        }
    }
}

/// A row of `runs`.
#[derive(Clone, Debug)]
pub(super) struct RunRecord {
    pub(super) scheduled_for: Timestamp,
    pub(super) org: OrgKey,
    pub(super) schedule: ScheduleKey,
    pub(super) origin: Origin,
    pub(super) nonce: String,
    pub(super) shard: u16,
    pub(super) fire_at: Timestamp,
    pub(super) look_at: Option<Timestamp>,
    pub(super) status: RunStatus,
    pub(super) reason: Option<Reason>,
    pub(super) version: i64,
    pub(super) tz: i64,
    /// The latest attempt that was admitted; 0 before the first.
    pub(super) attempt: u32,
    pub(super) is_forced: bool,
    /// What it waited for last, if it ever did.
    pub(super) wait: Option<Waiting>,
    pub(super) fence: Option<Fence>,
    pub(super) queue: Option<String>,
    pub(super) token: Option<String>,
    pub(super) enqueued_at: Option<Timestamp>,
    pub(super) started_at: Option<Timestamp>,
    pub(super) completed_at: Option<Timestamp>,
    pub(super) executor_run_id: Option<String>,
    pub(super) payload: Option<Object>,
    pub(super) trace: Option<Trace>,
}

impl RunRecord {
    /// Whether it may still be admitted.
    pub(super) fn is_open(&self) -> bool {
        matches!(self.status, RunStatus::Scheduled | RunStatus::Waiting | RunStatus::Retrying)
    }

    /// What it waits for now, not what it waited for once.
    pub(super) fn waiting(&self) -> Option<&Waiting> {
        self.wait.as_ref().filter(|_| self.status == RunStatus::Waiting)
    }

    /// Whether it was never launched and may still be.
    pub(super) fn is_unlaunched(&self) -> bool {
        self.is_open() && self.attempt == 0
    }
}

/// A row of `attempts`.
#[derive(Clone, Debug)]
pub(super) struct AttemptRecord {
    pub(super) org: OrgKey,
    pub(super) started_at: Option<Timestamp>,
    pub(super) ended_at: Option<Timestamp>,
    pub(super) reason: Option<Reason>,
    pub(super) output: Option<String>,
    pub(super) token: Option<String>,
}

/// A row of `run_ranges`.
#[derive(Clone, Debug)]
pub(super) struct RangeRecord {
    pub(super) last: Timestamp,
    pub(super) org: OrgKey,
    pub(super) count: u64,
    pub(super) end: NonFire,
    pub(super) counts: Option<Vec<(RunStatus, u64)>>,
    pub(super) version: i64,
    pub(super) recorded_at: Timestamp,
}

/// A row of `audit_events`.
#[derive(Clone, Debug)]
pub(super) struct EventRecord {
    pub(super) org: OrgKey,
    pub(super) at: Timestamp,
    pub(super) actor: Option<String>,
    pub(super) kind: String,
    pub(super) schedule: Option<ScheduleKey>,
    pub(super) run: Option<RunKey>,
    pub(super) detail: String,
}

/// A row of `audit_seals`.
#[derive(Clone, Debug)]
pub(super) struct SealRecord {
    pub(super) seq: i64,
    pub(super) hash: String,
}

/// A row of `outbox`.
#[derive(Clone, Debug)]
pub(super) struct MessageRecord {
    pub(super) org: OrgKey,
    pub(super) run: RunKey,
    pub(super) attempt: u32,
    pub(super) message_id: String,
    pub(super) body: String,
    pub(super) at: Timestamp,
    pub(super) position: Option<i64>,
}

/// A row of `circuit_breakers`.
#[derive(Clone, Copy, Debug)]
pub(super) struct BreakerRecord {
    pub(super) breaker: Breaker,
    pub(super) changed_at: Timestamp,
}

/// A row of `circuit_breaker_transitions`.
#[derive(Clone, Debug)]
pub(super) struct TransitionRecord {
    pub(super) org: OrgKey,
    pub(super) target: String,
    pub(super) at: Timestamp,
    pub(super) from: String,
    pub(super) to: String,
    pub(super) run: Option<RunKey>,
}

/// A row of `requests`.
#[derive(Clone, Debug)]
pub(super) struct RequestRecord {
    pub(super) question: String,
    pub(super) answer: String,
    pub(super) at: Timestamp,
}
