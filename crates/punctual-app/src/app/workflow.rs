//! The workflow store: DAGs in their versions, and the schedules that their triggers ask for.
//!
//! Start with [`Deployment::read`]. What is put is kept as it is and never understood, but for its triggers of type
//! `schedule_based`: each is a schedule of the set `workflow/ID`, so that what somebody else made is never touched.

use jiff::Timestamp;
use punctual_plan::{Action, Workflow};
use punctual_store::{DocumentKind, NewDocument, ScheduleRow, Store};
use serde_json::{Map, Value, json};

use super::propose::{Declaring, Wanting};
use super::trigger_based::{Trigger, triggers};
use super::{App, Applied, Listing, Occasion, Proposal, Step};
use crate::declare::{DAY, nearest_hint, workflow_problem};
use crate::{Failure, Kind};

/// A DAG is at most this long as JSON.
const DAG_BYTES_MAX: usize = 1024 * 1024;

/// A version of a workflow that is put.
#[derive(Clone, Debug, PartialEq)]
pub struct Deployment {
    /// Which version of which workflow.
    pub workflow: Workflow,
    /// Its DAG, as it was written.
    pub dag: Value,
    triggers: Vec<Trigger>,
}

impl Deployment {
    /// Reads a DAG. Its id and version are those that are given, or its own `workflow_id` (or `id`) and `version`.
    ///
    /// ```
    /// let dag = r#"{"id": "report", "version": 2, "nodes": [{"id": "load"}],
    ///     "triggers": [{"id": "daily", "type": "schedule_based", "cron_expr": "0 6 * * *"}]}"#;
    /// let deployment = punctual_app::Deployment::read(dag, None, None)?;
    /// assert_eq!(deployment.workflow.document(), "report@2");
    /// assert!(punctual_app::Deployment::read(dag, Some("other"), None).is_err());
    /// # Ok::<(), punctual_app::Failure>(())
    /// ```
    ///
    /// # Errors
    /// When it is no JSON object, says no id and version or others, or has a trigger that cannot be meant.
    pub fn read(text: &str, id: Option<&str>, version: Option<u32>) -> Result<Self, Failure> {
        if text.len() > DAG_BYTES_MAX {
            let message = format!("the DAG has {} bytes, and at most {DAG_BYTES_MAX} fit", text.len());
            return Err(Failure::invalid(message, "keep what is large elsewhere, and say where it is"));
        }
        let dag: Value = serde_json::from_str(text)
            .map_err(|error| Failure::invalid(format!("the DAG is not JSON: {error}"), "write an object"))?;
        let keys = dag.as_object().ok_or_else(|| {
            Failure::invalid("the DAG is not an object", r#"write `{"id": "report", "version": 1, …}`"#)
        })?;
        let own = ["workflow_id", "id"].iter().find_map(|key| keys.get(*key).and_then(Value::as_str));
        let workflow_id = one_of("id", id.map(str::to_owned), own.map(str::to_owned))?;
        let own = keys.get("version").map(own_version).transpose()?;
        let version = one_of("version", version, own)?;
        if let Some(problem) = workflow_problem(&workflow_id) {
            return Err(Failure::invalid(problem, "choose one without `@` and spaces"));
        }
        if version == 0 {
            return Err(Failure::invalid("`0` is no version", "versions begin with 1"));
        }
        let triggers = triggers(&dag)?;
        Ok(Self { workflow: Workflow::new(workflow_id, version), dag, triggers })
    }

    /// The set that its schedules belong to.
    pub fn set(&self) -> String {
        set_of(&self.workflow.workflow_id)
    }

    /// The schedules that its triggers ask for, as a file.
    fn file(&self, user_id: Option<&str>) -> Result<Value, Failure> {
        let Workflow { workflow_id, version, .. } = &self.workflow;
        let target = json!({"type": "workflow", "workflow_id": workflow_id, "version": version});
        let schedule = |trigger: &Trigger| {
            let mut keys = Map::new();
            keys.insert("name".to_owned(), json!(format!("{workflow_id}/{}", trigger.id)));
            keys.extend(trigger.keys.clone());
            keys.insert("target".to_owned(), target.clone());
            Value::Object(keys)
        };
        let schedules: Vec<Value> = self.triggers.iter().map(schedule).collect();
        let mut settings = Map::new();
        if let Some(user) = self.user()?.or(user_id) {
            settings.insert("user_id".to_owned(), json!(user));
        }
        Ok(json!({"settings": settings, "schedules": schedules}))
    }

    /// On whose behalf its schedules run, if it says so.
    fn user(&self) -> Result<Option<&str>, Failure> {
        let own = self.dag.get("user_id").and_then(Value::as_str);
        let mut said = own.into_iter().chain(self.triggers.iter().filter_map(|one| one.user_id.as_deref()));
        let first = said.next();
        match said.find(|user| Some(*user) != first) {
            None => Ok(first),
            Some(other) => Err(Failure::invalid(
                format!("a workflow runs on behalf of one user, not `{}` and `{other}`", first.unwrap_or("")),
                "put a workflow of its own for each",
            )),
        }
    }
}

fn own_version(value: &Value) -> Result<u32, Failure> {
    let number = value.as_u64().and_then(|number| u32::try_from(number).ok());
    number.ok_or_else(|| {
        Failure::invalid(format!("`{value}` is no version of a workflow"), "write a whole number from 1")
    })
}

/// What is given counts, and must not differ from what the DAG says itself.
fn one_of<T: PartialEq + std::fmt::Display>(
    what: &str,
    given: Option<T>,
    own: Option<T>,
) -> Result<T, Failure> {
    match (given, own) {
        (Some(given), Some(own)) if given != own => Err(Failure::invalid(
            format!("the DAG says its {what} is `{own}`, not `{given}`"),
            format!("leave out `--{what}`, or change the DAG"),
        )),
        (Some(one), _) | (None, Some(one)) => Ok(one),
        (None, None) => Err(Failure::invalid(
            format!("it is not said which {what} the workflow has"),
            format!("give `--{what}`, or add `{what}` to the DAG"),
        )),
    }
}

/// The set that the schedules of a workflow belong to.
fn set_of(workflow_id: &str) -> String {
    format!("workflow/{workflow_id}")
}

/// What becomes of the DAG itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// It is new.
    Added,
    /// The version was there with another DAG.
    Replaced,
    /// It was there already.
    Unchanged,
}

