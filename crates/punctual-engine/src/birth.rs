//! Birth: when an attempt began, and who tells of it.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering, fence};

use jiff::Timestamp;

/// When an attempt began. That is told only of one that goes on for a while: most are over before anybody could read it.
#[derive(Default)]
pub(crate) struct Birth {
    at: OnceLock<Timestamp>,
    is_told: AtomicBool,
}

impl Birth {
    /// Since when it exists, if it does.
    pub(crate) fn at(&self) -> Option<Timestamp> {
        self.at.get().copied()
    }

    /// It exists since now; whether that is to be told.
    pub(crate) fn begins(&self, now: Timestamp) -> bool {
        let is_first = self.at.set(now).is_ok();
        // Of the two that look at what the other wrote, one sees it.
        fence(Ordering::SeqCst);
        is_first && self.is_told.load(Ordering::SeqCst)
    }

    /// It goes on; since when, if it has begun.
    pub(crate) fn goes_on(&self) -> Option<Timestamp> {
        self.is_told.store(true, Ordering::SeqCst);
        fence(Ordering::SeqCst);
        self.at.get().copied()
    }
}
