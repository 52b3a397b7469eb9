//! The registrar and the run launcher of a workflow system: schedules of workflows by ids of its own.
//!
//! These are the calls that a compiler or deployer of workflows makes, whichever door it comes through; their names and
//! keys are part of the contract. An id that a client chooses is an alias within its org: the schedule's name.

use jiff::Timestamp;
use punctual_engine::STARTED_BY_KEY;
use punctual_plan::{Action, Origin, Owner, ScheduleId, Status, Workflow};
use punctual_store::{Cut, DocumentKind, RunFilter, ScheduleRow, ScheduleWrite, Selector, Store, Write};
use serde_json::json;
use uuid::Uuid;

use super::list::REQUESTS;
use super::propose::owner as maker;
use super::registered::{Known, PauseSchedule, RegisteredSchedule, StartRun, UpsertSchedule, Upserted};
use super::versions::differences;
use super::{App, Decide, Outlook, Step};
use crate::{Failure, Kind};

/// Runs that are shown with a schedule.
const RUNS_SHOWN: u32 = 5;

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
            Some(row) => self.register_again(asked, &row).await?,
            None => match self.register(asked, id).await {
                // Somebody else was faster.
                Err(failure) if failure.kind == Kind::Conflict => match self.alias(id).await? {
                    Some(row) => self.register_again(asked, &row).await?,
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

    async fn register_again(
        &self,
        asked: &UpsertSchedule,
        row: &ScheduleRow,
    ) -> Result<ScheduleRow, Failure> {
        let id = row.definition.id;
        let decide = Again { app: self, asked, name: &row.definition.name };
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
        let decide = Toggling { by: self.actor(), paused: asked.paused };
        self.act(Selector::Id(row.definition.id), decide).await.map(drop)
    }

    /// Deletes a schedule; its history stays.
    ///
    /// # Errors
    /// When there is no such schedule.
    pub async fn delete_schedule(&self, schedule_id: &str) -> Result<(), Failure> {
        let row = self.registered(schedule_id).await?;
        self.act(Selector::Id(row.definition.id), Ending).await.map(drop)
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

    /// The same for whoever asks for any schedule: nothing also if it is not known by that id.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn registered_as(&self, schedule_id: &str) -> Result<Option<RegisteredSchedule>, Failure> {
        match self.alias(schedule_id).await? {
            Some(_) => self.get_schedule(schedule_id).await,
            None => Ok(None),
        }
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
            trace: self.trace,
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

/// A schedule that is registered again.
struct Again<'a> {
    app: &'a App,
    asked: &'a UpsertSchedule,
    name: &'a str,
}

impl Decide for Again<'_> {
    async fn decide(&self, row: &ScheduleRow) -> Result<Option<Step>, Failure> {
        refuse_foreign(row)?;
        let Self { app, asked, name } = self;
        let whose = (row.definition.id, app.owner_of(asked));
        let drafted = app.draft_as(&asked.keys(name), whose, &told).await?;
        let step =
            Step::Replace { definition: Box::new(drafted.definition), note: String::new(), status: None };
        let Some(definition) = step.definition(row) else { return Ok(None) };
        let changes = differences(&row.definition, &definition);
        if changes.is_empty() && row.invalid.is_none() {
            return Ok(None);
        }
        let note: Vec<String> = changes.iter().map(ToString::to_string).collect();
        Ok(Some(Step::Replace { definition: Box::new(definition), note: note.join("; "), status: None }))
    }
}

/// A schedule that is paused or resumed.
struct Toggling<'a> {
    by: &'a str,
    paused: bool,
}

impl Decide for Toggling<'_> {
    async fn decide(&self, row: &ScheduleRow) -> Result<Option<Step>, Failure> {
        Ok(match (&row.state.status, self.paused) {
            (Status::Active, true) => {
                Some(Step::Leave(Status::PausedManual { by: self.by.to_owned(), note: String::new() }))
            }
            (Status::PausedManual { .. } | Status::AutoDisabled { .. }, false) => Some(Step::Resume),
            _ => None,
        })
    }
}

/// A schedule that goes.
struct Ending;

impl Decide for Ending {
    async fn decide(&self, _: &ScheduleRow) -> Result<Option<Step>, Failure> {
        Ok(Some(Step::Delete))
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
