//! What the registrar and the run launcher of a workflow system say and hear: their bodies, key by key.

use jiff::Timestamp;
use punctual_plan::{Action, CatchUp, Named, RunStatus, Schedule, run_key};
use punctual_store::{RunRow, ScheduleRow};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

use super::trigger_based::jitter;

/// A schedule of a workflow, as its registrar asks for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct UpsertSchedule {
    /// Its id; a new one, if none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedule_id: Option<String>,
    /// Which workflow.
    pub workflow_id: String,
    /// Which version of it.
    pub version: u32,
    /// On whose behalf.
    pub user_id: String,
    /// When, in five fields or six with seconds first.
    pub cron_expr: String,
    /// The zone of `cron_expr`, by its IANA name.
    pub timezone: String,
    /// No tick before this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_at: Option<String>,
    /// No tick after this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_at: Option<String>,
    /// How far ticks are moved to either side, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jitter_ms: Option<u64>,
    /// `allow`, `skip` or `queue`; `skip` without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overlap_policy: Option<String>,
    /// `none`, `fire_immediately` or `spread`; `none` without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub catchup_policy: Option<String>,
}

/// A schedule that was registered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Upserted {
    /// Its id, as the client knows it.
    pub schedule_id: String,
    /// When it fires next; never, while it is paused.
    pub next_run_at: Option<Timestamp>,
}

/// A wish that a schedule be paused or resumed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PauseSchedule {
    /// Which.
    pub schedule_id: String,
    /// Whether it shall be paused.
    pub paused: bool,
}

/// A schedule of a workflow, as its registrar knows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RegisteredSchedule {
    /// Its id, as the client knows it.
    pub schedule_id: String,
    /// Which workflow.
    pub workflow_id: String,
    /// Which version of it.
    pub version: u32,
    /// On whose behalf.
    pub user_id: Option<String>,
    /// When, as it was written.
    pub cron_expr: String,
    /// The zone of `cron_expr`.
    pub timezone: String,
    /// No tick before this.
    pub start_at: Option<Timestamp>,
    /// No tick after this.
    pub end_at: Option<Timestamp>,
    /// When it fires next.
    pub next_run_at: Option<Timestamp>,
    /// Whether it is paused.
    pub paused: bool,
    /// How far ticks are moved, in milliseconds.
    pub jitter_ms: u64,
    /// `allow`, `skip`, `queue` or `cancel`.
    pub overlap_policy: String,
    /// `none`, `fire_immediately`, `spread` or `run_once`.
    pub catchup_policy: String,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// The next five fire times; none while it is paused.
    pub preview: Vec<Timestamp>,
    /// The latest runs.
    pub schedule_runs: Vec<ScheduleRun>,
}

/// A run of a workflow's schedule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ScheduleRun {
    /// The key by which it happens once.
    pub idempotency_key: String,
    /// Its schedule, as the client knows it.
    pub schedule_id: String,
    /// The planned time.
    pub run_at: Timestamp,
    /// `ENQUEUED`, `STARTED`, `SUCCESS`, `FAILED` or `SKIPPED`.
    pub status: String,
    /// The run's id here.
    pub run_id: String,
}

/// A wish that a workflow be started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct StartRun {
    /// Which workflow.
    pub workflow_id: String,
    /// Which version of it.
    pub version: u32,
    /// On whose behalf.
    pub user_id: String,
    /// The planned time that it stands for.
    pub scheduled_for: Timestamp,
    /// The key by which it happens once.
    pub idempotency_key: String,
}

/// The status of a run in the words of a workflow system.
///
/// ```
/// use punctual_plan::RunStatus;
///
/// assert_eq!(punctual_app::executor_status(RunStatus::Running), "STARTED");
/// assert_eq!(punctual_app::executor_status(RunStatus::Missed), "SKIPPED");
/// ```
pub fn executor_status(status: RunStatus) -> &'static str {
    match status {
        RunStatus::Scheduled | RunStatus::Waiting | RunStatus::Enqueued | RunStatus::Retrying => "ENQUEUED",
        RunStatus::Running => "STARTED",
        RunStatus::Success => "SUCCESS",
        RunStatus::Failed | RunStatus::Cancelled => "FAILED",
        RunStatus::Skipped | RunStatus::Missed => "SKIPPED",
    }
}

impl UpsertSchedule {
    /// The same as the keys of a schedule.
    pub(super) fn keys(&self, name: &str) -> Map<String, Value> {
        let workflow = json!({"type": "workflow", "workflow_id": self.workflow_id, "version": self.version});
        let optional = [
            ("start_at", self.start_at.as_ref().map(|at| json!(at))),
            ("end_at", self.end_at.as_ref().map(|at| json!(at))),
            ("jitter", self.jitter_ms.map(|count| jitter(&json!(count)))),
            ("if_running", self.overlap_policy.as_ref().map(|policy| json!(policy))),
            ("catch_up", self.catchup_policy.as_ref().map(|policy| json!(policy))),
        ];
        let mut keys = Map::new();
        keys.insert("name".to_owned(), json!(name));
        keys.insert("cron".to_owned(), json!(self.cron_expr));
        keys.insert("timezone".to_owned(), json!(self.timezone));
        keys.extend(optional.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))));
        keys.insert("target".to_owned(), workflow);
        keys
    }
}

/// A schedule by the id that its client has for it.
pub(super) struct Known<'a> {
    pub(super) schedule_id: &'a str,
    pub(super) row: &'a ScheduleRow,
}

impl Known<'_> {
    pub(super) fn run(&self, row: &RunRow) -> ScheduleRun {
        let run = &row.run;
        ScheduleRun {
            idempotency_key: run_key(row.schedule_id, run.origin, &run.nonce, run.scheduled_for),
            schedule_id: self.schedule_id.to_owned(),
            run_at: run.scheduled_for,
            status: executor_status(run.state.status()).to_owned(),
            run_id: run.key.to_string(),
        }
    }

    pub(super) fn schedule(
        &self,
        preview: Vec<Timestamp>,
        runs: Vec<ScheduleRun>,
    ) -> Option<RegisteredSchedule> {
        let definition: &Schedule = &self.row.definition;
        let Action::Workflow(workflow) = &definition.target.action else { return None };
        let bounds = definition.when.timing().map(|timing| timing.bounds).unwrap_or_default();
        let policy = &definition.policy;
        Some(RegisteredSchedule {
            schedule_id: self.schedule_id.to_owned(),
            workflow_id: workflow.workflow_id.clone(),
            version: workflow.version,
            user_id: definition.owner.user_id.clone(),
            cron_expr: definition.spec.clone(),
            timezone: definition.timezone().to_owned(),
            start_at: bounds.start_at,
            end_at: bounds.end_at,
            next_run_at: self.row.next_run_at,
            paused: !self.row.state.status.is_active(),
            jitter_ms: u64::try_from(policy.jitter.max.as_millis()).unwrap_or_default(),
            overlap_policy: policy.overlap.name().to_owned(),
            catchup_policy: match policy.catch_up {
                CatchUp::Skip => "none".to_owned(),
                CatchUp::RunAll => "fire_immediately".to_owned(),
                other => Named::name(other).to_owned(),
            },
            updated_at: self.row.updated_at,
            preview,
            schedule_runs: runs,
        })
    }
}
