//! Faults: what a test can make the next commits do.

use std::fmt;
use std::sync::Arc;

use crate::Error;

/// What becomes of a commit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fate {
    /// It happens and is answered.
    #[default]
    Commits,
    /// It fails before anything is written; trying again may help.
    Fails,
    /// It happens, and the answer is lost.
    GoesUnanswered,
}

/// What the caller of [`crate::Memory::on_commit`] decides with: the name of the call.
pub(super) type Hook = Box<dyn FnMut(&'static str) -> Fate + Send>;

/// The faults of a store.
#[derive(Default)]
pub(super) struct Faults {
    pub(super) hook: Option<Hook>,
    pub(super) is_shut: bool,
}

impl fmt::Debug for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Faults").field("is_shut", &self.is_shut).finish_non_exhaustive()
    }
}

impl Faults {
    /// An error while nothing can be reached.
    pub(super) fn reach(&self, doing: &'static str) -> Result<(), Error> {
        if self.is_shut { Err(failed(doing)) } else { Ok(()) }
    }

    pub(super) fn fate(&mut self, doing: &'static str) -> Fate {
        self.hook.as_mut().map_or(Fate::Commits, |hook| hook(doing))
    }
}

/// What a database says that cannot be reached for the moment.
pub(super) fn failed(doing: &'static str) -> Error {
    Error::Database { doing, source: Arc::new(std::io::Error::other("made to fail")), is_transient: true }
}
