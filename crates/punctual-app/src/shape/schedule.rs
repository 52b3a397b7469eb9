//! A schedule: every field under its public name.

use jiff::Timestamp;
use punctual_plan::{self as plan, Action, RunStatus, ScheduleId, Status, When};
use punctual_store::ScheduleRow;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

use super::{Run, target};
use crate::declare::{Names, length, limits};

/// What a schedule is: who, when, what for, where to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(as = ScheduleDefinition)]
pub struct Definition {
    /// Its id, a UUID.
    pub id: String,
    /// The tenant that it belongs to.
    pub org_id: String,
    /// The person or agent that owns it.
    pub user_id: Option<String>,
    /// Its name, unique among the living schedules of its org.
    pub name: String,
    /// What it is for.
    pub description: Option<String>,
    /// Words to choose it by with others.
    pub tags: Vec<String>,
    /// `cron`, `interval`, `one_shot` or `chain`.
    #[serde(rename = "type")]
    pub kind: String,
    /// When, as it was written.
    pub spec: String,
    /// The cron expression that it stands for, if it stands for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cron_expression: Option<String>,
    /// How a cron expression is read.
    pub dialect: String,
    /// The zone of its local times, by its IANA name.
    pub timezone: String,
    /// What an interval is reckoned from.
    pub anchor: Value,
    /// What happens to times that the clock skips or repeats, where that is not the usual.
    pub dst: Value,
    /// The schedule whose runs it follows.
    pub on: Value,
    /// No tick before this.
    pub start_at: Value,
    /// No tick after this.
    pub end_at: Value,
    /// How many ticks at most.
    pub max_runs: Value,
    /// Only in this stretch of the day.
    pub only_between: Value,
    /// Not on these days.
    pub not_on: Value,
    /// The quiet hours that suppress it.
    pub quiet_hours: Value,
    /// What becomes of its ticks.
    #[serde(flatten)]
    pub policies: Policies,
    /// The fields of a queue.
    #[serde(default, flatten, skip_serializing_if = "Option::is_none")]
    pub queue: Option<QueueFields>,
    /// The fields of a workflow.
    #[serde(default, flatten, skip_serializing_if = "Option::is_none")]
    pub workflow: Option<WorkflowFields>,
    /// Where its runs go, by the keys of that kind of target.
    #[schema(value_type = Object)]
    pub target: Value,
    /// What its runs get.
    pub payload: Value,
}

/// What becomes of the ticks of a schedule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Policies {
    /// What happens to a tick while a run is in flight: `skip`, `allow`, `queue` or `cancel`.
    pub if_running: String,
    /// What happens to ticks that were slept through: `skip`, `run_once`, `run_all` or `spread`.
    pub catch_up: String,
    /// Ticks that are made up at most.
    pub max_catch_up: u32,
    /// Missed ticks that get an event of the audit log each.
    pub missed_audit_max: u32,
    /// How late a tick may be before it is missed.
    pub grace: String,
    /// How late a tick may start.
    pub start_deadline: Option<String>,
    /// How far ticks are spread.
    pub jitter: Option<Jitter>,
    /// How often a launch is tried, where that is not the usual.
    pub launch: Option<Launch>,
    /// When a failed run is tried again.
    pub retry_after: Option<String>,
    /// How long a run may take.
    pub run_timeout: String,
    /// Failures in a row that disable it.
    pub max_consecutive_failures: Option<u32>,
    /// `at_least_once` or `at_most_once`.
    pub delivery: String,
    /// At most one run with this key is in flight, whichever schedule it belongs to.
    pub guard: Option<String>,
    /// The schedules whose latest tick must have succeeded.
    pub depends_on: Option<Vec<String>>,
    /// How long it waits for them.
    pub depends_timeout: Option<String>,
    /// Whose runs count as its own for `if_running`.
    pub lane: Option<String>,
}

/// How far ticks are spread.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Jitter {
    /// The most that a tick is moved by.
    pub max: String,
    /// `after` or `around`.
    pub mode: String,
}

/// How often a launch is tried.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Launch {
    /// Attempts in all.
    pub attempts: u32,
    /// The pause before the second, which doubles.
    pub delay: String,
}

/// The fields of a queue, which stand beside those of the schedule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct QueueFields {
    /// The queue.
    pub queue: String,
    /// The kind of worker.
    pub worker_type: Option<String>,
    /// What it is told.
    pub prompt: Option<String>,
    /// The repository that it works on.
    pub repo_url: Option<String>,
    /// The branch of it.
    pub branch: Option<String>,
    /// What else it gets.
    pub context: Value,
    /// How it is set up.
    pub config: Value,
}

