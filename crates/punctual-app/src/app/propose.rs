//! A file of schedules beside the database: what stands between them, before anything is written.
//!
//! Start with [`App::propose`]. The file is held whole; of what is stored only the names are, and what differs: it is
//! compared page by page, and fires are reckoned when somebody asks for them.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use punctual_plan::{Comparison, Drift, FiresChanged, Schedule, ScheduleId, Status, Stored, fires_changed};
use punctual_store::{NameRow, ScheduleRow};
use uuid::Uuid;

use super::shared::SharedChange;
use super::{App, Listing};
use crate::Failure;
use crate::declare::{self, Declared, Ground, Watch, read_text_over, read_watched};

/// The set of files that name none.
pub const SET: &str = "file";

/// What a file asks for, and what stands between that and the database.
#[derive(Clone, Debug)]
pub struct Proposal {
    /// The set whose schedules it declares: only what that set has made is ever changed or removed.
    pub set: String,
    /// When it was made.
    pub now: Timestamp,
    /// Until when fires are compared.
    pub until: Timestamp,
    /// The file.
    pub declared: Declared,
    /// What it does to schedules, by name; those that stay as they are are not among them.
    pub changes: Vec<Proposed>,
    /// How many stay as they are.
    pub unchanged: usize,
    /// Shared things that it adds or changes.
    pub shared: Vec<SharedChange>,
    /// Whether the org has no schedule at all: then ticks of the present minute fire at once.
    pub is_first: bool,
    /// Whether the set is new to the database.
    pub is_new_set: bool,
    /// Schedules that stay as they are, but whose delay begins anew when the service starts.
    pub(super) restarts: Vec<String>,
    /// What is stored.
    pub(super) living: Vec<NameRow>,
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
    /// What fires now, if anything does.
    before: Option<Arc<Schedule>>,
    /// Its place in the file, if that lets it fire.
    after: Option<usize>,
}

/// What `enabled` asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Toggle {
    /// It is paused.
    Disable,
    /// It is resumed: the file itself had paused it.
    Enable,
}

impl Proposal {
    /// What would be done, a line each; nothing if the database is as the file says.
    pub fn drift(&self) -> impl Iterator<Item = String> + '_ {
        let schedules = self.changes.iter().map(told);
        let shared = self.shared.iter().map(|change| {
            let verb = if change.is_stored { "changed" } else { "missing" };
            format!("{} `{}` is {verb}", change.kind.table().replace('_', " "), change.name)
        });
        shared.chain(schedules)
    }

    /// What a change does to the fires of its schedule.
    pub fn fires(&self, change: &Proposed) -> FiresChanged {
        let after = match change.drift {
            Drift::Taken { .. } => change.before.as_deref(),
            _ => change.after.map(|place| &self.declared.schedules[place].definition),
        };
        fires_changed(change.before.as_deref(), after, self.now..self.until)
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

/// Where schedules are declared.
#[derive(Clone, Copy, Debug)]
pub enum Declaring<'a> {
    /// In a file or a folder.
    File(&'a Path),
    /// In a text.
    Text {
        /// What it is called.
        name: &'a str,
        /// What it says.
        text: &'a str,
    },
}

/// A file or a text, and how it is looked at.
#[derive(Clone, Copy)]
pub struct Wanting<'a> {
    /// Where the schedules are declared.
    pub declaring: Declaring<'a>,
    /// The set that it declares.
    pub set: &'a str,
    /// How far ahead fires are compared.
    pub horizon: SignedDuration,
    /// Who hears how far the reading is.
    pub watch: Watch<'a>,
}

impl App {
    /// Reads a file and compares it with what is stored; writes nothing.
    ///
    /// # Errors
    /// When the file cannot be meant or is for another org, or the database fails.
    pub async fn propose(&self, wanting: Wanting<'_>) -> Result<Proposal, Failure> {
        let now = self.now().await?;
        let set = wanting.set;
        let (deleted, living): (Vec<NameRow>, Vec<NameRow>) =
            self.names().await?.into_iter().partition(|row| row.is_deleted);
        let mut ground = Ground { is_kept: false, ..self.shared_ground(now).await? };
        ground.names.extend(living.iter().map(|row| (row.name.clone(), row.id)));
        let declared = self.read_wanted(&wanting, &mut ground, &deleted)?;
        drop(ground);
        let until = now.saturating_add(wanting.horizon).unwrap_or(Timestamp::MAX);
        let mut proposal = Proposal {
            set: set.to_owned(),
            now,
            until,
            changes: Vec::new(),
            unchanged: 0,
            shared: self.shared_changes(&declared).await?,
            is_first: living.is_empty() && deleted.is_empty(),
            is_new_set: living.iter().all(|row| row.declared_set.as_deref() != Some(set)),
            restarts: Vec::new(),
            living: Vec::new(),
            declared,
        };
        self.compare(&mut proposal, &living).await?;
        proposal.living = living;
        Ok(proposal)
    }

    /// A new schedule whose name belonged to a deleted one gets an id of its own.
    fn read_wanted(
        &self,
        wanting: &Wanting<'_>,
        ground: &mut Ground,
        deleted: &[NameRow],
    ) -> Result<Declared, Failure> {
        let declared = self.read_own(wanting, ground)?;
        let gone: HashSet<ScheduleId> = deleted.iter().map(|row| row.id).collect();
        let is_gone = |one: &&declare::Schedule| gone.contains(&one.definition.id);
        let renamed: Vec<String> =
            declared.schedules.iter().filter(is_gone).map(|one| one.definition.name.clone()).collect();
        if renamed.is_empty() {
            return Ok(declared);
        }
        drop(declared);
        ground.names.extend(renamed.into_iter().map(|name| (name, ScheduleId(Uuid::new_v4()))));
        self.read_own(wanting, ground)
    }

