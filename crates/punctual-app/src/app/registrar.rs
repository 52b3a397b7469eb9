//! The registrar and the run launcher of a workflow system: schedules of workflows by ids of its own.
//!
//! These are the calls that a compiler or deployer of workflows makes, whichever door it comes through; their names and
//! keys are part of the contract. An id that a client chooses is an alias within its org: the schedule's name.

use jiff::Timestamp;
use punctual_engine::STARTED_BY_KEY;
use punctual_plan::{
    Action, CatchUp, Named, Origin, Owner, RunStatus, Schedule, ScheduleId, Status, Workflow, run_key,
};
use punctual_store::{
    Cut, DocumentKind, RunFilter, RunRow, ScheduleRow, ScheduleWrite, Selector, Store, Write,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::list::REQUESTS;
use super::propose::owner as maker;
use super::trigger_based::jitter;
use super::versions::differences;
use super::{App, Outlook, Step};
use crate::{Failure, Kind};

/// Runs that are shown with a schedule.
const RUNS_SHOWN: u32 = 5;

/// A schedule of a workflow, as its registrar asks for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Upserted {
    /// Its id, as the client knows it.
    pub schedule_id: String,
    /// When it fires next; never, while it is paused.
    pub next_run_at: Option<Timestamp>,
}

/// A wish that a schedule be paused or resumed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PauseSchedule {
    /// Which.
    pub schedule_id: String,
    /// Whether it shall be paused.
    pub paused: bool,
}

/// A schedule of a workflow, as its registrar knows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
    pub runs: Vec<ScheduleRun>,
}

