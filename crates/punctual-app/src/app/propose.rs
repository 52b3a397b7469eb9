//! A file of schedules beside the database: what stands between them, before anything is written.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use jiff::{SignedDuration, Timestamp};
use punctual_plan::{
    Declaration, Difference, Drift, FiresChanged, Schedule, ScheduleId, Status, Stored, diff, fires_changed,
};
use punctual_store::{DocumentKind, ScheduleRow, Store, calendar_body, quiet_hours_body};
use serde_json::json;
use uuid::Uuid;

use super::{App, Listing};
use crate::Failure;
use crate::declare::{self, Declared, Ground, read_over, read_text_over};

/// The set of files that name none.
pub const SET: &str = "file";

/// What a file asks for, and what stands between that and the database.
#[derive(Clone, Debug)]
pub struct Proposal {
    /// The set whose schedules it declares: only what that set has made is ever changed or removed.
    pub set: String,
    /// When it was made.
    pub now: Timestamp,
    /// Until when fires were compared.
    pub until: Timestamp,
    /// The file.
    pub declared: Declared,
    /// What it does to each schedule, by name; those that stay as they are among them.
    pub changes: Vec<Proposed>,
    /// Shared things that it adds or changes.
    pub shared: Vec<SharedChange>,
    /// Whether the org has no schedule at all: then ticks of the present minute fire at once.
    pub is_first: bool,
    pub(super) rows: HashMap<String, ScheduleRow>,
}

/// What a file does to one schedule.
#[derive(Clone, Debug, PartialEq)]
pub struct Proposed {
    /// Its name.
    pub name: String,
    /// What is different.
    pub drift: Drift,
    /// Whether it is paused or resumed.
    pub toggle: Option<Toggle>,
    /// What that changes about its fires.
    pub fires: FiresChanged,
}

impl Proposed {
    /// Whether anything would be done.
    pub fn is_change(&self) -> bool {
        self.drift != Drift::Unchanged || self.toggle.is_some()
    }
}

/// Where schedules are declared.
#[derive(Clone, Copy, Debug)]
pub(super) enum Written<'a> {
    /// In a file or a folder.
    File(&'a Path),
    /// In a text that is called something.
    Text { name: &'a str, text: &'a str },
}

impl Written<'_> {
    fn read(self, ground: &Ground) -> Result<Declared, Failure> {
        match self {
            Self::File(path) => read_over(path, ground, &[]),
            Self::Text { name, text } => read_text_over(name, text, ground),
        }
    }
}

/// What `enabled` asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Toggle {
    /// It is paused.
    Disable,
    /// It is resumed: the file itself had paused it.
    Enable,
}

/// A shared thing that a file adds or changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedChange {
    /// What kind.
    pub kind: DocumentKind,
    /// Its name.
    pub name: String,
    /// Whether it is there already, and says something else.
    pub is_stored: bool,
    pub(super) body: String,
}

impl Proposal {
    /// What would be done, a line each; empty if the database is as the file says.
    pub fn drift(&self) -> Vec<String> {
        let schedules = self.changes.iter().filter(|change| change.is_change()).map(told);
        let shared = self.shared.iter().map(|change| {
            let verb = if change.is_stored { "changed" } else { "missing" };
            format!("{} `{}` is {verb}", change.kind.table().replace('_', " "), change.name)
        });
        shared.chain(schedules).collect()
    }

    /// Whether the set is new to the database.
    pub fn is_new_set(&self) -> bool {
        self.rows.values().all(|row| row.declared_set.as_deref() != Some(self.set.as_str()))
    }
}

/// A change in words.
fn told(change: &Proposed) -> String {
    let name = &change.name;
    let toggle = match change.toggle {
        None => "",
        Some(Toggle::Disable) => " and is to be disabled",
        Some(Toggle::Enable) => " and is to be enabled",
    };
    let what = match &change.drift {
        Drift::Added => "is not stored".to_owned(),
        Drift::Removed => "is stored and declared no more".to_owned(),
        Drift::Unchanged => "is stored".to_owned(),
        Drift::Taken { by } => format!("was made by {}", owner(by.as_deref())),
        Drift::Changed(fields) => {
            let field = |one: &punctual_plan::FieldDrift| {
                format!("{} is `{}`, declared `{}`", one.field, one.stored, one.declared)
            };
            fields.iter().map(field).collect::<Vec<_>>().join("; ")
        }
    };
    format!("`{name}` {what}{toggle}")
}

