//! From keys to a checked definition: what the database already holds is the ground that they are read on.

use std::collections::{HashSet, VecDeque};

use jiff::Timestamp;
use punctual_plan::{Action, Executor, Owner, Schedule, ScheduleId, When};
use punctual_store::{
    Cut, Document, DocumentKind, ScheduleFilter, ScheduleRow, Selector, Shared, Shelf, Store,
};
use serde_json::{Map, Value};
use uuid::Uuid;

use super::versions::differences;
use super::{App, Programs};
use crate::declare::{self, Defaults, Ground, Patch, export, read_keys};
use crate::{Failure, Given, Kind, Settings, Step, own_file};

/// The targets that this version launches; others are refused when they are stored, not when they are due.
pub(crate) const LAUNCHED: [&str; 5] = ["process", "webhook", "queue", "message", "workflow"];

/// Documents of a kind that one org may have.
const DOCUMENTS_MAX: u32 = 10_000;

/// Schedules that are followed in search of one that waits for itself.
const WAITS_MAX: usize = 10_000;

/// Names that are loaded to find the one that was meant.
const NAMES_MAX: u32 = 1_000;

/// How a problem with a key is told, such as by its flag.
pub type Told<'a> = &'a (dyn Fn(&str) -> String + Sync);

impl App {
    /// Reads a new schedule from its keys; writes nothing.
    ///
    /// # Errors
    /// When they cannot be meant, name what is not there, or go to a target that cannot be launched yet.
    pub async fn draft(
        &self,
        keys: &Map<String, Value>,
        told: Told<'_>,
    ) -> Result<declare::Schedule, Failure> {
        let now = self.now().await?;
        let id = async {
            match keys.get("name") {
                Some(Value::String(name)) => self.new_id(name).await.map(Some),
                _ => Ok(None),
            }
        };
        // At once: a database in a server answers both in one round trip.
        let (mut ground, id) = tokio::try_join!(self.ground(keys, now), id)?;
        ground.id = id;
        let drafted = read_keys(keys, &ground, told)?;
        self.check_new(&drafted, now).await?;
        Ok(drafted)
    }

    /// Reads a schedule from its keys as one with this id and owner; writes nothing.
    pub(super) async fn draft_as(
        &self,
        keys: &Map<String, Value>,
        (id, owner): (ScheduleId, Owner),
        told: Told<'_>,
    ) -> Result<declare::Schedule, Failure> {
        let mut ground = self.ground(keys, self.now().await?).await?;
        (ground.id, ground.owner) = (Some(id), owner);
        read_keys(keys, &ground, told)
    }

    /// Checks what only a new schedule must be: not over, launched by this version, not waiting for itself.
    pub(super) async fn check_new(&self, drafted: &declare::Schedule, now: Timestamp) -> Result<(), Failure> {
        refuse_over(&drafted.definition, now)?;
        refuse_target(&drafted.definition)?;
        self.refuse_program(&drafted.definition)?;
        self.refuse_cycle(&drafted.definition).await
    }

    /// The new version that changed keys make of a stored schedule; nothing if it is the same.
    ///
    /// # Errors
    /// As for a draft.
    pub async fn redraft(
        &self,
        row: &ScheduleRow,
        patch: &Patch,
        told: Told<'_>,
    ) -> Result<Option<Step>, Failure> {
        let now = self.now().await?;
        let mut keys = self.export(row).await?;
        patch.lay(&mut keys, now);
        let mut ground = self.ground(&keys, now).await?;
        ground.id = Some(row.definition.id);
        ground.owner = row.definition.owner.clone();
        let definition = read_keys(&keys, &ground, told)?.definition;
        if patch.has_when() {
            refuse_over(&definition, now)?;
        }
        if patch.has("target") {
            refuse_target(&definition)?;
        }
        if patch.has("target") || patch.has("template") {
            self.refuse_program(&definition)?;
        }
        self.refuse_cycle(&definition).await?;
        let step = Step::Replace { definition: Box::new(definition), note: String::new(), status: None };
        let Some(definition) = step.definition(row) else { return Ok(None) };
        let changes = differences(&row.definition, &definition);
        if changes.is_empty() && row.invalid.is_none() {
            return Ok(None);
        }
        let told: Vec<String> = changes.iter().map(ToString::to_string).collect();
        Ok(Some(Step::Replace { definition: Box::new(definition), note: told.join("; "), status: None }))
    }

