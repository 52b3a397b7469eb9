//! Flags for whether a schedule fires.

use clap::Args;

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
    /// As the key `enabled`.
    pub(super) fn key(self) -> Option<bool> {
        (self.enabled || self.disabled).then_some(self.enabled)
    }
}