/// Whoever made a schedule, in words.
pub(super) fn owner(set: Option<&str>) -> String {
    set.map_or_else(|| "somebody by hand".to_owned(), |set| format!("the set `{set}`"))
}

/// Who pauses the schedules that a file disables.
pub(super) fn pauser(set: &str) -> String {
    format!("the set `{set}`")
}

impl App {
    /// Reads a file and compares it with what is stored; writes nothing. Fires are compared over `horizon`.
    ///
    /// # Errors
    /// When the file cannot be meant or is for another org, or the database fails.
    pub async fn propose(
        &self,
        file: &Path,
        set: &str,
        horizon: SignedDuration,
    ) -> Result<Proposal, Failure> {
        self.propose_written(Written::File(file), set, horizon).await
    }

    /// The same for schedules that are declared in a file or in a text.
    pub(super) async fn propose_written(
        &self,
        written: Written<'_>,
        set: &str,
        horizon: SignedDuration,
    ) -> Result<Proposal, Failure> {
        let now = self.now().await?;
        let all = self.list(&Listing { with_deleted: true, ..Listing::default() }).await?;
        let (living, deleted): (Vec<ScheduleRow>, Vec<ScheduleRow>) =
            all.into_iter().partition(|row| row.deleted_at.is_none());
        let mut ground = Ground { is_kept: false, ..self.shared_ground(now).await? };
        ground.names.extend(living.iter().map(|row| (row.definition.name.clone(), row.definition.id)));
        let declared = self.read_written(written, &mut ground, &deleted)?;
        let rows: HashMap<String, ScheduleRow> =
            living.into_iter().map(|row| (row.definition.name.clone(), row)).collect();
        let until = now.saturating_add(horizon).unwrap_or(Timestamp::MAX);
        let stretch = Stretch { set, from: now, until };
        let changes = stretch.compare(&declared, &rows);
        let shared = self.shared_changes(&declared).await?;
        let is_first = rows.is_empty() && deleted.is_empty();
        Ok(Proposal { set: set.to_owned(), now, until, declared, changes, shared, is_first, rows })
    }

    /// A new schedule whose name belonged to a deleted one gets an id of its own.
    fn read_written(
        &self,
        written: Written<'_>,
        ground: &mut Ground,
        deleted: &[ScheduleRow],
    ) -> Result<Declared, Failure> {
        let declared = written.read(ground)?;
        let org = &declared.settings.owner.org_id;
        if *org != self.identity.org_id {
            return Err(Failure::invalid(
                format!("the file is for the org `{org}`, not `{}`", self.identity.org_id),
                format!("set `PUNCTUAL_ORG_ID={org}`, or change `org_id` in the file's `settings`"),
            ));
        }
        let gone: HashSet<ScheduleId> = deleted.iter().map(|row| row.definition.id).collect();
        let is_gone = |one: &&declare::Schedule| gone.contains(&one.definition.id);
        let renamed: Vec<String> =
            declared.schedules.iter().filter(is_gone).map(|one| one.definition.name.clone()).collect();
        if renamed.is_empty() {
            return Ok(declared);
        }
        ground.names.extend(renamed.into_iter().map(|name| (name, ScheduleId(Uuid::new_v4()))));
        written.read(ground)
    }

