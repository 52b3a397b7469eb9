//! Schedules: as they are written, as they are read for a decision, and as they are shown.

use std::sync::Arc;

use jiff::Timestamp;
use punctual_plan::{
    Anchors, Changed, Counters, Cursor, EntryState, Object, Open, Origin, Plan, Run, Schedule, ScheduleId,
    ScheduleKey, State, Status, Trace,
};
use punctual_time::Anchor;

/// A change to one schedule, decided and ready to be written in one transaction with its audit event.
#[derive(Clone, Debug)]
pub struct ScheduleWrite {
    /// What is done.
    pub write: Write,
    /// Its name in the audit log, such as `schedule.created`.
    pub kind: &'static str,
    /// What the audit log says of it.
    pub note: String,
    /// The present.
    pub now: Timestamp,
}

/// What is done to a schedule.
#[derive(Clone, Debug)]
#[allow(
    clippy::large_enum_variant,
    reason = "a change is rare and short-lived; a box would only be in the way"
)]
pub enum Write {
    /// It is made, with the first window of its ticks.
    Create {
        /// The definition.
        definition: Arc<Schedule>,
        /// What it starts as.
        status: Status,
        /// Its first window; none if it is not active or follows another schedule.
        plan: Option<Plan>,
        /// The set it was declared in, if it was.
        declared_set: Option<String>,
    },
    /// It changes: a new version, another status, a deletion.
    Change {
        /// Which schedule, in the version and at the cursor that the decision was made on.
        schedule: ScheduleKey,
        /// That version.
        version: i64,
        /// That cursor.
        from: Cursor,
        /// The new definition, if it has one; its version is one more.
        definition: Option<Arc<Schedule>>,
        /// The new status, if it changes.
        status: Option<Status>,
        /// Whether it is deleted.
        is_deleted: bool,
        /// What becomes of its open rows.
        changed: Changed,
        /// The first window of what comes after, if it ticks on.
        plan: Option<Plan>,
    },
    /// A person asks for a run of it.
    Trigger {
        /// Which schedule.
        schedule: ScheduleKey,
        /// What brings it about: `manual` or `backfill`.
        origin: Origin,
        /// The request's own key: a second request with the same one gives the first one's run.
        nonce: String,
        /// The instant it stands for.
        scheduled_for: Timestamp,
        /// When it fires.
        fire_at: Timestamp,
        /// Whether it runs beside whatever is in flight.
        is_forced: bool,
        /// What it carries on top of what runs of its schedule do.
        payload: Option<Object>,
        /// The trace of whoever asks; the admission begins one, if none.
        trace: Option<Trace>,
    },
}

/// A schedule with everything a decision about it needs.
#[derive(Clone, Debug)]
pub struct ScheduleRow {
    /// Its number in the database.
    pub key: ScheduleKey,
    /// The definition.
    pub definition: Arc<Schedule>,
    /// Why the definition cannot be used any more, if so; then `definition` is what could still be read of it.
    pub invalid: Option<String>,
    /// What it has come to.
    pub state: State,
    /// Since when it is not active, if it is not.
    pub left_at: Option<Timestamp>,
    /// When `max_runs` was reached.
    pub spent_at: Option<Timestamp>,
    /// Its ticks that were launched and have not ended: in flight, or to be tried again.
    pub ticks_launched: usize,
    /// The latest tick that was launched or ended.
    pub launched_through: Option<Timestamp>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// When it was deleted, if it was.
    pub deleted_at: Option<Timestamp>,
    /// The set it was declared in, if it was.
    pub declared_set: Option<String>,
    /// The earliest armed or computed tick.
    pub next_run_at: Option<Timestamp>,
    /// The first tick that is not planned yet, as it was known when the others were planned.
    pub next_tick: Option<Timestamp>,
    /// When a run of it last succeeded, and which.
    pub last_success: Option<(Timestamp, punctual_plan::RunKey)>,
}

