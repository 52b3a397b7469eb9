//! Whether a schedule fires: enabled or disabled, alone or together with other changes.

use punctual_plan::Status;
use punctual_store::ScheduleRow;

use crate::{Failure, Step};

/// Whether a schedule shall fire.
#[derive(Clone, Debug)]
pub(super) enum Toggle {
    Enabled,
    Disabled { by: String, note: String },
}

impl Toggle {
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