/// The fields of a workflow, which stand beside those of the schedule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct WorkflowFields {
    /// The workflow.
    pub workflow_id: String,
    /// Its version.
    pub workflow_version: u32,
}

/// A stored schedule: its definition, and what has become of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Schedule {
    /// What it is.
    #[serde(flatten)]
    pub definition: Definition,
    /// Whether it fires.
    pub enabled: bool,
    /// `active`, `paused_manual`, `paused_invalid`, `auto_disabled`, `exhausted` or `deleted`.
    pub status: String,
    /// Why it is not active, in a sentence.
    pub status_detail: Option<String>,
    /// Its version, from 1; `ETag` and `If-Match` carry it.
    pub version: i64,
    /// Its earliest tick to come.
    pub next_run_at: Option<Timestamp>,
    /// When its last run ended.
    pub last_run_at: Option<Timestamp>,
    /// As what it ended.
    pub last_run_status: Option<String>,
    /// When its last run began.
    pub last_fired_at: Option<Timestamp>,
    /// When a run succeeded last.
    pub last_success_at: Option<Timestamp>,
    /// Which run that was.
    pub last_success_job_id: Option<String>,
    /// Runs that ended.
    pub run_count: u64,
    /// Of them, those that succeeded.
    pub success_count: u64,
    /// Of them, those that failed.
    pub failure_count: u64,
    /// Failures since the last success.
    pub consecutive_failures: u32,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was changed last.
    pub updated_at: Timestamp,
    /// The declared set that it belongs to.
    pub declared_set: Option<String>,
    /// When it was deleted, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deleted_at: Option<Timestamp>,
}

/// Some schedules, ordered by name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Schedules {
    /// The schedules.
    pub schedules: Vec<Schedule>,
    /// Where the next page begins, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// A schedule with its next ticks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct WholeSchedule {
    /// The schedule.
    #[serde(flatten)]
    pub schedule: Schedule,
    /// Its next five ticks, those that a window suppresses among them; none while it is not active.
    pub next: Vec<Timestamp>,
}

/// One schedule, and beside it what people want to see.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(as = ScheduleAnswer)]
pub struct Whole {
    /// The schedule.
    pub schedule: WholeSchedule,
    /// When it fires, in English.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub describe: Option<String>,
    /// Its keys as a file would declare it: only what is not usual.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub keys: Option<Map<String, Value>>,
    /// Its last runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runs: Option<Vec<Run>>,
}

impl Whole {
    /// What programs get.
    pub fn plain(self) -> Self {
        Self { schedule: self.schedule, describe: None, keys: None, runs: None }
    }
}

/// A schedule that is not stored, with its first ticks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Drafted {
    /// What it would be.
    #[serde(flatten)]
    pub definition: Definition,
    /// Its first ticks that fire.
    pub next: Vec<Timestamp>,
    /// Whether it would fire; only beside tables.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
}

impl Definition {
    /// The shape of a definition; schedules that it refers to are called by the names that are known.
    pub fn of(schedule: &plan::Schedule, names: &Names<'_>) -> Self {
        let name = |id: ScheduleId| names.get(id).map(str::to_owned);
        let keys = limits(schedule, &name);
        let key = |key: &str| keys.get(key).cloned().unwrap_or(Value::Null);
        let (kind, spec) = match &schedule.when {
            When::Ticks(timing) => (timing.spec.kind(), timing.spec.to_string()),
            When::Chain(_) => ("chain", schedule.spec.clone()),
        };
        Self {
            id: schedule.id.to_string(),
            org_id: schedule.owner.org_id.clone(),
            user_id: schedule.owner.user_id.clone(),
            name: schedule.name.clone(),
            description: schedule.description.clone(),
            tags: schedule.tags.clone(),
            kind: kind.to_owned(),
            spec: schedule.spec.clone(),
            cron_expression: (kind == "cron").then_some(spec),
            dialect: schedule.dialect.to_string(),
            timezone: schedule.timezone().to_owned(),
            anchor: key("anchor"),
            dst: key("dst"),
            on: key("on"),
            start_at: key("start_at"),
            end_at: key("end_at"),
            max_runs: key("max_runs"),
            only_between: key("only_between"),
            not_on: key("not_on"),
            quiet_hours: key("quiet_hours"),
            policies: Policies::of(&schedule.policy, names),
            queue: queue(&schedule.target.action),
            workflow: workflow(&schedule.target.action),
            target: target(&schedule.target),
            payload: json!(schedule.payload),
        }
    }
}