impl ScheduleRow {
    /// A schedule as it is stored when it has just been made by this write, without being read; none if that is not known,
    /// because nothing of it is left to come or because it is another write.
    pub fn made(key: ScheduleKey, write: &ScheduleWrite) -> Option<Self> {
        let Write::Create { definition, status, plan, declared_set } = &write.write else { return None };
        let is_over = |plan: &Plan| plan.next_tick.is_none() && plan.plan_at.is_none();
        if status.is_active() && plan.as_ref().is_some_and(is_over) {
            return None;
        }
        let armed = |plan: &Plan| {
            let armed = plan.entries.iter().filter(|entry| entry.state == EntryState::Scheduled);
            armed.map(|entry| entry.scheduled_for).min().or(plan.next_tick)
        };
        let state = State {
            status: status.clone(),
            cursor: plan.as_ref().map_or(Cursor::starting(write.now), |plan| plan.cursor),
            counters: Counters::default(),
            last_start: None,
            last_finish: None,
            anchors: Anchors::default(),
        };
        Some(Self {
            key,
            definition: Arc::clone(definition),
            invalid: None,
            state,
            left_at: (!status.is_active()).then_some(write.now),
            spent_at: None,
            ticks_launched: 0,
            launched_through: None,
            created_at: write.now,
            updated_at: write.now,
            deleted_at: None,
            declared_set: declared_set.clone(),
            next_run_at: plan.as_ref().and_then(armed),
            next_tick: plan.as_ref().and_then(|plan| plan.next_tick),
            last_success: None,
        })
    }

    /// What the next tick of a definition hangs on once a change has ended everything that was never launched.
    pub fn outstanding(&self, definition: &Schedule) -> usize {
        if definition.when.floats_on(Anchor::LastFinish) { self.ticks_launched } else { 0 }
    }
}

/// What a schedule is called, for whoever needs no more of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameRow {
    /// Its number in the database.
    pub key: ScheduleKey,
    /// Its public id.
    pub id: ScheduleId,
    /// Its name.
    pub name: String,
    /// The set it was declared in, if it was.
    pub declared_set: Option<String>,
    /// Whether it was deleted.
    pub is_deleted: bool,
}

impl From<ScheduleRow> for NameRow {
    fn from(row: ScheduleRow) -> Self {
        Self {
            key: row.key,
            id: row.definition.id,
            name: row.definition.name.clone(),
            declared_set: row.declared_set,
            is_deleted: row.deleted_at.is_some(),
        }
    }
}

/// A row of a schedule that is not in flight and has not ended.
#[derive(Clone, Debug)]
pub struct OpenRow {
    /// For `change`.
    pub open: Open,
    /// The whole row.
    pub run: Run,
}

/// A version of a schedule.
#[derive(Clone, Debug)]
pub struct VersionRow {
    /// Its schedule.
    pub schedule: ScheduleId,
    /// Its number.
    pub version: i64,
    /// From when on it is or was valid.
    pub since: Timestamp,
    /// Who made it.
    pub by: Option<String>,
    /// The definition.
    pub definition: Arc<Schedule>,
}

/// What a write came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Written {
    /// It is on disk.
    Schedule(ScheduleKey),
    /// The run that was asked for, now or by an earlier request with the same key.
    Run(punctual_plan::RunKey),
    /// The schedule was changed meanwhile: read it again and decide again.
    Stale,
}

/// How a schedule uses something by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum UseKind {
    /// A calendar in `not_on`.
    Calendar,
    /// Quiet hours.
    QuietHours,
    /// A schedule that it follows, by id.
    Chain,
    /// A schedule that it depends on, by id.
    Dependency,
    /// A lane that it shares with other schedules.
    Lane,
}

impl UseKind {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Calendar, Self::QuietHours, Self::Chain, Self::Dependency, Self::Lane];

    /// Its name in `schedule_uses.kind`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Calendar => "calendar",
            Self::QuietHours => "quiet_hours",
            Self::Chain => "chain",
            Self::Dependency => "dependency",
            Self::Lane => "lane",
        }
    }
}
