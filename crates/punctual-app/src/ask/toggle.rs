//! Whether a schedule fires: enabled or disabled, alone or together with other changes.

use punctual_plan::Status;
use punctual_store::ScheduleRow;
use serde_json::{Map, Value};

use crate::{Failure, Step};

/// The key that says it.
const KEY: &str = "enabled";

/// Whether a schedule shall fire.
#[derive(Clone, Debug)]
pub(super) enum Toggle {
    /// It shall.
    Enabled,
    /// It shall not until it is enabled.
    Disabled {
        /// Who says so.
        by: String,
        /// Why.
        note: String,
    },
}

impl Toggle {
    /// Takes the wish out of the keys of an edit, if there is one.
    pub(super) fn taken_from(keys: &mut Map<String, Value>, by: &str) -> Result<Option<Self>, Failure> {
        match keys.shift_remove(KEY) {
            None => Ok(None),
            Some(Value::Bool(true)) => Ok(Some(Self::Enabled)),
            Some(Value::Bool(false)) => Ok(Some(Self::Disabled { by: by.to_owned(), note: String::new() })),
            Some(other) => {
                Err(Failure::invalid(format!("`{KEY}` cannot be `{other}`"), "write `true` or `false`"))
            }
        }
    }

    /// The step to it; none if that is so already.
    pub(super) fn step(&self, row: &ScheduleRow) -> Result<Option<Step>, Failure> {
        match (self, &row.state.status) {
            (Self::Enabled, Status::Active) | (Self::Disabled { .. }, Status::PausedManual { .. }) => {
                Ok(None)
            }
            (Self::Enabled, Status::Exhausted { .. }) => Err(Failure::invalid(
                format!("`{}` has had all its ticks", row.definition.name),
                "give it new ones with `punctual schedule update`, or run it with `trigger`",
            )),
            (Self::Enabled, Status::PausedInvalid { error }) if row.invalid.is_some() => {
                Err(Failure::invalid(
                    format!("`{}` can no more be read: {error}", row.definition.name),
                    "bring back what it refers to",
                ))
            }
            (Self::Enabled, _) => Ok(Some(Step::Resume)),
            (Self::Disabled { by, note }, _) => {
                Ok(Some(Step::Leave(Status::PausedManual { by: by.clone(), note: note.clone() })))
            }
        }
    }

    /// The same together with an edit, in one version.
    pub(super) fn with(&self, row: &ScheduleRow, edit: Step) -> Step {
        let Step::Replace { definition, note, .. } = edit else { return edit };
        let (status, word) = match (self, &row.state.status) {
            (Self::Enabled, Status::Active) | (Self::Disabled { .. }, Status::PausedManual { .. }) => {
                return Step::Replace { definition, note, status: None };
            }
            (Self::Enabled, _) => (Status::Active, "enabled"),
            (Self::Disabled { by, note }, _) => {
                (Status::PausedManual { by: by.clone(), note: note.clone() }, "disabled")
            }
        };
        Step::Replace { definition, note: format!("{note}; {word}"), status: Some(status) }
    }
}