impl Policies {
    fn of(policy: &plan::Policy, names: &Names<'_>) -> Self {
        let jitter = Some(policy.jitter).filter(|jitter| !jitter.max.is_zero());
        let launch = Some(policy.launch).filter(|launch| *launch != plan::Launch::default());
        let depends_on = policy.depends_on.as_ref();
        let upstream =
            |on: &Vec<ScheduleId>| on.iter().filter_map(|id| names.get(*id).map(str::to_owned)).collect();
        Self {
            if_running: policy.overlap.name().to_owned(),
            catch_up: policy.catch_up.name().to_owned(),
            max_catch_up: policy.max_catch_up,
            missed_audit_max: policy.missed_audit_max,
            grace: length(policy.grace),
            start_deadline: policy.start_deadline.map(length),
            jitter: jitter.map(|one| Jitter { max: length(one.max), mode: one.mode.name().to_owned() }),
            launch: launch.map(|one| Launch { attempts: one.attempts_max, delay: length(one.delay) }),
            retry_after: policy.retry_after.map(length),
            run_timeout: length(policy.run_timeout),
            max_consecutive_failures: policy.max_consecutive_failures,
            delivery: policy.delivery.name().to_owned(),
            guard: policy.guard.clone(),
            depends_on: depends_on.map(|depends| upstream(&depends.on)),
            depends_timeout: depends_on.map(|depends| length(depends.timeout)),
            lane: policy.lane.clone(),
        }
    }
}

fn queue(action: &Action) -> Option<QueueFields> {
    let Action::Queue(queue) = action else { return None };
    Some(QueueFields {
        queue: queue.queue.clone(),
        worker_type: queue.worker_type.clone(),
        prompt: queue.prompt.clone(),
        repo_url: queue.repo_url.clone(),
        branch: Some(queue.branch.clone()),
        context: json!(queue.context),
        config: json!(queue.config),
    })
}

fn workflow(action: &Action) -> Option<WorkflowFields> {
    let Action::Workflow(workflow) = action else { return None };
    Some(WorkflowFields { workflow_id: workflow.workflow_id.clone(), workflow_version: workflow.version })
}

impl Schedule {
    /// The shapes of some stored schedules, which know the names of each other.
    pub fn all(rows: &[ScheduleRow]) -> Vec<Self> {
        let names = Names::of(rows.iter().map(|row| (row.definition.id, row.definition.name.as_str())));
        rows.iter().map(|row| Self::of(row, &names)).collect()
    }

    /// The shape of a stored schedule.
    pub fn of(row: &ScheduleRow, names: &Names<'_>) -> Self {
        let state = &row.state;
        Self {
            definition: Definition::of(&row.definition, names),
            enabled: row.deleted_at.is_none() && state.status.is_active(),
            status: status(row).to_owned(),
            status_detail: detail(row),
            version: row.definition.version,
            next_run_at: row.next_run_at,
            last_run_at: state.last_finish.map(|(at, _)| at),
            last_run_status: state.last_finish.map(|(_, status)| RunStatus::name(status).to_owned()),
            last_fired_at: state.last_start,
            last_success_at: row.last_success.map(|(at, _)| at),
            last_success_job_id: row.last_success.map(|(_, run)| run.to_string()),
            run_count: state.counters.runs,
            success_count: state.counters.successes,
            failure_count: state.counters.failures,
            consecutive_failures: state.counters.consecutive_failures,
            created_at: row.created_at,
            updated_at: row.updated_at,
            declared_set: row.declared_set.clone(),
            deleted_at: row.deleted_at,
        }
    }

    /// The shape of a stored schedule that stands alone: what it refers to is called by its id.
    pub fn alone(row: &ScheduleRow) -> Self {
        Self::of(row, &Names::of([]))
    }
}

/// The status by its name; a deleted schedule has none of its own.
fn status(row: &ScheduleRow) -> &'static str {
    if row.deleted_at.is_some() { "deleted" } else { row.state.status.name() }
}

/// Why it is not active, in a sentence.
fn detail(row: &ScheduleRow) -> Option<String> {
    if let Some(error) = &row.invalid {
        return Some(error.clone());
    }
    match &row.state.status {
        Status::PausedManual { by, note } if note.is_empty() => Some(format!("by {by}")),
        Status::PausedManual { by, note } => Some(format!("by {by}: {note}")),
        Status::Maintenance { by, note } => Some(format!("for maintenance by {by}: {note}")),
        status => {
            let at = row.left_at.unwrap_or(row.updated_at);
            status.reason(at).map(|reason| reason.to_string())
        }
    }
}