    async fn shared_changes(&self, declared: &Declared) -> Result<Vec<SharedChange>, Failure> {
        let calendars = declared.calendars.iter();
        let calendars =
            calendars.map(|(name, one)| (DocumentKind::Calendar, name.clone(), calendar_body(one)));
        let quiet = declared.quiet_hours.iter();
        let quiet = quiet.map(|(name, one)| (DocumentKind::QuietHours, name.clone(), quiet_hours_body(one)));
        let templates = declared.templates.iter();
        let templates = templates.map(|(name, one)| (DocumentKind::Template, name.clone(), one.to_string()));
        let limits =
            limits_body(&declared.settings).map(|body| (DocumentKind::Limits, "org".to_owned(), body));
        let mut changes = Vec::new();
        for (kind, name, body) in calendars.chain(quiet).chain(templates).chain(limits) {
            let stored = self.store.document(self.scope(), kind, name.clone()).await?;
            if stored.as_ref().is_none_or(|stored| stored.body != body) {
                changes.push(SharedChange { kind, name, is_stored: stored.is_some(), body });
            }
        }
        Ok(changes)
    }
}

/// The limits of an org as the body of their document, if a file sets any.
fn limits_body(settings: &declare::Settings) -> Option<String> {
    let min_interval_ms = i64::try_from(settings.min_interval.as_millis()).unwrap_or(i64::MAX);
    let is_set = settings.limits != punctual_plan::OrgLimits::default()
        || settings.schedules_max.is_some()
        || min_interval_ms != 1_000;
    is_set.then(|| {
        let limits = &settings.limits;
        json!({
            "runs_per_minute": limits.per_minute_max,
            "runs_in_flight": limits.in_flight_max,
            "over": punctual_plan::Named::name(limits.over),
            "schedules": settings.schedules_max,
            "min_interval_ms": min_interval_ms,
        })
        .to_string()
    })
}

/// The stretch of time over which a set is compared.
struct Stretch<'a> {
    set: &'a str,
    from: Timestamp,
    until: Timestamp,
}

impl Stretch<'_> {
    fn compare(&self, declared: &Declared, rows: &HashMap<String, ScheduleRow>) -> Vec<Proposed> {
        let wanted: Vec<Schedule> = declared.schedules.iter().map(|one| one.definition.clone()).collect();
        let stored: Vec<Stored<'_>> = rows
            .values()
            .map(|row| Stored { set: row.declared_set.as_deref(), schedule: &row.definition })
            .collect();
        let found = diff(&Declaration { set: self.set, schedules: &wanted }, &stored);
        let by_name: HashMap<&str, &declare::Schedule> =
            declared.schedules.iter().map(|one| (one.definition.name.as_str(), one)).collect();
        found.into_iter().map(|difference| self.proposed(difference, &by_name, rows)).collect()
    }

    fn proposed(
        &self,
        difference: Difference,
        declared: &HashMap<&str, &declare::Schedule>,
        rows: &HashMap<String, ScheduleRow>,
    ) -> Proposed {
        let Difference { name, mut drift, .. } = difference;
        let (row, wanted) = (rows.get(&name), declared.get(name.as_str()).copied());
        // What cannot be read any more is cleared by whatever is declared.
        if drift == Drift::Unchanged && row.is_some_and(|row| row.invalid.is_some()) {
            drift = Drift::Changed(Vec::new());
        }
        let is_own = !matches!(drift, Drift::Taken { .. } | Drift::Added | Drift::Removed);
        let toggle = row.zip(wanted).filter(|_| is_own).and_then(|(row, wanted)| self.toggle(row, wanted));
        let is_live = |row: &&ScheduleRow| row.state.status.is_active();
        let before = row.filter(is_live).map(|row| row.definition.as_ref());
        let is_paused =
            row.is_some_and(|row| !row.state.status.is_active()) && toggle != Some(Toggle::Enable);
        let after = wanted.filter(|one| one.enabled && !is_paused).map(|one| &one.definition);
        let after = if matches!(drift, Drift::Taken { .. }) { before } else { after };
        let fires = fires_changed(before, after, self.from..self.until);
        Proposed { name, drift, toggle, fires }
    }

    /// A pause that a person made stays; one that the file made ends with it.
    fn toggle(&self, row: &ScheduleRow, wanted: &declare::Schedule) -> Option<Toggle> {
        match &row.state.status {
            Status::Active if !wanted.enabled => Some(Toggle::Disable),
            Status::PausedManual { by, .. } if wanted.enabled && *by == pauser(self.set) => {
                Some(Toggle::Enable)
            }
            _ => None,
        }
    }
}