    /// The keys of a stored schedule.
    ///
    /// # Errors
    /// When it cannot be read any more.
    pub async fn export(&self, row: &ScheduleRow) -> Result<Map<String, Value>, Failure> {
        if let Some(error) = &row.invalid {
            return Err(Failure::invalid(
                format!("`{}` can no more be read: {error}", row.definition.name),
                "bring back what it refers to, or delete it and create it anew",
            ));
        }
        let names = self.names_of(&row.definition).await?;
        let called =
            |id: ScheduleId| names.iter().find(|(other, _)| *other == id).map(|(_, name)| name.clone());
        Ok(export(&row.definition, &called))
    }

    /// The names of the living schedules that a definition refers to.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn names_of(&self, schedule: &Schedule) -> Result<Vec<(ScheduleId, String)>, Failure> {
        let mut names = Vec::new();
        for id in upstreams(schedule) {
            let row = self.store.schedule(self.scope(), Selector::Id(id)).await?;
            names.extend(
                row.filter(|row| row.deleted_at.is_none()).map(|row| (id, row.definition.name.clone())),
            );
        }
        Ok(names)
    }

    /// The id of a new schedule: that of its name, so that `H` is the same before and after it is stored; another one
    /// if a schedule has or had that.
    pub(super) async fn new_id(&self, name: &str) -> Result<ScheduleId, Failure> {
        let id = ScheduleId::of_name(&self.identity.org_id, name);
        let taken = self.store.schedule(self.scope(), Selector::Id(id)).await?;
        Ok(if taken.is_some() { ScheduleId(Uuid::new_v4()) } else { id })
    }

    /// What some keys stand on: the present, the owner, and what they may name.
    async fn ground(&self, keys: &Map<String, Value>, now: Timestamp) -> Result<Ground, Failure> {
        let mut ground = self.shared_ground(now).await?;
        let mut is_unknown = false;
        for name in references(keys) {
            let living = self.store.schedule(self.scope(), Selector::Name(name.clone())).await?;
            let mut found = living.filter(|row| row.deleted_at.is_none());
            if let (None, Ok(id)) = (&found, name.parse()) {
                // One that was deleted has no name any more.
                found = self.store.schedule(self.scope(), Selector::Id(ScheduleId(id))).await?;
            }
            match found {
                Some(row) => drop(ground.names.insert(name, row.definition.id)),
                None => is_unknown = true,
            }
        }
        if is_unknown {
            let page =
                self.store.schedules(self.scope(), ScheduleFilter::default(), Cut::first(NAMES_MAX)).await?;
            let known = page.rows.iter().map(|row| (row.definition.name.clone(), row.definition.id));
            ground.names.extend(known);
        }
        Ok(ground)
    }

    /// What every reading of this org stands on, without the names of its schedules.
    ///
    /// # Errors
    /// When the database fails, or holds a shared thing that cannot be read.
    pub async fn shared_ground(&self, now: Timestamp) -> Result<Ground, Failure> {
        let kinds = [DocumentKind::Template, DocumentKind::Calendar, DocumentKind::QuietHours];
        let wanted = kinds.map(|kind| Shelf { scope: self.scope(), kind }).to_vec();
        let mut documents = self.store.documents_of(wanted, DOCUMENTS_MAX).await?.into_iter();
        let templates = documents.next().unwrap_or_default();
        let mut shared = Shared::default();
        for document in documents.flatten() {
            shared.add(&document).map_err(|error| Failure::world(error.to_string()))?;
        }
        let mut ground = Ground { owner: self.identity.owner(), is_kept: true, ..Ground::alone(now) };
        ground.is_decided = self.door().defaults.is_some();
        ground.defaults = self.door().defaults.map_or_else(defaults, Ok)?;
        ground.calendars = shared.calendars.into_values().collect();
        ground.quiet_hours = shared.quiet_hours.into_iter().collect();
        for document in templates {
            let body = serde_json::from_str(&document.body);
            let unreadable = |error| Failure::world(format!("the template `{}`: {error}", document.name));
            ground.templates.insert(document.name.clone(), body.map_err(unreadable)?);
        }
        Ok(ground)
    }

    pub(super) async fn documents(&self, kind: DocumentKind) -> Result<Vec<Document>, Failure> {
        Ok(self.store.documents(self.scope(), kind, Cut::first(DOCUMENTS_MAX)).await?.rows)
    }

    /// Refuses a program that those who come through this door may not run.
    fn refuse_program(&self, schedule: &Schedule) -> Result<(), Failure> {
        let Programs::Only(allowed) = &self.door().programs else { return Ok(()) };
        let process = match &schedule.target.action {
            Action::Process(process) => process,
            Action::Workflow(workflow) => match &workflow.executor {
                Some(Executor::Process(process)) => process,
                _ => return Ok(()),
            },
            _ => return Ok(()),
        };
        let program = process.argv.first().map(String::as_str).unwrap_or_default();
        if allowed.iter().any(|one| one == program) {
            return Ok(());
        }
        Err(Failure {
            kind: Kind::Forbidden,
            message: format!("the program `{program}` may not be run by schedules that are made over HTTP"),
            hint: Some(
                "name it in the setting `http_programs` of the server, or make the schedule on its host"
                    .to_owned(),
            ),
        })
    }

    /// Refuses a schedule that waits for itself through stored ones.
    async fn refuse_cycle(&self, schedule: &Schedule) -> Result<(), Failure> {
        let mut ahead: VecDeque<ScheduleId> = upstreams(schedule).into();
        let mut seen: HashSet<ScheduleId> = HashSet::new();
        while let Some(id) = ahead.pop_front() {
            if id == schedule.id {
                return Err(Failure::invalid(
                    format!("`{}` would wait for itself", schedule.name),
                    "remove one of the schedules in between from `depends_on` or `on`",
                ));
            }
            if seen.len() == WAITS_MAX || !seen.insert(id) {
                continue;
            }
            let row = self.store.schedule(self.scope(), Selector::Id(id)).await?;
            ahead.extend(row.iter().flat_map(|row| upstreams(&row.definition)));
        }
        Ok(())
    }
}