/// A run of a workflow's schedule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
/// assert_eq!(punctual::executor_status(RunStatus::Running), "STARTED");
/// assert_eq!(punctual::executor_status(RunStatus::Missed), "SKIPPED");
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
    fn keys(&self, name: &str) -> Map<String, Value> {
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

/// How a problem with a key is told: by the name that it has in these calls.
fn told(path: &str) -> String {
    let name = match path {
        "name" => "schedule_id",
        "cron" => "cron_expr",
        "jitter" | "jitter.max" => "jitter_ms",
        "if_running" => "overlap_policy",
        "catch_up" => "catchup_policy",
        "target.version" => "version",
        "target.workflow_id" => "workflow_id",
        other => other,
    };
    name.to_owned()
}

impl App {
    /// Makes a schedule of a workflow, or changes the one that has its id. A pause is kept.
    ///
    /// # Errors
    /// When it cannot be meant, or the id belongs to a schedule that is none of a workflow or was declared in a file.
    pub async fn upsert_schedule(&self, asked: &UpsertSchedule) -> Result<Upserted, Failure> {
        let Some(id) = &asked.schedule_id else {
            let name = format!("{}/{}", asked.workflow_id, Uuid::new_v4());
            let row = self.register(asked, &name).await?;
            let schedule_id = row.definition.id.to_string();
            return Ok(Upserted { schedule_id, next_run_at: row.next_run_at });
        };
        let row = match self.alias(id).await? {
            Some(row) => self.register_again(asked, row).await?,
            None => match self.register(asked, id).await {
                // Somebody else was faster.
                Err(failure) if failure.kind == Kind::Conflict => match self.alias(id).await? {
                    Some(row) => self.register_again(asked, row).await?,
                    None => return Err(failure),
                },
                made => made?,
            },
        };
        Ok(Upserted { schedule_id: id.clone(), next_run_at: row.next_run_at })
    }

    async fn register(&self, asked: &UpsertSchedule, name: &str) -> Result<ScheduleRow, Failure> {
        let now = self.now().await?;
        let id = self.new_id(name).await?;
        let owner = self.owner_of(asked);
        let drafted = self.draft_as(&asked.keys(name), (id, owner), &told).await?;
        self.check_new(&drafted, now).await?;
        self.insert(&drafted, None).await
    }

    async fn register_again(&self, asked: &UpsertSchedule, row: ScheduleRow) -> Result<ScheduleRow, Failure> {
        let (id, name) = (row.definition.id, row.definition.name.clone());
        let decide = async |row: &ScheduleRow| {
            refuse_foreign(row)?;
            let owner = self.owner_of(asked);
            let drafted = self.draft_as(&asked.keys(&name), (id, owner), &told).await?;
            let step =
                Step::Replace { definition: Box::new(drafted.definition), note: String::new(), status: None };
            let Some(definition) = step.definition(row) else { return Ok(None) };
            let changes = differences(&row.definition, &definition);
            if changes.is_empty() && row.invalid.is_none() {
                return Ok(None);
            }
            let note: Vec<String> = changes.iter().map(ToString::to_string).collect();
            Ok(Some(Step::Replace { definition: Box::new(definition), note: note.join("; "), status: None }))
        };
        Ok(self.act(Selector::Id(id), decide).await?.row)
    }

    fn owner_of(&self, asked: &UpsertSchedule) -> Owner {
        Owner { user_id: Some(asked.user_id.clone()), ..self.identity.owner() }
    }

    /// The living schedule that a client means by an id: its alias, or the id that it was given.
    async fn alias(&self, id: &str) -> Result<Option<ScheduleRow>, Failure> {
        let mut found = self.store.schedule(self.scope(), Selector::Name(id.to_owned())).await?;
        if found.as_ref().is_none_or(|row| row.deleted_at.is_some())
            && let Ok(uuid) = id.parse()
        {
            found = self.store.schedule(self.scope(), Selector::Id(ScheduleId(uuid))).await?;
        }
        Ok(found.filter(|row| row.deleted_at.is_none()))
    }

    async fn registered(&self, id: &str) -> Result<ScheduleRow, Failure> {
        match self.alias(id).await? {
            Some(row) => Ok(row),
            None => Err(self.not_found(&Selector::Name(id.to_owned())).await?),
        }
    }

    /// Pauses a schedule or resumes it; what already is as wanted stays as it is.
    ///
    /// # Errors
    /// When there is no such schedule.
    pub async fn pause_schedule(&self, asked: &PauseSchedule) -> Result<(), Failure> {
        let row = self.registered(&asked.schedule_id).await?;
        let by = self.actor().to_owned();
        let decide = async |row: &ScheduleRow| {
            Ok(match (&row.state.status, asked.paused) {
                (Status::Active, true) => {
                    Some(Step::Leave(Status::PausedManual { by: by.clone(), note: String::new() }))
                }
                (Status::PausedManual { .. } | Status::AutoDisabled { .. }, false) => Some(Step::Resume),
                _ => None,
            })
        };
        self.act(Selector::Id(row.definition.id), decide).await.map(drop)
    }

    /// Deletes a schedule; its history stays.
    ///
    /// # Errors
    /// When there is no such schedule.
    pub async fn delete_schedule(&self, schedule_id: &str) -> Result<(), Failure> {
        let row = self.registered(schedule_id).await?;
        self.act(Selector::Id(row.definition.id), async |_: &ScheduleRow| Ok(Some(Step::Delete)))
            .await
            .map(drop)
    }

    /// A schedule of a workflow with its next five fire times; nothing if it is none of a workflow.
    ///
    /// # Errors
    /// When there is no such schedule.
    pub async fn get_schedule(&self, schedule_id: &str) -> Result<Option<RegisteredSchedule>, Failure> {
        let row = self.registered(schedule_id).await?;
        let filter = RunFilter {
            schedule: Some(row.definition.id),
            until: Some(self.now().await?),
            ..RunFilter::default()
        };
        let runs = self.store.runs(self.scope(), filter, Cut::first(RUNS_SHOWN)).await?;
        let preview = Outlook::of(&row, None, self.now().await?).before;
        let known = Known { schedule_id, row: &row };
        let runs = runs.rows.iter().map(|run| known.run(run)).collect();
        Ok(known.schedule(preview, runs))
    }

    /// Starts a workflow, once for each key: the run launcher. False if there is no such version of it.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn start_run(&self, asked: &StartRun) -> Result<bool, Failure> {
        let workflow = Workflow::new(asked.workflow_id.clone(), asked.version);
        let (kind, name) = (DocumentKind::Workflow, workflow.document());
        if self.store.document(self.scope(), kind, name).await?.is_none() {
            return Ok(false);
        }
        let row = self.starter(asked, &workflow).await?;
        let now = self.now().await?;
        let second = Timestamp::from_second(asked.scheduled_for.as_second()).unwrap_or(now);
        let write = Write::Trigger {
            schedule: row.key,
            origin: Origin::Manual,
            nonce: format!("{STARTED_BY_KEY}{}", asked.idempotency_key),
            scheduled_for: second,
            fire_at: now,
            is_forced: true,
            payload: None,
        };
        let note = format!("started by key, on behalf of {}", asked.user_id);
        self.write(ScheduleWrite { write, kind: "schedule.triggered", note, now }).await?;
        Ok(true)
    }

    /// The schedule that stands for what is started by hand: it never ticks, and is in no list.
    async fn starter(&self, asked: &StartRun, workflow: &Workflow) -> Result<ScheduleRow, Failure> {
        let spelled = format!("{}/{}", workflow.document(), asked.user_id);
        let name = format!("start/{}", ScheduleId::of_name(&self.identity.org_id, &spelled));
        if let Some(row) = self.alias(&name).await? {
            return Ok(row);
        }
        let soon = self.now().await?.as_second().saturating_add(60);
        let soon = Timestamp::from_second(soon).unwrap_or(Timestamp::MAX);
        let keys = json!({
            "name": name, "at": soon.to_string(), "enabled": false, "if_running": "allow",
            "target": {
                "type": "workflow", "workflow_id": workflow.workflow_id, "version": workflow.version,
                "name": workflow.workflow_id,
            },
        });
        let keys = keys.as_object().cloned().unwrap_or_default();
        let owner = Owner { user_id: Some(asked.user_id.clone()), ..self.identity.owner() };
        let id = self.new_id(&name).await?;
        let drafted = self.draft_as(&keys, (id, owner), &told).await?;
        match self.insert(&drafted, Some(REQUESTS)).await {
            Err(failure) if failure.kind == Kind::Conflict => self.registered(&name).await,
            made => made,
        }
    }
}