    /// Reads a file that must be for this org.
    fn read_own(&self, wanting: &Wanting<'_>, ground: &Ground) -> Result<Declared, Failure> {
        let declared = match wanting.declaring {
            Declaring::File(path) => read_watched(path, ground, wanting.watch)?,
            Declaring::Text { name, text } => read_text_over(name, text, ground)?,
        };
        self.refuse_other_org(&declared)?;
        Ok(declared)
    }

    /// Refuses a file of another org.
    pub(super) fn refuse_other_org(&self, declared: &Declared) -> Result<(), Failure> {
        let org = &declared.settings.owner.org_id;
        if *org == self.identity.org_id {
            return Ok(());
        }
        Err(Failure::invalid(
            format!("the file is for the org `{org}`, not `{}`", self.identity.org_id),
            format!("set `PUNCTUAL_ORG_ID={org}`, or change `org_id` in the file's `settings`"),
        ))
    }

    /// Compares page by page: of what is the same nothing is kept.
    async fn compare(&self, proposal: &mut Proposal, living: &[NameRow]) -> Result<(), Failure> {
        let declared = &proposal.declared.schedules;
        let look = Look {
            comparison: Comparison {
                set: &proposal.set,
                declared: declared
                    .iter()
                    .map(|one| (one.definition.id, one.definition.name.as_str()))
                    .collect(),
                stored: living.iter().map(|row| (row.id, row.name.as_str())).collect(),
            },
            declared,
            places: declared
                .iter()
                .enumerate()
                .map(|(place, one)| (one.definition.name.as_str(), place))
                .collect(),
        };
        let mut seen = vec![false; declared.len()];
        let (mut changes, mut restarts, mut unchanged) = (Vec::new(), Vec::new(), 0);
        let mut pages = self.pages(&Listing::default());
        while let Some(page) = pages.next().await? {
            for row in &page {
                let place = look.places.get(row.definition.name.as_str()).copied();
                if let Some(place) = place {
                    seen[place] = true;
                }
                let Some(proposed) = look.proposed(row, place) else { continue };
                if proposed.is_change() {
                    changes.push(proposed);
                    continue;
                }
                unchanged += 1;
                let is_open = row.state.status.is_active() && row.launched_through.is_none();
                if is_open && place.is_some_and(|place| declared[place].after_start.is_some()) {
                    restarts.push(proposed.name);
                }
            }
        }
        let added =
            seen.iter().enumerate().filter(|(_, is_seen)| !**is_seen).map(|(place, _)| look.added(place));
        changes.extend(added);
        changes.sort_by(|one: &Proposed, other| one.name.cmp(&other.name));
        (proposal.changes, proposal.restarts, proposal.unchanged) = (changes, restarts, unchanged);
        Ok(())
    }
}

impl Proposed {
    /// Whether anything would be done.
    fn is_change(&self) -> bool {
        self.drift != Drift::Unchanged || self.toggle.is_some()
    }
}

/// The declared side of a comparison.
struct Look<'a> {
    comparison: Comparison<'a>,
    declared: &'a [declare::Schedule],
    places: HashMap<&'a str, usize>,
}

impl Look<'_> {
    /// A schedule that is not stored.
    fn added(&self, place: usize) -> Proposed {
        let wanted = &self.declared[place];
        Proposed {
            name: wanted.definition.name.clone(),
            drift: Drift::Added,
            toggle: None,
            before: None,
            after: wanted.enabled.then_some(place),
        }
    }

    /// What becomes of a stored schedule; nothing if it is no matter of the set.
    fn proposed(&self, row: &ScheduleRow, place: Option<usize>) -> Option<Proposed> {
        let wanted = place.map(|place| &self.declared[place]);
        let stored = Stored { set: row.declared_set.as_deref(), schedule: &row.definition };
        let mut drift = self.comparison.drift(wanted.map(|one| &one.definition), Some(&stored))?;
        // What cannot be read any more is cleared by whatever is declared.
        if drift == Drift::Unchanged && row.invalid.is_some() {
            drift = Drift::Changed(Vec::new());
        }
        let is_own = !matches!(drift, Drift::Taken { .. } | Drift::Removed);
        let toggle = wanted.filter(|_| is_own).and_then(|wanted| self.toggle(row, wanted));
        let is_active = row.state.status.is_active();
        let is_paused = !is_active && toggle != Some(Toggle::Enable);
        Some(Proposed {
            name: row.definition.name.clone(),
            drift,
            toggle,
            before: is_active.then(|| Arc::clone(&row.definition)),
            after: place.filter(|place| self.declared[*place].enabled && !is_paused),
        })
    }

    /// A pause that a person made stays; one that the file made ends with it.
    fn toggle(&self, row: &ScheduleRow, wanted: &declare::Schedule) -> Option<Toggle> {
        match &row.state.status {
            Status::Active if !wanted.enabled => Some(Toggle::Disable),
            Status::PausedManual { by, .. } if wanted.enabled && *by == pauser(self.comparison.set) => {
                Some(Toggle::Enable)
            }
            _ => None,
        }
    }
}
