//! Patience: how long starts stay on their sheets.
//!
//! Most of them end soon, and their ends take them off; what is unfolded before that is written twice, by a core that their
//! launches need. But whoever wants to read waits for it.

use std::time::{Duration, Instant};

use super::sheet::Sheets;

/// What was committed on sheets is unfolded after this long at the latest.
const FOLDED_MAX: Duration = Duration::from_millis(400);

/// The same, where somebody waits who wants to read.
const AWAITED_MAX: Duration = Duration::from_millis(100);

/// Each start on a sheet gives all of them so much longer: they are being launched.
const START_TIME: Duration = Duration::from_micros(5);

/// Where somebody waits and nobody has written for this long, nobody is about to end what is on them.
pub(super) const IDLE_MAX: Duration = Duration::from_millis(5);

/// The writer's patience with what is on sheets.
pub(super) struct Patience {
    /// Since when there are some.
    folded_at: Option<Instant>,
    /// When something was last committed.
    written_at: Instant,
}

impl Patience {
    pub(super) fn new() -> Self {
        Self { folded_at: None, written_at: Instant::now() }
    }

    /// Something was committed.
    pub(super) fn written(&mut self) {
        self.written_at = Instant::now();
    }

    /// Whether what is on sheets has been there for long enough.
    pub(super) fn is_over(&mut self, sheets: &Sheets) -> bool {
        if !sheets.is_any() {
            self.folded_at = None;
            return false;
        }
        let since = *self.folded_at.get_or_insert_with(Instant::now);
        let is_awaited = sheets.is_awaited();
        let patience = if is_awaited { AWAITED_MAX } else { FOLDED_MAX } + START_TIME * sheets.starts();
        let is_idle = self.written_at.elapsed() > IDLE_MAX * sheets.slowness();
        (is_awaited && is_idle) || since.elapsed() > patience * sheets.slowness()
    }
}