/// Refuses a schedule that a registrar has not made.
fn refuse_foreign(row: &ScheduleRow) -> Result<(), Failure> {
    let by = match (&row.definition.target.action, row.declared_set.as_deref()) {
        (Action::Workflow(_), None) => return Ok(()),
        (Action::Workflow(_), set) => format!("was made by {}", maker(set)),
        (other, _) => format!("goes to a {}", other.kind()),
    };
    Err(Failure {
        kind: Kind::Conflict,
        message: format!("`{}` {by}", row.definition.name),
        hint: Some("choose another `schedule_id`".to_owned()),
    })
}

/// A schedule by the id that its client has for it.
struct Known<'a> {
    schedule_id: &'a str,
    row: &'a ScheduleRow,
}

impl Known<'_> {
    fn run(&self, row: &RunRow) -> ScheduleRun {
        let run = &row.run;
        ScheduleRun {
            idempotency_key: run_key(row.schedule_id, run.origin, &run.nonce, run.scheduled_for),
            schedule_id: self.schedule_id.to_owned(),
            run_at: run.scheduled_for,
            status: executor_status(run.state.status()).to_owned(),
            run_id: run.key.to_string(),
        }
    }

    fn schedule(&self, preview: Vec<Timestamp>, runs: Vec<ScheduleRun>) -> Option<RegisteredSchedule> {
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
            runs,
        })
    }
}