/// The schedules that another one waits for or follows.
pub(super) fn upstreams(schedule: &Schedule) -> Vec<ScheduleId> {
    let mut ids: Vec<ScheduleId> = schedule.policy.depends_on.iter().flat_map(|on| on.on.clone()).collect();
    if let When::Chain(chain) = &schedule.when {
        ids.push(chain.upstream);
    }
    ids
}

/// The schedules that some keys name.
fn references(keys: &Map<String, Value>) -> Vec<String> {
    let depends_on = keys.get("depends_on");
    let one = depends_on.and_then(Value::as_str);
    let several = depends_on.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let on = keys.get("on").and_then(|on| on["schedule"].as_str());
    one.into_iter().chain(several).chain(on).map(str::to_owned).collect()
}

/// Refuses what could never run: a time in the past, or an end before the first tick.
fn refuse_over(schedule: &Schedule, now: Timestamp) -> Result<(), Failure> {
    match schedule.when.timing() {
        Some(timing) => timing.first(now).map(drop).map_err(Failure::from),
        None => Ok(()),
    }
}

/// Refuses a target that would only fail once it is due.
fn refuse_target(schedule: &Schedule) -> Result<(), Failure> {
    let kind = schedule.target.action.kind();
    if LAUNCHED.contains(&kind) {
        return Ok(());
    }
    let known: Vec<String> = LAUNCHED.iter().map(|kind| format!("`{kind}`")).collect();
    Err(Failure {
        kind: Kind::Invalid,
        message: format!("this version cannot launch a `{kind}` yet"),
        hint: Some(format!(
            "it launches {}: give a program after `--`, a `--queue` or a `--webhook`",
            known.join(", ")
        )),
    })
}

/// What schedules are that do not say, by the settings of the installation, for who brings none.
fn defaults() -> Result<Defaults, Failure> {
    let env = |name: &str| std::env::var(name).ok();
    Ok(Settings::resolve(&Given::new(), env, own_file(env)?.as_ref())?.defaults())
}
