//! The versions of a schedule: what each changed, and the way back to one.

use std::fmt;

use punctual_plan::{Action, Declaration, Drift, FieldDrift, Schedule, Stored, diff};
use punctual_store::{ScheduleRow, Selector, Store, VersionRow};

use super::{Acted, App, Step};
use crate::{Failure, Kind};

/// A version, and what it changed about the one before.
#[derive(Clone, Debug)]
pub struct Edition {
    /// The version.
    pub version: VersionRow,
    /// What is different; empty for the first.
    pub changes: Vec<Difference>,
}

/// A field that is different, under its public name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Its name.
    pub field: String,
    /// What it was; empty if nothing.
    pub before: String,
    /// What it is; empty if nothing.
    pub after: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { field, before, after } = self;
        match (before.is_empty(), after.is_empty()) {
            (true, _) => write!(f, "{field}: `{after}`"),
            (false, true) => write!(f, "{field}: `{before}` is gone"),
            (false, false) => write!(f, "{field}: `{before}` → `{after}`"),
        }
    }
}

/// What is different between two versions of a schedule.
pub fn differences(before: &Schedule, after: &Schedule) -> Vec<Difference> {
    let mut found = Vec::new();
    if before.name != after.name {
        let (before, after) = (before.name.clone(), after.name.clone());
        found.push(Difference { field: "name".to_owned(), before, after });
    }
    let stored = Schedule { name: after.name.clone(), owner: after.owner.clone(), ..before.clone() };
    let declared = Declaration { set: "", schedules: std::slice::from_ref(after) };
    for difference in diff(&declared, &[Stored { set: Some(""), schedule: &stored }]) {
        if let Drift::Changed(fields) = difference.drift {
            found.extend(fields.into_iter().map(Difference::from));
        }
    }
    found
}

impl From<FieldDrift> for Difference {
    fn from(drift: FieldDrift) -> Self {
        Self { field: drift.field.to_owned(), before: drift.stored, after: drift.declared }
    }
}

impl App {
    /// The versions of a schedule, newest first.
    ///
    /// # Errors
    /// When there is no such schedule.
    pub async fn editions(&self, selector: Selector) -> Result<Vec<Edition>, Failure> {
        let row = self.get(selector).await?;
        let versions = self.store.versions(self.scope(), row.definition.id).await?;
        let older = versions.iter().skip(1).map(Some).chain(std::iter::once(None));
        let changes: Vec<Vec<Difference>> = versions
            .iter()
            .zip(older)
            .map(|(one, older)| {
                older.map(|older| differences(&older.definition, &one.definition)).unwrap_or_default()
            })
            .collect();
        let editions = versions.into_iter().zip(changes);
        Ok(editions.map(|(version, changes)| Edition { version, changes }).collect())
    }

    /// The step back to a version; nothing if the present one is the same.
    ///
    /// # Errors
    /// When there is no such version, or it can no more be read.
    pub async fn way_back(&self, row: &ScheduleRow, to: i64) -> Result<Option<Step>, Failure> {
        let versions = self.store.versions(self.scope(), row.definition.id).await?;
        let Some(found) = versions.iter().find(|version| version.version == to) else {
            let last = versions.first().map_or(0, |version| version.version);
            return Err(Failure {
                kind: Kind::NotFound,
                message: format!("`{}` has no version {to}", row.definition.name),
                hint: Some(format!(
                    "it has the versions 1 to {last}; `punctual schedule history` shows them"
                )),
            });
        };
        if matches!(&found.definition.target.action, Action::Callback { task } if task.is_empty()) {
            return Err(Failure::invalid(
                format!("version {to} of `{}` can no more be read", row.definition.name),
                "bring back what it refers to",
            ));
        }
        let definition = Box::new(found.definition.as_ref().clone());
        if differences(&row.definition, &definition).is_empty() {
            return Ok(None);
        }
        Ok(Some(Step::Replace { definition, note: format!("back to version {to}"), status: None }))
    }

    /// Gives a schedule the definition of an earlier version, as a new version.
    ///
    /// # Errors
    /// When there is no such version.
    pub async fn rollback(&self, selector: Selector, to: i64) -> Result<Acted, Failure> {
        self.act(selector, async |row: &ScheduleRow| self.way_back(row, to).await).await
    }
}