impl Kept {
    /// In a word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Replaced => "replaced",
            Self::Unchanged => "unchanged",
        }
    }
}

/// What putting a workflow does.
#[derive(Clone, Debug)]
pub struct Deployed {
    /// What becomes of the DAG.
    pub kept: Kept,
    /// What becomes of the schedules of its triggers.
    pub proposal: Proposal,
}

/// A version of a workflow as it is stored.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkflowRow {
    /// Which version of which workflow.
    pub workflow: Workflow,
    /// Its DAG.
    pub dag: Value,
    /// When it was put.
    pub updated_at: Timestamp,
    /// The living schedules that start it, by name.
    pub schedules: Vec<String>,
}

impl App {
    /// What putting a workflow would do; writes nothing.
    ///
    /// # Errors
    /// When a trigger cannot be meant, or the database fails.
    pub async fn propose_workflow(&self, deployment: &Deployment) -> Result<Deployed, Failure> {
        let (kind, name) = (DocumentKind::Workflow, deployment.workflow.document());
        let stored = self.store.document(self.scope(), kind, name).await?;
        let body = deployment.dag.to_string();
        let kept = match stored {
            None => Kept::Added,
            Some(stored) if stored.body == body => Kept::Unchanged,
            Some(_) => Kept::Replaced,
        };
        let file = deployment.file(self.identity.user_id.as_deref())?;
        let text = serde_json::to_string_pretty(&file).map_err(|error| Failure::world(error.to_string()))?;
        let name = format!("the triggers of `{}`", deployment.workflow.workflow_id);
        let declaring = Declaring::Text { name: &name, text: &text };
        let set = deployment.set();
        let proposal = self.propose(Wanting { declaring, set: &set, horizon: DAY, watch: &|_| {} }).await?;
        // Its first ticks come after it, as those of any schedule that is made by hand.
        Ok(Deployed { kept, proposal: Proposal { is_first: false, ..proposal } })
    }

    /// Puts a workflow: its DAG first, so that no schedule starts what is not there, then the schedules of its triggers.
    ///
    /// # Errors
    /// When the name of a schedule is somebody else's, or the database fails. To put it again goes on.
    pub async fn put_workflow(
        &self,
        deployment: &Deployment,
        deployed: &Deployed,
    ) -> Result<Applied, Failure> {
        super::apply::refuse_taken(&deployed.proposal)?;
        if deployed.kept != Kept::Unchanged {
            let (kind, name) = (DocumentKind::Workflow, deployment.workflow.document());
            let body = deployment.dag.to_string();
            let new = NewDocument { kind, name, body, replaces: None, now: self.now().await? };
            self.store.put_document(self.scope(), new).await?;
        }
        self.apply(&deployed.proposal, Occasion::Request, &|_| {}).await
    }

