//! Whether a schedule fires: enabled or disabled, alone or together with other changes.

use clap::Args;
use punctual::{App, Failure, Step};
use punctual_plan::Status;
use punctual_store::ScheduleRow;

/// `--enabled` and `--disabled`.
#[derive(Clone, Copy, Debug, Args)]
#[group(multiple = false)]
pub(crate) struct ToggleFlags {
    /// Let it fire
    #[arg(long)]
    enabled: bool,
    /// Let it not fire until it is enabled
    #[arg(long)]
    disabled: bool,
}

impl ToggleFlags {
    /// What is wanted, if anything is.
    pub(super) fn wanted(self, app: &App) -> Option<Toggle> {
        match (self.enabled, self.disabled) {
            (true, _) => Some(Toggle::Enabled),
            (_, true) => {
                Some(Toggle::Disabled { by: app.identity().actor().to_owned(), note: String::new() })
            }
            _ => None,
        }
    }

    /// As the key `enabled`.
    pub(super) fn key(self) -> Option<bool> {
        (self.enabled || self.disabled).then_some(self.enabled)
    }
}

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