    /// Every version of every workflow, or of one.
    ///
    /// # Errors
    /// When the database fails, or there is no such workflow.
    pub async fn workflows(&self, id: Option<&str>) -> Result<Vec<WorkflowRow>, Failure> {
        let starting = self.starting().await?;
        let mut rows = Vec::new();
        for document in self.documents(DocumentKind::Workflow).await? {
            let Some(workflow) = workflow_of(&document.name) else { continue };
            let dag = serde_json::from_str(&document.body)
                .map_err(|error| Failure::world(format!("the DAG of `{}`: {error}", document.name)))?;
            let by_it = starting.iter().filter(|(started, _)| *started == workflow);
            let schedules = by_it.map(|(_, row)| row.definition.name.clone()).collect();
            rows.push(WorkflowRow { workflow, dag, updated_at: document.updated_at, schedules });
        }
        rows.sort_by(|one, other| {
            let key = |row: &WorkflowRow| (row.workflow.workflow_id.clone(), row.workflow.version);
            key(one).cmp(&key(other))
        });
        let Some(id) = id else { return Ok(rows) };
        if rows.iter().all(|row| row.workflow.workflow_id != id) {
            let known = rows.iter().map(|row| row.workflow.workflow_id.as_str());
            return Err(missing(&format!("there is no workflow `{id}`"), id, known));
        }
        rows.retain(|row| row.workflow.workflow_id == id);
        Ok(rows)
    }

    /// A version of a workflow; the highest, if none is named.
    ///
    /// # Errors
    /// When there is none.
    pub async fn workflow(&self, id: &str, version: Option<u32>) -> Result<WorkflowRow, Failure> {
        let mut rows = self.workflows(Some(id)).await?;
        let Some(version) = version else { return rows.pop().ok_or_else(|| no_version(id, &[])) };
        let versions: Vec<u32> = rows.iter().map(|row| row.workflow.version).collect();
        let found = rows.into_iter().find(|row| row.workflow.version == version);
        found.ok_or_else(|| no_version(id, &versions))
    }

    /// Removes versions of a workflow. Of a whole workflow, the schedules of its triggers go as well.
    ///
    /// # Errors
    /// When schedules would start what is not there any more.
    pub async fn remove_workflows(&self, rows: &[WorkflowRow], extent: Removal) -> Result<(), Failure> {
        let used: Vec<&str> = rows.iter().flat_map(|row| &row.schedules).map(String::as_str).collect();
        let mut own = Vec::new();
        for name in &used {
            let row = self.find(name).await?;
            let is_own = |row: &ScheduleRow| {
                let sets = rows.iter().map(|one| set_of(&one.workflow.workflow_id));
                sets.into_iter().any(|set| row.declared_set.as_deref() == Some(set.as_str()))
            };
            match extent {
                Removal::Whole if is_own(&row) => own.push(row),
                _ => return Err(still_started(name)),
            }
        }
        self.act_many(own, async |_: &ScheduleRow| Ok(Some(Step::Delete)), &|_| {}).await?;
        for row in rows {
            let (kind, name) = (DocumentKind::Workflow, row.workflow.document());
            self.store.remove_document(self.scope(), kind, name).await?;
        }
        Ok(())
    }

    /// The living schedules that start workflows, with what they start.
    async fn starting(&self) -> Result<Vec<(Workflow, ScheduleRow)>, Failure> {
        let rows = self.list(&Listing::default()).await?;
        let started = |row: ScheduleRow| match &row.definition.target.action {
            Action::Workflow(started) => Some((Workflow { executor: None, ..started.clone() }, row)),
            _ => None,
        };
        Ok(rows.into_iter().filter_map(started).collect())
    }
}

/// What of a workflow is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Removal {
    /// One version, which no schedule may start.
    Version,
    /// All of it, with the schedules of its triggers.
    Whole,
}

fn workflow_of(document: &str) -> Option<Workflow> {
    let (id, version) = document.rsplit_once('@')?;
    Some(Workflow::new(id, version.parse().ok()?))
}

fn missing<'a>(message: &str, id: &str, known: impl IntoIterator<Item = &'a str>) -> Failure {
    let hint = nearest_hint(id, known, "put one with `punctual workflow put`");
    Failure { kind: Kind::NotFound, message: message.to_owned(), hint: Some(hint) }
}

fn no_version(id: &str, versions: &[u32]) -> Failure {
    let known: Vec<String> = versions.iter().map(|version| format!("`{version}`")).collect();
    Failure {
        kind: Kind::NotFound,
        message: format!("there is no such version of the workflow `{id}`"),
        hint: Some(format!("there is {}", known.join(", "))),
    }
}

fn still_started(name: &str) -> Failure {
    Failure {
        kind: Kind::Conflict,
        message: format!("the schedule `{name}` starts it"),
        hint: Some("put another version, delete the schedule, or remove the whole workflow".to_owned()),
    }
}
